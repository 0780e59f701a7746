"""Divergence: which warps a branch of the source splits and in which worlds, how much longer a loop keeps a warp than
its mean lane, and what that costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import BranchEvent, Stack, Trace
from cudalint.facts import Verdict
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import statements as st
from cudalint.measure.arrays import Flags, Weights

LOOPS = (st.For, st.While, st.DoWhile, st.RangeFor)
_EXACT = 1e-6
"""Of turns, some of which are counted by weights."""


class BranchSite(NamedTuple):
    """A branch of the source, as calls lead there."""

    node: Any
    stack: Stack


class Divergence(Struct, frozen=True, eq=False):
    """How warps take one branch; arrays [W] by world. Of a loop an execution is all of its turns."""

    warps: Weights
    """Executions by warps."""
    split: Weights
    """Those in which some lanes of the warp go one way, and some the other."""
    sides: tuple[Weights, Weights]
    """Executions in which some lane goes the way of the condition, or the other; of a loop, turns of warps and tests
    that end one."""
    lanes: tuple[Weights, Weights]
    """Lanes that go the way of the condition, and others, in executions that split."""
    surplus: Weights
    """Warps that would not go the way of the condition if the lanes of a block that do were packed into few warps."""
    slowest: Weights
    mean: Weights
    """Of a loop: turns of the slowest lane of each warp, and of its mean lane, in all executions, from the first turn
    on at which any lanes part."""
    is_remainder: Flags
    """Of a loop: no lane of a warp goes without, and none makes more than one turn more than another."""
    parts: Flags
    """Whether warps of one block go different ways as a whole."""
    ways: tuple[bytes, ...]
    """What threads do in the block of which most warps split: see `facts.Divergence.ways`."""

    @property
    def fraction(self) -> Weights:
        """Of executions that split; 0 where there are none."""
        found: Weights = self.split / np.maximum(self.warps, np.finfo(np.float64).tiny)
        return found

    @property
    def severity(self) -> Weights:
        """The share of executions that split, or of a loop's turns that the mean lane waits for."""
        if not self.slowest.any():
            return self.fraction
        found: Weights = np.where(self.slowest > 0, 1 - self.mean / np.maximum(self.slowest, _EXACT), 0.0)
        return found

    def verdict(self, world: int) -> Verdict:
        if self.split[world] > 0:
            return "divergent"
        return "warp-uniform" if self.parts[world] else "uniform"


def divergence_of(trace: Trace) -> dict[BranchSite, Divergence]:
    """How warps take each branch that numbers decide. Those that data decides are `Trace.undecided`."""
    by_site: dict[BranchSite, list[BranchEvent]] = {}
    for event in trace.branches:
        if event.library is None:
            by_site.setdefault(BranchSite(event.node, event.stack), []).append(event)
    found = {}
    for site, events in by_site.items():
        seen = _Seen(trace.lanes)
        if isinstance(site.node, LOOPS):
            for tests in _executions(events):
                seen.add_loop(tests, isinstance(site.node, st.DoWhile))
        else:
            for event in events:
                seen.add(event)
        found[site] = seen.all()
    return found


def _executions(events: Iterable[BranchEvent]) -> Iterator[list[BranchEvent]]:
    """The tests of a loop, execution by execution."""
    tests: list[BranchEvent] = []
    for event in events:
        if tests and event.turn <= tests[-1].turn:
            yield tests
            tests = []
        tests.append(event)
    if tests:
        yield tests


