"""Suggested edits tried on hardware: both versions run on the same random inputs, outputs, counters and time are
compared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.confirm.backend import CUPY, Backend, Settings
from cudalint.confirm.kernel_rows import Measured
from cudalint.confirm.preparing import Candidate, Prepared, PrepareJob
from cudalint.confirm.rows import Row
from cudalint.confirm.session import Report, Source, measure, run_prepare
from cudalint.confirm.trials import Outcome
from cudalint.diagnostics import Diagnostic, Edit
from cudalint.fixes.edits import apply_edits
from cudalint.frontend.source_text import source_text
from cudalint.report.findings.results import Failure
from cudalint.run.limits import Limits

_RACES = ("CL301", "CL304")
"""Findings that say that the outputs are not determined: they may differ once a barrier is there."""
_Figures = tuple[float | None, float | None, float | None]
"""Before, after, ideal."""


class FixRow(Struct, frozen=True):
    """What one suggestion brought to one kernel under one launch."""

    code: str
    path: str
    line: int
    kernel: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    suggestion: str
    quantity: str
    before: float | None
    """Sectors or wavefronts per request, summed over the accesses of the kernel in that space. No counter shows races:
    those are the ones that the linter finds."""
    after: float | None
    ideal: float | None
    milliseconds_before: float | None
    milliseconds_after: float | None
    outputs: str
    """`identical`, `differ`, `differ (race)`, or why they could not be compared."""


class _Fix(Struct, frozen=True):
    """One distinct set of edits, and the finding that suggests it."""

    diagnostic: Diagnostic
    edits: tuple[Edit, ...]


class _Twins(Struct, frozen=True, eq=False):
    """A kernel under one launch, as it is and as it is suggested."""

    fix: _Fix
    before: Candidate
    after: Candidate


def confirm_fixes(
    sources: Sequence[Source],
    limits: Limits,
    settings: Settings,
    folder: str,
    report: Report,
    backend: Backend = CUPY,
) -> list[FixRow]:
    """Applies every suggestion to a copy of its file, and measures both."""
    jobs = [PrepareJob(path, options, os.path.join(folder, f"a{n}")) for n, (path, options) in enumerate(sources)]
    options_of = dict(sources)
    originals = run_prepare(jobs, limits, report)
    pairs: list[tuple[_Fix, Prepared]] = [(fix, one) for one in originals for fix in _fixes_of(one)]
    fixed_jobs: list[PrepareJob] = []
    for number, (fix, one) in enumerate(pairs):
        options = options_of[one.path]
        changed = {one.path: source_text(one.path, options)}
        for path in {edit.place.path for edit in fix.edits}:
            changed[path] = apply_edits(source_text(path, options), _of_path(fix, path))
        unsaved = (*options.unsaved, *changed.items())
        fixed_jobs.append(PrepareJob(one.path, replace(options, unsaved=unsaved), os.path.join(folder, f"b{number}")))
    scratch = Report(device=report.device)
    fixed = [run_prepare([job], limits, scratch) for job in fixed_jobs]
    twins: list[_Twins] = []
    for (fix, original), found in zip(pairs, fixed, strict=True):
        if not found:
            place = fix.diagnostic.place
            report.failures.append(Failure(original.path, f"the suggestion of line {place.line} breaks it"))
            continue
        twins += _twins(fix, original, found[0])
    measured = measure([c for t in twins for c in (t.before, t.after)], settings, folder, scratch, backend)
    report.notes += [note for note in dict.fromkeys(scratch.notes) if note not in report.notes]
    return [_row(t, measured[2 * n], measured[2 * n + 1]) for n, t in enumerate(twins)]


def _fixes_of(prepared: Prepared) -> Iterator[_Fix]:
    seen: set[tuple[Edit, ...]] = set()
    for diagnostic in prepared.diagnostics:
        suggestion = diagnostic.suggestion
        if suggestion is None or not suggestion.edits or suggestion.edits in seen:
            continue
        seen.add(suggestion.edits)
        yield _Fix(diagnostic, suggestion.edits)


def _twins(fix: _Fix, original: Prepared, fixed: Prepared) -> Iterator[_Twins]:
    theirs = {(c.kernel.instantiation, c.launch): c for c in fixed.candidates}
    for candidate in original.candidates:
        other = theirs.get((candidate.kernel.instantiation, candidate.launch))
        if candidate.kernel.instantiation != fix.diagnostic.instantiation or other is None:
            continue
        if candidate.trial is not None and other.trial is not None:
            # The data of one is the data of the other: a layout in shared memory changes no argument.
            same = replace(other.trial, buffers=candidate.trial.buffers, is_compared=True)
            first = replace(candidate, trial=replace(candidate.trial, is_compared=True))
            yield _Twins(fix, first, replace(other, trial=same))


def _row(twins: _Twins, before: Measured, after: Measured) -> FixRow:
    diagnostic = twins.fix.diagnostic
    suggestion = diagnostic.suggestion
    assert suggestion is not None
    is_race = diagnostic.code in _RACES
    measured = "sectors" if any("sectors" in key for key in suggestion.before) else "wavefronts"
    figures = (_races(twins.before), _races(twins.after), 0.0) if is_race else _measured(before, after, measured)
    first, second = before.outcome, after.outcome
    return FixRow(
        diagnostic.code, diagnostic.place.path, diagnostic.place.line, diagnostic.instantiation,
        twins.before.facts.block, twins.before.facts.grid, suggestion.message, "races" if is_race else measured,
        *figures, first.milliseconds if first else None, second.milliseconds if second else None,
        compare_outputs(first, second, is_race),
    )  # fmt: skip


def _races(candidate: Candidate) -> float:
    """In shared memory, where barriers are suggested."""
    found = [race for race in candidate.kernel.races or () if race.launch == candidate.launch]
    return float(sum(race.space == "shared" and race.is_reportable for race in found))


def _measured(before: Measured, after: Measured, quantity: str) -> _Figures:
    return _total(before.rows, quantity), _total(after.rows, quantity), _ideal(after.rows, quantity)


def _total(rows: Sequence[Row], quantity: str) -> float | None:
    found = [row.measured for row in rows if row.quantity == quantity and isinstance(row.measured, float)]
    return round(sum(found), 4) if found else None


def _ideal(rows: Sequence[Row], quantity: str) -> float | None:
    found = [row.ideal for row in rows if row.quantity == quantity and row.ideal is not None]
    return round(sum(found), 4) if found else None


def compare_outputs(before: Outcome | None, after: Outcome | None, race: bool) -> str:
    for outcome in (before, after):
        if outcome is None:
            return "one version was given up"
        problem = outcome.compile_error or outcome.run_error
        if problem:
            return problem
    assert before is not None and after is not None
    if before.digests == after.digests:
        return "identical"
    return "differ (race)" if race else "differ"


# --- edits --------------------------------------------------------------------------------------------------------


def _of_path(fix: _Fix, path: str) -> list[Edit]:
    return [edit for edit in fix.edits if edit.place.path == path]
