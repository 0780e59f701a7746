"""What the functions of the CUDA runtime and of the C library do when host code is executed, by effect and by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from cudalint.host.executor import command_line, expressions, launching
from cudalint.host.executor.device import DEVICE_QUERIES
from cudalint.host.executor.intrinsics import LIBRARY, Handler
from cudalint.host.executor.lists import LISTS, is_found
from cudalint.host.executor.pointers import pointer_place
from cudalint.host.executor.tiling import tilings
from cudalint.host.executor.values import (
    Allocation,
    ArrayValue,
    LocalMemory,
    LocalPlace,
    MemoryPlace,
    Place,
    Pointer,
    RecordValue,
    Text,
    Value,
)  # fmt: skip
from cudalint.host.values.arithmetic import I8, U8
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import BUILTINS

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution


def _allocate(ex: Execution, call: ir.Call) -> Value:
    """cudaMalloc(&p, size) and its relatives."""
    target = expressions.evaluate(ex, call.arguments[0])
    size = expressions.number(ex, call.arguments[1])
    where = pointer_place(ex, target, call.arguments[0].type)
    name = "?"
    if isinstance(where, LocalPlace):
        last = where.path[-1] if where.path else None
        name = last if isinstance(last, str) else where.symbol.name
    elif isinstance(where, MemoryPlace):
        return ex.graph.zero
    bytes_ = size.whole
    allocation = Allocation(name, "global", bytes_, None, size)
    pointee = ir.pointee(where.type)
    expressions.write(ex, where, Pointer(allocation, ex.graph.const(0, I8), pointee))
    return ex.graph.zero


def _allocate_pitched(ex: Execution, call: ir.Call) -> Value:
    """cudaMallocPitch(&p, &pitch, width, height): rows start at multiples of 512 bytes (measured on many devices)."""
    target, pitch = (expressions.evaluate(ex, a) for a in call.arguments[:2])
    width = expressions.number(ex, call.arguments[2])
    up = ex.graph.binary("+", width, ex.graph.const(511, I8), I8)
    rounded = ex.graph.binary("*", ex.graph.binary("/", up, ex.graph.const(512, I8), I8), ex.graph.const(512, I8), I8)
    expressions.write(ex, pointer_place(ex, pitch, call.arguments[1].type), rounded)
    where = pointer_place(ex, target, call.arguments[0].type)
    pointee = ir.pointee(where.type)
    name = where.symbol.name if isinstance(where, LocalPlace) else "?"
    size = ex.graph.binary("*", rounded, expressions.number(ex, call.arguments[3]), I8)
    pointer = Pointer(Allocation(name, "global", None, None, size), ex.graph.const(0, I8), pointee)
    expressions.write(ex, where, pointer)
    return ex.graph.zero


def _compare_texts(ex: Execution, call: ir.Call) -> Value | None:
    """strcmp(a, b), for strings that are known."""
    equal = _are_equal(ex, call.arguments)
    return None if equal is None else ex.graph.negate(equal)


def _are_equal(ex: Execution, operands: Sequence[ir.Expr]) -> Node | None:
    values = [expressions.evaluate(ex, operand) for operand in operands]
    texts = [value for value in values if isinstance(value, Text)]
    return command_line.are_equal(ex, *texts) if len(texts) == len(values) == 2 else None


def _compare(ex: Execution, call: ir.Call) -> Value | None:
    """`format == "NCHW"`, and `widths.find(n) == widths.end()`."""
    operands = [operand for operand in (call.receiver, *call.arguments) if operand is not None]
    if not all(command_line.is_text(ir.referent(operand.type)) for operand in operands):
        return is_found(ex, call)
    equal = _are_equal(ex, operands)
    return equal if equal is None or call.name == "operator==" else ex.graph.negate(equal)


def _compare_starts(ex: Execution, call: ir.Call) -> Value | None:
    """strncmp(a, b, n)."""
    first, second, count = (expressions.evaluate(ex, argument) for argument in call.arguments)
    if not (isinstance(first, Text) and isinstance(second, Text) and isinstance(count, Node)):
        return None
    number = count.whole
    if number is None:
        return None
    starts = (replace(text, text=text.text[:number]) for text in (first, second))
    return ex.graph.negate(command_line.are_equal(ex, *starts))


def _length(ex: Execution, call: ir.Call) -> Value | None:
    """strlen(text)."""
    text = expressions.evaluate(ex, call.arguments[0])
    return ex.graph.const(len(text.text.encode()), U8) if isinstance(text, Text) else None


def _exit(ex: Execution, call: ir.Call) -> Value:
    ex.state.dead = True
    return ex.graph.zero


def _assumed(ex: Execution, call: ir.Call) -> Value:
    """`__builtin_assume(n % 4 == 0)`: whoever goes on from here has such an `n`."""
    ex.stated(expressions.condition(ex, call.arguments[0]))
    return ex.graph.zero


def _ignored(ex: Execution, call: ir.Call) -> Value:
    return ex.graph.zero


def _launch_kernel(ex: Execution, call: ir.Call) -> Value | None:
    """cudaLaunchKernel(function, grid, block, arguments, shared, stream), and the cooperative form."""
    kernels = list(launching.kernels_of(ex.graph, expressions.evaluate(ex, call.arguments[0])))
    if not kernels or len(call.arguments) < 4:
        return None
    grid = launching.extents_of(ex, expressions.evaluate(ex, call.arguments[1]))
    block = launching.extents_of(ex, expressions.evaluate(ex, call.arguments[2]))
    arguments = expressions.evaluate(ex, call.arguments[3])
    shared = launching.shared_bytes(ex, call.arguments[4] if len(call.arguments) > 4 else None)
    sizes = tilings(ex, call.arguments[1], grid)
    is_cooperative = "Cooperative" in call.name
    for kernel, guards in kernels:
        with ex.under(guards):
            values = _pointed_arguments(ex, arguments, kernel)
            launching.add(
                ex, kernel, (grid, block), shared, values, call.span, sizes, is_cooperative=is_cooperative
            )
    return ex.graph.zero


def _pointed_arguments(ex: Execution, array: Value, ref: ir.FunctionRef) -> tuple[Value | Place, ...]:
    """The values behind `void *arguments[] = {&a, &b}`, or behind `void *argument = &a`, whose address is given."""
    function = ref.load()
    if function is None or not isinstance(array, Pointer) or not isinstance(array.target, LocalMemory):
        return ()
    stored = ex.memory.read(ex.state, array.target.place, ex.place_of(ref.span))
    if not isinstance(stored, ArrayValue) and len(function.parameters) > 1:
        return ()
    values: list[Value | Place] = []
    for position, symbol in enumerate(function.parameters):
        element = stored.elements.get(position, stored.rest) if isinstance(stored, ArrayValue) else stored
        where = pointer_place(ex, element, ir.PointerType(symbol.type))
        if isinstance(where, LocalPlace):
            where = LocalPlace(where.symbol, where.path, symbol.type)
        values.append(expressions.read(ex, where, ref.span))
    return tuple(values)


def _launch_with_config(ex: Execution, call: ir.Call) -> Value | None:
    """cudaLaunchKernelEx(&config, kernel, arguments...)."""
    if len(call.arguments) < 2:
        return None
    config = expressions.evaluate(ex, call.arguments[0])
    kernels = list(launching.kernels_of(ex.graph, expressions.evaluate(ex, call.arguments[1])))
    where = pointer_place(ex, config, call.arguments[0].type)
    record = expressions.read(ex, where, call.span)
    if not kernels or not isinstance(record, RecordValue):
        return None
    grid, block = (launching.extents_of(ex, record.fields.get(n, ex.graph.one)) for n in ("gridDim", "blockDim"))
    shared = record.fields.get("dynamicSmemBytes", ex.graph.zero)
    bytes_ = shared if isinstance(shared, Node) else ex.graph.zero
    cluster = _cluster_of(ex, record, call)
    is_cooperative = _may_be_cooperative(ex, record, call)
    for kernel, guards in kernels:
        with ex.under(guards):
            if call.name == "cudaLaunchKernelExC":
                values = _pointed_arguments(ex, expressions.evaluate(ex, call.arguments[2]), kernel)
            else:
                values = launching.arguments_of(ex, kernel, call.arguments[2:])
            launching.add(
                ex, kernel, (grid, block), bytes_, values, call.span, cluster=cluster,
                is_cooperative=is_cooperative,
            )  # fmt: skip
    return ex.graph.zero


_CLUSTER_DIMENSION = 4
"""cudaLaunchAttributeClusterDimension."""
_MOST_ATTRIBUTES = 32
"""Of a launch: there are but so many kinds."""


def _cluster_of(ex: Execution, config: RecordValue, call: ir.Call) -> launching.Nodes | None:
    """The blocks of a cluster that a launch's attributes ask for; None where they are only known at run time."""
    attributes, count = config.fields.get("attrs"), config.fields.get("numAttrs")
    if not isinstance(attributes, Pointer) or not isinstance(attributes.target, LocalMemory):
        return None
    if not isinstance(count, Node) or count.whole is None:
        return None
    stored = ex.memory.read(ex.state, attributes.target.place, ex.place_of(call.span))
    for position in range(min(count.whole, _MOST_ATTRIBUTES)):
        attribute = stored.elements.get(position, stored.rest) if isinstance(stored, ArrayValue) else stored
        if not isinstance(attribute, RecordValue):
            continue
        kind, value = attribute.fields.get("id"), attribute.fields.get("val")
        if isinstance(kind, Node) and kind.is_const and kind.value == _CLUSTER_DIMENSION:
            blocks = value.fields.get("clusterDim", ex.graph.one) if isinstance(value, RecordValue) else ex.graph.one
            return launching.extents_of(ex, blocks)
    return None


