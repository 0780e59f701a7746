"""Divergence: which warps a branch of the source splits and in which worlds, how much longer a loop keeps a warp than
its mean lane, and what that costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import AccessEvent, BranchEvent, Site, Stack, Trace
from cudalint.execute.values import Data
from cudalint.facts import BranchResult, Compiled, Verdict
from cudalint.facts import Divergence as Cost
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.measure.arrays import Flags, Weights
from cudalint.measure.branch_code import chosen_variable, compiled_form, executed_in, sides_of
from cudalint.measure.executed import Executed
from cudalint.measure.places import called
from cudalint.measure.sensitivity import where
from cudalint.measure.whole_warps import aligned_condition, is_by_lane
from cudalint.measure.work.counts import Work

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


# --- what is reported of each branch -------------------------------------------------------------------


_WHOLE = ("int", "uint")
_DATA = "which lanes take it depends on data"
_UNKNOWN = "which lanes take it could not be evaluated"
UNREACHED = "no thread gets here under this launch"
_MILDER = 0.75
"""Of a split's severity, up to which another size makes much less of it."""
_EDGE = 0.05
"""Up to this share of warps, a split in another world is one at the edge of the problem."""
_BRANCHES = (st.If, st.Switch, ir.Conditional, *LOOPS)


Works = Callable[[int], Work]
"""What is computed in a world."""


def results_of(executed: Executed, launch: int, works: Works) -> Iterator[tuple[BranchSite, BranchResult]]:
    """All branches that are reached in some world, and those of the kernel's own text that are not."""
    trace, kernel = executed.trace, executed.function
    divergence = divergence_of(trace)
    sites = dict.fromkeys(BranchSite(*site) for site in (*trace.undecided, *divergence, *trace.agreed))
    for site in sites:
        compiled = compiled_form(site.node, site.stack, kernel)
        undecided = trace.undecided.get(site)
        if undecided is not None:
            condition = undecided.condition
            result = _by_data(condition, launch, compiled)
            load = None
            if isinstance(site.node, st.For) and not condition.is_common and _counts(site.node):
                load = _loaded_length(condition, trace.lanes)
            if load is not None:
                origin = f"`{load.allocation.name}` at line {load.node.span.line}"
                result = replace(result, loaded=origin, loop_share=_share_of_loop(site, works(0)))
            yield site, result
        elif site in divergence:
            yield site, _decided(site, divergence[site], executed, launch, compiled, works)
        else:
            is_fixed = isinstance(getattr(site.node, "condition", None), (ir.Constant, type(None)))
            yield site, BranchResult(launch, "uniform", 0.0, compiled=None if is_fixed else compiled)
    reached = {id(site.node) for site in sites}
    for node in walk.nodes_in(kernel):
        if isinstance(node, _BRANCHES) and id(node) not in reached:
            yield BranchSite(node, ()), BranchResult(launch, "uniform", 0.0, reason=UNREACHED)


def _counts(loop: st.For) -> bool:
    """Whether a loop goes on until a variable that it counts comes to some number, or counts down from one."""
    counted = set(walk.stepped(loop.increment)) if loop.increment is not None else set[ir.Symbol]()
    for part, _ in walk.conjuncts(loop.condition, True) if loop.condition is not None else ():
        sides = [*map(walk.without_casts, (part.left, part.right))] if isinstance(part, ir.Binary) else []
        begins = loop.init is not None or not any(isinstance(side, ir.Constant) for side in sides)
        if begins and any(isinstance(side, ir.Name) and side.symbol in counted for side in sides):
            return True
    return False


def _loaded_length(of: Any, lanes: Lanes) -> AccessEvent | None:
    """The load of a whole number in global memory that the length of a loop comes of, each lane its own."""
    for load in _loads_of(of):
        if load.allocation.space == "global" and isinstance(load.node, (ir.Index, ir.Unary)):
            type_ = load.node.type
            if isinstance(type_, ir.Scalar) and type_.kind in _WHOLE and _is_of_lanes(load, lanes):
                return load
    return None


def _loads_of(of: Any) -> Iterator[AccessEvent]:
    """What data was loaded by, or what it was computed from."""
    waiting = [of]
    while waiting:
        each = waiting.pop()
        load = getattr(each, "origin", None)
        if load is not None:
            yield load
        else:
            waiting += getattr(each, "arguments", ())


