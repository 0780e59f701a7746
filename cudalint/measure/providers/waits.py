"""Blocks that wait for others, and loops that wait for what the compiler may load but once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.execute.lanes import Extents
from cudalint.facts import KernelFacts, Place
from cudalint.facts.orders import BlockWait, PlainSpin, Publication
from cudalint.kinds import Kind
from cudalint.launches.growth import larger_than
from cudalint.measure.block_waits import Wait, waits_of
from cudalint.measure.executed import execute
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Provider, Run, Subject, keep
from cudalint.measure.providers.resources import occupancy_of
from cudalint.measure.seen import Seen
from cudalint.measure.signals import resets_of, unfenced_of
from cudalint.measure.spins import Spin, spins_of

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
    _signals: dict[Place, Publication] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject)

    def add(self, run: Run) -> None:
        if run.subject.function.is_template_pattern:
            return
        seen = run.executed.seen
        spins = spins_of(seen)
        if not spins:
            return
        if run.subject.is_whole:
            for spin in spins:
                if spin.is_plain:
                    place = Place(*spin.look.span)
                    found = PlainSpin(place, frames_of(spin.loop.stack), spin.allocation.name, run.index)
                    keep(self._spins, place, found)
        is_known = run.configuration.site is not None and not run.configuration.is_cooperative
        for places in _beside(run.executed.batch.grid[0]):
            if not run.may_be_tried():
                return
            beside = execute(run.executed.function, run.executed.batch.in_blocks(places), run.compiled)
            seen = beside.seen
            spins = spins_of(seen)
            if is_known:
                self._waits += (_Waiting(run, wait) for wait in waits_of(seen, spins))
            self._signal(run, seen, spins)

    def _signal(self, run: Run, seen: Seen, spins: list[Spin]) -> None:
        lanes = seen.trace.lanes
        for each in unfenced_of(seen, spins):
            place = Place(*each.flag.node.span)
            found = Publication(
                place, frames_of(each.flag.stack), each.flag.allocation.name, run.index, lanes.thread_of(each.lane),
                Place(*each.written.node.span), each.written.allocation.name, "fence", Place(*each.read.node.span),
            )  # fmt: skip
            keep(self._signals, place, found)
        for reset in resets_of(seen, spins):
            place = Place(*reset.store.node.span)
            name = reset.store.allocation.name
            found = Publication(
                place, frames_of(reset.store.stack), name, run.index, lanes.thread_of(reset.lane),
                Place(*reset.spin.look.span), name, "turn",
            )  # fmt: skip
            keep(self._signals, place, found)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found: dict[Place, BlockWait] = {}
        for each in self._waits:
            wait = self._fact(each.run, each.wait, facts)
            if wait is not None:
                keep(found, wait.place, wait)
        waits = tuple(found[place] for place in sorted(found))
        signals = tuple(self._signals[place] for place in sorted(self._signals))
        spins = tuple(self._spins[place] for place in sorted(self._spins))
        return replace(facts, waits=waits, spins=spins, signals=signals)

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
