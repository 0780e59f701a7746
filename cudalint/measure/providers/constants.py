"""The loads of constant memory whose lanes want different words, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.execute.trace import AccessEvent
from cudalint.facts import KernelFacts, Place
from cudalint.facts.constants import ConstantLoad, ConstantResult
from cudalint.kinds import Kind
from cudalint.measure.access_places import frames_of
from cudalint.measure.constants import constant_loads
from cudalint.measure.providers.provider import Provider, Run
from cudalint.measure.sensitivity import where


class ConstantCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "constants"
    _sites: dict[object, tuple[AccessEvent, list[ConstantResult]]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        for site, words in constant_loads(run.executed.trace):
            reached = words.requests > 0
            holds = [bool(words.most[world] > 1) if reached[world] else None for world in range(len(reached))]
            if not any(holds):
                continue
            told = holds.index(True)
            rests = where(holds, run.executed.batch.numbers)
            result = ConstantResult(
                run.index, float(words.mean[told]), int(words.most[told]), float(words.requests[told]),
                (rests.condition,) if rests.condition else (),
            )  # fmt: skip
            key = site.node.span, tuple(call.span for call in site.stack), site.array
            self._sites.setdefault(key, (words.first, []))[1].append(result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (
            ConstantLoad(Place(*event.node.span), event.allocation.name, frames_of(event.stack), tuple(results))
            for event, results in self._sites.values()
        )
        return replace(facts, constants=tuple(sorted(found, key=lambda each: each.place)))
