"""Measures the whole analysis against libclang's own parse and walk of the same files, and its use of memory.

usage: python benchmarks/speed.py PATHS... [--sample N] [--repeat N] [--jobs N]

Two passes, both in worker processes as `cudalint` uses them:

1. In one warm worker, each file is parsed with the front end's flags and its own cursors are walked with libclang's
   Python bindings; then it is linted. The ratio of the two times, each the best of some repetitions, is what the
   analysis adds to what nobody who uses libclang can save.
2. With the given number of workers, all files are linted once, as `cudalint` lints a folder: those that others include
   are linted with them. The time counts by the clock on the wall and by the processor's, which a busy machine changes
   less.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from cudalint.options.analysis import AnalysisOptions
from cudalint.project.discovery import SourceFile, discover
from cudalint.registry import Selection
from cudalint.report.findings.merging import covered_by
from cudalint.report.findings.results import Failure, FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.limits import Limits
from cudalint.run.runs import run_all
from cudalint.system.processes.memory import peak_megabytes

_SECONDS = 20
"""For one file, as `cudalint` has it by default."""
_WORST = 5


class Timing(NamedTuple):
    path: str
    parse_and_walk: float
    """Seconds for libclang's parse and a bare walk."""
    parse_and_read: float
    """Seconds for the same with a walk that reads each cursor's kind, spelling, type and place."""
    analysis: float

    @property
    def ratio(self) -> float:
        return self.analysis / self.parse_and_walk

    @property
    def reading_ratio(self) -> float:
        return self.analysis / self.parse_and_read


class TimingJob(NamedTuple):
    path: str
    repeat: int


class Use(NamedTuple):
    """What a worker has used when it was done with a file."""

    path: str
    process: int
    megabytes: float
    """The most that the worker has held so far."""
    seconds: float
    processor_seconds: float
    report: FileReport


# --- in the workers ----------------------------------------------------------------------------------


def time_file(job: TimingJob) -> Timing | Failure:
    """Times one file, after a first run that is not counted."""
    first = check_file(_check_job(job.path))
    if isinstance(first, Failure):
        return first
    return Timing(
        job.path,
        _best(lambda: _walk(job.path, reading=False), job.repeat),
        _best(lambda: _walk(job.path, reading=True), job.repeat),
        _best(lambda: check_file(_check_job(job.path)), job.repeat),
    )


def _best(action: Callable[[], object], repeat: int) -> float:
    """The shortest of some runs: what others do on the machine only ever adds to it.

    By the clock on the wall, since some machines count the processor's time in ticks of 4 ms, a quarter of what
    libclang takes for the median file. Before each, what the last one left is collected, as between the files of a
    worker.
    """
    times: list[float] = []
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def _check_job(path: str) -> CheckJob:
    return CheckJob(path, AnalysisOptions(), Selection((), ()), pictures=False)


def _walk(path: str, reading: bool) -> int:
    """Parses a file and visits the cursors that stand in it; how many there are."""
    from cudalint.frontend.flags import ParseOptions
    from cudalint.frontend.parse import parse_file

    unit = parse_file(path, ParseOptions()).tu
    waiting = [c for c in unit.cursor.get_children() if c.location.file and c.location.file.name == path]
    visited = 0
    while waiting:
        cursor = waiting.pop()
        visited += 1
        if reading:
            _ = (cursor.kind, cursor.spelling, cursor.type.kind, cursor.location.line)
        waiting += cursor.get_children()
    return visited


def lint_file(path: str) -> Use | Failure:
    start, begun = time.perf_counter(), time.process_time()
    report = check_file(_check_job(path))
    if isinstance(report, Failure):
        return report
    seconds, processor_seconds = time.perf_counter() - start, time.process_time() - begun
    return Use(path, os.getpid(), peak_megabytes(), seconds, processor_seconds, report)


# --- the report ----------------------------------------------------------------------------------------


def main() -> None:
    arguments = _arguments()
    files = [file for file in discover(arguments.paths).files if file.path.endswith(".cu")]
    paths = [file.path for file in files]
    if arguments.sample:
        for line in _ratios(paths[:: arguments.sample], arguments.repeat):
            print(line, flush=True)
    for line in _throughput(files, arguments.jobs):
        print(line, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files and folders; of folders, the .cu files below them")
    parser.add_argument("--sample", type=int, default=1, help="take the ratio of every N-th file, 0 of none (1)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the best counts (3)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes of the second pass (2)")
    return parser.parse_args()


def _ratios(paths: Sequence[str], repeat: int) -> Iterator[str]:
    jobs = [TimingJob(path, repeat) for path in paths]
    limits = Limits(workers=1, seconds=2 * _SECONDS * repeat)
    timings = [value for _, value in run_all(time_file, jobs, limits) if isinstance(value, Timing)]
    yield f"{len(timings)} of {len(paths)} files timed in a warm process, best of {repeat}"
    if not timings:
        return
    yield _distribution("parse and walk, ms", [1000 * t.parse_and_walk for t in timings])
    yield _distribution("whole analysis, ms", [1000 * t.analysis for t in timings])
    yield _distribution("analysis / parse and walk", [t.ratio for t in timings])
    yield _distribution("analysis / parse and walk that reads the cursors", [t.reading_ratio for t in timings])
    for timing in sorted(timings, key=lambda t: t.ratio)[: -_WORST - 1 : -1]:
        times = f"{1000 * timing.parse_and_walk:.0f} -> {1000 * timing.analysis:.0f} ms"
        yield f"  {timing.ratio:6.1f}  {times}  {timing.path}"


def _distribution(name: str, values: Sequence[float]) -> str:
    ordered = sorted(values)
    p90 = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
    return f"{name}: median {statistics.median(ordered):.2f}, p90 {p90:.2f}, worst {ordered[-1]:.2f}"


def _throughput(files: Sequence[SourceFile], workers: int) -> Iterator[str]:
    start = time.perf_counter()
    limits = Limits(workers=workers, seconds=_SECONDS)
    uses = _uses([file.path for file in files if not file.is_optional], limits)
    reports = [use.report for use in uses]
    is_covered = covered_by(reports)
    covered = [file for file in files if file.is_optional and is_covered(file.path)]
    uses += _uses([file.path for file in files if file.is_optional and file not in covered], limits)
    elapsed = time.perf_counter() - start
    yield (
        f"{len(uses) + len(covered)} of {len(files)} files linted with {workers} workers in {elapsed:.1f} s, "
        f"{len(covered)} of them with others: {len(files) / elapsed:.1f} files/s, "
        f"{elapsed / max(1, len(files)):.3f} s/file"
    )
    if uses:
        # Of the files of one worker, all from the hungriest on report the same peak.
        hungry = max(uses, key=lambda use: use.megabytes)
        slow = max(uses, key=lambda use: use.seconds)
        busy = sum(use.processor_seconds for use in uses)
        yield f"processor: {busy:.1f} s, {busy / len(files) / workers:.3f} s/file on {workers} cores of their own"
        yield f"memory: {len({u.process for u in uses})} processes, peak {hungry.megabytes:.0f} MB, {hungry.path}"
        yield f"slowest: {slow.seconds:.2f} s, {slow.path}"


def _uses(paths: Sequence[str], limits: Limits) -> list[Use]:
    return [value for _, value in run_all(lint_file, paths, limits) if isinstance(value, Use)]


if __name__ == "__main__":
    main()
