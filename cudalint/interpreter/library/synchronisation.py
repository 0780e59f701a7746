"""What makes threads wait for each other: barriers of every kind, fences, and the steps of asynchronous copies."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cudalint.facts import BarrierKind
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device import expressions
from cudalint.interpreter.device.events import (
    BarrierEvent,
    Collective,
    CopyEvent,
    FenceEvent,
    Scope,
    UnmaskedEvent,
)
from cudalint.interpreter.device.values import Value
from cudalint.interpreter.library.grid_barrier import touch_counter
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.measure.collectives import template_arguments
from cudalint.numerals import whole
from cudalint.values.arithmetic import U4
from cudalint.values.nodes import Node, Reason

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

Handler = Callable[..., Any]

_GROUPS: Mapping[str, tuple[BarrierKind, Scope]] = {
    "thread_block": ("cooperative-groups", "block"),
    "grid_group": ("grid", "grid"),
    "multi_grid_group": ("grid", "grid"),
    # The threads of a cluster's other blocks come too, which says more than that those of one block do.
    "cluster_group": ("cooperative-groups", "block"),
    "thread_block_tile": ("cooperative-groups", "warp"),
    "coalesced_group": ("cooperative-groups", "warp"),
}
"""By the class of the group. A plain `thread_group` may be any of them."""


def _arguments(ex: Executor, call: ir.Call) -> list[Value]:
    return [expressions.evaluate(ex, argument) for argument in call.arguments]


def _result(ex: Executor, call: ir.Call) -> Value:
    """The result of a barrier that also votes is the same for all threads of the block."""
    if isinstance(call.type, ir.Scalar) and call.type.kind != "void":
        return ex.memory.unknown(call.type, Reason(True, f"it is the result of `{call.name}`", call.span))
    return ex.graph.zero


def _record(ex: Executor, event: BarrierEvent | CopyEvent | FenceEvent) -> None:
    if ex.memory.recording:
        ex.memory.events.append(event)


def _barrier(ex: Executor, call: ir.Call) -> Value:
    """`__syncthreads()` and its relatives."""
    _arguments(ex, call)
    votes = isinstance(call.type, ir.Scalar) and call.type.kind != "void"
    _record(ex, BarrierEvent(ex.context(call.span), "syncthreads", "block", votes=votes))
    return _result(ex, call)


def converges(handler: Handler) -> Handler:
    """A warp function with a mask: the lanes that it names wait for each other."""

    def converging(ex: Executor, call: ir.Call) -> Any:
        result = handler(ex, call)
        warp_converges(ex, call.span, _mask(ex, call))
        return result

    return converging


def warp_converges(ex: Executor, span: ir.Span, mask: Value | None = None) -> None:
    """Lanes of a warp exchange something: those that a mask names, or all of their group."""
    named = mask if isinstance(mask, Node) else None
    _record(ex, BarrierEvent(ex.context(span), "syncwarp", "warp", implied=True, mask=named))


def warp_waits(ex: Executor, span: ir.Span, mask: Value | None) -> None:
    """A barrier for the lanes that a mask names."""
    _record(ex, BarrierEvent(ex.context(span), "syncwarp", "warp", mask=mask if isinstance(mask, Node) else None))


def _mask(ex: Executor, call: ir.Call) -> Node | None:
    """The first argument of a warp function."""
    value = expressions.evaluate(ex, call.arguments[0]) if call.arguments else None
    return value if isinstance(value, Node) else None


def _warp_barrier(ex: Executor, call: ir.Call) -> Value:
    """`__syncwarp(mask)`; without a word it waits for all lanes."""
    warp_waits(ex, call.span, _mask(ex, call) if call.arguments else ex.graph.const(0xFFFFFFFF, U4))
    return _result(ex, call)


def unmasked(handler: Handler) -> Handler:
    """A warp function of old, without a mask."""

    def recorded(ex: Executor, call: ir.Call) -> Any:
        if ex.memory.recording:
            ex.memory.events.append(UnmaskedEvent(ex.context(call.span), call.name))
        return handler(ex, call)

    return recorded


# --- cooperative groups and cuda::barrier ----------------------------------------------------------------------


def _type_name(expr: ir.Expr | None) -> str:
    """The most derived class that an object is known to have."""
    if expr is None:
        return ""
    type_ = walk.without_casts(expr).type
    while isinstance(type_, ir.PointerType):
        type_ = type_.pointee
    return type_.name if isinstance(type_, (ir.RecordType, ir.OpaqueType)) else ""


def _class_of(expr: ir.Expr | None) -> str:
    """Its name without namespaces and arguments."""
    name = _type_name(expr)
    return name.split("<")[0].split("::")[-1].removeprefix("const ").strip()


_STATIC = re.compile(r"@S@(\w+)@F@")


def _class_of_static(call: ir.Call) -> str:
    """The class of a static method: `thread_block::sync()` needs no object, even where it is called on one."""
    found = _STATIC.search(call.function.key) if call.function is not None else None
    return found[1] if found else ""


def _group_barrier(part: str) -> Handler:
    """`group.sync()`, `sync(group)`, `group.barrier_arrive()`, `group.barrier_wait()`, `wait(group)`."""

    def handler(ex: Executor, call: ir.Call) -> Value | None:
        owner = call.receiver if call.receiver is not None else next(iter(call.arguments), None)
        name = _class_of(owner) or _class_of_static(call)
        if name == "barrier":
            barrier: Value | None = _object_barrier(part)(ex, call)
            return barrier
        if name not in _GROUPS and name != "thread_group":
            return None
        kind, scope = _GROUPS.get(name, ("cooperative-groups", "block"))
        if name == "thread_block_tile" and _tile_size(owner) > WARP_LANES:
            # Several warps of the block, which a barrier of their own orders; which ones those are is not followed.
            kind, scope = "named", "block"
        _arguments(ex, call)
        if call.name == "wait":
            _record(ex, CopyEvent(ex.context(call.span), 0))
        if scope == "grid" and ex.policy.notes_steps:
            touch_counter(ex, call.span, part)
        _record(ex, BarrierEvent(ex.context(call.span), kind, scope, name == "thread_group", part))  # type: ignore[arg-type]
        return ex.memory.unknown(call.type, Reason(False, "a token"))

    return handler


def _object_barrier(part: str) -> Handler:
    """`cuda::barrier`: how many threads it expects is set at run time; as a rule it is the block."""

    def handler(ex: Executor, call: ir.Call) -> Value | None:
        owner = call.receiver if call.receiver is not None else next(iter(call.arguments), None)
        if _class_of(owner) != "barrier":
            return None
        _arguments(ex, call)
        if part != "arrive":
            # Copies that signal the barrier are complete when it is passed.
            _record(ex, CopyEvent(ex.context(call.span), 0))
        _record(ex, BarrierEvent(ex.context(call.span), "named", "block", True, part))  # type: ignore[arg-type]
        return ex.memory.unknown(call.type, Reason(False, "a token"))

    return handler


_TILE = re.compile(r"thread_block_tile<(\d+)")


def _tile_size(owner: ir.Expr | None) -> int:
    """The threads of a tile; a warp's where the type does not say."""
    found = _TILE.search(_type_name(owner))
    return (whole(found[1]) if found else None) or WARP_LANES


