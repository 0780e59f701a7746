"""Loads of both sides of `c ? a : b` as the machine makes them: one, at the address that is selected."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, Context, Event, SelectionEvent
from cudalint.values.graph import Graph

_SELECTED_ADDRESSES = heuristic("selected-addresses", "PTX of some thirty kernels, nvcc 13.0")


def selected(accesses: Sequence[AccessEvent], events: Sequence[Event], graph: Graph) -> list[AccessEvent]:
    """The accesses, where the last of each selection stands for all of it.

    `events` are the ones of the source, in the order of the accesses.
    """
    if not _SELECTED_ADDRESSES.is_on:
        return list(accesses)
    result = list(accesses)
    selections = [event for event in events if isinstance(event, SelectionEvent)]
    if not selections:
        return result
    sources = [event for event in events if isinstance(event, AccessEvent)]
    positions = {id(source): position for position, source in enumerate(sources)}
    done: set[int] = set()
    # A choice within another one is noted before it, and is part of it.
    for event in reversed(selections):
        for slot in event.slots:
            places = [positions[id(load)] for load in slot]
            if done.isdisjoint(places) and _is_one([result[p] for p in places]):
                done.update(places)
                _select(result, places, event.context, graph)
    return result


def _is_one(loads: Sequence[AccessEvent]) -> bool:
    """Whether all are of one array and of one width. What is at hand already is loaded again: the compiler makes one
    load of them before it looks for values that it has."""
    first = loads[0]
    return all(
        load.target is first.target and load.bytes == first.bytes and not load.is_verbatim for load in loads
    )


def _select(accesses: list[AccessEvent], places: Sequence[int], context: Context, graph: Graph) -> None:
    last = accesses[places[-1]]
    offset = last.offset
    for place in reversed(places[:-1]):
        load = accesses[place]
        chosen = graph.conjunction(load.context.conditions[len(context.conditions) :])
        offset = graph.select(chosen, load.offset, offset)
        reason = f"it is one load with that at line {last.context.span.line}: the compiler selects the address"
        accesses[place] = replace(load, left_out=reason)
    whole = replace(last.context, conditions=context.conditions, guard=context.guard)
    accesses[places[-1]] = replace(last, offset=offset, context=whole, left_out=None)
