"""Blocks that wait for others, and loops that wait for what the compiler may load but once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.execute.lanes import Extents
from cudalint.facts import KernelFacts, Place
from cudalint.facts.orders import BlockWait, PlainSpin
from cudalint.kinds import Kind
from cudalint.launches.growth import larger_than
from cudalint.measure.block_waits import Wait, waits_of
from cudalint.measure.executed import execute
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Provider, Run, Subject
from cudalint.measure.providers.resources import occupancy_of
from cudalint.measure.seen import Seen
from cudalint.measure.spins import spins_of

_BESIDE = 4
"""Blocks along an axis of which each may wait for the next one or the one before."""


class _Waiting(Struct, eq=False):
    run: Run
    wait: Wait


class WaitCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "waits"
    subject: Subject
    _waits: list[_Waiting] = field(default_factory=list)
    _spins: dict[Place, PlainSpin] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject)

    def add(self, run: Run) -> None:
        if run.subject.function.is_template_pattern:
            return
        seen = Seen(run.executed.function, run.executed.trace)
        spins = spins_of(seen)
        if not spins:
            return
        if run.subject.is_whole:
            for spin in spins:
                if spin.is_plain:
                    place = Place(*spin.look.span)
                    found = PlainSpin(place, frames_of(spin.loop.stack), spin.allocation.name, run.index)
                    self._spins.setdefault(place, found)
        site = run.configuration.site
        if site is None or run.configuration.is_cooperative:
            return
        for places in _beside(run.executed.batch.grid[0]):
            beside = execute(run.executed.function, run.executed.batch.in_blocks(places), run.compiled)
            self._waits += (_Waiting(run, wait) for wait in waits_of(Seen(beside.function, beside.trace)))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found: dict[Place, BlockWait] = {}
        for each in self._waits:
            wait = self._fact(each.run, each.wait, facts)
            if wait is not None:
                found.setdefault(wait.place, wait)
        waits = tuple(found[place] for place in sorted(found))
        return replace(facts, waits=waits, spins=tuple(self._spins[place] for place in sorted(self._spins)))

    def _fact(self, run: Run, wait: Wait, facts: KernelFacts) -> BlockWait | None:
        """None where all blocks may be resident."""
        occupancy = occupancy_of(run.index, run.launch, facts.resources, self.subject.target)
        if not occupancy.blocks_per_sm:
            return None
        resident = occupancy.blocks_per_sm * self.subject.target.sm_count
        larger = larger_than(resident, run.configuration, self.subject.graph)
        if larger is None:
            return None
        spin = wait.spin
        return BlockWait(
            Place(*spin.look.span), frames_of(spin.loop.stack), spin.allocation.name, run.index, wait.whom,
            Place(*wait.writer.node.span), larger.blocks, resident, larger.size,
        )  # fmt: skip


def _beside(grid: Extents) -> Iterator[tuple[Extents, ...]]:
    """For each axis of a grid the first blocks along it and the last one, in their order."""
    for axis, extent in enumerate(grid):
        if extent > 1:
            numbers = sorted({*range(min(_BESIDE, extent)), extent - 1})
            yield tuple((*(0,) * axis, number, *(0,) * (2 - axis)) for number in numbers)
