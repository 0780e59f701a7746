"""Which warps a branch splits: the condition of every lane, set against those of the other active lanes of its warp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.situations import Situation, mask_of
from cudalint.evaluate.requests.views import LaunchView
from cudalint.facts import Verdict
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import BranchEvent, Loop
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import BOOL
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, Reason, Uniform, bits_of, render
from cudalint.values.numeric import Rows
from cudalint.values.varying import At, Lanes

LOOPS = frozenset({"for", "while", "do"})
_LANES = "which lanes take it depends on data"
_UNKNOWN = "which lanes take it could not be evaluated"
_EDGE = 0.05
"""Up to this share of warps, a split at another size is one at the edge of the problem."""
_LARGE = 1024
"""From here on, one more is a small step."""
_MILDER = 0.75
_PASSED = Reason(True, "it depends on how often a loop was passed through")
UNREACHED = "no thread gets here under this launch"


class Split(Struct, frozen=True, eq=False):
    """What one execution of a branch statement does to the warps of one launch."""

    verdict: Verdict
    visits: float = 0.0
    """How often a warp gets to the branch, over the launch."""
    split: float = 0.0
    """How often its lanes part there."""
    lanes: tuple[float, float] = (0.0, 0.0)
    """Active lanes for which the condition holds, and others, summed over the visits that split."""
    sides: tuple[float, float] = (1.0, 1.0)
    """Of the visits, the share in which some lane goes the way of the condition, or the other way."""
    surplus: float = 0.0
    """Warps that would not have to execute what the condition guards if a block's lanes were packed into few warps."""
    trips: tuple[float, float] = (0.0, 0.0)
    """Of a loop: iterations of the slowest lane of each warp, and of its mean lane, summed over the visits."""
    is_remainder: bool = False
    """Of a loop: whether no lane goes without, and none makes more than one iteration more than another."""
    assumptions: tuple[str, ...] = ()
    reason: str | None = None
    sized: bool = False
    """Whether it rests on sizes that nothing determines: other ones make much less of it."""
    ways: bytes = b""
    """Of a block of which a warp splits, as `Divergence.ways`."""


_Judge = Callable[[BranchEvent, Situation, Sequence[Node]], Split]


def evaluate_branch(event: BranchEvent, view: LaunchView) -> Split:
    """The verdict on one execution of a branch."""
    graph = view.graph
    if event.condition.is_const:
        return Split("uniform")
    if dependence(event.context, event.condition, graph).is_astray:
        return Split("unknown", reason="it depends on a value that an earlier loop left behind")
    judge = _judge_loop if event.kind in LOOPS and event.context.loops else judge_condition
    found = judge(event, _situation(event, view), event.context.conditions)
    if found.visits == 0 and event.context.loops:
        found = judge(event, view.thorough(), event.context.conditions)
    if found.visits == 0:
        found = _relaxed(event, view, judge)
    if found.verdict in ("uniform", "warp-uniform") and found.visits:
        return _at_other_sizes(event, view, found, judge)
    if found.verdict == "divergent" and (event.condition.bits & BLOCK_BITS).bit_count() > 1:
        # The blocks that show what happens at edges are no fair sample of what happens on a diagonal.
        fair = judge(event, view.scattered(), event.context.conditions)
        found = fair if fair.split else found
    return _with_sizes(event, view, found, judge) if found.verdict == "divergent" else found


def _situation(event: BranchEvent, view: LaunchView) -> Situation:
    """A few iterations are enough unless which lanes part changes from one to the next."""
    around = event.context.loops[:-1] if event.kind in LOOPS else event.context.loops
    counters = bits_of(loop.counter for loop in around)
    if not event.condition.bits & THREAD_BITS or not event.condition.bits & counters:
        return view.quick()
    return view.deep() if len(around) > 1 else view.thorough()


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
    """Sizes that nothing determines are taken as multiples of 32. Where one that isn't splits warps all over, so does
    nearly every size: that is the verdict then. Where it only splits a warp at the edge, the verdict stays, and what it
    rests on is said. So it does where something keeps the size small (a block has as many threads): then one more is
    a large step, and says little of other sizes."""
    graph = view.graph
    if not event.condition.bits & THREAD_BITS:
        return found
    edges: list[str] = []
    for uniform, generic in _sizes(event, graph):
        odd = int(generic) + 1
        if uniform.kind.is_float or not view.allows(uniform, odd):
            continue
        other = judge(event, view.varied(uniform, odd), event.context.conditions)
        all_over = other.split > _EDGE * other.visits and generic >= _LARGE
        if other.verdict == "divergent" and all_over:
            return replace(other, assumptions=(f"{render(uniform)} % {WARP_LANES} != 0",))
        if other.verdict == "divergent":
            edges.append(f"{render(uniform)} % {WARP_LANES} == 0")
    return replace(found, assumptions=tuple(edges)) if edges else found


