"""The edits of a file's findings that hold, which are tried on the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit
from cudalint.facts import FileFacts, Place
from cudalint.fixes.changes import changes_of, kernels_of
from cudalint.fixes.earlier import EarlierTrials
from cudalint.fixes.proof import IS_BROKEN, NOT_YET, Lasted, Proof, held_together, is_broken, proven, without_edits
from cudalint.fixes.trial import Edited, Linted
from cudalint.frontend.source_text import source_text
from cudalint.kinds import Kinds
from cudalint.launches.program.includers import is_included_elsewhere
from cudalint.report.findings.causes import of_one_cause
from cudalint.report.findings.results import Failure
from cudalint.report.findings.showing import marked
from cudalint.run.analysis import analyse_edited
from cudalint.run.baseline import Baseline
from cudalint.run.file_facts import analyse, with_kinds
from cudalint.run.job import CheckJob
from cudalint.run.rule_findings import rule_findings
from cudalint.run.stopwatch import Stopwatch
from cudalint.run.unchecked import Unchecked
from cudalint.run.weighing import weighed_together
from cudalint.system.processes.time_limit import OutOfTime, interruptible

_LEAST = 4.0
"""Seconds that the trials of a file's edits may take, or as long as its analysis took."""
_HELD_BACK = "the finding is held back, and edits of such are not tried; --all tries all"


def with_proven_edits(
    found: Sequence[Diagnostic], facts: FileFacts, job: CheckJob, stopwatch: Stopwatch, baseline: Baseline,
    tried_in: Callable[[Place], EarlierTrials | None], tries: bool,
) -> list[Diagnostic]:  # fmt: skip
    """Findings with the edits that hold; `baseline` is what the analysis has left, `tried_in` as in `Proof`. Nothing
    is done about what earlier trials don't show unless it `tries`."""
    if not job.tries_edits:
        return list(map(only_words, found))
    if is_broken(facts):
        return [_untried(each, IS_BROKEN) for each in found]
    shown = _shown_ones(found, job)
    asked = [diagnostic for number, diagnostic in enumerate(found) if number in shown]
    changes = changes_of(asked, facts)
    if changes:
        kinds = job.kinds_of_proofs()
        if not tries and not kinds <= job.options.kinds:
            return [_untried(each, NOT_YET) for each in found]
        concerned = kernels_of(changes, facts)
        names = {kernel.name for kernel in (facts.kernels if concerned is None else concerned)}
        if any(kernel.name in names and not kinds <= kernel.collected for kernel in facts.kernels):
            stopwatch.again()  # A trial takes about as long as that.
        facts_of_all = with_kinds(facts, kinds, names, job.options, baseline)
        if isinstance(facts_of_all, Failure):
            return list(map(only_words, found))
        lasted = Lasted(*stopwatch.lasted, baseline.host_seconds)
        longest = max(_LEAST, lasted.rest + sum(lasted.kernels.values()))
        seconds = min(job.options.seconds_of_edits - stopwatch.seconds, longest)
        proof = _proof(facts_of_all, job, seconds, baseline)
        asked = proven(asked, replace(proof, lasted=lasted, tried_in=tried_in, tries=tries))
    judged = dict(zip(sorted(shown), asked, strict=True))
    return [judged[number] if number in judged else _untried(each, _HELD_BACK) for number, each in enumerate(found)]


def is_awaited(diagnostic: Diagnostic) -> bool:
    """Whether its edits have yet to be tried."""
    return diagnostic.no_edit == NOT_YET


def _shown_ones(found: Sequence[Diagnostic], job: CheckJob) -> frozenset[int]:
    """The positions of the findings that are shown, with all of one cause: which of these stands for them is decided
    later. Where files are put together, what is little in each of them may be shown all the same, without edits."""
    weighed = [marked(diagnostic, job.min_share) for diagnostic in map(job.severities.judged, found)]
    weighed = weighed_together(weighed, job.min_share)
    shown = (group for group in of_one_cause(weighed) if any(weighed[number].held_back is None for number in group))
    return frozenset(number for group in shown for number in group)


def _untried(diagnostic: Diagnostic, reason: str) -> Diagnostic:
    if diagnostic.suggestion is None or not diagnostic.suggestion.edits:
        return diagnostic
    return replace(only_words(diagnostic), no_edit=reason)


def only_words(diagnostic: Diagnostic) -> Diagnostic:
    """A finding without edits."""
    suggestion = diagnostic.suggestion
    return replace(diagnostic, suggestion=without_edits(suggestion)) if suggestion is not None else diagnostic


def edits_held_together(
    job: CheckJob, sets: Sequence[tuple[Edit, ...]], kept: Callable[[FileFacts], Sequence[Diagnostic]]
) -> list[tuple[Edit, ...]]:
    """Which of some sets of edits that findings of a file suggest hold when they are made at once (see
    `held_together`). The file is what the job's texts say; `kept` are the findings in it that are not suppressed."""
    baseline = Baseline()
    facts = analyse(job.path, replace(job.options, kinds=job.kinds_of_proofs()), baseline=baseline)
    if isinstance(facts, Failure):
        return []
    return held_together(sets, kept(facts), _proof(facts, job, job.options.seconds_of_edits, baseline))


_GLOBAL_INDICES: Kinds = frozenset({"pitches"})
"""What only how arrays in global memory are indexed has a say in."""


def _proof(facts: FileFacts, job: CheckJob, seconds: float, baseline: Baseline) -> Proof:
    """What it takes to try edits of a file. The facts of the kernels that edits are in are all that rules of proofs
    read, and `baseline` is what their analysis has left."""
    rules, own = job.rules_of_proofs(), job.thresholds
    with_little = {rule.code: {**own.get(rule.code, {}), **dict.fromkeys(rule.relative, 0.0)} for rule in rules}

    def linted(facts: FileFacts, job: CheckJob = job) -> Linted:
        unchecked = Unchecked()
        found = [finding.diagnostic for finding in rule_findings(facts, job, rules, unchecked)]
        return replace(facts, failures=(*facts.failures, *unchecked.shortfalls())), found

    known: dict[tuple[str, ...], Linted] = {}

    def before(kernels: tuple[str, ...]) -> Linted:
        if kernels not in known:
            looked_at = tuple(kernel for kernel in facts.kernels if not kernels or kernel.name in kernels)
            known[kernels] = linted(replace(facts, kernels=looked_at), replace(job, thresholds=with_little))
        return known[kernels]

    def after(edited: Edited) -> Linted | None:
        unsaved = {**dict(job.options.unsaved), **edited.texts}
        kinds = job.kinds_of_proofs() if edited.rewrites else job.kinds_of_proofs() - _GLOBAL_INDICES
        options = replace(job.options, unsaved=tuple(unsaved.items()), only=edited.kernels, kinds=kinds)
        options = options.within(edited.seconds)
        changed: FileFacts | Failure | None = None
        try:
            with interruptible():
                if edited.moved is not None:
                    changed = analyse_edited(job.path, options, baseline, edited.texts, edited.moved)
                if changed is None:
                    changed = analyse(job.path, options)
                return None if isinstance(changed, Failure) else linted(changed)
        except OutOfTime:
            baseline.forget()  # It was in use.
            return None

    return Proof(
        facts, before, after, partial(source_text, options=job.options),
        all_considered=lambda path: not is_included_elsewhere(path, job.path), seconds=seconds,
    )  # fmt: skip
