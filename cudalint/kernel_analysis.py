"""The analysis of one instantiation of a kernel: it is executed under each launch, and facts of every kind are
collected from the executions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint import ir
from cudalint.collect.accesses import AccessCollector
from cudalint.collect.alignments import AlignmentCollector
from cudalint.collect.barriers import BarrierCollector
from cudalint.collect.bounds import BoundsCollector
from cudalint.collect.branches import BranchCollector
from cudalint.collect.pitches import pitches
from cudalint.collect.races import RaceCollector
from cudalint.collect.resources import occupancies, resources_of
from cudalint.evaluate.execute.deadline import NEVER, Deadline
from cudalint.evaluate.execute.executor import Executor, Extents, GaveUp
from cudalint.evaluate.execute.values import Place as ValuePlace
from cudalint.evaluate.execute.values import RecordValue, Value
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.views import LaunchView
from cudalint.evaluate.symbolic.assumptions import Assumptions, settle
from cudalint.evaluate.symbolic.defaults import kept, stated
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.limits import settle_limits
from cudalint.evaluate.symbolic.nodes import Node
from cudalint.evaluate.symbolic.sizes import settle_sizes
from cudalint.facts import BarrierFix, Gap, KernelFacts, LaunchFacts, PitchMismatch, Place, Resources
from cudalint.facts.files import not_resolved
from cudalint.flow.barriers import all_come
from cudalint.flow.cfg import ControlFlow, Gate
from cudalint.flow.crossings import Attempts
from cudalint.flow.placement import BarrierCall, with_barrier
from cudalint.flow.reach import outgrown
from cudalint.flow.redundancy import redundant_barriers
from cudalint.flow.trial import Trial, trial_of
from cudalint.hardware.features import Need, target_for
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.targets import Target, find_target
from cudalint.launches.arguments import named_after_parameters
from cudalint.launches.blocks import generic_values
from cudalint.launches.configuration import Configuration, Numbers, asks_block_size, launch_facts
from cudalint.launches.limits import MAX_THREADS
from cudalint.launches.parameter_facts import allocated_bytes, argument_values, parameter_facts
from cudalint.launches.variants import another_use, other_blocks
from cudalint.options import AnalysisOptions
from cudalint.reasons import Problem, ReasonKind
from cudalint.remedies.insertions import insertions
from cudalint.source.text import Spellings, source_text
from cudalint.toolkit.usage import Usage

Watch = Callable[[Execution], None]
"""Is shown each execution of a kernel under one of its launches, while the graph holds its numbers."""

_CONFIRMING_WORK = 1_000_000
"""For races under other blocks than the one that was made up: the file's other kernels need time too."""
_PLACING_WORK = 2_000_000
_SHARE = 0.6
"""Of a file's time that one kernel may take."""
_EXECUTING_SHARE = 0.3
"""The same for one execution of it, so that what it showed can be evaluated."""


class _Found(Struct, eq=False):
    """What the launches so far have shown."""

    launches: list[LaunchFacts]
    accesses: AccessCollector
    alignments: AlignmentCollector
    bounds: BoundsCollector
    branches: BranchCollector
    barriers: BarrierCollector
    races: RaceCollector
    wrong_pitches: list[PitchMismatch]

    @classmethod
    def none(cls, options: AnalysisOptions) -> _Found:
        spellings = Spellings(options)
        return cls(
            [], AccessCollector(spellings), AlignmentCollector(), BoundsCollector(), BranchCollector(),
            BarrierCollector(), RaceCollector(options.race_scope, spellings), [],
        )  # fmt: skip


