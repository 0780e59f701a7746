"""Cooperative groups: their barriers, and what the lanes of a tile exchange.

Source: CUDA C++ Programming Guide, "Cooperative Groups". The barrier of the grid is a counter in global memory, which
the first thread of each block adds to and reads until all have come (`cooperative_groups/details/sync.h` of the
toolkit); a profiler lists both instructions, of one lane and one sector each, as measured on an H200.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from cudalint.execute.library.barriers import object_barrier
from cudalint.execute.library.common import Handler, arguments_of, class_of, data_of, nothing, opaque
from cudalint.execute.library.warps import exchange, taking_part, words_of
from cudalint.execute.memory import Allocation, as_type
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.trace import EVERY_COPY, BarrierPart, BarrierScope
from cudalint.execute.values import UNKNOWN, Data, Pointer, Value, truth
from cudalint.facts import BarrierKind
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import Builtin
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_GROUPS: Final[Mapping[str, tuple[BarrierKind, BarrierScope]]] = {
    "thread_block": ("cooperative-groups", "block"),
    "thread_group": ("cooperative-groups", "block"),
    "grid_group": ("grid", "block"),
    "multi_grid_group": ("grid", "block"),
    "cluster_group": ("cooperative-groups", "block"),
    "thread_block_tile": ("cooperative-groups", "warp"),
    "coalesced_group": ("cooperative-groups", "warp"),
}
"""By the class of the group; a plain `thread_group` may be any of them."""
_TILE = regex(r"thread_block_tile<(\d+)")
_STATIC = regex(r"@S@(\w+)@F@")
GRID_COUNTER = "grid barrier"
"""What the memory of the counter is called."""
_COUNTER_AT = 4
"""Bytes before the counter in what the launch allocates for it."""


def tile_size(full_name: str) -> int:
    """The threads of a tile; a warp's where the type does not say."""
    found = _TILE.search(full_name)
    return (int(found[1]) if found else 0) or WARP_LANES


def rank_in_group(m: Machine, name: str, full_name: str) -> tuple[Any, int]:
    """The number of each thread in its tile or its block, and how many threads that has."""
    rank = np.arange(m.lanes.lanes, dtype=np.int64)[None]
    members = tile_size(full_name) if name in ("thread_block_tile", "coalesced_group") else m.lanes.threads
    return rank % members, members


