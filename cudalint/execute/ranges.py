"""What a range-based `for` stands for."""

from __future__ import annotations

from typing import Final

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

_INT: Final = ir.Scalar("int", 4, "int")
_BOOL: Final = ir.Scalar("bool", 1, "bool")


def as_statement(n: st.RangeFor) -> st.Stmt:
    """The loop over positions for an array; for what else there is a loop that data ends."""
    where, array = n.span, ir.referent(n.range.type)
    if not isinstance(array, ir.ArrayType) or array.count is None:
        reason = "the elements of a range that is no array"
        unknown = ir.UnknownExpr(reason, (), n.symbol.type, where)
        body = st.Block((st.Declare(n.symbol, unknown, n.symbol.span), n.body), n.body.span)
        return st.While(ir.UnknownExpr(reason, (n.range,), _BOOL, where), body, where)
    whole = ir.Symbol("range", ir.PointerType(array, reference=True), "local", where)
    counter = ir.Symbol("position", _INT, "local", where)
    position = ir.Name(counter, _INT, where)
    element: ir.Expr = ir.Index(ir.Name(whole, array, where), position, array.element, where)
    if isinstance(n.symbol.type, ir.Scalar) and n.symbol.type != array.element:
        element = ir.Cast(element, n.symbol.type, False, where)
    loop = st.For(
        st.Declare(counter, ir.Constant(0, _INT, where), where),
        ir.Binary("<", position, ir.Constant(array.count, _INT, where), _BOOL, where),
        ir.Unary("++x", position, _INT, where),
        st.Block((st.Declare(n.symbol, element, n.symbol.span), n.body), n.body.span),
        where,
    )
    return st.Block((st.Declare(whole, n.range, where), loop), where)
