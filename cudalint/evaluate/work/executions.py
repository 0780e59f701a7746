"""How often lanes and warps execute code under a launch, and what they compute there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct, field

from cudalint.evaluate.execute.events import Loop, Step
from cudalint.evaluate.requests.situations import THOROUGH, Situation
from cudalint.evaluate.requests.views import LaunchView
from cudalint.evaluate.symbolic.nodes import BLOCK_BITS, Node, bits_of
from cudalint.evaluate.work.operations import WIDTH, Counts, operations_of
from cudalint.facts.costs import Operations
from cudalint.hardware.requests import WARP_LANES


class Executions(Struct, frozen=True):
    """Of one place in the program, in the whole launch."""

    lanes: float
    warps: float
    """Warps with at least one lane."""
    by_data: bool
    """Whether data decides about it: then the figures are those of all that may come."""


class Meter:
    """Counts executions under one launch; places with the same conditions in the same loops share them."""

    def __init__(self, view: LaunchView) -> None:
        self.view = view
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
        return Executions(lanes, warps, by_data)

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
        edges = self.view.edges(tuple(known))
        return self.view.bounded(edges, THOROUGH) if any(edges) else self.view.quick()


class Computed(Struct):
    """What all steps of an execution compute."""

    counts: Counts = field(default_factory=lambda: np.zeros(WIDTH))
    by_data: bool = False

    @property
    def operations(self) -> Operations:
        fp32, fp64, fp16, tensor, special = (float(each) for each in self.counts[:5])
        return Operations(fp32, fp64, fp16, tensor, special)

    @property
    def instructions(self) -> float:
        return float(self.counts[5])


def computed(steps: Iterable[Step], meter: Meter) -> Computed:
    """Each statement's operations as often as lanes execute it, its instructions as often as warps do."""
    steps = list(steps)
    apart = frozenset(id(step.code) for step in steps)
    own: dict[int, Counts] = {}
    together: dict[tuple[object, ...], tuple[Step, Counts]] = {}
    for step in steps:
        counts = own.get(id(step.code))
        if counts is None:
            counts = own[id(step.code)] = operations_of(step.code, apart)
        if counts.any():
            key = (*(loop.counter.index for loop in step.loops), -1, *(each.index for each in step.conditions))
            if key in together:
                together[key] = step, together[key][1] + counts
            else:
                together[key] = step, counts
    result = Computed()
    for step, counts in together.values():
        executions = meter.executions(step.loops, step.conditions)
        result.counts[:5] += counts[:5] * executions.lanes
        result.counts[5] += counts[5] * executions.warps
        result.by_data = result.by_data or (executions.by_data and bool(executions.lanes))
    return result
