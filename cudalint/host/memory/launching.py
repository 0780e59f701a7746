"""Launches: the memory that kernels are given, and streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cudalint.facts import Place
from cudalint.host.memory import touching
from cudalint.host.memory.places import as_pointer
from cudalint.host.memory.pointers import Address, Allocation, Pointer, Stream, Value
from cudalint.host.memory.quantities import Quantity
from cudalint.host.memory.state import Pending
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis

DEFAULT_STREAM: Final = Stream("the default stream")
_FOUND_BY_HOST: Final = frozenset({"pinned", "mapped", "managed"})
"""Memory in which the host finds what a kernel has written."""
_ARGUMENTS, _STREAM = 3, 5
"""Where these stand in `cudaLaunchKernel`."""


def launch(an: Analysis, expr: ir.Launch) -> None:
    """`kernel<<<grid, block, shared, stream>>>(arguments)`."""
    for part in (expr.grid, expr.block, expr.shared):
        if part is not None:
            an.value(part)
    stream = stream_of(an, expr.stream)
    given = [(argument, an.value(argument)) for argument in expr.arguments]
    name = expr.kernel.name if expr.kernel is not None else "a kernel"
    _launched(an, expr.kernel, name, given, stream, Place(*expr.span))


def launch_by_pointer(an: Analysis, call: ir.Call) -> Value:
    """`cudaLaunchKernel(kernel, grid, block, arguments, shared, stream)`, where the arguments are an array of addresses
    of variables."""
    function = walk.without_casts(call.arguments[0])
    values = [an.value(argument) for argument in call.arguments]
    stream = stream_of(an, call.arguments[_STREAM] if len(values) > _STREAM else None)
    array = values[_ARGUMENTS] if len(values) > _ARGUMENTS else None
    kernel = function.function if isinstance(function, ir.FunctionName) else None
    given: list[tuple[ir.Expr, Value]] = []
    if kernel is not None and isinstance(array, Address):
        for position in range(len(kernel.parameter_types())):
            where = an.state.get((*array.key, f"[{position}]"))
            found = an.state.get(where.key) if isinstance(where, Address) else None
            given.append((call.arguments[_ARGUMENTS], found))
    _launched(an, kernel, kernel.name if kernel is not None else "a kernel", given, stream, Place(*call.span))
    return None


def stream_of(an: Analysis, expr: ir.Expr | None) -> Stream | None:
    """The stream that an argument names; None for one that is not known."""
    if expr is None:
        return DEFAULT_STREAM
    found = an.value(expr)
    if isinstance(found, Stream):
        return found
    is_null = isinstance(found, Pointer) and not found.targets
    is_zero = isinstance(found, Quantity) and found.value == 0
    return DEFAULT_STREAM if is_null or is_zero else None


def _launched(
    an: Analysis, kernel: ir.FunctionRef | None, name: str, given: Sequence[tuple[ir.Expr, Value]],
    stream: Stream | None, at: Place,
) -> None:  # fmt: skip
    types = kernel.parameter_types() if kernel is not None else ()
    reads: set[Allocation] = set()
    writes: set[Allocation] = set()
    for position, (argument, found) in enumerate(given):
        type_ = types[position] if position < len(types) else argument.type
        if not isinstance(type_, ir.PointerType) or type_.reference:
            continue
        pointer = as_pointer(an, found)
        if pointer is None or not pointer.targets:
            continue
        before = touching.released(an, pointer)
        if before is not None:
            touching.fault(an, "freed-before", argument, pointer, name, before=before)
        elif _is_of_host(an, pointer):
            touching.fault(an, "passed-to-kernel", argument, pointer, name)
        if len(pointer.targets) == 1 and not pointer.may_be_null:
            reads |= pointer.targets
            if is_written(kernel, position):
                writes |= pointer.targets
    hand_over(an, Pending(name, at, stream, frozenset(writes), frozenset(reads)), whole=False)


def _is_of_host(an: Analysis, pointer: Pointer) -> bool:
    """Whether a kernel can't reach what a pointer leads to."""
    if an.registers or any(target in an.handed_on for target in pointer.targets):
        return False
    return touching.is_all(pointer, {*touching.OF_HOST, "symbol"})


def hand_over(an: Analysis, work: Pending, whole: bool) -> None:
    """Notes work for the device; `whole` if it is about all of its memory, so that whatever else touches that memory
    meets it."""
    state = an.state
    if work.stream is None or work.stream is DEFAULT_STREAM:
        state.ordered |= frozenset(state.pending)
    else:
        for earlier in state.pending:
            is_other = earlier.stream is not None and earlier.stream not in (DEFAULT_STREAM, work.stream)
            if not is_other or earlier in state.ordered or not (whole or earlier.is_copy):
                continue
            shared = (earlier.writes & (work.reads | work.writes)) | (earlier.reads & work.writes)
            if shared:
                target = min(shared, key=lambda each: each.made_at)
                touching.note_streams(an, target, work, earlier)
    state.pending = (*state.pending, work)


def is_written(kernel: ir.FunctionRef | None, position: int) -> bool:
    """Whether a kernel itself stores something through one of its parameters."""
    function = kernel.load() if kernel is not None else None
    if function is None or position >= len(function.parameters):
        return False
    parameter = function.parameters[position]
    for node in walk.nodes_in(function):
        target: ir.Expr | None = None
        if isinstance(node, ir.Assign):
            target = node.target
        elif isinstance(node, ir.Unary) and node.op in walk.STEPS:
            target = node.operand
        elif isinstance(node, ir.Call) and node.name.startswith("atomic") and node.arguments:
            target = node.arguments[0]
        if target is not None and not isinstance(target, ir.Name) and walk.root(target) is parameter:
            return True
    return False
