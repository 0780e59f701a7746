"""Accesses that leave an allocation whose extent is known: for certain, or only in the last block of a grid that is
rounded up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Stack, Trace
from cudalint.execute.values import Data
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import walk, without_casts
from cudalint.measure.arrays import ByWorld
from cudalint.measure.faults import Found, Offender, Site, Wrong, found_of, sites_of
from cudalint.measure.numbers import amount_of, names_in, numbers_of, parameters_of
from cudalint.measure.sensitivity import where
from cudalint.worlds.records import Batch
from cudalint.worlds.text import text_of


class Sizes:
    """The bytes of allocations, world by world."""

    def __init__(
        self, worlds: int, sizes: Mapping[Allocation, ByWorld] | None = None, shared: ByWorld | None = None
    ) -> None:  # fmt: skip
        """`sizes` are those of what pointers lead to; `shared` is what there is of dynamic shared memory."""
        self.worlds, self._sizes, self._shared = worlds, dict(sizes or {}), shared

    @classmethod
    def of(cls, batch: Batch, has_shared: bool) -> Sizes:
        """`has_shared` is whether somebody says how much dynamic shared memory there is."""
        sizes = {allocation: size.bytes for allocation, size in batch.sizes.items()}
        return cls(len(batch), sizes, batch.shared if has_shared else None)

    def __call__(self, allocation: Allocation) -> ByWorld | None:
        """None where nobody says anything of it."""
        found = self._sizes.get(allocation)
        if found is not None:
            # What comes to nothing, or less, is no size: nobody allocates that, or it has overflowed.
            return tuple(own if own is not None and own > 0 else None for own in found)
        if allocation.space == "shared" and is_open(allocation.type):
            return self._shared
        own = extent_of(allocation)
        return (own,) * self.worlds if own is not None else None

    def is_declared(self, allocation: Allocation) -> bool:
        return allocation not in self._sizes


def extent_of(allocation: Allocation) -> int | None:
    """Bytes of an allocation by its declaration; None where that leaves it open."""
    if allocation.extent is not None:
        return allocation.extent
    type_ = allocation.type
    if type_ is None or allocation.space == "nowhere" or isinstance(type_, ir.OpaqueType) or is_open(type_):
        return None
    if isinstance(type_, ir.RecordType) and type_.unsized:
        return None
    return type_.bytes or None


def is_open(type_: ir.Type | None) -> bool:
    """Whether the source leaves an extent open, as `extern __shared__ float a[]` does."""
    return isinstance(type_, ir.ArrayType) and (type_.count is None or is_open(type_.element))


def outside(trace: Trace, extents: Sizes) -> list[Found]:
    """The sites at which lanes leave their allocation, in the order of the trace: those that data decides about only
    where the same access doesn't do so for certain."""

    def asks(site: Site) -> Wrong | None:
        # Where the bytes that are accessed are not known those from its start are not either.
        return leaves(extents(site.allocation), site.bytes, trace.lanes) if site.bytes else None

    found = list(found_of(sites_of((*trace.accesses, *trace.overruns)), trace, asks))
    certain = {each.site[:-1] for each in found if not each.site.is_conditional}
    return [each for each in found if not each.site.is_conditional or each.site[:-1] not in certain]


def leaves(extent: ByWorld | None, bytes_: int, lanes: Lanes) -> Wrong | None:
    """Whether accesses of so many bytes leave what has an extent; None where nobody says which in any world."""
    if extent is None or all(own is None for own in extent):
        return None
    most: Any = extent[0]
    if len(set(extent)) > 1:
        # Where nobody knows, there is room for all.
        numbers = np.array([_ANY if own is None else own for own in extent], np.int64)
        most = np.repeat(numbers, lanes.blocks)[:, None]

    last = most - bytes_

    def leave(offset: Any) -> Any:
        if type(offset) is not np.ndarray:
            return (offset < 0) | (offset > last)
        # Most are right even for the lanes that don't come.
        if int(offset.min()) >= 0 and int(offset.max()) <= (last if type(last) is int else int(last.min())):
            return False
        return (offset < 0) | (offset > last)

    return leave


