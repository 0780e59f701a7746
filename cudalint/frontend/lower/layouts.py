"""Why nobody knows how large a record is, although clang says something: a base class or the type of a field is
declared nowhere, and was left out, or something was made up for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor, CxType
from cudalint.frontend.diagnoses import Problem
from cudalint.frontend.lower.sources import Sources
from cudalint.ir import nodes as ir
from cudalint.regexes import regex

_NAME: Final = regex(r"(?:(?:struct|class|typename|template|const|volatile|enum)\s+)*(?:::)?\s*([\w:]+)")
_ARRAYS: Final = frozenset({kinds.T_CONSTANT_ARRAY, kinds.T_INCOMPLETE_ARRAY, kinds.T_VARIABLE_ARRAY})
_ELSEWHERE: Final = frozenset({kinds.T_POINTER, kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE})


class Layouts:
    def __init__(self, problems: Sequence[Problem], known: Collection[str], sources: Sources) -> None:
        """`known` are the names of undeclared types that say how these are laid out."""
        self._sources = sources
        self._made_up = frozenset(problem.name for problem in problems if problem.kind == "guessed").difference(known)
        self._bases = [(problem.path, problem.line) for problem in problems if problem.error == "no-class"]

        self.may_have_gaps = bool(self._made_up or self._bases)

    def gap(self, declaration: Cursor, fields: Sequence[tuple[Cursor, ir.Type]]) -> str:
        """What is missing; nothing where all is known. `fields` are the record's own, with their types."""
        if self._bases and self._has_no_base(declaration):
            return "nothing declares its base class"
        template = cursors.specialized_template(declaration)
        of_template = cursors.children(template) if kinds.is_declaration(template.kind) else []
        for child in cursors.children(declaration) or of_template:
            if child.kind == kinds.CXX_BASE_SPECIFIER and self._is_made_up(cursors.type_of(child)):
                return f"nothing declares its base class `{_name(cursors.type_of(child))}`"
        for cursor, type_ in fields:
            declared = cursors.type_of(cursor)
            if self._is_made_up(declared):
                return f"nothing declares the type of its field `{cursors.spelling(cursor)}`"
            if isinstance(element := _element(type_), ir.RecordType) and element.unsized:
                return f"nobody knows the size of its field `{cursors.spelling(cursor)}`: {element.unsized}"
        return ""

    def _is_made_up(self, declared: CxType) -> bool:
        """Whether the type of a field, or of its elements, is a stand-in."""
        if not self._made_up:
            return False
        while declared.kind in _ARRAYS:
            declared = cursors.array_element_type(declared)
        if declared.kind in _ELSEWHERE or _name(declared) not in self._made_up:
            return False
        return not self._sources.is_user_code(cursors.type_declaration(declared))

    def _has_no_base(self, declaration: Cursor) -> bool:
        """Whether clang dropped a base class between the name of a record and what it declares first."""
        span = self._sources.span(declaration)
        inner = [child for child in cursors.children(declaration) if child.kind != kinds.CXX_BASE_SPECIFIER]
        end = self._sources.span(inner[0]).line if inner else span.end_line
        first = self._sources.name_span(declaration).line
        return any(first <= line <= end for path, line in self._bases if self._sources.is_shown_as(path, span.path))


def _name(type_: CxType) -> str:
    match = _NAME.match(cursors.type_spelling(type_))
    return match[1] if match is not None else ""


def _element(type_: ir.Type) -> ir.Type:
    while isinstance(type_, ir.ArrayType):
        type_ = type_.element
    return type_
