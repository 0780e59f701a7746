"""Runs programs of HeCBench as they are and with cudalint's edits, on a GPU: the same results, and in what time.

usage: python benchmarks/edits_run.py HECBENCH [--minutes M] [--only NAME...] [--markdown FILE]

Programs that print whether their own check passed are copied, with what they include of their neighbours; `--fix`, and
then `--fix --unsafe-fixes` on top of it, make all edits that there are (`--min-share 0`) in the copies, and each a
second time, which has to change nothing. All versions are built by the program's Makefile and run by its `run` target,
best of up to three runs; a run that takes too long is tried once more with a hundredth of the repetitions. The checkout
is not written. Needs make, nvcc and a GPU; each GPU runs one program at a time.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from msgspec import Struct, field

_VERSIONS = ("as it is", "safe", "unsafe")
_CHECKS = re.compile(r"PASS|FAIL")
_FAILS = re.compile(r"\bFAIL|[Mm]ismatch|MISMATCH|misaligned|illegal|CUDA error")
_PASSES = re.compile(r"PASS|[Ss]uccess|SUCCESS|match")
_OF_TIME = re.compile(r"time|\bms\b|\bus\b|sec|B/s|FLOP|throughput|rate|speed", re.IGNORECASE)
_HEAD = "| program | edits | findings gone | as it is | with edits | output | time |\n" + 7 * "|---" + "|"
_RUN_SECONDS = 14.0
_LARGEST_NEIGHBOUR = 60 << 20


class Outcome(Struct):
    """What became of a program: its edits, and of each version the verdict, the output and the time that it prints."""

    state: str = "runs"
    edits: dict[str, Counter[str]] = field(default_factory=dict)
    """By version the codes of the findings that are gone, and how many."""
    settles: dict[str, bool] = field(default_factory=dict)
    """Whether a second fix changes nothing."""
    verdicts: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    """The lines that don't tell times, of the first run."""
    times: dict[str, float] = field(default_factory=dict)


