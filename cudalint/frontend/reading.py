"""The text of a file, as clang takes it."""

from __future__ import annotations

from typing import Final

from cudalint.frontend.dialect import as_clang_takes_it
from cudalint.source.lines import Lines
from cudalint.system.disk.regular import read_regular


class SourceError(Exception):
    """A file that cannot be linted at all: one line that names the file, the place and the reason."""


def read_source(path: str) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise SourceError(f"{path}: cannot read it: {error.strerror or error}") from error


_ASCII_ONLY: Final = bytes(range(128)) + b"_" * 128
_MARK: Final = b"\xef\xbb\xbf"
"""The mark of the byte order, which clang skips."""


def checked_text(path: str, source: bytes) -> bytes:
    """The source as clang takes it; where it is not UTF-8, bytes beyond ASCII become `_`, but for the mark in
    front: columns stay the same, and names are names."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(f"{path}:1:1: UTF-16 text; save the file as UTF-8")
    nul = source.find(b"\0")
    if nul >= 0:
        line, column = Lines(source).position(nul)
        raise SourceError(f"{path}:{line}:{column}: not a text file (it has a NUL byte here)")
    source = as_clang_takes_it(source)
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        mark = _MARK if source.startswith(_MARK) else b""
        return mark + source.removeprefix(_MARK).translate(_ASCII_ONLY)
    return source
