"""What each heuristic brings: all samples at hand, scored with each of them off.

usage: python benchmarks/ablation.py CHECKOUTS --counters FILE [--counters FILE] [--cases FILE CHECKOUT] [--lint PATH]
                                     [--heuristic NAME] [--jobs N] [--keep FOLDER] [--output TABLE.md]

Each row is one heuristic (see `cudalint/heuristics.py`) switched off, and says what changes against the program as it
is: lines exact of all measured ones, hits and false alarms on lines that cost more than they should, labelled race
cases that are right, findings of `cudalint` on the measured programs that appear and vanish, and CPU time. A heuristic
that moves no finding, no case and less than two lines in a thousand does not earn its place.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import process_time
from typing import Any

import msgspec
from call_lines import with_call_lines
from msgspec import Struct, field
from programs import command_line, program_name, read_counters
from races import arguments, flags, is_scored, label
from scoring import SPACES, measured_lines, predictions, score_lines

from cudalint.cli import facts
from cudalint.cli.analysis_options import settings_from
from cudalint.heuristics import VARIABLE, Heuristic, all_heuristics
from cudalint.project.discovery import discover
from cudalint.registry import Selection, selected_rules
from cudalint.report.findings.results import Failure
from cudalint.report.formats.facts_json import file_text
from cudalint.run.file_facts import analyse
from cudalint.run.job import CheckJob
from cudalint.run.rule_findings import rule_findings
from cudalint.run.runs import configure
from cudalint.run.unchecked import Unchecked

_LIMIT = "120"
"""Seconds for a file of which only the findings are compared: one that is given up has others each time."""
_LEAST_SHARE = 0.002
"""Of the lines: what moves fewer of them, and nothing else, is no heuristic that earns its place."""


class Outcome(Struct):
    """What came of one setting."""

    lines: dict[str, int] = field(default_factory=dict)
    """By space, as `exact`."""
    exact: dict[str, int] = field(default_factory=dict)
    hits: int = 0
    false_alarms: int = 0
    right: int = 0
    """Labelled cases whose verdict is the label."""
    findings: set[str] = field(default_factory=set)
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


class Samples(Struct, frozen=True):
    """What is scored."""

    checkouts: Path
    counters: tuple[Path, ...]
    cases: tuple[tuple[Path, Path], ...]
    """Files of labelled cases, each with the suite's checkout."""
    linted: tuple[Path, ...] = ()
    """Files and folders of which only the findings are compared."""


def measure(samples: Samples) -> Outcome:
    """Scores everything in this process, whose environment says what is off."""
    found = Outcome()
    begin = process_time()
    programs = {program_name(p): p for path in samples.counters for p in read_counters(path)}
    for name, program in programs.items():
        files = [_analysed(job, name, found) for job in jobs_of(command_line(program, samples.checkouts))]
        known = predictions({"files": files})
        for score in score_lines(measured_lines(program), known):
            space = score.measured.key.space
            found.lines[space] = found.lines.get(space, 0) + 1
            found.exact[space] = found.exact.get(space, 0) + score.exact
            found.hits += score.measured.bad and score.flagged
            found.false_alarms += not score.measured.bad and score.flagged
    for cases, suite in samples.cases:
        for case in filter(is_scored, json.loads(cases.read_text())):
            files = [_analysed(job, "", found) for job in jobs_of(arguments(case, suite))]
            found.right += bool(flags({"files": files})) == (label(case) == "fail")
    for job in jobs_of([*map(str, samples.linted), "--time-limit", _LIMIT]) if samples.linted else ():
        _analysed(job, "linted", found)
    found.seconds = process_time() - begin
    return found


def jobs_of(options: Sequence[str]) -> Iterator[CheckJob]:
    """The files to lint that a command line of `cudalint facts` names."""
    values = facts.command.make_context("facts", list(options)).params
    settings = settings_from(values)
    configured, _ = configure(discover(values["paths"], settings.excludes, False).files, settings)
    for each in configured:
        yield CheckJob(each.file.path, each.options, Selection(), pictures=False)


def _analysed(job: CheckJob, program: str, found: Outcome) -> dict[str, Any]:
    """The facts of a file as JSON has them; findings are noted, for programs."""
    known = analyse(job.path, job.options)
    if isinstance(known, Failure):
        found.failures.append(f"{job.path}: {known.message}")
        return {"kernels": []}
    if program:
        unchecked = Unchecked()
        for finding in rule_findings(known, job, selected_rules(job.selection), unchecked):
            place, code = finding.diagnostic.place, finding.diagnostic.code
            found.findings.add(f"{place.path}:{place.line}: {code} {finding.diagnostic.message}")
        found.failures += (each.message for each in unchecked.shortfalls())
    document: dict[str, Any] = json.loads(file_text(with_call_lines(known)))
    return document


