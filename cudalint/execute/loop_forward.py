"""Leaves turns of a loop out: what its variables are after them, and what loops around have to know of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.affine import (
    plain,
    wide,
)
from cudalint.execute.arithmetic import converted
from cudalint.execute.loop_plans import Cell, Plan
from cudalint.execute.memory import Allocation, address, plus
from cudalint.execute.values import COMPUTED, Pointer, Value
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine


def note_for_outer_loops(machine: Machine, plan: Plan, turns: int) -> None:
    """Notes for loops around what the number of turns that are left out comes from; they come in chunks."""
    periods = plan.periods if type(plan.periods) is int else np.repeat(plan.periods, WARP_LANES, axis=1)
    for limit in plan.limits:
        step = limit.step if type(limit.step) is int else np.where(limit.step == 0, 1, limit.step)
        machine.note_operator("/", limit.distance, step or 1 if type(step) is int else step, limit.mask)
        machine.note_operator(">=", limit.periods, periods, limit.mask)
    machine.note_operator("/", (periods - 1) * plan.period, turns, machine.mask)


def go_forward(machine: Machine, moves: dict[Cell, Any], interval: Any, periods: Any) -> None:
    """Moves cells and the interval on by some periods: a plain number of them, or an array [R, warps] or [R, L]."""
    by_lane = periods
    if type(periods) is np.ndarray:
        periods = plain(periods)
        by_lane = periods
        if type(periods) is np.ndarray and periods.shape[1] == machine.lanes.warps:
            by_lane = np.repeat(periods, WARP_LANES, axis=1)
    if type(by_lane) is int and by_lane == 0:
        return
    for (allocation, offset), step in moves.items():
        value = allocation.cells[offset]
        allocation.cells[offset] = _further(value, _times_over(step, by_lane))
    if not (type(interval) is int and interval == 0):
        found = wide(machine.interval) + _times_over(interval, by_lane)
        machine.interval = found.astype(np.int32) if type(found) is np.ndarray else int(converted(found, _INT))


def _times_over(step: Any, by: Any) -> Any:
    """What so many steps come to; whole ones that no array holds wrap around as the machine's do."""
    return _whole((address(step) if type(step) is int and type(by) is np.ndarray else step) * by)

_INT = ir.Scalar("int", 4, "int")


def _whole(number: Any) -> Any:
    if type(number) is np.ndarray:
        return number if number.dtype.kind == "i" else np.floor(number).astype(np.int64)
    return int(number // 1)


def forget(machine: Machine, allocation: Allocation) -> None:
    """All elements of an array have become data."""
    for offset, value in allocation.cells.items():
        if allocation.depth < machine.depth:
            machine.note_write(allocation, offset, value)
        allocation.cells[offset] = COMPUTED


def _further(value: Value, by: Any) -> Value:
    if type(value) is Pointer:
        return Pointer(value.allocation, plus(value.offset, by), value.pointee, value.null)
    if type(value) is np.ndarray:
        return (value.astype(np.int64) + (address(by) if type(by) is int else by)).astype(value.dtype)
    return int(value) + by
