"""A range-based `for` over an object of a class, as the loop over its iterators that it stands for ([stmt.ranged]).

Of the hidden declarations clang hands over `__range1` and `__begin1` alone, by the initializer of the loop's variable.
Functions that nobody names (`end`, `!=`, `++`) are looked for in the classes, and among what clang made of templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_BOOL: Final = ir.Scalar("bool", 1, "bool")
_METHODS: Final = frozenset({kinds.CXX_METHOD, kinds.CONVERSION_FUNCTION})
_REFERENCES: Final = frozenset({kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE})


def over_iterators(
    context: Context, variable: Cursor, range_: ir.Expr, body: st.Stmt, span: ir.Span
) -> list[st.Stmt] | None:
    """The statements that the loop stands for; None where it is none over a class of the user's."""
    begin = _hidden(variable, "__begin")
    range_variable = _hidden(cursors.initializer(begin), "__range") if begin is not None else None
    if begin is None or range_variable is None:
        return None
    ranged = cursors.type_of(range_variable)
    ranged = cursors.pointee_type(ranged) if ranged.kind in _REFERENCES else ranged
    end = _method(context, cursors.type_declaration(cursors.canonical_type(ranged)), "end", 0)
    element = context.expressions.initializer(variable)
    first = context.expressions.initializer(begin)
    if end is None or element is None or first is None:
        return None
    where = range_.where
    all_ = context.symbols.symbol(range_variable)
    position = context.symbols.symbol(begin)
    behind = ir.Symbol("end", position.type, "local", span)
    at, last = ir.Name(position, position.type, where), ir.Name(behind, position.type, where)
    steps = _steps(context, cursors.type_of(begin), at, last)
    if steps is None:
        return None
    named = ir.Name(all_, ir.referent(all_.type), where)
    more, next_ = steps
    inner = st.Block((st.Declare(context.symbols.symbol(variable), element, span), body), span)
    return [
        st.Declare(all_, range_, span),
        st.Declare(position, first, span),
        st.Declare(behind, _call(context, end, named, (), where), span),
        st.For(None, more, next_, inner, span),
    ]


def _steps(context: Context, iterator: cursors.CxType, at: ir.Name, last: ir.Name) -> tuple[ir.Expr, ir.Expr] | None:
    """Whether there is another element, and the way to it."""
    where = at.where
    if isinstance(at.type, ir.PointerType):
        return ir.Binary("!=", at, last, _BOOL, where), ir.Unary("++x", at, at.type, where)
    record = cursors.type_declaration(cursors.canonical_type(iterator))
    next_ = _method(context, record, "operator++", 0)
    more = _differ(context, record, at, last)
    return (more, _call(context, next_, at, (), where)) if next_ is not None and more is not None else None


def _differ(context: Context, record: Cursor, at: ir.Name, last: ir.Name) -> ir.Expr | None:
    where = at.where
    differs = _method(context, record, "operator!=", 1)
    if differs is not None:
        return _call(context, differs, at, (last,), where)
    same = _method(context, record, "operator==", 1)
    if same is not None:
        return ir.Unary("!", _call(context, same, at, (last,), where), _BOOL, where)
    # What has no comparison of its own is compared as what it can be converted to.
    flag = _method(context, record, "operator bool", 0)
    if flag is None:
        return None
    return ir.Binary("!=", _call(context, flag, at, (), where), _call(context, flag, last, (), where), _BOOL, where)


def _call(
    context: Context, method: Cursor, receiver: ir.Expr, arguments: tuple[ir.Expr, ...], where: ir.Where
) -> ir.Call:
    function = context.functions.ref(method)
    type_ = ir.referent(context.types.lower(cursors.result_type(method)))
    return ir.Call(function.name, function, receiver, None, arguments, type_, where)


def _method(context: Context, record: Cursor, name: str, parameters: int) -> Cursor | None:
    """A member function that has a body, by what it is called; of a class that was made from a template, clang only
    hands over the functions."""
    known = (*cursors.children(record), *context.instantiations)
    for method in known:
        if method.kind not in _METHODS or cursors.spelling(method) != name:
            continue
        if cursors.semantic_parent(method).handle != record.handle or not context.sources.is_user_code(method):
            continue
        if not kinds.is_declaration(cursors.definition(method).kind):
            continue
        if sum(child.kind == kinds.PARM_DECL for child in cursors.children(method)) == parameters:
            return method
    return None


def _hidden(named_in: Cursor, prefix: str) -> Cursor | None:
    """The variable of the loop that an expression, or an initializer, names; written code can't have such names."""
    for name in cursors.descendants(named_in, frozenset({kinds.DECL_REF_EXPR})):
        if cursors.spelling(name).startswith(prefix):
            return cursors.referenced(name)
    return None
