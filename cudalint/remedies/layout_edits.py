"""The edits that give a shared array another layout: in its declaration, and in the subscripts of every access."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cudalint.diagnostics import Edit
from cudalint.facts import Access, ArrayFacts, KernelFacts, Place
from cudalint.remedies.layouts import Layout, Padded, Transposed
from cudalint.rulekit import array_key
from cudalint.source.code import CodeText, code_text

_EFFECT = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--|\w\s*\(")
"""What must not be evaluated twice: assignments, and calls that may have an effect."""
TextOf = Callable[[str], str]


class _NotPlain(Exception):
    """Something of it is not spelled where it could be changed."""


def layout_edits(layout: Layout, array: Access, kernel: KernelFacts, text_of: TextOf) -> tuple[Edit, ...]:
    """All edits, or none where one of them is not plain."""
    if array.declaration is None:
        return ()
    try:
        edits = list(_of_declaration(layout, array.declaration, text_of))
        if not isinstance(layout, Padded):
            edits += _of_accesses(layout, array, kernel, text_of)
    except _NotPlain:
        return ()
    return tuple(edits)


def _of_declaration(layout: Layout, declaration: ArrayFacts, text_of: TextOf) -> Iterator[Edit]:
    """Padding is ` + 1` after an extent, whichever way that is spelled."""
    places = declaration.extent_places
    if isinstance(layout, Transposed):
        row, column = places[-2:]
        yield from (Edit(_plain(row), _text(column, text_of)), Edit(_plain(column), _text(row, text_of)))
        return
    padding = layout.padding if isinstance(layout, Padded) else (0,) * len(places)
    if len(places) == 1 and declaration.extents:
        padding = (layout.elements - declaration.extents[0],)
    for more, place in zip(padding, places, strict=True):
        if more:
            line, column_ = _plain(place).end_line, _plain(place).end_column
            yield Edit(Place(_plain(place).path, line, column_, line, column_), f" + {more}")


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
