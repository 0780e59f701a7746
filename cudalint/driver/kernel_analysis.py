"""The analysis of one instantiation of a kernel: it is executed under each launch, and facts of every kind are
collected from the executions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.accesses import AccessCollector
from cudalint.collect.provider import Provider, Run
from cudalint.collect.providers import providers_of
from cudalint.collect.resources import resources_of
from cudalint.evaluate.checks.room import threads_with_room
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.views import LaunchView
from cudalint.facts import Gap, KernelFacts, LaunchFacts, Place, Resources
from cudalint.facts.files import not_resolved, without
from cudalint.hardware.features import Need, target_for
from cudalint.hardware.targets import Target, find_target
from cudalint.interpreter.device.events import AccessEvent, CopyEvent
from cudalint.interpreter.device.executor import Executor, Extents, GaveUp
from cudalint.interpreter.device.executor import Gap as PassedOver
from cudalint.interpreter.device.values import Place as ValuePlace
from cudalint.interpreter.device.values import RecordValue, Value
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind, Kinds
from cudalint.launches.arguments import named_after_parameters
from cudalint.launches.blocks import generic_values, with_room
from cudalint.launches.configuration import Configuration, Numbers, asks_block_size, launch_facts
from cudalint.launches.parameter_facts import allocated_bytes, argument_values, parameter_facts
from cudalint.options.analysis import AnalysisOptions
from cudalint.processes.deadline import NEVER, Deadline
from cudalint.processes.timings import Phase, timed
from cudalint.reasons import Problem, ReasonKind
from cudalint.scenarios.choosing import for_kernel, for_limits, for_statements
from cudalint.toolkit.usage import Usage
from cudalint.values.assumptions import Assumptions
from cudalint.values.defaults import kept, stated
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node

Watch = Callable[[Execution], None]
"""Is shown each execution of a kernel under one of its launches, while the graph holds its numbers."""

_SHARE = 0.6
"""Of a file's time that one kernel may take."""
_EXECUTING_SHARE = 0.3
"""The same for one execution of it, so that what it showed can be evaluated."""


_COMPARED: Kinds = frozenset({"accesses"})
"""Which launches of a host loop are evaluated depends on the figures under the first one and the last."""

_ACCESSES = (AccessEvent, CopyEvent)

