"""The figures of one access under one launch: what a profiler would report for it, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cudalint.evaluate.assumptions import holds
from cudalint.evaluate.events import AccessEvent
from cudalint.evaluate.graph import BOOL, THREAD_BITS, UNINITIALISED, Graph, Node, Reason, Uniform, conjuncts, render
from cudalint.evaluate.lists import follows_own_list
from cudalint.evaluate.masks import guards_by_data
from cudalint.evaluate.requests import (
    BY_DATA,
    DEEP,
    QUICK,
    REPLICATED,
    SCATTERED,
    THOROUGH,
    Requests,
    Situation,
    gather,
    opaque_parts,
    varies_within_warp,
)
from cudalint.facts import AccessResult, Sample, Status, Strides
from cudalint.hardware.banks import async_copy_range

_VARIATIONS = (1, 2, 4, 8, 16)
"""What is added to a generic problem size to see whether its divisibility matters."""
_MAGNITUDE = 3
"""What it is multiplied by to see whether its magnitude matters."""
_TOLERANCE = 0.02
_TABLE_BYTES = 1 << 16
_MAX_KEPT = 12_000_000
"""Numbers (of 8 bytes) that one launch keeps from access to access."""
_MAX_SAMPLE = 64
_MAX_DIVISORS = 2
_MAX_COPIES = 8
"""Loops of up to so many iterations are taken to be unrolled completely."""
_MAX_EVENTS = 48
"""Executions of one access (by unrolling and inlining) that are evaluated; the rest behave alike."""


@dataclass(slots=True, eq=False)
class LaunchView:
    """One launch of one kernel, ready to evaluate accesses under."""

    graph: Graph
    index: int
    block: tuple[int, int, int]
    grid: tuple[Node, Node, Node]
    assumptions: tuple[str, ...] = ()
    assumed: tuple[Node, ...] = ()
    """Conditions that the user states; values that break them need not be tried."""
    guards: tuple[Node, ...] = ()
    """Conditions under which the host code launches it. Generic values need not meet them."""
    _situations: dict[object, Situation] = field(default_factory=dict)

    def trim(self) -> None:
        """Forgets what was computed, once that is too much to keep."""
        if sum(situation.cells for situation in self._situations.values()) > _MAX_KEPT:
            self._situations.clear()

    def quick(self) -> Situation:
        return self._situation("quick", QUICK, {})

    def thorough(self) -> Situation:
        return self._situation("thorough", THOROUGH, {})

    def deep(self) -> Situation:
        return self._situation("deep", DEEP, {})

    def replicated(self) -> Situation:
        return self._situation("replicated", REPLICATED, {})

    def by_data(self) -> Situation:
        return self._situation("by data", BY_DATA, {})

    def scattered(self) -> Situation:
        return self._situation("scattered", SCATTERED, {})

    def allows(self, uniform: Node, value: int | float) -> bool:
        """Whether the user's assumptions leave room for this value of a uniform symbol."""
        return all(holds(self.graph, c, {uniform: value}) for c in self.assumed if c.bits & uniform.bits)

    def varied(self, uniform: Node, value: int | float) -> Situation:
        """The quick situation with another value for one uniform symbol."""
        return self._situation((uniform.index, value), QUICK, {uniform: value})

    def _situation(self, key: object, effort: object, values: dict[Node, int | float]) -> Situation:
        found = self._situations.get(key)
        if found is None:
            self.trim()
            found = Situation(self.graph, self.block, self.grid, effort, values)  # type: ignore[arg-type]
            self._situations[key] = found
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """An access event with the conditions that can be evaluated, and what cannot."""

    event: AccessEvent
    conditions: tuple[Node, ...]
    relaxed: tuple[Node, ...]
    """Conditions on unknown uniform values that had to be taken as true for the access to be reached."""
    quick: Requests
    situation: Situation
    """Where `quick` was gathered."""
    doubt: Reason | None
    doubt_in_mask: bool


