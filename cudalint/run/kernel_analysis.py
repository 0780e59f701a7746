"""The analysis of one instantiation of a kernel: it is executed in all worlds of each launch, and facts of every kind
are computed from the traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.execute.trace import Gap as Passed
from cudalint.execute.trace import Trace
from cudalint.facts import Gap, KernelFacts, LaunchFacts, Place, Resources
from cudalint.facts.files import not_resolved, without
from cudalint.facts.needs import Need
from cudalint.hardware.features import target_for
from cudalint.hardware.targets import Target, find_target
from cudalint.host.executor.values import Place as ValuePlace
from cudalint.host.executor.values import RecordValue, Value
from cudalint.host.values.assumptions import Assumptions
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.kinds import EVERY_KIND, NO_KIND, Kind, Kinds
from cudalint.launches.arguments import named_after_parameters
from cudalint.launches.blocks import with_room
from cudalint.launches.configuration import Configuration, asks_block_size, launch_facts
from cudalint.launches.launch_facts import launch_facts_of
from cudalint.launches.parameter_facts import parameter_facts
from cudalint.measure.bounds import threads_with_room
from cudalint.measure.executed import Compiled, in_worlds
from cudalint.measure.providers.accesses import AccessCollector
from cudalint.measure.providers.provider import Provider, Run
from cudalint.measure.providers.providers import providers_of
from cudalint.measure.providers.resources import resources_of
from cudalint.measure.work.shared import bytes_of_shared
from cudalint.options.analysis import AnalysisOptions
from cudalint.reasons import Problem, ReasonKind
from cudalint.run.batches import Batches, Kept
from cudalint.system.processes.deadline import NEVER, Deadline
from cudalint.system.processes.timings import Phase, timed
from cudalint.toolchain.toolkit.usage import Usage

Watch = Callable[[Run], None]
"""Is shown each execution of a kernel under one of its launches."""

_SHARE = 0.6
"""Of a file's time that one kernel may take."""
_EXECUTING_SHARE = 0.3
"""The same for one execution of it, so that what it showed can be evaluated."""

