"""The edits that give a shared array another layout: in its declaration, and in the subscripts of every access."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cudalint.diagnostics import Edit
from cudalint.facts import Access, ArrayFacts, KernelFacts, Place
from cudalint.remedies.layouts import Flat, Layout, Padded, Skewed, Transposed
from cudalint.rulekit import array_key
from cudalint.source.code import CodeText, code_text

_EFFECT = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--|\w\s*\(")
"""What must not be evaluated twice: assignments, and calls that may have an effect."""
_PRODUCT = re.compile(r"[\w:.]+(?:\s*\*\s*[\w:.]+)*")
"""What can be divided as it stands."""
_SUM = re.compile(r"[\w:.]+(?:\s*[-+*/]\s*[\w:.]+)*")
"""What can be added to as it stands."""
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:define|pragma)\b(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_ADDRESS = re.compile(r"(?<!&)&\s*\(*\s*\Z")
_ATOMIC = re.compile(r"\batomic\w+\s*\(\s*&\s*\Z")
TextOf = Callable[[str], str]


class _NotPlain(Exception):
    """Something of it is not spelled where it could be changed."""


def layout_edits(layout: Layout, array: Access, kernel: KernelFacts, text_of: TextOf) -> tuple[Edit, ...]:
    """All edits, or none where one of them is not plain."""
    if array.declaration is None or is_of_the_launch(array.declaration):
        return ()
    try:
        _require_plain_uses(array.declaration, code_text(text_of(array.declaration.place.path)))
        edits = list(_of_declaration(layout, array.declaration, text_of))
        if not isinstance(layout, Padded):
            edits += _of_accesses(layout, array, kernel, text_of)
    except _NotPlain:
        return ()
    return tuple(edits)


def is_of_the_launch(declaration: ArrayFacts) -> bool:
    """Whether every launch says how many bytes there are: a larger array would need more of all of them, wherever they
    are worked out."""
    return declaration.total_bytes is None or not all(declaration.extents)


def _of_declaration(layout: Layout, declaration: ArrayFacts, text_of: TextOf) -> Iterator[Edit]:
    """What an array grows by is spelled in the terms of its declaration, which other template arguments and macros
    change."""
    places = declaration.extent_places
    if isinstance(layout, Transposed):
        row, column = places[-2:]
        yield from (Edit(_plain(row), _text(column, text_of)), Edit(_plain(column), _text(row, text_of)))
        return
    if len(places) == 1:
        if layout.elements > declaration.extents[0]:
            yield from _larger(_plain(places[0]), layout, text_of)
        return
    padding = layout.padding if isinstance(layout, Padded) else (0,) * len(places)
    for more, place in zip(padding, places, strict=True):
        if more:
            yield _appended(_plain(place), f" + {more}", text_of)


def _larger(place: Place, layout: Layout, text_of: TextOf) -> Iterator[Edit]:
    """Of a flat array: `N + N / 32`, which has room for a last row that is not full, too."""
    if isinstance(layout, Padded):
        yield _appended(place, f" + {layout.padding[0]}", text_of)
        return
    if isinstance(layout, Skewed):
        every, more = layout.every, 1
    elif isinstance(layout, Flat) and isinstance(layout.matrix, Padded):
        every, more = layout.pitch, layout.matrix.padding[-1]
    else:
        raise _NotPlain
    extent = _text(place, text_of)
    factor = extent if _PRODUCT.fullmatch(extent) else f"({extent})"
    yield _appended(place, f" + {factor} / {every}" + (f" * {more}" if more > 1 else ""), text_of)


def _appended(place: Place, text: str, text_of: TextOf) -> Edit:
    """Something added to an extent."""
    extent = _text(place, text_of)
    if _SUM.fullmatch(extent):
        return Edit(Place(place.path, place.end_line, place.end_column, place.end_line, place.end_column), text)
    return Edit(place, f"({extent}){text}")


def _require_plain_uses(declaration: ArrayFacts, source: CodeText) -> None:
    """Whoever takes the array as a whole, a row of it or an address in it, or asks for its size, may rely on how it
    lies: `memset(t, 0, sizeof(t))`, `float *row = t[y]`, `(float4 *)t`, a reference in a call. Its name has to be
    followed by all subscripts wherever it stands, and only an atomic function may take the address of an element."""
    begin, end = source.extent(declaration.place)
    closing = _end_of_block(source, end)
    if closing is None:
        raise _NotPlain  # All functions of the file may use it.
    name = re.compile(rf"\b{re.escape(declaration.name)}\b")
    if any(name.search(line) for line in _DIRECTIVE.findall(source.text)):
        raise _NotPlain
    for use in name.finditer(source.code, begin, closing):
        if begin <= use.start() < end:
            continue
        at = source.skip(use.end())
        for _ in declaration.extents:
            closed = source.close(at) if source.code[at : at + 1] == "[" else None
            if closed is None:
                raise _NotPlain
            at = source.skip(closed)
        before = source.code[begin : use.start()]
        if _ADDRESS.search(before) and not _ATOMIC.search(before):
            raise _NotPlain


def _end_of_block(source: CodeText, offset: int) -> int | None:
    """Where the block ends in which an offset is, None outside of all."""
    depth = 0
    for at in range(offset, len(source.code)):
        depth += (source.code[at] == "{") - (source.code[at] == "}")
        if depth < 0:
            return at
    return None


def _plain(place: Place | None) -> Place:
    if place is None:
        raise _NotPlain
    return place


def _text(place: Place | None, text_of: TextOf) -> str:
    place = _plain(place)
    source = code_text(text_of(place.path))
    return _decoded(source, *source.extent(place))


def _of_accesses(layout: Layout, array: Access, kernel: KernelFacts, text_of: TextOf) -> Iterator[Edit]:
    assert array.declaration is not None
    accesses = [access for access in kernel.accesses if array_key(access) == array_key(array)]
    if any(access.inlined_from or access.bytes != array.declaration.element_bytes for access in accesses):
        raise _NotPlain  # A function is called with other arrays too, and neighbours have to stay neighbours.
    for place in sorted({access.place for access in accesses}):
        yield from _of_access(layout, place, array.declaration, code_text(text_of(place.path)))


def _of_access(layout: Layout, place: Place, declaration: ArrayFacts, source: CodeText) -> Iterator[Edit]:
    begin, end = source.extent(place)
    named = list(re.finditer(rf"\b{re.escape(declaration.name)}\s*(?=\[)", source.code[begin:end]))
    if len(named) != 1:
        raise _NotPlain
    at = begin + named[0].end()
    extents: list[tuple[int, int]] = []
    for _ in declaration.extents:
        closed = source.close(at) if source.code[at : at + 1] == "[" else None
        if closed is None:
            raise _NotPlain
        extents.append((at + 1, closed - 1))
        at = source.skip(closed)
    before = tuple(_decoded(source, *extent) for extent in extents)
    if any(_EFFECT.search(subscript) for subscript in before):
        raise _NotPlain
    for extent, old, new in zip(extents, before, layout.spelled(before), strict=True):
        if new != old:
            yield Edit(Place(place.path, *source.position(extent[0]), *source.position(extent[1])), new)


def _decoded(source: CodeText, begin: int, end: int) -> str:
    return source.text[begin:end].encode("latin-1").decode("utf-8", "surrogateescape").strip()
