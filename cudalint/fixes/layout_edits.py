"""The edits that give a shared array another layout: in its declaration, and in the subscripts of every access."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Access, ArrayFacts, KernelFacts, Place
from cudalint.fixes.launch_texts import larger_shared_memory, launch_sites, launch_text
from cudalint.fixes.layouts import Flat, Layout, Padded, Skewed, Swizzled, Transposed, uses_of
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import TextOf, may_have_effect, number_of
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_PRODUCT = regex(r"[\w:.]+(?:\s*\*\s*[\w:.]+)*")
"""What can be divided as it stands."""
_SUM = regex(r"[\w:.]+(?:\s*[-+*/]\s*[\w:.]+)*")
"""What can be added to as it stands."""
_DIRECTIVE = regex(r"^[ \t]*#[ \t]*(?:define|pragma)\b(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_ADDRESS = regex(r"(?<!&)&\s*\(*\s*\Z")
_ATOMIC = regex(r"\batomic\w+\s*\(\s*&\s*\Z")


class _Spelled(Struct, frozen=True):
    """A use of the array in the text: the offsets of its name, and of each of its subscripts."""

    begin: int
    end: int
    subscripts: tuple[tuple[int, int], ...]


def layout_edits(layout: Layout, array: Access, kernels: Sequence[KernelFacts], text_of: TextOf) -> tuple[Edit, ...]:
    """All edits. Raises an `Obstacle` where one of them is not plain, or not right in one of the kernels and
    instantiations that have the array."""
    declaration = array.declaration
    if declaration is None:
        raise Obstacle(f"the declaration of `{array.array}` is not in sight")
    is_dynamic = is_of_the_launch(declaration)
    owners = [(kernel, accesses) for kernel in kernels if (accesses := _accesses_of(declaration, kernel))]
    for kernel, accesses in owners:
        if not (uses_of(kernel, accesses[0]) if is_dynamic else _is_right_in(layout, kernel, accesses)):
            raise Obstacle(f"it would not hold for `{kernel.instantiation}`, which has the array, too")
    source = code_text(text_of(declaration.place.path))
    uses = _plain_uses(declaration, source)
    _require_known(uses, [access for _, accesses in owners for access in accesses], source)
    if is_dynamic:
        edits = list(_of_launches(layout, declaration, [kernel for kernel, _ in owners], text_of))
    else:
        edits = list(_of_declaration(layout, declaration, text_of))
    if not isinstance(layout, Padded):
        edits += [edit for use in uses for edit in _of_use(layout, use, declaration, source)]
    return tuple(edits)


def _accesses_of(declaration: ArrayFacts, kernel: KernelFacts) -> list[Access]:
    return [
        access
        for access in kernel.accesses
        if access.declaration is not None
        and (access.declaration.name, access.declaration.place) == (declaration.name, declaration.place)
    ]


def _is_right_in(layout: Layout, kernel: KernelFacts, accesses: Sequence[Access]) -> bool:
    """Whether the layout has a place of its own for each element that this kernel's launches touch, which may
    be of an array of other extents."""
    declaration = accesses[0].declaration
    uses = uses_of(kernel, accesses[0])
    return declaration is not None and uses is not None and layout.keeps_distinct(uses, declaration)


def is_of_the_launch(declaration: ArrayFacts) -> bool:
    """Whether every launch says how many bytes there are: a larger array would need more of all of them, wherever they
    are worked out."""
    return declaration.total_bytes is None or not all(declaration.extents)


def _of_launches(
    layout: Layout, declaration: ArrayFacts, owners: Sequence[KernelFacts], text_of: TextOf
) -> Iterator[Edit]:
    """What an array grows by whose size every launch says. Its index moves by as many elements as rows have been padded
    before it, whatever its rows are, and so does its end."""
    every, more = _growth(layout)
    if declaration.extents != (0,):
        raise Obstacle(f"how many bytes `{declaration.name}` has is said by every launch")
    if any(_is_other(access, declaration) for kernel in owners for access in kernel.accesses):
        raise Obstacle(f"`{declaration.name}` shares what every launch asks for with another array")
    for site in dict.fromkeys(site for kernel in owners for site in launch_sites(kernel)):
        source = code_text(text_of(site.path))
        name = launch_text(site, source).name.partition("<")[0].rpartition("::")[2].strip()
        if re.search(rf"\bcudaFuncSetAttribute\s*\(\s*[^,;]*\b{name}\b", source.code):
            raise Obstacle(f"how many bytes `{declaration.name}` may have is said elsewhere, too")
        yield larger_shared_memory(site, every, more, text_of)


def _is_other(access: Access, declaration: ArrayFacts) -> bool:
    """Whether an access is one of another array in the same memory, or may be."""
    other = access.declaration
    if access.space not in ("shared", "generic"):
        return False
    if other is None:
        return True
    return is_of_the_launch(other) and (other.name, other.place) != (declaration.name, declaration.place)


def _of_declaration(layout: Layout, declaration: ArrayFacts, text_of: TextOf) -> Iterator[Edit]:
    """What an array grows by is spelled in the terms of its declaration, which other template arguments and macros
    change."""
    places = declaration.extent_places
    if isinstance(layout, Swizzled) or (isinstance(layout, Flat) and isinstance(layout.matrix, Swizzled)):
        _require_numbers(places[-2:], text_of)
        return
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
            yield _padded(_plain(place), more, text_of)


def _require_numbers(places: Sequence[Place | None], text_of: TextOf) -> None:
    """A swizzle is right for rows whose length is a power of two, which other template arguments need not be."""
    for place in places:
        extent, source = _text(place, text_of), code_text(text_of(_plain(place).path))
        if any(number_of(word, source) is None for word in re.findall(r"[\w:]+", extent)):
            raise Obstacle("a swizzle needs rows whose length is a number, and not a name for one that may change")


def _larger(place: Place, layout: Layout, text_of: TextOf) -> Iterator[Edit]:
    """Of a flat array: `N + N / 32`, which has room for a last row that is not full, too."""
    if isinstance(layout, Padded):
        yield _padded(place, layout.padding[0], text_of)
        return
    every, more = _growth(layout)
    extent = _text(place, text_of)
    factor = extent if _PRODUCT.fullmatch(extent) else f"({extent})"
    yield _appended(place, f" + {factor} / {every}" + (f" * {more}" if more > 1 else ""), text_of)


def _growth(layout: Layout) -> tuple[int, int]:
    """After how many elements of a flat array how many more are put."""
    if isinstance(layout, Skewed):
        return layout.every, 1
    if isinstance(layout, Flat) and isinstance(layout.matrix, Padded):
        return layout.pitch, layout.matrix.padding[-1]
    raise Obstacle("the array's size is not spelled in terms of its rows")


_LAST_NUMBER = regex(r"\s*\+\s*(\d+)\Z")


def _padded(place: Place, more: int, text_of: TextOf) -> Edit:
    """Elements added to an extent, and to those that have been added before."""
    extent = _text(place, text_of)
    last = _LAST_NUMBER.search(extent)
    if last is None or not _SUM.fullmatch(extent):
        return _appended(place, f" + {more}", text_of)
    return Edit(place, f"{extent[: last.start(1)]}{int(last[1]) + more}")


def _appended(place: Place, text: str, text_of: TextOf) -> Edit:
    """Something added to an extent."""
    extent = _text(place, text_of)
    if _SUM.fullmatch(extent):
        return Edit(Place(place.path, place.end_line, place.end_column, place.end_line, place.end_column), text)
    return Edit(place, f"({extent}){text}")


def _plain_uses(declaration: ArrayFacts, source: CodeText) -> list[_Spelled]:
    """Whoever takes the array as a whole, a row of it or an address in it, or asks for its size, may rely on how it
    lies: `memset(t, 0, sizeof(t))`, `float *row = t[y]`, `(float4 *)t`, a reference in a call. Its name has to be
    followed by all subscripts wherever it stands, and only an atomic function may take the address of an element."""
    begin, end = source.extent(declaration.place)
    closing = _end_of_block(source, end)
    if closing is None:
        raise Obstacle(f"all functions of the file may use `{declaration.name}`")
    name = re.compile(rf"\b{re.escape(declaration.name)}\b")
    if any(name.search(line) for line in _DIRECTIVE.findall(source.text)):
        raise Obstacle(f"a macro uses `{declaration.name}`")
    found = [_spelled(use, declaration, source) for use in name.finditer(source.code, end, closing)]
    for use in found:
        before = source.code[begin : use.begin]
        if _ADDRESS.search(before) and not _ATOMIC.search(before):
            raise Obstacle(f"line {source.position(use.begin)[0]} takes an address in `{declaration.name}`")
    return found


def _spelled(use: re.Match[str], declaration: ArrayFacts, source: CodeText) -> _Spelled:
    subscripts: list[tuple[int, int]] = []
    at = source.skip(use.end())
    for _ in declaration.extents:
        closed = source.close(at) if source.code[at : at + 1] == "[" else None
        if closed is None:
            line = source.position(use.start())[0]
            raise Obstacle(f"line {line} relies on how `{declaration.name}` lies: it does not name a single element")
        subscripts.append((at + 1, closed - 1))
        at = source.skip(closed)
    return _Spelled(use.start(), use.end(), tuple(subscripts))


def _require_known(uses: Sequence[_Spelled], accesses: Sequence[Access], source: CodeText) -> None:
    """What the text spells and what was evaluated is the same: nothing is said of code that no instantiation has, and
    nothing known of what a macro or a reference hides."""
    declaration = accesses[0].declaration
    extents = {access.place: source.extent(access.place) for access in accesses}
    spelled = {extent: [use for use in uses if extent[0] <= use.begin < extent[1]] for extent in extents.values()}
    known = {use for own in spelled.values() for use in own}
    in_sight = all(declaration is not None and place.path == declaration.place.path for place in extents)
    if not in_sight or not all(spelled.values()):
        raise Obstacle("the array goes by another name where it is accessed")
    unknown = set(uses) - known
    if unknown:
        line = source.position(min(use.begin for use in unknown))[0]
        raise Obstacle(f"what line {line} does with the array was not evaluated")


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
        raise Obstacle("the array's extents are not spelled where it is declared")
    return place


def _text(place: Place | None, text_of: TextOf) -> str:
    place = _plain(place)
    source = code_text(text_of(place.path))
    return _decoded(source, *source.extent(place))


def _of_use(layout: Layout, use: _Spelled, declaration: ArrayFacts, source: CodeText) -> Iterator[Edit]:
    before = tuple(_decoded(source, *extent) for extent in use.subscripts)
    if any(map(may_have_effect, before)):
        line = source.position(use.begin)[0]
        raise Obstacle(f"a subscript at line {line} does something, and may not be spelled twice")
    for extent, old, new in zip(use.subscripts, before, layout.spelled(before), strict=True):
        if new != old:
            yield Edit(Place(declaration.place.path, *source.position(extent[0]), *source.position(extent[1])), new)


def _decoded(source: CodeText, begin: int, end: int) -> str:
    return source.text[begin:end].encode("latin-1").decode("utf-8", "surrogateescape").strip()
