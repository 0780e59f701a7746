"""The branch facts of a kernel, collected launch by launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cudalint.evaluate.divergence import Split, evaluate_branch
from cudalint.evaluate.events import BranchEvent
from cudalint.evaluate.execution import Execution
from cudalint.facts import Branch, BranchResult, Frame, Place, Verdict

_WORST_FIRST: tuple[Verdict, ...] = ("divergent", "data-dependent", "unknown", "warp-uniform", "uniform")
_MAX_EVENTS = 24
"""Executions of one branch (by unrolling and inlining) that are evaluated; the rest behave alike."""


@dataclass(slots=True, eq=False)
class BranchCollector:
    _sites: dict[object, tuple[BranchEvent, list[BranchResult]]] = field(default_factory=dict)

    def add(self, execution: Execution) -> None:
        for key, events in _by_site(execution).items():
            _, results = self._sites.setdefault(key, (events[0], []))
            results.append(_result(events, execution))
            execution.view.trim()

    def facts(self) -> tuple[Branch, ...]:
        branches = (_branch(event, tuple(results)) for event, results in self._sites.values())
        return tuple(sorted(branches, key=lambda b: (b.place, b.inlined_from, b.kind)))


def _by_site(execution: Execution) -> dict[object, list[BranchEvent]]:
    sites: dict[object, list[BranchEvent]] = {}
    for event in execution.events:
        if isinstance(event, BranchEvent):
            sites.setdefault((event.context.span, event.context.frames, event.kind), []).append(event)
    return sites


def _branch(event: BranchEvent, results: tuple[BranchResult, ...]) -> Branch:
    frames = tuple(Frame(span.path, span.line) for span in event.context.frames)
    return Branch(Place(*event.context.span), event.context.function, frames, event.kind, results)


def _result(events: Sequence[BranchEvent], execution: Execution) -> BranchResult:
    view = execution.view
    splits = [evaluate_branch(event, view) for event in events[:_MAX_EVENTS]]
    worst = min(splits, key=lambda split: _WORST_FIRST.index(split.verdict))
    visits = sum(split.visits for split in splits)
    return BranchResult(
        view.index,
        worst.verdict,
        _share(worst.verdict, splits, visits),
        assumptions=(*view.assumptions, *worst.assumptions),
        reason=worst.reason,
    )


def _share(verdict: Verdict, splits: Sequence[Split], visits: float) -> float | None:
    if verdict in ("data-dependent", "unknown"):
        return None
    return sum(split.split for split in splits) / visits if visits else 0.0
