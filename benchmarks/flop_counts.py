"""Compares predicted floating-point operations with those that gpuFLOPBench measured for the kernels of HeCBench.

usage: python benchmarks/flop_counts.py GPUFLOPBENCH HECBENCH [--every N] [--jobs N]

GPUFLOPBENCH is a checkout of github.com/Scientific-Computing-Lab/gpuFLOPBench (Bolet et al., "Counting Without
Running", 2025), whose `cuda-profiling/profiling-data.csv` has the operations of the first launch of each kernel on an
RTX 3080 and the program's arguments; HECBENCH is one of github.com/zjin-lcf/HeCBench. Its CUDA programs are copied and
given these arguments where `main` begins, as the language models of the paper are told them. A kernel is compared if a
launch with the measured grid and block was found. Counts are those of one launch, an FMA is two.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

_MAIN = re.compile(
    r"\bmain\s*\(\s*(?:const\s+)?int\s+(\w+)\s*,\s*(?:const\s+)?char\s*(?:const\s*)?\*+\s*(\w+)[^)]*\)\s*\{"
)
_SOURCES = {".cu", ".cuh", ".h", ".hpp", ".cpp", ".c", ".inc", ".inl"}
_SECONDS = 150
_TARGET = "rtx3090"
"""Of the architecture that was measured."""


class Measured(NamedTuple):
    kernel: str
    block: tuple[int, ...]
    grid: tuple[int, ...]
    fp32: float
    fp64: float


class Compared(NamedTuple):
    """What was predicted and what measured, of one kernel and precision."""

    predicted: float
    measured: float

    @property
    def ratio(self) -> float:
        if not self.predicted or not self.measured:
            return 1.0 if self.predicted == self.measured else float("inf")
        return max(self.predicted / self.measured, self.measured / self.predicted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpuflopbench", type=Path)
    parser.add_argument("hecbench", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take one program of so many (1)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    programs, arguments = _measured(options.gpuflopbench / "cuda-profiling" / "profiling-data.csv")
    names = [name for name in sorted(programs) if (options.hecbench / "src" / name).is_dir()][:: options.every]

    def run(name: str) -> list[dict[str, Any]]:
        return _facts(options.hecbench / "src" / name, arguments[name])

    states: Counter[str] = Counter()
    pairs: dict[str, list[Compared]] = {"fp32": [], "fp64": []}
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, kernels in zip(names, pool.map(run, names), strict=True):
            for measured in programs[name]:
                state, operations = _found(kernels, measured)
                states[state] += 1
                if operations is not None:
                    pairs["fp32"].append(Compared(operations["fp32"], measured.fp32))
                    pairs["fp64"].append(Compared(operations["fp64"], measured.fp64))
    print(f"{len(names)} programs; kernels: {dict(states)}")
    for precision, compared in pairs.items():
        print("\n".join(_shares(precision, compared)))


def _measured(table: Path) -> tuple[dict[str, list[Measured]], dict[str, list[str]]]:
    """The first launch of each kernel by program, and the programs' arguments."""
    programs: dict[str, dict[str, Measured]] = {}
    arguments: dict[str, list[str]] = {}
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            if not row["targetName"].endswith("-cuda"):
                continue
            seconds = float(row["xtime"]) * 1e-9
            fp32, fp64 = (round(float(row[key]) * seconds) for key in ("spPerf", "dpPerf"))
            measured = Measured(row["kernelName"], _extents(row["Block Size"]), _extents(row["Grid Size"]), fp32, fp64)
            programs.setdefault(row["targetName"], {}).setdefault(row["kernelName"], measured)
            arguments.setdefault(row["targetName"], shlex.split(row["exeArgs"]))
    return {name: list(kernels.values()) for name, kernels in programs.items()}, arguments


def _extents(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _facts(program: Path, arguments: Sequence[str]) -> list[dict[str, Any]]:
    """The kernels of a program that is run with some arguments; none if it is given up."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, program.name)
        shutil.copytree(program, copy, ignore=_others)
        for path in copy.rglob("*"):
            if path.suffix in _SOURCES and path.is_file():
                text = path.read_text(errors="surrogateescape")
                path.write_text(_with_arguments(text, arguments), errors="surrogateescape")
        command = [sys.executable, "-m", "cudalint", "facts", "--no-config", "--format", "json", "--target", _TARGET,
                   "--only", "costs", "--jobs", "1", str(copy)]  # fmt: skip
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
            files = json.loads(run.stdout)["files"]
        except (subprocess.TimeoutExpired, ValueError):
            return []
    return [kernel for file in files for kernel in file["kernels"]]


def _others(folder: str, names: list[str]) -> list[str]:
    """Data, which no analysis reads."""
    return [name for name in names if not Path(folder, name).is_dir() and Path(name).suffix not in _SOURCES]


def _with_arguments(text: str, arguments: Sequence[str]) -> str:
    found = _MAIN.search(text)
    if found is None:
        return text
    given = ", ".join(json.dumps(each) for each in ("main", *arguments))
    count, values = found.groups()
    line = f" char *given_[] = {{{given}}}; {count} = {len(arguments) + 1}; {values} = given_;"
    return text[: found.end()] + line + text[found.end() :]


def _found(kernels: Sequence[Mapping[str, Any]], measured: Measured) -> tuple[str, dict[str, float] | None]:
    """The operations that are predicted for a launch like the measured one."""
    wanted = re.split("[<(]", measured.kernel)[0].rpartition("::")[2]
    own = [kernel for kernel in kernels if kernel["name"].partition("<")[0].rpartition("::")[2] == wanted]
    for kernel in own:
        for costs in kernel["costs"] or ():
            launch = kernel["launches"][costs["launch"]]
            same = (tuple(launch["block"]), tuple(launch["grid"])) == (measured.block, measured.grid)
            if same and costs["operations"] is not None:
                return "compared", costs["operations"]
    return "launched otherwise" if own else "not found", None


def _shares(precision: str, compared: Sequence[Compared]) -> Iterator[str]:
    for name, some in (
        ("all", compared), ("with operations", [pair for pair in compared if pair.predicted or pair.measured])
    ):  # fmt: skip
        within = (sum(pair.ratio <= most for pair in some) / max(1, len(some)) for most in (1.1, 1.5, 2.0))
        yield f"{precision}, {name} ({len(some)}): within 10%, 1.5x, 2x: {', '.join(f'{each:.0%}' for each in within)}"


if __name__ == "__main__":
    main()
