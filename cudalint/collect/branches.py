"""The branch facts of a kernel, collected launch by launch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.collect.accesses import NO_TIME
from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import frames_of
from cudalint.evaluate.branches.compiled import compiled_form
from cudalint.evaluate.branches.divergence import LOOPS, Split, evaluate_branch, warps_launched
from cudalint.evaluate.branches.divergence_remedies import aligned_condition, chosen_variable, is_by_lane
from cudalint.evaluate.branches.work import WorkMeter
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import Branch, BranchResult, Divergence, KernelFacts, Place, Verdict
from cudalint.interpreter.device.events import BranchEvent
from cudalint.kinds import Kind

_WORST_FIRST: tuple[Verdict, ...] = ("divergent", "data-dependent", "unknown", "warp-uniform", "uniform")
Evaluated = tuple[BranchEvent, Split]
_MAX_EVENTS = 24
"""Executions of one branch (by unrolling and inlining) that are evaluated; the rest behave alike."""

_ENOUGH_DOUBTS = 3
_LOOP_HEAD = 2.0
"""Instructions of a loop's test and step."""


class BranchCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "branches"
    _sites: dict[object, tuple[BranchEvent, list[BranchResult]]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        execution = run.execution
        meter = WorkMeter(execution.view, execution.steps)
        evaluated: dict[object, list[Evaluated]] = {}
        for key, events in _by_site(execution).items():
            if execution.deadline.is_over():
                evaluated[key] = [(events[0], Split("unknown", reason=NO_TIME))]
                continue
            evaluated[key] = _evaluated(events[:_MAX_EVENTS], execution)
            execution.view.trim()
        _narrow(meter, evaluated.values())
        for key, found in evaluated.items():
            _, results = self._sites.setdefault(key, (found[0][0], []))
            results.append(_result(found, execution, meter))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        branches = (_branch(event, tuple(results)) for event, results in self._sites.values())
        return replace(facts, branches=tuple(sorted(branches, key=lambda b: (b.place, b.inlined_from, b.kind))))


def _by_site(execution: Execution) -> dict[object, list[BranchEvent]]:
    sites: dict[object, list[BranchEvent]] = {}
    for event in execution.events:
        if isinstance(event, BranchEvent):
            sites.setdefault((event.context.span, event.context.frames, event.kind), []).append(event)
    return sites


def _evaluated(events: Sequence[BranchEvent], execution: Execution) -> list[Evaluated]:
    """The verdicts on the executions of one branch. Once a few were in doubt, so are the others."""
    found: list[Evaluated] = []
    doubts = 0
    for event in events:
        found.append((event, evaluate_branch(event, execution.view)))
        doubts += found[-1][1].verdict in ("data-dependent", "unknown")
        if doubts == _ENOUGH_DOUBTS:
            break
    return found


def _branch(event: BranchEvent, results: tuple[BranchResult, ...]) -> Branch:
    frames = frames_of(event.context.frames)
    return Branch(Place(*event.context.span), event.context.function, frames, event.kind, results)


def _narrow(meter: WorkMeter, evaluated: Iterable[Sequence[Evaluated]]) -> None:
    """Lets the work behind conditions count for the warps that get there."""
    for event, split in (pair for pairs in evaluated for pair in pairs):
        if event.kind in ("if", "conditional") and split.verdict in ("divergent", "warp-uniform", "uniform"):
            for side, share in zip(event.sides, split.sides, strict=False):
                meter.narrow(side.steps, share)


def _result(evaluated: Sequence[Evaluated], execution: Execution, meter: WorkMeter) -> BranchResult:
    view = execution.view
    splits = [split for _, split in evaluated]
    event, worst = min(evaluated, key=lambda pair: _WORST_FIRST.index(pair[1].verdict))
    visits = sum(split.visits for split in splits)
    return BranchResult(
        view.index,
        worst.verdict,
        _share(worst.verdict, splits, visits),
        assumptions=(*view.assumptions, *worst.assumptions),
        reason=worst.reason,
        compiled=None if event.condition.is_const else compiled_form(event, meter),
        divergence=_divergence(evaluated, execution, meter) if worst.verdict == "divergent" else None,
    )


def _divergence(evaluated: Sequence[Evaluated], execution: Execution, meter: WorkMeter) -> Divergence:
    """The cost of the executions of a branch that split warps."""
    split = [(event, result) for event, result in evaluated if result.verdict == "divergent"]
    first = split[0][0]
    times = sum(result.split for _, result in split)
    lanes = tuple(sum(result.lanes[side] for _, result in split) / max(times, 1e-9) for side in (0, 1))
    slowest, mean = (sum(result.trips[part] for _, result in split) for part in (0, 1))
    warps = warps_launched(execution.view)
    wasted = sum(_wasted(event, result, meter) for event, result in split) / warps
    whole = meter.executed(range(len(execution.steps)), ())
    return Divergence(
        work=tuple(meter.executed(side.steps, first.context.loops) for side in first.sides),
        lanes=(lanes[0], lanes[1]),
        wasted=wasted,
        share=wasted / whole if whole else 0.0,
        slowest=slowest / mean if mean else None,
        is_remainder=all(result.is_remainder for _, result in split),
        aligned=aligned_condition(first, execution.view),
        sized=any(result.sized for _, result in split),
        by_lane=is_by_lane(first.condition),
        chosen=chosen_variable(first, meter),
        ways=split[0][1].ways,
    )


def _wasted(event: BranchEvent, result: Split, meter: WorkMeter) -> float:
    """Instruction slots, over the launch, in which a warp executes what only part of its lanes need."""
    work = [meter.executed(side.steps, event.context.loops) for side in event.sides]
    if event.kind in LOOPS:
        slowest, mean = result.trips
        return (slowest - mean) * (sum(work) + _LOOP_HEAD)
    if event.kind == "switch":
        # Every case is executed in turn; on average a lane needs one of them.
        return result.split * (sum(work) - sum(work) / max(len(work), 1))
    then, otherwise = (*work, 0.0, 0.0)[:2]
    if otherwise == 0.0:
        # The other lanes have nothing to do: only fewer warps could save something.
        return result.surplus * then
    yes, no = result.lanes
    return result.split * (then + otherwise - (yes * then + no * otherwise) / max(yes + no, 1e-9))


def _share(verdict: Verdict, splits: Sequence[Split], visits: float) -> float | None:
    if verdict in ("data-dependent", "unknown"):
        return None
    return sum(split.split for split in splits) / visits if visits else 0.0
