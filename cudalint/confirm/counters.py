"""Nsight Compute's source counters, instruction by instruction, from its CSV.

`ncu --page source --print-source cuda,sass` prints the lines of each file of a kernel and below each line its machine
instructions. Names of columns: Nsight Compute 2025.3; the metrics behind them are those of its section SourceCounters.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.system.disk.tools import tool

if TYPE_CHECKING:
    # Reading counters needs no front end, which trials bring along.
    from cudalint.confirm.trials import Trial

_PERMISSION = "ERR_NVGPUCTRPERM"
_ATOMIC = regex(r"^(?:@!?U?P\d+\s+)?(?:ATOM|RED)")

_COLUMNS = {
    "executed": "Instructions Executed",
    "threads": "Predicated-On Thread Instructions Executed",
    "divergent": "Divergent Branches",
    "space": "Address Space",
    "operation": "Access Operation",
    "size": "Access Size",
    "wavefronts": "L1 Wavefronts Shared",
    "ideal_wavefronts": "L1 Wavefronts Shared Ideal",
    "sectors": "L2 Theoretical Sectors Global",
    "ideal_sectors": "L2 Theoretical Sectors Global Ideal",
}

_NEEDED = ("executed", "threads")
"""ncu leaves columns out of which a kernel has nothing: branches, requests of shared memory, any requests."""

_SAMPLES = "Warp Stall Sampling (All Samples)"
"""All that ncu has of a kernel that failed."""

_PRINTING_SECONDS = 300.0
STARTED = "started"
"""The file in which the process under ncu notes each kernel that it begins, and its own end."""


class NoCounters(Exception):
    """Why there are none, in one line."""


class Stalled(NoCounters):
    """ncu has come to no other kernel for too long."""


class Instruction(Struct, frozen=True):
    """One machine instruction with its counters."""

    path: str
    line: int
    text: str
    executed: int
    threads: int
    """Lane executions with the predicate on."""
    divergent: int
    space: str
    """`global`, `shared`, ... or empty."""
    operation: str
    bytes: int
    cost: int
    """Sectors or wavefronts in all."""
    ideal: int
    function: str = ""
    """The kernel, as ncu names it."""


def parse(text: str) -> list[Instruction]:
    """All instructions of a report. Lines that are not understood belong to ncu's own messages."""
    return list(_instructions(_rows(text)))


def _rows(text: str) -> Iterator[list[str]]:
    """The fields of each line. ncu writes quotes of the source as they are, so that commas between them look like those
    between fields; numbers and instructions have none."""
    for line in text.splitlines():
        if line.startswith('"') and line.endswith('"'):
            yield line[1:-1].split('","')


def _instructions(rows: Iterable[list[str]]) -> Iterator[Instruction]:
    path, function, line = "", "", 0
    header: list[str] = []
    index: dict[str, int] = {}
    missing: list[str] = []
    is_understood = False
    for row in rows:
        if len(row) >= 2 and row[0] == "File Path":
            path = row[1]
        elif len(row) >= 2 and row[0] == "Function Name":
            function = row[1]
        elif row and row[0] == "Line No":
            header = row
            index = {key: header.index(name) for key, name in _COLUMNS.items() if name in header}
            # A kernel that failed has no counters, only its instructions.
            missing = [_COLUMNS[key] for key in _NEEDED if key not in index]
            is_understood |= not missing
        elif header and not missing:
            if row[0].isdigit():
                line = int(row[0])
            elif len(row) == len(header) and row[2].startswith("0x"):
                yield _instruction(path, function, line, row, index)
    if missing and not is_understood and not index and _SAMPLES in header:
        raise NoCounters("ncu counted nothing: the kernel failed (compute-sanitizer tells where)")
    if missing and not is_understood:
        raise NoCounters(f"ncu prints no column `{missing[0]}`; this version is not understood")


