"""Accesses to global memory that one wide access could make, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, Place
from cudalint.facts.neighbours import Neighbours, NeighboursResult
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.measure.access_places import frames_of
from cudalint.measure.neighbours import Group, neighbours
from cudalint.measure.providers.provider import Provider, Run


class _Site(Struct, frozen=True):
    group: Group
    results: list[NeighboursResult]


class NeighboursCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "neighbours"
    _sites: dict[object, _Site] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        for group in neighbours(run.executed.trace, run.executed.function):
            told = next((world for world, number in enumerate(group.executions) if number), 0)
            work = run.work if not told else run.executed.work(run.executed.lengths(world=told), told)
            result = NeighboursResult(run.index, group.executions[told], work.total)
            first = group.accesses[0].first
            frames = tuple(call.span for call in first.stack)
            key = first.node.span, frames, group.elements, first.allocation.name
            self._sites.setdefault(key, _Site(group, [])).results.append(result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (_neighbours(site) for site in self._sites.values())
        return replace(facts, neighbours=tuple(sorted(found, key=lambda each: each.place)))


def _neighbours(site: _Site) -> Neighbours:
    first, *others = (access.first for access in site.group.accesses)
    places = dict.fromkeys(Place(*event.node.span) for event in others)
    places.pop(Place(*first.node.span), None)
    return Neighbours(
        Place(*first.node.span), tuple(places), frames_of(first.stack), first.operation, first.allocation.name,
        ir.type_name(ir.referent(first.node.type)), first.bytes, site.group.elements, tuple(site.results),
    )  # fmt: skip
