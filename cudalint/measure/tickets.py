"""What only one block does: the one that draws a number from a counter, as the last one does when each block has drawn
when it was done.

`ticket = atomicAdd(&done, 1); if (ticket == gridDim.x - 1) ...` lets one block in, since an atomic that adds gives each
number once. What that block touches alone is no race. What others have touched before they drew is in order only where
a memory fence stands between: atomics by themselves order nothing else (CUDA C++ Programming Guide, "Memory Fence
Functions", whose example this is).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.trace import AccessEvent, Stack
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import nodes_in, without_casts
from cudalint.measure.origins import is_atomic
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen, spelled
from cudalint.measure.touches import Site
from cudalint.measure.ways import Guard

_DRAWING = ("Add", "Sub", "Inc", "Dec", "add", "sub")
_DEEPEST = 6


class Turn(NamedTuple):
    """A condition that one thread of all that draw from a counter fulfils, or its block."""

    guard: Guard
    drawn: Any
    """The atomic."""
    stack: Stack
    number: object
    """What has to be drawn, as it is spelled."""


def excluded(race: Race, seen: Seen) -> str | None:
    """Why two blocks never are where both accesses of a race are at one time."""
    if race.reach != "grid":
        return None
    ends = race.ends
    turns = [list(turns_of(end.site, seen)) for end in ends]
    for mine in turns[0]:
        for other in turns[1]:
            if mine.drawn is other.drawn and mine.number == other.number and _is_one_counter(mine, race, seen):
                return "only one block gets the number that both accesses need"
    for found, end in zip(turns, ends[::-1], strict=True):
        for turn in found:
            counters = seen.memory_of(turn.drawn, turn.stack)
            if end.site.operation == "atomic" and race.allocation in counters and _is_one_counter(turn, race, seen):
                return "the last block comes when the others have drawn their numbers"
    return None


def late_turn(race: Race, seen: Seen) -> Turn | None:
    """The turn by which one end comes after the other one, but for a fence."""
    if race.reach != "grid":
        return None
    for end, other in ((race.first, race.second), (race.second, race.first)):
        for turn in turns_of(end.site, seen):
            drawn = _number_of(turn, seen)
            if drawn is not None and _last(other, seen) < drawn and not _orders(turn.drawn):
                return turn
    return None


def turns_of(site: Site, seen: Seen) -> Iterator[Turn]:
    for guard in seen.guards(site):
        if guard.holds is not False:
            turn = _turn(guard, guard.condition, guard.stack, seen, _DEEPEST)
            if turn is not None:
                yield turn
        elif isinstance(guard.condition, ir.Binary) and guard.condition.op == "!=":
            turn = _compared(guard, guard.condition, guard.stack, seen)
            if turn is not None:
                yield turn


def _turn(guard: Guard, condition: Any, stack: Stack, seen: Seen, left: int) -> Turn | None:
    asked = without_casts(condition)
    if not left:
        return None
    if isinstance(asked, ir.Binary) and asked.op == "!=" and _is_nothing(asked.right):
        return _turn(guard, asked.left, stack, seen, left - 1)
    if isinstance(asked, ir.Binary) and asked.op == "==":
        return _compared(guard, asked, stack, seen)
    if isinstance(asked, ir.Name):
        value = _only_value(asked.symbol, stack, seen)
        return _turn(guard, value, stack, seen, left - 1) if value is not None else None
    return None


def _compared(guard: Guard, asked: ir.Binary, stack: Stack, seen: Seen) -> Turn | None:
    for drawn, number in ((asked.left, asked.right), (asked.right, asked.left)):
        other = seen.origins.of(number, stack)
        if not other.is_common:
            continue
        atomic = _drawn_by(drawn, stack, seen, _DEEPEST)
        if atomic is not None:
            return Turn(guard, atomic, stack, spelled(number))
    return None


def _drawn_by(value: Any, stack: Stack, seen: Seen, left: int) -> Any:
    """The atomic whose result a value is, but for a number that all threads add."""
    value = without_casts(value)
    if not left:
        return None
    if isinstance(value, ir.Call):
        name = value.name.split("::")[-1]
        return value if is_atomic(value) and any(each in name for each in _DRAWING) else None
    if isinstance(value, ir.Binary) and value.op in ("+", "-"):
        other = seen.origins.of(value.right, stack)
        return _drawn_by(value.left, stack, seen, left - 1) if other.is_common else None
    if isinstance(value, ir.Name):
        stored = _only_value(value.symbol, stack, seen)
        return _drawn_by(stored, stack, seen, left - 1) if stored is not None else None
    return None


def _only_value(symbol: ir.Symbol, stack: Stack, seen: Seen) -> Any:
    """What a variable is given, where that is one thing; others may only have cleared it."""
    values: list[Any] = []
    for node in nodes_in(seen.ways.function_of(stack)):
        if isinstance(node, st.Declare) and node.symbol is symbol and node.initializer is not None:
            values.append(node.initializer)
        elif isinstance(node, ir.Assign) and isinstance(node.target, ir.Name) and node.target.symbol is symbol:
            values.append(node.value if not node.op else None)
    given = [value for value in values if value is None or not _is_nothing(value)]
    return given[0] if len(given) == 1 else None


def _is_nothing(value: Any) -> bool:
    value = without_casts(value)
    return isinstance(value, ir.Constant) and not value.value


def _is_one_counter(turn: Turn, race: Race, seen: Seen) -> bool:
    """Whether the two blocks draw from one counter."""
    for event in _events(turn, seen):
        offset = event.offset
        if not isinstance(offset, (int, np.integer, np.ndarray)):
            return False
        if isinstance(offset, np.ndarray):
            lanes = seen.trace.lanes
            rows = [
                row for row in range(lanes.rows)
                if lanes.world_of(row) == race.world and lanes.block_of(row) in (race.first.block, race.second.block)
            ]  # fmt: skip
            wide = np.broadcast_to(offset, event.mask.shape)
            own = {int(each) for row in rows for each in wide[row][event.mask[row]]}
            if len(own) > 1:
                return False
    return True


def _events(turn: Turn, seen: Seen) -> list[AccessEvent]:
    return [
        event for site, events in seen.events.items() if site.node is turn.drawn and site.operation == "atomic"
        for event in events
    ]  # fmt: skip


def _number_of(turn: Turn, seen: Seen) -> int | None:
    """Of the last event of the atomic in the trace."""
    found = [number for number, event in enumerate(seen.trace.accesses) if event.node is turn.drawn]
    return found[-1] if found else None


def _last(end: RaceEnd, seen: Seen) -> int:
    return end.number


def _orders(drawn: Any) -> bool:
    """Whether an atomic orders what stands beside it, as those of `cuda::atomic` do by default."""
    return isinstance(drawn, ir.Call) and drawn.receiver is not None
