"""Whether all threads that a barrier waits for come to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.concurrency.trial import Trial
from cudalint.concurrency.tried_sizes import is_another_grid
from cudalint.concurrency.unfold import TooLarge, Unfolding
from cudalint.evaluate.checks.probes import allowed, inputs
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.situations import mask_of
from cudalint.evaluate.requests.views import LaunchView
from cudalint.facts import BarrierResult
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import BarrierEvent
from cudalint.ir import nodes as ir
from cudalint.reasons import ReasonKind
from cudalint.scenarios import alternatives
from cudalint.scenarios.solving import satisfy
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, bits_of, render
from cudalint.values.opaque_parts import opaque_parts

Gone = Literal["no", "returned", "leaving"]
"""Whether threads that don't come to a barrier have left the kernel, or leave it next, by whole warps."""
_WAYS: dict[Gone, str] = {
    "no": "does not come",
    "returned": "has returned",
    "leaving": "goes on to the end of the kernel",
}


class _Split(Struct, frozen=True):
    """A block of which some threads come to a barrier and others do not."""

    comes: tuple[int, int, int]
    stays: tuple[int, int, int]
    block: tuple[int, int, int]
    gone: Gone = "no"


def verdict(event: BarrierEvent, trial: Trial, execution: Execution) -> BarrierResult:
    """The verdict on one execution of a barrier of a block or grid."""
    graph, launch = trial.graph, execution.view.index
    try:
        split = _split(event, trial, execution)
    except TooLarge:
        return BarrierResult(launch, "unknown", "there is too much to look at")
    if event.kind == "named":
        if split is None:
            return BarrierResult(launch, "uniform")
        return BarrierResult(launch, "unknown", "which threads it waits for is not known")
    if split is not None:
        sizes = None if split.gone == "returned" else _own_sizes(event, trial, execution)
        return _divergent(event, split, launch, sizes)
    if event.mask is not None and event.mask.bits & graph.opaque_bits and not event.implied:
        return BarrierResult(launch, "unknown", "which lanes it waits for is not known")
    doubt = _data(event, graph)
    if doubt is not None:
        return BarrierResult(launch, "unknown", doubt[0], reason_kind=doubt[1])
    unnamed = _unnamed_lane(event, trial)
    if unnamed is not None:
        return BarrierResult(launch, "divergent", unnamed, unnamed=True)
    for values, changed in _other_situations(event, trial, execution):
        other = trial.under(values)
        if not other.is_launched or is_another_grid(values, event.context.deciding, execution):
            continue
        split = _split(event, other, execution)
        if split is not None:
            told = [changed] if changed is not None else list(values)
            text = "where " + ", ".join(f"{render(symbol)} = {values[symbol]}" for symbol in told)
            if changed is not None and abs(values[changed] - graph.generic(changed)) == 1:
                text += _rest(event, trial, execution, values, changed, graph.generic(changed))
            return _divergent(event, split, launch, text)
    return BarrierResult(launch, "uniform")


def _own_sizes(event: BarrierEvent, trial: Trial, execution: Execution) -> str | None:
    """The sizes for which threads stay away, where for others all of them come."""
    graph, bits = trial.graph, bits_of(event.context.deciding)
    found = inputs(graph, bits)
    for values in ({symbol: n} for symbol in found for n in alternatives.more_work(graph.generic(symbol))):
        fits = all(execution.view.fits(symbol, number) for symbol, number in values.items())
        if fits and allowed(execution.view, values) and _comes_whole(event, trial.under(values), execution):
            ((symbol, whole),) = values.items()
            own = "where " + ", ".join(f"{render(symbol)} = {graph.generic(symbol)}" for symbol in found)
            return own + _rest(event, trial, execution, {symbol: graph.generic(symbol)}, symbol, whole)
    return None


def _rest(
    event: BarrierEvent,
    trial: Trial,
    execution: Execution,
    values: Mapping[Node, int | float],
    symbol: Node,
    whole: int,
) -> str:
    """Of sizes for which threads stay away what one is no multiple of, where it is that. With `whole` for it all come.
    """
    for multiple in alternatives.MULTIPLES:
        if whole % multiple:
            break
        others = {**values, symbol: whole + multiple}
        if _leaves_room(execution.view, others) and _comes_whole(event, trial.under(others), execution):
            return f", which is no multiple of {multiple}" if values[symbol] % multiple else ""
    return ""


