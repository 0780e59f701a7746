"""Races that the new core finds in the launches of files, beside what their comments expect.

    python benchmarks/race_cases.py FILE... [--worlds] [--notes]

Kernels with `// expect: CL301` (or another rule's code: `--code CL305`) in their text have a race; others have none.
Launches are those that the old core executes. It is gone with the old core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from executed import launches_of, some_blocks

from cudalint.execute.budget import Limits
from cudalint.execute.lanes import Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.ir import nodes as ir
from cudalint.measure.races import Race, races_of

_STEPS = 100_000
"""Of one execution, at most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--code", default="CL301")
    parser.add_argument("--notes", action="store_true")
    given = parser.parse_args()
    sys.setrecursionlimit(20_000)
    counts: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    for path in given.files:
        _file(path, given.code, given.notes, counts, seconds)
    print(dict(counts), {name: round(each, 3) for name, each in seconds.items()})


def _file(path: str, code: str, notes: bool, counts: Counter[str], seconds: dict[str, float]) -> None:
    lines = Path(path).read_text().splitlines()
    expected = {number for number, line in enumerate(lines, 1) if f"expect: {code}" in line}
    launches = launches_of(path)
    program = Program()
    kernels: dict[str, ir.Function] = {}
    certain: dict[str, list[Race]] = {}
    possible: dict[str, list[Race]] = {}
    reasons: dict[str, Counter[str]] = {}
    for launched in launches:
        name = launched.function.instantiation
        kernels[name] = launched.function
        lanes = Lanes(launched.block, launched.grid, some_blocks(launched.grid))
        begin = time.process_time()
        trace = Machine(lanes, program, Limits(_STEPS)).run(launched.function, launched.arguments)
        ran = time.process_time()
        races = races_of(trace)
        took = time.process_time() - ran
        seconds["execution"] += ran - begin
        seconds["races"] += took
        seconds["most for one"] = max(seconds["most for one"], took)
        counts["launches"] += 1
        counts["accesses"] += len(trace.accesses)
        reasons.setdefault(name, Counter()).update(trace.unknown)
        for into, found in ((certain, races.found), (possible, races.possible)):
            into.setdefault(name, []).extend(
                race for race in found if race.allocation.space == "shared" or code != "CL301"
            )
    for name, function in kernels.items():
        told = [each for each in certain[name] if not each.is_benign]
        mays = [each for each in possible[name] if not each.is_benign]
        ends = {end.site.node.span.line for race in told for end in (race.first, race.second)}
        may_ends = {end.site.node.span.line for race in mays for end in (race.first, race.second)}
        calls = {call.span.line for race in told for end in (race.first, race.second) for call in end.site.stack}
        own = {line for line in expected if function.span.line <= line <= function.span.end_line}
        own |= expected & (ends | may_ends)
        if own:
            at_line = "found" if own & (ends | calls) else "possible" if own & may_ends else ""
            what = at_line or ("elsewhere" if told else "missed")
        else:
            what = "false" if told else "possible, false" if mays else "none, right"
        counts[what] += 1
        if notes and what not in ("found", "none, right"):
            print(f"{what}: {path}:{sorted(own) or function.span.line} {name} {dict(reasons[name])}")
            for race in (told or mays)[:3]:
                print(f"    {_said(race, lines)}")


def _said(race: Race, lines: list[str]) -> str:
    texts = []
    for end in (race.first, race.second):
        span = end.site.node.span
        spelled = lines[span.line - 1][span.column - 1 : span.end_column - 1] if span.line <= len(lines) else "?"
        texts.append(f"{span.line} {end.site.operation} `{spelled}` by {end.thread} of {end.block}")
    flags = [name for name in ("is_benign", "is_conditional", "is_carried", "is_covered") if getattr(race, name)]
    return f"{race.allocation.name} byte {race.byte}: {' and '.join(texts)}, {race.reach} {' '.join(flags)}"


if __name__ == "__main__":
    main()
