"""What a run finds out, on its way from the workers to the reporters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.facts import FileFacts, Frame, KernelFacts, LaunchFacts, LeftOutLaunches, Operation, Place, Space
from cudalint.kinds import Kinds
from cudalint.report.findings.showing import marked
from cudalint.shortfalls import Gravity, Shortfall

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first."""

_EVALUATED = frozenset({"exact", "assumed", "range", "unreached"})


class Failure(Struct, frozen=True):
    """A path that could not be linted, or not in full, and why, in one line."""

    path: str
    message: str
    severity: Gravity = "error"
    """A warning where the rest of the file was done."""
    kernels: tuple[str, ...] = ()
    """The first of those that it costs, where it is about kernels."""
    number: int = 0
    """How many kernels these are."""
    is_late: bool = False
    """Whether time ran out."""

    @classmethod
    def of(cls, path: str, shortfall: Shortfall) -> Failure:
        return cls(path, shortfall.message, shortfall.severity, shortfall.kernels, shortfall.number, shortfall.is_late)


def are_errors(failures: Iterable[Failure]) -> bool:
    """Whether something could not be done at all: what was left out of a linted file is no failure of a run."""
    return any(failure.severity == "error" for failure in failures)


class Note(NamedTuple):
    """What a user may want to know of a path that was linted, in one line."""

    path: str
    message: str


class Site(NamedTuple):
    """An access of the source. The same one may be seen through several instantiations and several files."""

    kernel: Place
    place: Place
    space: Space
    operation: Operation
    inlined_from: tuple[Frame, ...]


class UnknownKernel(NamedTuple):
    """A kernel of which nothing could be evaluated, in one of its instances at least."""

    name: str
    kernel: Place
    named_at: Place
    """Where its name stands, and the finding about what is missing."""


class Coverage(Struct, frozen=True):
    """How much of some files was evaluated. Coverages of several files add up without counting headers twice."""

    kernels: frozenset[Place] = frozenset()
    accesses: frozenset[Site] = frozenset()
    unevaluated: frozenset[Site] = frozenset()
    """Those of `accesses` that at least one launch of one instantiation left without figures."""
    left_out: frozenset[tuple[str, LeftOutLaunches]] = frozenset()
    """Launches that were not evaluated, with the instantiation that they launch."""
    seen_into: frozenset[Place] = frozenset()
    """Those of `kernels` of which anything is known: an access has figures or depends on loaded data, or there was
    nothing to evaluate, and nothing was left out."""
    unseen: frozenset[UnknownKernel] = frozenset()
    """Those of `kernels` that one file or instance saw nothing of; another may have seen into them."""
    sampled: frozenset[Place] = frozenset()
    """Those of `kernels` of whose instances some were not evaluated."""
    is_of_accesses: bool = True
    """Whether all accesses were looked at: no rule may have asked for them, and then nothing is known of them."""

    @property
    def unknown_kernels(self) -> int:
        """Kernels of which nothing could be evaluated: that nothing was found in them says nothing."""
        return len(self.kernels - self.seen_into)

    def named_unknown(self) -> list[UnknownKernel]:
        """Those, in the order of the source."""
        found = (each for each in self.unseen if each.kernel not in self.seen_into)
        return sorted(found, key=lambda each: (each.named_at, each.name))

    @property
    def kernels_without_accesses(self) -> int:
        """Those among them in which not one access was found, although they may make some."""
        return len(self.kernels - self.seen_into - {site.kernel for site in self.accesses})

    @property
    def evaluated(self) -> int:
        return len(self.accesses) - len(self.unevaluated)

    @property
    def launches_left_out(self) -> int:
        """At least as many."""
        return sum(launches.launches for _, launches in self.left_out)


