"""Sets verdicts on branches against the branch counters of measured programs.

    python benchmarks/divergence.py COUNTERS CHECKOUTS [--limit N] [--only TEXT] [--list]

COUNTERS is a file as benchmarks/accuracy.py reads it; its `branch` rows are the lines on which warps split. What
decides there (indices, loaded data, or the machine's own code) was read from the sources: divergence_causes.json.

The exit status is 1 if too few of the lines that indices decide are called divergent, or too few of the calls are
right: calling everything divergent fails, and so does calling nothing.

A line is *called* divergent if some branch on it has that verdict. A line without a row, of a kernel that was measured,
ran without a split: calling it is false, unless it is said that the compiler makes no jump there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field
from programs import command_line, program_name, read_counters, run_facts
from scoring import plain_name

_VISIBLE_LAUNCH = frozenset({"launch-site", "annotation"})
_LEAST_RECALL = 0.95
_LEAST_PRECISION = 0.6
_CAUSES = Path(__file__).with_name("divergence_causes.json")


class Line(NamedTuple):
    kernel: str
    file: str
    number: int


class Call(NamedTuple):
    """What is said of one branch under one launch."""

    block: tuple[int, ...] | None
    """None where no launch is in sight: it stands for any block."""
    verdict: str
    compiled: str | None
    assumptions: tuple[str, ...]


class Measured(NamedTuple):
    """A line of a measured kernel on which warps split."""

    line: Line
    block: tuple[int, ...]
    cause: str


class Score(Struct):
    """What became of the lines of some programs."""

    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By cause: the worst verdict on each line that split."""
    false: list[str] = field(default_factory=list)
    """Lines called divergent, with a jump, that ran without a split."""
    false_without_jump: int = 0
    """Lines called divergent that split no warp since there is no jump, as predicted."""
    right: int = 0
    """Lines called divergent, with a jump, that split."""
    quiet: int = 0
    """Lines with a branch that nobody called divergent and that ran without a split."""
    missed: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Of the lines that indices decide, the share that is called divergent."""
        index = self.verdicts.get("index", Counter())
        return index["divergent"] / max(1, sum(index.values()))

    @property
    def precision(self) -> float:
        """Of the lines called divergent, with a jump, the share that split."""
        return self.right / max(1, self.right + len(self.false))

    @property
    def passes(self) -> bool:
        return self.recall >= _LEAST_RECALL and self.precision >= _LEAST_PRECISION

    def add(self, other: Score) -> None:
        for cause, counts in other.verdicts.items():
            self.verdicts[cause] += counts
        self.false += other.false
        self.missed += other.missed
        self.false_without_jump += other.false_without_jump
        self.right += other.right
        self.quiet += other.quiet


def calls(document: Mapping[str, Any]) -> dict[Line, list[Call]]:
    """The verdicts in the output of `cudalint facts --format json`, by line."""
    found: dict[Line, list[Call]] = defaultdict(list)
    for file in document["files"]:
        for kernel in file.get("kernels") or ():
            for branch in kernel.get("branches") or ():
                line = Line(plain_name(kernel["name"]), branch["path"].rpartition("/")[2], branch["line"])
                for result in branch["results"]:
                    launch = kernel["launches"][result["launch"]]
                    block = tuple(launch["block"]) if launch["source"] in _VISIBLE_LAUNCH else None
                    said = Call(block, result["verdict"], result["compiled"], tuple(result["assumptions"]))
                    found[line].append(said)
    return found


def split_lines(program: Mapping[str, Any], causes: Mapping[str, Mapping[str, Sequence[int]]]) -> Iterator[Measured]:
    """The lines of a program on which warps split, once for each kernel and block."""
    seen = set()
    for kernel in program["kernels"]:
        for row in kernel["lines"]:
            if row["space"] == "branch":
                line = Line(plain_name(kernel["kernel"]), row["file"], row["line"])
                by_cause = causes.get(row["file"], {})
                cause = next((cause for cause, lines in by_cause.items() if row["line"] in lines), "unlabelled")
                measured = Measured(line, tuple(kernel["block"]), cause)
                if measured not in seen:
                    seen.add(measured)
                    yield measured


def score(program: Mapping[str, Any], said: Mapping[Line, Sequence[Call]], causes: Mapping[str, Any]) -> Score:
    """Compares one program's verdicts with what was measured."""
    result = Score()
    split = list(split_lines(program, causes))
    for measured in split:
        candidates = _for_block(said.get(measured.line, ()), measured.block)
        worst = _worst(candidates)
        result.verdicts[measured.cause][worst] += 1
        if measured.cause == "index" and worst != "divergent":
            result.missed.append(f"{_named(program, measured.line)}: {worst}")
    where = {(measured.line, measured.block) for measured in split}
    blocks = {(plain_name(kernel["kernel"]), tuple(kernel["block"])) for kernel in program["kernels"]}
    for line, everything in said.items():
        for block in (block for kernel, block in blocks if kernel == line.kernel):
            candidates = [call for call in _for_block(everything, block) if call.verdict == "divergent"]
            _count(result, program, line, candidates, (line, block) in where)
    return result


