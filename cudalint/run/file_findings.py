"""Lints one file: its facts, the rules' findings, and what its annotations make of them.

This runs in a worker process. The engine knows no single rule and no reporter.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Picture
from cudalint.facts import FileFacts, KernelFacts, Place
from cudalint.facts.needs import Need
from cudalint.frontend.source_text import source_text
from cudalint.hardware.features import target_for
from cudalint.hardware.targets import Target, find_target
from cudalint.kinds import SHOWN_KINDS, Kinds
from cudalint.numerals import count
from cudalint.options.analysis import AnalysisOptions
from cudalint.options.annotations import SourceAnnotations
from cudalint.options.suppressions import AnnotationReview, Finding, Outcome, suppress
from cudalint.project.settings import FileIgnores
from cudalint.project.thresholds import Thresholds
from cudalint.registry import RuleClass, Selection, all_rules, is_known, kinds_read_by, selected_rules
from cudalint.report.findings.causes import of_one_cause
from cudalint.report.findings.gaps import note_on
from cudalint.report.findings.merging import joined
from cudalint.report.findings.results import (
    AllowedRule,
    Failure,
    FileReport,
    KernelSite,
    ShownKernel,
    coverage_of,
    worst_first,
)
from cudalint.report.findings.severities import Severities
from cudalint.report.findings.showing import marked
from cudalint.rule import AnnotationRule, Rule, RuleContext
from cudalint.run.unchecked import Unchecked
from cudalint.run.weighing import weighed_together
from cudalint.shortfalls import Shortfall
from cudalint.source.bounds import Bounds
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.regular import read_regular_text
from cudalint.system.processes.faults import described
from cudalint.system.processes.time_limit import OutOfTime, begin_last_part, interruptible, may_interrupt
from cudalint.system.processes.timings import taken, timed

if TYPE_CHECKING:
    from cudalint.fixes.edits import MovedLines
    from cudalint.fixes.proof import Lasted, Proof, Tried
    from cudalint.run.baseline import Baseline
    from cudalint.run.file_analysis import Keeper
    from cudalint.run.kernel_analysis import Watch

_LEAST_FOR_EDITS = 6.0
_SHARE_FOR_EDITS = 4.0
"""What the trials of a file's edits may take: so many seconds, or so many times what its analysis took."""


class Stopwatch:
    """Runs from the beginning of a file's analysis."""

    def __init__(self) -> None:
        self._begin = time.process_time()
        self.again()

    def again(self) -> None:
        """The analysis begins anew; what was spent stays."""
        self._start, self._before = time.process_time(), taken().kernels

    def pause(self) -> None:
        self._paused = time.process_time(), taken().kernels

    def go_on(self) -> None:
        """What was done since it paused was for something else."""
        at, kernels = self._paused
        since, now = time.process_time() - at, taken().kernels
        self._begin, self._start = self._begin + since, self._start + since
        self._before = {
            name: self._before.get(name, 0.0) + spent - kernels.get(name, 0.0) for name, spent in now.items()
        }

    @property
    def seconds(self) -> float:
        """Spent until now."""
        return time.process_time() - self._begin

    @property
    def lasted(self) -> Lasted:
        """What was spent since the beginning of the last analysis, and on which kernels."""
        from cudalint.fixes.proof import Lasted

        kernels = {name: spent - self._before.get(name, 0.0) for name, spent in taken().kernels.items()}
        return Lasted(kernels, time.process_time() - self._start - sum(kernels.values()))


class CheckJob(Struct, frozen=True):
    """One file to lint, with all that it takes; travels to a worker."""

    path: str
    options: AnalysisOptions
    selection: Selection
    pictures: bool
    """Whether somebody will look at the pictures; without, they don't travel back."""
    thresholds: Thresholds = field(default_factory=dict)
    ignores: FileIgnores = field(default_factory=FileIgnores)
    counts_accesses: bool = False
    """Whether somebody asks how many accesses could be evaluated, even if no rule looks at them."""
    most_findings: int | None = None
    """Of more than this the worst are told, and how many there are besides."""
    shows_kernels: bool = False
    """Whether the report shows the kernels with their figures, whatever the rules find."""
    tries_edits: bool = True
    """Whether somebody asks for edits, which are tried before anybody gets to see them."""
    severities: Severities = field(default_factory=Severities)
    min_share: float = 0.0
    """What decides which findings are shown: edits of the others are not tried."""

    def kinds(self) -> Kinds:
        """The kinds of facts that are needed."""
        rules = selected_rules(self.selection)
        kinds = kinds_read_by(rules)
        if any(rule.is_waste for rule in rules):
            kinds |= {"costs"}
        if self.counts_accesses:
            kinds |= {"accesses"}
        return kinds | SHOWN_KINDS if self.shows_kernels else kinds


