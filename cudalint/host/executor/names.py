"""Names, members and subscripts: what they denote, and what is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from cudalint.hardware.requests import WARP_LANES
from cudalint.host.executor import expressions
from cudalint.host.executor.memory import decay, dereference
from cudalint.host.executor.pointers import advance, move_choice, move_pointer, pointer_place
from cudalint.host.executor.values import (
    PLACES,
    Allocation,
    ArrayValue,
    Choice,
    FunctionValue,
    LocalPlace,
    MemoryPlace,
    Place,
    Pointer,
    RecordValue,
    TemporaryPlace,
    Text,
    Value,
)
from cudalint.host.values.arithmetic import I8, kind_of
from cudalint.host.values.graph import NOT_DECLARED
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_OUTSIDE: Final[Mapping[str, str]] = {
    "global": "is set elsewhere",
    "static": "is set elsewhere",
    "template": "is up to the arguments of the template, which nothing instantiates",
}
"""Of what nothing in a function gives: why it is not known."""


def name_place(ex: Execution, expr: ir.Name) -> Place:
    return symbol_place(ex, expr.symbol)


def symbol_place(ex: Execution, symbol: ir.Symbol) -> Place:
    value = ex.state.variables.get(symbol)
    if isinstance(value, PLACES):
        return value
    if value is None and expressions.lies_in_memory(symbol):
        return _variable_memory(ex, symbol)
    if value is None and symbol.storage == "builtin":
        # It stands in no variable, but references are bound to it: `const int &lane` to `threadIdx.x`.
        return TemporaryPlace(_builtin_value(ex, symbol), symbol.type)
    return LocalPlace(symbol, (), symbol.type)


def _variable_memory(ex: Execution, symbol: ir.Symbol) -> Place:
    """A variable that lives in memory: shared, constant, or a device global."""
    if symbol.storage == "constant" and expressions.initialise_global(ex, symbol):
        return LocalPlace(symbol, (), symbol.type)
    target = ex.globals.get(symbol)
    if target is None:
        space = {"constant": "constant", "device": "global", "static": "global"}.get(symbol.storage, "shared")
        size = symbol.type.bytes if symbol.storage != "dynamic-shared" and symbol.type.bytes else None
        target = Allocation(symbol.name, space, size, symbol)  # type: ignore[arg-type]
        ex.globals[symbol] = target
    return MemoryPlace(Pointer(target, ex.graph.const(0, I8), symbol.type), symbol.type)


def name_value(ex: Execution, expr: ir.Name) -> Value:
    symbol = expr.symbol
    held = ex.state.variables.get(symbol)
    if isinstance(held, (Node, Pointer)) and not isinstance(symbol.type, ir.RecordType):
        return held
    if symbol.storage == "builtin":
        return _builtin_value(ex, symbol)
    if symbol.stands_in is not None and held is None:
        made_up = ex.graph.default(symbol.name, symbol.stands_in, kind_of(symbol.type), NOT_DECLARED)
        ex.state.variables[symbol] = made_up
        return made_up
    outside = symbol.storage in _OUTSIDE and symbol not in ex.state.variables
    if outside and not expressions.lies_in_memory(symbol) and not expressions.initialise_global(ex, symbol):
        reason = Reason(f"`{symbol.name}` {_OUTSIDE[symbol.storage]}")
        ex.state.variables[symbol] = ex.memory.unknown(symbol.type, reason, (), symbol.name)
    return expressions.read(ex, symbol_place(ex, symbol), expr.span)


def _builtin_value(ex: Execution, symbol: ir.Symbol) -> Value:
    if symbol.name == "warpSize":
        return ex.graph.const(WARP_LANES)
    if isinstance(symbol.type, ir.RecordType):
        fields: dict[str, Value] = dict.fromkeys("xyz", ex.graph.one)
        return RecordValue(symbol.type, fields)
    return ex.graph.zero


def member_value(ex: Execution, expr: ir.Member) -> Value:
    base = expr.base
    if isinstance(base, ir.Name) and base.symbol.storage == "builtin":
        return ex.graph.one
    return expressions.read(ex, member_place(ex, expr), expr.span)


def member_place(ex: Execution, expr: ir.Member) -> Place:
    if expr.arrow:
        base = pointer_place(ex, expressions.evaluate(ex, expr.base), expr.base.type)
    else:
        base = expressions.place(ex, expr.base)
    return field_place(ex, base, expr.field, expr.type)


def field_place(ex: Execution, base: Place, name: str, type_: ir.Type) -> Place:
    field = base.type.field(name) if isinstance(base.type, ir.RecordType) else None
    if field is not None and ir.is_reference(field.type):
        # An expression that names it has the type of what it refers to.
        type_ = field.type
    if isinstance(base, LocalPlace):
        inner = base.step(name, type_)
        return _through_reference(ex, inner)
    if isinstance(base, TemporaryPlace):
        value = base.value
        if isinstance(value, RecordValue) and name in value.fields:
            return _referred(ex, value.fields[name], type_)
        return TemporaryPlace(ex.memory.smear(value, type_, field=name), type_)
    if isinstance(base.type, ir.RecordType) and base.type.unsized:
        return _somewhere_within(ex, base, base.type, name, type_)
    offset = field.offset if field else 0
    pointer = base.pointer
    moved = ex.graph.binary("+", pointer.offset, ex.graph.const(offset, I8), I8)
    inner_place = MemoryPlace(Pointer(pointer.target, moved, type_), type_)
    if ir.is_reference(type_):
        return pointer_place(ex, expressions.read(ex, inner_place, ir.Span("", 0, 0, 0, 0)), type_)
    return inner_place


def _somewhere_within(ex: Execution, base: MemoryPlace, record: ir.RecordType, name: str, type_: ir.Type) -> Place:
    """A field of a record of which nobody knows where its fields are."""
    text = f"where `{name}` stands in its record is not known: {record.unsized}"
    at = ex.unknown(text, ir.Scalar("unsigned long", 8, "uint"), origin=(record, name))
    offset = at if isinstance(at, Node) else ex.graph.zero
    moved = ex.graph.binary("+", base.pointer.offset, offset, I8)
    inner = MemoryPlace(Pointer(base.pointer.target, moved, type_), type_)
    if ir.is_reference(type_):
        return pointer_place(ex, expressions.read(ex, inner, ir.Span("", 0, 0, 0, 0)), type_)
    return inner


def _through_reference(ex: Execution, inner: LocalPlace) -> Place:
    """A field of reference type names the place that it was bound to."""
    if not ir.is_reference(inner.type):
        return inner
    return _referred(ex, ex.memory.read(ex.state, inner, ex.place_of(inner.symbol.span)), inner.type)


def _referred(ex: Execution, value: Value, type_: ir.Type) -> Place:
    if not ir.is_reference(type_):
        return TemporaryPlace(value, type_)
    return dereference(value, ex.graph) if isinstance(value, Pointer) else TemporaryPlace(value, type_.pointee)


def index_place(ex: Execution, expr: ir.Index) -> Place:
    base = _array_base(ex, expr.base)
    index = expressions.number(ex, expr.index)
    if index.kind.is_float:  # In code with errors, of which clang has made no integer.
        index = ex.graph.convert(index, I8)
    if isinstance(base, LocalPlace):
        return base.step(index, expr.type)
    if isinstance(base, Choice):
        moved = move_choice(ex, base, index, expr.type)
        return pointer_place(ex, moved, ir.PointerType(expr.type))
    if isinstance(base, Pointer):
        # In a template the type may be known of the value only: `auto row = t + i; row[1]`.
        is_dependent = isinstance(expr.type, ir.OpaqueType) and not expr.type.bytes
        element = base.pointee if is_dependent else expr.type
        return dereference(advance(ex, base, index, element), ex.graph)
    if isinstance(base, ArrayValue):
        return TemporaryPlace(ex.memory.element(base, index, expr.type), expr.type)
    if isinstance(base, Text):
        base = move_pointer(ex, base, index, expr.type)
    return pointer_place(ex, base, ir.PointerType(expr.type))


def _array_base(ex: Execution, base: ir.Expr) -> LocalPlace | Value:
    """The array or pointer that is subscripted, without decaying a local array to a pointer."""
    inner = base
    while isinstance(inner, ir.Cast) and not inner.explicit and isinstance(inner.operand.type, ir.ArrayType):
        inner = inner.operand
    if isinstance(inner.type, ir.ArrayType):
        where = expressions.place(ex, inner)
        if isinstance(where, LocalPlace):
            expressions.initialise_global(ex, where.symbol)
            # A parameter that is declared as an array is a pointer.
            value = None if where.path else ex.state.variables.get(where.symbol)
            return value if isinstance(value, (Pointer, Choice)) else where
        if isinstance(where, MemoryPlace):
            return decay(where, ex.graph)
        return where.value
    return expressions.evaluate(ex, base)


def function_value(ex: Execution, expr: ir.FunctionName) -> Value:
    return FunctionValue(expr.function)
