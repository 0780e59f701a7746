"""Memory: allocations, and the cells of those that a thread has to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cudalint.execute.absent import Absent, undefined_as
from cudalint.execute.arithmetic import converted, dtype_of
from cudalint.execute.drawn import Drawn, cast_number, chosen_number, either_number, moved_offset, scaled_index
from cudalint.execute.values import (
    AGGREGATES,
    COMPUTED,
    LOADED,
    UNKNOWN,
    Aggregate,
    Closure,
    Data,
    FunctionValue,
    InPart,
    Pointer,
    Symbolic,
    Value,
    leaves,
)
from cudalint.ir import nodes as ir
from cudalint.ir.kept import kept

if TYPE_CHECKING:
    from cudalint.execute.contents import Contents
    from cudalint.execute.lanes import Mask

MemorySpace = Literal["local", "shared", "global", "constant", "cluster", "nowhere"]
"""`cluster` is the shared memory of another block of the cluster, as one that a pointer was mapped to leads there."""
Varies = Literal["", "block", "thread"]
_NO_DATA = (Pointer, Aggregate, Closure, FunctionValue)
_NO_NUMBERS = (Data, *_NO_DATA)
_MOST_PARTS = 4
"""Pieces of memory that one pointer leads to, from lane to lane."""
_MOST_PIECES = 64
"""Of a record that is loaded or stored as a whole."""
_WIDEST_ACCESS = 16
"""Bytes that one instruction loads or stores."""


class Allocation:
    """A piece of memory: a variable, an array, or what a pointer from outside leads to.

    Local ones have cells: values by their offsets. What lanes write under a mask that is not the one the variable was
    declared under is joined with what is there.
    """

    __slots__ = (
        "cells", "contents", "data", "depth", "extent", "is_null", "is_open", "mask", "name", "parts", "space",
        "symbol", "type", "varies", "widths",
    )  # fmt: skip

    def __init__(
        self, name: str, space: MemorySpace, type_: ir.Type | None = None, mask: Mask | None = None, depth: int = 0,
        data: int = 0, is_null: bool = False, extent: int | None = None, symbol: ir.Symbol | None = None,
    ) -> None:  # fmt: skip
        self.name, self.space, self.type, self.is_null = name, space, type_, is_null
        self.mask, self.depth, self.data = mask, depth, data
        self.extent = extent
        """Bytes that there are, where somebody says so; otherwise its type may."""
        self.symbol = symbol
        """The variable that it is, of those that the source declares."""
        self.cells: dict[int, Value] = {}
        self.contents: Contents | None = None
        """Of shared memory, once an integer that is known was stored there."""
        self.parts: dict[Allocation, tuple[Mask, Any]] = {}
        """Of what is not one piece of memory but stands for several: those, with the lanes that it is them for, and
        bytes from their starts."""
        self.is_open = False
        """Whether data says which of its parts it is."""
        self.varies: Varies = ""
        """Of what a pointer leads to that was loaded: who may have found others than this one, since they looked in
        different places."""
        self.widths: dict[int, int] = {}
        """Bytes of the cells, where they are not those of the allocation's own scalars."""

    def __repr__(self) -> str:
        return f"<{self.space} {self.name}>"


NULL = Allocation("null", "global", is_null=True)
NOWHERE = Allocation("unknown", "nowhere", is_null=True)
LITERAL = Allocation("literal", "nowhere")
"""The text of a program's strings, which nobody measures."""
ASTRAY = Allocation("?", "nowhere")
"""What pointers lead to of which nothing is known."""


def joined(mask: Any, new: Value, old: Value) -> Value:
    """What lanes of a mask have as `new`, and all others as `old`."""
    if new is old or old is None:
        return new
    kinds = type(new), type(old)
    if kinds == (Aggregate, Aggregate):
        cells = {offset: joined(mask, value, old.cells.get(offset, value)) for offset, value in new.cells.items()}
        return Aggregate(new.type, cells)
    if kinds == (Pointer, Pointer):
        null = _null_in(mask, new, old)
        if new.allocation is old.allocation:
            return Pointer(new.allocation, joined(mask, new.offset, old.offset), new.pointee, null)
        if new.allocation.is_null or old.allocation.is_null:
            set_ = old if new.allocation.is_null else new
            return Pointer(set_.allocation, set_.offset, set_.pointee, null)
        several = _several(mask, new.allocation, old.allocation)
        if several is None:
            return UNKNOWN
        return Pointer(several, joined(mask, new.offset, old.offset), new.pointee, null)
    if Drawn in kinds:
        return chosen_number(mask, new, old)
    if isinstance(new, _NO_NUMBERS) or isinstance(old, _NO_NUMBERS):
        is_held = not isinstance(new, _NO_DATA) and not isinstance(old, _NO_DATA)
        return InPart(mask, new, old.old if type(old) is InPart and old.mask is mask else old) if is_held else COMPUTED
    if type(new) is not np.ndarray and type(old) is not np.ndarray and new == old and type(new) is type(old):
        return new
    return np.where(mask, *_of_one_type(new, old))