def _instruction(path: str, function: str, line: int, row: Sequence[str], index: dict[str, int]) -> Instruction:
    def number(key: str) -> int:
        if key not in index:
            return 0
        text = row[index[key]].replace(",", "")
        return int(float(text)) if text.replace(".", "", 1).isdigit() else 0

    def word(key: str) -> str:
        return row[index[key]].lower().strip("-") if key in index else ""

    text, space = row[3].strip(), word("space")
    shared = space == "shared"
    operation = "atomic" if _ATOMIC.match(text) else word("operation")
    return Instruction(
        path, line, text, number("executed"), number("threads"), number("divergent"), space, operation,
        number("size") // 8, number("wavefronts" if shared else "sectors"),
        number("ideal_wavefronts" if shared else "ideal_sectors"), function,
    )  # fmt: skip


# --- running ncu -----------------------------------------------------------------------------------------------


def find_ncu() -> str:
    found = tool("ncu")
    if found is None:
        raise NoCounters("Nsight Compute (ncu) is not installed")
    return found


def profile(trials: Sequence[Trial], folder: str, seconds: float) -> list[Instruction]:
    """Runs kernels once each under ncu, each for so many seconds at most. Their files lie in folders of their own, by
    which they are distinguished.

    A kernel may fault here although it did not without ncu, where its buffers had other neighbours. That ends the
    process, and those behind it get another one. One that takes too long takes the report along, so that those before
    it run again.
    """
    found: list[Instruction] = []
    left = list(trials)
    while left:
        try:
            found += _profile_some(left, folder, seconds)
            # The last one that was begun is the one that failed; the end counts as one more.
            begun = _started(folder)
        except Stalled:
            begun = _started(folder)
            if not begun and not found:
                raise
            if begun > 1:
                with contextlib.suppress(NoCounters):
                    found += _profile_some(left[: begun - 1], folder, seconds)
        except NoCounters:
            if len(left) == len(trials):
                raise
            begun = _started(folder)
        if not begun:
            break
        left = left[begun:]
    return found


def _profile_some(trials: Sequence[Trial], folder: str, seconds: float) -> list[Instruction]:
    ncu = find_ncu()
    jobs, report = os.path.join(folder, "trials.pickle"), os.path.join(folder, "report")
    with open(jobs, "wb") as file:
        pickle.dump(list(trials), file)
    for leftover in (f"{report}.ncu-rep", os.path.join(folder, STARTED)):
        if os.path.exists(leftover):
            os.remove(leftover)
    said = _output(
        [
            ncu, "--clock-control", "none", "--section", "SourceCounters", "--force-overwrite", "--export", report,
            sys.executable, "-P", "-m", "cudalint.confirm.profiled", jobs,
        ],
        seconds,
        folder,
    )  # fmt: skip
    if _PERMISSION in said:
        raise NoCounters("ncu has no permission for the GPU's counters (ERR_NVGPUCTRPERM)")
    if not os.path.exists(f"{report}.ncu-rep"):
        raise NoCounters(f"ncu made no report: {_last_words(said)}")
    printed = [ncu, "--import", f"{report}.ncu-rep", "--csv", "--page", "source", "--print-source", "cuda,sass"]
    return parse(_output(printed, _PRINTING_SECONDS, folder))


def _started(folder: str) -> int:
    """How many kernels the process under ncu has begun, and one more if it came to its end."""
    try:
        with open(os.path.join(folder, STARTED), encoding="utf-8") as file:
            return len(file.read().split())
    except OSError:
        return 0


def _last_words(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if "==ERROR==" in line]
    return (errors or lines or ["it said nothing"])[-1][:200]


def _output(command: Sequence[str], seconds: float, folder: str) -> str:
    """What a program prints. It ends with all the processes that it started if it comes to no other kernel for too
    long, and if this process has to end."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603
            command, stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
        )
        try:
            _wait(process, seconds, folder)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said.seek(0)
        return said.read().decode("utf-8", "replace")


def _wait(process: subprocess.Popen[bytes], seconds: float, folder: str) -> None:
    begun, since = 0, time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=min(1.0, seconds))
            return
        now = _started(folder)
        if now != begun:
            begun, since = now, time.monotonic()
        elif time.monotonic() - since > seconds:
            raise Stalled(f"ncu was given up after {seconds:g} s")
