"""What a provider of facts is: it says which kind it collects and which others it needs, is shown every execution of a
kernel under a launch, and puts what it has found into the kernel's facts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar, Protocol, Self

from msgspec import Struct

from cudalint.codegen.machine import machine_accesses
from cudalint.concurrency.trial import Trial, trial_of
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.work.executions import Computed, Meter, computed
from cudalint.evaluate.work.lengths import lengths_of
from cudalint.facts import KernelFacts
from cudalint.hardware.targets import Target
from cudalint.interpreter.device.events import AccessEvent
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.launches.configuration import Configuration
from cudalint.options.analysis import AnalysisOptions
from cudalint.processes.deadline import Deadline
from cudalint.reasons import ReasonKind
from cudalint.values.graph import Graph


class Subject(Protocol):
    """The kernel that facts are collected of, which can be executed again in other ways."""

    graph: Graph
    function: ir.Function
    options: AnalysisOptions
    right_pitches: set[object]
    """What other analyses of the file found no wrong pitch in (`collect.pitches`)."""

    @property
    def target(self) -> Target:
        """The GPU that it is judged by."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing of it so far."""

    def again(self, index: int, configuration: Configuration, function: ir.Function | None = None) -> Execution:
        """Executes it, or a variant of it, once more in the place of a launch."""

    def executing_until(self) -> Deadline:
        """By when another execution has to be over."""

    def is_over(self, end: int) -> bool:
        """Whether a share of the work is used up, which ends at this point of the graph's clock, or the time."""

    def has_gap(self, reason: str, kind: ReasonKind) -> None:
        """Notes that something of it was not analysed."""


class Run(Struct, eq=False):
    """One launch of the kernel, executed."""

    subject: Subject
    index: int
    """Its place among the kernel's launches."""
    configuration: Configuration
    execution: Execution
    _trial: Trial | None = None
    _machine: Sequence[AccessEvent] | None = None
    _meter: Meter | None = None
    _computed: Computed | None = None

    @property
    def meter(self) -> Meter:
        """For all that asks how often its code is executed."""
        if self._meter is None:
            self._meter = Meter(self.execution.view, lengths_of(self.execution, self.machine))
        return self._meter

    @property
    def computed(self) -> Computed:
        """What all of it computes, where the executor was told to count that."""
        if self._computed is None:
            self._computed = computed(self.execution, self.machine, self.meter)
        return self._computed

    @property
    def machine(self) -> Sequence[AccessEvent]:
        """Its accesses as the machine makes them."""
        if self._machine is None:
            self._machine = machine_accesses(self.execution)
        return self._machine

    @property
    def trial(self) -> Trial:
        """For all that asks about the order of its threads: they share the traces, and the work that may be done."""
        if self._trial is None:
            self._trial = trial_of(self.execution)
        return self._trial

    @property
    def is_refused(self) -> bool:
        """Whether the device refuses the launch for its threads: no address is wrong in a kernel that is not run. Its
        races are those of a block that fits, too."""
        return prod(self.configuration.block) > self.subject.target.max_threads_per_block


class Provider(Struct, eq=False):
    """The facts of one kind about one kernel."""

    kind: ClassVar[Kind]
    needs: ClassVar[tuple[Kind, ...]] = ()
    """The kinds that have to be collected before it."""
    counts: ClassVar[bool] = False
    """Whether it asks `Run.computed`: then the executor counts operations."""

    @classmethod
    def of(cls, subject: Subject) -> Self:
        """One that was shown no launch yet."""
        return cls()

    def add(self, run: Run) -> None:
        """Collects what one launch shows."""
        raise NotImplementedError

    def add_last(self, run: Run) -> None:
        """Collects what may only take the work that is left when all kinds were shown the launch."""

    def finish(self, subject: Subject) -> None:
        """Is called when all launches were shown."""

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        """The kernel's facts with those of this kind."""
        raise NotImplementedError
