"""What host code learns when it asks for the properties of the device: those of the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cudalint.hardware.targets import Target
from cudalint.host.executor import expressions, names
from cudalint.host.executor.intrinsics import Handler
from cudalint.host.executor.pointers import pointer_place
from cudalint.host.executor.values import LocalPlace, Value
from cudalint.host.values.arithmetic import kind_of
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_ATTRIBUTES = {
    1: "maxThreadsPerBlock",
    2: "maxThreadsDim[0]",
    3: "maxThreadsDim[1]",
    4: "maxThreadsDim[2]",
    5: "maxGridSize[0]",
    6: "maxGridSize[1]",
    7: "maxGridSize[2]",
    8: "sharedMemPerBlock",
    10: "warpSize",
    12: "regsPerBlock",
    39: "maxThreadsPerMultiProcessor",
    75: "major",
    76: "minor",
    81: "sharedMemPerMultiprocessor",
    82: "regsPerMultiprocessor",
    97: "sharedMemPerBlockOptin",
    106: "maxBlocksPerMultiProcessor",
    111: "reservedSharedMemPerBlock",
}
"""The values of `cudaDeviceAttr` (CUDA Runtime API, section "Data types used by CUDA Runtime"), and the fields of
`cudaDeviceProp` that say the same. The number of multiprocessors is left open: code that asks for this one attribute
divides a size by it that nobody knows, and the block that comes out would be a guess."""


def properties_of(target: Target) -> Mapping[str, int]:
    """The fields of `cudaDeviceProp` that decide launches, and the elements of those that are arrays."""
    major, minor = target.compute_capability
    return {
        "warpSize": target.warp_size,
        "major": major,
        "minor": minor,
        "multiProcessorCount": target.sm_count,
        "maxThreadsPerBlock": target.max_threads_per_block,
        "maxThreadsPerMultiProcessor": target.max_threads_per_sm,
        "maxBlocksPerMultiProcessor": target.max_blocks_per_sm,
        "regsPerBlock": target.registers_per_block,
        "regsPerMultiprocessor": target.registers_per_sm,
        "sharedMemPerBlock": target.shared_per_block,
        "sharedMemPerBlockOptin": target.shared_per_block_opt_in,
        "sharedMemPerMultiprocessor": target.shared_per_sm,
        "reservedSharedMemPerBlock": target.shared_reserved_per_block,
        **_by_axis("maxThreadsDim", target.max_block_dimensions),
        **_by_axis("maxGridSize", target.max_grid_dimensions),
    }


def _by_axis(name: str, limits: Sequence[int]) -> dict[str, int]:
    return {f"{name}[{axis}]": limit for axis, limit in enumerate(limits)}


def _properties(ex: Execution, call: ir.Call) -> Value:
    """cudaGetDeviceProperties(&properties, device)."""
    where = pointer_place(ex, expressions.evaluate(ex, call.arguments[0]), call.arguments[0].type)
    record = where.type
    if isinstance(where, LocalPlace) and isinstance(record, ir.RecordType):
        for name, number in ex.properties.items():
            part = _part(where, record, name, ex.graph)
            if part is not None:
                expressions.write(ex, part, ex.graph.const(number, kind_of(part.type)))
    return ex.graph.zero


def member_value(ex: Execution, expr: ir.Member) -> Value:
    """A field. Wherever the properties of a device come from, as a reference that is kept somewhere, they are those of
    the target as far as they have no number here."""
    value = names.member_value(ex, expr)
    return _property(ex, expr, expr.field, value) if isinstance(expr.type, ir.Scalar) else value


def index_value(ex: Execution, expr: ir.Index) -> Value:
    """An element, also of those fields of a device's properties that have one for each axis: `maxGridSize[1]`."""
    value = expressions.read(ex, names.index_place(ex, expr), expr.span)
    array = expr.base.operand if isinstance(expr.base, ir.Cast) else expr.base
    if not isinstance(array, ir.Member) or not isinstance(expr.type, ir.Scalar) or not _is_of_device(array):
        return value
    index = expressions.number(ex, expr.index)
    return value if index.whole is None else _property(ex, array, f"{array.field}[{index.whole}]", value)


def _property(ex: Execution, field: ir.Member, name: str, value: Value) -> Value:
    """What the target says of a device's field, or of an element of it, where the program gives no number."""
    number = ex.properties.get(name) if _is_of_device(field) else None
    if number is None or not isinstance(value, Node) or value.is_const:
        return value
    return ex.graph.const(number, value.kind)


def _is_of_device(field: ir.Member) -> bool:
    base = field.base.type.pointee if isinstance(field.base.type, ir.PointerType) else field.base.type
    return isinstance(base, ir.RecordType) and base.name == "cudaDeviceProp"


def _part(where: LocalPlace, record: ir.RecordType, name: str, graph: Graph) -> LocalPlace | None:
    """The field of that name, or the element of one: `maxThreadsDim[0]`."""
    name, _, index = name.partition("[")
    field = record.field(name)
    if field is None:
        return None
    place = where.step(name, field.type)
    if index and isinstance(field.type, ir.ArrayType):
        return place.step(graph.const(int(index[:-1])), field.type.element)
    return None if index else place


def _attribute(ex: Execution, call: ir.Call) -> Value | None:
    """cudaDeviceGetAttribute(&value, attribute, device); None for those that the target says nothing of."""
    if len(call.arguments) != 3:
        return None
    attribute = expressions.number(ex, call.arguments[1])
    name = _ATTRIBUTES.get(attribute.whole) if attribute.whole is not None else None
    number = ex.properties.get(name) if name is not None else None
    if number is None:
        return None
    where = pointer_place(ex, expressions.evaluate(ex, call.arguments[0]), call.arguments[0].type)
    if not isinstance(where.type, ir.Scalar):
        return None
    expressions.write(ex, where, ex.graph.const(number, kind_of(where.type)))
    return ex.graph.zero


DEVICE_QUERIES: Mapping[str, Handler] = {
    "properties-of-device": _properties, "attribute-of-device": _attribute,
}  # fmt: skip
"""Handlers by effect."""
