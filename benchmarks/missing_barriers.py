"""Takes barriers out of real kernels, one at a time, and counts how many are missed.

usage: python benchmarks/missing_barriers.py PATHS... [--files N] [--each N] [--seed N] [--jobs N]

Draws files with `__syncthreads();` on a line of its own, and removes it from up to N of these lines in turn. A removal
is `found` if a race becomes certain that was not before, `possible` if one does that depends on data or on sizes,
`redundant` if CL303 already says that the barrier orders nothing, else `silent`: then the barrier is not needed, which
nobody knows without reading, or the race is missed.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from cudalint.facts import FileFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

Certainty = Literal["certain", "possible"]
Verdict = Literal["found", "possible", "redundant", "silent"]
_BARRIER = re.compile(r"^(\s*)__syncthreads\(\);", re.MULTILINE)


class Removal(NamedTuple):
    path: Path
    line: int
    verdict: Verdict


def races(facts: FileFacts, certainty: Certainty) -> set[tuple[str, int, int]]:
    """The kernel and the lines of both ends; removing a barrier moves no line."""
    return {
        (kernel.name, race.first.place.line, race.second.place.line)
        for kernel in facts.kernels
        for race in kernel.races or ()
        if race.certainty == certainty
    }


def redundant_lines(facts: FileFacts) -> set[int]:
    barriers = (barrier for kernel in facts.kernels for barrier in kernel.barriers or ())
    return {barrier.place.line for barrier in barriers if all(result.redundant for result in barrier.results)}


def removals(path: Path, each: int, seed: int) -> list[Removal]:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    before = analyse_file(str(path), AnalysisOptions())
    barriers = list(_BARRIER.finditer(text))
    random.Random(seed).shuffle(barriers)
    found = []
    for barrier in barriers[:each]:
        line = text.count("\n", 0, barrier.end()) + 1
        changed = text[: barrier.start()] + barrier[1] + ";" + text[barrier.end() :]
        after = analyse_file(str(path), AnalysisOptions(unsaved=((str(path), changed),)))
        found.append(Removal(path, line, _verdict(before, after, line)))
    return found


def _verdict(before: FileFacts, after: FileFacts, line: int) -> Verdict:
    known = races(before, "certain")
    if races(after, "certain") - known:
        return "found"
    if line in redundant_lines(before):
        return "redundant"
    return "possible" if races(after, "possible") - known - races(before, "possible") else "silent"


def with_barriers(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        for file in sorted(path.rglob("*.cu")) if path.is_dir() else [path]:
            if _BARRIER.search(file.read_text(encoding="utf-8", errors="replace")):
                yield file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    files = list(with_barriers(given.paths))
    random.Random(given.seed).shuffle(files)
    counted: Counter[Verdict] = Counter()
    with ProcessPoolExecutor(given.jobs) as pool:
        for found in pool.map(partial(removals, each=given.each, seed=given.seed), files[: given.files]):
            for removal in found:
                counted[removal.verdict] += 1
                if removal.verdict != "found":
                    print(f"{removal.verdict:10} {removal.path}:{removal.line}", flush=True)
    total = counted.total()
    print(", ".join(f"{count} {verdict}" for verdict, count in counted.most_common()), f"of {total}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
