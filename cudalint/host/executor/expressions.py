"""Evaluating expressions: values of rvalues, places of lvalues, with the loads and stores that this takes.

What each kind of expression comes to is in `names`, `operators`, `calls` and `objects`, which call each other through
the functions here; `handlers` lists them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.executor.conversions import as_number, convert
from cudalint.host.executor.values import ArrayValue, LocalPlace, Place, TemporaryPlace, Value, few_of
from cudalint.host.values.nodes import UNINITIALISED, Node
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_MAX_TABLE_BYTES = 8192
"""Constant tables beyond this size are data."""


def evaluate(ex: Execution, expr: ir.Expr) -> Value:
    """The value of an expression; lvalues are read."""
    handler = ex.value_handlers.get(type(expr))
    if handler is not None:
        result: Value = handler(ex, expr)
        return result
    return read(ex, place(ex, expr), expr.span)


def place(ex: Execution, expr: ir.Expr) -> Place:
    """What an lvalue denotes; for an rvalue, a temporary that holds it."""
    handler = ex.place_handlers.get(type(expr))
    if handler is not None:
        result: Place = handler(ex, expr)
        return result
    return TemporaryPlace(evaluate(ex, expr), expr.type)


def number(ex: Execution, expr: ir.Expr) -> Node:
    """The value of an arithmetic expression as a node; anything else becomes an address or an opaque number."""
    return as_number(ex, evaluate(ex, expr), expr.type)


def condition(ex: Execution, expr: ir.Expr) -> Node:
    """The truth value of an expression."""
    return ex.graph.truth(number(ex, expr))


def discard(ex: Execution, expr: ir.Expr) -> None:
    """Evaluates an expression for its effects: a plain lvalue is not read, nor is what a function returns a reference
    to (`a[i] = b` of a class)."""
    if isinstance(expr, ir.Cast) and isinstance(expr.type, ir.Scalar) and expr.type.kind == "void":
        place(ex, expr.operand)
    elif isinstance(expr, ir.Binary) and expr.op == ",":
        discard(ex, expr.left)
        discard(ex, expr.right)
    elif type(expr) in ex.value_handlers and not isinstance(expr, ir.Call):
        evaluate(ex, expr)
    else:
        place(ex, expr)


def read(ex: Execution, where: Place, span: ir.Span) -> Value:
    if isinstance(where, LocalPlace) and where.symbol.storage not in ("local", "parameter"):
        initialise_global(ex, where.symbol)
    return ex.memory.read(ex.state, where, ex.place_of(span))


def write(ex: Execution, where: Place, value: Value) -> None:
    if isinstance(where, LocalPlace) and where.path and where.symbol.storage not in ("local", "parameter"):
        # `grid.x = n;` leaves the rest as it was.
        initialise_global(ex, where.symbol)
    ex.memory.write(ex.state, where, value)


def initial_value(ex: Execution, symbol: ir.Symbol, initializer: ir.Expr | None) -> Value | Place:
    """What a declared variable starts with; for a reference, the place that it names."""
    if ir.is_reference(symbol.type):
        if initializer is None:
            return TemporaryPlace(ex.graph.zero, symbol.type)
        where = place(ex, initializer)
        if isinstance(where, TemporaryPlace) and isinstance(where.value, ArrayValue):
            # `f({1, 2})` for a reference to an array, whose elements are found from where it lies.
            return materialise(ex, where.value, where.type, initializer.span)
        return where
    if initializer is None:
        return ex.memory.unknown(symbol.type, UNINITIALISED, (), symbol.name)
    return convert(ex, evaluate(ex, initializer), symbol.type)


def initialise_global(ex: Execution, symbol: ir.Symbol) -> bool:
    """Gives a variable with a static initialiser its value, once; False where it has none."""
    if symbol in ex.state.variables:
        return True
    if symbol.type.bytes > _MAX_TABLE_BYTES:
        return False
    initializer = symbol.initializer() if symbol.initializer is not None else None
    if initializer is None:
        return False
    ex.state.variables[symbol] = initial_value(ex, symbol, initializer)
    return True


def lies_in_memory(symbol: ir.Symbol) -> bool:
    """Whether a variable is one of the device, which host code knows by its address."""
    return symbol.storage in ("shared", "dynamic-shared", "constant", "device")


def materialise(ex: Execution, value: Value, type_: ir.Type, span: ir.Span) -> LocalPlace:
    """A temporary object as a variable, so that a method can be called on it."""
    symbol = ir.Symbol("temporary", type_, "local", span)
    ex.state.variables[symbol] = value
    return LocalPlace(symbol, (), type_)


def unknown_value(ex: Execution, expr: ir.UnknownExpr) -> Value:
    """What the front end could not say: the result depends on all parts that it found."""
    values = [evaluate(ex, child) for child in expr.children]
    args = few_of(v for v in values if isinstance(v, Node))
    return ex.unknown(f"of {expr.reason}", expr.type, args)