def _count(result: Score, program: Mapping[str, Any], line: Line, called: Sequence[Call], splits: bool) -> None:
    with_jump = [call for call in called if call.compiled == "branch"]
    if not called:
        result.quiet += not splits
    elif splits:
        result.right += 1
    elif with_jump:
        assumed = ", ".join(with_jump[0].assumptions)
        result.false.append(_named(program, line) + (f" (assumed {assumed})" if assumed else ""))
    else:
        result.false_without_jump += 1


def _for_block(candidates: Iterable[Call], block: tuple[int, ...]) -> list[Call]:
    return [call for call in candidates if call.block in (None, block)]


def _worst(candidates: Sequence[Call]) -> str:
    order = ("divergent", "data-dependent", "unknown", "warp-uniform", "uniform")
    return next((verdict for verdict in order if any(c.verdict == verdict for c in candidates)), "no branch")


def _named(program: Mapping[str, Any], line: Line) -> str:
    return f"{program_name(program)}, {line.kernel}, {line.file}:{line.number}"


def _run(program: Mapping[str, Any], checkouts: Path, causes: Mapping[str, Any]) -> Score | str:
    facts = run_facts(command_line(dict(program), checkouts))
    if facts.document is None:
        return f"{program_name(program)}: {facts.error}"
    return score(program, calls(facts.document), causes.get(program_name(program), {}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counters", type=Path)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--limit", type=int, help="so many programs at most")
    parser.add_argument("--only", default="", help="only programs whose name holds this text")
    parser.add_argument("--list", action="store_true", help="name every missed line and every false call")
    options = parser.parse_args()
    programs = [p for p in read_counters(options.counters) if options.only in program_name(p)][: options.limit]
    causes = json.loads(_CAUSES.read_text(encoding="utf-8"))["programs"]
    total = Score()
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(partial(_run, checkouts=options.checkouts, causes=causes), programs):
            if isinstance(found, str):
                print(found)
            else:
                total.add(found)
    report(total, options.list)
    return 0 if total.passes else 1


def report(total: Score, everything: bool) -> None:
    print("lines on which warps split, by what decides there:")
    for cause in ("index", "data", "machine", "unlabelled"):
        counts = total.verdicts.get(cause, Counter())
        if lines := sum(counts.values()):
            shares = ", ".join(f"{verdict} {count}" for verdict, count in counts.most_common())
            print(f"  {cause:10} {lines:4}  called divergent {counts['divergent'] / lines:6.1%}  ({shares})")
    false, called = len(total.false), total.right + len(total.false)
    assumed = sum("(assumed" in line for line in total.false)
    print(f"called divergent with a jump: {called} lines, {total.right} right, {false} false")
    print(f"  of the false ones, {assumed} rest on a size or launch that the source leaves open")
    print(f"called divergent without a jump: {total.false_without_jump} lines, none of which split")
    print(f"not called and not split: {total.quiet} lines with a branch")
    calling_all = total.right / max(1, total.right + false + total.false_without_jump + total.quiet)
    print(f"precision {total.precision:.1%}; calling every branch divergent would have {calling_all:.1%}")
    print(f"{'passes' if total.passes else 'fails'}: recall {total.recall:.1%}, at least {_LEAST_RECALL:.0%};", end=" ")
    print(f"precision {total.precision:.1%}, at least {_LEAST_PRECISION:.0%}")
    if everything:
        for line in (*(f"missed: {text}" for text in total.missed), *(f"false: {text}" for text in total.false)):
            print(line)


if __name__ == "__main__":
    sys.exit(main())
