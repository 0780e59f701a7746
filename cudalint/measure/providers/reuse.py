"""Loads in loops whose elements several threads of a block want at once, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar, Self

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, Place
from cudalint.facts.reuse import Reuse, ReuseResult
from cudalint.frontend.source_text import Spellings
from cudalint.kinds import Kind
from cudalint.measure.access_places import frames_of
from cudalint.measure.providers.provider import Provider, Run, Subject
from cudalint.measure.requests import AccessSite
from cudalint.measure.reuse import shared_loads


class ReuseCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "reuse"
    spellings: Spellings
    _sites: dict[object, tuple[AccessSite, list[ReuseResult]]] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(Spellings(subject.options))

    def add(self, run: Run) -> None:
        executed = run.executed
        for load in shared_loads(executed.trace, executed.function, run.lengths.counted()):
            told, shared = next((world, own) for world, own in enumerate(load.worlds) if own is not None)
            figures = executed.figures.get(load.site)
            requests = float(figures.requests[told]) if figures is not None else 0.0
            result = ReuseResult(run.index, shared.threads, shared.elements, shared.turns, requests)
            key = load.site.node.span, tuple(call.span for call in load.site.stack), load.site.array
            self._sites.setdefault(key, (load.site, []))[1].append(result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = [
            Reuse(
                place := Place(*site.node.span), site.array, self.spellings.of(place), frames_of(site.stack),
                tuple(results),
            )
            for site, results in self._sites.values()
        ]  # fmt: skip
        return replace(facts, reuse=tuple(sorted(found, key=lambda each: each.place)))
