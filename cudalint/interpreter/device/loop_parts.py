"""Loops in one form, whatever statement they are written as."""

from __future__ import annotations

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.ir import walk


class LoopParts(Struct, frozen=True, eq=False):
    """A loop in its general form: `while (condition) { body; increment; }`, tested first or last."""

    condition: ir.Expr | None
    body: ir.Stmt
    increment: ir.Expr | None
    span: ir.Span
    kind: str
    test_last: bool = False
    own: ir.Symbol | None = None
    """The variable that the loop itself declares."""
    is_counted: bool = False
    is_unrolled: bool = False
    statement: ir.For | None = None
    """See `Loop`."""


def parts_of_for(statement: ir.For) -> LoopParts:
    """Without the declaration before the loop."""
    own = statement.init.symbol if isinstance(statement.init, ir.Declare) else None
    counter = own or _assigned(statement.init)
    counted = counter is not None and _mentions_only(
        counter, statement.init, statement.condition, statement.increment
    )
    return LoopParts(
        statement.condition, statement.body, statement.increment, statement.span, "for", own=own, is_counted=counted,
        is_unrolled=counted and statement.unroll == 0, statement=statement,
    )  # fmt: skip


def _assigned(init: ir.Stmt | None) -> ir.Symbol | None:
    """The variable that `i = 0` sets, declared before the loop as in C of old: the compiler counts by it as well."""
    if not isinstance(init, ir.ExprStmt) or not isinstance(init.expr, ir.Assign) or init.expr.op:
        return None
    target = init.expr.target
    return target.symbol if isinstance(target, ir.Name) else None


def _mentions_only(symbol: ir.Symbol, *parts: ir.Stmt | ir.Expr | None) -> bool:
    """Whether nothing but this variable and constants goes into these parts of a loop's head."""
    nodes = [node for part in parts if part is not None for node in walk.walk(part)]
    names = [node.symbol for node in nodes if isinstance(node, ir.Name)]
    return all(name is symbol for name in names) and not any(isinstance(node, ir.Call) for node in nodes)
