"""Runs the analysis over a corpus and counts: failures, kernels found and evaluated, statuses, and reasons.

usage: python benchmarks/coverage.py PATHS... [--jobs N] [--time-limit SECONDS] [--missing] [--reasons N]

Files go through the worker processes that `cudalint` itself uses, so that crashes and hangs cost one file. The
kernels to be found are counted in the text of each `.cu` file, independently of the analysis (definitions.py).
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from definitions import Definition, kernel_definitions
from msgspec import Struct, field

from cudalint.facts import FileFacts, KernelFacts, Place
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.discovery import discover
from cudalint.report.findings.results import Failure
from cudalint.rulekit import is_repeat
from cudalint.run.limits import Limits, Lost
from cudalint.run.runs import run_all

Grade = Literal["in full", "in full but for data-dependent accesses", "in part", "not at all"]
GRADES: tuple[Grade, ...] = ("in full", "in full but for data-dependent accesses", "in part", "not at all")
"""Best first: a kernel with several instantiations has the worst of their grades."""

_WITH_FIGURES = frozenset({"exact", "assumed", "range", "unreached"})
_NOT_OF_ACCESSES = frozenset({"races", "unit"})
"""Gaps that leave out no access of a lane."""
_REPEAT = "no request of its own"
_SLOWEST = 5
_NAMES = re.compile(r"`[^`]*`|'[^']*'")
_PLACES = re.compile(r" at line \d+| at \S+:\d+|\b\d[\d,]*\b")


class FileCount(Struct, frozen=True):
    """What one file adds to the counts; travels back from a worker."""

    path: str
    seconds: float
    status: str
    expected: int
    missing: tuple[int, ...]
    """Lines of kernel definitions that the preprocessor keeps and the analysis doesn't know."""
    kernels: tuple[tuple[Place, Grade], ...]
    accesses: tuple[tuple[str, str | None], ...]
    """Status and reason of each result."""
    gaps: tuple[str, ...]
    without_races: int
    """Kernels of which only the search for races left something out."""
    with_units: int
    """Kernels of which bulk copies or operands of tensor cores are listed only."""


class Counts(Struct):
    """The whole corpus."""

    files: int = 0
    failures: list[Failure] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    expected: int = 0
    missing: list[tuple[str, int]] = field(default_factory=list)
    grades: dict[Place, Grade] = field(default_factory=dict)
    accesses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    gaps: Counter[str] = field(default_factory=Counter)
    without_races: int = 0
    with_units: int = 0
    seconds: list[tuple[float, str]] = field(default_factory=list)

    def add(self, count: FileCount) -> None:
        self.statuses[count.status] += 1
        self.expected += count.expected
        self.missing += [(count.path, line) for line in count.missing]
        for place, grade in count.kernels:
            known = self.grades.get(place, grade)
            self.grades[place] = max(known, grade, key=GRADES.index)
        self.accesses.update(status for status, _ in count.accesses)
        self.reasons.update(
            f"{status}: {_general(reason)}" for status, reason in count.accesses if reason and status != _REPEAT
        )
        self.gaps.update(map(_general, count.gaps))
        self.without_races += count.without_races
        self.with_units += count.with_units
        self.seconds.append((count.seconds, count.path))


def _general(reason: str) -> str:
    """A reason without the names, places and numbers of its file."""
    return _PLACES.sub(" ..", _NAMES.sub("`..`", reason))


# --- in the worker ------------------------------------------------------------------------------


def count_file(path: str) -> FileCount | Failure:
    from cudalint.run.file_facts import analyse

    start = time.perf_counter()
    facts = analyse(path, AnalysisOptions())
    seconds = time.perf_counter() - start
    if isinstance(facts, Failure):
        return facts
    expected, missing = _definitions(path, facts)
    results = [result for kernel in facts.kernels for access in kernel.accesses for result in access.results]
    return FileCount(
        path,
        seconds,
        facts.status,
        expected,
        missing,
        tuple((kernel.place, _grade(kernel)) for kernel in facts.kernels),
        tuple((_REPEAT if is_repeat(r) else r.status, r.reason) for r in results),
        tuple(gap.own_reason for kernel in facts.kernels for gap in kernel.gaps),
        sum(bool(kernel.gaps) and all(gap.kind == "races" for gap in kernel.gaps) for kernel in facts.kernels),
        sum(any(gap.kind == "unit" for gap in kernel.gaps) for kernel in facts.kernels),
    )


def _definitions(path: str, facts: FileFacts) -> tuple[int, tuple[int, ...]]:
    """How many kernels the text defines, and the lines of those that the analysis has not found."""
    wanted = definitions_in(path)
    found = [kernel.place for kernel in facts.kernels if kernel.place.path == path]
    missing = [d.line for d in wanted if not any(_covers(place, d.line, d.column) for place in found)]
    return len(wanted), tuple(missing)