def evaluate_access(events: Sequence[AccessEvent], view: LaunchView) -> list[AccessResult]:
    """The figures of one access site, over all executions of it that the executor recorded.

    As a rule one result. A short loop of known length around a global access becomes as many instructions; where those
    differ in their figures, each different one is a result, as a profiler shows them.
    """
    loaded = [event for event in events if event.repeats is None]
    if not loaded:
        reason = f"it repeats the load at line {events[0].repeats}, whose value is still in a register"
        return [AccessResult(view.index, "unknown", view.assumptions, reason)]
    if any(is_astray(event, view.graph) for event in loaded):
        reason = "it depends on a value that an earlier loop left behind and that could not be followed"
        return [AccessResult(view.index, "unknown", view.assumptions, reason)]
    known = [_know(event, view) for event in loaded[:_MAX_EVENTS]]
    reached = [k for k in known if k.quick.total > 0]
    if not reached:
        return [AccessResult(view.index, "unreached", view.assumptions)]
    doubtful = next((k for k in reached if k.doubt is not None), None)
    if doubtful is not None:
        return [_masked_by_data(reached, view) or _doubtful_result(doubtful, reached, view)]
    result = _result(reached, view)
    if result.sectors_per_request is None or result.status == "range":
        return [result]
    return [_of_copy(result, copy, view) for copy in _copies(reached, view)] or [result]


_MAX_TRIED = 6
_SMALL = 8
"""A size that is tried where a large generic one lets no lane through: `C / heads` is 0 if both are large."""


def _elsewhere(
    event: AccessEvent, conditions: tuple[Node, ...], view: LaunchView, quick: Requests, situation: Situation
) -> tuple[Requests, Situation, tuple[Node, ...]]:
    """Looks for an unknown size under which an access is reached that generic sizes keep out."""
    graph, bits = view.graph, 0
    for condition in (*(loop.condition for loop in event.context.loops), *conditions):
        bits |= condition.bits
    for uniform in graph.atoms(bits, graph.uniform_bits)[:_MAX_TRIED]:
        if uniform.kind.is_float or uniform.kind == BOOL or not view.allows(uniform, _SMALL):
            continue
        other = view.varied(uniform, _SMALL)
        found = gather(event, other, conditions)
        if found.total:
            small = graph.binary("==", uniform, graph.const(_SMALL, uniform.kind), BOOL)
            return found, other, (small,)
    return quick, situation, ()


def is_astray(event: AccessEvent, graph: Graph) -> bool:
    """Whether the event depends on the counter of a loop that it is not in."""
    own, bits = 0, event.offset.bits
    for loop in event.context.loops:
        own |= loop.counter.bits
        bits |= loop.condition.bits
    for condition in event.context.conditions:
        bits |= condition.bits
    return bool(bits & graph.loop_bits & ~own)


def _know(event: AccessEvent, view: LaunchView) -> _Known:
    situation, opaque = view.quick(), view.graph.opaque_bits
    conditions = tuple(c for c in event.context.conditions if not c.bits & opaque and not c.is_const)
    if any(c.is_const and not c.value for c in event.context.conditions):
        conditions = (view.graph.false,)
    quick = gather(event, situation, conditions)
    relaxed: tuple[Node, ...] = ()
    if quick.total == 0 and event.context.loops and conditions != (view.graph.false,):
        # A few iterations may have missed those in which it is reached.
        situation = view.thorough()
        quick = gather(event, situation, conditions)
    if quick.total == 0 and conditions != (view.graph.false,):
        quick, situation, relaxed = _elsewhere(event, conditions, view, quick, situation)
    if quick.total == 0 and conditions:
        situation = view.quick()
        relaxed = tuple(c for c in conditions if c.bits & view.graph.uniform_bits)
        kept = tuple(c for c in conditions if c not in relaxed)
        if relaxed:
            quick, conditions = gather(event, situation, kept), kept
    if quick.total == 0 and relaxed:
        quick, situation, relaxed = _elsewhere(event, conditions, view, quick, situation)
    doubt, in_mask = _doubt(event, quick, situation)
    return _Known(event, conditions, relaxed if quick.total else (), quick, situation, doubt, in_mask)


