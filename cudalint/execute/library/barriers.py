"""What makes threads wait for each other: barriers of every kind, fences, and the steps of asynchronous copies.

Source: CUDA C++ Programming Guide, "Synchronization Functions", "Memory Fence Functions", "Asynchronous Barrier",
"Asynchronous Data Copies using cuda::pipeline".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cudalint.execute.library.common import (
    Handler,
    arguments_of,
    class_of,
    in_common,
    is_number,
    nothing,
    opaque,
    spread,
)
from cudalint.execute.memory import as_type
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.trace import EVERY_COPY, BarrierPart
from cudalint.execute.values import UNKNOWN, Data, Value, truth
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import Builtin

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_WHOLE_WARP = 0xFFFFFFFF


def _barrier(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__syncthreads()`, and its forms that count the threads for which a condition holds."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if m.mask is None:
            return UNKNOWN
        mask, is_known = m.mask, m.data == 0
        m.barrier(e, "syncthreads")
        if not isinstance(e.type, ir.Scalar) or e.type.kind == "void" or not found:
            return UNKNOWN
        holds = truth(found[0])
        if isinstance(holds, Data) or not is_known:
            return in_common(found)
        holding = np.count_nonzero(spread(holds, mask) & mask, axis=1)[:, None]
        if e.name.endswith("_and"):
            holding = (holding == np.count_nonzero(mask, axis=1)[:, None]).astype(np.int64)
        elif e.name.endswith("_or"):
            holding = (holding > 0).astype(np.int64)
        same = int(holding.flat[0])
        return as_type(same if (holding == same).all() else holding, e.type)

    return call


def _named_barrier(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__barrier_sync(id)`, for a part of the block; who has to come is not followed."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        if m.mask is not None:
            m.barrier(e, "named")
        return UNKNOWN

    return call


def _warp_barrier(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__syncwarp(mask)`; without a word it waits for all lanes."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if m.mask is not None:
            m.barrier(e, "syncwarp", named=_mask(found))
        return UNKNOWN

    return call


def _mask(found: list[Value]) -> Value:
    """The lanes that are named: bits, or data of which nobody knows them."""
    is_given = bool(found) and (is_number(found[0]) or isinstance(found[0], Data))
    return found[0] if is_given else _WHOLE_WARP


def _fence(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        m.fence(e)
        return UNKNOWN

    return call


def object_barrier(program: Program, e: ir.Call, part: BarrierPart) -> Evaluate:
    """`cuda::barrier`: how many threads it expects is set at run time; as a rule it is the block."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        if m.mask is None:
            return UNKNOWN
        if part != "arrive":
            # Copies that signal the barrier are complete when it is passed.
            m.copies(e, EVERY_COPY)
        m.barrier(e, "named", part=part)
        return opaque(e.type, UNKNOWN)

    return call


def _of_object(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`bar.arrive()`, `bar.arrive_and_wait()`."""
    owner = e.receiver if e.receiver is not None else next(iter(e.arguments), None)
    if class_of(owner)[0] != "barrier":
        return nothing(program, e, builtin)
    return object_barrier(program, e, "arrive" if builtin.operand == "arrive" else "whole")


def _in_memory(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__mbarrier_arrive(&barrier)` and the like."""
    return object_barrier(program, e, "arrive" if builtin.operand == "arrive" else "wait")


def _copies(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__pipeline_commit()`, `__pipeline_wait_prior(n)`, and the methods of `cuda::pipeline`."""
    name, full = class_of(e.receiver)
    if e.receiver is not None and name != "pipeline":
        return nothing(program, e, builtin)
    arguments = arguments_of(program, e)
    is_of_block = _is_of_block(full)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if m.mask is None:
            return UNKNOWN
        kept: int | None = None
        if builtin.effect == "copies-awaited":
            kept = found[0] if found and type(found[0]) is int else EVERY_COPY
        m.copies(e, kept)
        if is_of_block:
            m.barrier(e, "named", is_implied=True)
        return UNKNOWN

    return call


def _stage(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`pipe.producer_acquire()` of a pipeline that threads of the block share: it waits until those that read the stage
    before have released it."""
    name, full = class_of(e.receiver)
    if name != "pipeline" or not _is_of_block(full):
        return nothing(program, e, builtin)

    def call(m: Machine) -> Value:
        if m.mask is not None:
            m.barrier(e, "named", is_implied=True)
        return UNKNOWN

    return call


def _is_of_block(pipeline: str) -> bool:
    """Whether threads of a block share a pipeline, by its type; thread_scope_block is 2 where that is printed as a
    number."""
    return "block" in pipeline or "2" in pipeline


def _collective(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """The barrier in a method of cub's classes for blocks; what it computes is not followed, and what it writes
    is not known after it."""
    arguments = arguments_of(program, e)
    is_of_block = class_of(e.receiver)[0].startswith("Block")
    places = {
        at: program.place(e.arguments[at])
        for at in (e.function.outputs() if e.function is not None else ())
        if at < len(e.arguments)
    }

    def call(m: Machine) -> Value:
        found = [place(m) if place is not None else value(m) for place, value in
                 ((places.get(at), argument) for at, argument in enumerate(arguments))]  # fmt: skip
        if m.mask is None:
            return UNKNOWN
        if is_of_block:
            m.barrier(e, "cooperative-groups", is_implied=True)
        for at in places:
            allocation, offset, type_ = found[at]
            if allocation.space == "local":
                m.memory.store(allocation, offset, opaque(type_, UNKNOWN), type_, e)
        return opaque(ir.referent(e.type), UNKNOWN)

    return call


HANDLERS: Mapping[str, Handler] = {
    "barrier": _barrier, "named-barrier": _named_barrier,
    "warp-barrier": _warp_barrier, "fence": _fence, "object-barrier": _of_object, "barrier-in-memory": _in_memory,
    "commit": _copies, "copies-awaited": _copies, "stage-acquired": _stage,
    "collective": _collective,
}  # fmt: skip
