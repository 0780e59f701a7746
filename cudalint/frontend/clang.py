"""Thin access to libclang: what its Python bindings of release 18 lack or do slowly.

The library exports more than the bindings declare (operator kinds, constant evaluation, skipped
preprocessor ranges), so this module declares the rest with ctypes. Loading the library takes some
10 ms; it happens on the first call, not on import.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

from clang import cindex
from clang.cindex import Cursor, Index, SourceLocation, SourceRange, TranslationUnit

_CONTINUE: Final = 1

_UNARY_OPERATORS: Final = ("", "p++", "p--", "++", "--", "&", "*", "+", "-", "~", "!")
"""By CXUnaryOperatorKind; the postfix forms are told apart from the prefix ones by a `p`."""

_EVALUATED_INT: Final = 1
_EVALUATED_FLOAT: Final = 2


class _RangeList(ctypes.Structure):
    """CXSourceRangeList."""

    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(SourceRange)))


_VISITOR: Final = ctypes.CFUNCTYPE(ctypes.c_int, Cursor, Cursor, ctypes.py_object)


@cache
def library() -> ctypes.CDLL:
    """The loaded libclang, with the functions that the bindings leave out declared."""
    lib: ctypes.CDLL = cindex.conf.lib

    def declare(name: str, result: Any, *arguments: Any) -> None:
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments

    declare("clang_getCursorBinaryOperatorKind", ctypes.c_int, Cursor)
    declare("clang_getCursorUnaryOperatorKind", ctypes.c_int, Cursor)
    declare("clang_getBinaryOperatorKindSpelling", cindex._CXString, ctypes.c_int)
    declare("clang_getClangVersion", cindex._CXString)
    declare("clang_Cursor_Evaluate", ctypes.c_void_p, Cursor)
    declare("clang_EvalResult_getKind", ctypes.c_int, ctypes.c_void_p)
    declare("clang_EvalResult_getAsLongLong", ctypes.c_longlong, ctypes.c_void_p)
    declare("clang_EvalResult_isUnsignedInt", ctypes.c_uint, ctypes.c_void_p)
    declare("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong, ctypes.c_void_p)
    declare("clang_EvalResult_getAsDouble", ctypes.c_double, ctypes.c_void_p)
    declare("clang_EvalResult_dispose", None, ctypes.c_void_p)
    declare("clang_Location_isFromMainFile", ctypes.c_int, SourceLocation)
    declare("clang_getSkippedRanges", ctypes.POINTER(_RangeList), TranslationUnit, cindex.File)
    declare("clang_disposeSourceRangeList", None, ctypes.POINTER(_RangeList))
    return lib


@cache
def index() -> Index:
    """The one index of this process; translation units keep it alive anyway."""
    library()
    return Index.create()


@cache
def version() -> str:
    """The full name of the library's version."""
    text: str = library().clang_getClangVersion()
    return text


def children(cursor: Cursor) -> list[Cursor]:
    """The direct children, some three times as fast as `Cursor.get_children`."""
    found: list[Cursor] = []
    append = found.append

    def visit(child: Cursor, _parent: Cursor, _data: object) -> int:
        append(child)
        return _CONTINUE

    _visit_children()(cursor, _VISITOR(visit), None)
    unit = cursor._tu
    for child in found:
        child._tu = unit
    return found


@cache
def _visit_children() -> Any:
    """`clang_visitChildren` with a callback type that does not go through the bindings' registry."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_uint, Cursor, _VISITOR, ctypes.py_object)
    return prototype(("clang_visitChildren", library()))


@cache
def _binary_spelling(kind: int) -> str:
    spelling: str = library().clang_getBinaryOperatorKindSpelling(kind)
    return spelling


def binary_operator(cursor: Cursor) -> str:
    """The operator of a binary or compound assignment expression, such as `+`, `<<=` or `,`."""
    return _binary_spelling(library().clang_getCursorBinaryOperatorKind(cursor))


def unary_operator(cursor: Cursor) -> str:
    """The operator of a unary expression; `p++` and `p--` are the postfix forms, `""` means another."""
    kind: int = library().clang_getCursorUnaryOperatorKind(cursor)
    return _UNARY_OPERATORS[kind] if kind < len(_UNARY_OPERATORS) else ""


def evaluate(cursor: Cursor) -> int | float | None:
    """The constant that clang folds an expression or a variable to, or None where it is not one."""
    lib = library()
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = lib.clang_EvalResult_getKind(result)
        if kind == _EVALUATED_FLOAT:
            return float(lib.clang_EvalResult_getAsDouble(result))
        if kind != _EVALUATED_INT:
            return None
        if lib.clang_EvalResult_isUnsignedInt(result):
            return int(lib.clang_EvalResult_getAsUnsigned(result))
        return int(lib.clang_EvalResult_getAsLongLong(result))
    finally:
        lib.clang_EvalResult_dispose(result)


def is_from_main_file(cursor: Cursor) -> bool:
    """Whether the cursor starts in the file that was named, rather than in an included one."""
    return bool(library().clang_Location_isFromMainFile(cursor.location))


def skipped_ranges(unit: TranslationUnit, path: str) -> tuple[tuple[int, int], ...]:
    """First and last line of each piece of a file that a preprocessor condition leaves out.

    The lines are those of the directives that start and end the piece.
    """
    lib = library()
    pointer = lib.clang_getSkippedRanges(unit, unit.get_file(path))
    try:
        ranges = pointer.contents
        return tuple((ranges.ranges[i].start.line, ranges.ranges[i].end.line) for i in range(ranges.count))
    finally:
        lib.clang_disposeSourceRangeList(pointer)
