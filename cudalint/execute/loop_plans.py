"""What the turns of a loop have in common, and how many of them go on like that.

After some turns of a loop it is known what they have written outside of themselves, which events they have left and
which operators they have used. If one period of turns did the same as the one before, with numbers that have moved by
constant steps, and if no operator says otherwise (`affine.py`), so will the next ones: what a period does to its
numbers is then an affine map, and of such a map two equal steps are followed by the same for ever. Most of those
periods need no execution: some stand for the others, by the weights of their events.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct, field

from cudalint.execute.affine import FOREVER, MOST_TIMES, difference, has_lasted, lasts, least_by_warp, step_of
from cudalint.execute.lanes import is_same_mask
from cudalint.execute.memory import Allocation
from cudalint.execute.values import Closure, Data, FunctionValue, Pointer, Value
from cudalint.hardware.banks import BANK_BYTES
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES

if TYPE_CHECKING:
    from cudalint.execute.execution import Note
    from cudalint.execute.lanes import Mask
    from cudalint.execute.machine import Machine
    from cudalint.execute.trace import AccessEvent

Cell = tuple[Allocation, int]


class Turn(Struct, eq=False):
    """Where the notes and events of a turn begin, what it found, and what it has written outside of itself."""

    notes: int
    accesses: int
    barriers: int
    branches: int
    mask: Any
    interval: Any
    written: dict[Cell, Value] = field(default_factory=dict)
    """What was in the cells before."""
    tested: int = 0
    """Where the notes of the loop's condition end."""


class Plan(Struct, eq=False):
    """How turns go on."""

    period: int
    """In turns."""
    periods: Any
    """That go on like this: a plain number, or an array [R, warps]; the next one may not."""
    window: int
    """Turns, whole periods, after which all requests cost the same again."""
    grows: bool
    """Weights of events within a turn grow from one to the next: loops in it have more turns in each."""
    moves: dict[Cell, Any]
    """Steps in a period."""
    interval: Any
    forgotten: list[Allocation]
    """Local arrays of data that are written all over."""
    stale: list[Allocation]
    """Shared arrays to which turns store what others don't, or elsewhere."""
    limits: list[Limit]


class Limit(NamedTuple):
    """What ends a plan some day."""

    periods: Any
    distance: Any
    step: Any
    """Periods come from dividing the one by the other."""
    mask: Mask | None


class Misfit(Exception):
    """Turns don't repeat with this period."""

    def __init__(self, times: int = 1) -> None:
        super().__init__()
        self.times = times
        """So many periods may."""


