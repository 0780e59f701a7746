"""Builds programs, runs them under Nsight Compute and writes what its source counters say, as `accuracy.py` reads it.

usage: python benchmarks/measure.py PROGRAMS.json CHECKOUTS --out counters.json.gz [--seconds N] [--arch sm_90]

Needs a GPU, nvcc, make and ncu. The first launch of each kernel is measured. Programs that do not build, fail or take
too long are named with the reason; the others are written. Programs that run beside each other may disturb each other
in the driver; such ones are run again, alone.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from programs import options_of, program_name

from cudalint.confirm.counters import Instruction, NoCounters, parse

Program = dict[str, Any]

_FLAGS = ["-O3", "-lineinfo", "-std=c++17"]
_LIBRARIES = ["-lcublas", "-lcurand", "-lcufft", "-lcusparse", "-Xcompiler", "-fopenmp"]
_BUILD_SECONDS = 240.0
_PRINT_SECONDS = 60.0
_REPORT_SECONDS = 20.0
"""For ncu to write its report after its program was ended."""
_CAST = re.compile(r"\([\w: ]+\)(?=-?\d)")
_LARGEST_REPORT = 60_000_000
"""Bytes of printed counters. Programs with thousands of kernels are left out."""


class Failed(Exception):
    """Why a program was not measured, in one line."""


class Disturbed(Failed):
    """The driver refused, perhaps since another program was profiled at the same time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path, help="what draw.py wrote")
    parser.add_argument("checkouts", type=Path, help="folder with the checked-out repositories")
    parser.add_argument("--out", type=Path, required=True, help="counters, JSON or JSON.gz")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--seconds", type=float, default=40.0, help="for a program under ncu (40)")
    parser.add_argument("--total", type=float, default=1e9, help="seconds after which nothing more is begun")
    parser.add_argument("--builders", type=int, default=os.cpu_count() or 2, help="programs built at a time")
    parser.add_argument("--runners", type=int, default=4, help="programs profiled at a time (4)")
    arguments = parser.parse_args()
    programs = json.loads(arguments.programs.read_text(encoding="utf-8"))
    bench = _Bench(arguments.checkouts.resolve(), arguments.arch, arguments.seconds, time.monotonic() + arguments.total)
    measured: list[Program] = []
    again: list[tuple[Program, Future[Path]]] = []
    with ThreadPoolExecutor(arguments.builders) as builders, ThreadPoolExecutor(arguments.runners) as runners:
        builds = [builders.submit(bench.build, program) for program in programs]
        runs = [runners.submit(bench.measure, program, build) for program, build in zip(programs, builds, strict=True)]
        for program, build, run in zip(programs, builds, runs, strict=True):
            try:
                measured += _result(program, run.result)
            except Disturbed:
                again.append((program, build))
    for program, build in again:
        try:
            measured += _result(program, partial(bench.measure, program, build))
        except Disturbed as error:
            print(f"{program_name(program)}: {error}", flush=True)
    data = json.dumps(measured).encode()
    arguments.out.write_bytes(gzip.compress(data) if arguments.out.suffix == ".gz" else data)
    print(f"{len(measured)} of {len(programs)} programs measured")


def _result(program: Program, kernels: Callable[[], list[Program]]) -> list[Program]:
    """The measured program, or nothing and a message. Raises: Disturbed."""
    try:
        return [{**program, "kernels": kernels()}]
    except Disturbed:
        raise
    except (Failed, NoCounters, OSError, ValueError) as error:
        # A folder that is not there or arguments that cannot be split cost this program, not the ones before it.
        print(f"{program_name(program)}: {error}", flush=True)
        return []


