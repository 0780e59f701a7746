"""Which warps a branch splits: the condition of every lane, set against those of the other active lanes of its warp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cudalint.evaluate.events import BranchEvent, Loop
from cudalint.evaluate.figures import LaunchView
from cudalint.evaluate.graph import BOOL, THREAD_BITS, Graph, Node, Reason, Uniform, conjuncts, render
from cudalint.evaluate.numeric import WARP, Rows, lane_trips
from cudalint.evaluate.requests import Situation, mask_of, opaque_parts, varies_within_warp
from cudalint.facts import Verdict

LOOPS = frozenset({"for", "while", "do"})
_LANES = "which lanes take it depends on data"
_UNKNOWN = "which lanes take it could not be evaluated"
UNREACHED = "no thread gets here under this launch"


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """What one execution of a branch statement does to the warps of one launch."""

    verdict: Verdict
    visits: float = 0.0
    """How often a warp gets to the branch, over the launch."""
    split: float = 0.0
    """How often its lanes part there."""
    lanes: tuple[float, float] = (0.0, 0.0)
    """Active lanes for which the condition holds, and others, summed over the visits that split."""
    trips: tuple[float, float] = (0.0, 0.0)
    """Of a loop: iterations of the slowest lane of each warp, and of its mean lane, summed over the visits."""
    assumptions: tuple[str, ...] = ()
    reason: str | None = None


_Judge = Callable[[BranchEvent, Situation, Sequence[Node]], Split]


def evaluate_branch(event: BranchEvent, view: LaunchView) -> Split:
    """The verdict on one execution of a branch."""
    graph = view.graph
    if event.condition.is_const:
        return Split("uniform")
    if _is_astray(event, graph):
        return Split("unknown", reason="it depends on a value that an earlier loop left behind")
    judge = _judge_loop if event.kind in LOOPS and event.context.loops else _judge_condition
    found = judge(event, view.quick(), event.context.conditions)
    if found.visits == 0 and event.context.loops:
        found = judge(event, view.thorough(), event.context.conditions)
    if found.visits == 0:
        found = _relaxed(event, view, judge)
    if found.verdict in ("uniform", "warp-uniform") and found.visits:
        return _at_other_sizes(event, view, found, judge)
    return found


def _relaxed(event: BranchEvent, view: LaunchView, judge: _Judge) -> Split:
    """The verdict where generic sizes let no thread through: the conditions on sizes are taken to hold."""
    conditions = tuple(c for c in event.context.conditions if not c.bits & view.graph.uniform_bits)
    relaxed = tuple(c for c in event.context.conditions if c.bits & view.graph.uniform_bits)
    if not relaxed:
        return Split("uniform", reason=UNREACHED)
    found = judge(event, view.quick(), conditions)
    if not found.visits:
        return Split("uniform", reason=UNREACHED)
    return replace(found, assumptions=tuple(f"`{render(c)}` holds" for c in relaxed))


def _at_other_sizes(event: BranchEvent, view: LaunchView, found: Split, judge: _Judge) -> Split:
    """Sizes that nothing determines are taken as multiples of 32. Where one that isn't splits warps, so does nearly every
    size: that is the verdict then, and what it rests on is said."""
    graph = view.graph
    bits = event.condition.bits
    if not bits & THREAD_BITS:
        return found
    if event.kind in LOOPS:
        bits |= event.context.loops[-1].condition.bits
    for uniform in graph.atoms(bits, graph.uniform_bits):
        payload = uniform.payload
        assert isinstance(payload, Uniform)
        if uniform.kind.is_float or uniform.kind == BOOL or payload.name.startswith("&"):
            continue
        odd = int(payload.generic) + 1
        if not view.allows(uniform, odd):
            continue
        other = judge(event, view.varied(uniform, odd), event.context.conditions)
        if other.verdict == "divergent":
            return replace(other, assumptions=(f"{render(uniform)} % {WARP} != 0",))
    return found


# --- conditions ------------------------------------------------------------------------------------------


def _judge_condition(event: BranchEvent, situation: Situation, conditions: Sequence[Node]) -> Split:
    graph, rows = situation.graph, situation.rows(event.context.loops)
    shape = (rows.count, situation.threads.warps, WARP)
    mask = mask_of(rows, _known(graph, conditions)).reshape(shape)
    visits = rows.weights[:, None] * mask.any(axis=2)
    total = float(visits.sum())
    doubt = _doubt(rows, event.condition, mask)
    if doubt is not None:
        return _doubtful(doubt, total)
    way = np.broadcast_to(np.asarray(rows.value(event.condition)), (rows.count, mask[0].size)).reshape(shape)
    if event.kind == "switch":
        # Whether a lane goes the way of the block's first active one: whatever differs from it parts the lanes.
        way = way == _first(way, mask)
    yes, no = mask & way.astype(bool), mask & ~way.astype(bool)
    splits = yes.any(axis=2) & no.any(axis=2) & (visits > 0)
    weights = visits * splits
    return Split(
        _verdict(splits, yes.any(axis=2) & (visits > 0), no.any(axis=2) & (visits > 0)),
        total,
        float(weights.sum()),
        (float((weights * yes.sum(axis=2)).sum()), float((weights * no.sum(axis=2)).sum())),
    )


def _first(values: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[rows, 1, 1] the value of the first active thread of each row."""
    place = mask.reshape(len(mask), -1).argmax(axis=1)
    return values.reshape(len(values), -1)[np.arange(len(values)), place][:, None, None]