def _doubt(event: AccessEvent, quick: Requests, situation: Situation) -> tuple[Reason | None, bool]:
    """Why the figure cannot be told, if lanes of one warp depend on values that cannot be followed."""
    graph, rows = situation.graph, situation.rows(event.context.loops)
    if quick.total == 0:
        return None, False
    scaled = _scaled_by_data(graph, event.offset)
    if scaled is not None:
        return scaled, False
    addresses = [event.offset] if event.target.opaque is None else [event.offset, event.target.opaque]
    for node in addresses:
        for part, reason in opaque_parts(graph, node):
            if reason is UNINITIALISED:
                return reason, False
            if part.op == "trips":
                # Lanes that walked on by data: as if all had come equally far, which makes the figure a range.
                continue
            if not varies_within_warp(rows, part, quick.mask) or _looks_up(part, node, event, quick):
                continue
            if node is not event.offset or not follows_own_list(part, event, rows, quick.mask):
                return reason, False
    if float(quick.cost.max()) <= 1.0 and event.bytes <= 4:
        # One sector or wavefront stays one, whichever lanes are active.
        return None, False
    # The head of a loop, where it is tested, is not under its condition, but gets there only where it held before.
    heads = [part for loop in event.context.loops for part in conjuncts(graph, loop.condition)]
    for condition in dict.fromkeys((*event.context.conditions, *heads)):
        if not condition.bits & graph.opaque_bits:
            continue
        parts = opaque_parts(graph, condition)
        varying = [reason for part, reason in parts if varies_within_warp(rows, part, quick.mask)]
        if varying or varies_within_warp(rows, condition, quick.mask):
            return (varying or [reason for _, reason in parts])[0], True
    return None, False


def _scaled_by_data(graph: Graph, node: Node) -> Reason | None:
    """Why the distance between lanes is unknown: a thread index is multiplied or divided by a value from memory."""
    both = (graph.opaque_bits, THREAD_BITS)
    seen: set[int] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.index in seen or current.op == "opaque" or not all(current.bits & bits for bits in both):
            continue
        seen.add(current.index)
        if current.op in ("*", "/", "%", "<<", ">>"):
            for factor, other in (current.args, current.args[::-1]):
                if factor.bits & graph.opaque_bits and not factor.bits & THREAD_BITS and other.bits & THREAD_BITS:
                    return opaque_parts(graph, factor)[0][1]
        pending.extend(current.args)
    return None


def _looks_up(part: Node, node: Node, event: AccessEvent, quick: Requests) -> bool:
    """Whether the access looks something up in a small table by some bits of a word (`table[hash & 255]`), or in a
    codebook by a code of 16 bits: then every entry is about as likely, and the mean over uniform data is a figure
    worth giving, as a range. Bytes are rather pixels or letters, of which neighbours are alike."""
    if part.kind.bytes < 2 or part.kind.is_float or node is not event.offset:
        return False
    touched = quick.addresses[quick.mask]
    return part.kind.bytes == 2 or int(touched.max()) - int(touched.min()) < _TABLE_BYTES


def _doubtful_result(doubtful: _Known, reached: Sequence[_Known], view: LaunchView) -> AccessResult:
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
    if doubtful.doubt_in_mask:
        bounds = (1.0, max(float(k.quick.cost.max()) for k in reached))
    shared = event.target.space == "shared"
    return AccessResult(
        view.index,
        status,
        view.assumptions,
        reason=f"{what}: {reason.text}",
        sectors_range=None if shared else bounds,
        wavefronts_range=bounds if shared else None,
        sample=_sample([doubtful]) if doubtful.doubt_in_mask else None,
    )


def _masked_by_data(reached: Sequence[_Known], view: LaunchView) -> AccessResult | None:
    """The figure where only the active lanes depend on data: what evenly spread data costs, between one lane and all.

    None where addresses are in doubt too, or where random data would say nothing about real data.
    """
    if any(k.doubt is not None and not k.doubt_in_mask for k in reached):
        return None
    all_lanes, some = _Totals(), _Totals()
    for known in reached:
        rows = known.situation.rows(known.event.context.loops)
        guards = guards_by_data(known.event, view.graph, rows, known.quick.mask)
        if guards is None:
            return None
        all_lanes.add(gather(known.event, view.replicated(), known.conditions))
        # Lists (see cudalint.evaluate.lists) are about as long as one another, and a lane costs what it costs.
        of_lists = known.event.offset.bits & view.graph.opaque_bits
        situation = view.replicated() if of_lists else view.by_data()
        some.add(gather(known.event, situation, (*known.conditions, *guards)))
    if all_lanes.requests == 0:
        return None
    reason = next(k.doubt for k in reached if k.doubt is not None).text
    totals = some if some.requests else all_lanes
    how = "the mean over uniform data" if some.requests else "for all lanes, not the mean over uniform data"
    return replace(
        _of_totals(reached, totals, view, (1.0, all_lanes.high)),
        status="range",
        reason=f"which lanes are active depends on data: {reason}; the figure is {how}",
        active_request_fraction=1.0,
    )


