"""Memory: allocations, and the cells of those that a thread has to itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cudalint.execute.arithmetic import converted, dtype_of
from cudalint.execute.drawn import (
    Drawn,
    after_turns,
    cast_number,
    chosen_number,
    either_number,
    moved_offset,
    one_number,
    scaled_index,
)
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
    is_common,
    leaves,
)
from cudalint.ir import nodes as ir
from cudalint.ir.kept import kept

if TYPE_CHECKING:
    from cudalint.execute.contents import Contents
    from cudalint.execute.lanes import Mask
    from cudalint.execute.machine import Machine

MemorySpace = Literal["local", "shared", "global", "constant", "nowhere"]
Varies = Literal["", "block", "thread"]
_AGGREGATES = (ir.RecordType, ir.ArrayType)
_NO_NUMBERS = (Data, Pointer, Aggregate, Closure, FunctionValue)
_MOST_CELLS = 64
"""Elements of a local array that an index which differs by lane is looked up among."""
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
        self.extent, self.symbol = extent, symbol
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
        return COMPUTED
    if type(new) is not np.ndarray and type(old) is not np.ndarray and new == old and type(new) is type(old):
        return new
    return np.where(mask, *_alike(new, old))


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
    null = None if _is_same(new.is_set, old.is_set) and not isinstance(new.is_set, Data) else COMPUTED
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
            is_same = part not in parts or _is_same(parts[part][1], moved)
            parts[part] = _EVERYWHERE, moved if is_same else COMPUTED
    made = _made_of(parts)
    if made is None:
        return UNKNOWN
    made.is_open = True
    return Pointer(made, 0, new.pointee, null)


_EVERYWHERE = np.ones((1, 1), bool)


def _alike(new: Value, old: Value) -> tuple[Any, Any]:
    """Two numbers as arrays of one type: that of the array, if one is."""
    if type(new) is np.ndarray:
        return new, old if type(old) is np.ndarray else _wrapped(old, new.dtype)
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
    if isinstance(type_, _AGGREGATES):
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


class Memory:
    """What a machine does to memory."""

    __slots__ = ("_fits", "_layouts", "machine")

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._layouts: dict[ir.Type | None, dict[int, int]] = {}
        self._fits: dict[tuple[ir.Type | None, ir.Type, int], bool] = {}

    def local(
        self, type_: ir.Type, value: Value | None = None, name: str = "", symbol: ir.Symbol | None = None
    ) -> Allocation:
        """A new variable of the lanes that are active, with its first value."""
        machine = self.machine
        made = Allocation(name, "local", type_, machine.mask, machine.depth, machine.data, symbol=symbol)
        if value is not None:
            self.store(made, 0, value, type_, None)
        return made

    def store(self, to: Allocation, offset: Any, value: Value, type_: ir.Type, node: Any) -> None:
        if to.space != "local":
            self.machine.access(to, offset, type_, "store", node, value)
            return
        offset = plain(offset)
        if isinstance(to.type, ir.ArrayType):
            if self._leaves(to, offset, type_):
                self.machine.overrun(to, offset, type_, "store", node)
            else:
                self.machine.stay(node)
        if self.machine.notes is not None and isinstance(to.type, _AGGREGATES):
            self.machine.watch_place(to, offset, value)
        if type(value) is Aggregate:
            if type(offset) is int:
                widths = self._foreign(to, offset, value)
                for own, cell in value.cells.items():
                    self._put(to, offset + own, cell, widths.get(own) if widths else None)
                return
            self.forget(to)
        elif isinstance(type_, _AGGREGATES) and type(value) not in (Closure, Pointer):
            for own in [own for own in to.cells if type(offset) is not int or offset <= own < offset + type_.bytes]:
                self._put(to, own, UNKNOWN, None)
        elif type(offset) is int:
            self._put(to, offset, value, type_.bytes)
        else:
            self._scatter(to, offset, value, type_)

    def _leaves(self, array: Allocation, offset: Any, type_: ir.Type) -> bool:
        """Whether an active lane goes out of an array of its own."""
        extent = array.type.bytes if array.type is not None else 0
        if not extent or isinstance(offset, Data):
            return False
        highest = extent - type_.bytes
        if type(offset) is int:
            return not 0 <= offset <= highest
        if int(offset.min()) >= 0 and int(offset.max()) <= highest:
            return False
        mask = self.machine.mask
        return mask is not None and bool((mask & ((offset < 0) | (offset > highest))).any())

    def _put(self, to: Allocation, offset: int, value: Value, width: int | None) -> None:
        machine, cells = self.machine, to.cells
        old = cells.get(offset)
        if width is not None and (to.widths or width != self.layout(to.type).get(offset)):
            self._cover(to, offset, width)
            old = cells.get(offset)
            if type(value) is float or (type(value) is np.ndarray and value.dtype.kind == "f"):
                old = _read_as(old, ir.Scalar("bits", width, "float")) if old is not None else None
        if old is not None:
            if machine.data > to.data:
                # Whether it is written is up to data: it is what it is only if that makes no difference.
                if machine.mask is not to.mask:
                    value = joined(machine.mask, value, self.seen(old))
                if not _is_same(value, old):
                    is_one_of_two = machine.data == to.data + 1
                    is_one = machine.is_common_since(to.data)
                    value = either(value, old, machine.scopes[-1], machine.others[-1], is_one_of_two, is_one)
            elif machine.mask is not to.mask:
                value = joined(machine.mask, value, old)
        if to.depth < machine.depth:
            machine.note_write(to, offset, old)
        cells[offset] = value

    def seen(self, value: Value) -> Value:
        """A value as those find it who are still where it was stored, if data decided about that."""
        if type(value) is Drawn:
            return self.seen(value.arguments[0]) if value.scope in self.machine.scopes else value
        if type(value) is Pointer and type(value.offset) is Drawn and value.offset.scope in self.machine.scopes:
            return Pointer(value.allocation, self.seen(value.offset), value.pointee, value.null)
        return value

    def leave_by_data(
        self, written: Iterable[tuple[tuple[Allocation, int], Value]], is_common: bool, salt: int
    ) -> None:  # fmt: skip
        """Behind a loop that lanes leave where data says: of what its turns have written nobody knows how many turns
        have done so; of all lanes of a warp as many, where `is_common`. `written` has what was there before."""
        for number, ((to, offset), old) in enumerate(written):
            new = to.cells.get(offset)
            if to.depth > self.machine.depth or new is None or old is None:
                continue
            if type(new) is Pointer and type(old) is Pointer and new.allocation is old.allocation:
                moved = after_turns(new.offset, old.offset, is_common, salt + number)
                left: Value = Pointer(new.allocation, moved, new.pointee)
            else:
                left = after_turns(new, old, is_common, salt + number)
            to.cells[offset] = left if self.machine.mask is to.mask else joined(self.machine.mask, left, new)

    def layout(self, type_: ir.Type | None) -> dict[int, int]:
        """The bytes of a type's scalars by their offsets; of unions those of the last member."""
        found = self._layouts.get(type_)
        if found is None:
            parts = {offset: leaf.bytes for offset, leaf in leaves(type_)} if type_ is not None else {}
            found = self._layouts[type_] = parts
        return found

    def _foreign(self, to: Allocation, offset: int, value: Aggregate) -> dict[int, int] | None:
        """The layout of a record that is stored, if it is not that of the scalars that it is stored to."""
        if value.type is to.type:
            return None
        key = to.type, value.type, offset
        found = self._fits.get(key)
        if found is None:
            natural, own = self.layout(to.type), self.layout(value.type)
            found = self._fits[key] = all(natural.get(offset + at) == width for at, width in own.items())
        return None if found and not to.widths else self.layout(value.type)

    def _width(self, source: Allocation, offset: int) -> int:
        """The bytes of a cell."""
        return source.widths.get(offset) or self.layout(source.type).get(offset, 0)

    def _cover(self, to: Allocation, offset: int, width: int) -> None:
        """A cell of other bytes than those that are there takes their place: unions, and arrays through casts. What is
        left of those that are only partly covered, falls into bytes."""
        end = offset + width
        if self._width(to, offset) == width and offset in to.cells:
            others = [own for own in to.widths if own != offset and offset < own < end]
            if not others:
                to.widths[offset] = width
                return
        overlapping = [own for own in to.cells if own < end and offset < own + max(1, self._width(to, own))]
        before = _from_bytes(self, to, offset, ir.Scalar("bytes", width, "uint")) if overlapping else None
        for own in overlapping:
            held, bytes_ = to.cells[own], max(1, self._width(to, own))
            if to.depth < self.machine.depth:
                self.machine.note_write(to, own, held)
            del to.cells[own]
            to.widths.pop(own, None)
            for at in range(own, own + bytes_):
                if not offset <= at < end:
                    to.cells[at], to.widths[at] = _byte(held, at - own, bytes_), 1
        if before is not None:
            to.cells[offset] = before
        to.widths[offset] = width

    def _scatter(self, to: Allocation, offset: Any, value: Value, type_: ir.Type) -> None:
        """An element that differs by lane, or that data chooses."""
        cells = to.cells
        if isinstance(offset, Data) or len(cells) > _MOST_CELLS or type(value) in (Pointer, Aggregate, Closure):
            self.forget(to)
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

    def forget(self, to: Allocation) -> None:
        for own in list(to.cells):
            self._put(to, own, COMPUTED, None)

    def leaves_within(self, at: Pointer, size: int | None) -> list[tuple[int, ir.Type]]:
        """The scalars of a local variable that lie in some bytes behind a pointer; none where that can't be told, after
        which nothing is known of the variable."""
        to, offset = at.allocation, plain(at.offset)
        if to.space != "local" or to.type is None:
            return []
        if type(offset) is not int or size is None:
            self.forget(to)
            return []
        return [(own, leaf) for own, leaf in leaves(to.type) if offset <= own and own + leaf.bytes <= offset + size]

    def load(self, source: Allocation, offset: Any, type_: ir.Type, node: Any) -> Value:
        if source.space != "local":
            return self.machine.access(source, offset, type_, "load", node)
        offset = plain(offset)
        if isinstance(source.type, ir.ArrayType):
            if self._leaves(source, offset, type_):
                self.machine.overrun(source, offset, type_, "load", node)
            else:
                self.machine.stay(node)
        if self.machine.notes is not None and isinstance(source.type, _AGGREGATES):
            found = self._held(source, offset, type_)
            self.machine.watch_place(source, offset, found)
            return found
        return self._held(source, offset, type_)

    def _held(self, source: Allocation, offset: Any, type_: ir.Type) -> Value:
        if isinstance(type_, _AGGREGATES):
            if type(offset) is not int:
                return self._gather(source, offset, type_) if type(offset) is np.ndarray else uninitialised(type_)
            return self._part(source, offset, type_)
        if type(offset) is int:
            return self._cell(source, offset, type_)
        return self._gather(source, offset, type_)

    def _part(self, source: Allocation, offset: int, type_: ir.RecordType | ir.ArrayType) -> Value:
        """A record, or an array, that is held by value."""
        held = source.cells.get(offset)
        if type(held) is Closure:
            return held
        end = offset + type_.bytes
        return Aggregate(type_, {at - offset: value for at, value in source.cells.items() if offset <= at < end})

    def _cell(self, source: Allocation, offset: int, type_: ir.Type) -> Value:
        found = self.seen(source.cells.get(offset))
        if found is not None:
            width = self._width(source, offset)
            if width == type_.bytes or not width:
                return _read_as(found, type_)
        if isinstance(type_, ir.Scalar):
            return _from_bytes(self, source, offset, type_)
        return found if found is not None else UNKNOWN

    def _gather(self, source: Allocation, offset: Any, type_: ir.Type) -> Value:
        """Of an element that differs by lane: each active lane's own."""
        cells = source.cells
        is_one = isinstance(offset, Data) and offset.is_common and not isinstance(type_, ir.PointerType)
        if is_one and 0 < len(cells) <= _MOST_CELLS and all(map(is_common, cells.values())):
            return one_number(type_, len(cells))
        found: Value = None
        mask = self.machine.mask
        if mask is not None and source.cells and type(offset) is np.ndarray:
            numbers = np.unique(np.broadcast_to(offset, mask.shape)[mask]).tolist()
            for own in numbers if len(numbers) <= _MOST_CELLS else ():
                if isinstance(type_, _AGGREGATES):
                    value = self._part(source, own, type_)
                else:
                    value = self._cell(source, own, type_)
                found = value if found is None else joined(offset == own, value, found)
        if isinstance(type_, ir.PointerType) and type(found) is not Pointer:
            return _one_of(source, offset, type_)
        if found is None:
            return uninitialised(type_) if isinstance(type_, _AGGREGATES) else COMPUTED
        return found


