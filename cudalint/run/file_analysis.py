"""The kernels of one file: which instantiations are evaluated, and under which launches."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.facts import FileFacts, KernelFacts, Misalignment, Place, UnusableAnnotation
from cudalint.frontend.parse_options import Parsing
from cudalint.frontend.source_text import source_text
from cudalint.frontend.texts import annotations_in
from cudalint.hardware.targets import find_target
from cudalint.host.choosing.choosing import for_host_code
from cudalint.host.executor.device import properties_of
from cudalint.host.executor.generics import Generics
from cudalint.host.executor.launching import HostLaunch
from cudalint.host.values.assumptions import (
    Assumptions,
    Constants,
    UnknownName,
    evaluate_expression,
    with_constants,
)
from cudalint.host.values.graph import Checkpoint, Graph
from cudalint.host.values.nodes import Choice, Node
from cudalint.ir import nodes as ir
from cudalint.ir.units import Unit
from cudalint.launches.arguments import unknown_arguments, with_stand_ins, with_template
from cudalint.launches.configuration import Configuration
from cudalint.launches.distinct import Chosen, distinct, still_left_out
from cudalint.launches.given import GivenArguments, scalars
from cudalint.launches.in_sight import from_launches, telling
from cudalint.launches.opt_in import OptIns
from cudalint.launches.program.host_code import HostCode
from cudalint.launches.program.left_out import ConditionalCode
from cudalint.launches.program.needs import NeedsOfCode
from cudalint.launches.program.search_time import SearchTime
from cudalint.launches.recorded.configurations import has_its_parameters, recorded_configurations
from cudalint.launches.recorded.contracts import Contracts
from cudalint.launches.recorded.program import NOTHING_RECORDED, RecordedProgram
from cudalint.launches.recorded.records import RecordedKernel
from cudalint.launches.written import (
    ImpossibleLaunch,
    annotated_launches,
    configured_launches,
    from_command_line,
    without_launch,
)
from cudalint.measure.executed import Compiled
from cudalint.measure.work.shared import bytes_of_shared
from cudalint.numerals import count
from cudalint.options.analysis import AnalysisOptions
from cudalint.options.annotations import Annotation, annotations_of_kernel
from cudalint.options.expressions import Expression, parse_expression
from cudalint.run.batches import Batches
from cudalint.run.contracts import broken_assumptions, has_wide_accesses, with_contracts
from cudalint.run.instances import Instances
from cudalint.run.kernel_analysis import KernelAnalysis, Watch
from cudalint.run.unevaluated import ELSEWHERE, NOT_RECORDED, only_named, out_of_time
from cudalint.run.watching import tell
from cudalint.shortfalls import Shortfall, of_kernels
from cudalint.system.processes.deadline import Deadline
from cudalint.system.processes.faults import described
from cudalint.system.processes.time_limit import OutOfTime, interruptible
from cudalint.system.processes.timings import timed_kernel
from cudalint.toolchain.toolkit.usage import Usage, usage_of

_SHARE_OF_HOST_CODE = 0.4
_SHARE_OF_THE_REST = 0.5
"""Of the time that there is for a file, and of what is left of it once the file is parsed: kernels are of more use
under one launch too few than not at all."""
OTHER_SIGNATURE = "launches of it were recorded when it had other parameters: record them again"
_MUCH_WORK = 500_000
"""In a file, a second or two: up to that, further instances of its kernels are evaluated once one of each is. They are
counted beyond that: many of them show the same."""


class Keeper(Protocol):
    """Keeps the facts of kernels between analyses of a file."""

    def facts(
        self, analysis: FileAnalysis, ref: ir.FunctionRef, found: Callable[[], list[KernelFacts]]
    ) -> list[KernelFacts]:
        """The facts of a kernel's instantiations: those of an earlier analysis that would come out again, or what is
        found now."""


class Sharing(Protocol):
    """Keeps the facts of kernels of headers for other files that include them."""

    def facts(
        self, analysis: FileAnalysis, ref: ir.FunctionRef, sites: Sequence[HostLaunch], found: Callable[[], KernelFacts]
    ) -> KernelFacts:
        """The facts of one instantiation of a kernel under its launches: those that came out in another file, or what
        is found now. The graph is as the host code has left it."""


class FileAnalysis(Struct, eq=False):
    """The state that the kernels of one file share."""

    unit: Unit
    options: AnalysisOptions
    constants: Constants
    """Numbers that the file gives names to."""
    usage: Mapping[str, Usage]
    """What compiled kernels take."""
    deadline: float
    """On the clock of this process."""
    graph: Graph
    shared: Checkpoint
    """The graph as the host code left it."""
    launches: Sequence[HostLaunch]
    unfollowed: Collection[ir.Span]
    """Launches of loops that go on to make others there."""
    is_cut: bool
    """Whether there was no time for all host code."""
    opt_ins: OptIns
    given: GivenArguments
    recorded: RecordedProgram = NOTHING_RECORDED
    annotations: dict[str, list[Annotation]] = field(default_factory=dict)
    given_up: dict[str, None] = field(default_factory=dict)
    """The kernels of which launches were left at the deadline."""
    cut: dict[str, None] = field(default_factory=dict)
    """The kernels of which instantiations were left at the deadline, and others evaluated."""
    broken: dict[str, str] = field(default_factory=dict)
    """The kernels whose evaluation failed in a way that nobody foresaw, each with the error."""
    evaluated: set[str] = field(default_factory=set)
    """The kernels of which at least one launch was evaluated in full."""
    parameters: set[tuple[str, str]] = field(default_factory=set)
    """Each kernel with each of its scalar parameters."""
    needs: NeedsOfCode = field(default_factory=NeedsOfCode)
    right_pitches: set[object] = field(default_factory=set)
    """What was looked at for wrong pitches, and has none."""
    compiled: Compiled = field(default_factory=Compiled)
    """What functions of the file were compiled to, where the new core executes them."""
    watch: Watch | None = None
    keeper: Keeper | None = None
    sharing: Sharing | None = None
    chosen_before: dict[str, Mapping[Node, Choice]] = field(default_factory=dict)
    """What kernels that were evaluated before had chosen for the host code's sizes, by the USR of each instance."""
    before: FileAnalysis | None = None
    """An earlier one, perhaps of the text before an edit of kernels' bodies, whose numbers and batches count here."""
    is_edited: bool = False
    measured: dict[str, Batches] = field(default_factory=dict)
    """What the launches of each instance were executed in, by its USR."""
    _by_name: dict[str, list[HostLaunch]] | None = None
    _begun: int = 0
    """The number of instances that were evaluated."""

    @classmethod
    def of(
        cls,
        unit: Unit,
        options: AnalysisOptions,
        constant: Callable[[str], Expression | None],
        usage: Mapping[str, Usage],
        sources: Collection[str],
        deadline: float,
        architecture: ConditionalCode,
        recorded: RecordedProgram = NOTHING_RECORDED,
    ) -> FileAnalysis:
        """Executes the host code, which is one for all kernels. `sources` are the paths of the user's files that
        contribute, `architecture` is what the unit has in it for a newer GPU than the configured one, `recorded` are
        launches that the program made."""
        graph = Graph()
        constants = Constants(graph, constant)
        properties = properties_of(find_target(options.target))
        left = max(0.0, deadline - time.process_time())
        search = SearchTime.beside(options.time_limit)
        until = Deadline(deadline, search.pause).within(
            min(_SHARE_OF_HOST_CODE * options.seconds, _SHARE_OF_THE_REST * left)
        )
        host = HostCode(
            unit, graph, Generics(graph), properties, Parsing.of(options), until, constant, search
        )
        # Of what was recorded, launches in sight say no more than which instances there are.
        launches = host.launches(lambda name: not (options.only_recorded or recorded.has_of_name(name)))
        deadline += search.pause.seconds
        guards = (guard for launch in launches for guard in launch.guards)
        graph.valuation = for_host_code(graph, guards, (extent for launch in launches for extent in launch.grid))
        graph.forget_uses()
        return cls(
            unit, options, constants, usage, deadline, graph, graph.checkpoint(), launches, host.unfollowed,
            is_cut=host.is_cut,
            opt_ins=OptIns(host.opt_ins, {*sources, unit.path}, options),
            needs=NeedsOfCode(architecture),
            given=GivenArguments(graph, options, partial(evaluate_expression, graph, names=constants)),
            recorded=recorded,
        )  # fmt: skip

    def kernels(self) -> tuple[KernelFacts, ...]:
        found: dict[int, list[KernelFacts]] = {}
        waiting: list[tuple[int, Instances]] = []
        most = self.graph.work + _MUCH_WORK
        for index, ref in sorted(enumerate(self.unit.kernels), key=self._turn):
            if self.options.only and ref.name not in self.options.only:
                continue
            tell(ref.name)
            if found and time.process_time() > self.deadline:
                # To load it and to think of a launch takes a while as well, and there may be hundreds.
                self.given_up[ref.name] = None
                found[index] = [only_named(ref, self.options)]
                continue
            with self._evaluating(ref.name):
                instances = self._instances(ref)
                if instances.are_none:
                    why = NOT_RECORDED if self.options.only_recorded else ELSEWHERE
                    found[index] = [only_named(ref, self.options, why, "unasked")]
                    continue
                found[index] = self._facts(ref, instances)
                if instances.is_left and self.keeper is None:
                    waiting.append((index, instances))
        while waiting and self.graph.work < most and self._is_in_time():
            index, instances = waiting.pop(0)
            tell(instances.ref.name)
            with self._evaluating(instances.ref.name):
                found[index] = self._with_one_more(instances)
                if instances.is_left:
                    waiting.append((index, instances))
        if self.graph.work < most:
            self.cut |= dict.fromkeys(instances.ref.name for _, instances in waiting)
        return tuple(facts for index in sorted(found) for facts in found[index])

    def _turn(self, each: tuple[int, ir.FunctionRef]) -> tuple[bool, int]:
        """What was recorded comes first, then what is short: a kernel that takes all of the file's time costs no other.
        """
        ref = each[1]
        return not self.recorded.has_of_name(ref.name), ref.span.end_line - ref.span.line

    @contextmanager
    def _evaluating(self, name: str) -> Iterator[None]:
        """Evaluates a kernel: an error that nobody foresaw costs no other."""
        try:
            with timed_kernel(name):
                yield
        except Exception as error:
            self.broken.setdefault(name, described(error))

    def _with_earlier_choices(self, ref: ir.FunctionRef) -> None:
        """Has the sizes of host code be what kernels have chosen that come before this one."""
        if self.before is None:
            self.chosen_before[ref.usr] = self.graph.chosen_for_all(self.shared)
        elif ref.usr in self.before.chosen_before:
            self.graph.valuation = self.shared.valuation.having(self.before.chosen_before[ref.usr])

    def facts(self, path: str, sources: Mapping[str, str], failures: Sequence[Shortfall] = ()) -> FileFacts:
        """All that is known of the file's kernels, with what could not be done before them."""
        kernels = self.kernels()
        is_short = self.given_up or self.cut or self.broken or self.is_cut
        problems = self.unit.problems
        return FileFacts(
            path, "partial" if problems or is_short else "ok", problems, kernels, sources, frozenset(self.parameters),
            (*failures, *self.failures()), stand_ins=self.unit.stand_ins(),
        )  # fmt: skip

    def failures(self) -> Iterator[Shortfall]:
        """What could not be done, in one line for all kernels of which that is so."""
        if self.broken:
            first, *others = dict.fromkeys(self.broken.values())
            more = f", and {count(len(others), 'more reason')}" if others else ""
            are = "are" if len(self.broken) > 1 else "is"
            yield of_kernels(self.broken, f"{{}} {are} not evaluated: {first}{more}")
        if self.given_up:
            left = out_of_time("launches of {} were not evaluated", self.options)
            yield of_kernels(self.given_up, left, "warning", is_late=True)
        elif self.cut:
            left = out_of_time("further instantiations of {} were not evaluated", self.options)
            yield of_kernels(self.cut, left, "warning", is_late=True)
        elif self.is_cut:
            left = "not all launches are known, since the host code takes longer"
            yield Shortfall(out_of_time(left, self.options), "warning", is_late=True)

    def _facts(self, ref: ir.FunctionRef, instances: Instances) -> list[KernelFacts]:
        """The facts of a kernel: of one of its instances, or of all that are evaluated where they are kept."""
        if self.keeper is None:
            return instances.evaluate(lambda: False)
        most = self.graph.work + _MUCH_WORK
        return self.keeper.facts(self, ref, partial(instances.evaluate, lambda: self.graph.work < most))

    @staticmethod
    def _with_one_more(instances: Instances) -> list[KernelFacts]:
        """The facts of a kernel with those of one more of its instances."""
        more = iter((True, False))
        return instances.evaluate(lambda: next(more))

    def _is_in_time(self) -> bool:
        return not Deadline(self.deadline).is_over()

    def _instances(self, ref: ir.FunctionRef) -> Instances:
        return Instances.of(
            ref, self._launches_of(ref.name), self.unit, self.graph, self._kernel, self._is_recorded,
            self.options.only_recorded, self.recorded.has_of_name(ref.name),
        )  # fmt: skip

    def _is_recorded(self, ref: ir.FunctionRef) -> bool:
        signature = ref.signature() if self.recorded else None
        return bool(self._recorded_as(ref, signature.instantiation if signature is not None else ref.name))

    def _recorded_as(self, ref: ir.FunctionRef, instantiation: str) -> Sequence[RecordedKernel]:
        is_asked = self.recorded and not self.options.is_forced
        return self.recorded.of_function(ref.linkage_name(), ref.name, instantiation) if is_asked else ()

    def _launches_of(self, name: str) -> Sequence[HostLaunch]:
        """Those of kernels of a name."""
        if self._by_name is None:
            self._by_name = {}
            for launch in self.launches:
                self._by_name.setdefault(launch.kernel.name, []).append(launch)
        return self._by_name.get(name, ())

    def _kernel(self, ref: ir.FunctionRef, sites: Sequence[HostLaunch]) -> KernelFacts | None:
        function = ref.load()
        if function is None:
            return None
        self._begun += 1
        self._with_earlier_choices(ref)
        # Sets of leaves are numbers with a bit for each: with those of all kernels of a file they get too large.
        self.graph.rewind(self.shared)
        self.parameters |= {(function.name, symbol.name) for symbol in scalars(function)}
        found = partial(self._evaluated, ref, function, sites)
        return found() if self.sharing is None else self.sharing.facts(self, ref, sites, found)

    def _evaluated(self, ref: ir.FunctionRef, function: ir.Function, sites: Sequence[HostLaunch]) -> KernelFacts:
        annotations = self._annotations_of(function)
        said = _Said(function.span.path, is_complete=not self.unit.problems)
        assumed = self._assumptions(function, annotations, said)
        kernel = self._recorded_kernel(ref, function, said)
        contracts = Contracts(kernel, function, self.graph) if kernel is not None else None
        open_ones = partial(
            self._configurations, function, sites, annotations, assumed, _Said(function.span.path, is_complete=True)
        )
        if kernel is not None and contracts is not None:
            recorded = recorded_configurations(
                function, kernel, self.recorded, sum(bytes_of_shared(function).values()), self.graph,
                Generics(self.graph, assumed.values), lambda: open_ones().configurations,
                lambda each: self.given.put_into(each, function, said.unknown),
            )  # fmt: skip
            chosen = Chosen(recorded, ())
            assumes = annotations_of_kernel(annotations, "assume", function.span.line, function.span.end_line)
            for annotation, message in broken_assumptions(contracts, assumes):
                said.refuse(annotation, message)
        else:
            chosen = self._configurations(function, sites, annotations, assumed, said)
        configurations = [self.opt_ins.noted_in(c, ref) for c in chosen.configurations]
        last = [(index, self.opt_ins.noted_in(c, ref)) for index, c in chosen.last]
        usage = usage_of(function.name, ref.linkage_name(), self.usage) if self.usage else None
        axioms = [axiom for ref in self.unit.axioms if (axiom := ref.load()) is not None]
        need = self.needs.of(function, [site.span for site in sites if site.in_clusters])
        self.compiled.axioms = tuple(axioms)
        analysis = KernelAnalysis(
            self.graph, function, configurations, assumed, self.deadline, self.options, usage, self.compiled,
            need=need, right_pitches=self.right_pitches, last=last, watch=self.watch,
            between=chosen.between,
        )  # fmt: skip
        self.measured[ref.usr] = analysis.measured
        if self.before is not None:
            analysis.is_edited = self.is_edited
            analysis.batches = self.before.measured.get(ref.usr, analysis.batches)
        for reason in said.unknown:
            analysis.gap(function.name_span, reason)
        try:
            with interruptible():
                facts = analysis.facts()
        except OutOfTime:
            # What it was at is of no use; other results are kept.
            analysis.given_up = True
            facts = analysis.facts_so_far()
        except RecursionError:
            # The others are evaluated all the same.
            facts = analysis.without_facts("its expressions are nested too deeply to be evaluated")
        except Exception as error:
            reason = self.broken.setdefault(function.name, described(error))
            facts = analysis.without_facts(reason)
        if contracts is not None and "alignments" in self.options.kinds and has_wide_accesses(facts):
            required = self._required(function, open_ones().configurations[:1], assumed)
            facts = with_contracts(facts, required, contracts)
        if analysis.evaluated:
            self.evaluated.add(function.name)
        if analysis.given_up:
            self.given_up[function.name] = None
        left_out = still_left_out(chosen.left_out, facts.launches[len(configurations) :], analysis.left)
        return replace(facts, left_out=tuple(left_out), unusable=tuple(said.refused))

    def _recorded_kernel(self, ref: ir.FunctionRef, function: ir.Function, said: _Said) -> RecordedKernel | None:
        """The recorded kernel that a function is; None where there is none that it may still be launched as."""
        kernels = self._recorded_as(ref, function.instantiation)
        fitting = next((kernel for kernel in kernels if has_its_parameters(kernel, function)), None)
        is_plain = function.instantiation == ref.name and not (function.is_template_pattern or self.options.is_forced)
        if fitting is None and (kernels or (is_plain and self.recorded.has_of_name(ref.name))):
            said.unknown.append(OTHER_SIGNATURE)
        return fitting

    def _required(
        self, function: ir.Function, configurations: Sequence[Configuration], assumed: Assumptions
    ) -> Sequence[Misalignment]:
        """What a kernel requires of numbers that nothing gives."""
        options = replace(self.options, kinds=frozenset({"alignments"}))
        analysis = KernelAnalysis(
            self.graph, function, configurations, assumed, self.deadline, options, None, self.compiled
        )
        return analysis.facts().misalignments

    def _annotations_of(self, function: ir.Function) -> list[Annotation]:
        path = function.span.path
        if path not in self.annotations:
            self.annotations[path] = list(annotations_in(path, source_text(path, self.options)).annotations)
        return self.annotations[path]

    def _configurations(
        self,
        function: ir.Function,
        sites: Sequence[HostLaunch],
        annotations: Sequence[Annotation],
        assumed: Assumptions,
        said: _Said,
    ) -> Chosen:
        """The launches to evaluate; `said` takes down what of the user's statements could not be understood."""
        unknown = said.unknown
        graph, options = self.graph, self.options
        chosen = Chosen([], ())
        generics = Generics(graph, assumed.values)
        if options.is_forced:
            arguments = unknown_arguments(function, graph, generics)
            found = [from_command_line(function, arguments, options, graph)]
        elif sites:
            launches = telling(from_launches(sites, function, graph, generics), graph)
            chosen = distinct(launches, self.unfollowed)
            found = chosen.configurations
            site = found[0] if found else None
            # One in a header may be for another file that includes it.
            own = annotations if function.span.path == self.unit.path else ()
            for annotation in annotations_of_kernel(own, "launch", function.span.line, function.span.end_line):
                where = f" at {site.path}:{site.line}" if site is not None and site.line is not None else ""
                said.refuse(annotation, f"the launch in sight{where} counts, and this `launch` does not")
        else:
            above = annotations_of_kernel(annotations, "launch", function.span.line, function.span.end_line)
            written = annotated_launches(above, function.span.path)
            written = written or configured_launches(function, options.kernels)
            try:
                found = without_launch(function, written, options, graph, generics, self.given.number)
            except (UnknownName, ImpossibleLaunch) as reason:
                if above:
                    said.refuse(above[0], f"the launch that is annotated could not be evaluated: {reason}")
                else:
                    where = f"configured (at {written[0].path}:{written[0].line})"
                    unknown.append(f"the launch that is {where} could not be evaluated: {reason}")
                found = without_launch(function, (), options, graph, generics, self.given.number)

        def completed(configuration: Configuration) -> Configuration:
            stated = with_stand_ins(with_template(configuration, function), function)
            return self.given.put_into(stated, function, unknown)

        last = tuple((index, completed(configuration)) for index, configuration in chosen.last)
        return replace(chosen, configurations=[completed(c) for c in found], last=last)

    def _assumptions(self, function: ir.Function, annotations: Sequence[Annotation], said: _Said) -> Assumptions:
        """What holds in this kernel. Those of the command line and the configuration are for others too, so that a
        name that is nothing here is only worth a word in an annotation."""
        own = {symbol.name for symbol in function.parameters} | {"blockDim", "gridDim"}
        written = annotations_of_kernel(annotations, "assume", function.span.line, function.span.end_line)
        texts = [(text, annotation) for annotation in written for text in annotation.arguments]
        found = []
        for text, annotation in [*texts, *((text, None) for text in self.options.assumes)]:
            try:
                found.append(with_constants(self.graph, parse_expression(text), own, self.constants))
            except UnknownName as reason:
                if annotation is not None:
                    said.refuse(annotation, f"`assume({text})` could not be evaluated: {reason}")
        return Assumptions.of(found)


class _Said(Struct, eq=False):
    """What of the user's statements about a kernel is of no use."""

    path: str
    is_complete: bool
    """All that the file names is known, so that an unknown name is a mistake."""
    unknown: list[str] = field(default_factory=list)
    """Reasons for gaps."""
    refused: list[UnusableAnnotation] = field(default_factory=list)

    def refuse(self, annotation: Annotation, message: str) -> None:
        if not self.is_complete:
            self.unknown.append(message)
            return
        place = Place(self.path, annotation.line, annotation.column, annotation.end_line, annotation.end_column)
        self.refused.append(UnusableAnnotation(place, message))