def _tile_rank(ex: Executor, size: int) -> Node | None:
    """Which tile of its block a thread is in."""
    if ex.extents is None:
        return None
    graph = ex.graph
    linear = graph.thread[0]
    for axis in (1, 2):
        extent = functools.reduce(lambda a, b: graph.binary("*", a, b, U4), ex.extents.block[:axis])
        linear = graph.binary("+", linear, graph.binary("*", graph.thread[axis], extent, U4), U4)
    return graph.binary("/", linear, graph.const(size, U4), U4)


def _group_shuffle(mode: str) -> Handler:
    """`tile.shfl_xor(value, mask)`: a shuffle among the lanes of each tile."""

    def handler(ex: Executor, call: ir.Call) -> Value | None:
        if _class_of(call.receiver) != "thread_block_tile":
            return None
        value, lane = _arguments(ex, call)
        warp_converges(ex, call.span)
        size = _tile_size(call.receiver)
        if isinstance(value, Node) and isinstance(lane, Node) and size <= WARP_LANES:
            return ex.graph.shuffle(mode, value, lane, ex.graph.const(size))
        return ex.opaque(f"it comes from `{call.name}`", call.type, ex.graph.thread)

    return handler


def _group_vote(ex: Executor, call: ir.Call) -> Value | None:
    """`tile.any(condition)`, `tile.ballot(condition)`: all threads of the tile get one answer."""
    group = _tile_rank(ex, _tile_size(call.receiver)) if _class_of(call.receiver) == "thread_block_tile" else None
    if group is None:
        return None
    values = [value for value in _arguments(ex, call) if isinstance(value, Node)]
    is_data = any(value.bits & ex.graph.opaque_bits for value in values)
    return _one_answer(ex, call, group, Reason(is_data, f"it is the result of `{call.name}`"))


def _group_reduce(ex: Executor, call: ir.Call) -> Value | None:
    """`reduce(group, value, operation)`: all threads of the group get the same."""
    owner = call.arguments[0] if call.arguments else None
    group = _tile_rank(ex, _tile_size(owner)) if _class_of(owner) in _GROUPS else None
    if group is None:
        return None
    _arguments(ex, call)
    return _one_answer(ex, call, group, Reason(True, f"it is the result of `{call.name}`", call.span))


def _one_answer(ex: Executor, call: ir.Call, group: Node, reason: Reason) -> Value:
    """What all threads of a group get in an iteration."""
    warp_converges(ex, call.span)
    return ex.memory.unknown(call.type, reason, (group, *(loop.counter for loop in ex.state.loops)))


# --- asynchronous copies ----------------------------------------------------------------------------------------


