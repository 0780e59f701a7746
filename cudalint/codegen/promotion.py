"""Places in memory that the compiler keeps in a register: sums that a loop makes in memory, and what is stored and
stored over before anybody reads it.

Read from the PTX of 24 kernels (nvcc 13.0, sm_80): `for (...) out[t] += in[...]` loads `out[t]` before the loop, and
stores it behind the loop if nothing in the loop may touch it otherwise; where loads through other pointers may (no
`__restrict__`), each iteration stores it and none loads it. `out[t] = 0; out[t] = x;` is one store, but two with a
branch or a loop in between (measured, too). All of that ends at atomic operations and at what waits, shuffles included,
unless the array is `__restrict__`, and at fences in any case. What a branch does in the loop stays there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeGuard

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.codegen.indices import distance, open_part
from cudalint.codegen.moved_loads import first_turn
from cudalint.codegen.straight import Straight
from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import (
    AccessEvent,
    BarrierEvent,
    BranchEvent,
    Event,
    LocalIndexEvent,
    Loop,
)
from cudalint.ir import nodes as ir
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node

_PROMOTED = heuristic("promoted-places", "PTX of 24 kernels, nvcc 13.0: sums in memory are made in a register")


def promoted(execution: Execution, events: Sequence[Event], restricted: frozenset[str]) -> list[Event]:
    """The events, with accesses to a place that a loop keeps in a register before and behind the loop, and without
    those that make no request any more, which are told as left out. Their order and number stay the same.

    `restricted` are the parameters that are declared `__restrict__`.
    """
    result = list(events)
    if not _PROMOTED.is_on or execution.unseen:
        return result
    aliases = _Aliases(execution.function, restricted)
    loops = _Loops(result, aliases, execution.view.graph)
    for loop in _storing(result):
        loops.leave(loop)
    _leave_out_overwritten(result, aliases, execution)
    return result


class _Aliases(NamedTuple):
    """What the compiler knows about which accesses are to one memory."""

    function: ir.Function
    restricted: frozenset[str]

    def place(self, event: AccessEvent) -> Hashable:
        """Equal for accesses of one thread, in one iteration of the loops around, that are to one place in any
        launch."""
        return id(event.target), event.offset.index, event.bytes, open_part(self.function, event)

    def may_touch(self, event: Event, access: AccessEvent) -> bool:
        """Whether an event may read or change what an access is to."""
        match event:
            case BranchEvent() | LocalIndexEvent():
                return False
            case BarrierEvent():
                return not self._is_alone(access)
            case AccessEvent():
                return event.left_out is None and self._may_overlap(event, access)
        return True

    def _is_alone(self, access: AccessEvent) -> bool:
        """Whether nothing but the same parameter points to what is accessed."""
        return access.target.symbol is None and access.target.name in self.restricted

    def _may_overlap(self, a: AccessEvent, b: AccessEvent) -> bool:
        mine, its = a.target, b.target
        if mine is its:
            between = distance(self.function, a, b)
            return between is None or -b.bytes < between < a.bytes
        if mine.space != its.space and "generic" not in (mine.space, its.space):
            return False
        if mine.symbol is not None and its.symbol is not None and mine.symbol is not its.symbol:
            return False
        return not self._is_alone(a) and not self._is_alone(b)


def _is_plain(event: Event) -> TypeGuard[AccessEvent]:
    """Whether it is an access that the compiler may leave out or make elsewhere."""
    return (
        isinstance(event, AccessEvent)
        and event.operation in ("load", "store")
        and not (event.is_verbatim or event.one_of)
        and event.left_out is None
    )


def _storing(events: Iterable[Event]) -> list[Loop]:
    """Loops in which something is stored, inner ones before those around them."""
    depths = {
        loop: depth
        for event in events
        if isinstance(event, AccessEvent) and event.operation == "store"
        for depth, loop in enumerate(event.context.loops)
    }
    return sorted(depths, key=lambda loop: -depths[loop])


class _Loops(Struct, eq=False):
    """Takes accesses out of loops."""

    events: list[Event]
    aliases: _Aliases
    graph: Graph
    guards: set[Node] = field(default_factory=set)
    """Tests of whether an inner loop turns at all: what is behind them is done in each iteration of an outer one that
    they don't depend on, before which the compiler asks."""

    def leave(self, loop: Loop) -> None:
        """Takes those out of a loop that it keeps in a register."""
        inside = [place for place, event in enumerate(self.events) if loop in event.context.loops]
        groups: dict[Hashable, list[int]] = {}
        for place in inside:
            event = self.events[place]
            if _is_plain(event) and first_turn(event, loop, self.graph, self.guards) is not None:
                groups.setdefault(self.aliases.place(event), []).append(place)
        for places in groups.values():
            self._keep(places, loop, [place for place in inside if place not in places])

    def _keep(self, places: Sequence[int], loop: Loop, others: Iterable[int]) -> None:
        """Keeps one place in a register, if the other events in the loop allow it. Loads of it through other pointers
        ask for what is stored in each iteration, but change nothing."""
        accesses = {place: event for place in places if _is_plain(event := self.events[place])}
        stores = [place for place, access in accesses.items() if access.operation == "store"]
        if not stores:
            return
        first, last = accesses[stores[0]], accesses[stores[-1]]
        touching = [e for place in others if self.aliases.may_touch(e := self.events[place], first)]
        if not all(isinstance(event, AccessEvent) and event.operation == "load" for event in touching):
            return
        for place, access in accesses.items():
            if access.operation == "load" and place > stores[0]:
                self.events[place] = replace(access, left_out=_taken_from(first))
            elif access.operation == "load" or (not touching and access is last):
                self._move(place, access, loop)
            elif not touching:
                self.events[place] = replace(access, left_out=_stored_over(last))

    def _move(self, place: int, access: AccessEvent, loop: Loop) -> None:
        moved = first_turn(access, loop, self.graph, self.guards)
        if moved is not None:
            self.events[place] = moved
            self.guards.update(moved.context.conditions[len(loop.conditions) :])


