"""The kernels of one file: which instantiations are evaluated, and under which launches."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.left_out import ConditionalCode
from cudalint.collect.needs import NeedsOfCode
from cudalint.driver.kernel_analysis import TAKES_TOO_LONG, KernelAnalysis, Watch
from cudalint.driver.watching import tell
from cudalint.facts import Gap, KernelFacts, Place, Resources, UnusableAnnotation
from cudalint.frontend.parse_options import parse_options
from cudalint.frontend.source_text import source_text
from cudalint.frontend.texts import annotations_in
from cudalint.hardware.targets import find_target
from cudalint.interpreter.device.deadline import Deadline
from cudalint.interpreter.host.device import properties_of
from cudalint.interpreter.host.launching import HostLaunch
from cudalint.interpreter.host.memory import Generics
from cudalint.ir import nodes as ir
from cudalint.launches.arguments import unknown_arguments, with_stand_ins, with_template
from cudalint.launches.configuration import Configuration
from cudalint.launches.distinct import Chosen, distinct, still_left_out
from cudalint.launches.given import GivenArguments, scalars
from cudalint.launches.in_sight import from_launches, telling
from cudalint.launches.opt_in import OptIns
from cudalint.launches.written import (
    ImpossibleLaunch,
    annotated_launches,
    configured_launches,
    from_command_line,
    without_launch,
)
from cudalint.options.analysis import AnalysisOptions
from cudalint.options.annotations import Annotation, annotations_of_kernel
from cudalint.options.expressions import Expression, parse_expression
from cudalint.processes.faults import described
from cudalint.processes.time_limit import OutOfTime, interruptible
from cudalint.processes.timings import timed_kernel
from cudalint.program.host_code import HostCode
from cudalint.scenarios.choosing import for_host_code
from cudalint.toolkit.usage import Usage, usage_of
from cudalint.values.assumptions import (
    Assumptions,
    Constants,
    UnknownName,
    evaluate_expression,
    holds,
    with_constants,
)
from cudalint.values.graph import Checkpoint, Graph

_GIVEN_FUNCTION = re.compile(r"[<,]\s*&\w")
"""A function among the arguments of a template, as clang spells it."""
_MAX_INSTANTIATIONS = 16
"""Instantiations of one kernel template that are evaluated: more of them as long as that is little work, and fewer
where that is much, about a third of what there is time for in a file."""
_SHARE_OF_HOST_CODE = 0.4
"""Of the time that there is for a file: kernels are of more use under one launch too few than not at all."""
_LITTLE_WORK = 500_000
_MUCH_WORK = 4_000_000


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

    unit: ir.Unit
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
    annotations: dict[str, list[Annotation]] = field(default_factory=dict)
    given_up: dict[str, None] = field(default_factory=dict)
    """The kernels of which launches were left at the deadline."""
    broken: dict[str, str] = field(default_factory=dict)
    """The kernels whose evaluation failed in a way that nobody foresaw, each with the error."""
    parameters: set[tuple[str, str]] = field(default_factory=set)
    """Each kernel with each of its scalar parameters."""
    needs: NeedsOfCode = field(default_factory=NeedsOfCode)
    right_pitches: set[object] = field(default_factory=set)
    """What was looked at for wrong pitches, and has none."""
    watch: Watch | None = None
    keeper: Keeper | None = None
    sharing: Sharing | None = None
    _by_name: dict[str, list[HostLaunch]] | None = None

    @classmethod
    def of(
        cls,
        unit: ir.Unit,
        options: AnalysisOptions,
        constant: Callable[[str], Expression | None],
        usage: Mapping[str, Usage],
        sources: Collection[str],
        deadline: float,
        architecture: ConditionalCode,
    ) -> FileAnalysis:
        """Executes the host code, which is one for all kernels. `sources` are the paths of the user's files that
        contribute, `architecture` is what the unit has in it for a newer GPU than the configured one."""
        graph = Graph()
        constants = Constants(graph, constant)
        properties = properties_of(find_target(options.target))
        until = Deadline(deadline).within(_SHARE_OF_HOST_CODE * options.seconds)
        host = HostCode(
            unit, graph, Generics(graph), properties, partial(parse_options, options=options), until, constant
        )
        launches = host.launches()
        graph.valuation = for_host_code(graph, (guard for launch in launches for guard in launch.guards))
        graph.forget_uses()
        return cls(
            unit, options, constants, usage, deadline, graph, graph.checkpoint(), launches, host.unfollowed,
            is_cut=until.is_over(),
            opt_ins=OptIns(host.opt_ins, {*sources, unit.path}, options),
            needs=NeedsOfCode(architecture),
            given=GivenArguments(graph, options, partial(evaluate_expression, graph, names=constants)),
        )  # fmt: skip

    def kernels(self) -> tuple[KernelFacts, ...]:
        found: dict[int, list[KernelFacts]] = {}
        # Short ones first: one that takes all of the file's time costs no other.
        for index, ref in sorted(enumerate(self.unit.kernels), key=lambda each: _length(each[1])):
            if self.options.only and ref.name not in self.options.only:
                continue
            tell(ref.name)
            if found and time.process_time() > self.deadline:
                # To load it and to think of a launch takes a while as well, and there may be hundreds.
                self.given_up[ref.name] = None
                found[index] = [only_named(ref, self.options)]
                continue
            try:
                with timed_kernel(ref.name):
                    found[index] = self._facts(ref)
            except Exception as error:
                self.broken.setdefault(ref.name, described(error))
        return tuple(facts for index in sorted(found) for facts in found[index])

    def failures(self) -> tuple[str, ...]:
        """What could not be done, in one line each."""
        broken = tuple(f"`{name}` is not evaluated: {reason}" for name, reason in self.broken.items())
        if self.is_cut and not self.given_up:
            broken += (out_of_time("not all launches are known, since the host code takes longer", self.options),)
        if not self.given_up:
            return broken
        first, *others = self.given_up
        named = f"`{first}`" + (f" and {len(others)} more" if others else "")
        return (*broken, out_of_time(f"launches of {named} were not evaluated", self.options))

    def _facts(self, ref: ir.FunctionRef) -> list[KernelFacts]:
        if self.keeper is None:
            return self._instantiations(ref)
        return self.keeper.facts(self, ref, partial(self._instantiations, ref))

    def _instantiations(self, ref: ir.FunctionRef) -> list[KernelFacts]:
        """The facts of a kernel: one for each instantiation that is launched, or one for the pattern."""
        own = [launch for launch in self._launches_of(ref.name) if _same_kernel(launch.kernel, ref)]
        taken = [launch for launch in own if launch.taken]
        named = self.unit.instantiations(ref.key) if ref.templated else ()
        by_key: dict[str, tuple[ir.FunctionRef, list[HostLaunch]]] = {}
        for launch in taken or own:
            for kernel in _evaluated_for(launch, ref, named):
                by_key.setdefault(kernel.key, (kernel, []))[1].append(launch)
        by_key |= _by_same_launcher(own, taken, by_key) if ref.templated else {}
        if not by_key:
            by_key = {instance.key: (instance, []) for instance in named or (ref,)}
        chosen = list(by_key.values())
        facts: dict[int, KernelFacts | None] = {}
        start = self.graph.work
        for index in self._those_run_first([sites for _, sites in chosen]):
            instance, sites = chosen[index]
            most = _MUCH_WORK if len(facts) < _MAX_INSTANTIATIONS else _LITTLE_WORK
            if self.graph.work - start >= most:
                continue
            evaluated = self._kernel(instance, sites)
            if any(facts.values()) and evaluated is not None and any(gap.kind == "time" for gap in evaluated.gaps):
                break  # The kernel is told by the others, and how many are left is said.
            facts[index] = evaluated
        found = [f for index in sorted(facts) if (f := facts[index]) is not None]
        if not found and ref.templated:
            # Clang gives up an instantiation with an error in it, and leaves no body.
            pattern = self._kernel(ref, own)
            return [pattern] if pattern is not None else []
        if found and len(chosen) > len(facts):
            reason = f"{len(chosen) - len(facts)} more instantiations of it were not evaluated"
            gap = Gap(found[0].place.path, found[0].place.line, reason, kind="instantiations")
            found[0] = replace(found[0], gaps=(*found[0].gaps, gap))
        return found

    def _launches_of(self, name: str) -> Sequence[HostLaunch]:
        """Those of kernels of a name."""
        if self._by_name is None:
            self._by_name = {}
            for launch in self.launches:
                self._by_name.setdefault(launch.kernel.name, []).append(launch)
        return self._by_name.get(name, ())

    def _those_run_first(self, launches: Sequence[Sequence[HostLaunch]]) -> Sequence[int]:
        """The positions of instantiations, given the launches of each, in the order in which they are evaluated."""
        return sorted(range(len(launches)), key=lambda each: not self._is_run(launches[each]))

    def _is_run(self, sites: Sequence[HostLaunch]) -> bool:
        """Whether options of the program decide about launches, and as far as they are known one of these is made."""
        decided = [site for site in sites if any(map(self.graph.rests_on_defaults, site.guards))]
        return any(all(holds(self.graph, guard, {}) for guard in site.guards) for site in decided)

    def _kernel(self, ref: ir.FunctionRef, sites: Sequence[HostLaunch]) -> KernelFacts | None:
        function = ref.load()
        if function is None:
            return None
        # Sets of leaves are numbers with a bit for each: with those of all kernels of a file they get too large.
        self.graph.rewind(self.shared)
        self.parameters |= {(function.name, symbol.name) for symbol in scalars(function)}
        found = partial(self._evaluated, ref, function, sites)
        return found() if self.sharing is None else self.sharing.facts(self, ref, sites, found)

    def _evaluated(self, ref: ir.FunctionRef, function: ir.Function, sites: Sequence[HostLaunch]) -> KernelFacts:
        annotations = self._annotations_of(function)
        said = _Said(function.span.path, is_complete=not self.unit.problems)
        assumed = self._assumptions(function, annotations, said)
        chosen = self._configurations(function, sites, annotations, assumed, said)
        configurations = [self.opt_ins.noted_in(c, ref) for c in chosen.configurations]
        last = [(index, self.opt_ins.noted_in(c, ref)) for index, c in chosen.last]
        usage = usage_of(function.name, function.linkage_name(), self.usage) if self.usage else None
        analysis = KernelAnalysis(
            self.graph,
            function,
            configurations,
            assumed,
            self.deadline,
            self.options,
            usage,
            axioms=[axiom for ref in self.unit.axioms if (axiom := ref.load()) is not None],
            last=last,
            need=self.needs.of(function, [site.span for site in sites if site.in_clusters]),
            right_pitches=self.right_pitches,
            watch=self.watch,
        )
        for reason in said.unknown:
            analysis.gap(function.name_span, reason)
        try:
            with interruptible():
                facts = analysis.facts()
        except OutOfTime:
            # What it was at is of no use; the other kernels' results are kept.
            analysis.given_up = True
            facts = analysis.without_facts(TAKES_TOO_LONG, "time")
        except RecursionError:
            # The others are evaluated all the same.
            facts = analysis.without_facts("its expressions are nested too deeply to be evaluated")
        except Exception as error:
            reason = self.broken.setdefault(function.name, described(error))
            facts = analysis.without_facts(reason)
        if analysis.given_up:
            self.given_up[function.name] = None
        left_out = still_left_out(chosen.left_out, facts.launches[len(configurations) :])
        return replace(facts, left_out=tuple(left_out), unusable=tuple(said.refused))

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
        """The launches to evaluate; `said` is told what of the user's statements could not be understood."""
        unknown = said.unknown
        graph, options = self.graph, self.options
        chosen = Chosen([], ())
        generics = Generics(graph, assumed.values)
        if options.force_launch and options.block is not None:
            sites = ()
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


