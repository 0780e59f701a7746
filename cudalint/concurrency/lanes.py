"""The accesses of all threads to one array, laid out as a table: who touches which bytes in which barrier interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from cudalint.concurrency.intervals import Intervals
from cudalint.concurrency.unfold import Unfolding, flat
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, EscapeEvent, Touch
from cudalint.interpreter.device.values import Allocation
from cudalint.values.graph import Graph
from cudalint.values.memory_data import Data
from cudalint.values.nodes import OPAQUE_BIT, THREAD_BITS, UNINITIALISED, Node, Reason
from cudalint.values.opaque_parts import opaque_parts, without_data

MAX_LANES = 400_000
"""Entries of one table at most."""
_MOST_UNITS = 64
"""Units of one access that are told apart; more than these only a library function touches at once."""
_MOST_INTERVALS = 8
"""Intervals over which an asynchronous copy is followed."""

Column = NDArray[np.int64]
_ROW_BITS, _THREAD_BITS = 32, 10
_INTERVAL, _ADDRESS, _LENGTH = 4, 5, 6
"""Columns of the entries of one access."""


class TooManyLanes(Exception):
    """The table would take too much memory and time."""


class Table(Struct, frozen=True, eq=False, dict=True):
    """One entry for each thread, iteration and unit of bytes. All columns are [entries]."""

    unit: int
    """Bytes: the largest power of two that divides all addresses and sizes."""
    event: Column
    """Place in `touches`."""
    row: Column
    thread: Column
    block: Column
    """A number that tells the blocks apart."""
    interval: Column
    address: Column
    """In units."""
    touches: tuple[Touch, ...]
    unfolding: Unfolding

    def __len__(self) -> int:
        return len(self.event)

    @cached_property
    def are_loads(self) -> NDArray[np.bool_]:
        """[touches] which of them only read."""
        return np.array([effect(touch) == "load" for touch in self.touches])

    @cached_property
    def are_in_loops(self) -> NDArray[np.bool_]:
        """[touches] which of them are in loops."""
        return np.array([touch.context.loops != () for touch in self.touches])

    @cached_property
    def are_volatile(self) -> NDArray[np.bool_]:
        """[touches] which of them the compiler leaves where they stand."""
        places = self.unfolding.volatile
        return np.array([
            isinstance(touch, AccessEvent) and (touch.is_verbatim or touch.context.span in places)
            for touch in self.touches
        ])  # fmt: skip

    @cached_property
    def warp_interval(self) -> Column:
        return self._timed(lambda times, row, warp: times.warp[row, warp])

    @cached_property
    def grid_interval(self) -> Column:
        return self._timed(lambda times, row, warp: times.grid[row, warp])

    @cached_property
    def soft_interval(self) -> Column:
        return self._timed(lambda times, row, warp: times.soft[row, warp])

    @cached_property
    def step(self) -> Column:
        """Grows with the order of the program: an access of an earlier iteration comes before one of a later."""
        return self._timed(lambda times, row, warp: times.step[row])

    def _timed(self, of: Callable[[Intervals, Column, Column], Column]) -> Column:
        """[entries] something of when they happen, which few tables are asked for. The entries stand touch by touch."""
        numbers, starts = np.unique(self.event, return_index=True)
        parts = np.split(self.row, starts[1:]), np.split(self.thread // WARP_LANES, starts[1:])
        times = (self.unfolding.times(self.touches[number]) for number in numbers)
        return np.concatenate([of(*part) for part in zip(times, *parts, strict=True)])

    def content(self, values: Mapping[Node, int | float], data: Data) -> tuple[object, ...]:
        """What tells the table from those that other `values` and other `data` give for the same accesses, as far as
        conflicts go: hashes of its columns and of when the accesses happen, and what the stored values depend on."""
        number = self.event << _ROW_BITS | self.row << _THREAD_BITS | self.thread
        # Python's own hash of bytes takes a third of the time of those that are meant to be safe from people.
        found = [hash(column.tobytes()) for column in (number, self.interval, self.address)]
        bits = 0
        for touch in self.touches:
            for value in touch.values or ():
                bits |= value.bits
            if self.unfolding.is_walked(touch):
                found.append(hash(self.unfolding.written(touch)))
        stored = tuple((symbol.index, value) for symbol, value in values.items() if symbol.bits & bits)
        return self.unit, len(self), tuple(found), stored, data if bits & OPAQUE_BIT else None

    @cached_property
    def values(self) -> Column:
        """[entries] numbers that are equal where entries store the same value; stores of numbers that nobody follows
        are all different, and loads have the value 0."""
        result = np.zeros(len(self), dtype=np.int64)
        for number, touch in enumerate(self.touches):
            if touch.values is not None or touch.operation != "load":
                here = np.flatnonzero(self.event == number)
                if not len(here):
                    continue
                result[here] = self._stored(touch, here)
        return result

    @cached_property
    def _written(self) -> set[object]:
        """The memory that the kernel changes, or may."""
        found = set()
        for event in self.unfolding.events:
            if isinstance(event, EscapeEvent) or (isinstance(event, Touch) and effect(event) != "load"):
                found.add(memory_of(event.target))
        return found

    def _by_content(self, value: Node) -> Node:
        """The value with one number for each element of memory that nobody changes, wherever it was loaded."""
        graph = self.unfolding.graph
        if not value.bits & OPAQUE_BIT:
            return value
        same: dict[Node, Node] = {}
        for part, reason in opaque_parts(graph, value):
            if part.op == "opaque" and reason.memory and self._is_constant(reason.memory[0]):
                content = Reason(True, "what it holds", memory=reason.memory)
                content = replace(content, function=graph.opaque(content, (), part.kind).index)
                same[part] = graph.opaque(content, tuple(map(self._by_content, part.args)), part.kind)
        return graph.substitute(value, same) if same else value

    def _is_constant(self, memory: object) -> bool:
        assert isinstance(memory, Allocation)
        return memory.space in ("global", "constant") and memory_of(memory) not in self._written

    def _stored(self, touch: Touch, entries: NDArray[np.int64]) -> Column:
        follows = self.unfolding.follows
        if touch.values is None or any(v.payload == UNINITIALISED or not follows(touch, v) for v in touch.values):
            return -1 - entries
        rows = self.unfolding.rows_of(touch)
        parts = []
        for value in touch.values:
            numbers = flat(rows.value(self._by_content(value)), rows)[self.row[entries], self.thread[entries]]
            is_float = numbers.dtype.kind == "f"
            parts.append(numbers.astype(np.float64).view(np.uint64) if is_float else numbers.astype(np.uint64))
        mixed = np.zeros(len(entries), dtype=np.uint64)
        # A vector of one value stores what a scalar of that value does.
        is_one = np.all([part == parts[0] for part in parts], axis=0)
        for number, part in enumerate(parts):
            more = (mixed ^ part) * np.uint64(0x9E3779B97F4A7C15)
            mixed = np.where(is_one, mixed, more) if number else more
        return (mixed >> np.uint64(1)).astype(np.int64)


def effect(touch: Touch) -> Literal["load", "store", "atomic"]:
    """An asynchronous copy reads global memory and writes shared memory."""
    if touch.operation == "async-copy":
        return "store" if touch.target.space == "shared" else "load"
    return touch.operation


def memory_of(target: Allocation) -> object:
    """All arrays of dynamic shared memory start at the same place, and a launch may pass one array for several
    parameters."""
    if target.space == "shared" and target.symbol is not None and target.symbol.storage == "dynamic-shared":
        return "dynamic-shared"
    return target.memory


def is_one_array(target: Allocation, graph: Graph, bits: int = THREAD_BITS) -> bool:
    """Whether a pointer is the same for all threads of a block (or, with other `bits`, of the grid)."""
    return target.opaque is None or not target.opaque.bits & (bits | graph.loop_bits)


def table_of(unfolding: Unfolding, touches: Sequence[Touch], size: int | None) -> Table | None:
    """The entries of the accesses to one array; None where there are none. Threads whose address lies outside of an
    array of known `size` (in bytes) are left out: that is another defect."""
    found: dict[int, tuple[Column, ...]] = {}
    room, extent = MAX_LANES, size
    by_data = [_is_shared_by_data(touch, unfolding) for touch in touches]
    for number in sorted(range(len(touches)), key=by_data.__getitem__):
        if by_data[number] and extent is None:
            extent = max((int((part[_ADDRESS] + part[_LENGTH]).max()) for part in found.values()), default=None)
        part = _entries(unfolding, number, touches[number], size, extent if by_data[number] else None)
        if part is not None:
            found[number] = part
            room -= len(part[0])
        if room < 0:
            raise TooManyLanes
    if not found:
        return None
    columns = [np.concatenate(column) for column in zip(*(found[n] for n in sorted(found)), strict=True)]
    address, length = columns[_ADDRESS], columns[_LENGTH]
    everything = int(np.bitwise_or.reduce(address | length))
    unit = min(everything & -everything, 16) if everything else 1
    columns[_ADDRESS] = address // unit
    units = np.minimum(length // unit, _MOST_UNITS)
    total = int(units.sum())
    if total > MAX_LANES:
        raise TooManyLanes
    if total > len(units):
        of = np.repeat(np.arange(len(units)), units)
        columns = [column[of] for column in columns]
        columns[_ADDRESS] += np.arange(total) - np.repeat(np.cumsum(units) - units, units)
    event, row, thread, block, interval, address, _ = columns
    return Table(unit, event, row, thread, block, interval, address, tuple(touches), unfolding)


def _is_shared_by_data(touch: Touch, unfolding: Unfolding) -> bool:
    """Whether loaded data decides on the element of shared memory."""
    return touch.target.space == "shared" and is_up_to_data(touch.offset, unfolding.graph)


def is_up_to_data(offset: Node, graph: Graph) -> bool:
    """Whether threads have different addresses because they load different data, and for no other reason."""
    if not offset.bits & graph.opaque_bits:
        return False
    varies = any(part.bits & THREAD_BITS for part, _ in opaque_parts(graph, offset))
    return varies and not without_data(graph, offset).bits & THREAD_BITS


def _entries(
    unfolding: Unfolding, number: int, touch: Touch, size: int | None, extent: int | None
) -> tuple[Column, ...] | None:
    """The columns of one access, as in `Table`, and how many bytes each entry has. Within an `extent`, if one is given,
    lie all addresses: the data that a program is made for leads into its arrays, made-up data need not."""
    if not unfolding.is_walked(touch):
        return None
    rows, times = unfolding.rows_of(touch), unfolding.times(touch)
    mask = unfolding.mask(touch)
    guards = _guards_of_element(touch, unfolding)
    if guards:
        mask = mask & rows.mask(guards)
    addresses = flat(rows.value(touch.offset), rows).astype(np.int64, copy=False)
    if extent is not None:
        strays = (addresses < 0) | (addresses + touch.bytes > extent)
        addresses = np.where(strays, addresses % max(extent - extent % touch.bytes, touch.bytes), addresses)
    if size is not None:
        mask = mask & (addresses >= 0) & (addresses + touch.bytes <= size)
    kept = _read_before(unfolding, touch)
    if kept is not None:
        # Who stores what is there already changes nothing for anybody.
        mask = mask & (flat(rows.value(kept), rows) != addresses)
    happens = times.block >= 0
    at = np.flatnonzero(mask if happens.all() else mask & happens.repeat(WARP_LANES, axis=1))
    if not len(at):
        return None
    # numpy divides by one number several times as fast as it finds remainders.
    row, by_warp = at // mask.shape[1], at // WARP_LANES
    thread = at - row * mask.shape[1]
    blocks = rows.blocks[:, 0] | rows.blocks[:, 1] << 21 | rows.blocks[:, 2] << 42
    interval, until = times.block.ravel()[by_warp], times.until.ravel()[by_warp]
    entries = (
        np.full(len(at), number, dtype=np.int64), row, thread, blocks[row], interval, addresses.ravel()[at],
        np.full(len(at), touch.bytes, dtype=np.int64),
    )  # fmt: skip
    if isinstance(touch, AccessEvent) and touch.operation != "async-copy" and np.array_equal(until, interval):
        return entries
    return _lasting(entries, np.minimum(until - interval, _MOST_INTERVALS))


def _guards_of_element(touch: Touch, unfolding: Unfolding) -> list[Node]:
    """The conditions on just the data that chooses the element (`if (bin >= 0) counts[bin] += 1`): what fails them
    leads nowhere. Random data, which fulfils hardly any, is taken to fulfil all."""
    graph = unfolding.graph
    if unfolding.base.data == "random" or not touch.offset.bits & graph.opaque_bits:
        return []
    chooses = {part for part, _ in opaque_parts(graph, touch.offset)}
    asked = [(c, {part for part, _ in opaque_parts(graph, c)}) for c in touch.context.conditions]
    return [c for c, parts in asked if parts and parts <= chooses and unfolding.follows(touch, c)]


def _read_before(unfolding: Unfolding, touch: Touch) -> Node | None:
    """The address of which a store stores the content, with no barrier since it was read: who changes it meanwhile is
    in the way of the load. None for other stores."""
    if touch.operation != "store" or touch.values is None or len(touch.values) != 1:
        return None
    (value,) = touch.values
    reason = value.payload
    if value.op != "opaque" or not isinstance(reason, Reason) or reason.memory != (touch.target,):
        return None
    events, place = unfolding.events, unfolding.place_of(touch)
    for event in reversed(events[:place]):
        if isinstance(event, BarrierEvent):
            return None
        if isinstance(event, AccessEvent) and event.target is touch.target and event.offset is value.args[0]:
            is_whole = event.operation == "load" and event.bytes == touch.bytes
            return event.offset if is_whole and unfolding.follows(touch, event.offset) else None
    return None


def _lasting(entries: tuple[Column, ...], more: Column) -> tuple[Column, ...]:
    """An access that is under way during several barrier intervals is an entry in each of them."""
    of = np.repeat(np.arange(len(more)), more + 1)
    later = np.arange(len(of)) - np.repeat(np.cumsum(more + 1) - (more + 1), more + 1)
    columns = [column[of] for column in entries]
    columns[_INTERVAL] = columns[_INTERVAL] + later
    return tuple(columns)