def _run(off: str, samples: Samples, kept: Path | None) -> Outcome:
    """Measures in a process of its own, since switches are read when the program starts. What is kept already is not
    measured again."""
    file = kept / f"{off or 'nothing'}.json" if kept else None
    if file is not None and file.is_file():
        return msgspec.json.decode(file.read_bytes(), type=Outcome)
    command = [sys.executable, __file__, "--measure", msgspec.json.encode(samples, enc_hook=str).decode()]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, VARIABLE: off}
    )
    if done.returncode:
        raise RuntimeError(f"without {off or 'nothing'}: {done.stderr.strip().splitlines()[-1:]}")
    if file is not None:
        file.write_text(done.stdout, encoding="utf-8")
    return msgspec.json.decode(done.stdout, type=Outcome)


def _row(found: Heuristic | None, whole: Outcome, without: Outcome) -> str:
    name, evidence = (found.name, found.evidence) if found else ("(nothing off)", "")
    cells = [f"`{name}`", evidence]
    if found is None:
        cells += [f"{whole.exact.get(s, 0)} of {whole.lines.get(s, 0)}" for s in SPACES]
        cells += [str(whole.hits), str(whole.false_alarms), str(whole.right), str(len(whole.findings)), ""]
        cells += [f"{whole.seconds:.0f} s", ""]
    else:
        appear, vanish = without.findings - whole.findings, whole.findings - without.findings
        moved = [without.exact.get(s, 0) - whole.exact.get(s, 0) for s in SPACES]
        others = [without.hits - whole.hits, without.false_alarms - whole.false_alarms, without.right - whole.right]
        cells += [f"{n:+d}" if n else "" for n in (*moved, *others)]
        cells += [str(len(vanish) or ""), str(len(appear) or "")]
        cells.append(f"{without.seconds / whole.seconds - 1:+.0%}" if whole.seconds else "")
        is_idle = not (any(others) or appear or vanish)
        lines = sum(whole.lines.values())
        cells.append("idle" if is_idle and abs(sum(moved)) < _LEAST_SHARE * lines else "")
    return f"| {' | '.join(cells)} |"


def table(heuristics: Sequence[Heuristic], outcomes: Mapping[str, Outcome]) -> str:
    """The rows in Markdown, those first that move most lines."""
    heads = [
        "off", "evidence", *(f"{s} lines exact" for s in SPACES), "hits", "false alarms", "cases right",
        "findings lost", "found besides", "CPU", "",
    ]  # fmt: skip
    whole = outcomes[""]
    by_weight = sorted(heuristics, key=lambda h: (sum(outcomes[h.name].exact.values()), h.name))
    rows = [_row(None, whole, whole), *(_row(h, whole, outcomes[h.name]) for h in by_weight)]
    return "\n".join([f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *rows]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="?", default=Path(), help="folder with the repositories")
    parser.add_argument("--counters", type=Path, action="append", default=[], help="measured counters (repeatable)")
    parser.add_argument("--cases", type=Path, nargs=2, action="append", default=[], help="labelled cases, their suite")
    parser.add_argument("--lint", type=Path, nargs="+", default=[], help="files to compare findings of")
    parser.add_argument("--heuristic", action="append", help="only this one (repeatable)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, help="write the table here as well")
    parser.add_argument("--keep", type=Path, help="a folder for what was measured, from which a run goes on")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        wanted = msgspec.json.decode(given.measure, type=Samples, dec_hook=lambda kind, text: kind(text))
        print(msgspec.json.encode(measure(wanted)).decode())
        return
    known = all_heuristics()
    if unknown := set(given.heuristic or ()) - known.keys():
        parser.error(f"no heuristic is named {', '.join(sorted(unknown))}")
    heuristics = [known[name] for name in given.heuristic or known]
    cases = tuple(map(tuple, given.cases))
    samples = Samples(given.checkouts.resolve(), tuple(given.counters), cases, tuple(given.lint))
    with ThreadPoolExecutor(given.jobs) as pool:
        names = ["", *(h.name for h in heuristics)]
        outcomes = dict(zip(names, pool.map(lambda off: _run(off, samples, given.keep), names), strict=True))
    for failure in outcomes[""].failures:
        print(failure, file=sys.stderr)
    text = table(heuristics, outcomes)
    print(text, end="")
    if given.output:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
