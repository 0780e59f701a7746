"""From a file to trials: its facts and findings, and for each kernel and launch the text, the arguments and the
errors that are predicted. This runs in a worker process, since libclang may crash."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.confirm.planning import TINY_SIZE, CannotRun, Plan, TooLarge, open_sizes, plan_arguments
from cudalint.confirm.sources import Build, build_of
from cudalint.confirm.trials import Trial
from cudalint.diagnostics import Diagnostic
from cudalint.facts import Access, FileFacts, KernelFacts, KnownExtents, LaunchFacts
from cudalint.frontend.flags import ParseOptions
from cudalint.frontend.parse import ParsedFile, parse_file
from cudalint.frontend.parse_options import parse_options
from cudalint.frontend.python.detect import is_python
from cudalint.frontend.slices import kernel_slice
from cudalint.frontend.source_text import source_text
from cudalint.options.analysis import AnalysisOptions, ParameterValue
from cudalint.registry import Selection
from cudalint.report.findings.results import Failure
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import report_on
from cudalint.run.job import CheckJob
from cudalint.system.disk.encoding import to_bytes

_ERRORS = {
    "CL102": ("misaligned address",),
    "CL106": ("wrote outside",),
    "CL107": ("wrote outside", "illegal memory access", "illegal address", "misaligned address"),
    "CL202": ("too much shared data", "invalid argument", "invalid value", "out of resources"),
    "CL302": ("does not end", "given up"),
    "CL502": ("invalid argument", "invalid value", "invalid configuration", "out of resources"),
}
"""Findings that a run confirms by failing, with what the driver then says, or `confirm` of the bytes around a buffer.
"""
_UNCERTAIN = ("CL106", "CL107", "CL302")
"""What lies behind an array need not be out of everybody's bounds, a tail needs a size that leaves one, and a barrier
that some threads miss need not hang."""
_LEAVING = ("CL106", "CL107")
"""Findings that show only where buffers are no larger than the program makes them."""
_SMALLER = 2
"""How often smaller sizes are tried."""
ParameterName = tuple[str, str]
"""A kernel, and its parameter."""


class PrepareJob(Struct, frozen=True):
    path: str
    options: AnalysisOptions
    folder: str
    """Where the builds of this file's kernels are put."""


class Expected(Struct, frozen=True):
    """An error that the linter predicts for a launch."""

    diagnostic: Diagnostic
    words: tuple[str, ...]
    certain: bool
    """False where it depends on an argument: then no error is no disagreement."""


class Candidate(Struct, frozen=True, eq=False):
    """A kernel under one launch, with its trial or the reason why there is none."""

    kernel: KernelFacts
    launch: int
    trial: Trial | None
    plan: Plan | None
    reason: str = ""
    expected: tuple[Expected, ...] = ()

    @property
    def facts(self) -> LaunchFacts:
        return self.kernel.launches[self.launch]


class Prepared(Struct, frozen=True, eq=False):
    path: str
    candidates: tuple[Candidate, ...]
    diagnostics: tuple[Diagnostic, ...]


def prepare(job: PrepareJob) -> Prepared | Failure:
    facts = analyse(job.path, job.options)
    if isinstance(facts, Failure):
        return facts
    given: dict[ParameterName, int] = {}
    whole = job
    for _ in range(_SMALLER):
        sizes = _small_sizes(facts, given)
        if sizes == given:
            break
        given = sizes
        # What the user says comes last, and holds.
        params = (*(ParameterValue(*name, str(value)) for name, value in sizes.items()), *whole.options.params)
        job = replace(whole, options=replace(whole.options, params=params))
        facts = analyse(job.path, job.options)
        if isinstance(facts, Failure):
            return facts
    check = CheckJob(job.path, job.options, Selection(), pictures=False)
    diagnostics = report_on(facts, check).diagnostics
    builds = _Builds(job)
    candidates = list(_candidates(facts, diagnostics, builds, job))
    return Prepared(job.path, tuple(candidates), diagnostics)


def _small_sizes(facts: FileFacts, given: Mapping[ParameterName, int]) -> dict[ParameterName, int]:
    """Sizes for kernels whose generic ones, or those that were given before, would take too much memory."""
    found = dict(given)
    for kernel in facts.kernels:
        own = [name for name in given if name[0] == kernel.name]
        for launch in range(len(kernel.launches)):
            try:
                plan_arguments(kernel, launch)
            except TooLarge as error:
                found |= {(kernel.name, name): error.try_instead for name in open_sizes(kernel, launch)}
                found |= dict.fromkeys(own, TINY_SIZE)
            except CannotRun:
                continue
    return found