@dataclass(slots=True)
class _Totals:
    requests: float = 0.0
    cost: float = 0.0
    ideal: float = 0.0
    lanes: float = 0.0
    reached: float = 0.0
    low: float = float("inf")
    high: float = 0.0

    def add(self, requests: Requests) -> None:
        if requests.total == 0:
            return
        self.requests += requests.total
        self.cost += float((requests.weights * requests.cost).sum())
        self.ideal += float((requests.weights * requests.ideal).sum())
        self.lanes += float((requests.weights * requests.mask.sum(axis=2)).sum())
        self.reached += requests.reached
        counted = requests.cost[requests.weights > 0]
        self.low, self.high = min(self.low, float(counted.min())), max(self.high, float(counted.max()))


def _totals(reached: Sequence[_Known], situation: Situation) -> _Totals:
    totals = _Totals()
    for known in reached:
        totals.add(gather(known.event, situation, known.conditions))
    return totals


def _result(reached: Sequence[_Known], view: LaunchView) -> AccessResult:
    quick = _Totals()
    for known in reached:
        quick.add(known.quick)
    if np.isnan(quick.cost):
        return _async_result(reached, view)
    by_data = any(k.event.offset.bits & view.graph.opaque_bits for k in reached)
    if by_data:
        totals = _totals(reached, view.replicated())
    elif quick.low == quick.high and all(_uniform_requests(k, view.graph) for k in reached):
        totals = quick
    else:
        nested = any(len(k.event.context.loops) > 1 for k in reached)
        totals = _totals(reached, view.deep() if nested else view.thorough())
    if totals.requests == 0:
        totals = quick
    assumptions, bounds = _assumptions(reached, quick, view)
    by_data = by_data and (totals.low < totals.high or any(_is_scattered(k, view.graph) for k in reached))
    launch_assumed = bool(view.assumptions)
    return replace(
        _of_totals(reached, totals, view, (totals.low, totals.high) if bounds is None else bounds),
        status="range" if by_data else "assumed" if assumptions or launch_assumed else "exact",
        assumptions=(*view.assumptions, *assumptions),
        reason="it depends on loaded data; the figure is the mean over uniform data" if by_data else None,
    )


def _is_scattered(known: _Known, graph: Graph) -> bool:
    """Whether lanes of one warp go to places that depend on data."""
    rows = known.situation.rows(known.event.context.loops)
    parts = opaque_parts(graph, known.event.offset)
    return any(varies_within_warp(rows, part, known.quick.mask) for part, _ in parts)


def _of_totals(
    reached: Sequence[_Known], totals: _Totals, view: LaunchView, bounds: tuple[float, float]
) -> AccessResult:
    """The figures that follow from the sums over all requests."""
    mean, ideal = totals.cost / totals.requests, totals.ideal / totals.requests
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
        offset_range=_offset_range(reached),
        strides=_strides(reached[0], view),
        sample=_sample(reached),
    )


def _copies(reached: Sequence[_Known], view: LaunchView) -> list[_Known]:
    """The different figures of the copies that unrolling makes of a global access; none if they are alike."""
    event = reached[0].event
    loops = event.context.loops
    if len(reached) > 1 or not loops or not loops[-1].is_counted:
        return []
    trips = view.graph.trips(loops[-1].counter, loops[-1].condition)
    if not trips.is_const or not 2 <= trips.value <= _MAX_COPIES:
        return []
    situation = view.deep() if len(loops) > 1 else view.thorough()
    requests = gather(event, situation, reached[0].conditions)
    iteration = np.broadcast_to(situation.rows(loops).value(loops[-1].counter), requests.weights.shape)
    found: list[_Known] = []
    for copy in range(int(trips.value)):
        own = replace(requests, weights=requests.weights * (iteration == copy))
        if own.total and not any(_alike(own, other.quick) for other in found):
            found.append(replace(reached[0], quick=own, situation=situation))
    return found if len(found) > 1 else []


def _alike(a: Requests, b: Requests) -> bool:
    mine, other = a.mean(a.cost), b.mean(b.cost)
    return abs(mine - other) <= 2 * _TOLERANCE * max(mine, other)


def _of_copy(result: AccessResult, copy: _Known, view: LaunchView) -> AccessResult:
    """The result for one of the instructions that unrolling makes."""
    totals = _Totals()
    totals.add(copy.quick)
    return replace(
        result,
        sectors_per_request=totals.cost / totals.requests,
        sectors_range=(totals.low, totals.high),
        ideal_sectors=totals.ideal / totals.requests,
        active_lanes=totals.lanes / totals.requests,
        requests=round(totals.requests, 6),
        strides=_strides(copy, view),
        sample=_sample([copy]),
    )


