"""What is reported of each branch under a launch: how its warps split, what that costs, and which loaded number says
how often a lane goes round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import AccessEvent, Site
from cudalint.execute.values import Data
from cudalint.facts import BranchResult, Compiled
from cudalint.facts import Divergence as Cost
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.measure.branch_code import chosen_variable, compiled_form, executed_in, sides_of
from cudalint.measure.divergence import LOOPS, BranchSite, Divergence, divergence_of
from cudalint.measure.executed import Executed
from cudalint.measure.places import called
from cudalint.measure.sensitivity import where
from cudalint.measure.whole_warps import aligned_condition, is_by_lane
from cudalint.measure.work.counts import Work

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
    known: dict[int, bool] = {}
    for load in _loads_of(of):
        if load.allocation.space == "global" and isinstance(load.node, (ir.Index, ir.Unary)):
            type_ = load.node.type
            if isinstance(type_, ir.Scalar) and type_.kind in _WHOLE and _is_of_lanes(load, lanes, known):
                return load
    return None


def _loads_of(of: Any) -> Iterator[AccessEvent]:
    """What data was loaded by, or what it was computed from, each once."""
    waiting = [of]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        load = getattr(each, "origin", None)
        if load is not None:
            yield load
        else:
            waiting += getattr(each, "arguments", ())


def _is_of_lanes(load: AccessEvent, lanes: Lanes, known: dict[int, bool]) -> bool:
    """Whether lanes of a warp load from different places, in most warps: a row of each, not one of the warp or of the
    batch that it works on. Where data says the place, lanes must have loaded that so. `known` are answers by load."""
    found = known.get(id(load))
    if found is None:
        found = known[id(load)] = _differs_by_lane(load, lanes, known)
    return found


def _differs_by_lane(load: AccessEvent, lanes: Lanes, known: dict[int, bool]) -> bool:
    if isinstance(load.offset, Data):
        return not load.offset.is_common and any(_is_of_lanes(each, lanes, known) for each in _loads_of(load.offset))
    offsets = np.asarray(load.offset)
    if not offsets.ndim:
        return False
    active = lanes.by_warp(load.mask)
    places = lanes.by_warp(np.broadcast_to(offsets, load.mask.shape))
    lowest = np.where(active, places, places.max()).min(axis=2)
    several = (np.where(active, places, lowest[..., None]) != lowest[..., None]).any(axis=2)
    return bool(several.sum() * 2 > active.any(axis=2).sum())


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