def coverage_of(facts: FileFacts) -> Coverage:
    facts = replace(facts, kernels=tuple(kernel for kernel in facts.kernels if not kernel.is_unasked))
    accesses: set[Site] = set()
    unevaluated: set[Site] = set()
    for kernel in facts.kernels:
        for access in kernel.accesses:
            site = Site(kernel.place, access.place, access.space, access.operation, access.inlined_from)
            accesses.add(site)
            if not access.results or any(result.status not in _EVALUATED for result in access.results):
                unevaluated.add(site)
    places = frozenset(kernel.place for kernel in facts.kernels)
    left_out = frozenset((kernel.instantiation, launches) for kernel in facts.kernels for launches in kernel.left_out)
    seen_into = frozenset(kernel.place for kernel in facts.kernels if is_seen_into(kernel))
    unseen = frozenset(
        UnknownKernel(kernel.name, kernel.place, kernel.name_place)
        for kernel in facts.kernels
        if kernel.place not in seen_into
    )
    sampled = frozenset(
        kernel.place for kernel in facts.kernels if any(gap.kind == "instantiations" for gap in kernel.gaps)
    )
    is_of_accesses = all("accesses" in kernel.collected for kernel in facts.kernels)
    return Coverage(
        places, frozenset(accesses), frozenset(unevaluated), left_out, seen_into, unseen, sampled, is_of_accesses
    )  # fmt: skip


def is_seen_into(kernel: KernelFacts) -> bool:
    """Whether anything is known of a kernel: that it touches no memory, too, if all that it does was read."""
    if not kernel.accesses:
        return all(gap.kind in ("races", "unit") for gap in kernel.gaps)
    statuses = {result.status for access in kernel.accesses for result in access.results}
    return not statuses.isdisjoint({*_EVALUATED, "data-dependent"})


def total_coverage(parts: Iterable[Coverage]) -> Coverage:
    """The coverage of all parts together."""
    parts = list(parts)
    sets = (name for name in Coverage.__struct_fields__ if name != "is_of_accesses")
    united: dict[str, Any] = {name: frozenset().union(*(getattr(part, name) for part in parts)) for name in sets}
    return Coverage(**united, is_of_accesses=all(part.is_of_accesses for part in parts))


class AllowedRule(NamedTuple):
    """One rule that one annotation allows: what is of use in a header may be so for some of its includers only."""

    place: Place
    rule: str
    """As the annotation spells it."""


LaunchLine = tuple[str | None, int | None]
"""Where a launch stands, as `LaunchFacts` has it."""


class KernelSite(NamedTuple):
    """A kernel of the source, however many files include it."""

    name: str
    path: str
    """Resolved."""


class TriedLaunch(NamedTuple):
    """A launch that an instantiation of a kernel was evaluated under."""

    at: frozenset[LaunchLine]
    """The statements that make it."""
    in_part: Kinds
    """See `LaunchFacts`."""

    @classmethod
    def of(cls, launch: LaunchFacts) -> TriedLaunch:
        sites = (site.place for site in launch.twins)
        return cls(frozenset({(launch.path, launch.line), *((site.path, site.line) for site in sites)}), launch.in_part)


class ShownKernel(Struct, frozen=True, eq=False):
    """An instantiation of a kernel for a report that shows it, and the GPU that its figures are for.

    Of the requests of each access a few are left, no two of which look the same; `collected` of the facts is empty.
    """

    facts: KernelFacts
    target: str


class FileReport(Struct, frozen=True):
    """What the rules say about one file and the headers that it includes."""

    path: str
    status: Literal["ok", "partial", "failed"]
    diagnostics: tuple[Diagnostic, ...]
    """Without those that an annotation suppresses."""
    suppressed: tuple[Diagnostic, ...]
    """Those, with their justification."""
    unused: tuple[tuple[AllowedRule, Diagnostic], ...]
    """Complaints about suppressions of no use in this file; another file may use one that stands in a header."""
    used: tuple[AllowedRule, ...]
    coverage: Coverage
    sources: dict[str, str]
    """The headers that the file includes: what its findings call them, by resolved path."""
    parameters: frozenset[tuple[str, str]] = frozenset()
    """Each kernel with each of its scalar parameters."""
    failures: tuple[Shortfall, ...] = ()
    """What was asked for beyond the linting and could not be had, and what was left for lack of time."""
    note: str | None = None
    """What a user may want to know of the file."""
    launched: frozenset[KernelSite] = frozenset()
    unlaunched: frozenset[KernelSite] = frozenset()
    """Kernels that something in sight of the file launches, and those that it makes up launches for."""
    whole: frozenset[tuple[str, str]] = frozenset()
    """Each kernel with each of its instantiations that was evaluated without a gap."""
    tried: dict[tuple[str, str], tuple[TriedLaunch, ...]] = field(default_factory=dict)
    """The launches that each of these, and of the others, was evaluated under."""
    min_share: float = 0.0
    """What waste that is shown takes of its kernel at least; see `findings/showing.py`."""
    kernels: tuple[ShownKernel, ...] = ()
    """For reports that show kernels, where one was asked for."""

    def with_least(self, share: float) -> FileReport:
        """With those findings held back that take less of their kernels, and all shown for a share of 0."""
        return replace(self, diagnostics=tuple(marked(d, share) for d in self.diagnostics), min_share=share)