class Bench:
    """The programs of a checkout, and how long all of it may take."""

    def __init__(self, checkout: Path, seconds: float, folder: Path) -> None:
        self.sources = checkout / "src"
        self.end = time.monotonic() + seconds
        self.folder = folder
        self.architecture, count = _gpus()
        self.gpus: queue.Queue[int] = queue.Queue()
        for number in range(count):
            self.gpus.put(number)

    def names(self, only: list[str]) -> list[str]:
        """Programs that check themselves and have a command to run."""
        names = only or sorted(path.name for path in self.sources.glob("*-cuda"))
        return [
            name
            for name in names
            if _run_command(self.sources / name) and (only or _CHECKS.search(_texts(self.sources / name)))
        ]

    def outcome(self, name: str) -> Outcome:
        try:
            return self._outcome(name)
        finally:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def _outcome(self, name: str) -> Outcome:
        found = Outcome()
        folders = {_VERSIONS[0]: self._copy(name, _VERSIONS[0], self.sources / name)}
        last = folders[_VERSIONS[0]]
        for version in _VERSIONS[1:]:
            changed = self._copy(name, version, last)
            gone = self._fix(changed, version == "unsafe")
            if gone is None:
                return Outcome("cudalint fails")
            if gone:
                folders[version] = last = changed
                found.edits[version] = gone
                again = self._copy(name, f"{version} again", changed)
                self._fix(again, version == "unsafe")
                found.settles[version] = _texts(again) == _texts(changed)
        if len(folders) == 1:
            return Outcome("unchanged")
        for version, folder in folders.items():
            status, _ = self._shell(f"make ARCH={self.architecture} GCC=g++", folder, 150)
            if status != 0:
                return Outcome("no time left" if status is None else f"{version}: does not build", found.edits)
        gpu = self.gpus.get()
        try:
            self._run(found, folders, gpu)
        finally:
            self.gpus.put(gpu)
        return found

    def _run(self, found: Outcome, folders: dict[str, Path], gpu: int) -> None:
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu)}
        command = _run_command(folders[_VERSIONS[0]]) or "false"
        start = time.monotonic()
        status, _ = self._shell(command, folders[_VERSIONS[0]], _RUN_SECONDS, environment)
        if status is None:
            command = re.sub(r"(\d{2,})$", lambda digits: str(max(1, int(digits[1]) // 100)), command)
            start = time.monotonic()
            self._shell(command, folders[_VERSIONS[0]], _RUN_SECONDS, environment)
        rounds = 3 if time.monotonic() - start < 2 else 1
        for version, folder in folders.items():
            runs = [self._shell(command, folder, _RUN_SECONDS, environment) for _ in range(rounds)]
            found.verdicts[version] = "/".join(sorted({_verdict(status, text) for status, text in runs}))
            found.outputs[version] = [line for line in runs[0][1].splitlines() if not _OF_TIME.search(line)]
            times = [told for status, text in runs if status == 0 and (told := _time(text))]
            if times:
                found.times[version] = min(times)

    def _copy(self, name: str, version: str, origin: Path) -> Path:
        """A folder of its own, beside copies of the neighbours that its files name."""
        beside = self.folder / name / version / "src"
        shutil.copytree(origin, beside / name, ignore_dangling_symlinks=True)
        waiting = [beside / name]
        while waiting:
            for other in set(re.findall(r"\.\./([A-Za-z][\w.-]*)", _texts(waiting.pop()))):
                old, new = self.sources / other, beside / other
                if not old.is_dir() or new.exists():
                    continue
                size = sum(path.stat().st_size for path in old.rglob("*") if path.is_file())
                if size <= _LARGEST_NEIGHBOUR:
                    shutil.copytree(old, new, ignore_dangling_symlinks=True)
                    waiting.append(new)
                else:
                    new.symlink_to(old)
        return beside / name

    def _fix(self, folder: Path, unsafe: bool) -> Counter[str] | None:
        """The codes of the findings that are gone, or None where there is no answer."""
        report = self.folder / f"{os.getpid()}-{time.monotonic_ns()}.json"
        flags = "--fix --unsafe-fixes" if unsafe else "--fix"
        command = f"{sys.executable} -m cudalint check . --no-config --no-cache --jobs 1 --min-share 0 {flags}"
        self._shell(f"{command} -q --output json={report} > /dev/null", folder, 120)
        try:
            return Counter(each["code"] for each in json.loads(report.read_text(encoding="utf-8"))["fixed"])
        except (OSError, ValueError, KeyError):
            return None

    def _shell(
        self, command: str, folder: Path, seconds: float, environment: dict[str, str] | None = None
    ) -> tuple[int | None, str]:
        """Status and output; no status where it had to be ended, with all that it started."""
        seconds = min(seconds, self.end - time.monotonic())
        if seconds < 0.5:
            return None, ""
        process = subprocess.Popen(
            ["bash", "-c", command], cwd=folder, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            return None, text.decode(errors="replace")
        return process.returncode, text.decode(errors="replace")


def _gpus() -> tuple[str, int]:
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    found = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()
    return "sm_" + found[0].replace(".", ""), len(found)


def _texts(folder: Path) -> str:
    """All sources of a folder, and its Makefile."""
    suffixes = (".cu", ".cuh", ".h", ".hpp", ".cpp")
    paths = sorted(path for path in folder.rglob("*") if path.suffix in suffixes or path.name == "Makefile")
    return "".join(path.read_text(errors="replace") for path in paths if path.is_file())


def _run_command(folder: Path) -> str | None:
    """The first line of the Makefile's target `run`."""
    try:
        text = (folder / "Makefile").read_text(errors="replace")
    except OSError:
        return None
    found = re.search(r"^run\s*:[^\n]*\n\t([^\n]*)", text, re.MULTILINE)
    name = re.search(r"^program\s*=\s*(\S+)", text, re.MULTILINE)
    if not found:
        return None
    line = found[1].replace("$(LAUNCHER)", "").replace("$(program)", name[1] if name else "main").strip("@- \t")
    return None if "$(" in line else line


def _verdict(status: int | None, text: str) -> str:
    if status is None:
        return "no end"
    if status:
        return f"status {status}"
    return "FAIL" if _FAILS.search(text) else "pass" if _PASSES.search(text) else "ends"


_OF_HOST = re.compile(r"\b(?:host|cpu|reference|serial)\b", re.IGNORECASE)
_FIGURE = r"(?<![\w.])\d+\.?\d*(?:e[-+]?\d+)?"
_UNIT = r"(?:[num\u00b5]?s|[mu]?secs?|(?:milli|micro|nano)?seconds?)\b"
_WITH_UNIT = re.compile(rf"({_FIGURE})\s*[(\[]?\s*{_UNIT}")
_NAMED = re.compile(rf"(?:time|elapsed|took)\w*\s*(?:\([^()]*\))?\s*[=:]?\s*({_FIGURE})", re.IGNORECASE)


def _time(text: str) -> float:
    """The sum of the figures of all lines about the GPU's time, in whatever unit the program has: of each the last one
    before a unit of time, the one behind the word, or the last one. Rates stand behind times."""
    found = 0.0
    for line in text.splitlines():
        if not re.search(r"time|elapsed|took", line, re.IGNORECASE) or _OF_HOST.search(line):
            continue
        figures = _WITH_UNIT.findall(line) or _NAMED.findall(line)[:1] or re.findall(_FIGURE, line)
        found += float(figures[-1]) if figures else 0.0
    return found


def _rows(name: str, found: Outcome) -> list[str]:
    own, rows = _VERSIONS[0], []
    for version, gone in found.edits.items():
        edits = ", ".join(f"{code} x{number}" for code, number in sorted(gone.items()))
        same = "same" if found.outputs.get(version) == found.outputs.get(own) else "other"
        told, before = found.times.get(version), found.times.get(own)
        ratio = f"{told / before:.2f}" if told and before else ""
        settles = "" if found.settles[version] else ", changes again"
        verdicts = f"{found.verdicts.get(own)} | {found.verdicts.get(version)}"
        rows.append(f"| {name.removesuffix('-cuda')} | {version}{settles} | {edits} | {verdicts} | {same} | {ratio} |")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.checkout.resolve(), 60 * options.minutes, Path(folder))
        names = bench.names(options.only)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            outcomes = dict(zip(names, pool.map(bench.outcome, names), strict=True))
    ran = {name: found for name, found in outcomes.items() if found.state == "runs"}
    table = "\n".join([_HEAD, *(row for name, found in ran.items() for row in _rows(name, found))])
    print(table)
    print(f"{len(names)} programs on {bench.architecture}:", dict(Counter(found.state for found in outcomes.values())))
    if options.markdown:
        options.markdown.write_text(table + "\n", encoding="utf-8")
    passing = [found for found in ran.values() if found.verdicts.get(_VERSIONS[0]) == "pass"]
    kept = [found for found in passing if set(found.verdicts.values()) == {"pass"}]
    print(f"{len(passing)} pass their own check as they are, {len(kept)} of them with all edits as well")
    return 0 if len(kept) == len(passing) and all(all(found.settles.values()) for found in ran.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
