"""The figures of one access under one launch: what a profiler would report for it, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.edges import of_first_turns
from cudalint.evaluate.requests.knowledge import know, needed_sizes, stays_one
from cudalint.evaluate.requests.masks import cut_by_data, guards_by_data
from cudalint.evaluate.requests.open_numbers import OpenValues, flags_of, open_values, small_shifts
from cudalint.evaluate.requests.requests import Requests, Totals, gather
from cudalint.evaluate.requests.sampling import offset_range, sample, strides
from cudalint.evaluate.requests.sensitivity import GOOD, rests_on
from cudalint.evaluate.requests.situations import DEEP, SHIFTED, THOROUGH, Situation
from cudalint.evaluate.requests.views import TOLERANCE, Known, LaunchView, totals_of
from cudalint.facts import AccessResult, Status
from cudalint.hardware.banks import async_copy_range
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.interpreter.device.events import AccessEvent
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, Node, below
from cudalint.values.opaque_parts import opaque_parts

_DIGITS = 9
"""Of figures: sums of weights differ from plain numbers by less."""
_MAX_COPIES = 32
"""Loops of up to so many iterations are taken to be unrolled completely."""
_MOST_EXECUTIONS = 8
"""Of an access in loops that were gone through one by one: so many stand for all where their figures differ."""
_MOST_NODES = 5_000
_MOST_TRIED = 400
"""Nodes of what random data is tried on, and of the conditions of loops: these are tried iteration by iteration."""
_MAX_EVENTS = 48
"""Executions of one access (by unrolling and inlining) that are evaluated; the rest behave alike."""


def evaluate_access(events: Sequence[AccessEvent], view: LaunchView) -> list[AccessResult]:
    """The figures of one access site, over all executions of it that the executor recorded.

    As a rule one result. A short loop of known length around a global access becomes as many instructions; where those
    differ in their figures, each different one is a result, as a profiler shows them.
    """
    loaded = [event for event in events if event.left_out is None]
    if not loaded:
        return [_left_out(events[0], view)]
    found = _evaluate(loaded, view)
    counted = sum(not event.along for event in loaded) / len(loaded)
    times = counted * max(1.0, len(loaded) / _MAX_EVENTS) / loaded[0].iterations
    return found if times == 1.0 else [_as_often(result, times) for result in found]


def _left_out(event: AccessEvent, view: LaunchView) -> AccessResult:
    """The result of an access for which the machine makes no request."""
    is_shared = event.target.space == "shared"
    return AccessResult(
        view.index, "unknown", view.assumptions, event.left_out, reason_kind="repeat", requests=0.0,
        sectors_per_request=None if is_shared else 0.0, wavefronts_per_request=0.0 if is_shared else None,
    )  # fmt: skip


def _as_often(result: AccessResult, times: float) -> AccessResult:
    """A result that stands for more executions than were evaluated."""
    requests, bounds = result.requests, result.requests_range
    return replace(
        result,
        requests=None if requests is None else requests * times,
        requests_range=None if bounds is None else (bounds[0] * times, bounds[1] * times),
    )


def _evaluate(loaded: Sequence[AccessEvent], view: LaunchView) -> list[AccessResult]:
    """The results of the executions that make requests."""
    if any(dependence(event.context, event.offset, view.graph).is_astray for event in loaded):
        reason = "it depends on a value that an earlier loop left behind and that could not be followed"
        return [AccessResult(view.index, "unknown", view.assumptions, reason)]
    known = [know(event, view) for event in loaded[:_MAX_EVENTS]]
    reached, view = _with_needed_sizes([k for k in known if k.quick.total > 0], view)
    shifts = small_shifts(reached, view)
    if shifts:
        view = view.pinned(shifts)
        reached = [k for k in (know(k.event, view) for k in reached) if k.quick.total > 0]
    if not reached:
        return [AccessResult(view.index, "unreached", view.assumptions)]
    doubtful = next((k for k in reached if k.doubt is not None), None)
    if doubtful is not None:
        return [_masked_by_data(reached, view) or _doubtful_result(doubtful, reached, view)]
    result = _result(reached, view)
    if result.status in ("range", "unknown"):
        # Where no figure is known, the copies have none either, and what is known of all would be lost.
        return [result]
    return [_of_copy(result, copy, view) for copy in _copies(reached, view)] or [result]


def _with_needed_sizes(reached: Sequence[Known], view: LaunchView) -> tuple[Sequence[Known], LaunchView]:
    """Executions that are reached with the same sizes, and the launch with these: with ordinary ones if those lead to
    any of them, and otherwise with those that the first one needs, which all that is found out then goes by."""
    easily = [known for known in reached if not known.relaxed]
    if easily or not reached:
        return easily, view
    sizes = needed_sizes(reached[0].relaxed)
    if not sizes:
        return reached, view
    view = view.pinned(sizes, frozenset(sizes))
    again = [known for known in (know(known.event, view) for known in reached) if known.quick.total > 0]
    return [known for known in again if not known.relaxed] or again, view


def _doubtful_result(doubtful: Known, reached: Sequence[Known], view: LaunchView) -> AccessResult:
    """A figure that depends on data: only its bounds are known, where the addresses are."""
    reason = doubtful.doubt
    assert reason is not None
    what = "which lanes are active depends on data" if doubtful.doubt_in_mask else "the address depends on data"
    status: Status = "data-dependent" if reason.data else "unknown"
    if not reason.data:
        what = "which lanes are active" if doubtful.doubt_in_mask else "the address"
        what += " could not be evaluated"
    event = doubtful.event
    bounds = None
    requests = sum(k.quick.total for k in reached)
    if doubtful.doubt_in_mask:
        bounds = (1.0, max(float(k.quick.cost.max()) for k in reached))
    shared = event.target.space == "shared"
    return AccessResult(
        view.index,
        status,
        view.assumptions,
        reason=f"{what}: {reason.text}",
        reason_kind="data" if reason.data else "other",
        sectors_range=None if shared else bounds,
        wavefronts_range=bounds if shared else None,
        requests=None if doubtful.doubt_in_mask else requests,
        requests_range=(0.0, requests) if doubtful.doubt_in_mask else (requests, requests),
        sample=sample([doubtful]) if doubtful.doubt_in_mask else None,
    )


def _masked_by_data(reached: Sequence[Known], view: LaunchView) -> AccessResult | None:
    """The figure where only the active lanes depend on data: what evenly spread data costs, between one lane and all.

    None where addresses are in doubt too, or where random data would say nothing about real data.
    """
    if any(k.doubt is not None and not k.doubt_in_mask for k in reached):
        return None
    if any(_takes_long(k.event, view.graph) for k in reached):
        return None
    all_lanes, some = Totals(), Totals()
    by_lists = False
    for known in reached:
        lanes = known.situation.lanes(known.event.context.loops, known.quick.mask)
        guards = guards_by_data(known.event, view.graph, lanes)
        if guards is None:
            return None
        # Lists (see cudalint.evaluate.requests.lists) are about as long as one another, and a lane costs what it costs.
        of_lists = bool(known.event.offset.bits & view.graph.opaque_bits)
        by_lists |= of_lists
        all_lanes.add(gather(known.event, view.replicated(), known.conditions) if of_lists else known.quick)
        situation = view.replicated() if of_lists else view.by_data()
        some.add(gather(known.event, situation, (*known.conditions, *guards)))
    if all_lanes.requests == 0:
        return None
    reason = next(k.doubt for k in reached if k.doubt is not None).text
    totals = some if some.requests else all_lanes
    # How long random data makes a loop says nothing of real data.
    is_open = any(loop.condition.bits & view.graph.opaque_bits for k in reached for loop in k.event.context.loops)
    requests = all_lanes.requests if is_open else totals.requests
    # What gaps between active lanes leave of sectors, no other addresses would bring back.
    is_by_addresses = _waste(all_lanes) >= _waste(totals) > 0
    how = "the mean over uniform data" if some.requests else "for all lanes, not the mean over uniform data"
    # How far apart the lanes' places are is up to sizes all the same.
    rests = None if by_lists else rests_on(reached, all_lanes, view, flags_of(reached, view))
    return replace(
        _of_totals(reached, totals, view, (1.0, all_lanes.high)),
        status="range",
        assumptions=tuple(dict.fromkeys((*view.assumptions, *(rests.assumptions if rests is not None else ())))),
        condition=" && ".join(rests.conditions.values()) if rests is not None else "",
        reason=f"which lanes are active depends on data: {reason}; the figure is {how}",
        reason_kind="activity" if is_by_addresses and not by_lists else "estimate",
        active_request_fraction=1.0,
        requests=round(requests, 6),
        requests_range=None if is_open else (0.0, round(all_lanes.requests, 6)),
    )


def _waste(totals: Totals) -> float:
    """What a request takes beyond its ideal, in the mean."""
    return (totals.cost - totals.ideal) / totals.requests


def _takes_long(event: AccessEvent, graph: Graph) -> bool:
    """Whether a simulation went into an address or into who gets there: random data says nothing of it, and takes
    minutes to go through it."""
    context = event.context
    by_loops = [loop.condition for loop in context.loops]
    if _are_many((event.offset, *context.conditions, *by_loops), _MOST_NODES, graph):
        return True
    if _are_many(by_loops, _MOST_TRIED, graph):
        return True
    # For each iteration that is tried, all of the inner loop's are, and for each of them those of the one within.
    inner = [node for node in below(by_loops, graph.opaque_bits) if node.op == "trips"]
    return any(node.op == "trips" for loop in inner for node in below(loop.args, graph.opaque_bits))


def _are_many(nodes: Sequence[Node], most: int, graph: Graph) -> bool:
    """Whether some values are computed from more than so many others."""
    if sum(node.steps for node in nodes) <= most:
        return False
    counts = [_count_below(node, graph) for node in nodes]
    return max(counts) > most or (sum(counts) > most and len(_few_below(nodes, most)) > most)


def _count_below(node: Node, graph: Graph) -> int:
    """How many values one is computed from, up to a limit: the accesses of a simulation share their conditions."""
    count = graph.counts.get(node.index)
    if count is None:
        count = graph.counts[node.index] = len(_few_below((node,), _MOST_NODES))
    return count


def _few_below(nodes: Sequence[Node], most: int) -> set[int]:
    """What some values are computed from, themselves included, as far as that is not more than so many."""
    pending, seen = list(nodes), set[int]()
    while pending and len(seen) <= most:
        node = pending.pop()
        if node.index not in seen:
            seen.add(node.index)
            pending.extend(node.args)
    return seen


def _result(reached: Sequence[Known], view: LaunchView) -> AccessResult:
    quick = Totals()
    for known in reached:
        quick.add(known.quick)
    if np.isnan(quick.cost):
        return _async_result(reached, view)
    by_data = any(place.bits & view.graph.opaque_bits for k in reached for place in k.places)
    if by_data:
        totals = totals_of(reached, view.replicated())
    elif quick.low == quick.high and all(_stands_for_all(k, view) for k in reached):
        totals = quick
    else:
        totals = totals_of(reached, _fair_situation(reached, view))
    if totals.requests == 0:
        totals = quick
    if np.isnan(totals.cost):
        return _async_result(reached, view)
    flags = flags_of(reached, view)
    rests = rests_on(reached, quick, view, flags)
    assumptions, bounds = rests.assumptions, rests.bounds
    open_ones = open_values(reached, quick, view, flags)
    unsaid = [*open_ones.unsaid, *(f"how large `{size}` is" for size in rests.sizes)]
    if unsaid:
        low, high = bounds or (totals.low, totals.high)
        bounds = min((low, *open_ones.figures)), max((high, *open_ones.figures))
    conditions = {**rests.conditions, **dict(_conditions(open_ones, quick))}
    cut = _cut_short(reached, view.graph)
    if cut:
        low, high = bounds or (totals.low, totals.high)
        bounds = min(low, 1.0), high
    assumptions = *assumptions, *cut
    sampled = _sampled(reached, quick, totals, view)
    by_data = by_data and (totals.low < totals.high or any(_is_scattered(k, view.graph) for k in reached))
    launch_assumed = bool(view.assumptions)
    return replace(
        _of_totals(reached, totals, view, (totals.low, totals.high) if bounds is None else bounds),
        status="range" if by_data or unsaid else "assumed" if assumptions or launch_assumed else "exact",
        assumptions=tuple(dict.fromkeys((*view.assumptions, *assumptions))),
        reason=_reason_for_range(reached, view.graph, unsaid) if by_data or unsaid else None,
        reason_kind="estimate" if by_data else "other",
        sample=sample(sampled),
        condition=" && ".join(dict.fromkeys(conditions.values())),
    )


def _conditions(open_ones: OpenValues, quick: Totals) -> Iterator[tuple[Node, str]]:
    """Of the numbers that nobody says, those for which an access that is wasteful could be a good one."""
    good = GOOD * quick.ideal / quick.requests
    for number, condition, figure in zip(open_ones.numbers, open_ones.conditions, open_ones.figures, strict=True):
        if figure <= good < quick.cost / quick.requests:
            yield number, condition


def _sampled(reached: Sequence[Known], quick: Totals, totals: Totals, view: LaunchView) -> Sequence[Known]:
    """The executions with the requests of which the figure is the mean, where those are more than the few of `quick`:
    on those of shared memory, other layouts are tried."""
    is_alike = math.isclose(quick.cost * totals.requests, totals.cost * quick.requests)
    if is_alike or reached[0].event.target.space != "shared":
        return reached
    situation = _fair_situation(reached, view)
    gathered = ((known, gather(known.event, situation, known.conditions)) for known in reached)
    found = [replace(known, quick=requests, situation=situation) for known, requests in gathered if requests.total]
    return found or reached


def _cut_short(reached: Sequence[Known], graph: Graph) -> tuple[str, ...]:
    """What has to be so of data for the figure to be that of all lanes that could come."""
    found: dict[str, None] = {}
    for known in reached:
        if known.on.lanes_by_data and not stays_one(known.event, known.quick):
            lanes = known.situation.lanes(known.event.context.loops, known.quick.mask)
            reasons = cut_by_data(known.event, graph, lanes)
            found |= {f"no warp is cut short by data ({reason.text})": None for reason in reasons}
    return tuple(found)


def _reason_for_range(reached: Sequence[Known], graph: Graph, unsaid: Sequence[str]) -> str:
    if unsaid:
        return f"it depends on {' and '.join(unsaid).replace(' and whether ', ' and ')}"
    return f"{_what_is_open(reached, graph)}; the figure is the mean over uniform data"


def _fair_situation(reached: Sequence[Known], view: LaunchView) -> Situation:
    """The situation of which the requests stand for all."""
    if any(_is_irregular_over_grid(known, view.graph) for known in reached):
        # Neighbours in the middle of the grid are no fair sample of blocks that share rows, or parts of a triangle.
        return view.scattered()
    effort = THOROUGH
    if any(len(known.event.context.loops) > 1 for known in reached):
        shifted = any(k.event.offset.bits & BLOCK_BITS and _begins_anywhere(k.quick) for k in reached)
        effort = SHIFTED if shifted and reached[0].event.target.space == "global" else DEEP
    edges = tuple(tuple(sorted(own)) for own in _edges(reached, view))
    return view.bounded(edges, effort)


def _edges(reached: Sequence[Known], view: LaunchView) -> list[set[int]]:
    """Along each axis, the blocks at which the grid ends to have work for an access, if that is before its last."""
    found = [set[int](), set[int](), set[int]()]
    for known in reached:
        loops = known.event.context.loops
        if not known.quick.weights.any(axis=1).all() or (loops and _misses_blocks(known)):
            turns = of_first_turns(view.graph, loops)
            for own, blocks in zip(found, view.edges((*known.conditions, *turns)), strict=True):
                own.update(blocks)
    return found


def _misses_blocks(known: Known) -> bool:
    """Whether some blocks have no iteration of the loops around an access: there are no rows for those."""
    loops, base = known.event.context.loops, known.situation.base
    return len(np.unique(known.situation.rows(loops).blocks, axis=0)) < len(np.unique(base.blocks, axis=0))


def _stands_for_all(known: Known, view: LaunchView) -> bool:
    if not _uniform_requests(known, view.graph) or any(_edges([known], view)):
        return False
    if not _is_irregular_over_grid(known, view.graph):
        return True
    # A quotient or a remainder by what is no multiple of the block may look otherwise further into the grid.
    probed = gather(known.event, view.probed(), known.conditions)
    counted, seen = probed.weights > 0, known.quick.weights > 0
    pairs = ((probed.cost, known.quick.cost), (probed.lanes, known.quick.lanes))
    return all(bool((there[counted] == here[seen][0]).all()) for there, here in pairs)


def _is_irregular_over_grid(known: Known, graph: Graph) -> bool:
    """Whether the first, the last and a few other blocks along each axis do not show all there is to see."""
    conditions = [*known.conditions, *(loop.condition for loop in known.event.context.loops)]
    if any((condition.bits & BLOCK_BITS).bit_count() > 1 for condition in conditions):
        return True
    return not all(_is_regular(node, BLOCK_BITS) for node in (known.event.offset, *conditions))


def _what_is_open(reached: Sequence[Known], graph: Graph) -> str:
    """Why an address is not the same for all data: mostly because it is computed from loaded values."""
    places = (place for known in reached for place in known.places)
    reasons = [reason for place in places for _, reason in opaque_parts(graph, place)]
    return "it depends on loaded data" if any(reason.data for reason in reasons) else reasons[0].text


def _is_scattered(known: Known, graph: Graph) -> bool:
    """Whether lanes of one warp go to places that depend on data."""
    lanes = known.situation.lanes(known.event.context.loops, known.quick.mask)
    return any(lanes.vary(part) for place in known.places for part, _ in opaque_parts(graph, place))


def _of_totals(reached: Sequence[Known], totals: Totals, view: LaunchView, bounds: tuple[float, float]) -> AccessResult:
    """The figures that follow from the sums over all requests."""
    mean, ideal = (round(total / totals.requests, _DIGITS) for total in (totals.cost, totals.ideal))
    shared = reached[0].event.target.space == "shared"
    return AccessResult(
        view.index,
        "exact",
        view.assumptions,
        sectors_per_request=None if shared else mean,
        sectors_range=None if shared else bounds,
        ideal_sectors=None if shared else ideal,
        wavefronts_per_request=mean if shared else None,
        wavefronts_range=bounds if shared else None,
        ideal_wavefronts=ideal if shared else None,
        conflict_ways=mean / ideal if shared else None,
        active_lanes=totals.lanes / totals.requests,
        active_request_fraction=min(1.0, totals.requests / totals.reached) if totals.reached else 1.0,
        requests=round(totals.requests, 6),
        requests_range=(round(totals.requests, 6),) * 2,
        offset_range=offset_range(reached),
        strides=strides(reached[0], view),
        sample=sample(reached),
        reached_otherwise=bool(view.needed) or all(known.relaxed for known in reached),
        reached_by_data=any(known.on.lanes_by_data for known in reached),
    )


def _copies(reached: Sequence[Known], view: LaunchView) -> list[Known]:
    """The copies that unrolling makes of an access, if their figures differ: for global memory the different ones, for
    shared memory, of which whole arrays are looked at together, all."""
    event = reached[0].event
    if len(reached) > 1:
        pieces = {known.event.record.offset for known in reached if known.event.record is not None}
        return _executions(reached, view) if event.target.space != "shared" and len(pieces) < 2 else []
    loops = event.context.loops
    number = _number_of_copies(event, view.graph) if loops else 1
    if number < 2:
        return []
    situation = _fair_situation(reached, view)
    requests = gather(event, situation, reached[0].conditions)
    found: list[Known] = []
    different: list[Known] = []
    rows = situation.rows(loops)
    for copy in range(number):
        # Each copy is executed as often, whatever was drawn of the loops around.
        turn = rows.value(loops[-1].counter) == copy
        drawn = float((rows.weights[:, None] * turn).sum())
        share = turn * (rows.weights.sum() / number / drawn) if drawn else turn
        own = replace(requests, weights=requests.weights * share)
        if own.total:
            found.append(replace(reached[0], quick=own, situation=situation))
            at = next((i for i, other in enumerate(different) if _alike(own, other.quick)), None)
            if at is None:
                different.append(found[-1])
            else:
                different[at] = _standing_for(different[at], own.total)
    if len(different) < 2:
        return []
    return found if event.target.space == "shared" else different


def _standing_for(copy: Known, more: float) -> Known:
    """A copy that stands for so many further requests of others."""
    quick = copy.quick
    return replace(copy, quick=replace(quick, weights=quick.weights * (1 + more / quick.total)))


def _number_of_copies(event: AccessEvent, graph: Graph) -> int:
    """How many copies a loop that is counted out makes of an access, one for each iteration; 1 without copies. Where
    the length is only known at run time, the copies take turns, and differ by what no finding tells."""
    loop = event.context.loops[-1]
    trips = graph.trips(loop.counter, loop.condition)
    is_counted = loop.is_counted and trips.is_const and trips.value <= _MAX_COPIES
    return int(trips.value) if is_counted else 1


def _executions(reached: Sequence[Known], view: LaunchView) -> list[Known]:
    """The same for an access in loops that were gone through one by one: so many of each different figure that they
    stand for all in the right proportion."""
    situation = _fair_situation(reached, view)
    groups: list[list[Known]] = []
    for known in reached:
        if not _uniform_requests(known, view.graph):
            requests = gather(known.event, situation, known.conditions)
            if requests.total:
                known = replace(known, quick=requests, situation=situation)
        group = next((g for g in groups if _alike(known.quick, g[0].quick)), None)
        if group is None:
            groups.append([known])
        else:
            group.append(known)
    if len(groups) < 2:
        return []
    sizes = [len(group) for group in groups]
    one = max(math.gcd(*sizes), sum(sizes) / _MOST_EXECUTIONS)
    found: list[Known] = []
    for group in groups:
        kept = group[: max(1, round(len(group) / one))]
        share = len(group) / len(kept)
        found += [replace(known, quick=replace(known.quick, weights=known.quick.weights * share)) for known in kept]
    return found


def _alike(a: Requests, b: Requests) -> bool:
    mine, other = a.mean(a.cost), b.mean(b.cost)
    return abs(mine - other) <= 2 * TOLERANCE * max(mine, other)


def _of_copy(result: AccessResult, copy: Known, view: LaunchView) -> AccessResult:
    """The result for one of the instructions that unrolling makes."""
    totals = Totals()
    totals.add(copy.quick)
    own = _of_totals([copy], totals, view, (totals.low, totals.high))
    return replace(own, status=result.status, assumptions=result.assumptions, condition=result.condition)


def _uniform_requests(known: Known, graph: Graph) -> bool:
    """Whether the few requests evaluated stand for all: they look alike, none drops out, and nothing special can
    happen in between."""
    requests = known.quick
    if not all(_is_regular(node, graph.loop_bits) for node in (known.event.offset, *known.conditions)):
        return False
    counted = requests.weights > 0
    ideal, lanes = requests.ideal[counted], requests.lanes[counted]
    if not known.event.context.loops and _begins_anywhere(requests):
        return False
    return bool((ideal == ideal[0]).all() and (lanes == lanes[0]).all()) and (
        bool(counted.all()) or requests.reached == requests.total
    )


def _begins_anywhere(requests: Requests) -> bool:
    """Whether a warp's first lane is elsewhere in its sector in another block (blocks of 27 threads with 4 bytes each),
    so that some blocks pay a sector more than others."""
    within = requests.addresses[:, :, 0] % SECTOR_BYTES
    return bool(((within != within[:1]) & (requests.weights > 0)).any())


def _is_regular(node: Node, bits: int) -> bool:
    """Whether the symbols of `bits` (such as loop counters) go into a value (or into both sides of an inequality) by
    sums and products only, so that the first, the last and some of their values show all there is to see."""
    seen: set[int] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.index in seen or not current.bits & bits or current.op in ("loop", "block"):
            continue
        seen.add(current.index)
        if current.op not in _REGULAR:
            return False
        pending.extend(current.args)
    return True


_REGULAR = frozenset({"+", "-", "*", "cast", "<", "<=", "!", "<<"})


def _async_result(reached: Sequence[Known], view: LaunchView) -> AccessResult:
    """Bounds for 16-byte asynchronous copies that no rule gives one figure for."""
    ranges = [async_copy_range(known.quick.addresses, known.quick.mask) for known in reached]
    counted = [known.quick.weights > 0 for known in reached]
    lowest = min(float(low[own].min()) for (low, _), own in zip(ranges, counted, strict=True))
    bounds = (lowest, max(float(high[own].max()) for (_, high), own in zip(ranges, counted, strict=True)))
    is_open = any(known.event.copied_from is None for known in reached)
    text = "where this one reads is not known" if is_open else "no rule is known for such an order"
    reason = f"the wavefronts of 16-byte asynchronous copies depend on where each lane reads and writes: {text}"
    return AccessResult(view.index, "unknown", view.assumptions, reason=reason, wavefronts_range=bounds)