def _with_sizes(event: BranchEvent, view: LaunchView, found: Split, judge: _Judge) -> Split:
    """Names the sizes that nothing determines and of which others would make much less of a split."""
    told = []
    for uniform, generic in _sizes(event, view.graph):
        usual = judge(event, view.quick(), event.context.conditions)
        for value in alternatives.other_shares(generic):
            if value < 1 or not view.allows(uniform, value):
                continue
            other = judge(event, view.varied(uniform, value), event.context.conditions)
            if other.visits and _severity(other) < _MILDER * _severity(usual):
                told.append(f"{render(uniform)} = {generic:g}")
                break
    return replace(found, assumptions=(*found.assumptions, *told), sized=bool(told)) if told else found


def _severity(split: Split) -> float:
    """The share of visits that split, or of a loop's passes that the mean lane waits for."""
    slowest, mean = split.trips
    if slowest:
        return 1 - mean / slowest
    return split.split / split.visits if split.visits else 0.0


def _sizes(event: BranchEvent, graph: Graph) -> Iterator[tuple[Node, int | float]]:
    """The numbers that nothing determines among those on which a branch depends, with the generic values they have."""
    bits = event.condition.bits
    if event.kind in LOOPS and event.context.loops:
        bits |= event.context.loops[-1].condition.bits
    for uniform in graph.atoms(bits, graph.uniform_bits):
        payload = uniform.payload
        assert isinstance(payload, Uniform)
        if uniform.kind != BOOL and not payload.name.startswith("&"):
            yield uniform, graph.choice(uniform).value


# --- conditions ------------------------------------------------------------------------------------------


