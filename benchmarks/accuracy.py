"""Scores `cudalint facts` against measured counters, and says line by line what is off and why.

usage: python benchmarks/accuracy.py CHECKOUTS --counters FILE [--program NAME] [--details FILE]

CHECKOUTS holds the public repositories that were measured, as owner+name (NVIDIA+cuda-samples,
zjin-lcf+HeCBench). What the words mean stands in scoring.py.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from programs import Facts, command_line, program_name, read_counters, run_facts
from scoring import SPACES, LineScore, Totals, measured_lines, predictions, score_lines, totals

_SHOWN_REASONS = 3
_WIDTH = 110

Scores = dict[str, list[LineScore]]
"""By program."""


def main() -> None:
    arguments = _arguments()
    programs = [p for p in read_counters(arguments.counters) if arguments.program in program_name(p)]
    scores: Scores = {}
    failures: list[str] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        lines = [command_line(program, arguments.checkouts) for program in programs]
        for program, facts in zip(programs, pool.map(run_facts, lines), strict=True):
            scores[program_name(program)] = _score(program, facts)
            if facts.error:
                failures.append(f"{program_name(program)}: {facts.error}")
    _print(_report(scores, failures))
    if arguments.details:
        arguments.details.write_text(json.dumps({name: [_row(s) for s in rows] for name, rows in scores.items()}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, help="folder with the checked-out repositories")
    parser.add_argument("--counters", type=Path, required=True, help="measured counters, JSON or JSON.gz")
    parser.add_argument("--program", default="", help="only programs with this in their name")
    parser.add_argument("--details", type=Path, help="write every line's score to this file, as JSON")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time (2)")
    return parser.parse_args()


def _score(program: Mapping[str, Any], facts: Facts) -> list[LineScore]:
    return score_lines(measured_lines(program), predictions(facts.document) if facts.document else ())


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


# --- the report ------------------------------------------------------------------------------------------


def _report(scores: Scores, failures: Sequence[str]) -> Iterator[str]:
    yield from _lines_off(scores)
    yield from _causes(scores)
    yield f"{len(scores)} programs, {len(failures)} failed"
    yield from failures
    for space in SPACES:
        found = totals(scores.values(), space)
        if found is not None:
            yield _averages(space, found)


def _averages(space: str, found: Totals) -> str:
    return (
        f"{space}: {found.programs} programs, {found.lines} lines; covered {found.covered:.1%}, "
        f"exact {found.exact:.1%}, exact of covered {found.exact_of_covered:.1%}, "
        f"exact by line {found.exact_by_line:.1%}; precision {_percent(found.precision)}, "
        f"recall {_percent(found.recall)} "
        f"({found.hits} hits, {found.false_alarms} false alarms, {found.misses} misses)"
    )


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{value:.1%}"


def _lines_off(scores: Scores) -> Iterator[str]:
    """Each line that is not exact, with what is known about why."""
    for name, rows in scores.items():
        off = [score for score in rows if not score.exact]
        if not off:
            continue
        yield f"{name}: {len(off)} of {len(rows)} lines off"
        for score in off:
            yield f"  {_place(score)}: {_difference(score)}"
            yield from (f"      {why}" for why in _why(score))
        yield ""


def _place(score: LineScore) -> str:
    key = score.measured.key
    block = "x".join(map(str, score.measured.block))
    return f"{key.file}:{key.line} {key.space} in {key.kernel} ({block})"


def _difference(score: LineScore) -> str:
    measured = _numbers(score.measured.values)
    verdict = ""
    if score.measured.bad != score.flagged:
        verdict = ", MISSED" if score.measured.bad else ", FALSE ALARM"
    if not score.covered:
        return f"measured {measured}, nothing predicted{verdict}"
    return f"measured {measured}, predicted {_numbers(score.predicted)}{verdict}"


def _numbers(values: Iterable[float]) -> str:
    return " and ".join(f"{value:g}" for value in values)


def _why(score: LineScore) -> Iterator[str]:
    """The distinct statuses with their reasons and assumptions; the first few of them."""
    if not score.predictions:
        yield "no access is known on this line for this block"
        return
    said = Counter(_explanation(p.status, p.reason, p.assumptions) for p in score.predictions)
    for text, _ in said.most_common(_SHOWN_REASONS):
        yield text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
    if len(said) > _SHOWN_REASONS:
        yield f"and {len(said) - _SHOWN_REASONS} more"


def _explanation(status: str, reason: str | None, assumptions: Sequence[str]) -> str:
    parts = [status]
    if reason:
        parts.append(reason)
    if assumptions:
        parts.append(f"assuming {'; '.join(assumptions)}")
    return ": ".join(parts)


def _causes(scores: Scores) -> Iterator[str]:
    """How many lines are off for which kind of cause."""
    counted = Counter((s.measured.key.space, _cause(s)) for rows in scores.values() for s in rows if not s.exact)
    for (space, cause), number in sorted(counted.items(), key=lambda item: (item[0][0], -item[1])):
        yield f"{number:5d}  {space}: {cause}"
    yield ""


def _cause(score: LineScore) -> str:
    if score.covered:
        statuses = {p.status for p in score.predictions if p.value is not None}
        return f"other figures than measured ({', '.join(sorted(statuses))})"
    if not score.predictions:
        return "no access known on the line"
    return f"no figures ({', '.join(sorted({p.status for p in score.predictions}))})"


def _row(score: LineScore) -> dict[str, Any]:
    """One line for the file of details."""
    measured = score.measured
    return {
        "kernel": measured.kernel,
        "block": measured.block,
        "file": measured.key.file,
        "line": measured.key.line,
        "space": measured.key.space,
        "measured": measured.values,
        "predicted": score.predicted,
        "bad": measured.bad,
        "covered": score.covered,
        "exact": score.exact,
        "flagged": score.flagged,
        "status": sorted({p.status for p in score.predictions}) or ["none"],
        "reasons": sorted({p.reason for p in score.predictions if p.reason}),
    }


if __name__ == "__main__":
    main()