def _uniform_requests(known: _Known, graph: Graph) -> bool:
    """Whether the few requests evaluated stand for all: they look alike, none drops out, and nothing special can
    happen in between."""
    requests = known.quick
    if not all(_is_regular(graph, node) for node in (known.event.offset, *known.conditions)):
        return False
    counted = requests.weights > 0
    ideal, lanes = requests.ideal[counted], requests.mask.sum(axis=2)[counted]
    return bool((ideal == ideal[0]).all() and (lanes == lanes[0]).all()) and (
        bool(counted.all()) or requests.reached == requests.total
    )


def _is_regular(graph: Graph, node: Node) -> bool:
    """Whether loop counters go into a value (or into both sides of an inequality) by sums and products only, so that
    the first, the last and some iterations show all there is to see."""
    seen: set[int] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.index in seen or not current.bits & graph.loop_bits or current.op == "loop":
            continue
        seen.add(current.index)
        if current.op not in _REGULAR:
            return False
        pending.extend(current.args)
    return True


_REGULAR = frozenset({"+", "-", "*", "cast", "<", "<=", "!", "<<"})


def _async_result(reached: Sequence[_Known], view: LaunchView) -> AccessResult:
    """16-byte async copies follow no known rule (hardware-model.md, Shared memory): bounds only."""
    low, high = async_copy_range(reached[0].quick.addresses, reached[0].quick.mask)
    counted = reached[0].quick.weights > 0
    bounds = (float(low[counted].min()), float(high[counted].max()))
    text = "no rule is known for the wavefronts of 16-byte asynchronous copies"
    return AccessResult(view.index, "unknown", view.assumptions, reason=text, wavefronts_range=bounds)


def _assumptions(
    reached: Sequence[_Known], quick: _Totals, view: LaunchView
) -> tuple[tuple[str, ...], tuple[float, float] | None]:
    """Which generic values the figure rests on, found by changing them; and how far it moves then."""
    graph = view.graph
    texts = [_condition_text(c) for k in reached[:1] for c in k.relaxed]
    bits = 0
    for known in reached:
        bits |= known.event.offset.bits
        for condition in known.conditions:
            bits |= condition.bits
    low, high, moved = quick.low, quick.high, False
    base = quick.cost / quick.requests
    for uniform in graph.atoms(bits, graph.uniform_bits):
        assert isinstance(uniform.payload, Uniform)
        if uniform.payload.name.startswith("&") or _only_divides(uniform, reached, graph):
            continue
        text, means = _sensitivity(uniform, base, reached[:8], view)
        if text is not None:
            moved = True
            low, high = min(low, *means), max(high, *means)
            texts.append(text)
    return tuple(dict.fromkeys(texts)), (low, high) if moved else None


def _condition_text(condition: Node) -> str:
    text = render(condition)
    if condition.op == "==" and condition.args[0].op == "uniform" and condition.args[1].is_const:
        return text.removeprefix("(").removesuffix(")")
    return f"`{text}` holds"


def _sensitivity(
    uniform: Node, base: float, reached: Sequence[_Known], view: LaunchView
) -> tuple[str | None, list[float]]:
    """What must hold of a generic value for the figure to stay, None where it stays anyway; and the figures seen."""
    assert isinstance(uniform.payload, Uniform)
    generic = uniform.payload.generic

    def mean(value: int | float) -> float:
        if not view.allows(uniform, value):
            return base
        totals = _totals(reached, view.varied(uniform, value))
        return totals.cost / totals.requests if totals.requests else base

    def moves(figure: float) -> bool:
        return abs(figure - base) > _TOLERANCE * max(figure, base)

    if uniform.kind == BOOL:
        flipped = mean(0 if generic else 1)
        text = f"`{render(uniform)}` is {'true' if generic else 'false'}"
        return (text, [flipped]) if moves(flipped) else (None, [])
    scaled = mean(generic * _MAGNITUDE)
    if moves(scaled):
        return f"{render(uniform)} == {generic}", [scaled]
    if uniform.kind.is_float:
        return None, []
    for divisor, text in _divisors(uniform, reached, view):
        # What is divided has to change by as much as the divisor for the quotient to change at all.
        quotients = {added: mean(int(generic) + added * divisor) for added in _VARIATIONS}
        sensitive = [added for added, figure in quotients.items() if moves(figure)]
        if sensitive:
            return f"{text} % {2 * max(sensitive)} == 0", list(quotients.values())
    means = {1: mean(int(generic) + 1)}
    if view.allows(uniform, int(generic) + 1) and not moves(means[1]):
        # If an odd size changes nothing, no other divisibility matters.
        return None, []
    means |= {added: mean(int(generic) + added) for added in _VARIATIONS[1:]}
    sensitive = [added for added, figure in means.items() if moves(figure)]
    if not sensitive:
        return None, []
    return f"{render(uniform)} % {2 * max(sensitive)} == 0", list(means.values())


