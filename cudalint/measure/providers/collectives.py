"""How many threads come to the functions that a block computes together, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import Frame, KernelFacts, Place
from cudalint.facts.collectives import CollectiveCall, CollectiveResult
from cudalint.kinds import Kind
from cudalint.measure.access_places import frames_of
from cudalint.measure.collectives import collectives_of
from cudalint.measure.providers.provider import Provider, Run

_Site = tuple[Place, tuple[Frame, ...], str, tuple[int, int, int], bool]


class CollectiveCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "collectives"
    _sites: dict[_Site, list[CollectiveResult]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        assumptions = run.launch.assumptions
        for call, threads in collectives_of(run.executed.trace).items():
            site = Place(*call.node.span), frames_of(call.stack), call.name, call.made_for, call.or_fewer
            results = self._sites.setdefault(site, [])
            if threads and all(result.launch != run.index for result in results):
                results.append(CollectiveResult(run.index, threads, assumptions))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (
            CollectiveCall(place, name, made_for, or_fewer, frames, tuple(results))
            for (place, frames, name, made_for, or_fewer), results in self._sites.items()
        )
        return replace(facts, collectives=tuple(sorted(found, key=lambda each: (each.place, each.inlined_from))))
