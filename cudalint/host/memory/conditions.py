"""Conditions: which way they lead where that is known, and what they say of pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.memory.pointers import NULL, Address, Pointer, Value
from cudalint.host.memory.quantities import Quantity
from cudalint.host.memory.state import State, either
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis


def ways(an: Analysis, condition: ir.Expr) -> tuple[State, State]:
    """The states in which a condition holds and in which it doesn't; dead where it never does. The analysis stands in
    neither of them afterwards."""
    bare = walk.without_casts(condition)
    if isinstance(bare, ir.Unary) and bare.op == "!":
        holds, fails = ways(an, bare.operand)
        return fails, holds
    if isinstance(bare, ir.Binary) and bare.op in ("&&", "||"):
        first = ways(an, bare.left)
        goes_on, decided = first if bare.op == "&&" else first[::-1]
        an.state = goes_on
        holds, fails = ways(an, bare.right) if not goes_on.dead else (State(dead=True), State(dead=True))
        return (holds, either((decided, fails))) if bare.op == "&&" else (either((decided, holds)), fails)
    if isinstance(bare, ir.Binary) and bare.op in ("==", "!=") and (named := _compared_to_null(bare)) is not None:
        present, absent = _of_pointer(an, named)
        return (absent, present) if bare.op == "==" else (present, absent)
    if isinstance(bare.type, ir.PointerType) and not bare.type.reference:
        return _of_pointer(an, bare)
    known = truth(an.value(condition))
    if known is None:
        return an.state, an.state.fork()
    return (an.state, State(dead=True)) if known else (State(dead=True), an.state)


def is_of_types(condition: ir.Expr) -> bool:
    """Whether a condition compares `typeid`s: each instance of a template goes one way, and which is not known here."""
    return any(
        isinstance(node, ir.Call) and node.function is not None and not node.function.is_user
        and node.name in ("operator==", "operator!=") and "@type_info@" in node.function.usr
        for node in walk.walk(condition)
    )  # fmt: skip


def truth(value: Value) -> bool | None:
    """What a value is as a condition, where that is known."""
    if isinstance(value, Quantity):
        number = value.value
        return bool(number) if number is not None else None
    if isinstance(value, Pointer):
        return None if value.may_be_null and value.targets else bool(value.targets)
    return True if isinstance(value, Address) else None


def _compared_to_null(expr: ir.Binary) -> ir.Expr | None:
    for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
        number = walk.without_casts(other)
        is_pointer = isinstance(walk.without_casts(one).type, ir.PointerType)
        if is_pointer and isinstance(number, ir.Constant) and number.value == 0:
            return walk.without_casts(one)
    return None


def _of_pointer(an: Analysis, expr: ir.Expr) -> tuple[State, State]:
    """The states in which a pointer leads somewhere, and in which it is null."""
    value = an.value(expr)
    known = truth(value)
    if known is not None:
        return (an.state, State(dead=True)) if known else (State(dead=True), an.state)
    present, absent = an.state, an.state.fork()
    key = an.place(expr) if isinstance(expr, (ir.Name, ir.Member)) else None
    if isinstance(value, Pointer) and isinstance(key, tuple):
        present.set(key, Pointer(value.targets, False, value.offset))
        absent.set(key, NULL)
    return present, absent
