"""Memory: allocations, and the cells of those that a thread has to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cudalint.execute.arithmetic import converted, dtype_of
from cudalint.execute.values import (
    COMPUTED,
    LOADED,
    UNKNOWN,
    Aggregate,
    Closure,
    Data,
    FunctionValue,
    Pointer,
    Symbolic,
    Value,
    leaves,
)
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.lanes import Mask
    from cudalint.execute.machine import Machine

MemorySpace = Literal["local", "shared", "global", "constant", "nowhere"]
_AGGREGATES = (ir.RecordType, ir.ArrayType)
_NO_NUMBERS = (Data, Pointer, Aggregate, Closure, FunctionValue)
_MOST_CELLS = 64
"""Elements of a local array that an index which differs by lane is looked up among."""
_MOST_LEAVES = 64
"""Scalars of a record that is loaded or stored as a whole."""


class Allocation:
    """A piece of memory: a variable, an array, or what a pointer from outside leads to.

    Local ones have cells: values by their offsets. What lanes write under a mask that is not the one the variable was
    declared under is joined with what is there.
    """

    __slots__ = ("cells", "data", "depth", "is_null", "mask", "name", "space", "type", "widths")

    def __init__(
        self, name: str, space: MemorySpace, type_: ir.Type | None = None, mask: Mask | None = None, depth: int = 0,
        data: int = 0, is_null: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.space, self.type, self.is_null = name, space, type_, is_null
        self.mask, self.depth, self.data = mask, depth, data
        self.cells: dict[int, Value] = {}
        self.widths: dict[int, int] = {}
        """Bytes of the cells, where they are not those of the allocation's own scalars."""

    def __repr__(self) -> str:
        return f"<{self.space} {self.name}>"


NULL = Allocation("null", "global", is_null=True)
NOWHERE = Allocation("unknown", "nowhere", is_null=True)


def joined(mask: Any, new: Value, old: Value) -> Value:
    """What lanes of a mask have as `new`, and all others as `old`."""
    if new is old or old is None:
        return new
    kinds = type(new), type(old)
    if kinds == (Aggregate, Aggregate):
        cells = {offset: joined(mask, value, old.cells.get(offset, value)) for offset, value in new.cells.items()}
        return Aggregate(new.type, cells)
    if kinds == (Pointer, Pointer):
        if new.allocation is old.allocation:
            return Pointer(new.allocation, joined(mask, new.offset, old.offset), new.pointee)
        if new.allocation.is_null or old.allocation.is_null:
            return old if new.allocation.is_null else new
        return UNKNOWN
    if isinstance(new, _NO_NUMBERS) or isinstance(old, _NO_NUMBERS):
        return COMPUTED
    if type(new) is not np.ndarray and type(old) is not np.ndarray and new == old and type(new) is type(old):
        return new
    return np.where(mask, *_alike(new, old))


def _alike(new: Value, old: Value) -> tuple[Any, Any]:
    """Two numbers as arrays of one type: that of the array, if one is."""
    if type(new) is np.ndarray:
        return new, old if type(old) is np.ndarray else new.dtype.type(old)
    if type(old) is np.ndarray:
        return old.dtype.type(new), old
    dtype = np.float64 if isinstance(new, float) or isinstance(old, float) else np.int64
    return dtype(new), dtype(old)


def plus(offset: Any, added: Any) -> Any:
    """The sum of two numbers of bytes, as wide integers; data if one is."""
    if isinstance(offset, Data) or isinstance(added, Data):
        for value in (offset, added):
            if isinstance(value, Symbolic):
                return value.moved(offset, added)
        return COMPUTED
    if type(added) is int and added == 0:
        return offset
    if type(offset) is np.ndarray and offset.dtype != np.int64:
        offset = offset.astype(np.int64)
    if type(added) is np.ndarray and added.dtype != np.int64:
        added = added.astype(np.int64)
    return offset + added


def scaled(index: Any, bytes_: int) -> Any:
    """An index times the bytes of an element."""
    if type(index) is np.ndarray:
        return index.astype(np.int64) * bytes_
    if isinstance(index, Symbolic):
        return index.scaled(bytes_)
    return int(index) * bytes_ if isinstance(index, (int, bool)) else COMPUTED