def definitions_in(path: str) -> list[Definition]:
    """The kernels that the text of a file defines, without those that preprocessor conditions leave out."""
    from cudalint.frontend.flags import ParseOptions
    from cudalint.frontend.parse import parse_file
    from cudalint.frontend.reading import SourceError

    try:
        skipped = parse_file(path, ParseOptions()).skipped_ranges
    except SourceError:
        return []
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return list(kernel_definitions(file.read(), skipped))


def _covers(place: Place, line: int, column: int) -> bool:
    return (place.line, place.column) <= (line, column) < (place.end_line, place.end_column)


def _grade(kernel: KernelFacts) -> Grade:
    results = [result for access in kernel.accesses for result in access.results]
    statuses = [result.status for result in results if not is_repeat(result)]
    known = sum(status in _WITH_FIGURES for status in statuses)
    understood = known + statuses.count("data-dependent")
    if any(gap.kind not in _NOT_OF_ACCESSES for gap in kernel.gaps) or understood < len(statuses):
        return "in part" if understood else "not at all"
    return GRADES[0] if known == len(statuses) else GRADES[1]


# --- the report ------------------------------------------------------------------------------------


def main() -> None:
    arguments = _arguments()
    start = time.perf_counter()
    counts = count_all(arguments.paths, Limits(arguments.jobs, arguments.time_limit))
    elapsed = time.perf_counter() - start
    for line in _report(counts, elapsed, arguments):
        print(line)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files and folders; of folders, the .cu files below them")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds for one file (20)")
    parser.add_argument("--missing", action="store_true", help="list the kernels that were not found")
    parser.add_argument("--reasons", type=int, default=20, help="how many reasons to show (20)")
    return parser.parse_args()


def count_all(paths: Sequence[str], limits: Limits) -> Counts:
    """Counts all `.cu` files that the paths name; headers are analysed with the files that include them."""
    found = discover(paths)
    jobs = [file.path for file in found.files if not file.is_optional]
    counts = Counts(files=len(jobs), failures=list(found.failures))
    lost: list[str] = []
    for index, value in run_all(count_file, jobs, limits):
        if isinstance(value, FileCount):
            counts.add(value)
        else:
            counts.failures.append(Failure(jobs[index], value.reason) if isinstance(value, Lost) else value)
            lost.append(jobs[index])
    # What a file that failed defines was not found either.
    for index, defined in run_all(definitions_in, lost, limits):
        if not isinstance(defined, Lost):
            counts.expected += len(defined)
            counts.missing += [(lost[index], definition.line) for definition in defined]
    return counts


def _report(counts: Counts, elapsed: float, arguments: argparse.Namespace) -> Iterator[str]:
    yield f"{counts.files} files in {elapsed:.0f} s, {len(counts.failures)} failed; {_shares(counts.statuses)}"
    yield from (f"  {failure.path}: {failure.message}" for failure in counts.failures)
    found = counts.expected - len(counts.missing)
    share = found / counts.expected if counts.expected else 1.0
    yield f"kernel definitions that the preprocessor keeps: {counts.expected}, found {found} ({share:.2%})"
    if arguments.missing:
        yield from (f"  {path}:{line}" for path, line in sorted(counts.missing))
    grades = Counter(counts.grades.values())
    yield f"kernels with those of headers and macros: {len(counts.grades)}"
    yield from _table((grades[grade], f"evaluated {grade}") for grade in GRADES)
    yield f"instantiations of which only the search for races left something out: {counts.without_races}"
    yield f"instantiations with bulk copies or operands of tensor cores, which are listed: {counts.with_units}"
    yield f"results of accesses: {_shares(counts.accesses)}"
    yield "reasons of results without figures, or with a range:"
    yield from _table((number, reason) for reason, number in counts.reasons.most_common(arguments.reasons))
    yield "gaps in kernels:"
    yield from _table((number, reason) for reason, number in counts.gaps.most_common(arguments.reasons))
    yield "slowest files:"
    yield from (f"  {seconds:5.2f} s  {path}" for seconds, path in sorted(counts.seconds)[: -_SLOWEST - 1 : -1])


def _shares(counter: Counter[str]) -> str:
    total = sum(counter.values()) or 1
    return ", ".join(f"{name} {number} ({number / total:.1%})" for name, number in counter.most_common())


def _table(rows: Iterable[tuple[int, str]]) -> Iterator[str]:
    listed = list(rows)
    total = sum(number for number, _ in listed) or 1
    yield from (f"{number:7d}  {number / total:5.1%}  {text}" for number, text in listed)


if __name__ == "__main__":
    main()