def _copies(leaves: int | None) -> Handler:
    def handler(ex: Executor, call: ir.Call) -> Value | None:
        if call.receiver is not None and _class_of(call.receiver) != "pipeline":
            return None
        values = _arguments(ex, call)
        kept = leaves
        if leaves is not None and values and isinstance(values[0], Node) and values[0].is_const:
            kept = int(values[0].value)
        _record(ex, CopyEvent(ex.context(call.span), kept))
        if call.receiver is not None and "block" in _scope_of_pipeline(call.receiver):
            _record(ex, BarrierEvent(ex.context(call.span), "named", "block", implied=True))
        return ex.graph.zero

    return handler


def _scope_of_pipeline(receiver: ir.Expr) -> str:
    type_ = receiver.type
    while isinstance(type_, ir.PointerType):
        type_ = type_.pointee
    name = type_.name if isinstance(type_, ir.RecordType) else ""
    # thread_scope_block is 2 where the argument is printed as a number.
    return "block" if "block" in name or "2" in name else name


def _collective(ex: Executor, call: ir.Call) -> Value | None:
    """Records the barrier in a block's collective; what it computes is not followed."""
    if _class_of(call.receiver).startswith("Block"):
        made = _made_for(call)
        _record(ex, BarrierEvent(ex.context(call.span), "cooperative-groups", "block", implied=True, collective=made))
    return None


_EXTENTS: Mapping[str, tuple[int, int, int]] = {
    "BlockReduce": (1, 3, 4), "BlockScan": (1, 3, 4), "BlockLoad": (1, 4, 5), "BlockStore": (1, 4, 5),
    "BlockExchange": (1, 4, 5), "BlockRadixSort": (1, 8, 9), "BlockMergeSort": (1, 4, 5), "BlockHistogram": (1, 5, 6),
    "BlockAdjacentDifference": (1, 2, 3), "BlockDiscontinuity": (1, 2, 3), "BlockShuffle": (1, 2, 3),
}  # fmt: skip
"""Where a block's extents stand among the arguments of CUB's classes (CUB 3.0, "Block-wide primitives")."""


def _made_for(call: ir.Call) -> Collective | None:
    """The block for which the object's type is made; an extent that isn't written is 1."""
    name = _class_of(call.receiver)
    places = _EXTENTS.get(name)
    if places is None:
        return None
    written = template_arguments(_type_name(call.receiver))
    x, y, z = (whole(written[place]) if place < len(written) else 1 for place in places)
    if len(written) <= places[0] or not x or not y or not z:
        return None
    return Collective(name, (x, y, z), call.name == "_wait_for_some")


def _fence(ex: Executor, call: ir.Call) -> Value:
    _arguments(ex, call)
    _record(ex, FenceEvent(ex.context(call.span)))
    return ex.graph.zero


# --- inline PTX -------------------------------------------------------------------------------------------------

_BARRIER = re.compile(r"\b(?:bar|barrier)(?:\.cta)?\.(sync|arrive|red)\b")
_OBJECT_WAIT = re.compile(r"\bmbarrier\.(?:try|test)_wait\b")
_WAIT_GROUP = re.compile(r"\bcp\.async\.wait_group\s+(\d+)")


def assembly_barrier(ex: Executor, statement: ir.Asm, values: Sequence[Value]) -> None:
    """Barriers, fences and waits in an asm statement (PTX ISA, Parallel Synchronization and Communication)."""
    text, context = statement.text, ex.context(statement.span)
    found = _BARRIER.search(text)
    if found:
        # Named barriers are for a part of the block, which the operands say; who has to come is not followed.
        part = "arrive" if found[1] == "arrive" else "whole"
        _record(ex, BarrierEvent(context, "named", "block", True, part))  # type: ignore[arg-type]
    elif _OBJECT_WAIT.search(text):
        # Who arrives there is not followed, either.
        _record(ex, BarrierEvent(context, "named", "block", True))
    if "cp.async.commit_group" in text:
        _record(ex, CopyEvent(context, None))
    group = _WAIT_GROUP.search(text)
    if group or "cp.async.wait" in text:
        numbers = [int(v.value) for v in values if isinstance(v, Node) and v.is_const]
        kept = int(group[1]) if group else numbers[0] if numbers and "wait_group" in text else 0
        _record(ex, CopyEvent(context, kept))
    if "membar" in text or "fence." in text or ".acquire" in text or ".release" in text:
        _record(ex, FenceEvent(context))


SYNCHRONISATION: Mapping[str, Handler] = {
    "barrier": _barrier, "warp-barrier": _warp_barrier, "fence": _fence, "group-reduce": _group_reduce,
    "group-vote": _group_vote, "collective": _collective, "commit": _copies(None), "copies-awaited": _copies(0),
}  # fmt: skip
"""Handlers by effect."""
FOR_GROUPS: Mapping[str, Callable[[str], Handler]] = {
    "group-barrier": _group_barrier, "object-barrier": _object_barrier, "group-shuffle": _group_shuffle,
}  # fmt: skip
"""The same from the part of a barrier, or the direction of a shuffle."""
