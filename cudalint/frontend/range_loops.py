"""What a range-based `for` over an array stands for."""

from __future__ import annotations

from typing import Final

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

_INT: Final = ir.Scalar("int", 4, "int")
_BOOL: Final = ir.Scalar("bool", 1, "bool")


def over_array(symbol: ir.Symbol, array: ir.Expr, body: st.Stmt, span: ir.Span) -> st.For:
    """`for (T x : array)` as the loop over positions."""
    assert isinstance(array.type, ir.ArrayType) and array.type.count is not None
    where = array.span
    counter = ir.Symbol("position", _INT, "local", where)
    position = ir.Name(counter, _INT, where)
    element: ir.Expr = ir.Index(array, position, array.type.element, where)
    if isinstance(symbol.type, ir.Scalar) and symbol.type != array.type.element:
        element = ir.Cast(element, symbol.type, False, where)
    return st.For(
        st.Declare(counter, ir.Constant(0, _INT, where), where),
        ir.Binary("<", position, ir.Constant(array.type.count, _INT, where), _BOOL, where),
        ir.Unary("++x", position, _INT, where),
        st.Block((st.Declare(symbol, element, symbol.span), body), body.span),
        span,
    )
