"""Warp matrix functions: what `load_matrix_sync` and `store_matrix_sync` do to memory.

Which lane holds which element is not documented for fragments, but the compiler's instructions are those of `mma`
(PTX ISA, "Matrix Fragments for mma"), as read from the machine code that nvcc 13.0 makes for sm_80 and sm_90. A matrix
lies in memory as lines, its rows or columns, at distances of `ldm` elements. Lane `4 g + t` takes the words `t` of the
lines `g` of each tile of 8 lines and 4 words. What is known for `double`, `__nv_bfloat16` and `tf32` was measured on
sm_90.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct

from cudalint.execute.library.common import Handler, arguments_of, is_whole, opaque
from cudalint.execute.memory import plus
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import LOADED, UNKNOWN, Pointer, Value
from cudalint.facts import Operation
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import Builtin
from cudalint.regexes import regex

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_FRAGMENT = regex(
    r"fragment<(?:\w+::)*(matrix_a|matrix_b|accumulator), (\d+), (\d+), (\d+), ([\w: ]+?)(?:, (?:\w+::)*(\w+))?>"
)
_BYTES: Final[Mapping[str, int]] = {
    "__half": 2, "half": 2, "__nv_bfloat16": 2, "signed char": 1, "unsigned char": 1, "char": 1, "tf32": 4, "float": 4,
    "int": 4, "double": 8,
}  # fmt: skip
_LOADED_AS_MATRICES: Final = ("__half", "half", "signed char", "unsigned char", "char")
"""From shared memory these come by `ldmatrix`; the others by the loads by which they come from global memory."""
_TILE: Final = 8
"""Lines of a tile."""
ROW: Final = 16
"""Bytes of a line of a tile that `ldmatrix` loads, and of one that the lanes load by words of 4 bytes."""
_LANES: Final = np.arange(WARP_LANES, dtype=np.int64)


class Fragment(Struct, frozen=True):
    """A fragment's type, and how its matrix lies in memory."""

    use: str
    lines: int
    length: int
    """Elements of a line."""
    element: str
    along: bool
    """Whether neighbours in a line go into one register: for operands, those that are multiplied with each other."""

    @property
    def bytes(self) -> int:
        """Of an element."""
        return _BYTES[self.element]


def fragment_registers(type_: ir.Type) -> int:
    """How many registers of each lane a variable takes that is a fragment, or an array of some; 0 of all others.

    The lanes share the elements evenly, two of 16 bits to a register (PTX ISA, "Matrix Fragments for mma").
    """
    number = 1
    while isinstance(type_, ir.ArrayType):
        number, type_ = number * (type_.count or 0), type_.element
    fragment = fragment_of(ir.type_name(type_), "row_major") if isinstance(type_, _NAMED) else None
    return number * fragment.lines * fragment.length * fragment.bytes // (4 * WARP_LANES) if fragment is not None else 0


_NAMED: Final = (ir.RecordType, ir.OpaqueType)


@cache
def fragment_of(name: str, layout: str | None = None) -> Fragment | None:
    """The fragment that a type's name spells; accumulators get their layout where they are loaded and stored."""
    match = _FRAGMENT.search(name)
    if match is None:
        return None
    use, m, n, k = match[1], int(match[2]), int(match[3]), int(match[4])
    element, layout = match[5].rpartition("::")[2], match[6] or layout
    if element not in _BYTES or layout not in ("row_major", "col_major"):
        return None
    rows, columns = {"matrix_a": (m, k), "matrix_b": (k, n), "accumulator": (m, n)}[use]
    is_row_major = layout == "row_major"
    lines, length = (rows, columns) if is_row_major else (columns, rows)
    along = is_row_major if use != "matrix_b" else not is_row_major
    return Fragment(use, lines, length, element, along)


class Piece(Struct, frozen=True, eq=False):
    """One instruction: for each lane of a warp the line and the byte in it, how many bytes, and how many lanes."""

    line: Any
    byte: Any
    bytes: int
    lanes: int = WARP_LANES


