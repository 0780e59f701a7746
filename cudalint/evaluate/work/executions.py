"""How often lanes and warps execute code under a launch, and what they compute there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

import numpy as np
from msgspec import Struct, field

from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.edges import of_first_turns
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.situations import THOROUGH, Situation
from cudalint.evaluate.requests.views import LaunchView
from cudalint.evaluate.work.lengths import Key, Length, Lengths
from cudalint.facts.costs import AccessPlace, Operations, Waits
from cudalint.facts.places import Frame, Place
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.swaps import swaps
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, Loop
from cudalint.ir import nodes as ir
from cudalint.measure.work.operations import WIDTH, Counts, operation_of
from cudalint.values.nodes import BLOCK_BITS, Node, bits_of


class Executions(Struct, frozen=True):
    """Of one place in the program, in the whole launch."""

    lanes: float
    warps: float
    """Warps with at least one lane."""
    by_data: bool
    """Whether data decides about it: then the figures are those of all that may come."""
    share: float = 1.0
    """Which part of those that were evaluated these are: where nothing says how long a loop is, fewer."""


class Meter:
    """Counts executions under one launch; places with the same conditions in the same loops share them."""

    def __init__(self, view: LaunchView, lengths: Lengths | None = None) -> None:
        self.view = view
        self.lengths = lengths or Lengths(view)
        self._found: dict[tuple[object, ...], Executions] = {}

    def executions(self, loops: Sequence[Loop], conditions: Sequence[Node]) -> Executions:
        key = (*(loop.counter.index for loop in loops), -1, *(condition.index for condition in conditions))
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._count(loops, conditions)
        return found

    def _count(self, loops: Sequence[Loop], conditions: Sequence[Node]) -> Executions:
        opaque = self.view.graph.opaque_bits
        known = [each for each in conditions if not each.bits & opaque]
        by_data = len(known) < len(conditions) or any(loop.condition.bits & opaque for loop in loops)
        if any(each.is_const and not each.value for each in known):
            return Executions(0.0, 0.0, False)
        lanes, warps = self._in(self._situation(loops, known), loops, known)
        share = math.prod(self.lengths.share(loops[:depth], loop) for depth, loop in enumerate(loops))
        return Executions(lanes * share, warps * share, by_data, share)

    def _in(self, situation: Situation, loops: Sequence[Loop], known: Sequence[Node]) -> tuple[float, float]:
        rows = situation.rows(loops)
        mask = rows.mask(known)
        lanes = float(rows.weights @ mask.sum(axis=1))
        shape = (rows.count, situation.threads.warps, WARP_LANES)
        return lanes, float(rows.weights @ mask.reshape(shape).any(axis=2).sum(axis=1))

    def _situation(self, loops: Sequence[Loop], known: Sequence[Node]) -> Situation:
        """The usual one, or one with the blocks at which the work of the grid ends."""
        bits = bits_of(known) | bits_of(loop.condition for loop in loops)
        if not bits & BLOCK_BITS:
            return self.view.quick()
        edges = self.view.edges((*known, *of_first_turns(self.view.graph, loops)))
        return self.view.bounded(edges, THOROUGH) if any(edges) else self.view.quick()


class Computed(Struct):
    """What a whole execution computes."""

    counts: Counts = field(default_factory=lambda: np.zeros(WIDTH))
    by_data: bool = False
    waits: Waits = Waits()
    shares: Mapping[AccessPlace, float] = {}
    """By access, with the calls that lead there: which part of the evaluated executions are counted."""
    stops: Mapping[ir.Span, float] = {}
    """How often a warp waits at each barrier of the source, on average."""
    lengths: Sequence[Length] = ()
    """What loops are taken for."""
    within: Mapping[ir.Span, frozenset[int]] = {}
    """The numbers of the lengths on which it rests how often code is executed, by its place."""

    @property
    def assumed(self) -> tuple[str, ...]:
        """What was taken for granted about the lengths of loops."""
        return tuple(dict.fromkeys(length.assumption for length in self.lengths))

    @property
    def operations(self) -> Operations:
        fp32, fp64, fp16, tensor, special = (float(each) for each in self.counts[:5])
        return Operations(fp32, fp64, fp16, tensor, special)

    @property
    def instructions(self) -> float:
        return float(self.counts[5])


_OF_ACCESS = 1.7
"""Instructions of an access to memory, with what its address takes beyond what the source computes."""
_OF_BRANCH = 1.0
_OF_LOOP = 1.0
"""Of the jump back, as loops are unrolled mostly by four, and of what counts the iterations."""
_OF_SWAP_LOOP = 6.0
"""Of an atomic on a floating-point number in shared memory: it is computed and swapped in until nobody was faster."""


def computed(execution: Execution, accesses: Sequence[AccessEvent], meter: Meter) -> Computed:
    """Operations as often as lanes execute them, instructions as often as warps do. `accesses` are the machine's."""
    own: dict[int, Counts] = {}
    together: dict[tuple[object, ...], tuple[tuple[Loop, ...], tuple[Node, ...], Counts]] = {}

    def add(loops: tuple[Loop, ...], conditions: tuple[Node, ...], counts: Counts) -> None:
        key = (*(loop.counter.index for loop in loops), -1, *(each.index for each in conditions))
        known = together.get(key)
        together[key] = (loops, conditions, counts if known is None else known[2] + counts)

    for each in execution.computations:
        counts = own.get(id(each.code))
        if counts is None:
            counts = own[id(each.code)] = operation_of(each.code)
        add(each.loops, each.conditions, counts)
    for access in accesses:
        if access.left_out is None and not access.along:
            add(access.context.loops, access.context.conditions, _of_access(access, meter.view) / access.iterations)
    for step in execution.steps:
        if isinstance(step.code, (ir.If, ir.Switch)):
            add(step.loops, step.conditions, _instructions(_OF_BRANCH))
        elif not isinstance(step.code, _STATEMENTS):
            add(step.loops, step.conditions, _instructions(_OF_LOOP))
    result = Computed()
    for loops, conditions, counts in together.values():
        executions = meter.executions(loops, conditions)
        done = counts * executions.lanes
        done[5] = counts[5] * executions.warps
        result.counts = result.counts + done
        result.by_data = result.by_data or (executions.by_data and bool(executions.lanes))
    result.shares = _shares(accesses, meter)
    result.stops = _stops(execution, meter)
    result.waits = _waits(execution, accesses, meter, result)
    found = meter.lengths.found
    numbers = {key: number for number, key in enumerate(found)}
    result.lengths = tuple(found.values())
    result.within = _within(execution, accesses, meter.lengths, numbers)
    return result