_ANY = 1 << 62


def ends(events: Sequence[AccessEvent], lanes: Lanes) -> tuple[int, ...]:
    """One past the last byte that lanes touch in each world, as far as offsets are known; 0 where none is."""
    most = np.zeros(lanes.worlds, np.int64)
    for event in events:
        if isinstance(event.offset, Data):
            continue
        offsets = np.where(event.mask, event.offset, -event.bytes).max(axis=1)
        rows = np.broadcast_to(offsets, (lanes.rows,)).reshape(lanes.worlds, lanes.blocks)
        most = np.maximum(most, rows.max(axis=1) + event.bytes)
    return tuple(most.tolist())


# --- which numbers addresses rest on -------------------------------------------------------------------


class Addresses:
    """Of one kernel under one launch."""

    def __init__(self, kernel: ir.Function, batch: Batch, given: Set[str] = frozenset()) -> None:
        """`given` are the parameters whose numbers the launch gives."""
        self._origins = text_of(kernel).uses.origins
        self._given = given
        self._numbers = numbers_of(batch)
        self._parameters = parameters_of(batch)

    def rest_on(self, node: Any, stack: Stack) -> frozenset[str]:
        """The open numbers that go into an address, by the names of the kernel's parameters."""
        found: set[str] = set()
        for place in _places(node):
            found.update(p.name for p in self._origins.moving(place).sources)
        for call in stack:
            for argument in _pointers(call.arguments):
                found.update(p.name for p in self._origins.of(argument).sources)
        return frozenset(found - self._given)

    def are_of(self, parameters: Iterable[str], names: Set[str]) -> bool:
        """Whether these parameters are nothing but some open numbers, or computed of those."""
        own = {name: values for name, values in self._numbers.items() if name in names}
        for parameter in parameters:
            values = self._parameters.get(parameter)
            if parameter in names:
                continue
            if values is None or len(set(values)) == 1 or amount_of([int(v) for v in values], own) is None:
                return False
        return True


def _places(node: Any) -> Iterator[ir.Expr]:
    """What is accessed: of a call, what its arguments lead to."""
    if isinstance(node, (ir.Call, ir.Construct)):
        yield from _pointers(node.arguments)
    elif isinstance(node, st.Asm):
        yield from (each for each in walk(node) if isinstance(each, ir.Name))
    elif node is not None:
        yield node


def _pointers(arguments: Iterable[ir.Expr]) -> Iterator[ir.Expr]:
    for argument in arguments:
        if isinstance(argument.type, ir.PointerType):
            inner = without_casts(argument)
            yield inner.operand if isinstance(inner, ir.Unary) and inner.op == "&" else inner


# --- grids that are rounded up to whole tiles ----------------------------------------------------------


_MOST_FACTORS = 3


class Covering(NamedTuple):
    """Along one axis there are as many blocks as it takes to cover a size in tiles."""

    axis: int
    names: tuple[str, ...]
    """Whose product the size is."""
    tile: int
    rests: tuple[int, ...]
    """What is left over of the size in each world, if it is divided into tiles."""

    blocks: tuple[int, ...]
    """How many there are in each world."""

    @property
    def condition(self) -> str:
        """Under which nothing is."""
        product = " * ".join(self.names)
        return f"{product if len(self.names) == 1 else f'({product})'} % {self.tile} == 0"


def coverings(batch: Batch) -> list[Covering]:
    """All that the worlds of a launch agree with, those of fewer numbers first."""
    found: list[Covering] = []
    numbers = _whole_numbers(batch)
    for axis in range(3):
        blocks = [grid[axis] for grid in batch.grid]
        if len(set(blocks)) == 1:
            continue
        for count in range(1, min(_MOST_FACTORS, len(numbers)) + 1):
            own = list(_of_axis(batch.block, axis, blocks, numbers, count))
            found += own
            if own:
                break
    return found


