"""Thin access to libclang as a library: its one index, and what its Python bindings leave out.

Loading the library takes some 10 ms; it happens on the first call, not on import. Cursors have a
module of their own, `cudalint.frontend.cursors`.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from functools import cache
from typing import Any

from clang import cindex
from clang.cindex import Index, SourceRange, TranslationUnit

_STACK = 64 << 20


class _RangeList(ctypes.Structure):
    """CXSourceRangeList."""

    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(SourceRange)))


@cache
def _library() -> ctypes.CDLL:
    """The loaded libclang, with the functions that the bindings leave out declared."""
    lib: ctypes.CDLL = cindex.conf.lib

    def declare(name: str, result: Any, *arguments: Any) -> None:
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments
        if result is cindex._CXString:
            function.errcheck = cindex._CXString.from_result

    declare("clang_getClangVersion", cindex._CXString)
    declare("clang_getSkippedRanges", ctypes.POINTER(_RangeList), TranslationUnit, cindex.File)
    declare("clang_disposeSourceRangeList", None, ctypes.POINTER(_RangeList))
    return lib


@cache
def index() -> Index:
    """The one index of this process. Walks leave out what comes from the precompiled prelude: bringing back its
    declarations costs more than everything else that is done with a small file."""
    _make_room()
    return Index.create(excludeDecls=True)


def _make_room() -> None:
    """Room on the stack for deeply nested code: libclang's own threads have 8 MB, which 2,000 brackets take. Linux lets
    the stack of the first thread grow as far as its limit allows, also if that is raised later."""
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = _STACK if hard == resource.RLIM_INFINITY else min(_STACK, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    if soft == resource.RLIM_INFINITY or wanted == _STACK:
        os.environ["LIBCLANG_NOTHREADS"] = "1"


@cache
def version() -> str:
    """The full name of the library's version."""
    text: str = _library().clang_getClangVersion()
    return text


def skipped_ranges(unit: TranslationUnit, path: str) -> tuple[tuple[int, int], ...]:
    """First and last line of each piece of a file that a preprocessor condition leaves out.

    The lines are those of the directives that start and end the piece.
    """
    lib = _library()
    pointer = lib.clang_getSkippedRanges(unit, unit.get_file(path))
    try:
        ranges = pointer.contents
        return tuple([(ranges.ranges[i].start.line, ranges.ranges[i].end.line) for i in range(ranges.count)])
    finally:
        lib.clang_disposeSourceRangeList(pointer)


def lines_with_errors(unit: TranslationUnit, path: str) -> frozenset[int]:
    """The lines of a file with errors, and those for which something was made that has errors."""
    found: set[int] = set()
    for diagnostic in unit.diagnostics:
        if diagnostic.severity >= cindex.Diagnostic.Error:
            places = [each.location for each in (diagnostic, *diagnostic.children)]
            found.update(place.line for place in places if place.file is not None and place.file.name == path)
    return frozenset(found)
