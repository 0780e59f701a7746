"""Accesses to global memory that one wide access could make, collected launch by launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import frames_of
from cudalint.evaluate.requests.views import LaunchView
from cudalint.facts import KernelFacts, Place
from cudalint.facts.neighbours import Neighbours, NeighboursResult
from cudalint.interpreter.device.events import AccessEvent, Loop
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.values.polynomial import linear
from cudalint.values.residues import Residues

_WIDEST = 16
_LEAST = 2


class _Site(Struct, frozen=True):
    events: tuple[AccessEvent, ...]
    count: int
    results: list[NeighboursResult]


class _Group(Struct, frozen=True):
    events: tuple[AccessEvent, ...]
    """In the order of addresses; one alone that a loop makes of a few iterations."""
    count: int


class NeighboursCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "neighbours"
    counts: ClassVar[bool] = True
    _sites: dict[object, _Site] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        if run.execution.deadline.is_over():
            return
        for group in _groups(run.machine, run.execution.view):
            context = group.events[0].context
            executions = run.meter.executions(context.loops, context.conditions).warps
            executions /= group.count if len(group.events) == 1 else 1
            view = run.execution.view
            result = NeighboursResult(view.index, executions, run.computed.instructions, view.assumptions)
            key = (context.span, context.frames, group.count, group.events[0].target.name)
            self._sites.setdefault(key, _Site(group.events, group.count, [])).results.append(result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (_neighbours(site) for site in self._sites.values())
        return replace(facts, neighbours=tuple(sorted(found, key=lambda each: each.place)))


def _neighbours(site: _Site) -> Neighbours:
    first, *others = site.events
    places = dict.fromkeys(Place(*event.context.span) for event in others)
    places.pop(Place(*first.context.span), None)
    return Neighbours(
        Place(*first.context.span), tuple(places), frames_of(first.context.frames), first.operation, first.target.name,
        ir.type_name(first.element), first.bytes, site.count, tuple(site.results),
    )  # fmt: skip


def _groups(accesses: Sequence[AccessEvent], view: LaunchView) -> Iterator[_Group]:
    """Of loads no array that the kernel stores to: there the order counts."""
    stored = {event.target for event in accesses if event.operation in ("store", "atomic")}
    residues = Residues()
    alike: dict[tuple[object, ...], list[tuple[int, AccessEvent]]] = {}
    for event in accesses:
        if not _is_narrow(event) or (event.operation == "load" and event.target in stored):
            continue
        base, constant = linear(event.offset)
        context = event.context
        conditions = tuple(condition.index for condition in context.conditions)
        key = (event.target, event.operation, event.bytes, base, context.nest, conditions, context.frames)
        alike.setdefault(key, []).append((constant, event))
    for members in alike.values():
        by_constant = dict(reversed(members))
        if len(by_constant) == 1:
            [event] = by_constant.values()
            if (group := _of_loop(event, view, residues)) is not None:
                yield group
            continue
        yield from _aligned_runs(sorted(by_constant.items(), key=lambda each: each[0]), residues)


def _is_narrow(event: AccessEvent) -> bool:
    is_plain = event.left_out is None and not event.is_verbatim and not event.one_of and event.made_by is None
    element = event.element
    is_number = isinstance(element, ir.Scalar) and event.record is None
    return is_plain and is_number and event.target.space == "global" and event.operation in ("load", "store") and (
        event.bytes <= _WIDEST // _LEAST and event.bytes == element.bytes and event.iterations == 1
    )


def _aligned_runs(members: Sequence[tuple[int, AccessEvent]], residues: Residues) -> Iterator[_Group]:
    """The longest runs of 4 or 2 that follow one another from an aligned address on."""
    events = dict(members)
    width = members[0][1].bytes
    taken: set[int] = set()
    for count in (_WIDEST // width, 4, 2):
        if count < _LEAST or count * width > _WIDEST or (width < 4 and count * width < 4):
            continue
        for start, event in members:
            run = [start + width * step for step in range(count)]
            if taken.intersection(run) or any(place not in events for place in run):
                continue
            if residues.of(event.offset).is_multiple_of(count * width):
                taken.update(run)
                yield _Group(tuple(events[place] for place in run), count)


def _of_loop(event: AccessEvent, view: LaunchView, residues: Residues) -> _Group | None:
    """A loop of as many iterations as are known to the compiler, each of which goes on to the next element."""
    loops = event.context.loops
    if not loops or not loops[-1].is_counted:
        return None
    loop = loops[-1]
    situation = view.quick()
    trips = int(situation.trips(situation.rows(loops[:-1]), loop).max())
    count = next((n for n in (4, 2) if trips % n == 0 and n * event.bytes <= _WIDEST), 0)
    if not trips or trips > _MOST_TRIPS or not count or _step(event, loop, view) != event.bytes:
        return None
    first = view.graph.substitute(event.offset, {loop.counter: view.graph.const(0, loop.counter.kind)})
    return _Group((event,), count) if residues.of(first).is_multiple_of(count * event.bytes) else None


_MOST_TRIPS = 16


def _step(event: AccessEvent, loop: Loop, view: LaunchView) -> int | None:
    """By how many bytes it goes on with each iteration; None where that is no constant."""
    graph = view.graph
    numbers = [graph.substitute(event.offset, {loop.counter: graph.const(k, loop.counter.kind)}) for k in (0, 1)]
    (base, first), (other, second) = map(linear, numbers)
    return second - first if base == other else None
