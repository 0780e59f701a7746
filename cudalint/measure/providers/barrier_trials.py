"""Barriers against the races of a kernel: each is tried on a variant of the kernel that has it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from msgspec import Struct, field

from cudalint.facts import BarrierFix, Place
from cudalint.frontend.source_text import source_text
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration
from cudalint.launches.variants import another_use
from cudalint.measure.barriers import Arrivals, all_come
from cudalint.measure.control_flow import ControlFlow, Gate
from cudalint.measure.crossings import Attempts, Crossing
from cudalint.measure.executed import Executed
from cudalint.measure.placement import BarrierCall, with_barriers
from cudalint.measure.providers.provider import Run, Subject
from cudalint.measure.seen import Seen
from cudalint.source.insertions import insertions

_MOST_STEPS = 400_000
"""Of trials under one launch, with the accesses that they make."""
_FEW = 3
"""Barriers that are tried one by one: a trial of all of them shows less about each."""


class Races(Protocol):
    """The races of a kernel, as far as barriers may order them."""

    @property
    def has_unordered(self) -> bool:
        """Whether a barrier may be missing."""

    def crossings(self, launch: int, flow: ControlFlow) -> list[Crossing]:
        """Of the races of a launch for which no barrier is known yet."""

    def settled_by(self, executed: Executed, keys: Collection[object]) -> bool:
        """Whether races of these keys are gone in an execution with barriers."""

    def note_fix(self, fix: BarrierFix, keys: Iterable[object]) -> None:
        """Notes a barrier for races, by their keys."""

    def place(self, launch: int, fix: BarrierFix, executed: Executed) -> set[object]:
        """Notes a barrier for those races that are gone in an execution with it; returns the keys of the others."""


class BarrierTrials(Struct, eq=False):
    subject: Subject
    _flow: ControlFlow | None = None
    _needed: set[Gate] = field(default_factory=set)
    """Where a barrier is missing."""
    _steps: int = 0

    @property
    def flow(self) -> ControlFlow:
        """Of the kernel as it is."""
        if self._flow is None:
            self._flow = ControlFlow(self.subject.function)
        return self._flow

    def place(self, races: Races, run: Run) -> None:
        """Looks for barriers against the races of a launch, by trying them."""
        subject = self.subject
        self._steps = 0
        if not races.has_unordered:
            return
        attempts = Attempts(races.crossings(run.index, self.flow), self._needed)
        self._place_together(races, attempts, run)
        while not self._is_over() and (attempt := attempts.next()) is not None:
            gate, call = attempt
            changed = with_barriers(subject.function, {gate: call})
            variant = self._variant(run, run.configuration, changed)
            if not _all_come([gate], variant) or not self._all_come_elsewhere(gate, changed, run):
                attempts.skipped(gate, call)
                continue
            left = races.place(run.index, self._fix(gate, call), variant)
            if attempts.placed(gate, call, left):
                self._needed.add(gate)

    def _is_over(self) -> bool:
        return self._steps > _MOST_STEPS or self.subject.is_over()

    def _variant(self, run: Run, configuration: Configuration, changed: ir.Function) -> Executed:
        executed = run.variant(configuration, changed)
        self._steps += executed.trace.steps + len(executed.trace.accesses)
        return executed

    def _place_together(self, races: Races, attempts: Attempts, run: Run) -> None:
        """Tries several barriers at once. Only if all threads come to each of them, and none of the races that they are
        between is left, is anything noted."""
        plan = attempts.plan()
        if len(plan) < _FEW:
            return
        subject = self.subject
        changed = with_barriers(subject.function, {gate: call for gate, (call, _) in plan.items()})
        for configuration in (run.configuration, another_use(run.configuration, subject.function, subject.graph)):
            variant = self._variant(run, configuration, changed)
            if not _all_come(plan, variant):
                return
            if configuration is run.configuration:
                keys = {key for _, ordered in plan.values() for key in ordered}
                if not races.settled_by(variant, keys):
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
        return _all_come([gate], self._variant(run, another, changed))

    def _fix(self, gate: Gate, call: BarrierCall) -> BarrierFix:
        place = Place(*gate.span)
        if not self.flow.is_plain(gate):
            return BarrierFix(call, place, gate.where)
        text = source_text(place.path, self.subject.options)
        return BarrierFix(call, place, gate.where, insertions(text, place, gate.where, f"{call}();"))


def _all_come(gates: Iterable[Gate], executed: Executed) -> bool:
    arrivals = Arrivals(Seen(executed.function, executed.trace), executed.batch)
    return all(all_come(arrivals, gate.span.line, gate.span.column, gate.span.path) for gate in gates)
