"""The whole of `cudalint confirm`: files are prepared, kernels run and measured, predictions compared.

The process of the command itself never touches the GPU: whatever does lives in workers that may fault or hang.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from cudalint.confirm import comparing, instrument, matching
from cudalint.confirm.counters import Instruction, NoCounters, profile
from cudalint.confirm.device import Missing, device
from cudalint.confirm.kernel_rows import Measured, module_rows, outcome_rows, problem
from cudalint.confirm.preparing import Candidate, Prepared, PrepareJob, prepare
from cudalint.confirm.rows import Row, Summary, summary_of
from cudalint.confirm.running import run_on_gpu
from cudalint.confirm.trials import Device, Outcome, Trial
from cudalint.options import AnalysisOptions
from cudalint.pool import Done, Limits, run_jobs
from cudalint.results import Failure

Method = Literal["auto", "ncu", "instrumented"]

_PROFILE_SECONDS = 30.0
"""For ncu itself, which runs a kernel several times; beside the time-out of a trial."""
_MOST_MILLISECONDS = 100.0
"""Kernels that take longer are left to the instrumented build."""
_BATCH = 120
"""Kernels in one run of ncu."""
_RETRIES = 3
"""An instrumented build that does not compile is tried again without the accesses of the line that is in the way."""


@dataclass(frozen=True, slots=True)
class Settings:
    method: Method = "auto"
    seconds: float = 20.0
    """For one kernel, its compilation included."""
    timed: bool = True


@dataclass(slots=True, eq=False)
class Report:
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
RunTrial = Callable[[Trial], Outcome]
AskDevice = Callable[[int], "Device | str"]
Profile = Callable[[Sequence[Trial], str, float], "list[Instruction]"]


@dataclass(frozen=True, slots=True)
class Backend:
    """What stands between a session and the GPU. The tests have another one."""

    ask: AskDevice
    run: RunTrial
    profile: Profile


def ask_device(_: int) -> Device | str:
    """What GPU there is, or why there is none; runs in a worker, like everything that loads the driver."""
    try:
        return device()
    except Missing as reason:
        return str(reason)


CUPY = Backend(ask_device, run_on_gpu, profile)


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
    [answer] = run_jobs(backend.ask, [0], Limits(workers=1, seconds=60, megabytes=1 << 20))
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
    _add_access_rows(whole, counters, settings, report, backend)
    report.rows += [row for one in measured for row in one.rows]
    return measured


def _run_plain(
    candidates: Sequence[Candidate], settings: Settings, backend: Backend, on_done: OnDone
) -> list[Measured]:
    runnable = [c for c in candidates if c.trial is not None]
    trials = [replace(c.trial, timed=settings.timed) for c in runnable if c.trial is not None]
    found = {id(c): Measured(c, None, c.reason) for c in candidates if c.trial is None}
    for done in run_jobs(backend.run, trials, _one_worker(settings)):
        candidate = runnable[done.index]
        if isinstance(done, Done):
            found[id(candidate)] = Measured(candidate, done.value)
        else:
            found[id(candidate)] = Measured(candidate, None, done.reason.replace("the analysis", "the run"))
        on_done(candidate.kernel.instantiation)
    return [found[id(candidate)] for candidate in candidates]


def _one_worker(settings: Settings) -> Limits:
    """Kernels are timed alone on their GPU."""
    return Limits(workers=1, seconds=settings.seconds, megabytes=1 << 20)


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
            then = "sectors and wavefronts come from the instrumented build" if settings.method == "auto" else ""
            report.notes.append(f"{reason}; {then or 'no access was measured'}")
            if not found:
                break
            continue
        for instruction in instructions:
            found.setdefault(os.path.dirname(instruction.path), []).append(instruction)
    return found


def _is_long(one: Measured) -> bool:
    """Whether ncu, whose counts per instruction slow a kernel down a hundred times, would take minutes for it."""
    return one.outcome is not None and (one.outcome.milliseconds or 0.0) > _MOST_MILLISECONDS


def _add_access_rows(
    measured: Sequence[Measured],
    counters: dict[str, list[Instruction]],
    settings: Settings,
    report: Report,
    backend: Backend,
) -> None:
    left: list[tuple[Measured, list[comparing.Prediction]]] = []
    for one in measured:
        candidate, trial = one.candidate, one.candidate.trial
        assert trial is not None
        wanted = comparing.predictions(candidate.kernel, candidate.launch)
        report.unpredicted += sum(
            r.launch == candidate.launch and r.status in ("data-dependent", "unknown")
            for access in candidate.kernel.accesses
            for r in access.results
        )
        instructions = counters.get(trial.folder, [])
        path_of = {os.path.join(trial.folder, name): path for name, path in trial.build.paths.items()}
        found = matching.from_counters(candidate.kernel, wanted, instructions, path_of) if instructions else {}
        for index, measurement in found.items():
            one.rows.append(comparing.row_of(wanted[index], candidate.kernel, measurement, "ncu", ""))
            one.rows += comparing.lane_rows(wanted[index], candidate.kernel, measurement, "ncu")
        if instructions:
            one.rows += matching.branch_rows(candidate.kernel, candidate.launch, instructions, path_of)
        missing = [prediction for index, prediction in enumerate(wanted) if index not in found]
        if missing:
            left.append((one, missing))
    if settings.method == "ncu":
        reason = "the compiler has no such access on this line" if counters else "there are no counters"
        for one, missing in left:
            one.rows += [_unmeasured(one, p, "ncu", reason) for p in missing]
    else:
        astray = [(one, missing) for one, missing in left if one.outcome is not None and one.outcome.overrun]
        for one, missing in astray:
            reason = "the kernel writes outside of its buffers, where an instrumented build keeps its records"
            one.rows += [_unmeasured(one, p, "instrumented build", reason) for p in missing]
        _add_recorded_rows([one for one in left if one not in astray], settings, backend)


def _unmeasured(one: Measured, prediction: comparing.Prediction, source: str, reason: str) -> Row:
    return comparing.row_of(prediction, one.candidate.kernel, None, source, reason)


def _add_recorded_rows(
    left: Sequence[tuple[Measured, list[comparing.Prediction]]], settings: Settings, backend: Backend
) -> None:
    """What counters don't show, from builds that record their addresses."""
    sites = [instrument.sites_of(one.candidate.kernel) for one, _ in left]
    outcomes = _run_instrumented([one for one, _ in left], sites, settings, backend)
    for (one, wanted), at, outcome in zip(left, sites, outcomes, strict=True):
        if isinstance(outcome, str) or outcome.log is None:
            reason = outcome if isinstance(outcome, str) else problem(outcome)
            reason = f"the instrumented build failed: {reason}"
            one.rows += [_unmeasured(one, p, "instrumented build", reason) for p in wanted]
            continue
        counted = instrument.count(outcome.log, comparing.operations(wanted, at))
        is_parted = comparing.parts_lanes(one.candidate.kernel, one.candidate.launch)
        found, reasons = comparing.from_records(wanted, at, counted, is_parted)
        for index, p in enumerate(wanted):
            measurement, why = found.get(index), reasons.get(index, "")
            one.rows.append(comparing.row_of(p, one.candidate.kernel, measurement, "instrumented build", why))
            one.rows += comparing.lane_rows(p, one.candidate.kernel, measurement, "instrumented build")


def _run_instrumented(
    measured: Sequence[Measured], sites: Sequence[tuple[instrument.Site, ...]], settings: Settings, backend: Backend
) -> list[Outcome | str]:
    """The outcome of each, or why there is none."""
    results: list[Outcome | str] = ["it was not tried"] * len(measured)
    kept = list(sites)
    waiting = list(range(len(measured)))
    for _ in range(_RETRIES):
        trials = [instrument.instrumented(_trial(measured[i]), kept[i]) for i in waiting]
        again: list[int] = []
        for done in run_jobs(backend.run, trials, _one_worker(settings)):
            index = waiting[done.index]
            results[index] = done.value if isinstance(done, Done) else done.reason.replace("the analysis", "the run")
            if isinstance(done, Done) and done.value.compile_error:
                fewer = instrument.without_lines(kept[index], done.value.compile_error)
                if 0 < len(fewer) < len(kept[index]):
                    kept[index] = fewer
                    again.append(index)
        waiting = again
        if not waiting:
            break
    return results


def _trial(one: Measured) -> Trial:
    assert one.candidate.trial is not None
    return one.candidate.trial
