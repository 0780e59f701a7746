"""The whole of `cudalint confirm`: files are prepared, kernels run and measured, predictions compared."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.confirm import comparing
from cudalint.confirm.backend import CUPY, Backend, Settings, why_lost
from cudalint.confirm.counters import Instruction, NoCounters
from cudalint.confirm.figures import add_figures
from cudalint.confirm.kernel_rows import Measured, module_rows, outcome_rows
from cudalint.confirm.preparing import Candidate, Prepared, PrepareJob, prepare
from cudalint.confirm.rows import Row, Summary, summary_of
from cudalint.confirm.trials import Device
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.results import Failure
from cudalint.run.limits import Done, Limits
from cudalint.run.pool import run_jobs

_PROFILE_SECONDS = 30.0
"""For ncu itself, which runs a kernel several times; beside the time-out of a trial."""
_MOST_MILLISECONDS = 100.0
"""Kernels that take longer are left to the instrumented build."""
_BATCH = 120
"""Kernels in one run of ncu."""


class Report(Struct, eq=False):
    device: Device | None = None
    rows: list[Row] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What is missing, and what ran all the same; one line each."""
    failures: list[Failure] = field(default_factory=list)
    unpredicted: int = 0
    """Accesses without a figure, of which there is nothing to confirm."""

    @property
    def summary(self) -> Summary:
        return summary_of(self.rows)


Source = tuple[str, AnalysisOptions]
"""A file, and what the user and the configuration say about it."""
OnDone = Callable[[str], None]


def confirm(
    sources: Sequence[Source],
    limits: Limits,
    settings: Settings,
    backend: Backend = CUPY,
    on_done: OnDone = lambda text: None,
) -> Report:
    report = Report()
    with tempfile.TemporaryDirectory(prefix="cudalint-") as folder:
        jobs = [PrepareJob(path, options, os.path.join(folder, f"f{n}")) for n, (path, options) in enumerate(sources)]
        prepared = run_prepare(jobs, limits, report)
        candidates = [candidate for one in prepared for candidate in one.candidates]
        report.device = _device(backend, report, candidates)
        if report.device is not None:
            measure(candidates, settings, folder, report, backend, on_done)
    report.rows.sort(key=lambda row: (row.path, row.line, row.column, row.kernel, row.block, row.grid, row.quantity))
    return report


def run_prepare(jobs: Sequence[PrepareJob], limits: Limits, report: Report) -> list[Prepared]:
    found: dict[int, Prepared] = {}
    for done in run_jobs(prepare, jobs, limits):
        path = jobs[done.index].path
        if not isinstance(done, Done):
            report.failures.append(Failure(path, done.reason))
        elif isinstance(done.value, Failure):
            report.failures.append(done.value)
        else:
            found[done.index] = done.value
    return [found[index] for index in sorted(found)]


def _device(backend: Backend, report: Report, candidates: Sequence[Candidate]) -> Device | None:
    [answer] = run_jobs(backend.ask, [0], Limits(workers=1, seconds=60, wall_seconds=120, megabytes=1 << 20))
    value = answer.value if isinstance(answer, Done) else answer.reason
    if isinstance(value, Device):
        return value
    figures = sum(len(comparing.predictions(c.kernel, c.launch)) for c in candidates)
    report.notes.append(
        f"{value}: nothing was compiled or run; {figures} predictions of {len(candidates)} launches were evaluated"
    )
    return None


# --- measuring --------------------------------------------------------------------------------------------------


def measure(
    candidates: Sequence[Candidate],
    settings: Settings,
    folder: str,
    report: Report,
    backend: Backend = CUPY,
    on_done: OnDone = lambda text: None,
) -> list[Measured]:
    """Runs every candidate and appends its rows to the report."""
    measured = _run_plain(candidates, settings, backend, on_done)
    report.measured += measured
    whole = [one for one in measured if _ran(one)]
    counters = _profiled(whole, settings, folder, report, backend)
    for one in measured:
        one.rows += [*module_rows(one, report.device), *outcome_rows(one)]
    add_figures(whole, counters, settings, backend)
    report.unpredicted += sum(_unpredicted(one.candidate) for one in whole)
    report.rows += [row for one in measured for row in one.rows]
    return measured


def _run_plain(
    candidates: Sequence[Candidate], settings: Settings, backend: Backend, on_done: OnDone
) -> list[Measured]:
    runnable = [c for c in candidates if c.trial is not None]
    trials = [replace(c.trial, timed=settings.timed) for c in runnable if c.trial is not None]
    found = {id(c): Measured(c, None, c.reason) for c in candidates if c.trial is None}
    for done in run_jobs(backend.run, trials, settings.one_worker):
        candidate = runnable[done.index]
        if isinstance(done, Done):
            refused = done.value.refused
            found[id(candidate)] = Measured(candidate, None if refused else done.value, refused or "")
        else:
            found[id(candidate)] = Measured(candidate, None, why_lost(done))
        on_done(candidate.kernel.instantiation)
    return [found[id(candidate)] for candidate in candidates]


def _ran(one: Measured) -> bool:
    outcome = one.outcome
    return outcome is not None and outcome.compile_error is None and outcome.run_error is None


def _profiled(
    measured: Sequence[Measured], settings: Settings, folder: str, report: Report, backend: Backend
) -> dict[str, list[Instruction]]:
    """The counters of all kernels that ran, by the folder of their build."""
    if settings.method == "instrumented" or not measured:
        return {}
    found: dict[str, list[Instruction]] = {}
    trials = [one.candidate.trial for one in measured if one.candidate.trial is not None and not _is_long(one)]
    for start in range(0, len(trials), _BATCH):
        batch = trials[start : start + _BATCH]
        try:
            instructions = backend.profile(batch, folder, _PROFILE_SECONDS + settings.seconds)
        except NoCounters as reason:
            then = "no access was measured"
            if settings.method == "auto":
                then = "sectors, wavefronts and branches come from the instrumented build"
            report.notes.append(f"{reason}; {then}")
            if not found:
                break
            continue
        for instruction in instructions:
            found.setdefault(os.path.dirname(instruction.path), []).append(instruction)
    return found


def _is_long(one: Measured) -> bool:
    """Whether ncu, whose counts per instruction slow a kernel down a hundred times, would take minutes for it."""
    return one.outcome is not None and (one.outcome.milliseconds or 0.0) > _MOST_MILLISECONDS


def _unpredicted(candidate: Candidate) -> int:
    results = [result for access in candidate.kernel.accesses for result in access.results]
    return sum(r.launch == candidate.launch and r.status in ("data-dependent", "unknown") for r in results)
