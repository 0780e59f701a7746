"""The figures of accesses and branches: from counters, and where they don't show one from the instrumented build."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from cudalint.confirm import branch_sites, comparing, instrument, matching
from cudalint.confirm.backend import Backend, Settings, why_lost
from cudalint.confirm.branch_sites import BranchSite
from cudalint.confirm.comparing import Prediction
from cudalint.confirm.counters import Instruction
from cudalint.confirm.instrument import AnySite, Site
from cudalint.confirm.kernel_rows import Measured, problem
from cudalint.confirm.rows import Row
from cudalint.confirm.trials import Log, Outcome, Trial
from cudalint.run.limits import Done
from cudalint.run.pool import run_jobs

_RETRIES = 3
"""An instrumented build that does not compile is tried again without what reports on the line that is in the way."""
_RECORDED = "instrumented build"


class _Left(Struct, frozen=True, eq=False):
    """What counters don't show of a kernel."""

    one: Measured
    wanted: list[Prediction]
    sites: tuple[Site, ...]
    branches: tuple[BranchSite, ...]

    @property
    def trial(self) -> Trial:
        assert self.one.candidate.trial is not None
        return self.one.candidate.trial


def add_figures(
    measured: Sequence[Measured], counters: Mapping[str, list[Instruction]], settings: Settings, backend: Backend
) -> None:
    """Appends the rows of all kernels; `counters` has their instructions by the folder of their build."""
    left = [_with_counters(one, counters, settings) for one in measured]
    if settings.method == "ncu":
        reason = "the compiler has no such access on this line" if counters else "there are no counters"
        for each in left:
            each.one.rows += _not_measured(each, "ncu", reason)
        return
    recorded: list[_Left] = []
    for each in left:
        if each.one.outcome is not None and each.one.outcome.overrun:
            reason = "the kernel writes outside of its buffers, where an instrumented build keeps its records"
            each.one.rows += (*_not_measured(each, _RECORDED, reason), *_no_branches(each, reason))
        else:
            recorded.append(each)
    # Two builds: where conditions report, lanes that a branch has parted come together later, if at all.
    wanted = [each for each in recorded if each.wanted]
    for each, log in _logs(wanted, [each.sites for each in wanted], settings, backend):
        rows = _not_measured(each, _RECORDED, log) if isinstance(log, str) else _access_rows(each, log)
        each.one.rows += rows
    branching = [each for each in recorded if each.branches]
    for each, log in _logs(branching, [each.branches for each in branching], settings, backend):
        rows = _no_branches(each, log) if isinstance(log, str) else _branch_rows(each, log)
        each.one.rows += rows


def _with_counters(one: Measured, counters: Mapping[str, list[Instruction]], settings: Settings) -> _Left:
    """Adds the rows that counters have a figure for."""
    candidate, trial = one.candidate, one.candidate.trial
    assert trial is not None
    kernel, launch = candidate.kernel, candidate.launch
    wanted = comparing.predictions(kernel, launch)
    instructions = counters.get(trial.folder, [])
    path_of = {os.path.join(trial.folder, name): path for name, path in trial.build.paths.items()}
    found = matching.from_counters(kernel, wanted, instructions, path_of) if instructions else {}
    for index, measurement in found.items():
        one.rows.append(comparing.row_of(wanted[index], kernel, measurement, "ncu", ""))
        one.rows += comparing.lane_rows(wanted[index], kernel, measurement, "ncu")
    sites = instrument.sites_of(kernel)
    branches: tuple[BranchSite, ...] = ()
    if instructions:
        one.rows += matching.branch_rows(kernel, launch, instructions, path_of)
    elif settings.method != "ncu":
        branches = branch_sites.branch_sites(kernel, launch)
    return _Left(one, [p for index, p in enumerate(wanted) if index not in found], sites, branches)


def _not_measured(left: _Left, source: str, reason: str) -> list[Row]:
    return [comparing.row_of(p, left.one.candidate.kernel, None, source, reason) for p in left.wanted]


# --- the instrumented builds -------------------------------------------------------------------------------------


def _access_rows(left: _Left, log: Log) -> list[Row]:
    kernel, launch, wanted = left.one.candidate.kernel, left.one.candidate.launch, left.wanted
    counted = instrument.count(log, comparing.operations(wanted, left.sites))
    found, reasons = comparing.from_records(wanted, left.sites, counted, comparing.parts_lanes(kernel, launch))
    rows: list[Row] = []
    for index, p in enumerate(wanted):
        measurement, why = found.get(index), reasons.get(index, "")
        rows.append(comparing.row_of(p, kernel, measurement, _RECORDED, why))
        rows += comparing.lane_rows(p, kernel, measurement, _RECORDED)
    return rows


def _branch_rows(left: _Left, log: Log) -> list[Row]:
    candidate = left.one.candidate
    return list(branch_sites.rows(candidate.kernel, candidate.launch, left.branches, log.branches))


def _no_branches(left: _Left, reason: str) -> list[Row]:
    candidate = left.one.candidate
    return list(branch_sites.rows(candidate.kernel, candidate.launch, left.branches, {}, reason))


def _logs(
    left: Sequence[_Left], sites: Sequence[Sequence[AnySite]], settings: Settings, backend: Backend
) -> Iterator[tuple[_Left, Log | str]]:
    """What each of the kernels recorded, or why there is nothing."""
    trials = [each.trial for each in left]
    for each, outcome in zip(left, _run_instrumented(trials, sites, settings, backend), strict=True):
        if isinstance(outcome, Outcome) and outcome.log is not None:
            yield each, outcome.log
        else:
            reason = outcome if isinstance(outcome, str) else problem(outcome)
            yield each, f"the instrumented build failed: {reason}"


def _run_instrumented(
    trials: Sequence[Trial], sites: Sequence[Sequence[AnySite]], settings: Settings, backend: Backend
) -> list[Outcome | str]:
    """The outcome of each, or why there is none."""
    results: list[Outcome | str] = ["it was not tried"] * len(trials)
    kept = list(sites)
    waiting = list(range(len(trials)))
    for _ in range(_RETRIES):
        builds = [instrument.instrumented(trials[i], kept[i]) for i in waiting]
        again: list[int] = []
        for done in run_jobs(backend.run, builds, settings.one_worker):
            index = waiting[done.index]
            if not isinstance(done, Done):
                results[index] = why_lost(done)
                continue
            results[index] = done.value.refused or done.value
            if done.value.compile_error:
                fewer = instrument.without_lines(kept[index], done.value.compile_error)
                if 0 < len(fewer) < len(kept[index]):
                    kept[index] = fewer
                    again.append(index)
        waiting = again
        if not waiting:
            break
    return results
