"""Scores races and divergent barriers on the labelled cases of peers' test suites, case by case.

usage: python benchmarks/races.py CASES.json CHECKOUT [--jobs N]

CASES.json is a list of objects with `path`, `blockDim`, `gridDim`, `defines` and a label (pass or fail); CHECKOUT is
the suite's repository. A case counts as flagged if `cudalint facts` calls a race certain or a barrier divergent. The
exit status is 1 where a case labelled pass is flagged, or fewer than 95% of the verdicts are right.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

from programs import run_facts

Verdict = Literal["correct", "missed", "false alarm", "error"]
_NEEDED = 0.95


def is_scored(case: Mapping[str, Any]) -> bool:
    return bool(case.get("use_for_race_divergence_eval")) and not case.get("left_out")


def label(case: Mapping[str, Any]) -> str:
    return str(case.get("race_or_divergence_label") or case["label"])


def source(case: Mapping[str, Any], checkout: Path) -> Path:
    """The file of a case; where the path is short of its first folders, the only file that ends so."""
    path = checkout / str(case["path"])
    if path.is_file():
        return path
    found = sorted(checkout.rglob(str(case["path"])))
    return found[0] if len(found) == 1 else path


def arguments(case: Mapping[str, Any], checkout: Path) -> list[str]:
    """The options of `cudalint facts`: one suite labels races within a block, the other those of the whole grid."""
    scope = "block" if case.get("level") == "block" else "grid"
    launch = [f"--block={_dimensions(case['blockDim'])}", f"--grid={_dimensions(case['gridDim'])}"]
    defines = [text if text.startswith("-D") else f"-D{text}" for text in case["defines"]]
    return [*launch, "--force-launch", "--race-scope", scope, *defines, str(source(case, checkout))]


def _dimensions(extents: list[int]) -> str:
    return ",".join(str(extent) for extent in extents)


def flags(document: Mapping[str, Any]) -> list[str]:
    """What the facts say for certain, one line for each race and barrier."""
    found = []
    for file in document["files"]:
        for kernel in file["kernels"]:
            for race in kernel["races"] or ():
                if race["certainty"] == "certain":
                    ends = f"lines {race['first']['line']} and {race['second']['line']}"
                    found.append(f"race on {race['element']} between {ends}")
            found += [
                f"divergent barrier at line {barrier['line']}"
                for barrier in kernel["barriers"] or ()
                if any(result["verdict"] == "divergent" for result in barrier["results"])
            ]
    return found


def judge(case: Mapping[str, Any], checkout: Path) -> tuple[Verdict, str]:
    facts = run_facts(arguments(case, checkout))
    if facts.document is None:
        return "error", facts.error or "no facts"
    found = flags(facts.document)
    failing = label(case) == "fail"
    if bool(found) == failing:
        return "correct", ""
    return ("missed", "") if failing else ("false alarm", "; ".join(found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    cases = [case for case in json.loads(given.cases.read_text()) if is_scored(case)]
    with ThreadPoolExecutor(given.jobs) as pool:
        verdicts = list(pool.map(lambda case: judge(case, given.checkout), cases))
    for case, (verdict, why) in zip(cases, verdicts, strict=True):
        print(f"{verdict:12} {label(case):5} {case['path']}{': ' if why else ''}{why}")
    counts = Counter(verdict for verdict, _ in verdicts)
    right = counts["correct"] / max(len(cases), 1)
    print(f"{counts['correct']} of {len(cases)} right ({right:.1%}), {counts['missed']} missed, ", end="")
    print(f"{counts['false alarm']} false alarms, {counts['error']} errors")
    return 0 if right >= _NEEDED and not counts["false alarm"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