def _candidates(
    facts: FileFacts, diagnostics: Sequence[Diagnostic], builds: _Builds, job: PrepareJob
) -> Iterator[Candidate]:
    for number, kernel in enumerate(facts.kernels):
        if kernel.name_place.path != facts.path:
            continue  # A header's kernel is confirmed with the header.
        try:
            build: Build | str = builds.build(kernel)
        except LookupError as error:
            build = str(error)
        slim = _slim(kernel)
        for launch in range(len(kernel.launches)):
            expected = tuple(_expected(kernel, launch, diagnostics))
            folder = os.path.join(job.folder, f"k{number}l{launch}")
            yield _candidate(slim, launch, build, expected, folder)


def _candidate(
    kernel: KernelFacts, launch: int, build: Build | str, expected: tuple[Expected, ...], folder: str
) -> Candidate:
    facts = kernel.launches[launch]
    leaves = any(one.diagnostic.code in _LEAVING for one in expected)
    try:
        plan = plan_arguments(kernel, launch, leaves, _values_of(kernel, launch, expected))
    except CannotRun as error:
        return Candidate(kernel, launch, None, None, str(error), expected)
    if isinstance(build, str):
        return Candidate(kernel, launch, None, plan, build, expected)
    site = facts.site
    trial = Trial(
        build, folder, asked_block(facts), _known(site.grid if site else None, facts.grid), plan.dynamic_shared,
        plan.arguments, plan.buffers, plan.zero_integers, site.opted_in_bytes if site else None,
    )  # fmt: skip
    return Candidate(kernel, launch, trial, plan, "", expected)


def asked_block(launch: LaunchFacts) -> tuple[int, int, int]:
    """The block that the program asks for, which may be none that can be launched."""
    return _known(launch.site.block if launch.site else None, launch.block)


def _known(asked: KnownExtents | None, evaluated: tuple[int, int, int]) -> tuple[int, int, int]:
    if asked is None:
        return evaluated
    x, y, z = asked
    return evaluated if x is None or y is None or z is None else (x, y, z)


def _expected(kernel: KernelFacts, launch: int, diagnostics: Sequence[Diagnostic]) -> Iterator[Expected]:
    facts = kernel.launches[launch]
    for diagnostic in diagnostics:
        words = _ERRORS.get(diagnostic.code)
        if words is None or diagnostic.instantiation != kernel.instantiation:
            continue
        for one in (diagnostic, *diagnostic.variants):
            blocks = (facts.block, asked_block(facts))
            of_launch = any(d.block in blocks and (d.grid, d.line) == (facts.grid, facts.line) for d in one.launches)
            if of_launch or not one.launches:
                certain = one.severity == "error" and one.code not in _UNCERTAIN
                yield Expected(diagnostic, words, certain)
                break


def _values_of(kernel: KernelFacts, launch: int, expected: Sequence[Expected]) -> dict[str, int]:
    """The arguments with which a misalignment shows that the program cannot avoid."""
    places = [one.diagnostic.place for one in expected if one.certain]
    for found in kernel.misalignments:
        if found.launch == launch and found.place in places:
            known = kernel.launches[launch].arguments
            return {name: value for name, value in found.values if name in known}
    return {}


def _slim(kernel: KernelFacts) -> KernelFacts:
    """Without the samples, which nobody needs behind this process."""
    accesses = tuple(_without_samples(access) for access in kernel.accesses)
    return replace(kernel, accesses=accesses)


def _without_samples(access: Access) -> Access:
    return replace(access, results=tuple(replace(result, sample=None) for result in access.results))


class _Builds:
    """Texts of a file's kernels; the file is parsed once, when the first of them asks."""

    def __init__(self, job: PrepareJob) -> None:
        self._job = job
        self._parsed: ParsedFile | None = None
        self._options = parse_options(job.path, job.options)

    def build(self, kernel: KernelFacts) -> Build:
        place = kernel.name_place
        if is_python(self._job.path):
            raise LookupError("kernels inside of Python programs are not compiled by this command")
        if self._parsed is None:
            self._parsed = parse_file(self._job.path, self._options, self._read(self._job.path))
        sliced = kernel_slice(self._parsed, place.path, place.line, place.column)
        if sliced.is_template and "<" not in kernel.instantiation:
            raise LookupError("nothing instantiates the template")
        return build_of(sliced, kernel.instantiation, self._read, compiler_options(self._options))

    def _read(self, path: str) -> bytes:
        return to_bytes(source_text(path, self._job.options))


def compiler_options(options: ParseOptions) -> tuple[str, ...]:
    """The options of the front end, for a compiler. Includes of the project come along as files."""
    standard = (f"-std={options.std}",) if options.std else ()
    folders = tuple(f"-I{folder}" for folder in options.include_dirs)
    return (*standard, *folders, *[f"-D{define}" for define in options.defines])
