"""The analysis of one file: front end, launches, evaluation, facts."""

from __future__ import annotations

import gc
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint import ir
from cudalint.annotations import Annotation, annotations_of_kernel
from cudalint.cubin import read_cubin
from cudalint.evaluate.arithmetic import kind_of
from cudalint.evaluate.assumptions import (
    Assumptions,
    Constants,
    UnknownName,
    evaluate_expression,
    with_constants,
)
from cudalint.evaluate.device import properties_of
from cudalint.evaluate.graph import Checkpoint, Graph
from cudalint.evaluate.host import HostLaunch
from cudalint.evaluate.host_memory import Generics
from cudalint.evaluate.nodes import Node, Uniform
from cudalint.evaluate.sizes import settle_sizes
from cudalint.evaluate.values import Place, Value
from cudalint.expressions import Expression, parse_expression
from cudalint.facts import (
    FileFacts,
    Gap,
    KernelFacts,
    LeftOutLaunches,
    ProblemFacts,
)
from cudalint.frontend.compile_commands import DatabaseError, database_for
from cudalint.frontend.constants import constant_named
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.lower.unit import lower_unit
from cudalint.frontend.parse import parse_file
from cudalint.frontend.reading import SourceError
from cudalint.frontend.texts import CudaText, CudaTexts, annotations_in, cuda_texts
from cudalint.hardware.targets import find_target
from cudalint.host_code import HostCode
from cudalint.kernel_analysis import KernelAnalysis
from cudalint.launches.arguments import unknown_arguments, with_template
from cudalint.launches.configuration import Configuration
from cudalint.launches.distinct import Chosen, distinct
from cudalint.launches.in_sight import from_launches
from cudalint.launches.written import (
    ImpossibleLaunch,
    annotated_launches,
    configured_launches,
    from_command_line,
    without_launch,
)
from cudalint.nvcc import Compilation, compiled_usage
from cudalint.options import AnalysisOptions, KernelSettings
from cudalint.source_text import source_text
from cudalint.usage import Usage, UsageError, merged, usage_of

_RECURSION_LIMIT = 20_000
_GIVEN_FUNCTION = re.compile(r"[<,]\s*&\w")
"""A function among the arguments of a template, as clang spells it."""
_MAX_INSTANTIATIONS = 16
"""Instantiations of one kernel template that are evaluated: more of them as long as that is little work, and fewer
where that is much, about a third of what there is time for in a file."""
_LITTLE_WORK = 500_000
_MUCH_WORK = 4_000_000
_OPT_IN = re.compile("MaxDynamicSharedMemorySize|max_dynamic_shared_size_bytes", re.IGNORECASE)