def _null_in(mask: Any, new: Pointer, old: Pointer) -> Any:
    """In which lanes there is a null pointer, given those for which it is the new one; see `Pointer.null`."""
    both = new.is_set, old.is_set
    if any(isinstance(each, Data) for each in both):
        return COMPUTED
    null = ~np.where(mask, *both)
    return null if null.any() and not null.all() else None


def _several(mask: Any, new: Allocation, old: Allocation) -> Allocation | None:
    """What stands for one piece of memory in the lanes of a mask, and for another in the others."""
    lanes = np.asarray(mask)
    if new.is_open or old.is_open:
        return None
    parts = {part: (own & lanes, 0) for part, (own, _) in (new.parts or {new: (lanes, 0)}).items()}
    for part, (own, _) in (old.parts or {old: (~lanes, 0)}).items():
        others = own & ~lanes
        parts[part] = (parts[part][0] | others if part in parts else others), 0
    return _made_of(parts)


def _made_of(parts: dict[Allocation, tuple[Any, Any]]) -> Allocation | None:
    spaces = {part.space for part in parts}
    if len(parts) > _MOST_PARTS or len(spaces) != 1 or spaces & {"local", "nowhere"}:
        return None
    made = Allocation(" or ".join(part.name for part in parts), next(iter(spaces)))
    made.parts = parts
    return made


def either(
    new: Value, old: Value, scope: int = 0, otherwise: int = 0, is_one_of_two: bool = False, is_common: bool = True
) -> Value:  # fmt: skip
    """One value or the other, as data says: of pointers it is known which pieces of memory they may lead to. `scope` is
    where it is the new one (`Machine.scopes`), and `otherwise` where data leads if not there; `is_one_of_two` as for
    `either_number`; `is_common` whether all lanes of a warp find the same data."""
    if type(new) is not Pointer or type(old) is not Pointer:
        return either_number(new, old, scope, otherwise, is_one_of_two, is_common)
    null = None if is_equal(new.is_set, old.is_set) and not isinstance(new.is_set, Data) else COMPUTED
    if new.allocation.is_null or old.allocation.is_null:
        set_ = old if new.allocation.is_null else new
        return Pointer(set_.allocation, set_.offset, set_.pointee, null)
    null = new.null if null is None else null
    if new.allocation is old.allocation:
        offset = either_number(new.offset, old.offset, scope, otherwise, is_common=is_common)
        return Pointer(new.allocation, offset, new.pointee, null)
    parts: dict[Allocation, tuple[Any, Any]] = {}
    for at in (new, old):
        if at.allocation.parts and not at.allocation.is_open:
            return UNKNOWN
        for part, (_, base) in (at.allocation.parts or {at.allocation: (_EVERYWHERE, 0)}).items():
            moved = plus(base, at.offset)
            is_same = part not in parts or is_equal(parts[part][1], moved)
            parts[part] = _EVERYWHERE, moved if is_same else COMPUTED
    made = _made_of(parts)
    if made is None:
        return UNKNOWN
    made.is_open = True
    return Pointer(made, 0, new.pointee, null)


_EVERYWHERE = np.ones((1, 1), bool)


def _of_one_type(new: Value, old: Value) -> tuple[Any, Any]:
    """Two numbers as arrays of one type: that of the array, if one is. Of a signed and an unsigned integer of 64 bits
    numpy would make floating point numbers."""
    if type(new) is np.ndarray:
        if type(old) is not np.ndarray:
            return new, _wrapped(old, new.dtype)
        are_mixed = new.dtype != old.dtype and {new.dtype.kind, old.dtype.kind} == {"i", "u"}
        return new, old.astype(new.dtype) if are_mixed and new.dtype.itemsize == old.dtype.itemsize else old
    if type(old) is np.ndarray:
        return _wrapped(new, old.dtype), old
    if isinstance(new, float) or isinstance(old, float):
        return np.float64(new), np.float64(old)
    dtype = np.dtype(np.uint64 if max(new, old) >= 1 << 63 else np.int64)
    return _wrapped(new, dtype), _wrapped(old, dtype)


def _wrapped(value: int | float, dtype: Any) -> Any:
    """A plain number as one of an array's type, which integers may be too large for."""
    if dtype.kind in "iu" and isinstance(value, int):
        return np.uint64(value & _ALL_BITS).astype(dtype)
    return dtype.type(value)


_ALL_BITS = (1 << 64) - 1


def address(number: int) -> int:
    """A number of bytes, which wraps around as addresses do."""
    return number if -_FAR <= number < _FAR else (number + _FAR) % (2 * _FAR) - _FAR