def _comes_whole(event: BarrierEvent, trial: Trial, execution: Execution) -> bool:
    """Whether threads come to a barrier, and none stays away."""
    try:
        return trial.is_launched and _is_reached(event, trial) and _split(event, trial, execution) is None
    except TooLarge:
        return False


def _is_reached(event: BarrierEvent, trial: Trial) -> bool:
    """Whether threads come to a barrier at all."""
    trace = trial.some_trace("grid" if event.scope == "grid" else "block")
    return trace.is_reached(event) and bool(_mask(trace, event, trial.graph).any())


def all_come(span: ir.Span, execution: Execution, trial: Trial) -> bool:
    """Whether the barriers at a place are ones that all threads come to, for all sizes that are tried."""
    try:
        return _all_come(span, execution, trial)
    except TooLarge:
        return False


def _all_come(span: ir.Span, execution: Execution, trial: Trial) -> bool:
    start = (span.path, span.line, span.column)
    found = [
        event
        for event in execution.events
        if isinstance(event, BarrierEvent) and event.context.span[:3] == start and event.context.span[3:] == span[1:3]
    ]
    return bool(found) and all(
        _whole_warps(event, trial) if event.scope == "warp" else verdict(event, trial, execution).verdict == "uniform"
        for event in found
    )


def _whole_warps(event: BarrierEvent, trial: Trial) -> bool:
    """Whether all lanes of a warp come, or none; not where that depends on data."""
    if any(c.bits & trial.graph.opaque_bits and c.bits & THREAD_BITS for c in event.context.deciding):
        return False
    trace = trial.some_trace("block")
    if not trace.is_reached(event):
        return True
    mask = _mask(trace, event, trial.graph)
    by_warp = mask.reshape(len(mask), -1, WARP_LANES)
    exists = np.broadcast_to(trace.threads.exists, mask.shape).reshape(by_warp.shape)
    return not bool((by_warp.any(axis=2) & (exists & ~by_warp).any(axis=2)).any())


def _divergent(event: BarrierEvent, split: _Split, launch: int, size: str | None = None) -> BarrierResult:
    where = "" if split.block == (0, 0, 0) else f" of block {split.block}"
    reason = f"thread {split.comes}{where} waits, thread {split.stays} {_WAYS[split.gone]}"
    returned = split.gone == "returned"
    return BarrierResult(
        launch,
        "divergent",
        f"{reason} {size}" if size else reason,
        size,
        returned=returned,
        tail=returned and split.block != (0, 0, 0) and any(map(_tells_ends, event.context.deciding)),
        leaving=split.gone == "leaving",
        missing=split.stays,
    )


def _tells_ends(condition: Node) -> bool:
    """Whether a condition is about the place of a thread in the grid, as that on the end of the data is."""
    return bool(condition.bits & THREAD_BITS and condition.bits & BLOCK_BITS)


def _split(event: BarrierEvent, trial: Trial, execution: Execution) -> _Split | None:
    alive = execution.alive
    if event.scope == "warp":
        return _missing_lane(event, trial, alive)
    trace = trial.some_trace("grid" if event.scope == "grid" else "block")
    if not trace.is_reached(event):
        return None
    rows = trace.rows_of(event)
    mask = _mask(trace, event, trial.graph)
    exists = np.broadcast_to(trace.threads.exists, mask.shape)
    if event.scope == "grid":
        return _between_blocks(trace, event, mask)
    here = _still_here(trace, event, alive)
    some: NDArray[np.bool_] = np.asarray(mask.any(axis=1))
    missing = exists & ~mask & some[:, None]
    if not missing.any():
        return None
    staying = missing & here
    row, stays = (int(i) for i in np.argwhere(staying if staying.any() else missing)[0])
    comes = int(np.argmax(mask[row]))
    block = tuple(int(b) for b in rows.blocks[row])
    gone: Gone = "no" if staying.any() else "returned"
    if staying.any() and _leaves(event, mask, np.asarray(staying.any(axis=0)), trace, execution):
        gone = "leaving"
    return _Split(_thread(trace, comes), _thread(trace, stays), block, gone)  # type: ignore[arg-type]