def _is_of_lanes(load: AccessEvent, lanes: Lanes) -> bool:
    """Whether lanes of a warp load from different places, in most warps: a row of each, not one of the warp or of the
    batch that it works on. Where data says the place, lanes must have loaded that so."""
    if isinstance(load.offset, Data):
        return not load.offset.is_common and any(_is_of_lanes(each, lanes) for each in _loads_of(load.offset))
    offsets = np.asarray(load.offset)
    if not offsets.ndim:
        return False
    active = lanes.by_warp(load.mask)
    places = lanes.by_warp(np.broadcast_to(offsets, load.mask.shape))
    lowest = np.where(active, places, places.max()).min(axis=2)
    several = (np.where(active, places, lowest[..., None]) != lowest[..., None]).any(axis=2)
    return bool(several.sum() * 2 > _any(active).sum())


def _share_of_loop(site: BranchSite, work: Work) -> float:
    own = executed_in((site.node,), site.stack, _by_site(work.by_place))
    return min(1.0, own / work.total) if work.total else 0.0


def _by_data(condition: Data, launch: int, compiled: Compiled) -> BranchResult:
    if condition.is_common:
        return BranchResult(launch, "uniform", 0.0, compiled=compiled)
    is_unknown = condition.kind == "unknown"
    origin, of = condition.origin, f": {condition.reason}" if condition.reason else ""
    if origin is not None:
        of = f": it is loaded from `{origin.allocation.name}` at line {origin.node.span.line}"
    return BranchResult(
        launch, "unknown" if is_unknown else "data-dependent", None,
        reason=f"{_UNKNOWN if is_unknown else _DATA}{of}", compiled=compiled,
    )  # fmt: skip


def _decided(
    site: BranchSite, found: Divergence, executed: Executed, launch: int, compiled: Compiled, works: Works
) -> BranchResult:
    """The verdict of the first world that gets there, unless warps split all over in another one."""
    worlds = range(len(executed.batch))
    reached = [bool(found.warps[world] > 0) for world in worlds]
    if not any(reached):
        return BranchResult(launch, "uniform", 0.0, reason=UNREACHED)
    first = reached.index(True)
    splits = [bool(found.split[world] > 0) if reached[world] else None for world in worlds]
    is_large = found.warps >= found.warps[first] / 2  # Far fewer warps are at an edge, all of them.
    all_over = [bool(found.fraction[w] > _EDGE and is_large[w]) if reached[w] else None for w in worlds]
    world = first
    if not splits[first]:
        world = next((world for world in worlds if all_over[world]), first)
    verdict = found.verdict(world)
    holds = splits if world == first else all_over
    if verdict != "divergent":
        holds = [None if held is None else not held for held in holds]
    numbers = executed.batch.numbers
    rests = where(holds, numbers, dict.fromkeys(numbers[0], (WARP_LANES,)))
    return BranchResult(
        launch,
        verdict,
        float(found.fraction[world]),
        assumptions=(rests.condition,) if rests.kind == "where" and rests.condition and not executed.batch.made else (),
        compiled=compiled,
        divergence=_cost(site, found, executed, world, compiled, works(world)) if verdict == "divergent" else None,
    )


def _cost(
    site: BranchSite, found: Divergence, executed: Executed, world: int, compiled: Compiled, work: Work
) -> Cost:
    """What it costs that warps split, in one world."""
    node, batch = site.node, executed.batch
    lanes = executed.trace.lanes
    by_place = _by_site(work.by_place)
    parts = sides_of(node)
    visits = _visits(site, parts, found, executed, world)
    if compiled != "branch":
        # All warps that come execute it.
        visits = [float(found.warps[world])] * len(parts)
    sides = tuple(
        executed_in(side, site.stack, by_place) / times if times else 0.0
        for side, times in zip(parts, visits, strict=True)
    )
    launched = float(np.sum(np.broadcast_to(lanes.weight, (lanes.rows, lanes.warps)).reshape(len(batch), -1)[world]))
    split = float(found.split[world])
    yes, no = (float(each[world]) / split for each in found.lanes)
    wasted = _wasted(node, sides, found, world) / max(launched, 1.0)
    whole = work.total / max(launched, 1.0)
    slowest, mean = _turns(site, found, executed, world)
    return Cost(
        work=sides,
        lanes=(yes, no),
        wasted=wasted,
        share=min(1.0, wasted / whole) if whole else 0.0,
        slowest=slowest / mean if mean else None,
        is_remainder=bool(found.is_remainder[world]) and isinstance(node, LOOPS),
        aligned=_aligned(site, executed, world),
        spare=_spare(node, parts, found, world),
        sized=_is_sized(found, world),
        by_lane=_is_by_lane(site, executed),
        chosen=chosen_variable(node),
        ways=found.ways[world],
    )


