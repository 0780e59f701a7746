"""The cells of local variables: what a thread stores in memory of its own, and what it finds there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.arithmetic import converted, dtype_of
from cudalint.execute.drawn import Drawn, after_turns, one_number
from cudalint.execute.memory import Allocation, either, is_equal, joined, plain, plus, uninitialised
from cudalint.execute.values import (
    AGGREGATES,
    COMPUTED,
    LOADED,
    UNKNOWN,
    Aggregate,
    Closure,
    Data,
    InPart,
    Pointer,
    Value,
    is_common,
    leaves,
)  # fmt: skip
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_MOST_CELLS = 64
"""Elements of a local array that an index which differs by lane is looked up among."""


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
        if self.machine.notes is not None and isinstance(to.type, AGGREGATES):
            self.machine.watch_place(to, offset, value)
        if type(value) is Aggregate:
            if type(offset) is int:
                widths = self._foreign(to, offset, value)
                for own, cell in value.cells.items():
                    self._put(to, offset + own, cell, widths.get(own) if widths else None)
                return
            self.forget(to)
        elif isinstance(type_, AGGREGATES) and type(value) not in (Closure, Pointer):
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
                if not is_equal(value, old):
                    is_one_of_two = machine.data == to.data + 1
                    is_one = machine.is_common_since(to.data)
                    value = either(value, old, machine.scopes[-1], machine.others[-1], is_one_of_two, is_one)
            elif machine.mask is not to.mask:
                value = joined(machine.mask, value, old)
        if to.depth < machine.depth:
            machine.note_write(to, offset, old)
        cells[offset] = value

    def seen(self, value: Value) -> Value:
        """A value as those find it who are still where it was stored."""
        if type(value) is InPart:
            return value.seen_by(self.machine.mask)
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
        """The scalars of a local variable that lie in some bytes behind a pointer; none where these are not known:
        nothing is known of the variable then."""
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
        if self.machine.notes is not None and isinstance(source.type, AGGREGATES):
            found = self._held(source, offset, type_)
            self.machine.watch_place(source, offset, found)
            return found
        return self._held(source, offset, type_)

    def _held(self, source: Allocation, offset: Any, type_: ir.Type) -> Value:
        if isinstance(type_, AGGREGATES):
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
                if isinstance(type_, AGGREGATES):
                    value = self._part(source, own, type_)
                else:
                    value = self._cell(source, own, type_)
                found = value if found is None else joined(offset == own, value, found)
        if isinstance(type_, ir.PointerType) and type(found) is not Pointer:
            return _one_of(source, offset, type_)
        if found is None:
            return uninitialised(type_) if isinstance(type_, AGGREGATES) else COMPUTED
        return found


def _one_of(source: Allocation, offset: Any, type_: ir.PointerType) -> Value:
    """A pointer out of an array of them: all lanes have the same, or nobody knows what is between theirs."""
    if any(type(held) is Pointer and held.allocation.space != "global" for held in source.cells.values()):
        return UNKNOWN
    is_one = isinstance(offset, Data) and offset.is_common
    at = 0 if is_one else Data("unknown", "it is put together from parts of an array in registers")
    made = Allocation(f"{source.name}[...]", "global")
    made.varies = "block" if is_one else "thread"
    return Pointer(made, at, type_.pointee)


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
