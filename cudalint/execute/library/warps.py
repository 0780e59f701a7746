"""Functions by which the lanes of a warp exchange something: shuffles, votes, matches.

Source: CUDA C++ Programming Guide, "Warp Shuffle Functions", "Warp Vote Functions", "Warp Match Functions", "Warp
Reduce Functions"; PTX ISA, "shfl.sync". What a lane gets of one that does not take part is undefined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cudalint.execute.absent import after_shuffle, defined
from cudalint.execute.arithmetic import converted
from cudalint.execute.butterflies import exchanged
from cudalint.execute.library.common import (
    Handler,
    arguments_of,
    collapsed,
    data_of,
    in_common,
    is_number,
    is_whole,
    opaque,
    spread,
)
from cudalint.execute.memory import as_type
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import COMPUTED, UNKNOWN, Aggregate, Data, Pointer, Value, truth
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import Builtin

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_LANES: Final = np.arange(WARP_LANES)
_BITS: Final = np.uint64(1) << _LANES.astype(np.uint64)
_WHOLE_WARP: Final = 0xFFFFFFFF


def lanes_of(mode: str, operand: Any, width: int) -> Any:
    """The lane that each lane of a warp reads from in a shuffle, in parts of `width` lanes."""
    own, first = _LANES, _LANES & ~(width - 1)
    operand = np.asarray(operand).astype(np.int64)
    if mode == "idx":
        return first | (operand & (width - 1))
    if mode == "up":
        source = own - operand
        return np.where(source < first, own, source)
    source = own + operand if mode == "down" else own ^ operand
    return np.where((source > (first | (width - 1))) | (source < 0), own, source)


def shuffled(m: Machine, mode: str, value: Value, operand: Value, width: Value) -> Value:
    """What a shuffle gives: what lanes have in common stays so, data stays data."""
    if type(value) is Aggregate:
        cells = {offset: shuffled(m, mode, cell, operand, width) for offset, cell in value.cells.items()}
        return Aggregate(value.type, cells)
    if type(value) is Pointer:
        offset = shuffled(m, mode, value.offset, operand, width)
        return Pointer(value.allocation, offset, value.pointee)
    if mode == "xor" and isinstance(value, Data):
        return exchanged(value, operand)
    if not is_number(value):
        return data_of([value])
    if type(value) is not np.ndarray or value.shape[1] == 1:
        return value
    if not is_whole(operand) or type(width) is not int or width not in _WIDTHS:
        return data_of([operand, width])
    by_warp = value.reshape(value.shape[0], -1, WARP_LANES)
    source, warps = _sources(m, mode, operand, width), by_warp.shape[1]
    rows = max(by_warp.shape[0], source.shape[0])
    by_warp = np.broadcast_to(by_warp, (rows, warps, WARP_LANES))
    found = np.take_along_axis(by_warp, np.broadcast_to(source, by_warp.shape), axis=2)
    return collapsed(found.reshape(rows, m.lanes.lanes))


_WIDTHS: Final = frozenset({1, 2, 4, 8, 16, 32})


def _sources(m: Machine, mode: str, operand: Any, width: int) -> Any:
    """[1 or R, 1 or warps, 32] the lane of its warp that each lane reads from."""
    if type(operand) is np.ndarray:
        operand = np.broadcast_to(operand, (operand.shape[0], m.lanes.lanes)).reshape(operand.shape[0], -1, WARP_LANES)
    found = lanes_of(mode, operand, width)
    return found.reshape(-1, *found.shape[-2:]) if found.ndim > 1 else found[None, None]


def exchange(m: Machine, node: Any, mode: str, value: Value, operand: Value, width: Value) -> Value:
    """What a shuffle gives, and in which lanes it is undefined."""
    found = shuffled(m, mode, defined(value), operand, width)
    if m.mask is None or not is_whole(operand) or type(width) is not int or width not in _WIDTHS:
        return found
    sources, active = _sources(m, mode, operand, width), m.lanes.by_warp(m.mask)
    return after_shuffle(found, value, m.library or node, m.stack, active, sources, m.mask.shape)


def taking_part(m: Machine, named: Value = _WHOLE_WARP) -> Any:
    """The active lanes that a mask of the warp names, [R, warps, 32]; None where data says which those are."""
    if m.data or m.mask is None or not is_whole(named):
        return None
    active = m.lanes.by_warp(m.mask)
    if type(named) is int and named & _WHOLE_WARP == _WHOLE_WARP:
        return active
    words = spread(named, m.mask).astype(np.int64).astype(np.uint64).reshape(active.shape)
    return active & ((words & _BITS) != 0)


def words_of(lanes: Any) -> Any:
    """Lanes of warps as words of 32 bits: [R, warps]."""
    return (lanes * _BITS).sum(axis=2, dtype=np.uint64)


def by_lane(m: Machine, words: Any, type_: ir.Type) -> Value:
    """A number for each warp as the lanes see it."""
    wide = collapsed(np.repeat(words.astype(np.int64), WARP_LANES, axis=1))
    return converted(wide, type_) if isinstance(type_, ir.Scalar) else COMPUTED


def ballot(m: Machine, condition: Value, named: Value = _WHOLE_WARP) -> Any:
    """The word of lanes that take part for which a condition holds, and that of all: [R, warps]; None for data."""
    holds, active = truth(condition), taking_part(m, named)
    if active is None or isinstance(holds, Data) or m.mask is None:
        return None
    return words_of(active & spread(holds, m.mask).reshape(active.shape)), words_of(active)


def _shuffle(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    arguments = arguments_of(program, e)
    skip = 1 if builtin.effect == "masked-shuffle" else 0
    type_ = ir.referent(e.type)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if m.mask is None or len(found) < skip + 2:
            return opaque(type_)
        if skip:
            m.barrier(e, "syncwarp", is_implied=True, named=found[0])
        width = found[skip + 2] if len(found) > skip + 2 else WARP_LANES
        return as_type(exchange(m, e, builtin.operand, found[skip], found[skip + 1], width), type_)

    return call


def _vote(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__ballot_sync`, `__any_sync`, `__all_sync`, `__reduce_add_sync`, and the votes of old."""
    arguments, type_ = arguments_of(program, e), ir.referent(e.type)
    is_masked = builtin.effect == "masked-vote"

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if m.mask is None:
            return opaque(type_)
        named = found[0] if is_masked else _WHOLE_WARP
        if is_masked:
            m.barrier(e, "syncwarp", is_implied=True, named=named)
        if e.name.startswith("__reduce_"):
            return _reduced(m, e.name.split("_")[3], found[-1], named, type_)
        words = ballot(m, found[-1], named)
        return answer(m, e.name, words, type_) if words is not None else opaque(type_, in_common(found))

    return call