def _turns(site: BranchSite, found: Divergence, executed: Executed, world: int) -> tuple[float, float]:
    """Turns of a loop by the slowest lane of each warp, and by its mean lane. Those that all lanes of all worlds make
    are not among the tests that are events, but among the executions of the body."""
    slowest, mean = float(found.slowest[world]), float(found.mean[world])
    body = getattr(site.node, "body", None)
    own = executed.trace.executions.get(Site(body, site.stack, None)) if body is not None else None
    common = max(0.0, float(own.counts[0, world]) - slowest) if own is not None else 0.0
    return slowest + common, mean + common


def _by_site(by_place: Mapping[tuple[Site, str], float]) -> dict[Site, float]:
    found: dict[Site, float] = {}
    for (site, _), count in by_place.items():
        found[site] = found.get(site, 0.0) + count
    return found


def _visits(
    site: BranchSite, parts: Sequence[tuple[Any, ...]], found: Divergence, executed: Executed, world: int
) -> list[float]:
    """How often a warp comes to each side."""
    if not isinstance(site.node, st.Switch):
        if isinstance(site.node, LOOPS):
            return [_turns(site, found, executed, world)[0]]
        return [float(each[world]) for each in found.sides][: len(parts)]
    executions = executed.trace.executions
    visits = []
    for part in parts:
        own = executions.get(Site(part[0], site.stack, None)) if part else None
        visits.append(float(own.counts[0, world]) if own is not None else 0.0)
    return visits


def _wasted(node: Any, work: Sequence[float], found: Divergence, world: int) -> float:
    """Instruction slots, over the launch, in which a warp executes what only part of its lanes need."""
    split = float(found.split[world])
    if isinstance(node, LOOPS):
        return float(found.slowest[world] - found.mean[world]) * sum(work)
    if isinstance(node, st.Switch):
        # Every case is executed in turn; on average a lane needs one of them.
        return split * (sum(work) - sum(work) / max(len(work), 1))
    then, otherwise = (*work, 0.0, 0.0)[:2]
    if otherwise == 0.0:
        # The other lanes have nothing to do: only fewer warps could save something.
        return float(found.surplus[world]) * then
    yes, no = (float(each[world]) for each in found.lanes)
    return split * (then + otherwise - (yes * then + no * otherwise) / max(yes + no, 1e-9))


def _spare(node: Any, parts: Sequence[tuple[Any, ...]], found: Divergence, world: int) -> float:
    came = float(found.sides[0][world])
    return float(found.surplus[world]) / came if isinstance(node, st.If) and len(parts) == 1 and came else 0.0


def _is_sized(found: Divergence, world: int) -> bool:
    """Whether other numbers that fit as well make much less of it."""
    reached = found.warps > 0
    return bool((found.severity[reached] < _MILDER * found.severity[world]).any())


class _Condition(NamedTuple):
    """Of a branch with two ways."""

    condition: ir.Expr
    function: ir.Function
    """Where it stands."""
    given: Mapping[ir.Symbol, Any]
    """The numbers of its parameters, as far as they are known."""

    @classmethod
    def of(cls, site: BranchSite, executed: Executed) -> _Condition | None:
        node, function = site.node, called(site.stack[0]) if site.stack else executed.function
        if function is None or not isinstance(node, (st.If, ir.Conditional, ir.Binary)):
            return None
        condition = node.left if isinstance(node, ir.Binary) else node.condition
        return cls(condition, function, {} if site.stack else executed.batch.arguments)


def _is_by_lane(site: BranchSite, executed: Executed) -> bool:
    found = _Condition.of(site, executed)
    return found is not None and is_by_lane(*found)


def _aligned(site: BranchSite, executed: Executed, world: int) -> str | None:
    found, lanes = _Condition.of(site, executed), executed.trace.lanes
    if found is None:
        return None
    rows = slice(world * lanes.blocks, (world + 1) * lanes.blocks)
    for event in executed.trace.branches:
        if event.node is site.node and event.stack == site.stack:
            mask = np.zeros_like(event.mask)
            mask[rows] = event.mask[rows]
            if mask.any():
                return aligned_condition(*found, mask, lanes)
    return None
