"""Some turns of a loop stand for all, by estimate: of loops whose turns go on in ways that are not followed.

The turns that are left are cut into pieces of equal length. One turn of each stands for the others, at places that are
spread evenly and don't keep to a rhythm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from cudalint.execute.affine import FOREVER, difference, is_number, lasts, step_of
from cudalint.execute.loop_forward import go_forward
from cudalint.execute.loop_plans import Cell, History, moved, value_before
from cudalint.execute.values import Data, Pointer, Value

if TYPE_CHECKING:
    from cudalint.execute.execution import Note
    from cudalint.execute.machine import Machine

_GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it lie evenly between whole numbers."""
_LEAST_LENGTH = 2
"""Turns that one has to stand for."""


class Samples(Struct):
    """Which turns are executed of those that are left."""

    number: int
    left: Any
    """Turns until each lane leaves the loop: a plain number, or an array by lane."""
    moves: dict[Cell, Any]
    interval: Any
    most: int
    at: int = 0
    """Turns that are behind."""
    piece: int = 0

    @property
    def left_out(self) -> int:
        return self.most - self.number

    @property
    def is_done(self) -> bool:
        return self.piece > self.number

    def next(self, machine: Machine) -> int:
        """Goes to the next turn, and gives how many it stands for. After the last piece it is the loop's last."""
        if self.piece:
            self.at += 1  # The one that was executed.
        if self.piece == self.number:
            self._go(machine, self.most)
            self.piece += 1
            return 1
        begin, end = (self.most * piece // self.number for piece in (self.piece, self.piece + 1))
        self.piece += 1
        self._go(machine, begin + int((end - begin) * (self.piece * _GOLDEN % 1)))
        return end - begin

    def _go(self, machine: Machine, to: int) -> None:
        if type(self.left) is int:
            times: Any = to - self.at
        else:
            times = np.minimum(self.left, to) - np.minimum(self.left, self.at)
        go_forward(machine, self.moves, self.interval, times)
        self.at = to


def samples_of(history: History, number: int) -> Samples | None:
    """The turns to execute of those that are left, if the loop's condition says how many there are."""
    left = _turns_left(history)
    if left is None:
        return None
    m, last = history.machine, history.turns[-1]
    assert m.mask is not None
    if type(left) is np.ndarray:
        # Lanes that never leave go on beside the others until these have left.
        ends = m.mask & (np.broadcast_to(left, m.mask.shape) < FOREVER)
        most = int(np.where(ends, left, 0).max()) - 1
    else:
        most = left - 1
    if most < number * _LEAST_LENGTH:
        return None
    if type(left) is np.ndarray:
        left = np.where(m.mask, left, 0)
    interval = step_of(last.interval, m.interval)
    return Samples(number, left, _rates(history), interval if interval is not None else 0, most)


def _turns_left(history: History) -> Any:
    """By what the condition compares, if that moves by constant steps; None if it ends the loop for no lane."""
    notes = history.machine.notes
    assert notes is not None
    each = [notes[turn.notes : turn.tested] for turn in history.turns[-3:]]
    if len(each) < 3 or len({len(own) for own in each}) != 1:
        return None
    left: Any = FOREVER
    for oldest, old, new in zip(*each, strict=True):
        periods = _lasting_turns(oldest, old, new)
        if periods is None:
            return None
        left = np.minimum(left, periods) if np.ndarray in (type(left), type(periods)) else min(left, periods)
    mask = history.machine.mask
    assert mask is not None
    return left if (np.broadcast_to(left, mask.shape)[mask] < FOREVER).any() else None


def _lasting_turns(oldest: Note, old: Note, new: Note) -> Any:
    """How often an operator of the condition gives what it did, if its operands move by constant steps."""
    if oldest.op != new.op or old.op != new.op:
        return None
    if new.op == "element":
        # What is in the same place of a record says by itself how it moves.
        is_plain = all(type(each.left) is int for each in (oldest, old, new))
        return FOREVER if is_plain and len({(each.allocation, each.left) for each in (oldest, old, new)}) == 1 else None
    by = step_of(old.left, new.left), step_of(old.right, new.right)
    before = step_of(oldest.left, old.left), step_of(oldest.right, old.right)
    if any(each is None for each in (*by, *before)):
        return None
    others = False if new.mask is None else ~new.mask
    if not all((np.equal(one, other) | others).all() for one, other in zip(by, before, strict=True)):
        return None
    periods, _ = lasts(new.op, new.left, new.right, by, new.type)
    return np.where(new.mask, periods, FOREVER) if type(periods) is np.ndarray and new.mask is not None else periods


def _rates(history: History) -> dict[Cell, Any]:
    """How cells move in a turn: by what they did in the last ones, or in the mean."""
    found: dict[Cell, Any] = {}
    turns = history.turns
    for cell in dict.fromkeys(cell for turn in turns for cell in turn.written):
        allocation, offset = cell
        now = allocation.cells.get(offset)
        if isinstance(now, Data):
            continue
        before, old = value_before(turns[-1:], cell, now), value_before(turns[-2:], cell, now)
        step, last = moved(before, now), moved(old, before)
        if step is not None and last is not None and np.equal(step, last).all():
            rate = step
        else:
            rate = _mean(value_before(turns, cell, now), now, len(turns))
        if not (type(rate) is int and rate == 0):
            found[cell] = rate
    return found


def _mean(old: Value, now: Value, turns: int) -> Any:
    if type(old) is Pointer and type(now) is Pointer and old.allocation is now.allocation:
        old, now = old.offset, now.offset
    is_whole = all(type(each) is not np.ndarray or each.dtype.kind in "iu" for each in (old, now))
    if not is_number(old) or not is_number(now) or bool in (type(old), type(now)) or not is_whole:
        return 0
    return difference(now, old) / turns