class KernelAnalysis(Struct, eq=False):
    graph: Graph
    function: ir.Function
    configurations: Sequence[Configuration]
    assumed: Assumptions
    deadline: float
    """On the clock of this process; launches that are left then are only listed."""
    options: AnalysisOptions
    usage: Usage | None
    """What the compiled kernel takes, where that is known."""
    axioms: Sequence[ir.Function] = ()
    """What the file states about all of its kernels."""
    need: Need | None = None
    """What of its code not every GPU has."""
    right_pitches: set[object] = field(default_factory=set)
    """What other analyses of the file found no wrong pitch in (`collect.pitches`)."""
    last: Sequence[tuple[int, Configuration]] = ()
    """See `Chosen.last`."""
    watch: Watch | None = None
    given_up: bool = False
    """Whether launches were left at the deadline."""
    gaps: dict[tuple[str, int, str], Gap] = field(default_factory=dict)
    _until: Deadline = NEVER
    """For all launches of this kernel."""
    _shared: dict[ir.Symbol, int] = field(default_factory=dict)
    _flow: ControlFlow | None = None
    _needed: set[Gate] = field(default_factory=set)
    """Where a barrier is missing."""

    def facts(self) -> KernelFacts:
        self._until = Deadline(self.deadline).within(_SHARE * self.options.seconds)
        found = _Found.none(self.options)
        for index, configuration in enumerate(self.configurations):
            if self._until.is_over():
                found.launches.append(launch_facts(configuration, self.graph))
                self.given_up = True
                self.gap(self.function.name_span, "the file takes too long; it was given up")
                continue
            with named_after_parameters(configuration, self.graph):
                self._under(index, configuration, found)
        for index, configuration in self.last:
            if not self._until.is_over():
                with named_after_parameters(configuration, self.graph):
                    self._under_last(index, configuration, found)
        if found.races.has_unordered:
            found.races.number(self._flow or ControlFlow(self.function))
        for text in found.races.missed:
            self.gap(self.function.name_span, text, "races")
        for problem in self.function.problems:
            self.gap(self.function.name_span, not_resolved(problem), "unresolved", problem)
        if self.function.launches_kernels:
            self.gap(self.function.name_span, "the kernels that it launches")
        return self._together(found)

    def _under(self, index: int, configuration: Configuration, found: _Found) -> None:
        """Adds what is found under one launch."""
        execution = self._execute(index, configuration)
        found.launches.append(execution.launch)
        if self.watch is not None:
            self.watch(execution)
        for collector in (found.accesses, found.branches):
            collector.add(execution)
        if not self._fails(configuration):
            for checks in (found.alignments, found.bounds):
                checks.add(execution)
            found.wrong_pitches += pitches(
                self.function, configuration, execution, self._executing_until(), self.right_pitches
            )
        trial = trial_of(execution)
        found.barriers.add(execution, trial)
        self._with_own_strides(found.barriers, execution, configuration)
        found.races.add(execution, trial)
        self._doubt_block(found.races, execution, trial)
        found.barriers.drop(index, self._redundant_barriers(index, configuration, execution, trial))
        self._with_other_blocks(found.races, index, configuration)
        self._place_barriers(found.races, index, configuration)

    def _fails(self, configuration: Configuration) -> bool:
        """Whether the device refuses the launch for its threads: no address is wrong in a kernel that is not run. Its
        races are those of a block that fits, too."""
        return prod(configuration.block) > self._target().max_threads_per_block

    def _under_last(self, index: int, configuration: Configuration, found: _Found) -> None:
        """Adds what is found under the last launch of a host loop where the first one's figures are too good to stand
        for it: with a stride of 32 other than with one of 1."""
        accesses = AccessCollector(Spellings(self.options))
        accesses.add(self._execute(index, configuration, quiet=True))
        if found.accesses.is_exceeded_by(accesses, index):
            self._under(len(found.launches), configuration, found)

    def _together(self, found: _Found) -> KernelFacts:
        function = self.function
        target = self._target()
        resources = resources_of(function, sum(self._shared.values()), self.usage, self.options, target)
        return KernelFacts(
            function.name,
            function.instantiation,
            Place(*function.span),
            Place(*function.name_span),
            tuple(found.launches),
            found.accesses.facts(),
            resources,
            misalignments=found.alignments.facts(),
            out_of_bounds=found.bounds.facts(),
            pitches=tuple(found.wrong_pitches),
            branches=found.branches.facts(),
            barriers=found.barriers.facts(),
            races=found.races.facts(),
            unmasked_calls=found.barriers.unmasked(),
            occupancy=occupancies(found.launches, resources, target),
            parameters=parameter_facts(function),
            gaps=tuple(self.gaps.values()),
            need=self.need,
            asks_block_size=asks_block_size(function),
        )

    def _target(self) -> Target:
        """The GPU that it is judged by; rules that ask for one that is known look at the need themselves."""
        configured = find_target(self.options.target)
        return target_for(configured, self.need) or configured

    def without_facts(self, reason: str) -> KernelFacts:
        """That the kernel is there, and why nothing is known about it."""
        function = self.function
        self.gap(function.name_span, reason)
        launches = tuple(launch_facts(configuration, self.graph) for configuration in self.configurations)
        return KernelFacts(
            function.name, function.instantiation, Place(*function.span), Place(*function.name_span), launches, (),
            Resources(None), parameters=parameter_facts(function), gaps=tuple(self.gaps.values()), need=self.need,
        )  # fmt: skip

    def _doubt_block(self, races: RaceCollector, execution: Execution, trial: Trial) -> None:
        """Races of a block that was made up, and that the kernel is not made for, say nothing about the right one."""
        launch, index = execution.launch, execution.view.index
        array = outgrown(execution, trial) if launch.block_is_made_up and races.has_certain(index) else None
        if array is not None:
            races.doubt(index, f"no launch in sight gives the block, and `{array}` has no room for {launch.block}")

    def _with_other_blocks(self, races: RaceCollector, index: int, configuration: Configuration) -> None:
        """Races under a block that was made up are certain only if they are there with other blocks too."""
        end = self.graph.work + _CONFIRMING_WORK
        for block in other_blocks(configuration, self.function):
            if not races.has_certain(index):
                return
            if self._is_over(end):
                races.doubt(index, "no launch in sight gives the block, and others were not tried in time")
                return
            again = self._execute(index, replace(configuration, block=block), quiet=True)
            races.confirm(again, trial_of(again))

    def _with_own_strides(self, barriers: BarrierCollector, execution: Execution, configuration: Configuration) -> None:
        """A kernel whose loops go on by 128 is meant for blocks of 128 threads: barriers under a block that was made up
        are divergent only if they are so with that one, too."""
        if not execution.launch.block_is_made_up:
            return
        for threads in sorted(barriers.strides(execution)):
            if WARP_LANES <= threads <= MAX_THREADS and threads != prod(configuration.block):
                again = self._execute(execution.view.index, replace(configuration, block=(threads, 1, 1)), quiet=True)
                barriers.confirm(again, trial_of(again))

    def _redundant_barriers(
        self, index: int, configuration: Configuration, execution: Execution, trial: Trial
    ) -> set[ir.Span]:
        """Those that order nothing, with other arguments and blocks either."""
        found = redundant_barriers(execution, trial) if not self.gaps else set()
        if found:
            again = self._execute(index, another_use(configuration, self.function, self.graph), quiet=True)
            found &= redundant_barriers(again, trial_of(again))
        return found

    def _place_barriers(self, races: RaceCollector, index: int, configuration: Configuration) -> None:
        """Looks for barriers against the races, by trying them."""
        end = self.graph.work + _PLACING_WORK
        if not races.has_unordered:
            return
        flow = self._flow = self._flow or ControlFlow(self.function)
        attempts = Attempts(races.crossings(index, flow), self._needed)
        while (attempt := attempts.next()) is not None and not self._is_over(end):
            gate, call = attempt
            changed = with_barrier(self.function, gate, call)
            variant = self._execute(index, configuration, changed, quiet=True)
            trial = trial_of(variant)
            if not all_come(gate.span, variant, trial) or not self._all_come_elsewhere(
                gate, changed, index, configuration
            ):
                attempts.skipped(gate, call)
                continue
            left = races.place(index, self._barrier_fix(flow, gate, call), variant, trial)
            if attempts.placed(gate, call, left):
                self._needed.add(gate)

    def _all_come_elsewhere(
        self, gate: Gate, changed: ir.Function, index: int, configuration: Configuration
    ) -> bool:
        """Whether a barrier is safe with other arguments and blocks too: `if (i < n)` is true for all threads of this
        launch, and not for those of the next."""
        again = self._execute(index, another_use(configuration, self.function, self.graph), changed, quiet=True)
        return all_come(gate.span, again, trial_of(again))

    def _barrier_fix(self, flow: ControlFlow, gate: Gate, call: BarrierCall) -> BarrierFix:
        place = Place(*gate.span)
        if not flow.is_plain(gate):
            return BarrierFix(call, place, gate.where)
        text = source_text(place.path, self.options)
        return BarrierFix(call, place, gate.where, insertions(text, place, gate.where, f"{call}();"))

    def _is_over(self, end: int) -> bool:
        """Whether a share of the work is used up, which is the same on every machine, or the time for the file, which
        is said to the user."""
        if self._until.is_over():
            self.given_up = True
        return self.given_up or self.graph.work > end

    def _view(self, index: int, configuration: Configuration) -> LaunchView:
        return LaunchView(
            self.graph, index, configuration.block, configuration.grid, configuration.assumptions,
            self._stated(configuration), configuration.guards,
            dict(generic_values(self.graph, configuration.open_extents)) or None,
        )  # fmt: skip

    def _stated(self, configuration: Configuration) -> tuple[Node, ...]:
        """What the user states, under which generic values are settled."""
        names = dict(_named((s.name, v) for s, v in configuration.arguments.items()))
        for axis, extent, blocks in zip("xyz", configuration.block, configuration.grid, strict=True):
            names[f"blockDim.{axis}"] = self.graph.const(extent)
            names[f"gridDim.{axis}"] = blocks
        assumed = self.assumed.conditions(self.graph, names)
        settle(self.graph, assumed)
        return assumed

    def _execute(
        self, index: int, configuration: Configuration, function: ir.Function | None = None, quiet: bool = False
    ) -> Execution:
        """Executes the kernel, or a variant of it; `quiet` where its gaps were listed before."""
        function = function or self.function
        # Loops may be counted out by numbers that options change, and which the user may have said something about.
        self._stated(configuration)
        executor, reason = self._run(configuration, function)
        if not quiet:
            if reason is not None:
                self.gap(self.function.name_span, reason)
            for passed in executor.gaps:
                self.gap(passed.span, passed.reason, passed.kind, passed.problem)
        for symbol, allocation in executor.globals.items():
            if symbol.storage == "shared" and allocation.bytes:
                self._shared[symbol] = allocation.bytes
        # From here on generic values are used, and only now is known what is divided by what.
        most_blocks = self._target().max_grid_dimensions
        settle_sizes(self.graph, configuration.grid, most_blocks, configuration.guards)
        view = self._view_of(index, configuration, executor)
        # What an argument is taken for may depend on the assumptions, which the view has settled.
        numbers = Numbers(self.graph)
        arguments, allocated = argument_values(configuration, numbers), allocated_bytes(configuration, numbers)
        launch = replace(
            launch_facts(configuration, self.graph), arguments=arguments, allocated=allocated,
            assumptions=view.assumptions,
        )  # fmt: skip
        given = configuration.shared if configuration.source == "launch-site" else None
        shared = int(given.value) if given is not None and given.is_const else None
        return Execution(
            function, launch, view, executor.memory.events, executor.steps, reason is None, executor.globals,
            executor.state.conditions, self._until, shared, self.target.compute_capability,
            tuple(executor.unseen),
        )  # fmt: skip

    def _run(self, configuration: Configuration, function: ir.Function) -> tuple[Executor, str | None]:
        """The executor after it has executed the kernel, and why it gave up, if it did."""
        x, y, z = (self.graph.const(v) for v in configuration.block)
        executor = Executor(self.graph, Extents((x, y, z), configuration.grid), deadline=self._executing_until())
        try:
            executor.run_kernel(function, configuration.arguments, self.axioms)
        except GaveUp as reason:
            return executor, str(reason)
        return executor, None

    def _view_of(self, index: int, configuration: Configuration, executor: Executor) -> LaunchView:
        """The launch as the execution has left it, with what that took for granted."""
        events = executor.memory.events
        reached = {part for event in events for part in event.context.conditions}
        limits = settle_limits(self.graph, executor.state.conditions, reached, configuration.guards)
        view = self._view(index, configuration)
        view.events, view.guards = events, (*view.guards, *limits)
        view.assumed = (*view.assumed, *executor.assumed, *kept(self.graph, executor.rests_on))
        view.assumptions = tuple(dict.fromkeys((*view.assumptions, *map(stated, executor.rests_on))))
        if view.open_block is not None and not view.open_block.keys() >= set(executor.rests_on):
            view.open_block = None
        return view

    def _executing_until(self) -> Deadline:
        return self._until.within(_EXECUTING_SHARE * self.options.seconds)

    def gap(
        self, span: ir.Span, reason: str, kind: ReasonKind = "other", problem: Problem | None = None
    ) -> None:
        gap = Gap(span.path, span.line, reason, kind=kind, problem=problem)
        self.gaps.setdefault((span.path, span.line, reason), gap)


def _named(values: Iterable[tuple[str, Value | ValuePlace]]) -> Iterator[tuple[str, Node]]:
    """The numbers among values, fields of records included: `p.width`."""
    for name, value in values:
        if isinstance(value, Node):
            yield name, value
        elif isinstance(value, RecordValue):
            yield from _named((f"{name}.{field_}", part) for field_, part in value.fields.items())