class _Seen:
    """What was seen of one branch so far: [R, warps] each, until it is summed up."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        shape = lanes.rows, lanes.warps
        self._warps, self._split, self._yes, self._no = np.zeros((4, *shape))
        self._sides = np.zeros((2, *shape))
        self._slowest, self._mean = np.zeros((2, *shape))
        self._surplus = np.zeros(lanes.rows)
        self._parts = np.zeros(lanes.rows, bool)
        self._is_remainder = np.ones(lanes.rows, bool)
        self._most = [0] * lanes.worlds
        self._ways = [b""] * lanes.worlds

    def add(self, event: BranchEvent) -> None:
        """An execution of what is no loop."""
        yes, no = self._both(event)
        some, others = _any(yes), _any(no)
        split = some & others
        for case in event.cases or ():
            if case is not None:
                goes = self._lanes.by_warp(case)
                split |= _any(goes) & _any((yes | no) & ~goes)
        self._warps += event.weight * (some | others)
        self._add_sides(event, some, others)
        self._parts |= (some & ~others).any(axis=1) & (others & ~some).any(axis=1)
        packed = -(-yes.sum(axis=(1, 2)) // WARP_LANES)
        by_row = np.broadcast_to(np.asarray(event.weight, np.float64), some.shape).max(axis=1)
        self._surplus += by_row * (some.sum(axis=1) - packed)
        if split.any():
            weights = event.weight * split
            self._split += weights
            self._yes += weights * yes.sum(axis=2)
            self._no += weights * no.sum(axis=2)
            self._note_ways(split, yes, no)

    def add_loop(self, tests: Sequence[BranchEvent], is_tested_last: bool) -> None:
        """All tests of one execution of a loop."""
        first = tests[0]
        entered = self._lanes.by_warp(first.mask)
        turns = entered.astype(np.float64) if is_tested_last else np.zeros(entered.shape)
        split = np.zeros(entered.shape[:2], bool)
        for test in tests:
            yes, no = self._both(test)
            some, others = _any(yes), _any(no)
            split |= some & others
            self._add_sides(test, some, others)
            turns += _relative(test.weight, first.weight) * yes
        most = np.where(entered, turns, -1.0).max(axis=2)
        least = np.where(entered, turns, np.inf).min(axis=2)
        comes = _any(entered)
        weights = first.weight * comes
        self._warps += weights
        self._split += weights * split
        self._slowest += np.where(comes, weights * most, 0.0)
        self._mean += weights * turns.sum(axis=2) / np.maximum(entered.sum(axis=2), 1)
        # Tests with the same outcome for all lanes of all worlds are no events: there were turns before.
        is_whole = first.turn == is_tested_last
        is_even = (least > (_EXACT if is_whole else -1)) & (most - least <= 1 + _EXACT)
        self._is_remainder &= (is_even | ~comes).all(axis=1)
        if is_whole:
            highest = np.where(comes, most, -1.0).max(axis=1)
            self._parts |= (comes & (most < highest[:, None] - _EXACT)).any(axis=1)
        if split.any():
            longest = entered & (turns >= most[..., None] - _EXACT)
            self._note_ways(split, longest, entered & ~longest)

    def all(self) -> Divergence:
        lanes = self._lanes

        def summed(values: Any) -> Weights:
            found: Weights = values.reshape(lanes.worlds, -1).sum(axis=1)
            return found

        parts: Flags = np.asarray(self._parts.reshape(lanes.worlds, -1).any(axis=1))
        is_remainder: Flags = np.asarray(self._is_remainder.reshape(lanes.worlds, -1).all(axis=1))
        return Divergence(
            summed(self._warps), summed(self._split), (summed(self._sides[0]), summed(self._sides[1])),
            (summed(self._yes), summed(self._no)), summed(self._surplus), summed(self._slowest), summed(self._mean),
            is_remainder, parts, tuple(self._ways),
        )  # fmt: skip

    def _both(self, event: BranchEvent) -> tuple[Flags, Flags]:
        """The lanes that go the way of the condition, and the others."""
        comes = self._lanes.by_warp(event.mask)
        if event.taken is event.mask:
            return comes, np.zeros_like(comes)
        goes = self._lanes.by_warp(np.broadcast_to(event.taken, event.mask.shape))
        return comes & goes, comes & ~goes

    def _add_sides(self, event: BranchEvent, some: Flags, others: Flags) -> None:
        self._sides[0] += event.weight * some
        self._sides[1] += event.weight * others

    def _note_ways(self, split: Flags, yes: Flags, no: Flags) -> None:
        by_world = split.sum(axis=1).reshape(self._lanes.worlds, -1)
        for world, counts in enumerate(by_world):
            block = int(counts.argmax())
            if counts[block] > self._most[world]:
                self._most[world] = int(counts[block])
                row = world * self._lanes.blocks + block
                self._ways[world] = np.where(yes[row], 1, np.where(no[row], 2, 0)).astype(np.int8).tobytes()


def _any(lanes: Flags) -> Flags:
    """[R, warps, 32] as [R, warps]."""
    return np.asarray(lanes.any(axis=2))


def _relative(weight: Any, first: Any) -> Any:
    """How many turns one that is executed stands for; each execution of the loop may stand for several, too."""
    if type(weight) is not np.ndarray and type(first) is not np.ndarray:
        return weight / first
    found = np.asarray(weight, np.float64) / np.maximum(np.asarray(first, np.float64), np.finfo(np.float64).tiny)
    return found[..., None] if found.ndim else found