def check_file(job: CheckJob) -> FileReport | Failure:
    """Analyses a file and runs the selected rules on it."""
    stopwatch = Stopwatch()
    job = replace(job, options=replace(job.options, kinds=job.kinds()))
    from cudalint.run.baseline import Baseline

    baseline = Baseline()
    facts = analyse(job.path, job.options, baseline=baseline)
    if isinstance(facts, Failure):
        return facts
    with timed("rules"):
        return report_on(facts, job, stopwatch, baseline=baseline)


def analyse(
    path: str, options: AnalysisOptions, watch: Watch | None = None, keeper: Keeper | None = None,
    baseline: Baseline | None = None,
) -> FileFacts | Failure:  # fmt: skip
    """The facts of a file, or why there are none; the others as in `Hooks`."""
    # libclang and numpy are loaded here, in the worker, and not by whoever wants to name a job.
    from cudalint.frontend.reading import SourceError
    from cudalint.run.analysis import Hooks, analyse_file

    try:
        return analyse_file(path, options, Hooks(watch, keeper, baseline))
    except SourceError as error:
        return Failure(path, _message_without_path(str(error), path))


def nothing_tried(kernel: Place) -> None:
    """For a file of which no edits were tried before."""


def report_on(
    facts: FileFacts,
    job: CheckJob,
    stopwatch: Stopwatch | None = None,
    tried_in: Callable[[Place], Tried | None] = nothing_tried,
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
    tried_in: Callable[[Place], Tried | None]
    outcome: Outcome
    complaints: Sequence[Diagnostic]
    unused: Sequence[tuple[AllowedRule, Diagnostic]]
    failures: Sequence[Shortfall]
    baseline: Baseline | None = None

    @classmethod
    def of(
        cls, facts: FileFacts, job: CheckJob, stopwatch: Stopwatch, tried_in: Callable[[Place], Tried | None],
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
        """The report with what earlier trials tell, in which edits that nothing tells of are only words; None where
        it is the report."""
        proved, failures = self._proved(tries=False)
        return self._with(proved, failures) if any(is_awaited(diagnostic) for diagnostic in proved) else None

    def _proved(self, tries: bool) -> tuple[list[Diagnostic], list[Shortfall]]:
        """What is kept, and what failed."""
        failures = list(self.failures)
        kept = self.outcome.kept
        try:
            with timed("edits"):
                return _with_proven_edits(self, tries), failures
        except Exception as error:
            failures.append(Shortfall(f"edits are not tried: {described(error)}"))
            return [_without_edits(diagnostic) for diagnostic in kept], failures

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
            tried={(kernel.name, kernel.instantiation): len(kernel.launches) for kernel in facts.kernels},
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


def rule_findings(
    facts: FileFacts, job: CheckJob, rules: Iterable[RuleClass], unchecked: Unchecked
) -> Iterator[Finding]:
    """What the rules find; one that fails costs what it has to say of one kernel, and `unchecked` is told."""
    configured = find_target(job.options.target)
    for rule_class in rules:
        if not issubclass(rule_class, Rule):
            continue
        rule = rule_class()
        limits = {**rule_class.thresholds, **job.thresholds.get(rule_class.code, {})}
        context = RuleContext(facts, configured, limits, partial(source_text, options=job.options))
        of_kernels = ((kernel.name, _findings_in(kernel, rule, context)) for kernel in facts.kernels)
        for name, part in chain([(None, _findings_of_file(rule, context))], of_kernels):
            try:
                with interruptible():
                    found = list(part)
                yield from found
            except OutOfTime:
                if may_interrupt():
                    raise  # Whoever runs these is to be interrupted as a whole.
                unchecked.late(rule_class.code, name)
            except Exception as error:
                unchecked.failed(rule_class.code, name, error)


def _findings_of_file(rule: Rule, context: RuleContext) -> Iterator[Finding]:
    for diagnostic in rule.check_file(context):
        yield Finding(None, diagnostic)


def _findings_in(kernel: KernelFacts, rule: Rule, context: RuleContext) -> Iterator[Finding]:
    configured = context.target
    target = target_for(configured, kernel.need)
    if target is None and rule.judges_by_target:
        return  # No GPU is known that could run it.
    for diagnostic in rule.check(kernel, replace(context, target=target or configured)):
        if rule.judges_by_target and kernel.need and target and target is not configured:
            diagnostic = replace(diagnostic, message=f"{diagnostic.message}; {_judged_by(target, kernel.need)}")
        if rule.is_waste:
            # numpy is for workers alone.
            from cudalint.hardware.cost.of_findings import with_cost

            diagnostic = with_cost(diagnostic, kernel, target or configured)
        if not diagnostic.headline and not diagnostic.condition:
            diagnostic = replace(diagnostic, condition=_made_up(diagnostic, rule))
        yield Finding(kernel, diagnostic)


def _made_up(diagnostic: Diagnostic, rule: Rule) -> str:
    """What a finding rests on where names of its kernel that nothing declares were given numbers, or parameters of its
    template for which nothing says any; empty where neither is so. Threads are in no more order for other numbers."""
    if rule.reads & {"races", "barriers"}:
        return ""
    names = dict.fromkeys(name for launch in diagnostic.launches for name in (*launch.guesses, *launch.made_up))
    return f"{', '.join(names)} as assumed" if names else ""


def _judged_by(target: Target, need: Need) -> str:
    major, minor = need.support.least
    return f"{target.name} is the smallest GPU in question: `{need.feature}` (line {need.line}) needs sm_{major}{minor}"


def _with_proven_edits(draft: Draft, tries: bool) -> list[Diagnostic]:
    """What is kept of a draft. No edit may bring what any rule finds, whether the user wants to hear of it or not.
    Nothing is done about what earlier trials don't tell unless it `tries`."""
    from cudalint.fixes.proof import NOT_YET, proven
    from cudalint.run.baseline import Baseline

    found, job, stopwatch, baseline = draft.outcome.kept, draft.job, draft.stopwatch, draft.baseline or Baseline()
    if not job.tries_edits:
        return [_without_edits(diagnostic) for diagnostic in found]
    shown = _shown_ones(found, job)
    asked = [diagnostic for number, diagnostic in enumerate(found) if number in shown]
    if any(d.suggestion is not None and d.suggestion.edits for d in asked):
        if not tries and not kinds_read_by(_rules_of_proofs(job)) <= job.options.kinds:
            return [_untried(each, NOT_YET) for each in found]
        facts_of_all = _for_all(_rules_of_proofs(job), draft.facts, job, stopwatch, baseline)
        if isinstance(facts_of_all, Failure):
            return [_without_edits(diagnostic) for diagnostic in found]
        lasted, spent = replace(stopwatch.lasted, host=baseline.host_seconds), stopwatch.seconds
        longest = max(_LEAST_FOR_EDITS, _SHARE_FOR_EDITS * (lasted.rest + sum(lasted.kernels.values())))
        seconds = min(job.options.seconds_of_edits - spent, longest)
        proof = _proof(facts_of_all, job, seconds, baseline)
        asked = proven(asked, replace(proof, lasted=lasted, tried_in=draft.tried_in, tries=tries))
    told = dict(zip(sorted(shown), asked, strict=True))
    return [told[number] if number in told else _untried(each, _HELD_BACK) for number, each in enumerate(found)]


def is_awaited(diagnostic: Diagnostic) -> bool:
    """Whether its edits have yet to be tried."""
    from cudalint.fixes.proof import NOT_YET

    return diagnostic.no_edit == NOT_YET


def _shown_ones(found: Sequence[Diagnostic], job: CheckJob) -> frozenset[int]:
    """The positions of the findings that are shown, with all of one cause: which of these is told is known later. Where
    files are put together, what is little in each of them may be shown all the same, without edits."""
    weighed = [marked(diagnostic, job.min_share) for diagnostic in map(job.severities.judged, found)]
    weighed = weighed_together(weighed, job.min_share)
    told = (group for group in of_one_cause(weighed) if any(weighed[number].held_back is None for number in group))
    return frozenset(number for group in told for number in group)


_HELD_BACK = "the finding is held back, and edits of such are not tried; --all tries all"


def _untried(diagnostic: Diagnostic, reason: str) -> Diagnostic:
    if diagnostic.suggestion is None or not diagnostic.suggestion.edits:
        return diagnostic
    return replace(_without_edits(diagnostic), no_edit=reason)


def edits_held_together(job: CheckJob, sets: Sequence[tuple[Edit, ...]]) -> list[tuple[Edit, ...]]:
    """Which of some sets of edits that findings of a file suggest hold when they are made at once (see
    `held_together`). The file is what the job's texts say."""
    from cudalint.fixes.proof import held_together
    from cudalint.run.baseline import Baseline

    baseline = Baseline()
    facts = analyse(job.path, replace(job.options, kinds=kinds_read_by(_rules_of_proofs(job))), baseline=baseline)
    if isinstance(facts, Failure):
        return []
    findings = list(rule_findings(facts, job, selected_rules(job.selection), Unchecked()))
    annotations = _annotations(facts, job.options)
    outcome = suppress(findings, facts.kernels, annotations, is_known, facts.status == "ok")
    return held_together(sets, outcome.kept, _proof(facts, job, job.options.seconds_of_edits, baseline))


def _rules_of_proofs(job: CheckJob) -> list[RuleClass]:
    return [rule for rule in all_rules() if rule.on_by_default or job.selection.wants(rule)]


def _proof(facts: FileFacts, job: CheckJob, seconds: float, baseline: Baseline) -> Proof:
    """What it takes to try edits of a file; the facts are all that all rules read, and `baseline` what their analysis
    has left."""
    from cudalint.fixes.proof import Proof
    from cudalint.launches.program.includers import is_included_elsewhere
    from cudalint.run.analysis import analyse_edited

    rules = _rules_of_proofs(job)
    own = job.thresholds
    with_little = {rule.code: {**own.get(rule.code, {}), **dict.fromkeys(rule.relative, 0.0)} for rule in rules}

    def linted(facts: FileFacts, job: CheckJob = job) -> tuple[FileFacts, list[Diagnostic]]:
        unchecked = Unchecked()
        found = [finding.diagnostic for finding in rule_findings(facts, job, rules, unchecked)]
        return replace(facts, failures=(*facts.failures, *unchecked.shortfalls())), found

    known: dict[tuple[str, ...], tuple[FileFacts, list[Diagnostic]]] = {}

    def before(kernels: tuple[str, ...]) -> tuple[FileFacts, list[Diagnostic]]:
        if kernels not in known:
            looked_at = tuple(kernel for kernel in facts.kernels if not kernels or kernel.name in kernels)
            known[kernels] = linted(replace(facts, kernels=looked_at), replace(job, thresholds=with_little))
        return known[kernels]

    def again(
        texts: Mapping[str, str], kernels: tuple[str, ...], seconds: float, moved: MovedLines | None
    ) -> tuple[FileFacts, list[Diagnostic]] | None:
        unsaved = {**dict(job.options.unsaved), **texts}
        options = replace(job.options, unsaved=tuple(unsaved.items()), only=kernels, kinds=kinds_read_by(rules))
        options = options.within(seconds)
        changed: FileFacts | Failure | None = None
        try:
            with interruptible():
                if moved is not None:
                    changed = analyse_edited(job.path, options, baseline, texts, moved)
                if changed is None:
                    changed = analyse(job.path, options)
                return None if isinstance(changed, Failure) else linted(changed)
        except OutOfTime:
            baseline.forget()  # It was in use.
            return None

    return Proof(
        facts,
        before,
        again,
        partial(source_text, options=job.options),
        lambda path: not is_included_elsewhere(path, job.path),
        seconds=seconds,
    )


def _for_all(
    rules: Sequence[RuleClass], facts: FileFacts, job: CheckJob, stopwatch: Stopwatch, baseline: Baseline
) -> FileFacts | Failure:
    """The facts that all of some rules read. If fewer kinds were asked for, the file is analysed again, which is what
    trials are to be compared with."""
    kinds = kinds_read_by(rules)
    if kinds <= job.options.kinds:
        return facts
    stopwatch.again()
    baseline.forget()
    return analyse(job.path, replace(job.options, kinds=kinds), baseline=baseline)


def _without_edits(diagnostic: Diagnostic) -> Diagnostic:
    suggestion = diagnostic.suggestion
    words = replace(suggestion, edits=(), applicability="display") if suggestion is not None else None
    return replace(diagnostic, suggestion=words)


def _as_allowed(diagnostic: Diagnostic) -> Diagnostic:
    """What an annotation allows is listed for its justification, and nobody changes it."""
    return replace(_without_edits(diagnostic), picture=None)


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
    told = {id(diagnostic) for diagnostic in islice(worst_first(found), most)}
    return tuple(diagnostic for diagnostic in found if id(diagnostic) in told)


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
    """What the rules about annotations say: what stands, and what depends on other files of the run. Of a rule that
    fails `failures` is told."""
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


def _message_without_path(message: str, path: str) -> str:
    """`a.cu:3:7: reason` becomes `reason (line 3, column 7)`, since whoever prints it names the path."""
    rest = message.removeprefix(path).lstrip(": ")
    match = re.match(r"(\d+):(\d+): (.*)", rest, re.DOTALL)
    if match:
        rest = f"{match[3]} (line {match[1]}, column {match[2]})"
    return " ".join(rest.split())