def analyse_file(path: str, options: AnalysisOptions) -> FileFacts:
    """Everything that is known about one file.

    Raises `cudalint.frontend.reading.SourceError` for a file that cannot be read or decoded.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
    texts = cuda_texts(path, dict(options.unsaved).get(path))
    with _no_collection():
        return texts.together(_analyse_texts(texts, options))


def _analyse_texts(texts: CudaTexts, options: AnalysisOptions) -> Iterator[FileFacts]:
    """The facts of each text of a file. One that can't be parsed costs no other; together they have the file's time."""
    end = time.process_time() + options.seconds
    for number, text in enumerate(texts.texts):
        if number and time.process_time() > end:
            left = f"{len(texts.texts) - number} of {len(texts.texts)} kernel sources were not evaluated"
            yield FileFacts(texts.path, "partial", failures=(_out_of_time(left, options),))
            return
        try:
            yield _analyse_text(texts.path, text, options, end)
        except SourceError as error:
            if text.places is None:
                raise
            yield FileFacts(texts.path, "partial", failures=(f"the source at line {text.line}: {error}",))


def _analyse_text(path: str, text: CudaText, options: AnalysisOptions, deadline: float) -> FileFacts:
    parsed = parse_file(path, parse_options(path, options, text.options), text.data, text.places)
    unit = lower_unit(parsed)
    problems = tuple(ProblemFacts(p.path, p.line, p.column, p.message, p.is_syntax) for p in unit.problems)
    usage, failures = _usage(path, unit, options, text)
    sources = _sources(path, unit)
    analysis = _FileAnalysis(unit, options, partial(constant_named, parsed), usage, tuple(sources), deadline)
    kernels = analysis.kernels()
    status: Literal["ok", "partial"] = "partial" if problems or analysis.given_up else "ok"
    failures += analysis.failures()
    return FileFacts(path, status, problems, kernels, sources, frozenset(analysis.parameters), failures)


def _usage(
    path: str, unit: ir.Unit, options: AnalysisOptions, text: CudaText
) -> tuple[Mapping[str, Usage], tuple[str, ...]]:
    """What compiled kernels take, as far as the user asks for it, and why some of it can't be told."""
    parts: list[Mapping[str, Usage]] = []
    failures: list[str] = []
    for cubin in options.cubins:
        try:
            parts.append(read_cubin(cubin))
        except UsageError as error:
            failures.append(f"--cubin {cubin}: {error}")
    if options.ptxas and unit.kernels:
        built = parse_options(path, options, text.options)
        unsaved = dict(options.unsaved).get(path) if text.places is None else text.data.decode("utf-8", "replace")
        compilation = Compilation(
            path, built.arch, built.include_dirs, built.defines, built.std, built.extra, options.max_registers,
            built.cuda_path, unsaved,
        )  # fmt: skip
        try:
            parts.append(compiled_usage(compilation))
        except UsageError as error:
            failures.append(f"--ptxas: {error}")
    return merged(parts), tuple(failures)


