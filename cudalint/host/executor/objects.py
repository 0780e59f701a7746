"""Objects: literals, lists in braces, `this`, closures, and what is made by `new`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.executor import expressions
from cudalint.host.executor.conversions import convert
from cudalint.host.executor.memory import address_of, dereference
from cudalint.host.executor.names import field_place
from cudalint.host.executor.pointers import NULL
from cudalint.host.executor.values import (
    PLACES,
    Allocation,
    ArrayValue,
    Closure,
    LocalPlace,
    Place,
    Pointer,
    RecordValue,
    TemporaryPlace,
    Text,
    Value,
)
from cudalint.host.values.arithmetic import F8, I4, I8, kind_of
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution


def literal_value(ex: Execution, expr: ir.Constant) -> Value:
    if isinstance(expr.value, str):
        return Text(_unquoted(expr.value))
    kind = kind_of(expr.type) if isinstance(expr.type, ir.Scalar) else (F8 if isinstance(expr.value, float) else I4)
    node = ex.graph.const(expr.value, kind)
    if isinstance(expr.type, ir.PointerType):
        return Pointer(NULL, ex.graph.const(0, I8), expr.type.pointee)
    return node


def _unquoted(literal: str) -> str:
    """What a plain string literal says; any other one is as it is written, which tells it from others as well."""
    if not (literal.startswith('"') and literal.endswith('"') and literal.isascii()):
        return literal
    try:
        return literal[1:-1].encode().decode("unicode_escape")
    except UnicodeDecodeError:
        return literal


def init_list_value(ex: Execution, expr: ir.InitList) -> Value:
    type_ = expr.type
    values = [expressions.evaluate(ex, e) for e in expr.elements]
    if isinstance(type_, ir.ArrayType):
        elements = {i: convert(ex, v, type_.element) for i, v in enumerate(values)}
        return ArrayValue(type_, elements, zero_value(ex, type_.element))
    if isinstance(type_, ir.RecordType):
        fields = {f.name: zero_value(ex, f.type) for f in type_.fields}
        for field, value in zip(type_.fields, values, strict=False):
            fields[field.name] = convert(ex, value, field.type)
        return RecordValue(type_, fields)
    return values[0] if values else zero_value(ex, type_)


def zero_value(ex: Execution, type_: ir.Type) -> Value:
    """The value-initialised object of a type."""
    if isinstance(type_, ir.Scalar):
        return ex.graph.const(0, kind_of(type_))
    if isinstance(type_, ir.PointerType):
        return Pointer(NULL, ex.graph.const(0, I8), type_.pointee)
    if isinstance(type_, ir.ArrayType):
        return ArrayValue(type_, {}, zero_value(ex, type_.element))
    if isinstance(type_, ir.RecordType):
        return RecordValue(type_, {f.name: zero_value(ex, f.type) for f in type_.fields})
    return ex.graph.zero


def this_place(ex: Execution, this: ir.Symbol) -> Place:
    value = ex.state.variables.get(this)
    if isinstance(value, Pointer):
        return dereference(value, ex.graph)
    return TemporaryPlace(ex.graph.zero, this.type)


def initialise_field(ex: Execution, this: Place, name: str, initializer: ir.Expr) -> None:
    """One member initializer of a constructor; a base class's fields lie in the same record."""
    record = this.type if isinstance(this.type, ir.RecordType) else None
    field = record.field(name) if record else None
    if field is not None and ir.is_reference(field.type):
        bound = address_of(expressions.place(ex, initializer), ex.graph)
        if isinstance(this, LocalPlace):
            ex.memory.write(ex.state, this.step(name, field.type), bound)
        return
    value = expressions.evaluate(ex, initializer)
    if field is not None:
        where = field_place(ex, this, name, field.type)
        expressions.write(ex, where, convert(ex, value, field.type))
    elif isinstance(value, RecordValue) and isinstance(this, LocalPlace):
        for inner, part in value.fields.items():
            type_ = record.field(inner) if record else None
            if type_ is not None:
                expressions.write(ex, this.step(inner, type_.type), part)


def statements_value(ex: Execution, expr: ir.StatementExpr) -> Value:
    for statement in expr.statements:
        ex.statement(statement)
    if expr.value is None or ex.state.dead:
        return ex.graph.zero
    return expressions.evaluate(ex, expr.value)


def lambda_value(ex: Execution, expr: ir.Lambda) -> Value:
    captured: dict[ir.Symbol, Value] = {}
    for capture in expr.captures:
        symbol = capture.symbol
        if symbol.initializer is not None:  # `[p = a + i]`
            ex.state.variables[symbol] = expressions.initial_value(ex, symbol, symbol.initializer())
        value = ex.state.variables.get(symbol)
        if not capture.by_reference and value is not None and not isinstance(value, PLACES):
            captured[symbol] = value
    return Closure(expr.function, captured)


def new_value(ex: Execution, expr: ir.New) -> Value:
    for part in (expr.count, expr.initial):
        if part is not None:
            expressions.evaluate(ex, part)
    return Pointer(Allocation("new", "local"), ex.graph.const(0, I8), expr.element)