def plain(offset: Any) -> Any:
    """A single number out of an array of one."""
    return int(offset.flat[0]) if type(offset) is np.ndarray and offset.size == 1 else offset


def uninitialised(type_: ir.Type) -> Value:
    """What is in memory that nobody has written."""
    if isinstance(type_, _AGGREGATES):
        return Aggregate(type_, {offset: UNKNOWN for offset, _ in leaves(type_)})
    return UNKNOWN


def as_type(value: Value, type_: ir.Type) -> Value:
    """A value converted to a type."""
    kind = type(value)
    if kind is Data:
        return value
    if isinstance(value, Data):
        return value.converted(type_) if isinstance(value, Symbolic) else value
    if isinstance(type_, ir.Scalar):
        if type_.kind == "void":
            return UNKNOWN
        if kind is Pointer:
            return (not value.allocation.is_null) if type_.kind == "bool" else value
        if kind in (Aggregate, Closure, FunctionValue):
            return UNKNOWN
        return converted(value, type_)
    if isinstance(type_, ir.PointerType):
        if kind is Pointer:
            same = value.pointee is type_.pointee
            return value if same else Pointer(value.allocation, value.offset, type_.pointee)
        if kind is int and value == 0:
            return Pointer(NULL, 0, type_.pointee)
        return value if kind in (FunctionValue, Closure) else UNKNOWN
    return value


class Memory:
    """What a machine does to memory."""

    __slots__ = ("machine",)

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def local(self, type_: ir.Type, value: Value | None = None, name: str = "") -> Allocation:
        """A new variable of the lanes that are active, with its first value."""
        machine = self.machine
        made = Allocation(name, "local", type_, machine.mask, machine.depth, machine.data)
        if value is not None:
            self.store(made, 0, value, type_, None)
        return made

    def store(self, to: Allocation, offset: Any, value: Value, type_: ir.Type, node: Any) -> None:
        if to.space != "local":
            self.machine.access(to, offset, type_, "store", node, value)
            return
        offset = plain(offset)
        if type(value) is Aggregate:
            if type(offset) is int:
                for own, cell in value.cells.items():
                    self._put(to, offset + own, cell, None)
                return
            self._forget(to)
        elif isinstance(type_, _AGGREGATES) and type(value) not in (Closure, Pointer):
            for own in [own for own in to.cells if type(offset) is not int or offset <= own < offset + type_.bytes]:
                self._put(to, own, UNKNOWN, None)
        elif type(offset) is int:
            self._put(to, offset, value, type_.bytes)
        else:
            self._scatter(to, offset, value, type_)

    def _put(self, to: Allocation, offset: int, value: Value, width: int | None) -> None:
        machine, cells = self.machine, to.cells
        old = cells.get(offset)
        if width is not None and isinstance(to.type, _AGGREGATES):
            self._cover(to, offset, width)
        if old is not None:
            if machine.data > to.data:
                # Whether it is written is up to data: it is what it is only if that makes no difference.
                value = value if _is_same(value, old) else COMPUTED
            elif machine.mask is not to.mask:
                value = joined(machine.mask, value, old)
        if to.depth < machine.depth:
            machine.note_write(to, offset, old)
        cells[offset] = value

    def _cover(self, to: Allocation, offset: int, width: int) -> None:
        """A cell of other bytes than those that are there takes their place: unions, and arrays through casts."""
        widths, end = to.widths, offset + width
        overlapping = [own for own, bytes_ in widths.items() if own != offset and own < end and offset < own + bytes_]
        for own in overlapping:
            self._put(to, own, COMPUTED, None)
        if offset in widths and widths[offset] != width:
            to.cells.pop(offset, None)
        widths[offset] = width

    def _scatter(self, to: Allocation, offset: Any, value: Value, type_: ir.Type) -> None:
        """An element that differs by lane, or that data chooses."""
        cells = to.cells
        if isinstance(offset, Data) or len(cells) > _MOST_CELLS or type(value) in (Pointer, Aggregate, Closure):
            self._forget(to)
            return
        machine = self.machine
        mask = machine.mask
        assert mask is not None
        for own in np.unique(np.broadcast_to(offset, mask.shape)[mask]).tolist():
            machine.mask = mask & (offset == own)
            # Those that hold another element keep it.
            if own not in cells:
                cells[own] = uninitialised(type_)
            self._put(to, own, value, type_.bytes)
        machine.mask = mask

    def _forget(self, to: Allocation) -> None:
        for own in list(to.cells):
            self._put(to, own, COMPUTED, None)

    def load(self, source: Allocation, offset: Any, type_: ir.Type, node: Any) -> Value:
        if source.space != "local":
            return self.machine.access(source, offset, type_, "load", node)
        offset = plain(offset)
        if isinstance(type_, _AGGREGATES):
            if type(offset) is not int:
                return uninitialised(type_)
            held = source.cells.get(offset)
            if type(held) is Closure:
                return held
            end = offset + type_.bytes
            own = {at - offset: value for at, value in source.cells.items() if offset <= at < end}
            return Aggregate(type_, own)
        if type(offset) is int:
            return self._cell(source, offset, type_)
        return self._gather(source, offset, type_)

    def _cell(self, source: Allocation, offset: int, type_: ir.Type) -> Value:
        found = source.cells.get(offset)
        width = source.widths.get(offset)
        if found is not None and (width is None or width == type_.bytes):
            return found
        if isinstance(type_, ir.Scalar):
            return _from_bytes(source, offset, type_)
        return found if found is not None else UNKNOWN

    def _gather(self, source: Allocation, offset: Any, type_: ir.Type) -> Value:
        """Of an element that differs by lane: each lane's own."""
        cells = source.cells
        if isinstance(offset, Data) or not cells or len(cells) > _MOST_CELLS:
            return COMPUTED
        found: Value = None
        for own in np.unique(offset).tolist():
            value = self._cell(source, own, type_)
            found = value if found is None else joined(offset == own, value, found)
        return found