def _leave_out_overwritten(events: list[Event], aliases: _Aliases, execution: Execution) -> None:
    """Leaves out the stores of what is stored over in the same stretch of code without jumps, before anything may have
    read it."""

    def key(event: AccessEvent) -> Hashable:
        return aliases.place(event), event.context.loops

    often = Counter(key(event) for event in events if _is_plain(event) and event.operation == "store")
    twice = {each for each, count in often.items() if count > 1}
    pending: dict[Hashable, int] = {}
    """Where each of these was last stored to, as long as nothing may have read it since."""
    changed: set[Hashable] = set()
    """Those of which another store may have changed a part since: a load has to read it."""
    straight = Straight.of(execution) if twice else None
    for number, event in enumerate(events if straight else ()):
        own = key(event) if _is_plain(event) else None
        before = events[pending[own]] if own in pending else None
        is_store = isinstance(event, AccessEvent) and event.operation == "store"
        if isinstance(before, AccessEvent):
            if not is_store and own not in changed and _is_on_the_way(before, event):
                continue
            if is_store and _is_on_the_way(event, before) and _is_one_stretch(straight, pending[own], number):
                events[pending[own]] = replace(before, left_out=_stored_over(event))
            del pending[own]
        for other, place in list(pending.items()):
            store = events[place]
            if isinstance(store, AccessEvent) and aliases.may_touch(event, store):
                if is_store:
                    changed.add(other)
                else:
                    del pending[other]
        if is_store and own in twice:
            pending[own] = number
            changed.discard(own)


def _is_one_stretch(straight: Straight | None, *places: int) -> bool:
    return straight is not None and len(set(map(straight.compiler_stretch, places))) == 1


def _is_on_the_way(first: Event, second: Event) -> bool:
    """Whether all lanes that get to the second one get to the first one, too."""
    before, now = first.context.conditions, second.context.conditions
    return len(before) <= len(now) and all(a is b for a, b in zip(before, now, strict=False))


def _taken_from(store: Event) -> str:
    return f"it takes what line {store.context.span.line} stores, which is still in a register"


def _stored_over(store: Event) -> str:
    return f"line {store.context.span.line} stores there before anybody reads it"