def _numbered(keys: Iterable[Key], numbers: Mapping[Key, int]) -> frozenset[int]:
    return frozenset(numbers[key] for key in keys if key in numbers)


def _within(
    execution: Execution, accesses: Sequence[AccessEvent], lengths: Lengths, numbers: Mapping[Key, int]
) -> Mapping[ir.Span, frozenset[int]]:
    found: dict[ir.Span, frozenset[int]] = {}
    contexts = (*(each.context for each in accesses), *(each.context for each in _barriers(execution)))
    places = [
        *((context.span, context.loops) for context in contexts),
        *((each.code.span, each.loops) for each in execution.steps),
        *((each.code.span, each.loops) for each in execution.computations),
    ]
    for span, loops in places:
        found[span] = found.get(span, frozenset()) | _numbered(lengths.of(loops), numbers)
    return found


def _shares(accesses: Sequence[AccessEvent], meter: Meter) -> dict[AccessPlace, float]:
    """By what tells accesses apart: which part of their evaluated executions are counted, where that is not all."""
    found: dict[AccessPlace, float] = {}
    for access in accesses if meter.lengths.found else ():
        share = meter.executions(access.context.loops, access.context.conditions).share
        if share < 1.0:
            key = Place(*access.context.span), tuple(Frame(call.path, call.line) for call in access.context.frames)
            found[key] = min(share, found.get(key, 1.0))
    return found


