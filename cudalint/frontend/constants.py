"""Constants of a file by name, for the expressions that users write in annotations and options."""

from __future__ import annotations

from clang.cindex import Cursor, CursorKind

from cudalint.expressions import ExpressionError, NameRef, Number, parse_expression
from cudalint.frontend import cursors
from cudalint.frontend.parse import ParsedFile

_MAX_STEPS = 8
"""Macros that name macros are followed so far."""


def constant_named(parsed: ParsedFile, name: str) -> int | None:
    """The value of a macro that is a number, of a constant variable or of an enumerator; None for anything else."""
    for _ in range(_MAX_STEPS):
        found = _definition(parsed, name)
        if found is None:
            return None
        if found.kind == CursorKind.ENUM_CONSTANT_DECL:
            return int(found.enum_value)
        if found.kind != CursorKind.MACRO_DEFINITION:
            value = cursors.evaluate(cursors.from_bindings(found))
            return int(value) if value is not None else None
        text = " ".join(token.spelling for token in found.get_tokens())
        try:
            expression = parse_expression(text.removeprefix(name))
        except ExpressionError:
            return None
        if isinstance(expression, Number):
            return int(expression.value)
        if not isinstance(expression, NameRef):
            return None
        name = expression.name
    return None


def _definition(parsed: ParsedFile, name: str) -> Cursor | None:
    """The last definition of a name at file scope, as the preprocessor and the compiler see it."""
    kinds = (CursorKind.MACRO_DEFINITION, CursorKind.VAR_DECL)
    found = None
    for cursor in parsed.tu.cursor.get_children():
        if cursor.kind in kinds and cursor.spelling == name:
            found = cursor
        elif cursor.kind == CursorKind.ENUM_DECL:
            found = next((c for c in cursor.get_children() if c.spelling == name), found)
    return found