class History:
    """The turns of one execution of a loop, for as long as they may repeat."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.turns: list[Turn] = []
        self.together = 0
        """The last turns, since which no lane has left: those before do not repeat."""
        self._epoch = machine.epoch

    def begin(self) -> None:
        self.turns.append(self._now())
        self.machine.writes.append(self.turns[-1].written)

    def tested(self) -> None:
        if self.machine.notes is not None:
            self.turns[-1].tested = len(self.machine.notes)

    def end(self) -> None:
        self.machine.writes.pop()
        outer = self.machine.writes[-1]
        for cell, old in self.turns[-1].written.items():
            outer.setdefault(cell, old)
        self.together = self.together + 1 if is_same_mask(self.turns[-1].mask, self.machine.mask) else 0
        if self._epoch != self.machine.epoch:
            self._epoch, self.turns, self.together = self.machine.epoch, [], 0

    def _now(self) -> Turn:
        m, trace = self.machine, self.machine.trace
        assert m.notes is not None
        numbers = len(m.notes), len(trace.accesses), len(trace.barriers), len(trace.branches)
        return Turn(*numbers, m.mask, m.interval)

    def plan(self, period: int, needed: int) -> Plan:
        """How turns go on, if the last two periods were equal; or a misfit, also where fewer periods than `needed` go
        on like them."""
        turns, now, last = self.turns, self._now(), len(self.turns)
        first, second = turns[last - 2 * period], turns[last - period]
        if not is_same_mask(first.mask, second.mask) or not is_same_mask(second.mask, now.mask):
            raise Misfit
        found = _Findings(self.machine, period, needed, now.mask)
        passed = self.machine.trace.barriers[second.barriers : now.barriers]
        found.waits = any(event.scope == "block" for event in passed)
        assert self.machine.notes is not None
        notes = self.machine.notes
        found.compare_notes(notes[first.notes : second.notes], notes[second.notes : now.notes])
        moves = self._moves(period)
        third = turns[last - 3 * period] if last >= 3 * period else None
        self._compare_events(found, third, first, second, now)
        interval = step_of(second.interval, now.interval)
        if interval is None or not np.array_equal(interval, step_of(first.interval, second.interval)):
            raise Misfit
        found.check()
        forgotten = list(found.forgotten)
        stale = list(found.stale)
        return Plan(period, found.periods(), found.window, found.grows, moves, interval, forgotten, stale, found.limits)

    def _compare_events(self, found: _Findings, third: Turn | None, first: Turn, second: Turn, now: Turn) -> None:
        trace = self.machine.trace
        before = trace.accesses[third.accesses : first.accesses] if third is not None else None
        found.compare_accesses(
            before, trace.accesses[first.accesses : second.accesses], trace.accesses[second.accesses : now.accesses]
        )
        # A barrier's interval is checked as the machine's.
        found.compare_others(
            trace.barriers[first.barriers : second.barriers], trace.barriers[second.barriers : now.barriers]
        )
        found.compare_others(
            trace.branches[first.branches : second.branches], trace.branches[second.branches : now.branches]
        )

    def _moves(self, period: int) -> dict[Cell, Any]:
        """How cells from outside move in a period."""
        moves: dict[Cell, Any] = {}
        recent = self.turns[-2 * period :]
        for cell in dict.fromkeys(cell for turn in recent for cell in turn.written):
            allocation, offset = cell
            now = allocation.cells.get(offset)
            middle = value_before(recent[period:], cell, now)
            step = moved(middle, now)
            if step is None:
                raise Misfit
            if isinstance(now, Data):
                continue
            old = moved(value_before(recent, cell, now), middle)
            if old is None or not _is_same_step(old, step, self.turns[-1].mask):
                raise Misfit
            if not (type(step) is int and step == 0):
                moves[cell] = step
        return moves


def value_before(turns: Sequence[Turn], cell: Cell, now: Value) -> Value:
    """What was in a cell before some of the last turns."""
    return next((turn.written[cell] for turn in turns if cell in turn.written), now)


def moved(old: Value, new: Value) -> Any:
    """What was added to a value; None for one that has changed in other ways."""
    if new is old:
        return 0
    kinds = type(old), type(new)
    if isinstance(new, Data):
        return 0 if isinstance(old, Data) else None
    if kinds == (Pointer, Pointer):
        if not _is_same_memory(old.allocation, new.allocation) or not _is_same_null(old.null, new.null):
            return None
        if isinstance(old.offset, Data) or isinstance(new.offset, Data):
            return 0 if isinstance(old.offset, Data) and isinstance(new.offset, Data) else None
        return step_of(old.offset, new.offset)
    if kinds in ((Closure, Closure), (FunctionValue, FunctionValue)):
        return 0 if old.function is new.function and kinds[0] is FunctionValue else None
    return step_of(old, new)


def _is_same_null(one: Any, other: Any) -> bool:
    if isinstance(one, Data) or isinstance(other, Data):
        return isinstance(one, Data) and isinstance(other, Data)
    return is_same_mask(one, other)


def _is_same_memory(one: Allocation, other: Allocation) -> bool:
    """What pointers that were loaded lead to is new each time, and never known."""
    return one is other or (one.name == other.name and one.name.startswith("*"))


def _is_same_step(one: Any, other: Any, mask: Mask) -> bool:
    if type(one) is int and type(other) is int:
        return one == other
    return bool((np.equal(one, other) | ~mask).all())


class _Findings:
    """How long two periods' notes and events go on as they do."""

    def __init__(self, machine: Machine, period: int, needed: int, mask: Mask) -> None:
        self.machine, self.needed, self.mask = machine, needed, mask
        self.grows = False
        self._period, self._repeats = period, 1
        self.forgotten: dict[Allocation, None] = {}
        self.stale: dict[Allocation, None] = {}
        self.times = 1
        self._whole: int = FOREVER
        self._by_lane: Any = None
        self.limits: list[Limit] = []
        self._steps: dict[tuple[int, int], Any] = {}
        """Of arrays that notes have, by their identities."""
        self._noted: dict[tuple[Any, ...], list[Limit]] = {}
        """For operators and their operands, what they add to the limits."""
        self.waits = False
        """The threads of a block wait for each other, and go forward together."""

    @property
    def window(self) -> int:
        return self._period * self._repeats

    # --- how long ----------------------------------------------------------------------------------

    def limit(self, periods: Any, mask: Mask | None) -> None:
        """Active lanes go on for so many periods."""
        if type(periods) is int:
            if periods >= FOREVER:
                return
            if mask is None or mask is self.mask:
                self._whole = min(self._whole, periods)
                return
        if mask is not None and mask is not self.mask:
            periods = np.where(mask, periods, FOREVER)
        self._by_lane = periods if self._by_lane is None else np.minimum(self._by_lane, periods)

    def check(self) -> None:
        """A longer period is better than one that ends soon."""
        longer = self._period * self.times
        needed = max(self.needed, 4 * self.times if self.times > 1 and longer <= MOST_TIMES else 0)
        if self._whole < needed or (self._by_lane is not None and self._active().max(initial=0) < needed):
            raise Misfit(self.times)

    def _active(self) -> Any:
        """Periods of those warps that are in the loop."""
        return self._each()[self._warps()]

    def _warps(self) -> Any:
        found: Any = self.mask.reshape(self.mask.shape[0], self.machine.lanes.warps, WARP_LANES).any(axis=2)
        return found

    def _each(self) -> Any:
        """Periods of each warp; those in which others wait for one are no more than that has."""
        by_lane = np.broadcast_to(self._by_lane, self.mask.shape)
        found = np.minimum(least_by_warp(by_lane, self.mask, self.machine.lanes.warps), self._whole)
        if not self.waits:
            return found
        least = np.where(self._warps(), found, FOREVER).min(axis=1, keepdims=True)
        return np.broadcast_to(least, found.shape)

    def periods(self) -> Any:
        if self._by_lane is None:
            return self._whole
        each = self._each()
        active = each[self._warps()]
        return int(active[0]) if (active == active[0]).all() else each

    # --- notes -------------------------------------------------------------------------------------

    def compare_notes(self, before: Sequence[Note], after: Sequence[Note]) -> None:
        if len(before) != len(after):
            raise Misfit
        for old, new in zip(before, after, strict=True):
            if old.op != new.op:
                raise Misfit
            if not is_same_mask(old.mask, new.mask):
                raise Misfit
            if old.op == "element":
                self._element(old, new)
            elif old.left is not new.left or old.right is not new.right:
                # What is computed once more of the same operands says the same.
                key = new.op, new.type, id(new.mask), *map(_identity, (old.left, new.left, old.right, new.right))
                if key in self._noted:
                    self.limits += self._noted[key]
                else:
                    known = len(self.limits)
                    self._note(old, new)
                    self._noted[key] = self.limits[known:]

    def _step(self, before: Value, after: Value) -> Any:
        """`step_of`, of which many operators ask for the same operands."""
        if type(before) is not np.ndarray or type(after) is not np.ndarray:
            return step_of(before, after)
        key = id(before), id(after)
        if key not in self._steps:
            self._steps[key] = step_of(before, after)
        return self._steps[key]

    def _note(self, old: Note, new: Note) -> None:
        by = self._step(old.left, new.left), self._step(old.right, new.right)
        if by[0] is None or by[1] is None:
            raise Misfit
        if type(by[0]) is int and type(by[1]) is int and by[0] == 0 == by[1]:
            return
        periods, times = lasts(new.op, new.left, new.right, by, new.type, new.mask)
        self.times = max(self.times, times)
        # What it did from the last period to this one must be what it goes on to do.
        has_lasted_ = has_lasted(new.op, (old.left, old.right), (new.left, new.right), by, new.type)
        if not np.all(has_lasted_):
            periods = np.where(has_lasted_, periods, 0) if np.ndim(has_lasted_) else 0
        if type(periods) is int and periods >= FOREVER:
            return
        self.limit(periods, new.mask)
        if self.machine.watchers > 1:
            is_level = new.op in ("/", "%", ">>", "&", "cast")
            distance = difference(new.left, 0 if is_level else new.right)
            self.limits.append(Limit(periods, distance, by[0] if is_level else difference(*by), new.mask))
        if self._whole < self.needed:
            raise Misfit(self.times)

    def _element(self, old: Note, new: Note) -> None:
        """An element of a local array: another one in each turn only where all are data."""
        assert new.allocation is not None
        if isinstance(new.left, Data) and isinstance(old.left, Data):
            return
        step = step_of(old.left, new.left)
        if step is None:
            raise Misfit
        if type(step) is int and step == 0:
            return
        if not is_opaque(old.right) or not is_opaque(new.right):
            raise Misfit
        if new.allocation not in self.forgotten:
            if not all(is_opaque(cell) for cell in new.allocation.cells.values()):
                raise Misfit
            self.forgotten[new.allocation] = None

    # --- events ------------------------------------------------------------------------------------

    def compare_accesses(
        self, third: Sequence[AccessEvent] | None, before: Sequence[AccessEvent], after: Sequence[AccessEvent]
    ) -> None:
        if len(before) != len(after):
            raise Misfit
        oldest: Iterable[AccessEvent | None] = (
            third if third is not None and len(third) == len(before) else [None] * len(before)
        )
        for ancient, old, new in zip(oldest, before, after, strict=True):
            if old.node is not new.node or old.operation != new.operation or old.bytes != new.bytes:
                raise Misfit
            if old.data != new.data or old.stack != new.stack or not is_same_mask(old.mask, new.mask):
                raise Misfit
            if not _is_same_memory(old.allocation, new.allocation):
                raise Misfit
            self._weight(ancient, old, new)
            self._offset(old, new)
            if new.operation != "load" and new.allocation.contents is not None and not _stores_the_same(old, new):
                self.stale[new.allocation] = None

    def _weight(self, ancient: Any, old: Any, new: Any) -> None:
        if old.weight is new.weight or np.array_equal(old.weight, new.weight):
            return
        if ancient is None or not np.allclose(new.weight - old.weight, old.weight - ancient.weight):
            raise Misfit
        self.grows = True

    def _offset(self, old: AccessEvent, new: AccessEvent) -> None:
        if isinstance(old.offset, Data) and isinstance(new.offset, Data):
            return
        step = step_of(old.offset, new.offset)
        if step is None:
            raise Misfit
        if type(step) is int and step == 0:
            return
        mask = new.mask
        if type(step) is np.ndarray and step.shape[1] > 1:
            step = self._by_warps(step, mask)
        unit = max(BANK_BYTES, new.bytes)
        if new.allocation.space != "shared" and not _is_one_place(new, mask):
            unit = max(SECTOR_BYTES, new.bytes)
        repeats = int(np.max(unit // np.gcd(np.abs(step), unit)))
        self._repeats = math.lcm(self._repeats, repeats)
        if self.window > 2 * MOST_TIMES:
            raise Misfit

    def _by_warps(self, step: Any, mask: Mask) -> Any:
        """A step for each warp; those whose lanes have several of them don't go on."""
        shape = mask.shape[0], self.machine.lanes.warps, WARP_LANES
        lanes, active = np.broadcast_to(step, mask.shape).reshape(shape), mask.reshape(shape)
        most = np.where(active, lanes, -FOREVER).max(axis=2)
        least = np.where(active, lanes, FOREVER).min(axis=2)
        is_one = (most == least) | ~active.any(axis=2)
        if not is_one.all():
            self.limit(np.repeat(np.where(is_one, FOREVER, 0), WARP_LANES, axis=1), mask)
            self.check()
        return np.where(active.any(axis=2), most, 0)

    def compare_others(self, before: Sequence[Any], after: Sequence[Any]) -> None:
        """Barriers, or branches."""
        if len(before) != len(after):
            raise Misfit
        for old, new in zip(before, after, strict=True):
            if old.node is not new.node or old.stack != new.stack or not is_same_mask(old.mask, new.mask):
                raise Misfit
            if not is_same_mask(getattr(old, "taken", None), getattr(new, "taken", None)) and hasattr(old, "taken"):
                raise Misfit
            if not np.array_equal(old.weight, new.weight):
                self.grows = True


def _identity(value: Value) -> Any:
    return value if type(value) is int else id(value)


def _stores_the_same(old: AccessEvent, new: AccessEvent) -> bool:
    """Whether the same lanes store the same to the same places."""
    if isinstance(new.offset, Data) or not _is_still(old.offset, new.offset):
        return False
    return isinstance(new.value, Data) or _is_still(old.value, new.value)


def _is_still(old: Value, new: Value) -> bool:
    step = step_of(old, new)
    return type(step) is int and step == 0


def _is_one_place(event: AccessEvent, mask: Mask) -> bool:
    """Whether all active lanes of each warp go to one place."""
    if type(event.offset) is not np.ndarray or event.offset.shape[1] == 1:
        return True
    lanes = np.broadcast_to(event.offset, mask.shape).reshape(-1, WARP_LANES)
    active = mask.reshape(-1, WARP_LANES)
    most, least = np.where(active, lanes, -FOREVER).max(axis=1), np.where(active, lanes, FOREVER).min(axis=1)
    return bool((most <= least).all())


def is_opaque(value: Value) -> bool:
    return isinstance(value, (Data, float)) or (type(value) is np.ndarray and value.dtype.kind == "f")














