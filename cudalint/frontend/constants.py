"""Constants of a file by name, for the expressions that users write in annotations and options."""

from __future__ import annotations

from collections.abc import Iterator

from clang.cindex import Cursor, CursorKind

from cudalint.frontend import cursors
from cudalint.frontend.parse import ParsedFile
from cudalint.options.expressions import Expression, ExpressionError, Number, parse_expression

_SCOPES = (
    CursorKind.NAMESPACE,
    CursorKind.LINKAGE_SPEC,
    CursorKind.STRUCT_DECL,
    CursorKind.CLASS_DECL,
    CursorKind.UNEXPOSED_DECL,
)


def constant_named(parsed: ParsedFile, name: str) -> Expression | None:
    """What a macro, a constant variable or an enumerator stands for; None for anything else.

    A macro that is an expression counts as if it stood in parentheses. A name that nothing declares, and that a number
    stands in for, is no constant.
    """
    if name in parsed.stand_ins:
        return None
    found = _definition(parsed, name)
    if found is None:
        return None
    if found.kind == CursorKind.ENUM_CONSTANT_DECL:
        return Number(int(found.enum_value))
    if found.kind != CursorKind.MACRO_DEFINITION:
        value = cursors.evaluate(cursors.from_bindings(found)) if found.type.is_const_qualified() else None
        return Number(int(value)) if value is not None else None
    text = " ".join(token.spelling for token in found.get_tokens())
    try:
        return parse_expression(text.removeprefix(name))
    except ExpressionError:
        return None


def _definition(parsed: ParsedFile, name: str) -> Cursor | None:
    """The last definition of a name at file scope, as the preprocessor and the compiler see it; or else the only one
    in the namespaces and classes of this file."""
    found = None
    for cursor in parsed.tu.cursor.get_children():
        if cursor.kind in (CursorKind.MACRO_DEFINITION, CursorKind.VAR_DECL) and cursor.spelling == name:
            found = cursor
        elif cursor.kind == CursorKind.ENUM_DECL:
            found = next((c for c in cursor.get_children() if c.spelling == name), found)
    if found is not None:
        return found
    scoped = list(_in_scopes(parsed.tu.cursor, parsed.tu.spelling, name))
    return scoped[0] if len(scoped) == 1 else None


def _in_scopes(outer: Cursor, path: str, name: str) -> Iterator[Cursor]:
    for scope in outer.get_children():
        if scope.kind in _SCOPES and scope.location.file and scope.location.file.name == path:
            for cursor in scope.get_children():
                if cursor.kind == CursorKind.VAR_DECL and cursor.spelling == name:
                    yield cursor
                elif cursor.kind == CursorKind.ENUM_DECL:
                    yield from (c for c in cursor.get_children() if c.spelling == name)
            yield from _in_scopes(scope, path, name)
