"""Loops in one form, whatever statement they are written as."""

from __future__ import annotations

from msgspec import Struct

from cudalint.ir import nodes as ir


class LoopParts(Struct, frozen=True, eq=False):
    """A loop in its general form: `while (condition) { body; increment; }`, tested first or last."""

    condition: ir.Expr | None
    body: ir.Stmt
    increment: ir.Expr | None
    span: ir.Span
    test_last: bool = False
    own: ir.Symbol | None = None
    """The variable that the loop itself declares."""


def parts_of_for(statement: ir.For) -> LoopParts:
    """Without the declaration before the loop."""
    own = statement.init.symbol if isinstance(statement.init, ir.Declare) else None
    return LoopParts(statement.condition, statement.body, statement.increment, statement.span, own=own)