_WORK_OF_A_STEP = 16
"""Of an execution, with what is measured of it: about 60 us of CPU time, where the graph's unit of work takes 4."""
_WORK_OF_A_LAUNCH = 15_000
"""Which is executed, however short the kernel is: its space is made, worlds are chosen, and all providers look at it:
about 60 ms."""
_ENOUGH_WORK = 150_000
"""For launches of one kernel, about a second: those between others are left then."""
_COMPARED: Kinds = frozenset({"accesses"})
"""Which launches of a host loop are evaluated depends on the figures under the first one and the last."""

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
    compiled: Compiled = field(default_factory=Compiled)
    """What functions of the file were compiled to."""
    need: Need | None = None
    """What of its code not every GPU has."""
    right_pitches: set[object] = field(default_factory=set)
    """What other analyses of the file found no wrong pitch in (`measure/pitches.py`)."""
    last: Sequence[tuple[int, Configuration]] = ()
    """See `Chosen.last`."""
    between: frozenset[int] = frozenset()
    """Positions of launches whose blocks and grids are between those of others: they are evaluated where that is little
    work."""
    left: list[Configuration] = field(default_factory=list)
    """Those of them that were not."""
    watch: Watch | None = None
    is_edited: bool = False
    """Whether it is a kernel with edits that are tried."""
    batches: Batches = field(default_factory=Batches)
    """What it was executed in before an edit."""
    measured: Batches = field(default_factory=Batches)
    """What it is executed in."""
    given_up: bool = False
    """Whether launches were left at the deadline."""
    evaluated: int = 0
    """Launches of which all is known that could be collected."""
    gaps: dict[tuple[str, int, str], Gap] = field(default_factory=dict)
    _until: Deadline = NEVER
    """For all launches of this kernel."""
    _unread: list[Passed] = field(default_factory=list)
    """Calls of which nothing is known."""
    _has_accesses: bool = False
    _launches: list[LaunchFacts] = field(default_factory=list)
    _providers: list[Provider] = field(default_factory=list)
    _at: int | None = None
    """The provider that is shown a launch; None while that is executed."""
    _in_part: dict[int, Kinds] = field(default_factory=dict)
    """See `LaunchFacts`, by launch."""

    def facts(self) -> KernelFacts:
        self._until = Deadline(self.deadline).within(_SHARE * self.options.seconds)
        kinds = self.options.kinds | _COMPARED if self.last else self.options.kinds
        self._providers = providers = [provider.of(self) for provider in providers_of(kinds)]
        begun = self.graph.work
        for index, configuration in enumerate(self.configurations):
            if self._until.is_over():
                self._list(configuration)
                self.given_up = True
                self.gap(self.function.name_span, TAKES_TOO_LONG, "time")
                continue
            if index in self.between and self._is_enough(index, begun):
                self._list(configuration)
                self.left.append(configuration)
                self.measured.left.add(index)
                continue
            before = self.compiled.steps
            with named_after_parameters(configuration, self.graph):
                self._under(index, configuration, providers)
            self.graph.work += _WORK_OF_A_LAUNCH + _WORK_OF_A_STEP * (self.compiled.steps - before)
        for index, configuration in self.last:
            if not self._until.is_over():
                with named_after_parameters(configuration, self.graph):
                    self._under_last(index, configuration, providers)
        for phase, numbered in by_phase(providers):
            with timed(phase):
                for self._at, provider in numbered:
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
            self.has_part(known - 1, EVERY_KIND)
            if isinstance(interrupted, AccessCollector):
                known -= 1
                interrupted.forget(known)
            else:
                self._providers[self._at] = type(interrupted).of(self)
        if not known:
            return self.without_facts(TAKES_TOO_LONG, "time")
        for configuration in self.configurations[len(self._launches) :]:
            self._list(configuration)
        self.gap(self.function.name_span, TAKES_TOO_LONG, "time")
        return self._together(self._providers)

    def _is_enough(self, index: int, begun: int) -> bool:
        """Whether a launch that is between others is left; in trials of edits those of the analysis before."""
        if self.is_edited:
            return index in self.batches.left
        return self.graph.work - begun > _ENOUGH_WORK

    def _under(self, index: int, configuration: Configuration, providers: Sequence[Provider]) -> None:
        """Shows one launch to the providers."""
        self._at = None
        # The number of a loop's last launch depends on which others were evaluated.
        is_first = index < len(self.configurations)
        kept = self.batches.of(index, configuration, self.function) if is_first else None
        run = self._run(index, configuration, kept)
        room = threads_with_room(run.executed.trace) if configuration.source == "default" else None
        fitting = with_room(configuration, *room, self.graph) if room is not None else None
        if fitting is not None:
            run = self._run(index, fitting)
        elif is_first:
            self.measured.keep(index, configuration, run.chosen)
        if run.executed.trace.cut:
            self.has_part(len(self._launches), EVERY_KIND)
        self._note_gaps(run.executed.trace)
        self._launches.append(run.launch)
        if self.watch is not None:
            self.watch(run)
        for phase, numbered in by_phase(providers):
            with timed(phase):
                for self._at, provider in numbered:
                    provider.add(run)
        for phase, numbered in by_phase(providers):
            with timed(phase):
                for self._at, provider in numbered:
                    provider.add_last(run)
        if self.is_edited:
            # The kernel before the edit had no wrong pitch under any launch.
            self.right_pitches.add(self.function.span)
        self.evaluated += 1

    def _under_last(self, index: int, configuration: Configuration, providers: Sequence[Provider]) -> None:
        """Adds what is found under the last launch of a host loop where the first one's figures are too good to stand
        for it: with a stride of 32 other than with one of 1."""
        last = AccessCollector.of(self)
        with timed("figures"):
            last.add(self._run(index, configuration))
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
            tuple(self._with_parts(self._launches)),
            (),
            resources_of(
                function, sum(bytes_of_shared(function).values()), self.usage, self.options, self.target
            ),
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
    def until(self) -> Deadline:
        return self._until

    @property
    def is_whole(self) -> bool:
        return not self.gaps and not self.function.problems

    def has_gap(self, reason: str, kind: ReasonKind) -> None:
        self.gap(self.function.name_span, reason, kind)

    def has_part(self, launch: int, kinds: Kinds) -> None:
        """Notes that facts of some kinds may be missing under a launch."""
        self._in_part[launch] = self._in_part.get(launch, NO_KIND) | kinds

    def _with_parts(self, launches: Iterable[LaunchFacts]) -> Iterator[LaunchFacts]:
        for index, launch in enumerate(launches):
            missing = self._in_part.get(index)
            yield replace(launch, in_part=missing) if missing else launch

    def without_facts(self, reason: str, kind: ReasonKind = "other") -> KernelFacts:
        """That the kernel is there, and why nothing is known about it."""
        function = self.function
        self.gap(function.name_span, reason, kind)
        launches = (launch_facts(each, self.graph) for each in self.configurations)
        listed = tuple(replace(launch, in_part=EVERY_KIND) for launch in launches)
        return KernelFacts(
            function.name, function.instantiation, Place(*function.span), Place(*function.name_span), listed, (),
            Resources(None), parameters=parameter_facts(function), gaps=tuple(self.gaps.values()), need=self.need,
            collected=self.options.kinds,
        )  # fmt: skip

    def _list(self, configuration: Configuration) -> None:
        """Adds a launch that is not evaluated."""
        self.has_part(len(self._launches), EVERY_KIND)
        self._launches.append(launch_facts(configuration, self.graph))

    def is_over(self) -> bool:
        """Whether the time for the file is used up, which is said to the user."""
        if self._until.is_over():
            self.given_up = True
        return self.given_up

    def _run(self, index: int, configuration: Configuration, kept: Kept | None = None) -> Run:
        """One launch, executed; in the worlds and blocks that are `kept` of it, if any."""
        statements, until = self._statements(configuration), self.executing_until()
        with timed("kernels"):
            if kept is not None:
                self.compiled.capability = self.target.compute_capability
                chosen = kept.executed(self.function, self.compiled, until)
            else:
                chosen = in_worlds(
                    configuration, self.function, self.graph, statements, self.target, self.compiled, until
                )
        launch = launch_facts_of(configuration, self.function, chosen.executed.batch, self.graph)
        return Run(self, index, configuration, launch, chosen, self.compiled, statements, self.compiled.steps)

    def _statements(self, configuration: Configuration) -> tuple[Node, ...]:
        """What the user states of a launch's numbers."""
        names = dict(named((s.name, v) for s, v in configuration.arguments.items()))
        for axis, extent, blocks in zip("xyz", configuration.block, configuration.grid, strict=True):
            names[f"blockDim.{axis}"] = self.graph.const(extent)
            names[f"gridDim.{axis}"] = blocks
        return self.assumed.conditions(self.graph, names)

    def _note_gaps(self, trace: Trace) -> None:
        if trace.cut:
            self.gap(self.function.name_span, trace.cut)
        for passed in trace.gaps:
            self.gap(passed.span, passed.reason, passed.kind, passed.problem)
        self._unread += trace.unread
        self._has_accesses |= bool(trace.accesses)

    def executing_until(self) -> Deadline:
        return self._until.within(_EXECUTING_SHARE * self.options.seconds)

    def gap(self, span: ir.Span, reason: str, kind: ReasonKind = "other", problem: Problem | None = None) -> None:
        gap = Gap(span.path, span.line, reason, kind=kind, problem=problem)
        self.gaps.setdefault((span.path, span.line, reason), gap)


_ORDER: Kinds = frozenset({"races", "barriers"})
"""What is about the order between threads."""


def by_phase(providers: Sequence[Provider]) -> Iterator[tuple[Phase, Iterator[tuple[int, Provider]]]]:
    """Those that follow one another in one phase, each with its number."""
    return groupby(enumerate(providers), lambda each: phase_of(each[1].kind))


def phase_of(kind: Kind) -> Phase:
    return "races" if kind in _ORDER else "figures"


def named(values: Iterable[tuple[str, Value | ValuePlace]]) -> Iterator[tuple[str, Node]]:
    """The numbers among values, fields of records included: `p.width`."""
    for name, value in values:
        if isinstance(value, Node):
            yield name, value
        elif isinstance(value, RecordValue):
            yield from named((f"{name}.{field_}", part) for field_, part in value.fields.items())
