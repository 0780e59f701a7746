"""Loops that never end: whether turns have brought everything back to where it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudalint.execute.lanes import is_same_mask
from cudalint.execute.values import Data, Pointer, Value

if TYPE_CHECKING:
    from cudalint.execute.lanes import Mask
    from cudalint.execute.machine import Machine
    from cudalint.execute.memory import Allocation

    Cell = tuple[Allocation, int]


def is_same_value(one: Value, other: Value, mask: Mask) -> bool:
    """Whether two values of one variable are known to be equal for the lanes of a mask. Data decides nothing that this
    is asked for."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Data):
        return True
    if type(one) is Pointer:
        assert type(other) is Pointer
        return one.allocation is other.allocation and is_same_value(one.offset, other.offset, mask)
    if type(one) is np.ndarray:
        assert type(other) is np.ndarray
        return one.dtype == other.dtype and bool(((one == other) | ~mask).all())
    return type(one) in (int, bool, float) and one == other


class Standing:
    """Where one execution of a loop was before, as far as that is looked at: at one turn of its past, which is a later
    one ever more seldom, so that it is in a cycle of any length some day."""

    def __init__(self, machine: Machine) -> None:
        self._machine, self._steps = machine, machine.trace.steps
        self._cells: dict[Cell, Value] = {}
        self._mask: Mask | None = None
        self._looks = 0

    def is_still(self, mask: Mask | None, written: dict[Cell, Value]) -> bool:
        """Whether a turn has left everything as it was: the lanes in the loop, and what was in the cells that it has
        written."""
        now = self._machine.mask
        return (
            now is not None
            and is_same_mask(mask, now)
            and all(is_same_value(old, cell[0].cells.get(cell[1]), now) for cell, old in written.items())
            and not self._stores_numbers()
        )

    def is_again(self) -> bool:
        """Whether all is as it was when this was asked at some time before."""
        now = {cell: cell[0].cells.get(cell[1]) for cell in self._machine.writes[-1]}
        mask = self._machine.mask
        if (
            self._looks
            and mask is not None
            and is_same_mask(self._mask, mask)
            and now.keys() == self._cells.keys()
            and all(is_same_value(value, self._cells[cell], mask) for cell, value in now.items())
        ):
            return not self._stores_numbers()
        self._looks += 1
        if self._looks & (self._looks - 1) == 0:
            self._cells, self._mask = now, mask
        return False

    def _stores_numbers(self) -> bool:
        """Whether the loop may find other numbers in shared memory each time."""
        return any(contents.touched >= self._steps for contents in self._machine.contents)
