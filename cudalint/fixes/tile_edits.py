"""The edits that let the lanes of a warp store their rows together, through a tile in shared memory.

    for (int j = 0; j < n; j++)            __shared__ float a_tile[8][16][34];
        a[i * n + j] = i * v[j];           const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
                                           const bool is_staged = __activemask() == ~0u && warp < 8;
                                           const auto a_row = i * n;
                                           for (int j_first = 0; j_first < n; j_first += 16) {
                                               const int j_end = j_first + 16 < n ? j_first + 16 : n;
                                               for (int j = j_first; j < j_end; j++) {
                                                   const float a_new = i * v[j];
                                                   if (is_staged) a_tile[warp][j - j_first][lane] = a_new;
                                                   else a[i * n + j] = a_new;
                                               }
                                               if (is_staged) {
                                                   __syncwarp();
                                                   for (int of = lane / 16; of < 32; of += 2) {
                                                       const auto row = __shfl_sync(~0u, a_row, of);
                                                       if (j_first + lane % 16 < j_end)
                                                           a[row + (j_first + lane % 16)] = a_tile[warp][lane % 16][of];
                                                   }
                                                   __syncwarp();
                                               }
                                           }

All is computed in the order in which it was. Warps of which some lanes are elsewhere, and those for which the tile has
no place, do as before. Lanes have to make the same turns, so that they meet at the shuffles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Access, KernelFacts
from cudalint.fixes.counted_loops import (
    Element,
    Loop,
    elements_of,
    lines_of,
    loop_around,
    step_of,
    terms_of,
    with_pragmas,
)
from cudalint.fixes.element_types import POINTS, element_type
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import NAME, changes, free_name, parameter_names, replaced
from cudalint.fixes.uniform_names import UniformNames
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_ROW_OF_BANKS = 128
"""Bytes that shared memory moves at once: rows that one request moves begin in banks of their own."""
_MOST_SHARED = 48 << 10
"""Bytes of shared memory that a block may declare."""
_AHEAD_OF_SEVERAL = ("{", "}", ";")
_CHOICE = regex(r"[?<>=&|^]")


class _Row(Struct, frozen=True):
    """What the turns of a loop go along: an array, and where a thread's own elements in it begin."""

    element: Element
    array: str
    offset: str
    type: str
    moved: str = ""
    """By how much the thread has moved the pointer to the array on to its own elements: a part of the offset."""


