"""Sizes under which an access is reached: where large ones keep all threads away (`threadIdx.x < 250 - 2 * halo`), a
small one may let them through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cudalint.concurrency.trial import Trial
from cudalint.concurrency.unfold import TooLarge, flat
from cudalint.evaluate.checks.probes import allowed, symbols
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.knowledge import sizes_on_the_way
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, Loop, Touch, depends_on
from cudalint.interpreter.device.values import Allocation
from cudalint.scenarios import alternatives
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node

_MOST = 2
"""Sizes that are looked at for one kernel."""


@heuristic("reaching-sizes", "halos: small sizes let threads through that large ones keep away").otherwise([])
def reaching(execution: Execution, trial: Trial, touches: Iterable[Touch]) -> list[dict[Node, int | float]]:
    """A small value of one size for accesses that no thread gets to with the usual ones."""
    found: dict[Node, dict[Node, int | float]] = {}
    tried: set[Node] = set()
    try:
        for touch in touches:
            if len(found) >= _MOST or not _is_kept_away(touch) or _is_reached(touch, trial):
                continue
            if any(_is_reached(touch, trial.under(values)) for values in found.values()):
                continue
            for size in sizes_on_the_way(execution.view.graph, touch.context.conditions, touch.context.loops):
                values: dict[Node, int | float] = {size: alternatives.FEW}
                if size in tried or not allowed(execution.view, values):
                    continue
                tried.add(size)
                if _is_reached(touch, trial.under(values)):
                    found[size] = values
                    break
    except TooLarge:
        pass
    return list(found.values())


@heuristic("lasting-sizes", "loops that large sizes end early").otherwise([])
def lasting(execution: Execution, trial: Trial, touches: Iterable[Touch]) -> list[dict[Node, int | float]]:
    """Larger sizes for loops over the grid that end for most blocks after one iteration with the usual ones: what
    happens from one iteration to the next shows for larger ones only."""
    found: dict[Node, dict[Node, int | float]] = {}
    seen: set[Node] = set()
    try:
        for touch in touches:
            for depth, loop in enumerate(touch.context.loops):
                if loop.counter in seen or not _is_over_the_grid(loop, trial) or len(found) >= _MOST:
                    continue
                seen.add(loop.counter)
                for size in sizes_on_the_way(trial.graph, (), (loop,)) if _rounds(touch, depth, trial) == 1 else ():
                    for number in alternatives.larger(trial.graph.generic(size)):
                        values: dict[Node, int | float] = {size: number}
                        if allowed(execution.view, values) and _rounds(touch, depth, trial.under(values)) > 1:
                            found[size] = values
                            break
                    if size in found:
                        break
    except TooLarge:
        pass
    return list(found.values())


def _is_over_the_grid(loop: Loop, trial: Trial) -> bool:
    bits = loop.condition.bits
    return bool(bits & BLOCK_BITS and bits & trial.graph.uniform_bits) and not bits & trial.graph.opaque_bits


def _rounds(touch: Touch, depth: int, trial: Trial) -> int:
    trace = trial.some_trace("block")
    return trace.iterations(touch)[depth] if trace.is_walked(touch) else 0


def inside(
    execution: Execution, trial: Trial, arrays: Iterable[tuple[Allocation, Sequence[Touch]]]
) -> list[dict[Node, int | float]]:
    """The largest of some values of a size with which threads stay inside of arrays that they leave with the usual
    ones, as in rows of ten that lanes fill with `lane < n`."""
    found: dict[Node, dict[Node, int | float]] = {}
    try:
        for array, touches in arrays:
            straying = [touch for touch in touches if leaves(touch, trial, array.bytes)]
            for touch in straying[: _MOST - len(found)]:
                for size in sizes_on_the_way(execution.view.graph, touch.context.conditions, touch.context.loops):
                    values = _staying(size, straying, array.bytes, trial, execution)
                    if size not in found and values is not None:
                        found[size] = values
                        break
    except TooLarge:
        pass
    return list(found.values())


def _staying(
    size: Node, straying: Sequence[Touch], extent: int | None, trial: Trial, execution: Execution
) -> dict[Node, int | float] | None:
    for number in alternatives.REACHING_SIZES:
        values: dict[Node, int | float] = {size: number}
        if allowed(execution.view, values) and not any(leaves(t, trial.under(values), extent) for t in straying):
            return values
    return None


def leaves(touch: Touch, trial: Trial, extent: int | None) -> bool:
    """Whether some thread leaves an array of so many bytes for the sizes of a trial, which nothing gives."""
    graph = trial.graph
    bits = depends_on(touch.context, touch.offset)
    if extent is None or touch.offset.bits & graph.opaque_bits or not symbols(graph, bits):
        return False
    if isinstance(touch, AccessEvent) and touch.one_of:
        # It may be another array, which begins far behind this one.
        return False
    return _has_strays(touch, trial, extent)


def _has_strays(touch: Touch, trial: Trial, extent: int) -> bool:
    trace = trial.some_trace("block")
    if not trace.is_walked(touch) or not trace.follows(touch, touch.offset):
        return False
    rows = trace.rows_of(touch)
    addresses = flat(rows.value(touch.offset), rows).astype(np.int64, copy=False)
    strays = (addresses < 0) | (addresses + touch.bytes > extent)
    return bool((trace.mask(touch) & strays).any())


@heuristic("outgrown-arrays", "blocks larger than an array has elements for").otherwise(None)
def outgrown(execution: Execution, trial: Trial) -> str | None:
    """An array that is declared with fewer elements than the block has threads for: it is not made for such a block."""
    graph = trial.graph
    for event in execution.events:
        if not isinstance(event, AccessEvent) or not event.target.bytes or event.target.symbol is None or event.one_of:
            continue
        bits = depends_on(event.context, event.offset)
        if not event.offset.bits & THREAD_BITS or bits & (graph.opaque_bits | graph.uniform_bits | BLOCK_BITS):
            continue
        try:
            if _has_strays(event, trial, event.target.bytes):
                return event.target.name
        except TooLarge:
            return None
    return None


def is_reached(touches: Iterable[Touch], trial: Trial) -> bool:
    """Whether some thread gets to each of some accesses."""
    try:
        return all(_is_reached(touch, trial) for touch in touches)
    except TooLarge:
        return True


def _is_reached(touch: Touch, trial: Trial) -> bool:
    trace = trial.some_trace("block")
    return trace.is_walked(touch) and bool(trace.mask(touch).any())


def _is_kept_away(touch: Touch) -> bool:
    """Whether it may be that sizes keep all threads away: by a condition that tells threads apart."""
    return any(c.bits & THREAD_BITS for c in touch.context.conditions)
