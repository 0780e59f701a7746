"""Variants of a kernel's launch, and what the time model and the rules say of each.

A launch that the source has takes part as it is. A block of another size gets the grid that covers as many threads
along each axis, and the arguments that the launch has; the launch as it is, is then evaluated in the same way, so that
only what is asked about differs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Edit
from cudalint.facts import FileFacts, KernelFacts, LaunchFacts
from cudalint.facts.costs import Bound
from cudalint.fixes.edits import apply_edits
from cudalint.frontend.source_text import source_text
from cudalint.numerals import dimensions
from cudalint.options.analysis import AnalysisOptions, ParameterValue
from cudalint.registry import selected_rules
from cudalint.report.findings.results import Failure
from cudalint.run.file_facts import analyse
from cudalint.run.job import CheckJob
from cudalint.run.rule_findings import rule_findings
from cudalint.run.unchecked import Unchecked

MOST_VARIANTS = 64
"""Of one run."""
_SCALARS = ("int", "uint", "float", "bool")
_OF_THE_ANALYSIS = "CL9"
"""Codes that say nothing of the kernel."""


class Impossible(ValueError):
    """A variant that can't be made, and why."""


class WithoutKernels(Exception):
    """A file in which none was found; `facts` say what of it wasn't read."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self.facts = facts


class Variant(Struct, frozen=True):
    """What is other than in the source; None or empty is as it is there."""

    block: tuple[int, int, int] | None = None
    pads: tuple[tuple[str, int], ...] = ()
    """Arrays of shared memory, and how many elements a row of each has."""
    params: tuple[ParameterValue, ...] = ()
    registers: int | None = None
    target: str | None = None

    @property
    def is_as_written(self) -> bool:
        return replace(self, target=None) == Variant()

    @property
    def text(self) -> str:
        """What is other, but for the target."""
        parts = [f"block {dimensions(self.block)}"] if self.block else []
        parts += [f"{name} padded to {row}" for name, row in self.pads]
        parts += [f"{value.name}={value.value}" for value in self.params]
        parts += [f"{self.registers} registers"] if self.registers else []
        return ", ".join(parts) or "as it is"


class Outcome(Struct, frozen=True):
    """A variant of one kernel. Figures that are not known are None."""

    kernel: str
    variant: Variant
    target: str
    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None
    time_us: float | None = None
    bound: Bound = "unknown"
    occupancy: float | None = None
    sectors: float | None = None
    wavefronts: float | None = None
    dram_bytes: float | None = None
    findings: tuple[str, ...] = ()
    """Code and line of each; lines are the same in all variants."""
    appeared: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    failure: str = ""
    """Why there are no figures."""
    is_comparable: bool = True
    """Whether it does the work that the launch as it is does."""
    is_best: bool = False


class Asked(Struct, frozen=True):
    """What the user wants to know of a file."""

    job: CheckJob
    blocks: Sequence[tuple[int, int, int]] = ()
    pads: Mapping[str, Sequence[int]] = {}
    params: Mapping[tuple[str | None, str], Sequence[str]] = {}
    registers: Sequence[int] = ()
    targets: Sequence[str] = ()
    kernel: str | None = None

    def variants(self) -> list[Variant]:
        """All combinations, the launch as it is first, for each target.

        Raises Impossible for too many."""
        pads = list(itertools.product(*([(name, row) for row in rows] for name, rows in self.pads.items())))
        given = ([ParameterValue(*key, value) for value in values] for key, values in self.params.items())
        params = list(itertools.product(*given))
        found: list[Variant] = []
        for target in self.targets or (None,):
            found.append(Variant(target=target))
            for block, registers, rows, values in itertools.product(
                self.blocks or (None,), self.registers or (None,), pads, params
            ):
                each = Variant(block, rows, values, registers, target)
                if not each.is_as_written:
                    found.append(each)
        if len(found) > MOST_VARIANTS:
            raise Impossible(f"{len(found)} variants are more than the {MOST_VARIANTS} that one run tries")
        return found


class _Seen(Struct):
    """What is known already of a file with some variants' texts and options."""

    facts: dict[AnalysisOptions, FileFacts | Failure] = field(default_factory=dict)

    def of(self, path: str, options: AnalysisOptions) -> FileFacts | Failure:
        if options not in self.facts:
            self.facts[options] = analyse(path, options)
        return self.facts[options]