@contextmanager
def _no_collection() -> Iterator[None]:
    """The analysis makes many small objects and hardly a cycle among them: looking for those takes a tenth of the time,
    and a third of that for large functions."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def parse_options(path: str, options: AnalysisOptions, own: ParseOptions | None = None) -> ParseOptions:
    """How to parse a file: as it says itself, or the compilation database, if there is one, and as the user says on
    top."""
    major, minor = find_target(options.target).compute_capability
    built = own or _built_with(path, options) or ParseOptions()
    return replace(
        built,
        include_dirs=(*options.include_dirs, *built.include_dirs),
        defines=(*built.defines, *options.defines),
        std=options.std or built.std,
        cuda_path=options.cuda_path,
        arch=f"sm_{major}{minor}",
    )


def _built_with(path: str, options: AnalysisOptions) -> ParseOptions | None:
    """What the compilation database says, if there is one."""
    try:
        database = database_for(path, options.compile_commands)
        return database.options_for(path) if database is not None else None
    except DatabaseError as error:
        if options.compile_commands:
            raise SourceError(str(error)) from error
        return None


def _sources(path: str, unit: ir.Unit) -> dict[str, str]:
    paths = {path, *(ref.span.path for ref in (*unit.kernels, *unit.host_functions))}
    return {p: p for p in sorted(paths)}


class _FileAnalysis(Struct, eq=False):
    """The state that the kernels of one file share."""

    unit: ir.Unit
    options: AnalysisOptions
    constant: Callable[[str], Expression | None]
    """Numbers that the file gives names to."""
    usage: Mapping[str, Usage]
    """What compiled kernels take."""
    sources: tuple[str, ...]
    """Paths of the user's files that contribute."""
    deadline: float
    """On the clock of this process."""
    opt_ins: dict[str, list[Node]] = field(default_factory=dict)
    unfollowed: set[ir.Span] = field(default_factory=set)
    """Launches of loops that go on to make others there."""
    properties: Mapping[str, int] = field(default_factory=dict)
    """What host code learns about the device."""
    graph: Graph = field(default_factory=Graph)
    shared: Checkpoint = field(default_factory=lambda: Graph().checkpoint())
    """The graph as the host code left it."""
    annotations: dict[str, list[Annotation]] = field(default_factory=dict)
    opting: dict[str, bool] = field(default_factory=dict)
    """Whether a source names the attribute that raises the limit of dynamic shared memory."""
    given_up: dict[str, None] = field(default_factory=dict)
    """The kernels of which launches were left at the deadline."""
    parameters: set[tuple[str, str]] = field(default_factory=set)
    settled: list[tuple[Node, int | float | bool]] = field(default_factory=list)
    """Symbols of the host code that `--param` gives a value while one kernel is analysed, and what they had before."""

    def kernels(self) -> tuple[KernelFacts, ...]:
        generics = Generics(self.graph)
        self.properties = properties_of(find_target(self.options.target))
        options_for = partial(parse_options, options=self.options)
        host = HostCode(self.unit, self.graph, generics, self.properties, options_for)
        launches, self.opt_ins, self.unfollowed = host.launches(), host.opt_ins, host.unfollowed
        settle_sizes(self.graph, conditions=(guard for launch in launches for guard in launch.guards))
        self.shared = self.graph.checkpoint()
        found: dict[int, list[KernelFacts]] = {}
        # Short ones first: one that takes all of the file's time costs no other.
        for index, ref in sorted(enumerate(self.unit.kernels), key=lambda each: _length(each[1])):
            found[index] = self._instantiations(ref, launches)
        return tuple(facts for index in sorted(found) for facts in found[index])

    def failures(self) -> tuple[str, ...]:
        """What could not be done in time, in one line."""
        if not self.given_up:
            return ()
        first, *others = self.given_up
        named = f"`{first}`" + (f" and {len(others)} more" if others else "")
        return (_out_of_time(f"launches of {named} were not evaluated", self.options),)

    def _instantiations(self, ref: ir.FunctionRef, launches: Sequence[HostLaunch]) -> list[KernelFacts]:
        """The facts of a kernel: one for each instantiation that is launched, or one for the pattern."""
        own = [launch for launch in launches if _same_kernel(launch.kernel, ref)]
        taken = [launch for launch in own if launch.taken]
        by_key: dict[str, tuple[ir.FunctionRef, list[HostLaunch]]] = {}
        for launch in taken or own:
            kernel = launch.kernel if ref.templated and launch.kernel.load() is not None else ref
            by_key.setdefault(kernel.key, (kernel, []))[1].append(launch)
        by_key |= _by_same_launcher(own, taken, by_key) if ref.templated else {}
        if not by_key:
            named = self.unit.instantiations(ref.key) or (ref,)
            by_key = {instance.key: (instance, []) for instance in named}
        chosen = list(by_key.values())
        facts: list[KernelFacts | None] = []
        start = self.graph.work
        for instance, sites in chosen:
            most = _MUCH_WORK if len(facts) < _MAX_INSTANTIATIONS else _LITTLE_WORK
            if self.graph.work - start < most:
                facts.append(self._kernel(instance, sites))
        found = [f for f in facts if f is not None]
        if found and len(chosen) > len(facts):
            reason = f"{len(chosen) - len(facts)} more instantiations of it were not evaluated"
            gap = Gap(found[0].place.path, found[0].place.line, reason)
            found[0] = replace(found[0], gaps=(*found[0].gaps, gap))
        return found

    def _kernel(self, ref: ir.FunctionRef, sites: Sequence[HostLaunch]) -> KernelFacts | None:
        function = ref.load()
        if function is None:
            return None
        # Sets of leaves are numbers with a bit for each: with those of all kernels of a file they get too large.
        self.graph.rewind(self.shared)
        self.parameters |= {(function.name, symbol.name) for symbol in _scalars(function)}
        annotations = self._annotations_of(function)
        unknown: list[str] = []
        assumed = self._assumptions(function, annotations, unknown)
        chosen = self._configurations(function, sites, annotations, assumed, unknown)
        configurations = [self._with_opt_in(c, ref) for c in chosen.configurations]
        usage = usage_of(function.name, function.linkage_name(), self.usage) if self.usage else None
        analysis = KernelAnalysis(
            self.graph, function, configurations, assumed, self.deadline, self.options, usage,
            axioms=[axiom for ref in self.unit.axioms if (axiom := ref.load()) is not None],
        )
        for reason in unknown:
            analysis.gap(function.name_span, reason)
        try:
            facts = analysis.facts()
        except RecursionError:
            # The others are evaluated all the same.
            facts = analysis.without_facts("its expressions are nested too deeply to be evaluated")
        while self.settled:
            self.graph.settle(*self.settled.pop())
        if analysis.given_up:
            self.given_up[function.name] = None
        return replace(facts, left_out=chosen.left_out)

    def _annotations_of(self, function: ir.Function) -> list[Annotation]:
        path = function.span.path
        if path not in self.annotations:
            self.annotations[path] = list(annotations_in(path, self._text(path)).annotations)
        return self.annotations[path]

    def _configurations(
        self,
        function: ir.Function,
        sites: Sequence[HostLaunch],
        annotations: Sequence[Annotation],
        assumed: Assumptions,
        unknown: list[str],
    ) -> Chosen:
        """The launches to evaluate; `unknown` is told what of the user's statements could not be understood."""
        graph, options = self.graph, self.options
        left_out: tuple[LeftOutLaunches, ...] = ()
        generics = Generics(graph, assumed.values)
        if options.force_launch and options.block is not None:
            sites = ()
            arguments = unknown_arguments(function, graph, generics)
            found = [from_command_line(function, arguments, options, graph)]
        elif sites:
            chosen = distinct(from_launches(sites, function, graph, generics), self.unfollowed)
            found, left_out = chosen.configurations, chosen.left_out
        else:
            above = annotations_of_kernel(annotations, "launch", function.span.line, function.span.end_line)
            written = annotated_launches(above, function.span.path)
            written = written or configured_launches(function, options.kernels)
            try:
                found = without_launch(function, written, options, graph, generics, self._number)
            except (UnknownName, ImpossibleLaunch) as reason:
                where = "annotated" if above else f"configured (at {written[0].path}:{written[0].line})"
                unknown.append(f"the launch that is {where} could not be evaluated: {reason}")
                found = without_launch(function, (), options, graph, generics, self._number)
        found = [self._with_parameters(with_template(c, function), function, unknown) for c in found]
        return Chosen(found, left_out)

    def _with_opt_in(self, configuration: Configuration, ref: ir.FunctionRef) -> Configuration:
        """Notes to what the host code raises the kernel's limit of dynamic shared memory."""
        site = configuration.site
        if site is None or not site.dynamic_shared_bytes or configuration.source not in ("launch-site", "default"):
            return configuration
        amounts = self.opt_ins.get(ref.key)
        if amounts is not None:
            plain = [int(amount.value) for amount in amounts if amount.is_const]
            bytes_ = max(plain) if len(plain) == len(amounts) else None
        else:
            # Where the attribute is named at all, it may be set for this kernel by code that is not followed.
            paths = {*self.sources, self.unit.path, site.place.path}
            bytes_ = None if any(self._names_opt_in(path) for path in paths) else 0
        twins = tuple(replace(twin, opted_in_bytes=bytes_) for twin in configuration.twins)
        return replace(configuration, site=replace(site, opted_in_bytes=bytes_), twins=twins)

    def _names_opt_in(self, path: str) -> bool:
        found = self.opting.get(path)
        if found is None:
            found = self.opting[path] = _OPT_IN.search(self._text(path)) is not None
        return found

    def _text(self, path: str) -> str:
        return source_text(path, self.options)

    def _number(self, expression: Expression) -> Node:
        """A user's expression over the file's constants."""
        return evaluate_expression(self.graph, expression, Constants(self.graph, self.constant))

    def _assumptions(
        self, function: ir.Function, annotations: Sequence[Annotation], unknown: list[str]
    ) -> Assumptions:
        """What holds in this kernel. Those of the command line and the configuration are for others too, so that a
        name that is nothing here is only worth a word in an annotation."""
        own = {symbol.name for symbol in function.parameters} | {"blockDim", "gridDim"}
        constants = Constants(self.graph, self.constant)
        written = annotations_of_kernel(annotations, "assume", function.span.line, function.span.end_line)
        texts = [(text, True) for annotation in written for text in annotation.arguments]
        found = []
        for text, is_own in texts + [(text, False) for text in self.options.assumes]:
            try:
                found.append(with_constants(self.graph, parse_expression(text), own, constants))
            except UnknownName as reason:
                if is_own:
                    unknown.append(f"`assume({text})` could not be evaluated: {reason}")
        return Assumptions.of(found)

    def _with_parameters(
        self, configuration: Configuration, function: ir.Function, unknown: list[str]
    ) -> Configuration:
        """`--param` replaces an argument; the configuration's value stands in where nothing else gives one."""
        arguments = dict(configuration.arguments)
        symbols = {symbol.name: symbol for symbol in _scalars(function)}
        for name, text, where, is_pattern in _configured_parameters(function, self.options.kernels):
            if name not in symbols and not is_pattern:
                unknown.append(f"{where} is no scalar parameter of `{function.name}`")
            value = arguments.get(symbols[name]) if name in symbols else None
            if isinstance(value, Node) and not value.is_const:
                self._bind(arguments, symbols[name], text, where, unknown)
        for kernel, name, text in self.options.params:
            if name in symbols and kernel in (None, function.name):
                self._bind(arguments, symbols[name], text, f"--param {name}", unknown)
        return replace(configuration, arguments=arguments)

    def _bind(
        self, arguments: dict[ir.Symbol, Value | Place], symbol: ir.Symbol, text: str, where: str, unknown: list[str]
    ) -> None:
        """Gives a parameter the value of a user's expression."""
        try:
            value = self._number(parse_expression(text))
        except UnknownName as reason:
            unknown.append(f"{where} could not be evaluated: {reason}")
            return
        kind = kind_of(symbol.type)
        converted = self.graph.convert(value, kind)
        if value.is_const and not kind.is_float and converted.value != value.value:
            unknown.append(f"{where} is {value.value}, which the parameter's type can't hold")
            return
        before = arguments.get(symbol)
        bare = _symbol_behind(before) if isinstance(before, Node) else None
        if bare is not None and isinstance(bare.payload, Uniform) and value.is_const:
            # The host code computes the grid and sizes of allocations from the same number.
            self.settled.append((bare, bare.payload.generic))
            self.graph.settle(bare, value.value)
        arguments[symbol] = converted