class CheckResult(Struct, frozen=True):
    """A whole run: what the reporters print."""

    target: str
    diagnostics: tuple[Diagnostic, ...] = ()
    failures: tuple[Failure, ...] = ()
    files: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    suppressed: tuple[Diagnostic, ...] = ()
    """What annotations allow; only formats that know of suppressions list them."""
    paths: tuple[str, ...] = ()
    """The files that were linted."""
    parameters: frozenset[tuple[str, str]] = frozenset()
    """Each kernel of the run with each of its scalar parameters."""
    minor: tuple[Diagnostic, ...] = ()
    """Findings that are held back, which are counted only."""
    min_share: float = 0.0
    known: tuple[Diagnostic, ...] = ()
    """Findings of a baseline, which fail no run: waste that is put up with is waste."""
    asides: tuple[str, ...] = ()
    """What the summary says of findings that are not among the diagnostics."""
    closing: tuple[str, ...] = ()
    """Lines below the summary, of what the run has written."""
    notes: tuple[Note, ...] = ()
    not_linted: tuple[tuple[str, int], ...] = ()
    """Languages of kernels that are no CUDA C++, as `Triton kernel`, and how many there are."""
    fixed: tuple[Diagnostic, ...] = ()
    """Findings that are no more, since the edits that they suggested were made."""
    kernels: tuple[ShownKernel, ...] = ()
    """In the order of the source, each instantiation once; none where no report that shows them was asked for."""

    def count(self, severity: Severity) -> int:
        return sum(diagnostic.severity == severity for diagnostic in self.diagnostics)

    def reaches(self, threshold: Severity) -> bool:
        """Whether any finding is at least as bad as `threshold`."""
        return any(is_at_least(diagnostic.severity, threshold) for diagnostic in self.diagnostics)


def unknown_and_not_put_up_with(result: CheckResult) -> list[UnknownKernel]:
    """The kernels of which nothing could be evaluated, but for those whose finding about it (CL902) a baseline has or
    an annotation allows; of a result whose findings are still single places."""
    known = {(d.place, d.kernel) for d in (*result.known, *result.suppressed) if "nothing_evaluated" in d.figures}
    return [each for each in result.coverage.named_unknown() if (each.named_at, each.name) not in known]


def is_at_least(severity: Severity, threshold: Severity) -> bool:
    return SEVERITIES.index(severity) <= SEVERITIES.index(threshold)


def worst_first(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Errors before warnings before infos, and those with the greater excess first."""
    yield from sorted(diagnostics, key=lambda d: (SEVERITIES.index(d.severity), -excess(d)))


def excess(diagnostic: Diagnostic) -> float:
    """By what factor the figures exceed their ideal, 1 where the diagnostic has no such pair; of a missing barrier how
    many arrays lack it; of gaps 2 where nothing of the kernel was evaluated, which is worse than a part of it."""
    figures = diagnostic.figures
    factors = [
        figures[name] / figures[ideal]
        for name, ideal in _FIGURE_AND_IDEAL
        if name in figures and figures.get(ideal, 0) > 0
    ]
    return max(factors, default=figures.get("arrays", 1.0 + figures.get("nothing_evaluated", 0.0)))


_FIGURE_AND_IDEAL = (
    ("wavefronts_per_request", "ideal_wavefronts"),
    ("sectors_per_request", "ideal_sectors"),
)