def _is_same(new: Value, old: Value) -> bool:
    if new is old:
        return True
    if type(new) in (int, bool, float) and type(new) is type(old):
        return bool(new == old)
    return type(new) is np.ndarray and type(old) is np.ndarray and np.array_equal(new, old)


def _from_bytes(source: Allocation, offset: int, type_: ir.Scalar) -> Value:
    """A number out of cells of other widths: parts of a wider one, or several narrower ones, little end first."""
    bytes_: list[Any] = []
    for at in range(offset, offset + type_.bytes):
        own = next((o for o, w in source.widths.items() if o <= at < o + w), None)
        value = source.cells.get(own) if own is not None else None
        if own is None or value is None or type(value) not in (int, bool, np.ndarray):
            return UNKNOWN
        if type(value) is np.ndarray and value.dtype.kind not in "iub":
            return COMPUTED
        wide = value.astype(np.int64) if type(value) is np.ndarray else int(value)
        bytes_.append((wide >> (8 * (at - own))) & 0xFF)
    found = bytes_[0]
    for place, byte in enumerate(bytes_[1:], 1):
        found = found | (byte << (8 * place))
    if type_.kind == "float":
        return COMPUTED
    return converted(found, type_) if type(found) is np.ndarray else converted(int(found), type_)


def loaded(type_: ir.Type, name: str) -> Value:
    """What is not followed that memory holds."""
    if isinstance(type_, ir.PointerType):
        return Pointer(Allocation(f"*{name}", "global"), 0, type_.pointee)
    if isinstance(type_, _AGGREGATES):
        return Aggregate(type_, {offset: LOADED for offset, _ in leaves(type_)})
    return LOADED


def zeros(type_: ir.Scalar) -> Value:
    return 0.0 if dtype_of(type_).kind == "f" else 0


def parts(type_: ir.Type) -> list[tuple[int, ir.Type]]:
    """The scalars of a record that is loaded or stored as a whole; none of one that is too large."""
    found = [(offset, leaf) for offset, leaf in leaves(type_) if leaf.bytes]
    return found if len(found) <= _MOST_LEAVES else []
