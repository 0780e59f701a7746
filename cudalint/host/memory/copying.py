"""Copies and fills of the runtime: their directions, their sizes, and what they leave for later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from cudalint.facts import Place
from cudalint.facts.host_faults import FaultKind
from cudalint.host.memory import touching
from cudalint.host.memory.launching import DEFAULT_STREAM, hand_over, stream_of
from cudalint.host.memory.places import as_pointer, is_computed, size_of
from cudalint.host.memory.pointers import Allocation, Pointer, Stream, Value
from cudalint.host.memory.quantities import Quantity, constant, exceeds, plus, product
from cudalint.host.memory.state import Pending
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis

_Handler = Callable[["Analysis", ir.Call], Value]
_HOST_TO_HOST, _TO_DEVICE, _TO_HOST, _ON_DEVICE = range(4)
"""cudaMemcpyKind; 4 leaves the direction to the pointers."""
_NAMES: Final = {
    _HOST_TO_HOST: "cudaMemcpyHostToHost", _TO_DEVICE: "cudaMemcpyHostToDevice",
    _TO_HOST: "cudaMemcpyDeviceToHost", _ON_DEVICE: "cudaMemcpyDeviceToDevice",
}  # fmt: skip
_POINTER_BYTES = 8
"""Of a pointer, as of the smallest size that `sizeof` of one gives."""


def _copy(an: Analysis, call: ir.Call) -> Value:
    """`cudaMemcpy(target, source, bytes, kind)` and `cudaMemcpyAsync`, with a stream."""
    target, source = (as_pointer(an, an.value(argument)) for argument in call.arguments[:2])
    count = an.number(call.arguments[2])
    kind = _kind(an, call, 3)
    _check_direction(an, call, target, source, kind)
    is_told = _check_released(an, call, 0, target) or _check_released(an, call, 1, source)
    is_told = is_told or _check_size(an, call, call.arguments[0], target, count, call.arguments[2])
    _ = is_told or _check_size(an, call, call.arguments[1], source, count, call.arguments[2])
    if call.name == "cudaMemcpy":
        an.state.pending = ()
    else:
        stream = stream_of(an, call.arguments[4]) if len(call.arguments) > 4 else DEFAULT_STREAM
        _later(an, call, (call.arguments[0], target), (call.arguments[1], source), count, stream)
    return None


def _copy_rows(an: Analysis, call: ir.Call) -> Value:
    """`cudaMemcpy2D(target, pitch, source, pitch, width, height, kind)`, and its asynchronous form."""
    values = [an.value(argument) for argument in call.arguments]
    target, source = as_pointer(an, values[0]), as_pointer(an, values[2])
    _check_direction(an, call, target, source, _kind(an, call, 6), source_at=2)
    _ = _check_released(an, call, 0, target) or _check_released(an, call, 2, source)
    an.state.pending = ()
    return None


def _fill(an: Analysis, call: ir.Call) -> Value:
    """`cudaMemset(target, value, bytes)`, and its asynchronous form."""
    target = as_pointer(an, an.value(call.arguments[0]))
    an.value(call.arguments[1])
    count = an.number(call.arguments[2])
    if target is not None and touching.is_all(target, touching.OF_HOST) and not _is_handed_on(an, target):
        touching.fault(an, "direction", call.arguments[0], target, call.name, Place(*call.span), held="filled")
    elif not _check_released(an, call, 0, target):
        _check_size(an, call, call.arguments[0], target, count, call.arguments[2])
    stream = stream_of(an, call.arguments[3]) if len(call.arguments) > 3 else DEFAULT_STREAM
    _later(an, call, (call.arguments[0], target), None, count, stream)
    return None


def _copy_symbol(an: Analysis, call: ir.Call) -> Value:
    """`cudaMemcpyToSymbol(symbol, source, bytes, offset, kind)`, and from one."""
    at = 1 if "To" in call.name else 0
    pointer = as_pointer(an, an.value(call.arguments[at]))
    an.silent += 1
    symbol = as_pointer(an, an.value(walk.without_casts(call.arguments[1 - at])))
    an.silent -= 1
    count = an.number(call.arguments[2])
    has_kind = len(call.arguments) > 4 and not isinstance(walk.without_casts(call.arguments[4]), ir.Constant)
    is_device = pointer is not None and touching.is_all(pointer, {"device"})
    if is_device and not has_kind and _kind(an, call, 4) in (None, _TO_DEVICE, _TO_HOST):
        assert pointer is not None
        touching.fault(an, "direction", call.arguments[at], pointer, call.name, Place(*call.span), held="symbol")
    elif not _check_released(an, call, at, pointer):
        is_told = _check_size(an, call, call.arguments[at], pointer, count, call.arguments[2])
        if not is_told and symbol is not None and symbol.targets and _is_start(an, call):
            _check_size(an, call, call.arguments[1 - at], symbol, count, call.arguments[2])
    an.state.pending = ()
    return None


def _is_start(an: Analysis, call: ir.Call) -> bool:
    if len(call.arguments) < 4:
        return True
    offset = an.value(call.arguments[3])
    return isinstance(offset, Quantity) and offset.value == 0


def _kind(an: Analysis, call: ir.Call, position: int) -> int | None:
    found = an.value(call.arguments[position]) if len(call.arguments) > position else None
    return found.value if isinstance(found, Quantity) else None


def _is_handed_on(an: Analysis, pointer: Pointer) -> bool:
    return any(target in an.handed_on for target in pointer.targets)


def _check_direction(
    an: Analysis, call: ir.Call, target: Pointer | None, source: Pointer | None, kind: int | None, source_at: int = 1
) -> None:
    """Whether a copy's direction is that of its pointers."""
    if kind not in _NAMES:
        return
    wanted = ((0, target, kind in (_TO_DEVICE, _ON_DEVICE)), (source_at, source, kind in (_TO_HOST, _ON_DEVICE)))
    wrong = [(at, pointer) for at, pointer, device in wanted if pointer is not None and _is_wrong(an, pointer, device)]
    if wrong:
        at, pointer = wrong[0]
        side = "target" if at == 0 else "source"
        touching.fault(
            an, "direction", call.arguments[at], pointer, call.name, Place(*call.span), asked=_NAMES[kind],
            held="both" if len(wrong) > 1 else side,
        )  # fmt: skip