def tail_of(found: Found, own: Sequence[Covering]) -> tuple[int, str | None] | None:
    """The world in which lanes of the last block are wrong, and nobody else ever is, with the condition under which all
    blocks stay inside, if it is one on one number. No world at all if it is no tail. It takes several blocks to tell
    the last one from the others."""
    worlds = [world for world in range(len(found.holds)) if all(each.blocks[world] > 1 for each in own)]
    if not any(found.holds[world] for world in worlds):
        return None
    for count in range(1, len(own) + 1):
        fitting = [each for each in itertools.combinations(own, count) if _explain(found, worlds, each)]
        if fitting:
            world = next(world for world in worlds if found.holds[world])
            is_shown = any(found.holds[world] is False and not _is_left_over(world, fitting[0]) for world in worlds)
            covering = fitting[0][0]
            is_plain = len(fitting) == 1 and count == 1 and len(covering.names) == 1
            return world, covering.condition if is_shown and is_plain else None
    return None


def _explain(found: Found, worlds: Iterable[int], own: Sequence[Covering]) -> bool:
    """Whether lanes are only wrong in worlds in which one of these sizes is not covered in whole tiles, and in the last
    block along its axis."""
    return all(
        any(each.rests[world] and found.only_in_last[world][each.axis] for each in own)
        for world in worlds
        if found.holds[world]
    )


def _is_left_over(world: int, own: Iterable[Covering]) -> bool:
    return any(covering.rests[world] for covering in own)


def _whole_numbers(batch: Batch) -> dict[str, list[int]]:
    """Those that differ between the worlds."""
    found = {}
    for name, values in numbers_of(batch).items():
        whole = [value for value in values if type(value) is int and value > 0]
        if len(whole) == len(values) and len(set(whole)) > 1:
            found[name] = whole
    return found


def _of_axis(
    block: Extents, axis: int, blocks: Sequence[int], numbers: dict[str, list[int]], count: int
) -> Iterator[Covering]:
    for names in itertools.combinations(numbers, count):
        sizes = [math.prod(each) for each in zip(*(numbers[name] for name in names), strict=True)]
        tile = _tile(sizes, blocks, (block[axis], math.prod(block)))
        if tile is not None:
            yield Covering(axis, names, tile, tuple(size % tile for size in sizes), tuple(blocks))


