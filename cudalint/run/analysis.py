"""The analysis of one file: front end, launches, evaluation, facts."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.facts import FileFacts
from cudalint.fixes.edits import MovedLines
from cudalint.frontend.constants import constant_named
from cudalint.frontend.instantiate import with_instances
from cudalint.frontend.lower.context import Elsewhere
from cudalint.frontend.lower.unit import Listing
from cudalint.frontend.parse import ParsedFile, parse_file
from cudalint.frontend.parse_options import Parsing, architecture_of, parse_options
from cudalint.frontend.reading import SourceError
from cudalint.frontend.source_text import Spellings
from cudalint.frontend.text_limits import check_size
from cudalint.frontend.texts import CudaText, CudaTexts, cuda_texts
from cudalint.hardware.targets import find_target
from cudalint.ir import kept
from cudalint.ir.units import Unit
from cudalint.launches.program import other_files
from cudalint.launches.program.host_facts import host_facts
from cudalint.launches.program.host_faults import host_faults
from cudalint.launches.program.left_out import ConditionalCode, LeftOut
from cudalint.launches.program.other_files import ConstantsElsewhere
from cudalint.launches.recorded.program import read_program
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.baseline import Baseline
from cudalint.run.file_analysis import FileAnalysis, Keeper
from cudalint.run.kernel_analysis import Watch
from cudalint.run.shared_kernels import shared_kernels
from cudalint.run.unevaluated import only_named, out_of_time
from cudalint.shortfalls import Gravity, Shortfall
from cudalint.system.disk.encoding import to_bytes
from cudalint.system.processes import time_limit
from cudalint.system.processes.deadline import Deadline
from cudalint.system.processes.time_limit import OutOfTime, interruptible
from cudalint.system.processes.timings import timed
from cudalint.toolchain.toolkit.cubin import read_cubin
from cudalint.toolchain.toolkit.nvcc import Compilation, compiled_usage
from cudalint.toolchain.toolkit.usage import HeaderNotFoundError, Usage, UsageError, merged

_RECURSION_LIMIT = 20_000
_SHARE_OF_PARSING = 0.5
_SHARE_OF_HOST_FAULTS = 0.1
"""Of the time that there is for a file: what is parsed once more after that costs more kernels than it shows."""


class Hooks(NamedTuple):
    """Who takes part in the analysis of a file."""

    watch: Watch | None = None
    """Is shown each execution of a kernel under a launch."""
    keeper: Keeper | None = None
    """Is asked for what is known of a kernel before it is executed."""
    baseline: Baseline | None = None
    """Keeps what trials of edits need."""


def analyse_file(path: str, options: AnalysisOptions, hooks: Hooks | None = None) -> FileFacts:
    """Everything that is known about one file.

    Raises `cudalint.frontend.reading.SourceError` for a file that cannot be read or decoded.
    """
    texts = cuda_texts(path, dict(options.unsaved).get(path))
    with _undisturbed():
        return texts.together(_analyse_texts(texts, options, hooks or Hooks()))


def analyse_edited(
    path: str, options: AnalysisOptions, baseline: Baseline, texts: Mapping[str, str], moved: MovedLines
) -> FileFacts | None:
    """The facts of the kernels that the options name, with other texts of some files, by their paths, in which nothing
    but the bodies of these kernels is new: the host code is not executed again. None where the file has to be analysed
    as a whole. Raises OutOfTime where the caller is `interruptible`."""
    with _undisturbed():
        with timed("parse"):
            unit = baseline.reparsed(texts)
        if unit is None:
            return None
        analysis = baseline.resumed(unit, moved, options, time.process_time() + options.seconds)
        if analysis is None:
            return None
        analysis.sharing = shared_kernels(options)
        return analysis.facts(path, _sources(path, unit))


def _analyse_texts(texts: CudaTexts, options: AnalysisOptions, hooks: Hooks) -> Iterator[FileFacts]:
    """The facts of each text of a file. One that can't be parsed costs no other; together they have the file's time."""
    end = time.process_time() + options.seconds
    for number, text in enumerate(texts.texts):
        if number and time.process_time() > end:
            left = f"{len(texts.texts) - number} of {len(texts.texts)} kernel sources were not evaluated"
            yield FileFacts(texts.path, "partial", failures=(_late(left, options),))
            return
        try:
            yield from _analyse_text(texts.path, text, options, end, hooks)
        except SourceError as error:
            if text.places is None:
                raise
            yield FileFacts(texts.path, "partial", failures=(Shortfall(f"the source at line {text.line}: {error}"),))


def _late(left: str, options: AnalysisOptions) -> Shortfall:
    return Shortfall(out_of_time(left, options), "warning", is_late=True)


def looked_through(path: str, options: AnalysisOptions) -> frozenset[str]:
    """Looks at all that the facts of a file rest on, whoever notes that, and evaluates no kernel: the text, what it
    includes and the program around it are what they are for the analysis. The files that kernels of it stand in.

    Raises SourceError, and OutOfTime.
    """
    texts = cuda_texts(path, dict(options.unsaved).get(path))
    deadline = time.process_time() + options.seconds
    found: set[str] = set()
    with _undisturbed(), interruptible():
        for text in texts.texts:
            for part in _parts(path, text, options, deadline):
                found |= _looked_through(path, part, options, deadline)
    return frozenset(found)


def _looked_through(path: str, part: _Part, options: AnalysisOptions, deadline: float) -> set[str]:
    unit = part.unit
    recorded, _ = read_program(options.recordings)
    analysis = FileAnalysis.of(
        unit, options, partial(constant_named, part.parsed), {}, tuple(_sources(path, unit)), deadline,
        part.architecture, recorded,
    )  # fmt: skip
    if analysis.is_cut:
        raise OutOfTime
    for ref in unit.kernels:
        ref.load()  # Constants in it may be those of other files.
    host_facts(unit.host_functions, Spellings(options), options.kinds)
    return {ref.span.path for ref in unit.kernels}


class _Part(Struct, frozen=True):
    """A text as it is for one GPU."""

    parsed: ParsedFile
    unit: Unit
    constant: Elsewhere
    """Numbers that other files define."""
    kernels: frozenset[str]
    """The names of those that are evaluated as they are here."""
    architecture: ConditionalCode = field(default_factory=ConditionalCode)
    """What is there for this GPU and not for the configured one, or the other way round."""


def _analyse_text(
    path: str, text: CudaText, options: AnalysisOptions, deadline: float, hooks: Hooks
) -> Iterator[FileFacts]:
    check_size(path, text.data, options.max_line, options.max_nesting)
    try:
        with interruptible():
            first, *others = _parts(path, text, options, deadline)
    except OutOfTime:
        yield FileFacts(path, "partial", failures=(_late("to parse it takes longer", options),))
        return
    if not others:
        yield _analyse_part(path, first, options, text, deadline, hooks)
        return
    for part in (first, *others):
        names = part.kernels.intersection(options.only) if options.only else part.kernels
        if names:
            own = replace(options, only=tuple(sorted(names)))
            yield _analyse_part(path, part, own, text, deadline, hooks)


def _analyse_part(
    path: str, part: _Part, options: AnalysisOptions, text: CudaText, deadline: float, hooks: Hooks
) -> FileFacts:
    unit = part.unit
    usage, failures = _usage(path, part, options, text)
    recorded, unread = read_program(options.recordings)
    failures += tuple(Shortfall(f"{name}: {why}", "warning") for name, why in unread)
    sources = _sources(path, unit)
    start = time.process_time()
    try:
        with timed("host"), interruptible():
            analysis = FileAnalysis.of(
                unit, options, partial(constant_named, part.parsed), usage, tuple(sources), deadline,
                part.architecture, recorded,
            )  # fmt: skip
    except OutOfTime:
        kernels = tuple(only_named(ref, options) for ref in unit.kernels)
        left = "none of its kernels were evaluated, since the host code takes longer"
        failures += (_late(left, options),)
        return FileFacts(path, "partial", unit.problems, kernels, sources, failures=failures)
    if hooks.baseline is not None:
        hooks.baseline.keep(analysis, part.parsed, part.constant, time.process_time() - start)
    analysis.watch = hooks.watch
    # Of a text in a file of another language, lines say nothing.
    analysis.keeper = hooks.keeper if text.places is None else None
    analysis.sharing = shared_kernels(options)
    facts = analysis.facts(path, sources, failures)
    with timed("host"):
        spellings = Spellings(options)
        host = host_facts(unit.host_functions, spellings, options.kinds)
        if host is not None and "host_faults" in options.kinds:
            until = Deadline(deadline).within(_SHARE_OF_HOST_FAULTS * options.seconds)
            host = replace(host, faults=host_faults(unit.host_functions, spellings, until))
        return replace(facts, host=host)


def _parts(path: str, text: CudaText, options: AnalysisOptions, deadline: float) -> list[_Part]:
    """A text as it is for the configured GPU; and the kernels of which nothing is there then as they are for the
    smallest newer one that has something of them, where there is time for that."""
    until = Deadline(deadline).within(_SHARE_OF_PARSING * options.seconds)
    built = parse_options(path, options, text.options)
    elsewhere = ConstantsElsewhere(path, Parsing.of(options))
    recorded, _ = read_program(options.recordings)
    unsaved = {other: to_bytes(changed) for other, changed in options.unsaved}

    def part(architecture: str) -> _Part:
        with timed("parse"):
            parsed = parse_file(
                path, replace(built, arch=architecture), text.data, text.places, unsaved, until.is_over
            )
            listing = Listing(parsed, constant=elsewhere.value)
            given = [name for _, name, _ in options.params]
            made = None if until.is_over() else with_instances(parsed, listing, given, recorded.has_of_name)
            if made is not None:
                parsed, listing = made, Listing(made, constant=elsewhere.value)
            unit = listing.unit()
        return _Part(parsed, unit, elsewhere.value, frozenset(ref.name for ref in unit.kernels))

    usual = part(built.arch)
    if text.places is not None:
        return [usual]
    left_out = least = LeftOut.of(usual.unit, usual.parsed.left_out(), options)
    best = usual
    for target in left_out.targets(find_target(options.target)):
        if until.is_over():
            break
        other = part(architecture_of(target))
        others = LeftOut.of(other.unit, other.parsed.left_out(), options)
        if len(others.lacking) < len(least.lacking):
            least = others
            best = replace(other, architecture=others.beside(left_out, target.compute_capability))
        if not least.lacking:
            break
    newer = best.kernels - (usual.kernels - left_out.kernels)
    if best is usual or not newer:
        return [usual]
    return [replace(usual, kernels=usual.kernels - newer), replace(best, kernels=newer)]


def _usage(
    path: str, part: _Part, options: AnalysisOptions, text: CudaText
) -> tuple[Mapping[str, Usage], tuple[Shortfall, ...]]:
    """What compiled kernels take, as far as the user asks for it, and why some of it isn't known."""
    parts: list[Mapping[str, Usage]] = []
    failures: list[Shortfall] = []
    for cubin in options.cubins:
        try:
            parts.append(read_cubin(cubin))
        except UsageError as error:
            failures.append(Shortfall(f"--cubin {cubin}: {error}"))
    refused = next((problem.name for problem in part.parsed.problems if problem.is_refused), None)
    if options.ptxas and part.unit.kernels and refused is not None:
        failures.append(Shortfall(f"--ptxas: it is not compiled, as nvcc would read {refused}"))
    elif options.ptxas and part.unit.kernels:
        built = parse_options(path, options, text.options)
        unsaved = dict(options.unsaved).get(path) if text.places is None else text.data.decode("utf-8", "replace")
        compilation = Compilation(
            path, built.arch, built.include_dirs, built.defines, built.std, built.extra, options.max_registers,
            built.cuda_path, unsaved,
        )  # fmt: skip
        try:
            parts.append(compiled_usage(compilation))
        except UsageError as error:
            severity: Gravity = "warning" if isinstance(error, HeaderNotFoundError) else "error"
            failures.append(Shortfall(f"--ptxas: {error}", severity))
    return merged(parts), tuple(failures)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Deep recursion is fine, and nothing is collected until the file is done with: an analysis makes many small
    objects and hardly a cycle among them. Looking for those takes a tenth of the time, and a third for large
    functions."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
    enabled = gc.isenabled()
    gc.disable()
    other_files.begin()
    try:
        yield
        if not time_limit.is_over():
            other_files.end()
    finally:
        kept.forget()
        if enabled:
            gc.enable()


def _sources(path: str, unit: Unit) -> dict[str, str]:
    paths = {path, *(ref.span.path for ref in (*unit.kernels, *unit.host_functions))}
    return {p: p for p in sorted(paths)}
