"""Lambdas and what they capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.ir import nodes as ir
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.frontend.lower.context import Context

_DEFAULT_CAPTURE: Final = regex(r"\[\s*([&=])\s*[,\]]")
_USES: Final = frozenset({kinds.DECL_REF_EXPR})
_CALL_OPERATORS: Final = frozenset({kinds.CXX_METHOD, kinds.FUNCTION_TEMPLATE})
_VARIABLES: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})


class Lambdas:
    def __init__(self, context: Context) -> None:
        self._context = context

    def lower(self, cursor: Cursor) -> ir.Expr:
        context = self._context
        call_operator = _call_operator(cursor)
        if call_operator is None:
            type_ = context.types.of(cursor)
            return ir.UnknownExpr("a lambda without a body", (), type_, context.sources.where(cursor))
        captures = self.captures(cursor)
        function = context.functions.ref(call_operator)
        context.functions.note_captures(call_operator, captures)
        return ir.Lambda(function, captures, context.types.of(cursor), context.sources.where(cursor))

    def captures(self, cursor: Cursor) -> tuple[ir.Capture, ...]:
        """Explicit captures first, then what the default capture takes because the body uses it."""
        children = cursors.children(cursor)
        captured: dict[int | None, ir.Capture] = {}
        for child in children:
            if child.kind == kinds.VARIABLE_REF:
                declaration = cursors.referenced(child)
                captured[declaration.handle] = self._explicit(cursor, child, declaration)
        by_reference = self._default_is_reference(cursor)
        for declaration in self._used_outer_variables(cursor, children):
            if declaration.handle not in captured:
                symbol = self._context.symbols.symbol(declaration)
                captured[declaration.handle] = ir.Capture(symbol, by_reference)
        return tuple(captured.values())

    def _explicit(self, cursor: Cursor, reference: Cursor, declaration: Cursor) -> ir.Capture:
        symbol = self._context.symbols.symbol(declaration)
        if self._is_inside(cursor, declaration):  # An init-capture declares the variable that it captures.
            symbol.initializer = lambda: self._context.expressions.initializer(declaration)
        position = self._context.sources.start(reference)
        before = position.file.text[: position.offset].rstrip()
        return ir.Capture(symbol, before.endswith("&"))

    def _default_is_reference(self, cursor: Cursor) -> bool:
        for file, offset in self._context.sources.readings(cursor):
            match = _DEFAULT_CAPTURE.match(file.text, offset)
            if match is not None:
                return match.group(1) == "&"
        return True

    def _used_outer_variables(self, cursor: Cursor, children: list[Cursor]) -> list[Cursor]:
        """Local variables of the enclosing functions that the body names."""
        found: dict[int | None, Cursor] = {}
        for child in children:
            if child.kind != kinds.COMPOUND_STMT:
                continue
            for use in cursors.descendants(child, _USES):
                declaration = cursors.referenced(use)
                if declaration.kind in _VARIABLES and declaration.handle not in found:
                    found[declaration.handle] = declaration
        return [declaration for declaration in found.values() if self._is_outer_local(cursor, declaration)]

    def _is_outer_local(self, cursor: Cursor, declaration: Cursor) -> bool:
        if declaration.kind == kinds.VAR_DECL and cursors.has_global_storage(declaration):
            return False
        return not self._is_inside(cursor, declaration)

    def _is_inside(self, cursor: Cursor, declaration: Cursor) -> bool:
        whole = cursors.extent(cursor)
        return bool(whole.begin <= cursors.location(declaration).encoded <= whole.end)


def _call_operator(cursor: Cursor) -> Cursor | None:
    closure = cursors.type_declaration(cursors.type_of(cursor))
    for child in cursors.children(closure):
        if child.kind in _CALL_OPERATORS and cursors.spelling(child) == "operator()":
            return child
    return None
