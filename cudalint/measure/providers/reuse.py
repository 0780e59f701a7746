"""Loads of global memory in loops of which several threads of a block want the same elements in one turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cudalint.execute.memory import plain
from cudalint.execute.trace import AccessEvent, Executions, Site, Trace
from cudalint.execute.values import Data
from cudalint.facts import Place
from cudalint.facts.reuse import Reuse, ReuseResult
from cudalint.frontend.source_text import Spellings
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.measure.places import frames_of, spans_of
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.requests import AccessSite
from cudalint.measure.work.nests import TurnsOf, around, constant_turns


class ReuseCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "reuse"
    into: ClassVar[str] = "reuse"

    def add(self, run: Run) -> None:
        executed, spellings = run.executed, Spellings(run.subject.options)
        for load in shared_loads(executed.trace, executed.function, run.lengths.counted()):
            site = load.site
            world, shared = next((world, own) for world, own in enumerate(load.worlds) if own is not None)
            figures = executed.figures.get(site)
            requests = float(figures.requests[world]) if figures is not None else 0.0
            result = ReuseResult(run.index, shared.threads, shared.elements, shared.turns, requests)
            place = Place(*site.node.span)
            fact = Reuse(place, site.array, spellings.of(place), frames_of(site.stack), ())
            self.note((*spans_of(site.node, site.stack), site.array), fact, result)


# --- what the trace shows ------------------------------------------------------------------------------


class Shared(NamedTuple):
    """How a load is shared in one world."""

    threads: float
    """That load each element in one turn, on average."""
    elements: float
    """Different ones of a block."""
    turns: float
    """Of the loop, in each of which others are loaded."""


class Load(NamedTuple):
    """One load of the source."""

    site: AccessSite
    worlds: tuple[Shared | None, ...]


def shared_loads(trace: Trace, kernel: ir.Function, executions: Mapping[Site, Executions]) -> Iterator[Load]:
    """The loads at addresses that are known in loops that go on to other elements, with what they share by world.
    `executions` are those of statements, with loops as long as they are taken for."""
    places: dict[AccessSite, list[int]] = {}
    known: dict[object, TurnsOf] = {}
    for place, event in enumerate(trace.accesses):
        if event.operation == "load" and event.allocation.space == "global" and event.bytes:
            site = AccessSite(event.node, "load", event.bytes, "global", event.stack, event.allocation.name)
            places.setdefault(site, []).append(place)
    for site, own in places.items():
        events = tuple(trace.accesses[place] for place in own)
        loop = _loop_of(site, kernel)
        if loop is None or any(isinstance(event.offset, Data) for event in events):
            continue
        turns = known.get((loop, site.stack))
        if turns is None:
            turns = known[loop, site.stack] = TurnsOf(trace, loop, site.stack)
        numbers = [turns.number(place) for place in own]
        counts = [_turns(executions, loop, site, world) for world in range(trace.lanes.worlds)]
        worlds = tuple(_shared(world, events, numbers, trace, each) for world, each in enumerate(counts))
        if any(worlds):
            yield Load(site, worlds)


def _loop_of(site: AccessSite, kernel: ir.Function) -> Any:
    """The innermost loop around that is not laid out turn by turn."""
    loops = around(site.node, site.stack, kernel).loops
    return next((loop for loop in loops if not constant_turns(loop)), None)


def _shared(
    world: int, events: Sequence[AccessEvent], numbers: Sequence[tuple[int, int]], trace: Trace, turns: float
) -> Shared | None:
    """What the first block of a world that comes there shares in its first turn; None for what stays the same from one
    turn to the next."""
    lanes = trace.lanes
    if turns < 2:
        return None
    for event, (_, number) in zip(events, numbers, strict=True):
        rows = np.flatnonzero(event.mask[world * lanes.blocks : (world + 1) * lanes.blocks].any(axis=1))
        if number or not len(rows):
            continue
        row = world * lanes.blocks + int(rows[0])
        own = _elements(event, row)
        others = next(
            (e for e, (_, n) in zip(events, numbers, strict=True) if n > 0 and e.mask[row].any()), None
        )
        if others is None or not len(np.setdiff1d(_elements(others, row), own)):
            return None
        different = len(np.unique(own))
        return Shared(len(own) / different, float(different), turns)
    return None


def _elements(event: AccessEvent, row: int) -> Any:
    """Those that the active lanes of a row load."""
    offset = np.broadcast_to(np.asarray(plain(event.offset)), event.mask.shape)[row]
    return offset[event.mask[row]] // event.bytes


def _turns(executions: Mapping[Site, Executions], loop: Any, site: AccessSite, world: int) -> float:
    """Of a loop, on average of the times that warps come to it."""
    entered = executions.get(Site(loop, site.stack, None))
    body = executions.get(Site(loop.body, site.stack, None))
    if entered is None or body is None or not entered.counts[0, world]:
        return 0.0
    return float(body.counts[0, world] / entered.counts[0, world])