def _one_of(source: Allocation, offset: Any, type_: ir.PointerType) -> Value:
    """A pointer out of an array of them: all lanes have the same, or nobody knows what is between theirs."""
    if any(type(held) is Pointer and held.allocation.space != "global" for held in source.cells.values()):
        return UNKNOWN
    is_one = isinstance(offset, Data) and offset.is_common
    apart = 0 if is_one else Data("unknown", "it is put together from parts of an array in registers")
    made = Allocation(f"{source.name}[...]", "global")
    made.varies = "block" if is_one else "thread"
    return Pointer(made, apart, type_.pointee)


def _is_same(new: Value, old: Value) -> bool:
    if new is old:
        return True
    if type(new) in (int, bool, float) and type(new) is type(old):
        return bool(new == old)
    return type(new) is np.ndarray and type(old) is np.ndarray and np.array_equal(new, old)


def _read_as(value: Value, type_: ir.Type) -> Value:
    """The bits of a number as a type's that may be another one: a float's in a union with an integer."""
    is_float = type(value) is float or (type(value) is np.ndarray and value.dtype.kind == "f")
    is_whole = type(value) is int or (type(value) is np.ndarray and value.dtype.kind in "iu")
    if not isinstance(type_, ir.Scalar) or not (is_float if type_.kind in ("int", "uint") else is_whole):
        return value
    if type_.kind not in ("int", "uint", "float") or type_.bytes not in (4, 8):
        return value if type_.kind == "bool" else COMPUTED
    wide = type_.bytes == 8
    own: Any = (np.float64 if wide else np.float32) if is_float else (np.int64 if wide else np.int32)
    bits = np.atleast_1d(np.asarray(value).astype(own)).view(dtype_of(type_))
    return bits if type(value) is np.ndarray else converted(bits[0].item(), type_)


