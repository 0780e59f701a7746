"""Measures what one file takes from the command line: a fresh process for each, as a user starts it.

usage: python benchmarks/cold.py PATHS... [--files N] [--seed N] [--repeat N] [--cudalint COMMAND]...

Files are drawn at random, always the same ones for one seed. Several commands, of two installations say, take turns, so
that what else happens on the machine comes to all of them alike. Needs a system that tells what processes used (no
Windows). Compile the modules first where Python may not write them beside the sources: `python -m compileall cudalint`.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cudalint.project.discovery import discover

_LIMIT = 0.5
"""Seconds that a typical file may take."""


class Run(NamedTuple):
    processor: float
    """Seconds of computing, of the program and its worker."""
    wall: float


def main() -> None:
    arguments = _arguments()
    found = [os.path.abspath(file.path) for file in discover(arguments.paths).files if not file.is_optional]
    paths = sorted(random.Random(arguments.seed).sample(sorted(found), min(arguments.files, len(found))))
    commands = arguments.cudalint or [os.path.join(os.path.dirname(sys.executable), "cudalint")]
    typical: dict[str, list[Run]] = {command: [] for command in commands}
    for path in paths:
        for command, run in _typical_runs(commands, path, arguments.repeat):
            typical[command].append(run)
            print(f"{run.processor:7.3f} {run.wall:7.3f}  {command}  {path}", flush=True)
    for command, runs in typical.items():
        print(command)
        print(_summary("processor", [run.processor for run in runs]))
        print(_summary("wall", [run.wall for run in runs]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", help="files and folders; of folders, the .cu files below them")
    parser.add_argument("--files", type=int, default=60, help="how many are drawn (60)")
    parser.add_argument("--seed", type=int, default=2, help="of the draw (2)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the median counts (5)")
    parser.add_argument("--cudalint", action="append", help="the program; may be repeated (the one beside this Python)")
    return parser.parse_args()


def _typical_runs(commands: Sequence[str], path: str, repeat: int) -> Iterator[tuple[str, Run]]:
    """The median of each command's runs on one file."""
    runs: dict[str, list[Run]] = {command: [] for command in commands}
    for _ in range(repeat):
        for command in commands:
            runs[command].append(_run(command, path))
    for command, all_runs in runs.items():
        yield command, Run(*(statistics.median(times) for times in zip(*all_runs, strict=True)))


def _run(command: str, path: str) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen([command, "-j1", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0  # It was waited for.
    return Run(used.ru_utime + used.ru_stime, time.perf_counter() - start)


def _summary(name: str, seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    below = sum(each < _LIMIT for each in ordered)
    p90 = ordered[int(0.9 * (len(ordered) - 1))]
    return (
        f"  {name}: median {statistics.median(ordered):.3f} s, p90 {p90:.3f}, worst {ordered[-1]:.2f}; "
        f"below {_LIMIT} s: {below} of {len(ordered)}"
    )


if __name__ == "__main__":
    main()