TAKES_TOO_LONG = "the file takes too long; it was given up"


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
    evaluated: int = 0
    """Launches of which all is known that could be collected."""
    gaps: dict[tuple[str, int, str], Gap] = field(default_factory=dict)
    _until: Deadline = NEVER
    """For all launches of this kernel."""
    _shared: dict[ir.Symbol, int] = field(default_factory=dict)
    _unread: list[PassedOver] = field(default_factory=list)
    """Calls of which nothing is known."""
    _has_accesses: bool = False
    _launches: list[LaunchFacts] = field(default_factory=list)
    _providers: list[Provider] = field(default_factory=list)
    _at: int | None = None
    """The provider that is shown a launch; None while that is executed."""

    def facts(self) -> KernelFacts:
        self._until = Deadline(self.deadline).within(_SHARE * self.options.seconds)
        kinds = self.options.kinds | _COMPARED if self.last else self.options.kinds
        self._providers = providers = [provider.of(self) for provider in providers_of(kinds)]
        for index, configuration in enumerate(self.configurations):
            if self._until.is_over():
                self._launches.append(launch_facts(configuration, self.graph))
                self.given_up = True
                self.gap(self.function.name_span, TAKES_TOO_LONG, "time")
                continue
            with named_after_parameters(configuration, self.graph):
                self._under(index, configuration, providers)
        for index, configuration in self.last:
            if not self._until.is_over():
                with named_after_parameters(configuration, self.graph):
                    self._under_last(index, configuration, providers)
        for self._at, provider in enumerate(providers):
            with timed(phase_of(provider.kind)):
                provider.finish(self)
        for problem in self.function.problems:
            self.gap(self.function.name_span, not_resolved(problem), "unresolved", problem)
        if not self._has_accesses:
            # It is not known to touch no memory: what it calls may do all that it is there for.
            why = ", as nothing instantiates the template" if self.function.is_template_pattern else ""
            for unread in self._unread:
                self.gap(unread.span, f"{unread.reason}{why}", unread.kind)
        if self.function.launches_kernels:
            self.gap(self.function.name_span, "the kernels that it launches")
        return self._together(providers)

    def facts_so_far(self) -> KernelFacts:
        """After `facts` was interrupted: without what the provider has that was at it, where the accesses of a launch
        are known."""
        known = len(self._launches)
        if self._at is not None:
            interrupted = self._providers[self._at]
            if isinstance(interrupted, AccessCollector):
                known -= 1
                interrupted.forget(known)
            else:
                self._providers[self._at] = type(interrupted).of(self)
        if not known:
            return self.without_facts(TAKES_TOO_LONG, "time")
        rest = self.configurations[len(self._launches) :]
        self._launches += [launch_facts(configuration, self.graph) for configuration in rest]
        self.gap(self.function.name_span, TAKES_TOO_LONG, "time")
        return self._together(self._providers)

    def _under(self, index: int, configuration: Configuration, providers: Sequence[Provider]) -> None:
        """Shows one launch to the providers."""
        self._at = None
        execution = self._execute(index, configuration)
        room = threads_with_room(execution) if configuration.source == "default" else None
        fitting = with_room(configuration, *room, self.graph) if room is not None else None
        if fitting is not None:
            configuration, execution = fitting, self._execute(index, fitting)
        self._launches.append(execution.launch)
        if self.watch is not None:
            self.watch(execution)
        run = Run(self, index, configuration, execution)
        for self._at, provider in enumerate(providers):
            with timed(phase_of(provider.kind)):
                provider.add(run)
        for self._at, provider in enumerate(providers):
            with timed(phase_of(provider.kind)):
                provider.add_last(run)
        self.evaluated += 1

    def _under_last(self, index: int, configuration: Configuration, providers: Sequence[Provider]) -> None:
        """Adds what is found under the last launch of a host loop where the first one's figures are too good to stand
        for it: with a stride of 32 other than with one of 1."""
        last = AccessCollector.of(self)
        with timed("figures"):
            last.add(Run(self, index, configuration, self.again(index, configuration)))
            is_worse = any(isinstance(each, AccessCollector) and each.is_exceeded_by(last, index) for each in providers)
        if is_worse:
            self._under(len(self._launches), configuration, providers)

    def _together(self, providers: Sequence[Provider]) -> KernelFacts:
        function = self.function
        facts = KernelFacts(
            function.name,
            function.instantiation,
            Place(*function.span),
            Place(*function.name_span),
            tuple(self._launches),
            (),
            resources_of(function, sum(self._shared.values()), self.usage, self.options, self.target),
            parameters=parameter_facts(function),
            gaps=tuple(self.gaps.values()),
            need=self.need,
            asks_block_size=asks_block_size(function),
            collected=self.options.kinds,
        )
        with timed("figures"):
            for provider in providers:
                facts = provider.put_into(facts)
        return without(facts, frozenset(provider.kind for provider in providers) - self.options.kinds)

    @property
    def target(self) -> Target:
        """The GPU that it is judged by; rules that ask for one that is known look at the need themselves."""
        configured = find_target(self.options.target)
        return target_for(configured, self.need) or configured

    @property
    def is_whole(self) -> bool:
        return not self.gaps and not self.function.problems

    def has_gap(self, reason: str, kind: ReasonKind) -> None:
        self.gap(self.function.name_span, reason, kind)

    def without_facts(self, reason: str, kind: ReasonKind = "other") -> KernelFacts:
        """That the kernel is there, and why nothing is known about it."""
        function = self.function
        self.gap(function.name_span, reason, kind)
        launches = tuple(launch_facts(configuration, self.graph) for configuration in self.configurations)
        return KernelFacts(
            function.name, function.instantiation, Place(*function.span), Place(*function.name_span), launches, (),
            Resources(None), parameters=parameter_facts(function), gaps=tuple(self.gaps.values()), need=self.need,
            collected=self.options.kinds,
        )  # fmt: skip

    def is_over(self, end: int) -> bool:
        """Whether a share of the work is used up, which is the same on every machine, or the time for the file, which
        is said to the user."""
        if self._until.is_over():
            self.given_up = True
        return self.given_up or self.graph.work > end

    def again(self, index: int, configuration: Configuration, function: ir.Function | None = None) -> Execution:
        """The kernel, or a variant of it, executed once more, of which the gaps were listed before."""
        return self._execute(index, configuration, function, quiet=True)

    def _view(self, index: int, configuration: Configuration) -> LaunchView:
        return LaunchView(
            self.graph, index, configuration.block, configuration.grid, configuration.assumptions,
            self._stated(configuration), configuration.guards,
            dict(generic_values(self.graph, configuration.open_extents)) or None,
        )  # fmt: skip

    def _stated(self, configuration: Configuration) -> tuple[Node, ...]:
        """What the user states, under which generic values are settled."""
        names = dict(named((s.name, v) for s, v in configuration.arguments.items()))
        for axis, extent, blocks in zip("xyz", configuration.block, configuration.grid, strict=True):
            names[f"blockDim.{axis}"] = self.graph.const(extent)
            names[f"gridDim.{axis}"] = blocks
        assumed = self.assumed.conditions(self.graph, names)
        self.graph.valuation = for_statements(self.graph, assumed)
        return assumed

    def _execute(
        self, index: int, configuration: Configuration, function: ir.Function | None = None, quiet: bool = False
    ) -> Execution:
        """Executes the kernel, or a variant of it; `quiet` where its gaps were listed before."""
        function = function or self.function
        # Loops may be counted out by numbers that options change, and which the user may have said something about.
        self._stated(configuration)
        with timed("kernels"):
            executor, reason = self._run(configuration, function)
        if not quiet:
            if reason is not None:
                self.gap(self.function.name_span, reason)
            for passed in executor.gaps:
                self.gap(passed.span, passed.reason, passed.kind, passed.problem)
            self._unread += executor.unread
            self._has_accesses |= any(isinstance(event, _ACCESSES) for event in executor.memory.events)
        for symbol, allocation in executor.globals.items():
            if symbol.storage == "shared" and allocation.bytes:
                self._shared[symbol] = allocation.bytes
        # From here on generic values are used, and only now is known what is divided by what.
        most = [*zip(configuration.grid, self.target.max_grid_dimensions, strict=True)]
        most.append((configuration.shared, self.target.shared_per_block_opt_in))
        threads = math.prod(configuration.block)
        self.graph.valuation = for_kernel(self.graph, configuration.grid, threads, most, configuration.guards)
        self.graph.forget_uses()
        view = self._view_of(index, configuration, executor)
        # What an argument is taken for may depend on the assumptions, which the view has settled.
        numbers = Numbers(self.graph)
        arguments, allocated = argument_values(configuration, numbers), allocated_bytes(configuration, numbers)
        launch = replace(
            launch_facts(configuration, self.graph), arguments=arguments, allocated=allocated,
            assumptions=view.assumptions,
        )  # fmt: skip
        given = configuration.shared if configuration.source == "launch-site" else None
        shared = given.whole if given is not None else None
        return Execution(
            function, launch, view, executor.memory.events, executor.steps, reason is None, executor.globals,
            executor.state.conditions, self._until, shared, self.target.compute_capability,
            tuple(executor.unseen), executor.computations,
        )  # fmt: skip

    def _run(self, configuration: Configuration, function: ir.Function) -> tuple[Executor, str | None]:
        """The executor after it has executed the kernel, and why it gave up, if it did."""
        x, y, z = (self.graph.const(v) for v in configuration.block)
        executor = Executor(self.graph, Extents((x, y, z), configuration.grid), deadline=self.executing_until())
        executor.counts = any(provider.counts for provider in providers_of(self.options.kinds))
        try:
            executor.run_kernel(function, configuration.arguments, self.axioms)
        except GaveUp as reason:
            return executor, str(reason)
        return executor, None

    def _view_of(self, index: int, configuration: Configuration, executor: Executor) -> LaunchView:
        """The launch as the execution has left it, with what that took for granted."""
        events = executor.memory.events
        reached = {part for event in events for part in event.context.conditions}
        self.graph.valuation, limits = for_limits(
            self.graph, executor.state.conditions, reached, configuration.guards
        )
        view = self._view(index, configuration)
        view.guards = (*view.guards, *limits)
        view.assumed = (*view.assumed, *executor.assumed, *kept(self.graph, executor.rests_on))
        defaults = (stated(self.graph, symbol) for symbol in executor.rests_on)
        view.assumptions = tuple(dict.fromkeys((*view.assumptions, *defaults)))
        if view.open_block is not None and not view.open_block.keys() >= set(executor.rests_on):
            view.open_block = None
        return view

    def executing_until(self) -> Deadline:
        return self._until.within(_EXECUTING_SHARE * self.options.seconds)

    def gap(self, span: ir.Span, reason: str, kind: ReasonKind = "other", problem: Problem | None = None) -> None:
        gap = Gap(span.path, span.line, reason, kind=kind, problem=problem)
        self.gaps.setdefault((span.path, span.line, reason), gap)


_ORDER: Kinds = frozenset({"races", "barriers"})
"""What is about the order between threads."""


def phase_of(kind: Kind) -> Phase:
    return "races" if kind in _ORDER else "figures"


def named(values: Iterable[tuple[str, Value | ValuePlace]]) -> Iterator[tuple[str, Node]]:
    """The numbers among values, fields of records included: `p.width`."""
    for name, value in values:
        if isinstance(value, Node):
            yield name, value
        elif isinstance(value, RecordValue):
            yield from named((f"{name}.{field_}", part) for field_, part in value.fields.items())
