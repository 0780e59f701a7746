"""Lints one file: its facts, the rules' findings, and what its annotations make of them.

This runs in a worker process. It knows no single rule and no reporter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Picture
from cudalint.facts import FileFacts, Place
from cudalint.frontend.source_text import source_text
from cudalint.numerals import count
from cudalint.options.analysis import AnalysisOptions
from cudalint.options.annotations import SourceAnnotations
from cudalint.options.suppressions import AnnotationReview, Outcome, suppress
from cudalint.project.settings import FileIgnores
from cudalint.registry import Selection, is_known, selected_rules
from cudalint.report.findings.gaps import note_on
from cudalint.report.findings.merging import joined
from cudalint.report.findings.results import (
    AllowedRule,
    Failure,
    FileReport,
    KernelSite,
    ShownKernel,
    TriedLaunch,
    coverage_of,
    worst_first,
)
from cudalint.rule import AnnotationRule
from cudalint.run.file_facts import analyse, with_kinds
from cudalint.run.job import CheckJob
from cudalint.run.rule_findings import rule_findings
from cudalint.run.stopwatch import Stopwatch
from cudalint.run.unchecked import Unchecked
from cudalint.shortfalls import Shortfall
from cudalint.source.bounds import Bounds
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.regular import read_regular_text
from cudalint.system.processes.faults import described
from cudalint.system.processes.time_limit import begin_last_part
from cudalint.system.processes.timings import timed

if TYPE_CHECKING:
    from cudalint.fixes.earlier import EarlierTrials
    from cudalint.run.baseline import Baseline


def check_file(job: CheckJob) -> FileReport | Failure:
    """Analyses a file and runs the selected rules on it."""
    # libclang and numpy are loaded here, in the worker, and not by whoever wants to name a job.
    from cudalint.run.baseline import Baseline

    stopwatch, baseline = Stopwatch(), Baseline()
    job = replace(job, options=replace(job.options, kinds=job.kinds()))
    facts = analyse(job.path, job.options, baseline=baseline)
    if not isinstance(facts, Failure):
        facts = _with_costs(facts, job, baseline)
    if isinstance(facts, Failure):
        return facts
    with timed("rules"):
        return report_on(facts, job, stopwatch, baseline=baseline)


def _with_costs(facts: FileFacts, job: CheckJob, baseline: Baseline) -> FileFacts | Failure:
    """The facts with what says how much findings of waste cost, for the kernels that have any."""
    if job.kinds_of_wasteful() <= job.options.kinds:
        return facts
    rules = [rule for rule in selected_rules(job.selection) if rule.is_waste]
    with timed("rules"):
        found = rule_findings(facts, job, rules, Unchecked())
        wasteful = {finding.kernel.name for finding in found if finding.kernel is not None}
    return with_kinds(facts, job.kinds_of_wasteful(), wasteful, job.options, baseline)


def nothing_tried(kernel: Place) -> None:
    """For a file of which no edits were tried before."""


def report_on(
    facts: FileFacts,
    job: CheckJob,
    stopwatch: Stopwatch | None = None,
    tried_in: Callable[[Place], EarlierTrials | None] = nothing_tried,
    baseline: Baseline | None = None,
) -> FileReport:
    """Runs the selected rules on the facts, for which a stopwatch has run from the beginning, applies the annotations
    of the file and its headers, and proves the edits that are left; `tried_in` as in `Proof`, `baseline` as the
    analysis has left it."""
    return Draft.of(facts, job, stopwatch or Stopwatch(), tried_in, baseline).report()


class Draft(Struct, frozen=True, eq=False):
    """What is found in a file before its edits are tried."""

    facts: FileFacts
    job: CheckJob
    stopwatch: Stopwatch
    tried_in: Callable[[Place], EarlierTrials | None]
    outcome: Outcome
    complaints: Sequence[Diagnostic]
    unused: Sequence[tuple[AllowedRule, Diagnostic]]
    failures: Sequence[Shortfall]
    baseline: Baseline | None = None

    @classmethod
    def of(
        cls, facts: FileFacts, job: CheckJob, stopwatch: Stopwatch, tried_in: Callable[[Place], EarlierTrials | None],
        baseline: Baseline | None = None,
    ) -> Draft:  # fmt: skip
        failures = list(facts.failures)
        begin_last_part()
        unchecked = Unchecked()
        findings = list(rule_findings(facts, job, selected_rules(job.selection), unchecked))
        failures += unchecked.shortfalls()
        annotations = _annotations(facts, job.options)
        outcome = suppress(findings, facts.kernels, annotations, is_known, facts.status == "ok")
        complaints, unused = _annotation_findings(outcome.reviews, job.selection, failures)
        return cls(facts, job, stopwatch, tried_in, outcome, complaints, unused, failures, baseline)

    def report(self) -> FileReport:
        return self._with(*self._proved(tries=True))

    def preview(self) -> FileReport | None:
        """The report with what earlier trials show, in which edits that were in none are only words; None where
        it is the report."""
        from cudalint.run.proven_edits import is_awaited

        proved, failures = self._proved(tries=False)
        return self._with(proved, failures) if any(is_awaited(diagnostic) for diagnostic in proved) else None

    def _proved(self, tries: bool) -> tuple[list[Diagnostic], list[Shortfall]]:
        """What is kept, and what failed."""
        failures = list(self.failures)
        kept = self.outcome.kept
        if all(diagnostic.suggestion is None for diagnostic in kept):
            return list(kept), failures  # What tries edits isn't even imported.
        from cudalint.run.baseline import Baseline
        from cudalint.run.proven_edits import only_words, with_proven_edits

        baseline = self.baseline or Baseline()
        try:
            with timed("edits"):
                proved = with_proven_edits(
                    kept, self.facts, self.job, self.stopwatch, baseline, self.tried_in, tries
                )
                return proved, failures
        except Exception as error:
            failures.append(Shortfall(f"edits are not tried: {described(error)}"))
            return list(map(only_words, kept)), failures

    def _with(self, proved: Sequence[Diagnostic], failures: list[Shortfall]) -> FileReport:
        facts, job = self.facts, self.job
        launched, unlaunched = _by_launch(facts)
        kept = (_for_travel(diagnostic, job.pictures) for diagnostic in joined(proved))
        placed = Bounds(partial(source_text, options=job.options)).placed
        diagnostics = _worst(_reported(map(placed, (*kept, *self.complaints)), job.ignores), job, "", failures)
        allowed = (placed(_as_allowed(diagnostic)) for diagnostic in self.outcome.suppressed)
        suppressed = _worst(_reported(allowed, job.ignores), job, "allowed ", failures)
        return FileReport(
            path=job.path,
            status=facts.status,
            diagnostics=diagnostics,
            suppressed=suppressed,
            unused=tuple((allowed, d) for allowed, d in self.unused if _reported((d,), job.ignores)),
            used=tuple(AllowedRule(entry.place, entry.rule) for entry in self.outcome.used),
            coverage=coverage_of(facts),
            sources=_headers(facts, job.path),
            parameters=facts.parameters,
            failures=tuple(failures),
            note=note_on(facts),
            launched=launched,
            unlaunched=unlaunched,
            tried={
                (kernel.name, kernel.instantiation): tuple(map(TriedLaunch.of, kernel.launches))
                for kernel in facts.kernels
            },
            whole=frozenset((kernel.name, kernel.instantiation) for kernel in facts.kernels if not kernel.gaps),
            kernels=_shown(facts, job) if job.shows_kernels else (),
        )


def _headers(facts: FileFacts, path: str) -> dict[str, str]:
    headers = {disk.resolved(source): shown for source, shown in facts.sources.items()}
    headers.pop(disk.resolved(path), None)
    return headers


def _shown(facts: FileFacts, job: CheckJob) -> tuple[ShownKernel, ...]:
    from cudalint.run.showing import shown

    return shown(facts, job.options.target)


def _by_launch(facts: FileFacts) -> tuple[frozenset[KernelSite], frozenset[KernelSite]]:
    """The kernels that something launches, and the others."""
    found: tuple[set[KernelSite], set[KernelSite]] = (set(), set())
    for kernel in facts.kernels:
        site = KernelSite(kernel.name, disk.resolved(kernel.place.path))
        is_made_up = all(launch.is_made_up for launch in kernel.launches)
        found[is_made_up].add(site)
    launched, unlaunched = found
    return frozenset(launched), frozenset(unlaunched - launched)


def joint_edits(job: CheckJob, sets: Sequence[tuple[Edit, ...]]) -> list[tuple[Edit, ...]]:
    """Which of some sets of edits that findings of a file suggest hold when they are made at once."""
    from cudalint.run.proven_edits import edits_held_together

    def kept(facts: FileFacts) -> Sequence[Diagnostic]:
        findings = list(rule_findings(facts, job, selected_rules(job.selection), Unchecked()))
        annotations = _annotations(facts, job.options)
        return suppress(findings, facts.kernels, annotations, is_known, facts.status == "ok").kept

    return edits_held_together(job, sets, kept)


def _as_allowed(diagnostic: Diagnostic) -> Diagnostic:
    """What an annotation allows is listed for its justification, and nobody changes it."""
    from cudalint.run.proven_edits import only_words

    return replace(only_words(diagnostic), picture=None)


def _reported(diagnostics: Iterable[Diagnostic], ignores: FileIgnores) -> tuple[Diagnostic, ...]:
    return tuple(d for d in diagnostics if not ignores.ignores(d.place.path, d.code, d.name))


def _worst(
    found: tuple[Diagnostic, ...], job: CheckJob, kind: str, failures: list[Shortfall]
) -> tuple[Diagnostic, ...]:
    """As many findings as are wanted of a file, in the order in which they came."""
    most = job.most_findings
    if most is None or len(found) <= most:
        return found
    left_out = count(len(found) - most, f"more {kind}finding")
    failures.append(Shortfall(f"{left_out} left out; --max-findings tells more", "warning"))
    reported = {id(diagnostic) for diagnostic in islice(worst_first(found), most)}
    return tuple(diagnostic for diagnostic in found if id(diagnostic) in reported)


def _annotations(facts: FileFacts, options: AnalysisOptions) -> Mapping[str, SourceAnnotations]:
    """The annotations of every source that contributed, by the path that places in it carry."""
    from cudalint.frontend.texts import annotations_in

    unsaved = dict(options.unsaved)
    paths = {facts.path: facts.path, **facts.sources}
    return {
        shown: annotations
        for path, shown in paths.items()
        if (annotations := annotations_in(path, unsaved.get(shown) or _read(path))) != SourceAnnotations()
    }


def _read(path: str) -> str:
    try:
        return read_regular_text(path)
    except OSError:
        # It was there when the front end read it; without its text it has no annotations.
        return ""


def _annotation_findings(
    reviews: tuple[AnnotationReview, ...], selection: Selection, failures: list[Shortfall]
) -> tuple[list[Diagnostic], list[tuple[AllowedRule, Diagnostic]]]:
    """What the rules about annotations say: what stands, and what depends on other files of the run. `failures`
    gets those rules that fail."""
    rules = selected_rules(selection)
    # A suppression is only of no use if its rule had a chance to need it.
    ran = {name for rule in rules for name in (rule.code, rule.name)}
    standing: list[Diagnostic] = []
    depending: list[tuple[AllowedRule, Diagnostic]] = []
    for rule_class in rules:
        if not issubclass(rule_class, AnnotationRule):
            continue
        rule = rule_class()
        try:
            for review in reviews:
                standing += rule.check(replace(review, unused=()))
                for entry in review.unused:
                    if entry.rule.upper() in ran or entry.rule.lower() in ran:
                        complaints = rule.check(replace(review, malformed=(), unused=(entry,)))
                        depending += ((AllowedRule(entry.place, entry.rule), complaint) for complaint in complaints)
        except Exception as error:
            failures.append(Shortfall(f"{rule_class.code} is not checked for the file: {described(error)}"))
    return standing, depending


def _for_travel(diagnostic: Diagnostic, pictures: bool) -> Diagnostic:
    """Leaves out what nobody will draw: the whole picture, or the requests of the sample that it doesn't show."""
    if diagnostic.picture is None:
        return diagnostic
    return replace(diagnostic, picture=_slim(diagnostic.picture) if pictures else None)


def _slim(picture: Picture) -> Picture:
    row = slice(picture.request, picture.request + 1)
    sample = picture.sample
    only = replace(
        sample,
        addresses=sample.addresses[row],
        mask=sample.mask[row],
        weights=sample.weights[row],
        warps=sample.warps[row],
        subscripts=tuple(subscript[row] for subscript in sample.subscripts),
    )
    return replace(picture, sample=only, request=0)