class _Shape(Struct, frozen=True):
    """How a tile lies: for each warp of a block, and each column of a piece of the rows, an element for each lane."""

    warps: int
    columns: int
    padding: dict[int, int]
    """Elements behind those of the lanes, for elements of so many bytes."""

    def pitch(self, type_: str) -> str:
        """How many elements of a type there are for each column."""
        [*paddings] = set(self.padding.values())
        if len(paddings) == 1:
            return f"{WARP_LANES + paddings[0]}"
        return f"{WARP_LANES} + {_ROW_OF_BANKS // self.columns} / sizeof({type_})"

    @property
    def together(self) -> int:
        """The rows that one request moves."""
        return WARP_LANES // self.columns

    @classmethod
    def of(cls, sizes: Collection[int], warps: int, tiles: int) -> _Shape:
        """The widest one that leaves room for other blocks beside a block, for elements of some sizes in bytes."""
        room: list[tuple[int, _Shape]] = []
        for columns in (WARP_LANES, WARP_LANES // 2, WARP_LANES // 4, WARP_LANES // 8):
            padding = {bytes_: max(1, min(WARP_LANES, _ROW_OF_BANKS // bytes_) // columns) for bytes_ in sizes}
            shared = tiles * warps * columns * max((WARP_LANES + more) * bytes_ for bytes_, more in padding.items())
            is_exact = all(_ROW_OF_BANKS // columns // bytes_ == more for bytes_, more in padding.items())
            is_one = len(set(padding.values())) == 1
            if (is_one or is_exact) and columns * min(sizes) >= SECTOR_BYTES and shared <= _MOST_SHARED:
                room.append((shared, cls(warps, columns, padding)))
        if not room:
            raise Obstacle("a block has no room for the rows of all of its warps")
        return next((shape for shared, shape in room if shared <= _MOST_SHARED // 2), room[-1][1])


def tile_edits(
    kernel: KernelFacts,
    accesses: Sequence[Access],
    sizes: Collection[int],
    warps: int,
    text_of: Callable[[str], str],
) -> tuple[Edit, ...]:
    """The edits for the first of some stores and for those of the others that stand in the same loop, of elements that
    have so many bytes in one instantiation or another, in blocks of so many warps. Raises an `Obstacle` where the loop
    or the access is not as plain as that."""
    access = accesses[0]
    path, line = access.place.path, access.place.line
    if not {1, 2, 4, 8} >= set(sizes):
        raise Obstacle(f"elements of {access.bytes} bytes are more than lanes would hand one another")
    if access.inlined_from or path != kernel.place.path:
        raise Obstacle(f"`{access.array}` is indexed in a function that `{kernel.name}` calls")
    source = code_text(text_of(path))
    loop = loop_around(source, access)
    extent = source.extent(kernel.place)
    parameters = parameter_names(kernel, text_of)
    uniform = UniformNames(source, extent, parameters)
    if not (uniform.holds(loop.first) and uniform.holds(loop.bound)):
        raise Obstacle(f"the lanes of a warp may make different turns of the loop around line {line}")
    if re.search(rf"\b{re.escape(loop.first)}\s*\+=\s*\w", source.code[extent[0] : loop.begin]):
        raise Obstacle(f"the loop around line {line} goes through a piece of its rows already")
    rows: dict[str, _Row] = {}
    for element in elements_of([one for one in accesses if one.bytes == access.bytes], loop, source):
        try:
            rows.setdefault(element.text, _row(element, loop, source, extent, parameters))
        except Obstacle:
            if element.access is access:
                raise
    chosen = sorted(rows.values(), key=lambda row: row.element.access is not access)
    while True:
        try:
            shape = _Shape.of(sizes, warps, len(chosen))
        except Obstacle:
            if len(chosen) == 1:
                raise
            chosen.pop()
        else:
            return tuple(_edits(chosen, loop, shape, source, path, extent))


def _row(
    element: Element, loop: Loop, source: CodeText, extent: tuple[int, int], parameters: Sequence[str]
) -> _Row:
    last = element.text.rindex("[")
    array = element.text[:last].strip()
    others = [term for term in terms_of(element.text[last + 1 : -1]) if term != loop.name]
    while (pointed := _pointed(array, source, extent, parameters)) is not None:
        array, offset = pointed
        others[:0] = [offset] if offset else []
    body = source.code[loop.body : loop.end]
    moved = _moved_by(array, source, extent, loop.begin) if array in parameters else None
    if moved is None:
        raise Obstacle(f"`{array}` is no array that all threads see alike")
    others[:0] = [moved] if moved else []
    offset = " + ".join(f"({term})" if _CHOICE.search(term) else term for term in others)
    if not offset:
        raise Obstacle(f"all lanes are in one row of `{array}`")
    if "[" in offset or re.search(r"\w\s*\(", offset) or any(changes(name, body) for name in NAME.findall(offset)):
        raise Obstacle(f"where a row of `{array}` begins is more than an index")
    return _Row(element, array, offset, element_type(element.array, element.access, source, extent), moved)


def _moved_by(array: str, source: CodeText, extent: tuple[int, int], before: int) -> str | None:
    """By how much `array += ...;` moves a pointer on for good; None where it may point to anything."""
    code = source.code[extent[0] : extent[1]]
    moves = list(re.finditer(rf"(?<=[;{{}}])\s*{array}\s*\+=\s*(?P<by>[^;\[\]]+);", code))
    rest = code
    for move in moves:
        rest = rest[: move.start()] + " " * len(move[0]) + rest[move.end() :]
    if changes(array, rest) or len(moves) > 1:
        return None
    if not moves:
        return ""
    [move] = moves
    by, start = " ".join(move["by"].split()), extent[0] + move.start("by")
    is_outermost = code.count("{", 0, move.start()) - code.count("}", 0, move.start()) == 1
    names = NAME.findall(by)
    if not is_outermost or start > before or re.search(r"\w\s*\(", by):
        return None
    return None if any(changes(name, source.code[start : extent[1]]) for name in names) else f"({by})"


def _pointed(
    name: str, source: CodeText, extent: tuple[int, int], parameters: Sequence[str]
) -> tuple[str, str] | None:
    """What a pointer of the kernel's own is set to: an array, and an offset in it. None for what is none."""
    if name in parameters:
        return None
    code = source.code[extent[0] : extent[1]]
    start = rf"{POINTS}{re.escape(name)}\s*=\s*"
    declared = re.compile(
        rf"{start}(?P<plus>[A-Za-z_]\w*)\s*(?:\+(?P<offset>[^;,]+))?[;,]|{start}&\s*(?P<of>[A-Za-z_]\w*)\s*\[(?P<at>[^;,\[\]]+)\]\s*[;,]"
    )
    found = list(declared.finditer(code))
    if len(found) != 1:
        return None
    [one] = found
    if changes(name, code[: one.start()]) or changes(name, code[one.end() :]):
        raise Obstacle(f"`{name}` points elsewhere later")
    offset = (one["offset"] or one["at"] or "").strip()
    changed = next((each for each in NAME.findall(offset) if changes(each, code[one.end() :])), None)
    if changed is not None:
        raise Obstacle(f"`{changed}` gets another value on the way")
    return one["plus"] or one["of"], f"({offset})" if _CHOICE.search(offset) else offset


class _Names(Struct, frozen=True):
    """What is declared for all tiles of a loop."""

    warp: str
    lane: str
    is_staged: str
    first: str
    end: str
    of: str
    row: str


def _edits(
    rows: Sequence[_Row], loop: Loop, shape: _Shape, source: CodeText, path: str, extent: tuple[int, int]
) -> list[Edit]:
    begin, margin = with_pragmas(source, loop.begin), source.margin(loop.begin)
    if margin is None:
        raise Obstacle(f"the loop at line {source.position(loop.begin)[0]} does not begin its line")
    wanted = ("warp", "lane", "is_staged", f"{loop.name}_first", f"{loop.name}_end", "of", "row")
    names = _Names(*(free_name(name, source) for name in wanted))
    kind = loop.kind.removeprefix("const ").strip()
    first, end, columns = names.first, names.end, shape.columns
    at = f"{names.lane} % {columns}" if columns < WARP_LANES else names.lane
    alone = source.code[source.last_before(begin) - 1] not in _AHEAD_OF_SEVERAL
    step = step_of(margin)
    more = step if alone else ""
    tiles: list[str] = []
    own: dict[str, str] = {}
    edits: list[Edit] = []
    moved: list[str] = []
    taken = [*wanted]
    for row in rows:
        tile = free_name(f"{row.array}_tile", source, taken)
        taken.append(tile)
        start = row.offset if re.fullmatch(r"\w+", row.offset) else own.get(row.offset, "")
        if not start:
            start = own[row.offset] = free_name(f"{row.array}_row", source, taken)
            taken.append(start)
        tiles.append(f"__shared__ {row.type} {tile}[{shape.warps}][{columns}][{shape.pitch(row.type)}];")
        moved += _moved(row, tile, start, at, names, shape)
        inside = f"{tile}[{names.warp}][{loop.name} - {first}][{names.lane}]"
        edits += _replaced(row, inside, names, source, path, more + step)
    pragma = source.text[begin : loop.begin].strip()
    head = [
        *tiles,
        f"const int {names.warp} = {_thread(source, extent)} / 32, {names.lane} = {_thread(source, extent)} % 32;",
        f"const bool {names.is_staged} = __activemask() == ~0u && {names.warp} < {shape.warps};",
        *(f"const auto {name} = {offset};" for offset, name in own.items()),
        f"for ({kind} {first} = {loop.first}; {first} < {loop.bound}; {first} += {columns}) {{",
    ]
    inner = [
        f"const {kind} {end} = {first} + {columns} < {loop.bound} ? {first} + {columns} : {loop.bound};",
        *([pragma] if pragma else ()),
        f"for ({kind} {loop.name} = {first}; {loop.name} < {end}; {loop.name}++)",
    ]
    behind = _staged(moved, names, step)
    lines = [*(["{"] if alone else ()), *(f"{more}{line}" for line in (*head, *(f"{step}{each}" for each in inner)))]
    last = [*(f"{more}{step}{each}" for each in behind), f"{more}}}", *(["}"] if alone else ())]
    closed = source.close(loop.head)
    assert closed is not None
    join = f"{source.line_end}{margin}"
    return [
        replaced(source, path, begin, closed, join.join(lines)),
        *edits,
        *(replaced(source, path, each, each, more + step) for each in lines_of(source, loop)),
        replaced(source, path, loop.end, loop.end, "".join(join + line for line in last)),
    ]


def _thread(source: CodeText, extent: tuple[int, int]) -> str:
    """The number of a thread in its block."""
    if not re.compile(r"\bthreadIdx\s*\.\s*[yz]\b").search(source.code, *extent):
        return "threadIdx.x"
    return "((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)"


def _moved(row: _Row, tile: str, start: str, at: str, names: _Names, shape: _Shape) -> list[str]:
    """What stores a piece of all rows of a warp, row by row, all lanes together."""
    inside, column = f"{tile}[{names.warp}][{at}][{names.of}]", f"{names.first} + {at}"
    outside = f"{row.array}[{names.row}{f' - {row.moved}' if row.moved else ''} + ({column})]"
    begin = f"{names.lane} / {shape.columns}" if shape.together > 1 else "0"
    turn = f"{names.of} += {shape.together}" if shape.together > 1 else f"{names.of}++"
    return [
        f"for (int {names.of} = {begin}; {names.of} < 32; {turn}) {{",
        f"    const auto {names.row} = __shfl_sync(~0u, {start}, {names.of});",
        f"    if ({column} < {names.end}) {outside} = {inside};",
        "}",
    ]


def _staged(lines: Sequence[str], names: _Names, step: str) -> list[str]:
    """The lanes are done with what was in the tile before others fill it, and it is filled before others read it."""
    inner = ["__syncwarp();", *(line.replace("    ", step) for line in lines), "__syncwarp();"]
    return [f"if ({names.is_staged}) {{", *(f"{step}{line}" for line in inner), "}"]


def _replaced(
    row: _Row, inside: str, names: _Names, source: CodeText, path: str, deeper: str
) -> list[Edit]:
    """The element in the body of the loop; what is there will be indented `deeper`."""
    element = row.element
    value = free_name(f"{row.array}_new", source)
    semicolon, margin = source.semicolon(element.begin), source.margin(element.begin)
    if semicolon is None:
        raise Obstacle(f"the end of what is stored to `{row.array}` is not in sight")
    join, step = (" ", "") if margin is None else (f"{source.line_end}{deeper}{margin}", step_of(margin))
    put = f"{join}{step}if ({names.is_staged}) {inside} = {value};{join}{step}else {element.text} = {value};{join}}}"
    return [
        replaced(source, path, element.begin, element.end, f"{{{join}{step}const {row.type} {value}"),
        replaced(source, path, semicolon, semicolon + 1, f";{put}"),
    ]