def _only_divides(uniform: Node, reached: Sequence[_Known], graph: Graph) -> bool:
    """Whether a size comes in only as what another one is divided by: what matters is the quotient then."""
    nodes = [node for known in reached for node in (known.event.offset, *known.conditions)]
    users = [node for node in graph.below(nodes, uniform.bits) if uniform in node.args]
    return bool(users) and all(
        u.op == "/" and u.args[1] is uniform and u.args[0].op == "uniform" for u in users
    )


def _divisors(uniform: Node, reached: Sequence[_Known], view: LaunchView) -> list[tuple[int, str]]:
    """The numbers by which a size is divided on the way to these accesses, with the text of the quotient."""
    found: dict[str, int] = {}
    nodes = [node for known in reached for node in (known.event.offset, *known.conditions)]
    for quotient in view.graph.below(nodes, uniform.bits):
        dividend, divisor = quotient.args if quotient.op == "/" else (uniform, uniform)
        if dividend is uniform and divisor is not uniform and not divisor.bits & ~view.graph.uniform_bits:
            number = int(np.asarray(view.quick().base.value(divisor)).flat[0])
            if number > 1:
                found[render(quotient).removeprefix("(").removesuffix(")")] = number
    return [(number, text) for text, number in found.items()][:_MAX_DIVISORS]


def _offset_range(reached: Sequence[_Known]) -> tuple[int, int] | None:
    low, high = None, None
    for known in reached:
        touched = known.quick.addresses[known.quick.mask]
        if touched.size:
            first, last = int(touched.min()), int(touched.max()) + known.event.bytes
            low = first if low is None else min(low, first)
            high = last if high is None else max(high, last)
    return None if low is None or high is None else (low, high)


def _strides(known: _Known, view: LaunchView) -> Strides:
    """How far the address moves along each thread index, where that is the same everywhere."""
    dx, dy, dz = view.block
    reached = known.quick.weights.any(axis=1)
    addresses = known.quick.addresses[reached].reshape(int(reached.sum()), -1)[:, : dx * dy * dz]
    cube = addresses.reshape(-1, dz, dy, dx)
    return Strides(*(_constant_step(cube, axis) for axis in (3, 2, 1)))


def _constant_step(cube: np.ndarray[tuple[int, ...], np.dtype[np.int64]], axis: int) -> int | None:
    if cube.shape[axis] < 2:
        return None
    steps = np.diff(cube, axis=axis)
    first = steps.flat[0]
    return int(first) if (steps == first).all() else None


def _sample(reached: Sequence[_Known]) -> Sample:
    """Requests of all executions of an access, equally many of each, and neighbouring ones: warps of a block, and
    iterations that follow one another."""
    share = max(1, _MAX_SAMPLE // len(reached))
    parts = [_sample_of(known, share) for known in reached[:_MAX_SAMPLE]]
    dimensions = {len(part.subscripts) for part in parts}
    count = dimensions.pop() if len(dimensions) == 1 else 0
    return Sample(
        np.concatenate([part.addresses for part in parts]),
        np.concatenate([part.mask for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.warps for part in parts]),
        tuple(np.concatenate([part.subscripts[d] for part in parts]) for d in range(count)),
        np.concatenate([part.inner_offset for part in parts]),
    )


def _sample_of(known: _Known, share: int) -> Sample:
    requests = known.quick
    row, warp = np.nonzero(requests.weights > 0)
    row, warp = row[:share], warp[:share]
    rows = known.situation.rows(known.event.context.loops)
    spelled = known.event.subscripts
    indices = spelled.indices if spelled is not None else ()
    shape = requests.addresses.shape
    return Sample(
        requests.addresses[row, warp],
        requests.mask[row, warp],
        requests.weights[row, warp],
        warp.astype(np.int64),
        tuple(rows.full(index).reshape(shape)[row, warp].astype(np.int64) for index in indices),
        np.full((len(row), 1), spelled.inner if spelled is not None else 0, dtype=np.int64),
    )