def _out_of_time(left: str, options: AnalysisOptions) -> str:
    limit = f"the time limit of {options.time_limit:g} s is too short"
    return f"{limit}: {left}; --time-limit gives more time"


def _symbol_behind(number: Node) -> Node:
    """What a program computes with: the `atoi` of `argc > 1 ? atoi(argv[1]) : 64`."""
    while number.op in ("cast", "select"):
        open_ = [side for side in (number.args if number.op == "cast" else number.args[1:]) if not side.is_const]
        if len(open_) != 1:
            break
        number = open_[0]
    return number


def _scalars(function: ir.Function) -> list[ir.Symbol]:
    """The parameters that a number can stand for, those of a template that nothing instantiates included."""
    symbols = (*function.template_values, *function.parameters)
    return [symbol for symbol in symbols if isinstance(symbol.type, ir.Scalar)]


def _configured_parameters(
    function: ir.Function, settings: Iterable[KernelSettings]
) -> Iterator[tuple[str, str, str, bool]]:
    """Name, value and place of the parameters that the configuration gives to a kernel, and whether it speaks of
    others too; the first pattern counts."""
    seen: set[str] = set()
    for setting in settings:
        for name, text in setting.parameters if setting.fits(function.name) else ():
            if name not in seen:
                seen.add(name)
                yield name, text, f"`{name}` in {setting.path}", setting.pattern != function.name


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
            function = launch.kernel.load()
            if function is not None and _GIVEN_FUNCTION.search(function.instantiation):
                found[key] = (launch.kernel, [launch])
    return found


def _length(ref: ir.FunctionRef) -> int:
    return ref.span.end_line - ref.span.line


def _same_kernel(launched: ir.FunctionRef, kernel: ir.FunctionRef) -> bool:
    """Whether a launch names this kernel, or an instantiation of it: they share the place of the definition."""
    if launched.key == kernel.key:
        return True
    if launched.name != kernel.name:
        return False
    # Another file of the folder may spell the path in another way.
    place, other = launched.span, kernel.span
    same_file = os.path.basename(place.path) == os.path.basename(other.path)
    return (same_file and place.end_line == other.end_line) or launched.load() is None