def _leaves(
    event: BarrierEvent, mask: NDArray[np.bool_], staying: NDArray[np.bool_], trace: Unfolding, execution: Execution
) -> bool:
    """Whether threads that don't come to a barrier are whole warps, and come to no other one behind it: they leave the
    kernel, and no longer count. Lanes of a warp that others of it wait for hang the kernel."""
    coming: NDArray[np.bool_] = np.asarray(mask.any(axis=0))
    if (coming & staying).any() or (_warps(coming) & _warps(staying)).any():
        return False
    events = [each for each in execution.events if isinstance(each, BarrierEvent) and each.scope != "warp"]
    own, loops = events.index(event), {loop.counter for loop in event.context.loops}
    for position, other in enumerate(events):
        if other is event or not trace.is_reached(other):
            continue
        there = _mask(trace, other, trace.graph)
        is_behind = position > own or any(loop.counter in loops for loop in other.context.loops)
        if there[:, staying].any() and (is_behind or not there[:, coming].any()):
            return False
    return True


def _warps(threads: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[warps] whether any thread of it is among these."""
    return np.asarray(threads.reshape(-1, WARP_LANES).any(axis=1))


def _still_here(trace: Unfolding, event: BarrierEvent, alive: Sequence[Node]) -> NDArray[np.bool_]:
    """[rows, threads] who has not left the kernel before."""
    rows = trace.rows_of(event)
    before = [*event.context.conditions, *(c for loop in event.context.loops for c in loop.conditions)]
    graph = trace.graph
    left = [c for c in alive if c in before and not c.bits & graph.opaque_bits and trace.follows(event, c)]
    # Who has left a loop is still in the kernel.
    return mask_of(rows, left, np.broadcast_to(trace.threads.exists, (rows.count, trace.threads.warps * WARP_LANES)))


def _unnamed_lane(event: BarrierEvent, trial: Trial) -> str | None:
    """A lane that comes to a warp function whose mask names lanes, but not this one."""
    trace = trial.some_trace("block")
    masks = _masks(trace, event, trial.graph)
    if masks is None:
        return None
    named = _named(masks)
    unnamed = _mask(trace, event, trial.graph) & trace.threads.exists & _of_warp(named) & ~named
    if not unnamed.any():
        return None
    row, thread = (int(i) for i in np.argwhere(unnamed)[0])
    mask = int(trace.rows_of(event).full(event.mask)[row, thread]) & 0xFFFFFFFF if event.mask is not None else 0
    return f"thread {_thread(trace, thread)} comes as lane {thread % WARP_LANES}, and the mask is {mask:#x}"


def _masks(trace: Unfolding, event: BarrierEvent, graph: Graph) -> NDArray[np.int64] | None:
    """[rows, threads] the mask that a thread gives; None where that is not known."""
    if event.mask is None or event.mask.bits & graph.opaque_bits:
        return None
    if not trace.is_reached(event) or not trace.follows(event, event.mask):
        return None
    given = trace.rows_of(event).full(event.mask)
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        return None  # What C makes an integer of it is undefined.
    masks: NDArray[np.int64] = given.astype(np.int64)
    return masks


def _named(masks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[rows, threads] whether a mask names the lane of its thread."""
    named: NDArray[np.bool_] = (masks >> np.arange(masks.shape[1]) % WARP_LANES & 1).astype(bool)
    return named


def _named_by(comes: NDArray[np.bool_], masks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[rows, threads] whether any lane that comes names this one: groups of lanes have masks of their own."""
    given = np.where(comes, masks, 0).reshape(len(masks), -1, WARP_LANES)
    return _named(np.bitwise_or.reduce(given, axis=2).repeat(WARP_LANES, axis=1))


def _of_warp(threads: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[rows, threads] whether it holds for any of the same warp."""
    return threads.reshape(len(threads), -1, WARP_LANES).any(axis=2).repeat(WARP_LANES, axis=1)


def _missing_lane(event: BarrierEvent, trial: Trial, alive: Sequence[Node]) -> _Split | None:
    """A warp of which some lanes come, and one that the mask names goes another way."""
    trace = trial.some_trace("block")
    masks = _masks(trace, event, trial.graph)
    if masks is None:
        return None
    rows = trace.rows_of(event)
    mask = np.broadcast_to(_mask(trace, event, trial.graph), masks.shape)
    exists = trace.threads.exists
    missing = _named_by(mask & exists, masks) & ~mask & exists & _still_here(trace, event, alive)
    if not missing.any():
        return None
    row, stays = (int(i) for i in np.argwhere(missing)[0])
    start = stays // WARP_LANES * WARP_LANES
    names = mask[row] & (masks[row] >> stays % WARP_LANES & 1).astype(bool)
    comes = start + int(np.argmax(names[start : start + WARP_LANES]))
    block = tuple(int(b) for b in rows.blocks[row])
    return _Split(_thread(trace, comes), _thread(trace, stays), block)  # type: ignore[arg-type]


def _between_blocks(trace: Unfolding, event: BarrierEvent, mask: NDArray[np.bool_]) -> _Split | None:
    """A barrier of the grid that a block passes by, or some threads of one."""
    exists = np.broadcast_to(trace.threads.exists, mask.shape)
    whole = mask.any(axis=1)
    split = whole & (exists & ~mask).any(axis=1)
    blocks = trace.rows_of(event).blocks
    if split.any():
        row = int(np.argmax(split))
        stays = int(np.argmax(exists[row] & ~mask[row]))
    elif whole.any() and not whole.all() and not event.context.loops:
        row, stays = int(np.argmin(whole)), 0
    else:
        return None
    block = tuple(int(b) for b in blocks[row])
    return _Split((0, 0, 0), _thread(trace, stays), block)  # type: ignore[arg-type]


def _mask(trace: Unfolding, event: BarrierEvent, graph: Graph) -> NDArray[np.bool_]:
    """[rows, threads] who comes; threads that left a loop around are no longer there."""
    rows = trace.rows_of(event)
    conditions = [c for c in event.context.deciding if not c.bits & graph.opaque_bits and trace.follows(event, c)]
    return mask_of(rows, conditions)


def _thread(trace: Unfolding, linear: int) -> tuple[int, int, int]:
    x, y, z = (int(axis[0, linear]) for axis in trace.threads.indices)
    return x, y, z


def _data(event: BarrierEvent, graph: Graph) -> tuple[str, ReasonKind] | None:
    """The loaded data that may keep threads away; what is the same for all threads that the barrier waits for does not.
    """
    own = THREAD_BITS | (BLOCK_BITS if event.scope == "grid" else 0)
    own_counters = bits_of(loop.counter for loop in event.context.loops)
    for condition in (part for c in event.context.deciding for part in conjuncts(graph, c)):
        if condition.bits & graph.loop_bits & ~own_counters:
            return "it depends on a value that an earlier loop left behind and that could not be followed", "other"
        if not condition.bits & graph.opaque_bits or not condition.bits & own:
            continue
        reasons = [reason for _, reason in opaque_parts(graph, condition)]
        text = "it depends on data"
        return f"{text} whether all threads come: {reasons[0].text}" if reasons else text, "data"
    return None


def _other_situations(
    event: BarrierEvent, trial: Trial, execution: Execution
) -> Iterator[tuple[dict[Node, int | float], Node | None]]:
    """Sizes that leave a block in part, with the one that does, and flags that open a way to the barrier."""
    graph, view = trial.graph, execution.view
    conditions = event.context.deciding
    bits = bits_of(conditions)
    wanted = [c for c in conditions if c.bits and not c.bits & ~graph.uniform_bits]
    open_values: dict[Node, int | float] = {}
    if wanted and not all(holds(graph, c, {}) for c in wanted):
        among = bits_of(wanted)
        open_values = satisfy(graph, wanted, graph.atoms(among, graph.uniform_bits)) or {}
        if open_values and not _leaves_room(view, open_values):
            return
        if open_values:
            yield open_values, None
    if not any(c.bits & THREAD_BITS for c in conditions):
        return
    for symbol in inputs(graph, bits):
        generic = graph.generic(symbol)
        for number in (generic + 1, generic - 1, *alternatives.UNEVEN, 1):
            values = {**open_values, symbol: number}
            if number in alternatives.UNEVEN and not view.fits(symbol, number):
                continue
            if _leaves_room(view, values) and view.is_launched(symbol, number):
                yield values, symbol


def _leaves_room(view: LaunchView, values: Mapping[Node, int | float]) -> bool:
    """Whether the launch may be made with these values. To one that the known values don't lead to, others lead."""
    if view.graph.false in view.guards:
        return all(holds(view.graph, condition, values) for condition in view.assumed)
    return allowed(view, values)