def answer(m: Machine, name: str, words: Any, type_: ir.Type) -> Value:
    """What a vote comes to, by its name."""
    holding, active = words
    if "ballot" in name:
        return by_lane(m, holding, type_)
    return by_lane(m, holding == active if "all" in name else holding != 0, type_)


def _reduced(m: Machine, name: str, value: Value, named: Value, type_: ir.Type) -> Value:
    active = taking_part(m, named)
    reduce = _REDUCTIONS.get(name)
    if active is None or reduce is None or not is_whole(value) or m.mask is None:
        return opaque(type_, in_common([value]))
    function, neutral = reduce
    values = spread(value, m.mask).astype(np.int64).reshape(active.shape)
    return by_lane(m, function.reduce(np.where(active, values, neutral), axis=2), type_)


_REDUCTIONS: Final[Mapping[str, tuple[Any, int]]] = {
    "add": (np.add, 0), "min": (np.minimum, 1 << 62), "max": (np.maximum, -(1 << 62)), "and": (np.bitwise_and, -1),
    "or": (np.bitwise_or, 0), "xor": (np.bitwise_xor, 0),
}  # fmt: skip
"""With the number that changes nothing."""


def _active_mask(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__activemask()`: those lanes that can run together do."""

    def call(m: Machine) -> Value:
        active = taking_part(m)
        return by_lane(m, words_of(active), e.type) if active is not None else COMPUTED

    return call


def _match(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__match_any_sync(mask, value)`: the lanes that have the same number."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        named, value = (argument(m) for argument in arguments[:2])
        if m.mask is None:
            return COMPUTED
        m.barrier(e, "syncwarp", is_implied=True, named=named)
        active = taking_part(m, named)
        if type(value) is Pointer and not value.allocation.parts:
            value = value.offset  # As a number, from the start of one piece of memory.
        if active is None or not is_number(value):
            return data_of([value])
        values = spread(value, m.mask).reshape(active.shape)
        same = (values[..., :, None] == values[..., None, :]) & active[..., None, :]
        found = (same * _BITS).sum(axis=3, dtype=np.uint64).astype(np.int64).reshape(m.mask.shape)
        return converted(collapsed(found), e.type) if isinstance(e.type, ir.Scalar) else COMPUTED

    return call


def _rank(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`_cudalint_rank()` of the bundled headers: how many of the lanes that come are before a lane."""

    def call(m: Machine) -> Value:
        active = taking_part(m)
        if active is None or m.mask is None:
            return COMPUTED
        before = (np.cumsum(active, axis=2) - active).reshape(m.mask.shape)
        return converted(before, e.type) if isinstance(e.type, ir.Scalar) else COMPUTED

    return call


def _of_rank(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`_cudalint_of_rank(value, rank)` of the bundled headers: the value of the lane that has a rank among those that
    come."""
    value, rank = arguments_of(program, e)

    def call(m: Machine) -> Value:
        found, wanted = value(m), rank(m)
        if m.mask is None:
            return opaque(e.type)
        # Which lanes are meant was settled where the group was made.
        m.barrier(e, "syncwarp", is_implied=True, named=UNKNOWN)
        active = taking_part(m)
        if type(found) is not np.ndarray or found.shape[1] == 1:
            return found
        if active is None or not is_whole(wanted):
            return data_of([found, wanted])
        ordered = np.argsort(~active, axis=2, kind="stable")
        places = spread(wanted, m.mask).reshape(active.shape).astype(np.int64) % WARP_LANES
        source = np.take_along_axis(ordered, places, axis=2)
        values = spread(found, m.mask).reshape(active.shape)
        return collapsed(np.take_along_axis(values, source, axis=2).reshape(m.mask.shape))

    return call


def lane_numbers(m: Machine) -> Any:
    """The number of each lane in its warp."""
    return np.tile(_LANES.astype(np.uint32), m.lanes.warps)[None]


def _lane_mask(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__lanemask_lt()`: the lanes before a lane."""

    def call(m: Machine) -> Value:
        return ((np.uint64(1) << lane_numbers(m).astype(np.uint64)) - np.uint64(1)).astype(np.uint32)

    return call


HANDLERS: Mapping[str, Handler] = {
    "shuffle": _shuffle, "masked-shuffle": _shuffle, "masked-vote": _vote, "unmasked-vote": _vote, "match": _match,
    "active-mask": _active_mask, "rank": _rank, "of-rank": _of_rank, "lanes-before": _lane_mask,
}  # fmt: skip