def pieces(fragment: Fragment, is_shared: bool) -> Iterator[Piece]:
    """The instructions of one call; none where they are not known."""
    if fragment.use == "accumulator":
        if fragment.bytes == 2 or fragment.along:
            # Two neighbours of a row go together; of columns of wide elements each goes alone.
            yield from _words(fragment, 2 * fragment.bytes)
        else:
            yield from _elements(fragment, 2)
    elif fragment.bytes == 1 and not fragment.along:
        return
    elif is_shared and fragment.element in _LOADED_AS_MATRICES:
        yield from _matrices(fragment)
    elif fragment.along or fragment.bytes == 2:
        yield from _words(fragment, max(4, fragment.bytes))
    else:
        yield from _elements(fragment, 1)


def _words(fragment: Fragment, width: int) -> Iterator[Piece]:
    """Each lane loads or stores a word of a line of each tile."""
    for tile in range(fragment.lines // _TILE):
        for column in range(max(1, fragment.length * fragment.bytes // (4 * width))):
            yield Piece(_LANES // 4 + _TILE * tile, (_LANES % 4 + 4 * column) * width, width)


def _matrices(fragment: Fragment) -> Iterator[Piece]:
    """`ldmatrix`: each lane points to a line of a tile, those of up to four tiles at once."""
    tall = fragment.lines // _TILE
    tiles = tall * (fragment.length * fragment.bytes // ROW)
    for first in range(0, tiles, 4):
        number = _LANES // _TILE % 4 + first
        line = _LANES % _TILE + number % tall * _TILE
        yield Piece(line, number // tall * ROW, ROW, min(WARP_LANES, _TILE * tiles))


def _elements(fragment: Fragment, neighbours: int) -> Iterator[Piece]:
    """Lines that run across what goes into one register: lane `4 g + t` takes the elements `g` of the lines `t`, or of
    so many neighbouring lines, each by itself."""
    for tile in range(fragment.lines // (4 * neighbours)):
        for neighbour in range(neighbours):
            for column in range(fragment.length // _TILE):
                line = _LANES % 4 * neighbours + 4 * neighbours * tile + neighbour
                yield Piece(line, (_LANES // 4 + _TILE * column) * fragment.bytes, fragment.bytes)


def _transfer(program: Program, e: ir.Call, held: int, pointed: int, operation: Operation) -> Evaluate:
    arguments = arguments_of(program, e)
    type_ = ir.referent(e.arguments[held].type)
    fragment_place = program.place(e.arguments[held])

    def call(m: Machine) -> Value:
        pointer, pitch = arguments[pointed](m), arguments[2](m)
        layout = arguments[3](m) if len(arguments) > 3 else None
        if m.mask is None:
            return UNKNOWN
        m.barrier(e, "syncwarp", is_implied=True)
        named = ("row_major", "col_major")[layout & 1] if type(layout) is int else None
        fragment = fragment_of(type_.name, named) if isinstance(type_, ir.RecordType) else None
        found = 0
        if fragment is not None and type(pointer) is Pointer and is_whole(pitch):
            for each in pieces(fragment, pointer.allocation.space == "shared"):
                _access(m, each, pointer, pitch, fragment.bytes, operation, e)
                found += 1
        if not found:
            m.gap(e.span, f"the accesses of `{e.name}` are not known for this fragment")
        if operation == "load":
            allocation, offset, own = fragment_place(m)
            if allocation.space == "local":
                m.memory.store(allocation, offset, opaque(own, LOADED), own, e)
        return UNKNOWN

    return call


def _access(
    m: Machine, piece: Piece, pointer: Pointer, pitch: Any, element: int, operation: Operation, e: ir.Call
) -> None:
    mask, warps = m.mask, m.lanes.warps
    line, byte = np.tile(piece.line, warps)[None], np.tile(piece.byte, warps)[None]
    wide = pitch.astype(np.int64) if type(pitch) is np.ndarray else int(pitch)
    offset = plus(pointer.offset, line * (wide * element) + byte)
    if piece.lanes < WARP_LANES:
        m.mask, _ = m.split(np.tile(piece.lanes > _LANES, warps)[None])
    if m.mask is not None:
        m.access(pointer.allocation, offset, ir.OpaqueType("?", piece.bytes), operation, e)
    m.mask = mask


def _load(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    return _transfer(program, e, 0, 1, "load")


def _store(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    return _transfer(program, e, 1, 0, "store")


HANDLERS: Mapping[str, Handler] = {"load-matrix": _load, "store-matrix": _store}
"""By effect."""
