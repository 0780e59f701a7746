"""How many threads come to the functions that a block computes together, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import frames_of
from cudalint.evaluate.requests.views import LaunchView
from cudalint.facts import KernelFacts, Place
from cudalint.facts.collectives import CollectiveCall, CollectiveResult
from cudalint.interpreter.device.events import BarrierEvent, Collective
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind

_Site = tuple[ir.Span, tuple[ir.Span, ...], Collective]
"""A call with those that lead to it."""


class CollectiveCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "collectives"
    _sites: dict[_Site, list[CollectiveResult]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        view = run.execution.view
        for event in run.execution.events:
            if run.execution.deadline.is_over():
                return
            if not isinstance(event, BarrierEvent) or event.collective is None:
                continue
            results = self._sites.setdefault((event.context.span, event.context.frames, event.collective), [])
            threads = _coming(event, view)
            if threads and all(result.launch != view.index for result in results):
                results.append(CollectiveResult(view.index, threads, view.assumptions))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (
            CollectiveCall(Place(*span), made.name, made.block, made.or_fewer, frames_of(frames), tuple(results))
            for (span, frames, made), results in self._sites.items()
        )
        return replace(facts, collectives=tuple(sorted(found, key=lambda each: (each.place, each.inlined_from))))


def _coming(event: BarrierEvent, view: LaunchView) -> int:
    """The threads of a block that get there, be it in one iteration; all of those of which only data tells."""
    opaque = view.graph.opaque_bits
    known = [each for each in event.context.conditions if not each.bits & opaque]
    if any(each.is_const and not each.value for each in known):
        return 0
    mask = view.quick().rows(event.context.loops).mask(known)
    return int(mask.sum(axis=1).max(initial=0))