def outcomes(asked: Asked) -> Iterator[list[Outcome]]:
    """The outcomes of each kernel, with the best of each target marked.

    Raises Impossible where a variant can't be made, and for a file of which nothing is known; WithoutKernels."""
    variants, seen = asked.variants(), _Seen()
    first = seen.of(asked.job.path, asked.job.options)
    if isinstance(first, Failure):
        raise Impossible(first.message)
    names = list(dict.fromkeys(kernel.name for kernel in first.kernels))
    if not names:
        raise WithoutKernels(first)
    if asked.kernel is not None:
        if asked.kernel not in names:
            raise Impossible(f"there is no kernel `{asked.kernel}`")
        names = [asked.kernel]
    _check_arrays(asked, [kernel for kernel in first.kernels if kernel.name in names])
    for name in names:
        found = [_outcome(name, variant, asked, first, seen) for variant in variants]
        yield _judged(found)


def _check_arrays(asked: Asked, kernels: Sequence[KernelFacts]) -> None:
    known = {a.declaration.name for k in kernels for a in k.accesses if a.declaration is not None}
    for name in asked.pads:
        if name not in known:
            raise Impossible(f"there is no array `{name}` of shared memory")


def _outcome(name: str, variant: Variant, asked: Asked, first: FileFacts, seen: _Seen) -> Outcome:
    base = asked.job.options
    target = variant.target or base.target
    options = replace(base, target=target, only=(name,), params=(*base.params, *variant.params))
    if variant.registers is not None:
        options = replace(options, registers=variant.registers)
    try:
        unsaved = {**dict(base.unsaved), **_padded(name, variant, first, base)}
        options = replace(options, unsaved=tuple(unsaved.items()))
        facts = seen.of(asked.job.path, options)
        kernel, launch = _dearest(name, facts)
        if asked.blocks:
            options = _forced(kernel, launch, variant.block or launch.block, options)
            facts = seen.of(asked.job.path, options)
            kernel, launch = _dearest(name, facts)
    except Impossible as reason:
        return Outcome(name, variant, target, failure=str(reason))
    index = kernel.launches.index(launch)
    cost = kernel.cost_of(index)
    fits = kernel.occupancy_of(index)
    obstacles = fits.obstacles if fits is not None else ()
    if obstacles:
        return Outcome(name, variant, target, launch.block, launch.grid, failure=obstacles[0])
    return Outcome(
        name, variant, target, launch.block, launch.grid,
        cost.time_us if cost else None,
        cost.bound if cost else "unknown",
        fits.occupancy if fits else None,
        cost.sectors if cost else None,
        cost.wavefronts if cost else None,
        cost.dram_bytes if cost else None,
        tuple(_findings(kernel, facts, asked.job, options)),
        is_comparable=not variant.params and (variant.block is None or kernel.asks_block_size),
    )  # fmt: skip


def _findings(kernel: KernelFacts, facts: FileFacts | Failure, job: CheckJob, options: AnalysisOptions) -> list[str]:
    assert isinstance(facts, FileFacts)
    job = replace(job, options=options)
    found = [each.diagnostic for each in rule_findings(facts, job, selected_rules(job.selection), Unchecked())]
    own = (d for d in found if d.kernel == kernel.name and not d.code.startswith(_OF_THE_ANALYSIS))
    return sorted({f"{d.code}:{d.place.line}" for d in own})


