"""Hypothesis strategies for expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from reference_c.ctypes_ import CHAR, FLOAT, INT, LONG, SHORT, UCHAR, UINT, ULONG, USHORT, CType
from reference_c.expressions import Binary, Cast, Conditional, Expr, Extremum, Lit, Real, Unary, Var

CAST_TYPES = (INT, UINT, LONG, ULONG, SHORT, USHORT, CHAR, UCHAR)
_OPERATORS = (
    *("+", "-", "*", "+", "-", "*", "/", "%", "/", "%", "<<", ">>", "&", "|", "^"),
    *("<", "<=", ">", ">=", "==", "!=", "&&", "||"),
)
_FORMS = (*["binary"] * 14, "unary", *["cast"] * 3, "extremum", *["conditional"] * 2, "float")
_LITERALS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256, 1000, 65535)


@dataclass(frozen=True)
class Shape:
    """What expressions are made of."""

    variables: Sequence[Var]
    types: Sequence[CType] = CAST_TYPES
    literal_types: Sequence[CType] = (INT, INT, UINT, LONG, ULONG)


@st.composite
def expressions(draw: st.DrawFn, shape: Shape, depth: int = 4) -> Expr:
    """Expressions over the shape's variables, with every operator that the evaluator knows."""
    return _expression(draw, shape, depth)


def _expression(draw: st.DrawFn, shape: Shape, depth: int) -> Expr:
    if depth == 0 or draw(st.integers(0, 7)) == 0:
        return _leaf(draw, shape)
    form = draw(st.sampled_from(_FORMS))
    if form == "binary":
        return _binary(draw, shape, depth)
    if form == "conditional":
        parts = [_expression(draw, shape, depth - 1) for _ in range(3)]
        return Conditional(*parts)
    if form == "extremum":
        a, b = _expression(draw, shape, depth - 1), _expression(draw, shape, depth - 1)
        return Extremum(draw(st.sampled_from(("min", "max"))), a, b)
    inner = _expression(draw, shape, depth - 1)
    if form == "unary":
        return Unary(draw(st.sampled_from(("-", "~", "!"))), inner)
    if form == "cast":
        return Cast(draw(st.sampled_from(shape.types)), inner)
    return _through_float(draw, inner)


def _binary(draw: st.DrawFn, shape: Shape, depth: int) -> Expr:
    op = draw(st.sampled_from(_OPERATORS))
    left = _expression(draw, shape, depth - 1)
    if op in ("<<", ">>"):
        amount = draw(st.integers(0, 9))
        right: Expr = Lit(amount, INT)
        if amount == 9:
            right = Binary("&", _expression(draw, shape, depth - 1), Lit(7, INT))
        return Binary(op, left, right)
    if op in ("/", "%") and draw(st.integers(0, 3)):
        return Binary(op, left, Lit(draw(st.sampled_from(_LITERALS[1:])), draw(st.sampled_from((INT, UINT)))))
    return Binary(op, left, _expression(draw, shape, depth - 1))


def _leaf(draw: st.DrawFn, shape: Shape) -> Expr:
    choice = draw(st.integers(0, 2))
    if choice:
        return draw(st.sampled_from(shape.variables))
    number = draw(st.sampled_from(_LITERALS))
    type_ = draw(st.sampled_from(shape.literal_types))
    if type_.signed and draw(st.integers(0, 3)) == 0:
        return Unary("-", Lit(number, type_))
    return Lit(number, type_)


def _through_float(draw: st.DrawFn, inner: Expr) -> Expr:
    """`(int)((float)x * 0.25f)` and the like: truncation toward zero."""
    op = draw(st.sampled_from(("*", "/", "+", "-")))
    factor = Real(draw(st.sampled_from((0.25, 0.5, 1.5, 2.0, 4.0, 32.0))))
    return Cast(draw(st.sampled_from((INT, LONG))), Binary(op, Cast(FLOAT, Cast(INT, inner)), factor))


def blocks() -> st.SearchStrategy[tuple[int, int, int]]:
    """Block shapes of one, two and three dimensions, with whole and partial warps, up to 1024 threads."""
    usual = ((32, 1, 1), (16, 16, 1), (32, 8, 1), (8, 8, 4), (1024, 1, 1), (32, 32, 1), (1, 1, 1), (33, 3, 1))
    rows = st.tuples(st.integers(1, 1024), st.just(1), st.just(1))
    planes = st.tuples(st.integers(1, 40), st.integers(1, 25), st.just(1))
    cubes = st.tuples(st.integers(1, 16), st.integers(1, 8), st.integers(1, 8))
    return st.one_of(st.sampled_from(usual), rows, planes, cubes)