_FAR = 1 << 63


def plus(offset: Any, added: Any) -> Any:
    """The sum of two numbers of bytes, as wide integers; data if one is."""
    for value in (offset, added):
        if isinstance(value, Symbolic):
            return value.moved(offset, added)
    if type(offset) is Drawn or type(added) is Drawn:
        return moved_offset(offset, added)
    if isinstance(offset, Data):
        return offset
    if isinstance(added, Data):
        return added
    if type(added) is int and added == 0:
        return offset
    if type(offset) is np.ndarray and offset.dtype != np.int64:
        offset = offset.astype(np.int64)
    if type(added) is np.ndarray and added.dtype != np.int64:
        added = added.astype(np.int64)
    found = offset + added
    return address(found) if type(found) is int else found


def scaled(index: Any, bytes_: int) -> Any:
    """An index times the bytes of an element."""
    if type(index) is np.ndarray:
        return index.astype(np.int64) * bytes_
    if isinstance(index, Symbolic):
        return index.scaled(bytes_)
    if type(index) is Drawn:
        return scaled_index(index, bytes_)
    if isinstance(index, Data):
        return index
    return address(int(index) * bytes_) if isinstance(index, (int, bool)) else COMPUTED


def stepped(index: Any, type_: ir.Type, sign: int = 1) -> Any:
    """An index times the bytes of an element; data where nobody knows how large that is."""
    if type_.bytes or isinstance(type_, (ir.Scalar, ir.PointerType)) or (type(index) is int and index == 0):
        return scaled(index, sign * type_.bytes)
    what = "the length of its rows" if isinstance(type_, ir.ArrayType) else "the size of its elements"
    why = f": {type_.unsized}" if isinstance(type_, ir.RecordType) and type_.unsized else ""
    return Data("unknown", f"{what} is not known{why}")


def plain(offset: Any) -> Any:
    """A single number out of an array of one."""
    return int(offset.flat[0]) if type(offset) is np.ndarray and offset.size == 1 else offset


def uninitialised(type_: ir.Type) -> Value:
    """What is in memory that nobody has written."""
    if isinstance(type_, AGGREGATES):
        return Aggregate(type_, {offset: UNKNOWN for offset, _ in leaves(type_)})
    return UNKNOWN


def as_type(value: Value, type_: ir.Type) -> Value:
    """A value converted to a type."""
    kind = type(value)
    if kind is Data:
        return value
    if isinstance(value, Data):
        if type(value) is Drawn:
            return cast_number(value, type_)
        if type(value) is Absent:
            return undefined_as(as_type(value.inner, type_), (value,))
        return value.converted(type_) if isinstance(value, Symbolic) else value
    if isinstance(type_, ir.Scalar):
        if type_.kind == "void":
            return UNKNOWN
        if kind is Pointer:
            return value.is_set if type_.kind == "bool" else value
        if kind in (Aggregate, Closure, FunctionValue):
            return UNKNOWN
        return converted(value, type_)
    if isinstance(type_, ir.PointerType):
        if kind is Pointer:
            same = value.pointee is type_.pointee
            return value if same else Pointer(value.allocation, value.offset, type_.pointee, value.null)
        if kind is int and value == 0:
            return Pointer(NULL, 0, type_.pointee)
        return value if kind in (FunctionValue, Closure) else UNKNOWN
    return value






def is_equal(new: Value, old: Value) -> bool:
    if new is old:
        return True
    if type(new) in (int, bool, float) and type(new) is type(old):
        return bool(new == old)
    return type(new) is np.ndarray and type(old) is np.ndarray and np.array_equal(new, old)












def loaded(type_: ir.Type, name: str) -> Value:
    """What is not followed that memory holds."""
    if isinstance(type_, ir.PointerType):
        return Pointer(Allocation(f"*{name}", "global"), 0, type_.pointee)
    if isinstance(type_, AGGREGATES):
        return Aggregate(type_, {offset: LOADED for offset, _ in leaves(type_)})
    return LOADED


def zeros(type_: ir.Scalar) -> Value:
    return 0.0 if dtype_of(type_).kind == "f" else 0


@kept(1024)
def pieces(type_: ir.RecordType | ir.ArrayType) -> tuple[tuple[int, int], ...]:
    """How the compiler splits an access to a whole record: where, and how many bytes. One that is as aligned as it is
    large (`float4`) is one access; others are copied in pieces of their alignment. None of one that is too large."""
    element: ir.Type = type_
    while isinstance(element, ir.ArrayType):
        element = element.element
    aligned = element.align if isinstance(element, ir.RecordType) else element.bytes
    width, size = min(max(aligned, 1), _WIDEST_ACCESS), type_.bytes
    if size > _MOST_PIECES * width or next(leaves(type_), None) is None:
        return ()
    return tuple((at, min(width, size - at)) for at in range(0, size, width))
