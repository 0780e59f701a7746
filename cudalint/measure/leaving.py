"""Which accesses leave their array for certain, and which only in the last block of a grid that is rounded up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Literal

from msgspec import Struct

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.measure.addresses import Addresses
from cudalint.measure.amounts import amount_of
from cudalint.measure.bounds import ByWorld, Extents, ends, outside
from cudalint.measure.numbers import names_in, numbers_of
from cudalint.measure.sensitivity import where
from cudalint.measure.tails import Covering, coverings, tail_of
from cudalint.measure.wrongs import Found, Offender, Site
from cudalint.worlds.records import Batch

_MOST_ASSUMED = 64
"""Bytes of an element of an array of which nobody says how many it has."""


class Leaving(Struct, frozen=True):
    """An access that leaves its array."""

    site: Site
    kind: Literal["always", "tail"]
    """`tail`: only where the size is no multiple of what the blocks take."""
    world: int
    """That is told of."""
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
    known = Extents.of(batch, has_shared)
    own = coverings(batch)
    assumed = _assumed(trace, batch, known, own)
    judge = _Judge(batch, addresses, own)
    found = [judge.of(each, known(each.site.allocation), True) for each in outside(trace, known)]
    if assumed:
        as_assumed = outside(_only(trace, assumed), Extents(len(batch), assumed))
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
                return self._told(found, tail[0], extent, "tail", tail[1], is_allocated)
        is_too_small = all(own is not None and own < found.site.bytes for own in extent)
        if is_allocated and self._is_certain(found, is_too_small):
            return self._told(found, found.first, extent, "always", None, is_allocated)
        return None

    def _is_certain(self, found: Found, is_too_small: bool) -> bool:
        """Whether it is wrong whatever the numbers are with which anybody comes there. A grid that covers a size has
        several blocks. Where data decides, or a flag, who comes, it is certain of what has no room for one element."""
        if found.site.is_conditional:
            return is_too_small and None not in found.holds
        if is_too_small and None in found.holds:
            return False
        if not is_too_small and not self._is_told_by_size(found.site):
            return False
        axes = {each.axis for each in self._coverings}
        of_several = [
            world for world, grid in enumerate(self._batch.grid) if all(grid[axis] > 1 for axis in axes)
        ]
        held = [found.holds[world] for world in of_several or range(len(self._batch))]
        return any(held) and all(each is not False for each in held) and self._is_there(found, axes)

    def _is_there(self, found: Found, covered: Set[int]) -> bool:
        """Whether the block of which is told is there, whatever the numbers are that the grid is computed of and the
        size of the array is not: nobody knows how many blocks they come to."""
        size = self._batch.sizes.get(found.site.allocation)
        names = names_in(size.text) if size is not None else set()
        return all(
            numbers <= names or found.offender.block[axis] <= (axis in covered)
            for axis, numbers in enumerate(self._batch.grid_of)
        )

    def _is_told_by_size(self, site: Site) -> bool:
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

    def _told(
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
    trace: Trace, batch: Batch, known: Extents, own: Sequence[Covering]
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
