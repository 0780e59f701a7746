"""Axes of launches along which every block, or every thread, does the same, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, Place
from cudalint.facts.axes import UnreadAxis
from cudalint.kinds import Kind
from cudalint.measure.axes import Read, read_by, unread_axes
from cudalint.measure.providers.provider import Provider, Run


class UnreadAxisCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "axes"
    _read: list[Read | None] = field(default_factory=list)
    """What the kernel's code reads, once that was asked; None where it is not all in sight."""
    _found: list[UnreadAxis] = field(default_factory=list)

    def add(self, run: Run) -> None:
        batch = run.executed.batch
        if max(*batch.grid[0], *batch.block[1:]) == 1 or not run.subject.is_whole:
            return
        if not self._read:
            self._read.append(read_by(run.executed.function))
        read = self._read[0]
        if read is None:
            return
        for axis, extent, of_block, store in unread_axes(read, run.executed, run.compiled):
            place = Place(*store.node.span)
            self._found.append(UnreadAxis(run.index, axis, extent, of_block, place, store.allocation.name))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, axes=tuple(self._found))