def _verdict(splits: NDArray[np.bool_], yes: NDArray[np.bool_], no: NDArray[np.bool_]) -> Verdict:
    """From [rows, warps] whether a warp splits, and whether it has lanes on either side."""
    if splits.any():
        return "divergent"
    return "warp-uniform" if (yes.any(axis=1) & no.any(axis=1)).any() else "uniform"


# --- loops ---------------------------------------------------------------------------------------------------


def _judge_loop(event: BranchEvent, situation: Situation, conditions: Sequence[Node]) -> Split:
    """Lanes part at a loop's test where their trip counts differ."""
    graph, loop = situation.graph, event.context.loops[-1]
    rows = situation.rows(event.context.loops[:-1])
    shape = (rows.count, situation.threads.warps, WARP)
    path = [c for c in conditions if c in loop.conditions]
    mask = mask_of(rows, _known(graph, path)).reshape(shape)
    visits = rows.weights[:, None] * mask.any(axis=2)
    total = float(visits.sum())
    test = loop.condition if event.kind == "do" else event.condition
    within = rows.at_iteration(loop.counter, 1)
    doubt = next((d for part in conjuncts(graph, test) if (d := _doubt(within, part, mask)) is not None), None)
    if doubt is not None:
        return _doubtful(doubt, total)
    trips = np.broadcast_to(lane_trips(rows, loop.counter, test), (rows.count, mask[0].size)).reshape(shape)
    most = np.where(mask, trips, -1).max(axis=2)
    least = np.where(mask, trips, np.iinfo(np.int64).max).min(axis=2)
    splits = (most > least) & (visits > 0)
    differ = np.where(visits > 0, most, most.max(initial=0)).min(axis=1) < most.max(axis=1, initial=-1)
    verdict: Verdict = "divergent" if splits.any() else "warp-uniform" if differ.any() else "uniform"
    return Split(verdict, total, float((visits * splits).sum()), trips=_slowest(rows, loop, mask, visits))


def _slowest(
    rows: Rows, loop: Loop, mask: NDArray[np.bool_], visits: NDArray[np.float64]
) -> tuple[float, float]:
    """Iterations that the warps make, and that their lanes make on average, exits by `break` included."""
    if loop.condition.bits & rows.graph.opaque_bits:
        return (0.0, 0.0)
    trips = np.broadcast_to(lane_trips(rows, loop.counter, loop.condition), (rows.count, mask[0].size))
    masked = np.where(mask, trips.reshape(mask.shape), 0)
    mean = masked.sum(axis=2) / np.maximum(mask.sum(axis=2), 1)
    return float((visits * masked.max(axis=2)).sum()), float((visits * mean).sum())


# --- what cannot be told ---------------------------------------------------------------------------------


def _known(graph: Graph, conditions: Sequence[Node]) -> list[Node]:
    if any(c.is_const and not c.value for c in conditions):
        return [graph.false]
    return [c for c in conditions if not c.bits & graph.opaque_bits and not c.is_const]


def _doubt(rows: Rows, condition: Node, mask: NDArray[np.bool_]) -> Reason | None:
    """Why it cannot be told whether lanes of one warp agree on a condition.

    They do agree, whatever the unknown values are, if nothing that goes into it differs within a warp.
    """
    graph = rows.graph
    if not condition.bits & graph.opaque_bits or not condition.bits & THREAD_BITS:
        return None
    parts = opaque_parts(graph, condition)
    for part, reason in parts:
        if varies_within_warp(rows, part, mask):
            return reason
    if any(varies_within_warp(rows, node, mask) for node in _frontier(graph, condition)):
        return parts[0][1]
    return None


def _frontier(graph: Graph, node: Node) -> Iterator[Node]:
    """The largest parts of a value that are computed without any unknown value."""
    seen: set[int] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.index in seen or current.op == "opaque":
            continue
        seen.add(current.index)
        if not current.bits & graph.opaque_bits:
            yield current
        else:
            pending.extend(current.args)


def _doubtful(reason: Reason, visits: float) -> Split:
    what = _LANES if reason.data else _UNKNOWN
    return Split("data-dependent" if reason.data else "unknown", visits, reason=f"{what}: {reason.text}")


def _is_astray(event: BranchEvent, graph: Graph) -> bool:
    """Whether the branch depends on the counter of a loop that it is not in."""
    own, bits = 0, event.condition.bits
    for loop in event.context.loops:
        own |= loop.counter.bits
        bits |= loop.condition.bits
    for condition in event.context.conditions:
        bits |= condition.bits
    return bool(bits & graph.loop_bits & ~own)