def copied(m: Machine, target: Value, source: Value, size: Value) -> None:
    """What a local variable holds after bytes were copied to it; the accesses are noted elsewhere."""
    if type(target) is not Pointer or target.allocation.space != "local":
        return
    for offset, leaf in m.memory.leaves_within(target, size if type(size) is int else None):
        value: Value = LOADED
        if type(source) is not Pointer:
            value = UNKNOWN
        elif source.allocation.space == "local":
            at = plain(plus(source.offset, offset - plain(target.offset)))
            value = m.memory.load(source.allocation, at, leaf, None)
        m.memory.store(target.allocation, offset, value, leaf, None)


def _from_bytes(memory: Memory, source: Allocation, offset: int, type_: ir.Scalar) -> Value:
    """A number out of cells of other widths: parts of a wider one, or several narrower ones, little end first."""
    found: Any = None
    for place in range(type_.bytes):
        at = offset + place
        own = next((o for o in range(at, at - _WIDEST, -1) if o in source.cells), None)
        width = memory._width(source, own) if own is not None else 0
        if own is None or at >= own + width:
            return UNKNOWN
        byte = _byte(source.cells[own], at - own, width)
        if isinstance(byte, Data):
            return byte
        wide = byte.astype(np.int64) if type(byte) is np.ndarray else byte
        found = wide if found is None else found | (wide << (8 * place))
    whole = converted(found, ir.Scalar("bytes", type_.bytes, "int" if type_.kind == "int" else "uint"))
    return _read_as(whole, type_) if type_.kind == "float" else converted(whole, type_)


def _byte(value: Value, place: int, width: int) -> Value:
    """One byte of a number that is so wide."""
    is_float = type(value) is float or (type(value) is np.ndarray and value.dtype.kind == "f")
    if is_float:
        value = _read_as(value, ir.Scalar("bytes", width, "int"))
    if isinstance(value, Data):
        return value
    if type(value) not in (int, bool, np.ndarray):
        return COMPUTED
    wide = value.astype(np.int64) if type(value) is np.ndarray else int(value)
    return (wide >> (8 * place)) & 0xFF


_WIDEST = 8
"""Bytes of a cell."""


def loaded(type_: ir.Type, name: str) -> Value:
    """What is not followed that memory holds."""
    if isinstance(type_, ir.PointerType):
        return Pointer(Allocation(f"*{name}", "global"), 0, type_.pointee)
    if isinstance(type_, _AGGREGATES):
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
