"""Loads of neighbouring elements in successive iterations, which an unrolled loop makes as one wide load.

Read from what nvcc 13.0 makes of some fifty loops over shared arrays (`-O3`, sm_80 and sm_90): a loop is unrolled even
if its length is only known at run time (by 4, with the rest one by one), unless it leaves by data. Its loads of
neighbours become one of 16 bytes where the first one is known to be aligned to that, else of 8, with these exceptions:
bytes stay apart, elements of 2 bytes come by 8 bytes at most; behind a branch in the body nothing is merged; lengths
that are even but no multiple of 4, beyond those that are unrolled in full, give loads of 8 bytes; and so do rows
(`tile[threadIdx.y][k]`) up to a limit that is only known at run time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cudalint.evaluate.events import AccessEvent, Loop
from cudalint.evaluate.graph import I8, THREAD_BITS, Graph, Node, conjuncts
from cudalint.evaluate.residues import Residues
from cudalint.evaluate.views import LaunchView

_WIDTHS = (16, 8)
_MAX_FULL = 256
"""Iterations of a loop that is unrolled in full on sm_80; sm_90 stops at about 100."""


def unrolled_load(event: AccessEvent, view: LaunchView, residues: Residues) -> AccessEvent:
    """The load as the machine makes it, if it walks through a shared array element by element."""
    if event.operation != "load" or event.target.space != "shared" or not 2 <= event.bytes <= 8:
        return event
    if not event.context.loops or event.target.symbol is None:
        return event
    loop = event.context.loops[-1]
    if not event.offset.bits & loop.counter.bits or _is_guarded(event, loop, view.graph):
        return event
    graph = view.graph
    first = graph.substitute(event.offset, {loop.counter: graph.const(0, I8)})
    most = _widest(event, loop, first, graph)
    step = next((s for s in (event.bytes, -event.bytes) if most and _walks(event, first, s, view)), None)
    if step is None:
        return event
    # Counted down, the first element is the last of its group.
    start = first if step > 0 else graph.binary("+", first, graph.const(event.bytes, I8), I8)
    for width in _WIDTHS:
        if event.bytes < width <= most and residues.of(start).is_multiple_of(width):
            return replace(event, offset=_group(event, loop, step, width, graph), bytes=width)
    return event


def _is_guarded(event: AccessEvent, loop: Loop, graph: Graph) -> bool:
    """Whether there is a branch between the loop's head and the load."""
    own = [part for part in conjuncts(graph, loop.condition) if not part.is_const]
    added = event.context.conditions[len(loop.conditions) :]
    return any(all(condition is not part for part in own) for condition in added)


def _widest(event: AccessEvent, loop: Loop, first: Node, graph: Graph) -> int:
    """The widest load that the length of the loop allows; 0 if the loop is not unrolled."""
    trips = graph.trips(loop.counter, loop.condition)
    widest = 8 if event.bytes == 2 else 16
    if trips.is_const and loop.is_counted:
        length = int(trips.value)
        if length > _MAX_FULL and length % 4 == 2:
            widest = min(widest, 2 * event.bytes)
        return widest if length * event.bytes >= widest else 8 if length * event.bytes >= 8 else 0
    if trips.bits & (graph.opaque_bits | THREAD_BITS):
        return 0
    return min(widest, 8) if first.bits & THREAD_BITS else widest


def _walks(event: AccessEvent, first: Node, step: int, view: LaunchView) -> bool:
    """Whether each iteration moves the address by one element."""
    graph, counter = view.graph, event.context.loops[-1].counter
    expected = graph.binary("+", first, graph.binary("*", counter, graph.const(step, I8), I8), I8)
    if expected is event.offset:
        return True
    rows = view.quick().rows(event.context.loops)
    return bool(np.array_equal(rows.full(expected), rows.full(event.offset)))


def _group(event: AccessEvent, loop: Loop, step: int, width: int, graph: Graph) -> Node:
    """The address of the wide load that brings the element of some iteration."""
    count = width // event.bytes
    within = graph.binary("%", loop.counter, graph.const(count, I8), I8)
    if step < 0:
        within = graph.binary("-", graph.const(count - 1, I8), within, I8)
    back = graph.binary("*", within, graph.const(event.bytes, I8), I8)
    return graph.binary("-", event.offset, back, I8)
