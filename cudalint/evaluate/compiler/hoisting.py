"""Loads that the compiler moves out of loops: those of a loop's head whose address and value the loop cannot change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from cudalint.evaluate.execute.events import AccessEvent, BarrierEvent, Event, FenceEvent, LibraryAccess, Loop


def hoisted(accesses: Sequence[AccessEvent], events: Iterable[Event]) -> list[AccessEvent]:
    """The accesses, with the loads of loop heads where they are executed: once, before the loop, by all lanes that get
    there, and not again by those that are still in it.

    Measured on rows of a sparse matrix: `k < start[row + 1]` is loaded once where the loop stores nothing, and in every
    iteration where it stores to global memory.
    """
    changing = _changing(events)
    return [_before_loops(access, changing) for access in accesses]


def _changing(events: Iterable[Event]) -> set[tuple[Loop, str]]:
    """The loops in which memory of a space may change under a load."""
    found: set[tuple[Loop, str]] = set()
    for event in events:
        if isinstance(event, (BarrierEvent, FenceEvent)):
            spaces: tuple[str, ...] = ("global", "shared")
        elif isinstance(event, (AccessEvent, LibraryAccess)) and event.operation != "load":
            spaces = (event.target.space,)
        else:
            continue
        found.update((loop, space) for loop in event.context.loops for space in spaces)
    return found


def _before_loops(access: AccessEvent, changing: set[tuple[Loop, str]]) -> AccessEvent:
    context = access.context
    loops = list(context.loops)
    bits = access.offset.bits | (access.target.opaque.bits if access.target.opaque is not None else 0)
    while (
        access.operation == "load"
        and not access.is_assembly
        and loops
        and (loops[-1], access.target.space) not in changing
        # Only what is executed however often the loop turns: its head, as far as it has no conditions of its own.
        and context.conditions == loops[-1].conditions
        and not bits & loops[-1].counter.bits
    ):
        loops.pop()
    if len(loops) == len(context.loops):
        return access
    return replace(access, context=replace(context, loops=tuple(loops)))