def _dearest(name: str, facts: FileFacts | Failure) -> tuple[KernelFacts, LaunchFacts]:
    """The launch of a kernel that takes longest, of all its instantiations."""
    if isinstance(facts, Failure):
        raise Impossible(facts.message)
    pairs = [
        (time if time is not None else -1.0, -order, kernel, launch)
        for order, kernel in enumerate(facts.kernels)
        if kernel.name == name
        for launch, time in _times(kernel)
    ]
    if not pairs:
        raise Impossible("nothing could be evaluated")
    _, _, kernel, launch = max(pairs, key=lambda pair: pair[:2])
    return kernel, launch


def _times(kernel: KernelFacts) -> Iterator[tuple[LaunchFacts, float | None]]:
    times = {cost.launch: cost.time_us for cost in kernel.costs or ()}
    for index, launch in enumerate(kernel.launches):
        yield launch, times.get(index)


def _forced(
    kernel: KernelFacts, launch: LaunchFacts, block: tuple[int, int, int], options: AnalysisOptions
) -> AnalysisOptions:
    """The launch with another block, and a grid that covers as many threads."""
    grid = tuple(-(-old * blocks // new) for old, blocks, new in zip(launch.block, launch.grid, block, strict=True))
    given = {(value.kernel, value.name) for value in options.params}
    scalars = {leaf.name for each in kernel.parameters for leaf in each.leaves if leaf.kind in _SCALARS}
    own = tuple(
        ParameterValue(kernel.name, name, _spelled(value))
        for name, value in launch.arguments.items()
        if value is not None and name in scalars and not given & {(None, name), (kernel.name, name)}
    )
    x, y, z = grid
    return replace(
        options, block=block, grid=(x, y, z), shared=launch.dynamic_shared_bytes, force_launch=True,
        params=(*options.params, *own),
    )  # fmt: skip


def _spelled(value: float | bool) -> str:
    return str(int(value)) if isinstance(value, bool) else repr(value)


def _padded(name: str, variant: Variant, facts: FileFacts, options: AnalysisOptions) -> dict[str, str]:
    """The texts with rows of other lengths."""
    edits: dict[str, list[Edit]] = {}
    for array, row in variant.pads:
        found = {
            access.declaration.place: access.declaration
            for kernel in facts.kernels
            if kernel.name == name
            for access in kernel.accesses
            if access.declaration is not None and access.declaration.name == array
        }
        for declaration in found.values():
            place = declaration.extent_places[-1] if len(declaration.extents) > 1 else None
            if place is None:
                raise Impossible(f"`{array}` has no rows whose length is spelled in its declaration")
            if row < declaration.extents[-1]:
                raise Impossible(f"a row of `{array}` has {declaration.extents[-1]} elements, and {row} are fewer")
            edits.setdefault(place.path, []).append(Edit(place, str(row)))
    return {path: apply_edits(source_text(path, options), own) for path, own in edits.items()}


def _judged(found: Iterable[Outcome]) -> list[Outcome]:
    """With what is new and gone beside the launch as it is, on the same target, and the best of each target marked."""
    judged: list[Outcome] = []
    for _, of_target in itertools.groupby(found, key=lambda each: each.variant.target):
        each = list(of_target)
        before = set(each[0].findings) if not each[0].failure else set()
        each = [
            one
            if one.failure
            else replace(
                one,
                appeared=tuple(sorted(set(one.findings) - before)),
                vanished=tuple(sorted(before - set(one.findings))),
            )
            for one in each
        ]
        timed = [one for one in each if one.time_us is not None and one.is_comparable and not _is_broken(one)]
        best = min(timed, key=lambda one: one.time_us or 0.0, default=None)
        judged += [replace(one, is_best=True) if one is best and len(timed) > 1 else one for one in each]
    return judged


_OF_HARM = ("CL102", "CL106", "CL107", "CL202", "CL3", "CL502")
"""Rules of faults: a variant that brings one is no improvement."""


def _is_broken(one: Outcome) -> bool:
    return any(finding.startswith(_OF_HARM) for finding in one.appeared)