def _tile(sizes: Sequence[int], blocks: Sequence[int], threads: Sequence[int]) -> int | None:
    """The tile for which each number of blocks is the size's quotient, rounded up: one that threads go into evenly, or
    that goes into them."""
    pairs = list(zip(sizes, blocks, strict=True))
    least = max(-(-size // own) for size, own in pairs)
    most = min(((size - 1) // (own - 1) for size, own in pairs if own > 1), default=0)
    for own in threads:
        multiple = -(-least // own) * own
        if multiple <= most:
            return multiple
    return next((tile for tile in range(least, min(most, max(threads)) + 1) if max(threads) % tile == 0), None)


# --- which accesses leave their array for certain ------------------------------------------------------


_MOST_ASSUMED = 64
"""Bytes of an element of an array of which nobody says how many it has."""


class Leaving(Struct, frozen=True):
    """An access that leaves its array."""

    site: Site
    kind: Literal["always", "tail"]
    """`tail`: only where the size is no multiple of what the blocks take."""
    world: int
    """That is reported."""
    offender: Offender
    extents: ByWorld
    """Bytes of the array in each world."""
    values: tuple[tuple[str, int], ...]
    """Of the numbers on which it rests, in that world."""
    condition: str | None
    """Of a tail: under which all blocks stay inside, where one size alone says so."""
    is_allocated: bool
    """Whether somebody says how large the array is."""


def leaving(trace: Trace, batch: Batch, addresses: Addresses, has_shared: bool) -> list[Leaving]:
    """What leaves its array under a launch, in the order of the trace. `has_shared` is whether somebody says how much
    dynamic shared memory there is."""
    known = Sizes.of(batch, has_shared)
    own = coverings(batch)
    assumed = _assumed(trace, batch, known, own)
    judge = _Judge(batch, addresses, own)
    found = [judge.of(each, known(each.site.allocation), True) for each in outside(trace, known)]
    if assumed:
        as_assumed = outside(_only(trace, assumed), Sizes(len(batch), assumed))
        found += [judge.of(each, assumed[each.site.allocation], False) for each in as_assumed]
    return [each for each in found if each is not None]


class _Judge:
    """Tells what holds of all numbers from what a world happens to have."""

    def __init__(self, batch: Batch, addresses: Addresses, own: Sequence[Covering]) -> None:
        self._batch, self._addresses, self._coverings = batch, addresses, own
        self._numbers = numbers_of(batch)

    def of(self, found: Found, extent: ByWorld | None, is_allocated: bool) -> Leaving | None:
        if extent is None:
            return None
        if found.site.allocation.space == "global" and not found.site.is_conditional:
            own = [each for each in self._coverings if self._goes_into(each, found.site.allocation, is_allocated)]
            tail = tail_of(found, own)
            if tail is not None:
                return self._record(found, tail[0], extent, "tail", tail[1], is_allocated)
        is_too_small = all(own is not None and own < found.site.bytes for own in extent)
        if is_allocated and self._is_certain(found, is_too_small):
            return self._record(found, found.first, extent, "always", None, is_allocated)
        return None

    def _is_certain(self, found: Found, is_too_small: bool) -> bool:
        """Whether it is wrong whatever the numbers are with which anybody comes there. A grid that covers a size has
        several blocks. Where data decides, or a flag, who comes, it is certain of what has no room for one element."""
        if self._batch.made and not found.site.is_conditional:
            return True
        if found.site.is_conditional:
            return is_too_small and None not in found.holds
        if is_too_small and None in found.holds:
            return False
        if not is_too_small and not self._rests_on_size(found.site):
            return False
        axes = {each.axis for each in self._coverings}
        of_several = [
            world for world, grid in enumerate(self._batch.grid) if all(grid[axis] > 1 for axis in axes)
        ]
        held = [found.holds[world] for world in of_several or range(len(self._batch))]
        return any(held) and all(each is not False for each in held) and self._is_there(found, axes)

    def _is_there(self, found: Found, covered: Set[int]) -> bool:
        """Whether the block that is reported is there, whatever the numbers are that the grid is computed of and the
        size of the array is not: nobody knows how many blocks they come to."""
        size = self._batch.sizes.get(found.site.allocation)
        names = names_in(size.text) if size is not None else set()
        return all(
            numbers <= names or found.offender.block[axis] <= (axis in covered)
            for axis, numbers in enumerate(self._batch.grid_of)
        )

    def _rests_on_size(self, site: Site) -> bool:
        """Whether no open number goes into the address that is not in the size of the array: nobody knows how large one
        unknown number is beside another. What goes into it has to be different from world to world."""
        size = self._batch.sizes.get(site.allocation)
        names = names_in(size.text) if size is not None else set()
        own = {name for name, choice in self._batch.worlds[0].items() if choice.basis != "given"} & names
        if size is not None and own and len(set(size.bytes)) == 1:
            return False
        return self._addresses.are_of(self._addresses.rest_on(site.node, site.stack), own)

    def _goes_into(self, covering: Covering, allocation: Allocation, is_allocated: bool) -> bool:
        """Whether the size that the grid covers is one that the array is made for."""
        size = self._batch.sizes.get(allocation)
        return not is_allocated or (size is not None and set(covering.names) <= names_in(size.text))

    def _record(
        self, found: Found, world: int, extent: ByWorld, kind: Literal["always", "tail"], condition: str | None,
        is_allocated: bool,
    ) -> Leaving | None:  # fmt: skip
        offender = found.offenders[world]
        if offender is None or extent[world] is None:
            return None
        size = self._batch.sizes.get(found.site.allocation)
        names = names_in(size.text) if size is not None else set()
        if not names and len(set(extent)) > 1:
            amount = amount_of(extent, self._numbers)
            names = set(amount.names) if amount is not None else set()
        names = names or set(where(found.holds, self._batch.numbers).symbols)
        values = tuple((name, int(each[world])) for name, each in self._numbers.items() if name in names)
        return Leaving(found.site, kind, world, offender, extent, values, condition, is_allocated)


def _assumed(
    trace: Trace, batch: Batch, known: Sizes, own: Sequence[Covering]
) -> dict[Allocation, ByWorld]:
    """The sizes of arrays of which nobody sees the allocation, given all that touches them: as many elements as the
    grid covers, if that is what a launch that needs no rounding up touches exactly."""
    sizes = _sizes_covered(batch, own)
    if sizes is None:
        return {}
    touched: dict[Allocation, list[AccessEvent]] = {}
    for event in trace.accesses:
        if event.allocation.space == "global" and known(event.allocation) is None:
            touched.setdefault(event.allocation, []).append(event)
    found: dict[Allocation, ByWorld] = {}
    for allocation, events in touched.items():
        size = _element(ends(events, trace.lanes), sizes, own)
        if size is not None and all(event.bytes and size % event.bytes == 0 for event in events):
            found[allocation] = tuple(size * each for each in sizes)
    return found


def _sizes_covered(batch: Batch, own: Sequence[Covering]) -> list[int] | None:
    """What the grid covers in each world; None where several numbers may be meant by the same axis."""
    if not own or len({each.axis for each in own}) != len(own):
        return None
    names = dict.fromkeys(name for each in own for name in each.names)
    if len(names) != sum(len(each.names) for each in own):
        return None
    numbers, total = batch.numbers, [1] * len(batch)
    for name in names:
        total = [size * int(own[name]) for size, own in zip(total, numbers, strict=True)]
    return total


def _element(last: Sequence[int], sizes: Sequence[int], own: Sequence[Covering]) -> int | None:
    """Bytes for each element that is covered, where the grid has no tail: the same in several such worlds."""
    whole = [world for world in range(len(sizes)) if not any(each.rests[world] for each in own) and last[world]]
    found = {last[world] // sizes[world] if last[world] % sizes[world] == 0 else 0 for world in whole}
    if len({sizes[world] for world in whole}) < 2 or len(found) != 1:
        return None
    size = found.pop()
    return size if 0 < size <= _MOST_ASSUMED else None


def _only(trace: Trace, allocations: Iterable[Allocation]) -> Trace:
    """What a trace has of some allocations."""
    wanted, found = set(allocations), Trace(trace.lanes)
    found.accesses = [event for event in trace.accesses if event.allocation in wanted]
    return found


# --- how many threads arrays have room for -------------------------------------------------------------


def threads_with_room(trace: Trace) -> tuple[int, str] | None:
    """How many threads along x stay within all shared arrays of fixed extents, at places that the thread alone decides,
    and the array that says so; None where all threads do."""
    least: tuple[int, str] | None = None
    for event in trace.accesses:
        if event.allocation.space == "shared" and not event.data:
            first = _first_outside(event)
            if first is not None and (least is None or first < least[0]):
                least = first, event.allocation.name
    return least


def _first_outside(event: AccessEvent) -> int | None:
    extent, offset = extent_of(event.allocation), event.offset
    if extent is None or type(offset) is not np.ndarray or len(offset) > 1 or offset.shape[1] == 1:
        return None
    outside = offset[0] > extent - event.bytes
    if not outside.any():
        return None
    rows = event.mask[event.mask.any(axis=1)]
    if not len(rows) or (rows != rows[0]).any():
        # Sizes, or the block, say who comes.
        return None
    wrong = rows[0] & outside
    return int(wrong.argmax()) if wrong.any() else None