def _is_wrong(an: Analysis, pointer: Pointer, device: bool) -> bool:
    if device:
        return touching.is_all(pointer, {*touching.OF_HOST, "symbol"}) and not _is_handed_on(an, pointer)
    return touching.is_all(pointer, touching.OF_DEVICE)


def _check_released(an: Analysis, call: ir.Call, at: int, pointer: Pointer | None) -> bool:
    before = touching.released(an, pointer) if pointer is not None else None
    if before is not None and pointer is not None:
        touching.fault(an, "freed-before", call.arguments[at], pointer, call.name, before=before)
    return before is not None


def _check_size(
    an: Analysis, call: ir.Call, argument: ir.Expr, pointer: Pointer | None, count: Quantity, spelled: ir.Expr
) -> bool:
    """Whether as many bytes are there; whether something is said."""
    if pointer is None or not pointer.targets or pointer.may_be_null or pointer.offset is None:
        return False
    element = _element(argument)
    sizes = {size_of(an, target, element) for target in pointer.targets}
    if None in sizes or len(sizes) != 1:
        return False
    [size] = sizes
    assert size is not None
    room = plus(size, pointer.offset, -1)
    kind: FaultKind
    if not count.terms:
        return False
    if exceeds(count, room):
        kind = "beyond"
    elif _is_size_of(an, argument, spelled) and count.value == _POINTER_BYTES and size.value != _POINTER_BYTES:
        kind = "size-of-pointer"
    elif element.bytes > 1 and room == product(count, constant(element.bytes)) and _is_count(an, spelled, element):
        kind = "elements"
    else:
        return False
    asked, held = an.numbers.text(count), an.numbers.text(room)
    touching.fault(an, kind, argument, pointer, call.name, Place(*call.span), asked=asked, held=held)
    return True


def _element(argument: ir.Expr) -> ir.Type:
    """What a pointer leads to, before it becomes `void *`."""
    type_ = walk.without_casts(argument).type
    if isinstance(type_, ir.PointerType):
        return ir.referent(type_.pointee) if not type_.reference else ir.pointee(type_.pointee)
    return type_.element if isinstance(type_, ir.ArrayType) else ir.OpaqueType("?")


def _is_size_of(an: Analysis, argument: ir.Expr, spelled: ir.Expr) -> bool:
    """Whether a number of bytes is spelled as the size of the pointer itself."""
    bare = walk.without_casts(argument)
    if not isinstance(bare, ir.Name) or not isinstance(bare.type, ir.PointerType):
        return False
    text = an.text_of(Place(*spelled.span)).replace(" ", "")
    return text in (f"sizeof({bare.symbol.name})", f"sizeof{bare.symbol.name}")


def _is_count(an: Analysis, spelled: ir.Expr, element: ir.Type) -> bool:
    """Whether a number of bytes is made of sizes and nothing else, variables included: neither divided nor made of
    sizes of types. How the number of a constant variable was computed, nothing says."""
    if any(isinstance(node, ir.Constant) and node.of_variable for node in walk.walk(spelled)):
        return False
    return not is_computed(an, spelled, (element.bytes,))


def _later(
    an: Analysis, call: ir.Call, target: tuple[ir.Expr, Pointer | None], source: tuple[ir.Expr, Pointer | None] | None,
    count: Quantity, stream: object,
) -> None:  # fmt: skip
    """Work that goes on after the call. A copy of pageable memory has ended by then, or the memory has been read."""
    sides = [_whole(an, *side, count) if side is not None else None for side in (target, source)]
    writes, reads = (frozenset({side} if side is not None else ()) for side in sides)
    if any(each.space in touching.OF_HOST for each in (*writes, *reads)):
        an.state.ordered |= frozenset(an.state.pending)
        return
    pointers = [pointer for _, pointer in (target, source or target)]
    if any(pointer is None or not touching.is_all(pointer, {"device", "pinned", "mapped"}) for pointer in pointers):
        # Of memory that may be pageable the copy has ended, or the call may have waited for others.
        writes, reads = frozenset(), frozenset()
    known = stream if isinstance(stream, Stream) else None
    hand_over(an, Pending(call.name, Place(*call.span), known, writes, reads, is_copy=True), whole=True)


def _whole(an: Analysis, argument: ir.Expr, pointer: Pointer | None, count: Quantity) -> Allocation | None:
    """The allocation all of which is copied."""
    if pointer is None or len(pointer.targets) != 1 or pointer.may_be_null or pointer.offset != Quantity():
        return None
    [target] = pointer.targets
    return target if size_of(an, target, _element(argument)) == count else None


COPIES: Final[Mapping[str, _Handler]] = {
    "cudaMemcpy": _copy, "cudaMemcpyAsync": _copy, "cudaMemcpy2D": _copy_rows, "cudaMemcpy2DAsync": _copy_rows,
    "cudaMemset": _fill, "cudaMemsetAsync": _fill,
    "cudaMemcpyToSymbol": _copy_symbol, "cudaMemcpyFromSymbol": _copy_symbol,
}  # fmt: skip
"""By name."""
