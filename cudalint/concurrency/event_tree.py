"""The events of an execution as a tree of loops, as they are walked through for every trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, CopyEvent, Event, LibraryAccess, Loop


class LoopItems(Struct, eq=False):
    """A loop with what happens in it, in the order of the program."""

    loop: Loop
    items: list[Item] = field(default_factory=list)
    barriers: frozenset[str] = frozenset()
    """The scopes of the barriers in it."""
    is_quiet: bool = False
    """Nothing in it orders threads, or copies asynchronously: all of it lies in one interval."""
    depth: int = 1
    """How deep loops are nested in it, itself included."""


class Run(Struct, frozen=True, eq=False):
    """Events that follow one another in one barrier interval: unrolled code has hundreds of them."""

    events: list[Event] = field(default_factory=list)


Item = Event | LoopItems | Run


def _group(events: Sequence[Event], depth: int = 0) -> list[Item]:
    """The events as a tree of loops: those of one execution of a loop stand next to each other."""
    items: list[Item] = []
    position = 0
    while position < len(events):
        event = events[position]
        if len(event.context.loops) <= depth:
            _append(items, event)
            position += 1
            continue
        loop = event.context.loops[depth]
        end = position
        while end < len(events) and _is_in(events[end], loop, depth):
            end += 1
        inside = events[position:end]
        barriers = frozenset(e.scope for e in inside if isinstance(e, BarrierEvent))
        deepest = max(len(e.context.loops) for e in inside)
        items.append(LoopItems(loop, _group(inside, depth + 1), barriers, _is_quiet(inside), deepest - depth))
        position = end
    return items


def _append(items: list[Item], event: Event) -> None:
    if moves_clock(event):
        items.append(event)
        return
    if not items or not isinstance(items[-1], Run):
        items.append(Run())
    run = items[-1]
    assert isinstance(run, Run)
    run.events.append(event)


def _is_quiet(events: Sequence[Event]) -> bool:
    return not any(moves_clock(event) for event in events)


def moves_clock(event: Event) -> bool:
    """Whether it orders threads, or goes on after the threads have passed it."""
    if isinstance(event, (AccessEvent, LibraryAccess)):
        return event.operation == "async-copy"
    return isinstance(event, (BarrierEvent, CopyEvent))


def event_count(items: Sequence[Item]) -> int:
    """How many events there are, those of a loop counted as one."""
    return sum(len(item.events) if isinstance(item, Run) else 1 for item in items)


def _is_in(event: Event, loop: Loop, depth: int) -> bool:
    loops = event.context.loops
    return len(loops) > depth and loops[depth] is loop


class EventTree(Struct, frozen=True, eq=False):
    """The events of one execution, in the order in which all traces of it have them."""

    events: Sequence[Event]
    items: Sequence[Item]
    """The same, loop by loop."""
    places: Mapping[int, int]
    """The position of each event, by its identity."""
    is_quiet: bool
    """All of it lies in one interval."""

    @staticmethod
    def of(events: Sequence[Event]) -> EventTree:
        places = {id(event): position for position, event in enumerate(events)}
        return EventTree(events, _group(events), places, _is_quiet(events))