_COOPERATIVE = 2
"""cudaLaunchAttributeCooperative."""


def _may_be_cooperative(ex: Execution, config: RecordValue, call: ir.Call) -> bool:
    """Whether a launch's attributes make it cooperative, or are not all known."""
    attributes, count = config.fields.get("attrs"), config.fields.get("numAttrs")
    if not isinstance(count, Node) or count.whole is None:
        return count is not None
    if not count.whole:
        return False
    if not isinstance(attributes, Pointer) or not isinstance(attributes.target, LocalMemory):
        return True
    stored = ex.memory.read(ex.state, attributes.target.place, ex.place_of(call.span))
    for position in range(min(count.whole, _MOST_ATTRIBUTES)):
        attribute = stored.elements.get(position, stored.rest) if isinstance(stored, ArrayValue) else stored
        kind = attribute.fields.get("id") if isinstance(attribute, RecordValue) else None
        if not isinstance(kind, Node) or not kind.is_const or kind.value == _COOPERATIVE:
            return True
    return False


_MAX_DYNAMIC_SHARED = 8
"""cudaFuncAttributeMaxDynamicSharedMemorySize, and its twin of the driver's interface."""


def _set_attribute(ex: Execution, call: ir.Call) -> Value | None:
    """cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)."""
    if len(call.arguments) != 3:
        return None
    kernels = launching.kernels_of(ex.graph, expressions.evaluate(ex, call.arguments[0]))
    attribute, value = (expressions.number(ex, argument) for argument in call.arguments[1:])
    if attribute.is_const and attribute.value == _MAX_DYNAMIC_SHARED:
        for kernel, _ in kernels:
            ex.found.opt_ins.setdefault(kernel.key, []).append(value)
    return ex.graph.zero


_HANDLERS: Mapping[str, Handler] = {
    "allocated": _allocate, "allocated-in-rows": _allocate_pitched,
    "end-of-program": _exit, "assumed-by-host": _assumed, "ignored": _ignored,
    "unequal-texts": _compare_texts, "unequal-starts": _compare_starts, "length-of-text": _length,
    "compared": _compare,
    "launch": _launch_kernel, "launch-by-configuration": _launch_with_config, "attribute-of-kernel": _set_attribute,
    **LISTS, **DEVICE_QUERIES, **command_line.COMMAND_LINE,
}  # fmt: skip
"""By effect (`cudalint.ir.builtins`)."""
HOST_LIBRARY: Mapping[str, Handler] = {
    name: _HANDLERS[known.host] if known.host else LIBRARY[name]
    for name, known in BUILTINS.items()
    if known.host != "unknown" and (known.host or name in LIBRARY)
}
"""By the functions' names."""