def _barrier(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`group.sync()`, `sync(group)`, `group.barrier_arrive()`, `group.barrier_wait()`, `wait(group)`."""
    owner = e.receiver if e.receiver is not None else next(iter(e.arguments), None)
    name, full = class_of(owner)
    if not name and e.function is not None:
        # `thread_block::sync()` needs no object, even where it is called on one.
        static = _STATIC.search(e.function.key)
        name = static[1] if static else ""
    part = cast("BarrierPart", builtin.operand)
    if name == "barrier":
        return object_barrier(program, e, part)
    if name not in _GROUPS:
        return nothing(program, e, builtin)
    kind, scope = _GROUPS[name]
    size = tile_size(full)
    if size > WARP_LANES:
        # Several warps of the block, which a barrier of their own orders; which ones those are is not followed.
        kind, scope = "named", "block"
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        if m.mask is None:
            return UNKNOWN
        if e.name == "wait":
            m.copies(e, EVERY_COPY)
        if kind == "grid":
            _touch_counter(m, e, part)
        if kind == "grid" or name == "cluster_group":
            m.cluster_step(e, part)
        m.barrier(e, kind, scope=scope, part=part, named=_named(m, name, size) if scope == "warp" else None)
        return opaque(e.type, UNKNOWN)

    return call


def _named(m: Machine, name: str, size: int) -> Value:
    """The lanes that a group's function waits for, as bits: those of each tile, or of a coalesced group, which has the
    lanes that were there when it was made, nobody knows which; None for a whole warp."""
    if name == "coalesced_group":
        return UNKNOWN
    if name != "thread_block_tile" or size >= WARP_LANES:
        return None
    first = np.arange(m.lanes.lanes, dtype=np.int64) % WARP_LANES // size * size
    return (((1 << size) - 1) << first)[None]


def _touch_counter(m: Machine, e: ir.Call, part: BarrierPart) -> None:
    """What the first thread of each block does to the counter of the grid's barrier."""
    mask = m.mask
    first = np.zeros(m.lanes.lanes, bool)
    first[0] = True
    m.mask, _ = m.split(first[None])
    guard, m.guard = m.guard, mask
    if m.mask is not None:
        # Who reads while others add is what the barrier is there for: each step has a counter of its own.
        if part != "wait":
            m.note(Allocation(GRID_COUNTER, "global"), _COUNTER_AT, 4, "atomic", e)
        if part != "arrive":
            m.note(Allocation(GRID_COUNTER, "global"), _COUNTER_AT, 4, "load", e)
    m.mask, m.guard = mask, guard


def _shuffle(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`tile.shfl_xor(value, mask)`: a shuffle among the lanes of each tile."""
    name, full = class_of(e.receiver)
    arguments, size = arguments_of(program, e), tile_size(full)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if m.mask is None or len(found) < 2:
            return opaque(e.type)
        m.barrier(e, "syncwarp", is_implied=True, named=_named(m, name, size))
        if name != "thread_block_tile" or size > WARP_LANES:
            return opaque(e.type, data_of(found))
        return as_type(exchange(m, e, builtin.operand, found[0], found[1], size), ir.referent(e.type))

    return call


def _vote(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`tile.any(condition)`, `tile.all(condition)`, `tile.ballot(condition)`: one answer for each tile."""
    name, full = class_of(e.receiver)
    argument, size = program.value(e.arguments[0]) if e.arguments else None, tile_size(full)
    if argument is None or name != "thread_block_tile" or size > WARP_LANES:
        return nothing(program, e, builtin)

    def call(m: Machine) -> Value:
        holds = truth(argument(m))
        if m.mask is None:
            return UNKNOWN
        m.barrier(e, "syncwarp", is_implied=True)
        active = taking_part(m)
        if active is None or isinstance(holds, Data):
            return data_of([holds])
        holding = active & np.broadcast_to(np.asarray(holds), m.mask.shape).reshape(active.shape)
        words = [_by_tile(words_of(each), size) for each in (holding, active)]
        return _answer(m, e.name, words, e.type)

    return call


def _by_tile(words: Any, size: int) -> Any:
    """The bits of each tile of warps' words, [R, warps] as [R, lanes]."""
    first = np.arange(WARP_LANES, dtype=np.uint64) // np.uint64(size) * np.uint64(size)
    parts = (words[..., None] >> first) & np.uint64((1 << size) - 1)
    return parts.reshape(words.shape[0], -1)


def _answer(m: Machine, name: str, words: Any, type_: ir.Type) -> Value:
    holding, active = words
    found = holding if "ballot" in name else (holding == active if "all" in name else holding != 0)
    return as_type(found.astype(np.int64), type_)


def _reduce(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`reduce(group, value, operation)`: all threads of the group get one result, which is not followed."""
    arguments = arguments_of(program, e)
    is_of_group = bool(e.arguments) and class_of(e.arguments[0])[0] in _GROUPS

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if m.mask is not None and is_of_group:
            m.barrier(e, "syncwarp", is_implied=True)
        return opaque(ir.referent(e.type), data_of(found[1:]))

    return call


def _group(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`this_thread_block()`, `tiled_partition<32>(block)` and the like: which group it is, its type says."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        return opaque(e.type, UNKNOWN)

    return call


def _of_cluster(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`cluster.block_rank()`, `cluster.num_blocks()`: known where `__cluster_dims__` says how the grid is divided."""

    def call(m: Machine) -> Value:
        cluster = m.frames[0].function.cluster
        if cluster is None:
            return opaque(e.type, UNKNOWN)
        x, y, z = cluster
        if builtin.operand == "blocks":
            return x * y * z
        places = zip(m.lanes.built_in["blockIdx"], cluster, strict=True)
        across, down, deep = (place % extent for place, extent in places)
        return as_type(across + x * (down + y * deep), e.type)

    return call


def _in_other_block(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`cluster.map_shared_rank(address, rank)`."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if m.mask is None or not found or type(found[0]) is not Pointer:
            return opaque(e.type, data_of(found))
        return m.in_other_block(found[0])

    return call


HANDLERS: Mapping[str, Handler] = {
    "group-barrier": _barrier, "group-shuffle": _shuffle, "group-vote": _vote, "group-reduce": _reduce,
    "group": _group, "in-other-block": _in_other_block, "of-cluster": _of_cluster,
}  # fmt: skip