class _Bench:
    """One machine: where sources lie, what is compiled for, and how long a program may take."""

    def __init__(self, checkouts: Path, arch: str, seconds: float, end: float) -> None:
        self.checkouts, self.arch, self.seconds, self.end = checkouts, arch, seconds, end
        self.scratch = Path(tempfile.mkdtemp(prefix="measure"))

    def build(self, program: Program) -> Path:
        """The executable."""
        return self._made(program) if "make" in program else self._compiled(program)

    def _made(self, program: Program) -> Path:
        """HeCBench's programs read their data by paths relative to their folder: each is built where it lies."""
        folder = self.checkouts / str(program["make"])
        self._run(["make", "-B", f"ARCH={self.arch}", "EXTRA_CFLAGS=-lineinfo"], folder, _BUILD_SECONDS)
        found = [path for path in folder.iterdir() if path.is_file() and os.access(path, os.X_OK)]
        if not found:
            raise Failed("make leaves no executable")
        return max(found, key=lambda path: path.stat().st_mtime)

    def _compiled(self, program: Program) -> Path:
        source, *others = (str(self.checkouts / file) for file in (*program["files"], *program.get("host", ())))
        executable = Path(tempfile.mkdtemp(dir=self.scratch)) / "program"
        command = ["nvcc", *_FLAGS, f"-arch={self.arch}", *options_of(program, self.checkouts), source, *others]
        self._run([*command, "-o", str(executable), *_LIBRARIES], Path(source).parent, _BUILD_SECONDS)
        return executable

    def measure(self, program: Program, build: Future[Path]) -> list[Program]:
        executable = build.result()
        if time.monotonic() > self.end:
            raise Failed("no time was left")
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        where = self.checkouts / program["make"] if "make" in program else executable.parent
        report = folder / "report"
        try:
            profile = [
                "ncu", "--clock-control", "none", "--section", "SourceCounters", "--section", "LaunchStats",
                "--kernel-id", ":::1", "--export", str(report), str(executable), *shlex.split(program["args"]),
            ]  # fmt: skip
            # ncu waits for others that lock the same folder for temporary files.
            said = self._run(profile, where, self.seconds, {"TMPDIR": str(folder)}, stop=executable)
            read = ["ncu", "--import", f"{report}.ncu-rep", "--csv"]
            if not report.with_suffix(".ncu-rep").exists():
                kind = Disturbed if "reported by the driver" in said else Failed
                raise kind(f"ncu made no report: {_telling_line(said)}")
            source = self._run([*read, "--page", "source", "--print-source", "cuda,sass"], folder, _PRINT_SECONDS)
            raw = self._run([*read, "--page", "raw"], folder, _PRINT_SECONDS)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if len(source) > _LARGEST_REPORT:
            raise Failed("the report is too large")
        instructions, launches = parse(source), _launches(raw)
        kernels = list(_kernels(instructions, launches))
        if not kernels:
            raise Failed("no launch of a kernel with counters")
        return kernels

    def _run(
        self, command: Sequence[str], folder: Path, seconds: float,
        more: Mapping[str, str] | None = None, stop: Path | None = None,
    ) -> str:  # fmt: skip
        """What a command prints. All processes that it started end with it; `stop` is a program to be ended first."""
        with tempfile.TemporaryFile(dir=self.scratch) as said:
            process = subprocess.Popen(
                command, cwd=folder, stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                start_new_session=True, env={**os.environ, **(more or {})},
            )  # fmt: skip
            try:
                status = _waited(process, seconds, stop)
            except subprocess.TimeoutExpired:
                raise Failed(f"{command[0]} was given up after {seconds:g} s") from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            said.seek(0)
            text = said.read().decode("utf-8", "replace")
        # A program may end with a status of its own, and its kernels are measured all the same.
        if status and command[0] != "ncu":
            raise Failed(f"{command[0]} failed: {_telling_line(text)}")
        return text


def _waited(process: subprocess.Popen[bytes], seconds: float, stop: Path | None) -> int:
    """The exit status. Where a program that is profiled takes too long, it alone is ended at first: ncu then still
    writes what it has measured. Raises: TimeoutExpired."""
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        if stop is None:
            raise
    for entry in Path("/proc").glob("[0-9]*/exe"):
        try:
            if entry.readlink() == stop:
                os.kill(int(entry.parent.name), signal.SIGKILL)
        except OSError:
            continue
    return process.wait(timeout=_REPORT_SECONDS)


def _telling_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "undefined" in line]
    return (errors or lines or ["it said nothing"])[0][:200]


def _launches(raw: str) -> dict[str, dict[str, Any]]:
    """The first launch of each kernel in ncu's raw page, by the kernel's bare name."""
    rows = [row for row in csv.reader(raw.splitlines()) if len(row) > 10]
    if not rows:
        raise NoCounters("ncu prints no launch")
    header, found = rows[0], dict[str, dict[str, Any]]()
    for row in rows[2:]:
        fields = dict(zip(header, row, strict=False))
        launch = {"block": _three(fields["Block Size"]), "grid": _three(fields["Grid Size"])}
        found.setdefault(_bare(fields["Kernel Name"]), launch)
    return found


def _three(text: str) -> list[int]:
    return [int(number) for number in text.strip("() ").split(",")]


def _bare(name: str) -> str:
    """One page writes `f<(int)4>`, the other one `f<4>`."""
    return "".join(_CAST.sub("", name).split())


def _kernels(instructions: Sequence[Instruction], launches: Mapping[str, dict[str, Any]]) -> Iterator[Program]:
    by_kernel: dict[str, list[Instruction]] = defaultdict(list)
    for instruction in instructions:
        by_kernel[instruction.function].append(instruction)
    for name, own in by_kernel.items():
        if _bare(name) in launches:
            yield {"kernel": name, **launches[_bare(name)], "lines": list(_lines(own))}


def _lines(instructions: Sequence[Instruction]) -> Iterator[dict[str, Any]]:
    """The rows of a kernel, one for each line and space."""
    by_line: dict[tuple[str, int, str], list[Instruction]] = defaultdict(list)
    for one in instructions:
        if one.space in ("global", "shared") and one.executed and one.line:
            by_line[os.path.basename(one.path), one.line, one.space].append(one)
    for (file, line, space), own in by_line.items():
        yield {"file": file, "line": line, "space": space, "instructions": [_entry(one) for one in own]}


def _entry(one: Instruction) -> dict[str, Any]:
    return {
        "opcode": one.text.split(";")[0].strip()[:60],
        "requests": one.executed,
        "per_request": round(one.cost / one.executed, 3),
        "ideal_per_request": round(one.ideal / one.executed, 3),
        "active_lanes": round(one.threads / one.executed, 2),
    }


if __name__ == "__main__":
    main()