def judge_condition(event: BranchEvent, situation: Situation, conditions: Sequence[Node]) -> Split:
    graph, rows = situation.graph, situation.rows(event.context.loops)
    shape = (rows.count, situation.threads.warps, WARP_LANES)
    present = _still_there(graph, event.context.loops)
    mask = mask_of(rows, [*known(graph, conditions), *present]).reshape(shape)
    visits = rows.weights[:, None] * mask.any(axis=2)
    total = float(visits.sum())
    doubt = _doubt(situation.lanes(event.context.loops, mask), graph, event.condition)
    if doubt is not None:
        return _doubtful(doubt, total)
    way = rows.full(event.condition).reshape(shape)
    # A lane that goes another way than the first active one of its warp splits it.
    first = np.take_along_axis(way, mask.argmax(axis=2)[..., None], axis=2)
    splits = (mask & (way != first)).any(axis=2) & (visits > 0)
    weights = visits * splits
    yes, no = mask & way.astype(bool), mask & ~way.astype(bool)
    return Split(
        _verdict(splits, first[..., 0], visits > 0),
        total,
        float(weights.sum()),
        (float((weights * yes.sum(axis=2)).sum()), float((weights * no.sum(axis=2)).sum())),
        tuple(float((visits * way.any(axis=2)).sum()) / max(total, 1e-9) for way in (yes, no)),  # type: ignore[arg-type]
        float((rows.weights * (yes.any(axis=2).sum(axis=1) - -(-yes.sum(axis=(1, 2)) // WARP_LANES))).sum()),
        ways=_ways(splits, yes, no),
    )


def _ways(splits: NDArray[np.bool_], yes: NDArray[np.bool_], no: NDArray[np.bool_]) -> bytes:
    """What the threads do of the block (a row) in which most warps split; nothing where none does."""
    if not splits.any():
        return b""
    row = int(splits.sum(axis=1).argmax())
    return np.where(yes[row], 1, np.where(no[row], 2, 0)).astype(np.int8).tobytes()


def _still_there(graph: Graph, loops: Sequence[Loop]) -> Iterator[Node]:
    """Hold for the lanes that have not left the loops in an earlier iteration."""
    for loop in loops:
        if loop.condition.bits & THREAD_BITS and not loop.condition.bits & graph.opaque_bits:
            yield graph.binary("<", loop.counter, graph.trips(loop.counter, loop.condition), BOOL)


def _verdict(splits: NDArray[np.bool_], way: NDArray[Any], active: NDArray[np.bool_]) -> Verdict:
    """From [rows, warps]: whether a warp splits, where its first lane goes, and whether it gets there at all."""
    if splits.any():
        return "divergent"
    some = np.take_along_axis(way, active.argmax(axis=1)[:, None], axis=1)
    return "warp-uniform" if (active & (way != some)).any() else "uniform"


# --- loops ---------------------------------------------------------------------------------------------------


def _judge_loop(event: BranchEvent, situation: Situation, conditions: Sequence[Node]) -> Split:
    """Lanes part at a loop's test where their trip counts differ."""
    graph, loop = situation.graph, event.context.loops[-1]
    rows = situation.rows(event.context.loops[:-1])
    shape = (rows.count, situation.threads.warps, WARP_LANES)
    path = [c for c in conditions if c in loop.conditions]
    mask = mask_of(rows, known(graph, path)).reshape(shape)
    visits = rows.weights[:, None] * mask.any(axis=2)
    total = float(visits.sum())
    test = loop.condition if event.kind == "do" else event.condition
    lanes, later = situation.lanes(event.context.loops[:-1], mask), frozenset({(loop.counter, 1)})
    doubt = next((d for part in conjuncts(graph, test) if (d := _doubt(lanes, graph, part, later)) is not None), None)
    if doubt is not None:
        return _doubtful(doubt, total)
    trips = rows.over_lanes(rows.trips(loop.counter, test)).reshape(shape)
    most = np.where(mask, trips, -1).max(axis=2)
    least = np.where(mask, trips, np.iinfo(np.int64).max).min(axis=2)
    splits = (most > least) & (visits > 0)
    slowest, verdict = _slowest(rows, loop, mask, visits), _verdict(splits, most, visits > 0)
    remainder = bool(((least > 0) & (most - least <= 1))[visits > 0].all())
    longest = mask & (trips == most[..., None])
    return Split(
        verdict, total, float((visits * splits).sum()), trips=slowest, is_remainder=remainder,
        ways=_ways(splits, longest, mask & ~longest),
    )  # fmt: skip


def _slowest(
    rows: Rows, loop: Loop, mask: NDArray[np.bool_], visits: NDArray[np.float64]
) -> tuple[float, float]:
    """Iterations that the warps make, and that their lanes make on average, exits by `break` included."""
    if loop.condition.bits & rows.graph.opaque_bits:
        return (0.0, 0.0)
    trips = rows.over_lanes(rows.trips(loop.counter, loop.condition))
    masked = np.where(mask, trips.reshape(mask.shape), 0)
    mean = masked.sum(axis=2) / np.maximum(mask.sum(axis=2), 1)
    return float((visits * masked.max(axis=2)).sum()), float((visits * mean).sum())


# --- what cannot be told ---------------------------------------------------------------------------------


def known(graph: Graph, conditions: Sequence[Node]) -> list[Node]:
    if any(c.is_const and not c.value for c in conditions):
        return [graph.false]
    return [c for c in conditions if not c.bits & graph.opaque_bits and not c.is_const]


def _doubt(lanes: Lanes, graph: Graph, condition: Node, at: At = frozenset()) -> Reason | None:
    """Why it cannot be told whether lanes of one warp agree on a condition.

    They do agree, whatever the unknown values are, if nothing that goes into it differs within a warp.
    """
    if not condition.bits & graph.opaque_bits or not condition.bits & THREAD_BITS:
        return None
    first: Reason | None = None
    differs = False
    for part in _parts(graph, condition):
        reason = part.payload if isinstance(part.payload, Reason) else None
        first = first or reason
        # The number of iterations that a loop made is made up of values inside of it, which have none out here.
        varies = bool(part.bits & THREAD_BITS) if part.op == "trips" else lanes.vary(part, at)
        if varies and reason is not None:
            return reason
        differs = differs or varies
    return (first or _PASSED) if differs else None


def _parts(graph: Graph, node: Node) -> Iterator[Node]:
    """What a value is computed from: its unknown values, and the largest parts that have none in them."""
    seen: set[int] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.index in seen:
            continue
        seen.add(current.index)
        if current.op in ("opaque", "trips") or not current.bits & graph.opaque_bits:
            yield current
        else:
            pending.extend(current.args)


def _doubtful(reason: Reason, visits: float) -> Split:
    what = _LANES if reason.data else _UNKNOWN
    return Split("data-dependent" if reason.data else "unknown", visits, reason=f"{what}: {reason.text}")


def warps_launched(view: LaunchView) -> float:
    """Warps of the whole launch."""
    situation = view.quick()
    return float(situation.base.weights.sum()) * situation.threads.warps