_OVERLAP = 4.0
"""Iterations of a loop whose loads the compiler makes at once, if nothing stands between them."""


def _waits(execution: Execution, accesses: Sequence[AccessEvent], meter: Meter, found: Computed) -> Waits:
    """What a warp waits for, on average."""
    view = execution.view
    warps = _warps(view)
    stopped = {loop.counter.index for e in _barriers(execution) for loop in e.context.loops}
    opaque = view.graph.opaque_bits
    rounds = {"global": 0.0, "shared": 0.0}
    nests: dict[tuple[object, ...], list[AccessEvent]] = {}
    for access in accesses:
        space = "shared" if access.target.space == "shared" else "global"
        if access.left_out is None and not access.along and access.operation != "store":
            nests.setdefault((space, *access.context.nest), []).append(access)
    for group in nests.values():
        times = max(meter.executions(e.context.loops, e.context.conditions).warps for e in group) / warps
        loops = group[0].context.loops
        depends = any(e.offset.bits & opaque for e in group)
        is_open = depends or any(loop.condition.bits & opaque for loop in loops[-1:])
        if loops and not is_open and loops[-1].counter.index not in stopped:
            times /= _OVERLAP
        times *= 2 if depends and len(group) > 1 else 1
        rounds["shared" if group[0].target.space == "shared" else "global"] += times
    stops = sum(found.stops.values(), start=0.0)
    per_lane = (found.counts[4] + found.counts[1] / 2) / (warps * WARP_LANES)
    return Waits(found.instructions / warps, rounds["global"], rounds["shared"], stops, float(per_lane))


def _stops(execution: Execution, meter: Meter) -> dict[ir.Span, float]:
    found: dict[ir.Span, float] = {}
    for event in _barriers(execution):
        times = meter.executions(event.context.loops, event.context.conditions).warps / _warps(execution.view)
        found[event.context.span] = found.get(event.context.span, 0.0) + times
    return found


def _barriers(execution: Execution) -> list[BarrierEvent]:
    return [e for e in execution.events if isinstance(e, BarrierEvent) and not e.implied]


def _warps(view: LaunchView) -> int:
    """Of the whole launch."""
    return math.prod(view.quick().grid) * -(-math.prod(view.block) // WARP_LANES)


_STATEMENTS = get_args(ir.Stmt)


def _instructions(count: float) -> Counts:
    counts = np.zeros(WIDTH)
    counts[5] = count
    return counts


def _of_access(access: AccessEvent, view: LaunchView) -> Counts:
    counts = _instructions(_OF_ACCESS)
    element = access.element
    is_swapped = access.operation == "atomic" and access.target.space == "shared"
    if is_swapped and isinstance(element, ir.Scalar) and element.kind == "float":
        passes, operations = _passes(access, view)
        counts[0 if element.bytes == 4 else 1] = operations
        counts[5] += _OF_SWAP_LOOP * passes
    return counts


def _passes(access: AccessEvent, view: LaunchView) -> tuple[float, float]:
    """How often a warp goes round the loop that an atomic is, and how many sums are computed then for each lane that
    wants one, on average."""
    opaque = view.graph.opaque_bits
    situation = view.quick()
    rows = situation.rows(access.context.loops)
    shape = (-1, WARP_LANES)
    mask = rows.mask(dependence(access.context, access.offset, view.graph).known).reshape(shape)
    if access.offset.bits & opaque or not mask.any():
        return 1.0, 1.0
    addresses = rows.integers(access.offset).reshape(shape)
    kept = np.flatnonzero(mask.any(axis=1))[:_MOST_SWAPPED]
    found = swaps(addresses[kept], mask[kept], access.bytes, situation.threads.warps)
    weights = np.repeat(rows.weights, situation.threads.warps)[kept]
    lanes = float(weights @ mask[kept].sum(axis=1))
    return float(np.average(found.passes, weights=weights)), float(weights @ found.lanes) / lanes


_MOST_SWAPPED = 256
"""Requests that are looked at for it."""
