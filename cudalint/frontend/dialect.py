"""What nvcc takes and clang does not, spelled so that clang takes it too: as many letters, so that columns stay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cudalint.regexes import regex
from cudalint.source.lines import Lines

# The standard's alignas behind CUDA's attributes: `_Alignas` is the same to clang, by a macro of the prelude.
_LATE_ALIGNAS: Final = regex(rb"(__(?:shared|constant|device)__\s+)alignas\b")
_LATE_ALIGNAS_MACRO: Final = rb"\1_alnas_"
# A launch's brackets with a space before the last one, as formatters of plain C++ leave them: the space goes behind it.
_SPACED_LAUNCH: Final = regex(rb"<<(\s+)<")
_SPACED_LAUNCH_END: Final = regex(rb">>(\s+)>(?=\s*\()")
# And extents in braces without the name of their type: what is put in shifts the rest of the line.
_LAUNCH: Final = regex(rb"<<<[^;]{1,400}?>>>")
_BRACED_EXTENTS: Final = regex(rb"([<,]\s*)(?=\{)")
# Shared memory that is declared elsewhere and has a size all the same: nvcc defines it here (its warning 20044).
_SIZED_EXTERN: Final = regex(rb"\bextern(?=\s+__shared__\b[^;{}=\[]*(?:\[\s*[^\]\s][^;{}=]*)?;)")
# `extern "C"__global__`: to C++11 one token with a suffix of its own, unless a macro has that name, as it has for nvcc.
_JOINED_LINKAGE: Final = regex(rb'\bextern(\s+)("C")(?=__)')
# A carriage return by itself: to clang the end of a line, to all others a blank.
_LONE_RETURN: Final = regex(rb"\r(?!\n)")


def as_clang_takes_it(source: bytes) -> bytes:
    if b"\r" in source:
        source = _LONE_RETURN.sub(b" ", source)
    if b"alignas" in source:
        source = _LATE_ALIGNAS.sub(_LATE_ALIGNAS_MACRO, source)
    if _SPACED_LAUNCH.search(source) or b"<<<" in source:
        source = _SPACED_LAUNCH_END.sub(rb">>>\1", _SPACED_LAUNCH.sub(rb"<<<\1", source))
        source = _LAUNCH.sub(lambda launch: _BRACED_EXTENTS.sub(rb"\1dim3", launch[0]), source)
    if b'"C"__' in source:
        source = _JOINED_LINKAGE.sub(rb"extern\2\1", source)
    if b"__shared__" in source and b"extern" in source:
        source = _SIZED_EXTERN.sub(b" " * len(b"extern"), source)
    return source


# `__shared__ Complex tile[64];` of a class whose constructor does something: by a macro of the prelude a variable of
# another kind, which the front end takes for a shared one.
_SHARED: Final = b"__shared__"
_ENDS: Final = regex(rb"[;{}]")
_CONSTRUCTED_SHARED: Final = b"_shared_in"
_LONGEST_TYPE: Final = 400


def with_constructed_shared(source: bytes, places: Iterable[tuple[int, int]]) -> bytes:
    """The word for shared variables that clang takes with constructors, in front of the names at some places."""
    lines = Lines(source)
    for line, column in places:
        end = lines.offset(line, column) if line <= len(lines) else 0
        start = max(0, end - _LONGEST_TYPE)
        found = source.rfind(_SHARED, start, end)
        if found >= 0 and not _ENDS.search(source, found, end):
            source = source[:found] + _CONSTRUCTED_SHARED + source[found + len(_SHARED) :]
    return source


# `Cast<T>::to<2>(x)`: a member of what depends on a template's arguments is no template without the word for it.
_MEMBER_TEMPLATE: Final = regex(rb"(>\s*::\s*)(?=[A-Za-z_]\w*\s*<[^;{}()<>]*(?:<[^;{}()<>]*>[^;{}()<>]*)*>\s*\()")


def with_template_words(source: bytes, lines: Iterable[int]) -> bytes:
    """The word `template` in front of members that are called with arguments in angle brackets, on some lines: nvcc
    takes them for templates without it. What is put in shifts the rest of the line."""
    found = source.split(b"\n")
    for number in set(lines):
        if 0 < number <= len(found):
            found[number - 1] = _MEMBER_TEMPLATE.sub(rb"\1template ", found[number - 1])
    return b"\n".join(found)
