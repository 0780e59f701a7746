"""Barriers against the races of a kernel: each is tried on a variant of the kernel that has it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from msgspec import Struct, field

from cudalint.collect.provider import Run, Subject
from cudalint.concurrency.barriers import all_come
from cudalint.concurrency.trial import Trial, trial_of
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import BarrierFix, Place
from cudalint.frontend.source_text import source_text
from cudalint.ir import nodes as ir
from cudalint.launches.variants import another_use
from cudalint.measure.control_flow import ControlFlow, Gate
from cudalint.measure.crossings import Attempts, Crossing
from cudalint.measure.placement import BarrierCall, with_barriers
from cudalint.remedies.insertions import insertions

_PLACING_WORK = 2_000_000
_FEW = 3
"""Barriers that are tried one by one: a trial of all of them shows less about each."""


class Races(Protocol):
    """The races of a kernel, as far as barriers may order them."""

    @property
    def has_unordered(self) -> bool:
        """Whether a barrier may be missing."""

    def crossings(self, launch: int, flow: ControlFlow) -> list[Crossing]:
        """Of the races of a launch for which no barrier is known yet."""

    def settled_by(self, launch: int, execution: Execution, trial: Trial, keys: Collection[object]) -> bool:
        """Whether races of these keys are gone in an execution with barriers."""

    def note_fix(self, fix: BarrierFix, keys: Iterable[object]) -> None:
        """Notes a barrier for races, by their keys."""

    def place(self, launch: int, fix: BarrierFix, execution: Execution, trial: Trial) -> set[object]:
        """Notes a barrier for those races that are gone in an execution with it; returns the keys of the others."""


class BarrierTrials(Struct, eq=False):
    subject: Subject
    _flow: ControlFlow | None = None
    _needed: set[Gate] = field(default_factory=set)
    """Where a barrier is missing."""

    @property
    def flow(self) -> ControlFlow:
        """Of the kernel as it is."""
        if self._flow is None:
            self._flow = ControlFlow(self.subject.function)
        return self._flow

    def place(self, races: Races, run: Run) -> None:
        """Looks for barriers against the races of a launch, by trying them."""
        subject = self.subject
        end = subject.graph.work + _PLACING_WORK
        if not races.has_unordered:
            return
        attempts = Attempts(races.crossings(run.index, self.flow), self._needed)
        self._place_together(races, attempts, run)
        while (attempt := attempts.next()) is not None and not subject.is_over(end):
            gate, call = attempt
            changed = with_barriers(subject.function, {gate: call})
            variant = subject.again(run.index, run.configuration, changed)
            trial = trial_of(variant)
            if not all_come(gate.span, variant, trial) or not self._all_come_elsewhere(gate, changed, run):
                attempts.skipped(gate, call)
                continue
            left = races.place(run.index, self._fix(gate, call), variant, trial)
            if attempts.placed(gate, call, left):
                self._needed.add(gate)

    def _place_together(self, races: Races, attempts: Attempts, run: Run) -> None:
        """Tries several barriers at once. Only if all threads come to each of them, and none of the races that they are
        between is left, is anything noted."""
        plan = attempts.plan()
        if len(plan) < _FEW:
            return
        subject = self.subject
        changed = with_barriers(subject.function, {gate: call for gate, (call, _) in plan.items()})
        for configuration in (run.configuration, another_use(run.configuration, subject.function, subject.graph)):
            variant = subject.again(run.index, configuration, changed)
            trial = trial_of(variant)
            if not all(all_come(gate.span, variant, trial) for gate in plan):
                return
            if configuration is run.configuration:
                keys = {key for _, ordered in plan.values() for key in ordered}
                if not races.settled_by(run.index, variant, trial, keys):
                    return
        for gate, (call, ordered) in plan.items():
            races.note_fix(self._fix(gate, call), ordered)
        attempts.planned(plan)
        self._needed.update(plan)

    def _all_come_elsewhere(self, gate: Gate, changed: ir.Function, run: Run) -> bool:
        """Whether a barrier is safe with other arguments and blocks too: `if (i < n)` is true for all threads of this
        launch, and not for those of the next."""
        subject = self.subject
        another = another_use(run.configuration, subject.function, subject.graph)
        again = subject.again(run.index, another, changed)
        return all_come(gate.span, again, trial_of(again))

    def _fix(self, gate: Gate, call: BarrierCall) -> BarrierFix:
        place = Place(*gate.span)
        if not self.flow.is_plain(gate):
            return BarrierFix(call, place, gate.where)
        text = source_text(place.path, self.subject.options)
        return BarrierFix(call, place, gate.where, insertions(text, place, gate.where, f"{call}();"))