def only_named(ref: ir.FunctionRef, options: AnalysisOptions) -> KernelFacts:
    """That a kernel is there that was not come to."""
    span = ref.span
    return KernelFacts(
        ref.name, ref.name, Place(*span), Place(*span), (), (), Resources(None),
        gaps=(Gap(span.path, span.line, TAKES_TOO_LONG, kind="time"),), collected=options.kinds,
    )  # fmt: skip


def out_of_time(left: str, options: AnalysisOptions) -> str:
    limit = f"the time limit of {options.time_limit:g} s is too short"
    return f"{limit}: {left}; --time-limit gives more time"


def _evaluated_for(
    launch: HostLaunch, ref: ir.FunctionRef, named: Sequence[ir.FunctionRef]
) -> Sequence[ir.FunctionRef]:
    """What is evaluated for a launch of a kernel. Another file of the folder that launches a template may know but its
    declaration: the instantiation of the same types is in this one, where it is made explicitly. Which one a launch
    means that names no types may be any."""
    if not ref.templated:
        return (ref,)
    if launch.kernel.signature() is not None and not launch.kernel.templated:
        return (launch.kernel,)
    same = [instance for instance in named if instance.usr == launch.kernel.usr]
    return same or named or (ref,)


def _by_same_launcher(
    launches: Sequence[HostLaunch], taken: Sequence[HostLaunch], known: Mapping[str, object]
) -> dict[str, tuple[ir.FunctionRef, list[HostLaunch]]]:
    """Further instantiations, by their keys, where a launcher's template is given device functions in turn
    (`run<first>()`, `run<second>()`). Sizes and types that known values don't lead to are impossible: a dispatcher has
    an instantiation for each."""
    sites = {launch.span for launch in taken}
    found: dict[str, tuple[ir.FunctionRef, list[HostLaunch]]] = {}
    for launch in launches:
        key = launch.kernel.key
        if key in found:
            found[key][1].append(launch)
        elif launch.span in sites and key not in known:
            signature = launch.kernel.signature()
            if signature is not None and _GIVEN_FUNCTION.search(signature.instantiation):
                found[key] = (launch.kernel, [launch])
    return found


def _length(ref: ir.FunctionRef) -> int:
    return ref.span.end_line - ref.span.line


def _same_kernel(launched: ir.FunctionRef, kernel: ir.FunctionRef) -> bool:
    """Whether a launch of a kernel of this name means this one, or an instantiation of it: they share the place of the
    definition."""
    if launched.key == kernel.key:
        return True
    # Another file of the folder may spell the path in another way.
    place, other = launched.span, kernel.span
    same_file = os.path.basename(place.path) == os.path.basename(other.path)
    return (same_file and place.end_line == other.end_line) or launched.load() is None
