"""Loads, or stores, of one thread to elements that follow one another, of which one wide access could be made.

They are made by the same lanes, equally often, in the same straight code or in a short loop of constant length, and are
the same number of bytes apart for every lane, in every block and in every world; and the first is aligned to the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cudalint.execute.memory import plain
from cudalint.execute.trace import AccessEvent, Stack, Trace
from cudalint.execute.values import Data
from cudalint.facts import Place
from cudalint.facts.neighbours import Neighbours, NeighboursResult
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.measure.distinct import Extent, Pattern, executions
from cudalint.measure.places import frames_of, record_at, spans_of
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.work.nests import TurnsOf, around, constant_turns


class NeighboursCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "neighbours"
    into: ClassVar[str] = "neighbours"

    def add(self, run: Run) -> None:
        for group in neighbours(run.executed.trace, run.executed.function):
            world = next((world for world, number in enumerate(group.executions) if number), 0)
            result = NeighboursResult(run.index, group.executions[world], run.work(world).total)
            first, *others = (access.first for access in group.accesses)
            place, array = Place(*first.node.span), first.allocation.name
            places = dict.fromkeys(own for event in others if (own := Place(*event.node.span)) != place)
            fact = Neighbours(
                place, tuple(places), frames_of(first.stack), first.operation, array,
                ir.type_name(ir.referent(first.node.type)), first.bytes, group.elements, (),
            )  # fmt: skip
            self.note((*spans_of(first.node, first.stack), group.elements, array), fact, result)


# --- what the trace shows ------------------------------------------------------------------------------


_WIDEST = 16
_LEAST = 2
_COUNTS = (4, 2)


class Access(NamedTuple):
    """One access of the source, with all of its executions."""

    events: tuple[AccessEvent, ...]
    places: tuple[int, ...]
    """Of these in the trace."""

    @property
    def first(self) -> AccessEvent:
        return self.events[0]


class Group(NamedTuple):
    """Accesses that are neighbours, in the order of their addresses; one alone that the turns of a loop make."""

    accesses: tuple[Access, ...]
    elements: int
    executions: tuple[float, ...]
    """[W] of each of them by warps."""


def neighbours(trace: Trace, kernel: ir.Function) -> Iterator[Group]:
    """Of loads none of arrays that the kernel stores to: there the order counts."""
    stored = {id(event.allocation) for event in trace.accesses if event.operation != "load"}
    beside: dict[tuple[object, ...], list[Access]] = {}
    for access in _narrow(trace, kernel):
        event = access.first
        if event.operation == "load" and id(event.allocation) in stored:
            continue
        place = around(event.node, event.stack, kernel)
        masks = tuple(id(each.mask) for each in access.events)
        key = event.operation, id(event.allocation), event.bytes, event.stack, place.loops, place.side, masks
        beside.setdefault(key, []).append(access)
    for members in beside.values():
        runs = list(_runs(members))
        for first, steps in runs:
            if len(steps) > 1:
                yield from _aligned(steps, trace)
            elif (group := _of_loop(first, trace, kernel)) is not None:
                yield group


def _narrow(trace: Trace, kernel: ir.Function) -> Iterator[Access]:
    """The accesses to plain numbers of global memory at addresses that are known."""
    found: dict[tuple[Any, str, Stack], list[int]] = {}
    for place, event in enumerate(trace.accesses):
        if event.allocation.space == "global" and event.operation in ("load", "store"):
            found.setdefault((event.node, event.operation, event.stack), []).append(place)
    for places in found.values():
        access = Access(tuple(trace.accesses[place] for place in places), tuple(places))
        if all(_is_plain(event, access.first) for event in access.events):
            span = access.first.node.span
            if span not in kernel.volatile:
                yield access


def _is_plain(event: AccessEvent, first: AccessEvent) -> bool:
    if isinstance(event.offset, Data) or event.allocation is not first.allocation or event.bytes != first.bytes:
        return False
    node = event.node
    if not isinstance(node, (ir.Index, ir.Unary, ir.Cast)) or record_at(node, event.bytes) is not None:
        return False
    type_ = ir.referent(node.type)
    return isinstance(type_, ir.Scalar) and 0 < type_.bytes == event.bytes <= _WIDEST // _LEAST


def _runs(members: Sequence[Access]) -> Iterator[tuple[Access, dict[int, Access]]]:
    """Accesses that are constants apart, by how many bytes each is behind the first of them."""
    left = list(members)
    while left:
        first = left[0]
        steps: dict[int, Access] = {0: first}
        others = []
        for access in left[1:]:
            step = _distance(access, first)
            if step is None:
                others.append(access)
            else:
                steps.setdefault(step, access)
        yield first, steps
        left = others


def _distance(access: Access, other: Access) -> int | None:
    """By how many bytes one is behind the other, in all executions by all lanes; None where that varies."""
    found: int | None = None
    for one, two in zip(access.events, other.events, strict=True):
        step = _constant(np.subtract(one.offset, two.offset, dtype=np.int64), one.mask)
        if step is None or (found is not None and step != found):
            return None
        found = step
    return found


def _constant(values: Any, mask: Any) -> int | None:
    own = np.asarray(values)
    if own.size > 1:
        own = np.broadcast_to(own, mask.shape)[mask]
    return int(own.flat[0]) if own.size and (own == own.flat[0]).all() else None


def _aligned(steps: dict[int, Access], trace: Trace) -> Iterator[Group]:
    """The longest runs of 4 or 2 that follow one another from an aligned address on."""
    taken: set[int] = set()
    width = steps[0].first.bytes
    for count in dict.fromkeys((_WIDEST // width, *_COUNTS)):
        if count < _LEAST or count * width > _WIDEST or count * width < 4:
            continue
        for start in sorted(steps):
            run = [start + width * step for step in range(count)]
            if taken.intersection(run) or any(place not in steps for place in run):
                continue
            if all(_is_multiple(event, count * width) for event in steps[start].events):
                taken.update(run)
                accesses = tuple(steps[place] for place in run)
                yield Group(accesses, count, _executions(accesses[0], trace))


def _is_multiple(event: AccessEvent, of: int) -> bool:
    offset = np.asarray(plain(event.offset))
    if offset.size > 1:
        offset = np.broadcast_to(offset, event.mask.shape)[event.mask]
    return not (offset % of).any()


def _of_loop(access: Access, trace: Trace, kernel: ir.Function) -> Group | None:
    """A loop of as many turns as are known to the compiler, each of which goes on to the next element."""
    event = access.first
    loops = around(event.node, event.stack, kernel).loops
    turns = constant_turns(loops[0]) if loops else 0
    count = next((n for n in _COUNTS if turns % n == 0 and n * event.bytes <= _WIDEST), 0)
    if not turns or not count:
        return None
    of = TurnsOf(trace, loops[0], event.stack)
    before: tuple[AccessEvent, int, int] | None = None
    is_seen = False
    for own, place in zip(access.events, access.places, strict=True):
        at, number = of.number(place)
        if number == 0:
            if not _is_multiple(own, count * event.bytes):
                return None
        elif number == 1 and before is not None and before[1:] == (at - 1, 0) and own.mask is before[0].mask:
            if _distance(Access((own,), ()), Access((before[0],), ())) != event.bytes:
                return None
            is_seen = True
        before = own, at, number
    if not is_seen:
        return None
    return Group((access,), count, tuple(each / count for each in _executions(access, trace)))


def _executions(access: Access, trace: Trace) -> tuple[float, ...]:
    extent = Extent.of(trace.lanes)
    patterns: dict[int, Pattern] = {}
    total = np.zeros(extent.worlds)
    for event in access.events:
        total += executions(event.mask, event.weight, extent, patterns)
    return tuple(total.tolist())
