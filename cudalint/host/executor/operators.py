"""Operators: arithmetic, pointer arithmetic, assignments, conditions that decide what is evaluated, and casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import compress
from operator import is_, is_not
from typing import TYPE_CHECKING, TypeVar

from cudalint.host.executor import expressions, joins
from cudalint.host.executor.conversions import as_number, as_pointer, cast, cast_pointer, convert
from cudalint.host.executor.memory import address_of, decay
from cudalint.host.executor.pointers import are_one, move_pointer, pointee_of, pointer_difference, pointer_place
from cudalint.host.executor.values import (
    PLACES,
    ArrayValue,
    Choice,
    FunctionValue,
    LocalPlace,
    MemoryPlace,
    Place,
    Pointer,
    TemporaryPlace,
    Text,
    Value,
    join,
)
from cudalint.host.executor.vanished import Vanished
from cudalint.host.values.arithmetic import BOOL, I8, kind_of
from cudalint.host.values.graph import conjuncts
from cudalint.host.values.narrowing import WRAPPING, note_narrowed, note_wrapped
from cudalint.host.values.nodes import Node, Reason
from cudalint.host.values.operations import COMPARISONS
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_T = TypeVar("_T")


def unary_place(ex: Execution, expr: ir.Unary) -> Place:
    if expr.op == "*":
        return pointer_place(ex, expressions.evaluate(ex, expr.operand), expr.operand.type)
    if expr.op in ("++x", "--x"):
        where = expressions.place(ex, expr.operand)
        _step(ex, where, expr)
        return where
    return TemporaryPlace(unary_value(ex, expr), expr.type)


def unary_value(ex: Execution, expr: ir.Unary) -> Value:
    if expr.op == "*":
        pointer = expressions.evaluate(ex, expr.operand)
        if isinstance(pointer, FunctionValue):
            # A function decays to its address again: `(*f)(x)` is `f(x)`.
            return pointer
        return expressions.read(ex, pointer_place(ex, pointer, expr.operand.type), expr.span)
    if expr.op == "&":
        if isinstance(expr.operand, ir.FunctionName):
            return FunctionValue(expr.operand.function)
        return address_of(expressions.place(ex, expr.operand), ex.graph)
    if expr.op in ("++x", "--x"):
        where = expressions.place(ex, expr.operand)
        return _step(ex, where, expr)[1]
    if expr.op in ("x++", "x--"):
        return _step(ex, expressions.place(ex, expr.operand), expr)[0]
    operand, kind = expressions.number(ex, expr.operand), kind_of(expr.type)
    if expr.op == "!":
        return ex.graph.negate(operand)
    if expr.op == "~":
        return ex.graph.invert(operand, kind)
    if expr.op == "-":
        return ex.graph.binary("-", ex.graph.const(0, kind), operand, kind)
    return ex.graph.convert(operand, kind)


def _step(ex: Execution, where: Place, expr: ir.Unary) -> tuple[Value, Value]:
    """Increments or decrements a place; the value before and after."""
    old = expressions.read(ex, where, expr.operand.span)
    step = ex.graph.const(1 if "+" in expr.op else -1, I8)
    new: Value
    if isinstance(old, (Pointer, Choice, Text)):
        new = move_pointer(ex, old, step, ir.pointee(expr.type))
    else:
        base = as_number(ex, old, expr.type)
        kind = base.kind
        new = ex.graph.binary("+", base, ex.graph.const(step.value, kind), kind)
    expressions.write(ex, where, new)
    return old, new


def binary_value(ex: Execution, expr: ir.Binary) -> Value:
    if expr.op in ("&&", "||"):
        return _short_circuit(ex, expr)
    if expr.op == ",":
        expressions.discard(ex, expr.left)
        return expressions.evaluate(ex, expr.right)
    left, right = expressions.evaluate(ex, expr.left), expressions.evaluate(ex, expr.right)
    found = operate(ex, expr.op, left, right, expr.left.type, expr.right.type, expr.type)
    if expr.op == "/" and isinstance(found, Node):
        _note_quotient(ex, expr, (left, right), found)
    if expr.op in WRAPPING and isinstance(found, Node) and found.is_const:
        note_wrapped(ex.graph.narrowed, found, left, right, expr)
    return found


def _note_quotient(ex: Execution, expr: ir.Binary, sides: tuple[Value, Value], found: Node) -> None:
    """Where it is computed; and if it is a number that has become 0, of what. One less than the divisor alone is what
    is added to round up, and is no quotient of anything."""
    if not found.is_const:
        ex.graph.divided_at.setdefault(found, expr.span)
        return
    numbers = [side.whole for side in sides if isinstance(side, Node) and not side.kind.is_float]
    if found.value == 0 and len(numbers) == len(sides) and None not in numbers:
        dividend, divisor = (number or 0 for number in numbers)
        if 0 < dividend < divisor - 1:
            ex.found.vanished.append(Vanished(dividend, divisor, expr.span))


def _short_circuit(ex: Execution, expr: ir.Binary) -> Node:
    """The right side is evaluated only where the left side leaves it undecided."""
    graph, outer = ex.graph, ex.state.guards
    left = expressions.condition(ex, expr.left)
    if left.is_const:
        decided = bool(left.value) == (expr.op == "||")
        found = graph.truth(left) if decided else expressions.condition(ex, expr.right)
        ex.state.guards = outer
        return found
    taken = left if expr.op == "&&" else graph.negate(left)
    ex.state.guards = outer
    right = _where(ex, taken, expr.right, expressions.condition)
    return graph.binary(expr.op, left, right, BOOL)


def _where(ex: Execution, taken: Node, expr: ir.Expr, handler: Callable[[Execution, ir.Expr], _T]) -> _T:
    """Evaluates an expression where a condition holds: what it changes, it changes there only, and what it checks holds
    only there (`values.numel() ? values.data_ptr<float>() : nullptr` says nothing about the type of no values). Where
    it ends the program, the other side is left: `n % 4 == 0 ? (void)0 : __assert_fail(...)`."""
    state = ex.state
    guards, variables = state.guards, state.variables
    state.variables = dict(variables)
    _assume(ex, taken)
    result = handler(ex, expr)
    ended = state.dead
    state.guards, state.dead = guards, False
    if taken is not ex.graph.false:
        for symbol in _changed(variables, state.variables):
            other = variables[symbol]
            mine = state.variables.get(symbol, other)
            is_place = isinstance(mine, PLACES) or isinstance(other, PLACES)
            state.variables[symbol] = mine if is_place or mine is other else join(ex.graph, taken, mine, other)  # type: ignore[arg-type]
    else:
        state.variables = dict(variables)
    if ended:
        _assume(ex, ex.graph.negate(taken))
    return result


def _changed(before: Mapping[ir.Symbol, Value | Place], after: Mapping[ir.Symbol, Value | Place]) -> list[ir.Symbol]:
    """The variables that have another value than before, and perhaps others: of hundreds few have, as a rule, and those
    that are new come last."""
    if len(after) < len(before) or not all(map(is_, before, after)):
        return list(before)
    return list(compress(before, map(is_not, before.values(), after.values())))


def _assume(ex: Execution, condition: Node) -> None:
    """Lets a condition hold from here on."""
    for part in conjuncts(ex.graph, condition):
        if part.is_const:
            ex.state.dead = ex.state.dead or not part.value
        elif part not in ex.state.guards:
            ex.stated(part)


def operate(
    ex: Execution, op: str, left: Value, right: Value, left_type: ir.Type, right_type: ir.Type, type_: ir.Type
) -> Value:
    """A binary operator on values, with pointer arithmetic."""
    pointers = (Pointer, Choice, Text)
    if op in ("+", "-") and isinstance(left, pointers) and not isinstance(right, pointers):
        index = as_number(ex, right, right_type)
        if op == "-":
            index = ex.graph.binary("-", ex.graph.const(0, I8), index, I8)
        return move_pointer(ex, left, index, pointee_of(left_type, left))
    if op == "+" and isinstance(right, pointers):
        return move_pointer(ex, right, as_number(ex, left, left_type), pointee_of(right_type, right))
    if isinstance(left, Pointer) and isinstance(right, Pointer) and are_one(left.target, right.target):
        return pointer_difference(ex, op, left, right, left_type)
    a, b = as_number(ex, left, left_type), as_number(ex, right, right_type)
    if op == "-" and isinstance(left, Pointer) and isinstance(right, Pointer):
        # Nothing says that they are arrays of their own: a function returns the end of what it was given.
        return ex.memory.unknown(type_, Reason("between two pointers"), (a, b))
    kind = kind_of(type_)
    if op in COMPARISONS or op in (">", ">="):
        kind = a.kind if a.kind.bytes >= b.kind.bytes else b.kind
    if kind.is_float and op not in COMPARISONS and op not in ("+", "-", "*", "/", ">", ">="):
        return ex.unknown(f"of `{op}` on floating-point values", type_, (a, b))
    return ex.graph.binary(op, a, b, kind)


def assign_place(ex: Execution, expr: ir.Assign) -> Place:
    where, _ = _assign(ex, expr)
    return where


def assign_value(ex: Execution, expr: ir.Assign) -> Value:
    return _assign(ex, expr)[1]


def _assign(ex: Execution, expr: ir.Assign) -> tuple[Place, Value]:
    if expr.op:
        where = expressions.place(ex, expr.target)
        old = expressions.read(ex, where, expr.target.span)
        right = expressions.evaluate(ex, expr.value)
        type_ = _compound_type(expr)
        if isinstance(old, Node) and isinstance(type_, ir.Scalar):
            old = ex.graph.convert(old, kind_of(type_))
        value = operate(ex, expr.op, old, right, expr.target.type, expr.value.type, type_)
    else:
        value = expressions.evaluate(ex, expr.value)
        where = expressions.place(ex, expr.target)
    value = convert(ex, value, expr.target.type)
    expressions.write(ex, where, value)
    return where, value


def _compound_type(expr: ir.Assign) -> ir.Type:
    """The type in which `a op= b` computes: the wider of both (C11 6.3.1.8, as far as it matters here)."""
    a, b = expr.target.type, expr.value.type
    if isinstance(a, ir.Scalar) and isinstance(b, ir.Scalar) and expr.op not in ("<<", ">>"):
        if b.kind == "float" and a.kind != "float":
            return b
        if a.kind != "float" and (b.bytes > a.bytes or (b.bytes == a.bytes >= 4 and b.kind == "uint")):
            return b
    return a


def conditional_value(ex: Execution, expr: ir.Conditional) -> Value:
    graph, outer = ex.graph, ex.state.guards
    test = expressions.condition(ex, expr.condition)
    if test.is_const:
        value = expressions.evaluate(ex, expr.then if test.value else expr.otherwise)
        ex.state.guards = outer
        return value
    ex.state.guards = outer
    then = _where(ex, test, expr.then, expressions.evaluate)
    otherwise = _where(ex, graph.negate(test), expr.otherwise, expressions.evaluate)
    then, otherwise = convert(ex, then, expr.type), convert(ex, otherwise, expr.type)
    return joins.preferred(ex, test, then, otherwise) or join(graph, test, then, otherwise)


def conditional_place(ex: Execution, expr: ir.Conditional) -> Place:
    test = expressions.condition(ex, expr.condition)
    if test.is_const:
        return expressions.place(ex, expr.then if test.value else expr.otherwise)
    a, b = expressions.place(ex, expr.then), expressions.place(ex, expr.otherwise)
    if isinstance(a, MemoryPlace) and isinstance(b, MemoryPlace):
        chosen = join(ex.graph, test, address_of(a, ex.graph), address_of(b, ex.graph))
        return pointer_place(ex, chosen, ir.PointerType(expr.type))
    then, otherwise = expressions.read(ex, a, expr.span), expressions.read(ex, b, expr.span)
    return TemporaryPlace(join(ex.graph, test, then, otherwise), expr.type)


def cast_value(ex: Execution, expr: ir.Cast) -> Value:
    type_ = expr.type
    if isinstance(expr.operand.type, ir.ArrayType) and isinstance(type_, ir.PointerType) and not type_.reference:
        where = expressions.place(ex, expr.operand)
        if isinstance(where, LocalPlace):
            expressions.initialise_global(ex, where.symbol)
            value = None if where.path else ex.state.variables.get(where.symbol)
            if isinstance(value, (Pointer, Choice)):
                return cast_pointer(ex, value, type_.pointee)
        if isinstance(where, TemporaryPlace):
            return where.value if not isinstance(where.value, ArrayValue) else decay(where, ex.graph)
        return as_pointer(decay(where, ex.graph), type_.pointee)
    if _cuts_off(expr.operand.type, type_):
        wide = expressions.number(ex, expr.operand)
        narrow = ex.graph.convert(wide, kind_of(type_))
        note_narrowed(ex.graph.narrowed, narrow, wide, expr)
        return narrow
    value = expressions.evaluate(ex, expr.operand)
    return cast(ex, value, expr.operand.type, type_)


def _cuts_off(source: ir.Type, type_: ir.Type) -> bool:
    """Whether only the lower half of a 64-bit integer is used: `int label = labels[i]`."""
    return (
        isinstance(source, ir.Scalar)
        and isinstance(type_, ir.Scalar)
        and source.kind in ("int", "uint")
        and type_.kind in ("int", "uint")
        and (source.bytes, type_.bytes) == (8, 4)
    )


def cast_place(ex: Execution, expr: ir.Cast) -> Place:
    """A cast of an lvalue (to a reference, to a base class, of an array) still names the same place."""
    inner = expressions.place(ex, expr.operand)
    if ir.is_reference(expr.type):
        target = expr.type.pointee
    elif isinstance(expr.type, (ir.RecordType, ir.ArrayType)):
        target = expr.type
    elif isinstance(expr.operand.type, ir.Scalar) and isinstance(expr.type, ir.Scalar) and not isinstance(
        inner, TemporaryPlace
    ):
        return TemporaryPlace(cast(ex, expressions.read(ex, inner, expr.span), expr.operand.type, expr.type), expr.type)
    else:
        return TemporaryPlace(cast_value(ex, expr), expr.type)
    if isinstance(inner, MemoryPlace):
        pointer = as_pointer(inner.pointer, target)
        return MemoryPlace(pointer, target)
    if isinstance(inner, LocalPlace):
        return LocalPlace(inner.symbol, inner.path, target)
    return TemporaryPlace(inner.value, target)
