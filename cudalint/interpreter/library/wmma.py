"""Warp matrix functions: what `load_matrix_sync` and `store_matrix_sync` do to memory.

Which lane holds which element is not documented for fragments, but the compiler's instructions are those of `mma`
(PTX ISA, "Matrix Fragments for mma"), as read from the machine code that nvcc 13.0 makes for sm_80 and sm_90. A matrix
lies in memory as lines, its rows or columns, `ldm` elements apart. Lane `4 g + t` takes the words `t` of the lines `g`
of each tile of 8 lines and 4 words. What is known for `double`, `__nv_bfloat16` and `tf32` was measured on sm_90.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from cudalint.facts import Operation
from cudalint.interpreter.device import expressions
from cudalint.interpreter.device.positions import lane_index
from cudalint.interpreter.device.values import Allocation, MemoryPlace, Pointer, Value
from cudalint.interpreter.library.specifications import assume
from cudalint.ir import nodes as ir
from cudalint.values.arithmetic import BOOL, I8
from cudalint.values.nodes import Node, Reason

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

_FRAGMENT = re.compile(
    r"fragment<(?:\w+::)*(matrix_a|matrix_b|accumulator), (\d+), (\d+), (\d+), ([\w: ]+?)(?:, (?:\w+::)*(\w+))?>"
)
_BYTES = {
    "__half": 2, "half": 2, "__nv_bfloat16": 2, "signed char": 1, "unsigned char": 1, "char": 1, "tf32": 4, "float": 4,
    "int": 4, "double": 8,
}  # fmt: skip
_LOADED_AS_MATRICES = ("__half", "half", "signed char", "unsigned char", "char")
"""From shared memory these come by `ldmatrix`; the others by the loads by which they come from global memory."""
_CHAR = ir.Scalar("char", 1, "int")
_TILE = 8
"""Lines of a tile."""
_ROW = 16
"""Bytes of a line of a tile that `ldmatrix` loads, and of one that the lanes load by words of 4 bytes."""


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


def load(ex: Executor, call: ir.Call) -> Value | None:
    return _transfer(ex, call, 0, 1, "load")


def store(ex: Executor, call: ir.Call) -> Value | None:
    return _transfer(ex, call, 1, 0, "store")


def _transfer(ex: Executor, call: ir.Call, held: int, pointed: int, operation: Operation) -> Value | None:
    type_ = call.arguments[held].type if len(call.arguments) >= 3 else None
    if not isinstance(type_, ir.RecordType):
        return None
    pointer = expressions.evaluate(ex, call.arguments[pointed])
    pitch = expressions.number(ex, call.arguments[2])
    layout = expressions.number(ex, call.arguments[3]) if len(call.arguments) > 3 else None
    named = ("row_major", "col_major")[int(layout.value) & 1] if layout is not None and layout.is_const else None
    fragment = fragment_of(type_.name, named)
    accesses = list(_accesses(ex, fragment, pointer, pitch)) if fragment and isinstance(pointer, Pointer) else []
    for place, bytes_, lanes in accesses:
        before = ex.state.conditions
        if lanes is not None:
            ex.state.assume(lanes)
        ex.memory.access(place, ex.context(call.span), operation, bytes_, is_verbatim=True)
        ex.state.conditions = before
    if not accesses:
        ex.gap(call.span, f"the accesses of `{call.name}` are not known for this fragment")
    if operation == "load":
        loaded = ex.memory.unknown(type_, Reason(True, "it belongs to a matrix that was loaded", call.span))
        expressions.write(ex, expressions.place(ex, call.arguments[held]), loaded, call.span)
    return ex.graph.zero


_Access = tuple[MemoryPlace, int, Node | None]
"""Where, how many bytes a lane, and for which lanes if not for all."""


def _accesses(ex: Executor, fragment: Fragment, pointer: Pointer, pitch: Node) -> Iterator[_Access]:
    """The instructions of one call; none where they are not known. Lines have to be multiples of 16 bytes apart (CUDA
    C++ Programming Guide, "Warp Matrix Functions")."""
    graph = ex.graph
    rest = graph.binary("%", pitch, graph.const(_ROW // fragment.bytes, pitch.kind), pitch.kind)
    assume(ex, graph.binary("==", rest, graph.const(0, pitch.kind), BOOL))
    matrix = _Matrix(ex, pointer, pitch, fragment.bytes)
    shared = isinstance(pointer.target, Allocation) and pointer.target.space == "shared"
    if fragment.use == "accumulator":
        yield from _accumulator(matrix, fragment)
    elif fragment.bytes == 1 and not fragment.along:
        return
    elif shared and fragment.element in _LOADED_AS_MATRICES:
        yield from _matrices(matrix, fragment)
    elif fragment.along or fragment.bytes == 2:
        yield from _words(matrix, fragment, max(4, fragment.bytes))
    else:
        yield from _elements(matrix, fragment, 1)


class _Matrix(Struct, frozen=True, eq=False):
    """A matrix in memory, as a warp sees it."""

    ex: Executor
    pointer: Pointer
    pitch: Node
    """Elements from one line to the next."""
    element: int
    """Bytes of an element."""

    def at(self, line: Node, byte: Node) -> MemoryPlace:
        graph = self.ex.graph
        lines = graph.binary("*", graph.binary("*", line, self.pitch, I8), graph.const(self.element, I8), I8)
        offset = graph.binary("+", self.pointer.offset, graph.binary("+", lines, byte, I8), I8)
        return MemoryPlace(Pointer(self.pointer.target, offset, _CHAR, None, self.pointer.one_of), _CHAR)

    def sum(self, *terms: tuple[Node, int]) -> Node:
        """Values times constants."""
        graph, total = self.ex.graph, self.ex.graph.const(0, I8)
        for value, factor in terms:
            total = graph.binary("+", total, graph.binary("*", value, graph.const(factor, I8), I8), I8)
        return total

    def lane(self, divisor: int, modulus: int) -> Node:
        """`lane / divisor % modulus`."""
        graph = self.ex.graph
        quotient = graph.binary("/", lane_index(self.ex), graph.const(divisor), I8)
        return graph.binary("%", quotient, graph.const(modulus), I8)


def _words(matrix: _Matrix, fragment: Fragment, width: int) -> Iterator[_Access]:
    """Each lane loads or stores a word of a line of each tile."""
    one = matrix.ex.graph.one
    for tile in range(fragment.lines // _TILE):
        for column in range(max(1, fragment.length * fragment.bytes // (4 * width))):
            line = matrix.sum((matrix.lane(4, 8), 1), (one, _TILE * tile))
            byte = matrix.sum((matrix.lane(1, 4), width), (one, 4 * width * column))
            yield matrix.at(line, byte), width, None


def _matrices(matrix: _Matrix, fragment: Fragment) -> Iterator[_Access]:
    """`ldmatrix`: each lane points to a line of a tile, those of up to four tiles at once."""
    graph, tall = matrix.ex.graph, fragment.lines // _TILE
    tiles = tall * (fragment.length * fragment.bytes // _ROW)
    for first in range(0, tiles, 4):
        number = matrix.sum((matrix.lane(8, 4), 1), (graph.one, first))
        down = graph.binary("%", number, graph.const(tall, I8), I8)
        across = graph.binary("/", number, graph.const(tall, I8), I8)
        line, byte = matrix.sum((matrix.lane(1, 8), 1), (down, _TILE)), matrix.sum((across, _ROW))
        lanes = graph.binary("<", matrix.lane(1, 32), graph.const(_TILE * tiles), BOOL) if tiles < 4 else None
        yield matrix.at(line, byte), _ROW, lanes


def _elements(matrix: _Matrix, fragment: Fragment, neighbours: int) -> Iterator[_Access]:
    """Lines that run across what goes into one register: lane `4 g + t` takes the elements `g` of the lines `t`, or of
    so many neighbouring lines, each by itself."""
    one, bytes_ = matrix.ex.graph.one, fragment.bytes
    for tile in range(fragment.lines // (4 * neighbours)):
        for neighbour in range(neighbours):
            for column in range(fragment.length // _TILE):
                line = matrix.sum((matrix.lane(1, 4), neighbours), (one, 4 * neighbours * tile + neighbour))
                byte = matrix.sum((matrix.lane(4, 8), bytes_), (one, bytes_ * _TILE * column))
                yield matrix.at(line, byte), bytes_, None


def _accumulator(matrix: _Matrix, fragment: Fragment) -> Iterator[_Access]:
    """Two neighbours of a row go together; of columns of wide elements each goes alone."""
    if fragment.bytes == 2 or fragment.along:
        yield from _words(matrix, fragment, 2 * fragment.bytes)
    else:
        yield from _elements(matrix, fragment, 2)
