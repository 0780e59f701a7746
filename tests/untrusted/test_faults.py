"""Faults around a run: a full disk, streams that are closed, signals, workers that are killed, folders that aren't
there. A file is written as a whole or not at all, and what could not be done is said."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import run
from cudalint.diagnostics import Diagnostic
from cudalint.report.findings.merging import gather
from cudalint.report.findings.results import FileReport
from cudalint.run import limits, pool
from cudalint.run import runs as driver
from cudalint.system.disk.replacing import write_whole

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="devices, limits and signals are those of Linux")

Check = Callable[..., Any]
_STRIDED = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"
_OTHER = _STRIDED.replace("threadIdx.x * 32", "32 * threadIdx.x")
"""Of another shape, so that its finding is none of the same cause."""
_FOUND = "a.cu:1:37: warning: CL101"


@pytest.fixture(autouse=True)
def _file(folder: Path) -> None:
    (folder / "a.cu").write_text(_STRIDED)


def _shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command line in which `cudalint` is this program."""
    every = 'case "$1" in rules | explain) ;; *) set -- "$@" --min-share 0 ;; esac'
    script = f'cudalint() {{ {every}; "{sys.executable}" -m cudalint "$@"; }}\n{command}'
    env = {**os.environ, "CUDALINT_NO_CACHE": "1", **environment}
    return subprocess.run(
        ["sh", "-c", script], env=env, capture_output=True, text=True, errors="replace", timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("command", "status", "error"),
    [
        ("cudalint -q a.cu --output json=a.json >&-", 2, "cannot write the output: Bad file descriptor"),
        ("cudalint -q a.cu --output json=a.json >/dev/full", 2, "cannot write the output: No space left on device"),
        ("cudalint -q a.cu --output json=a.json 2>&-", 1, ""),
        ("cudalint -q a.cu no.cu --output json=a.json 2>/dev/full", 2, ""),
        ("cudalint -q a.cu --output json=a.json <&- >&- 2>&-", 2, ""),
        ("cudalint -q a.cu - --output json=a.json <&-", 2, "<stdin>: cannot read it: Bad file descriptor"),
    ],
)
def test_a_stream_that_is_closed_or_full(command: str, status: int, error: str, folder: Path) -> None:
    """It costs what was to be read there; files are written all the same, and nothing else gets into them."""
    result = _shell(command)
    assert result.returncode == status
    assert result.stderr == (f"cudalint: error: {error}\n" if error else "")
    assert [found["code"] for found in json.loads((folder / "a.json").read_text())["diagnostics"]] == ["CL902", "CL101"]


@pytest.mark.parametrize("command", ["rules", "explain CL101", "-q a.cu"])
def test_a_reader_that_leaves(command: str) -> None:
    result = _shell(f"(sleep 0.2; cudalint {command}; echo $? >&2) | true")
    assert (result.stdout, result.stderr) == ("", "141\n")


def test_what_a_disk_cannot_hold_is_as_it_was(folder: Path) -> None:
    """The limit is as that of a full disk: it is met while the file is being written."""
    (folder / "a.json").write_text("before\n")
    result = _shell("ulimit -f 4; cudalint -q a.cu --format concise --output json=a.json --output concise=a.txt")
    assert result.returncode == 2
    assert "a.json: cannot be written: File too large" in result.stderr
    assert (folder / "a.json").read_text() == "before\n"
    assert sorted(os.listdir(folder)) == ["a.cu", "a.json", "a.txt"]
    assert _FOUND in (folder / "a.txt").read_text()


def test_a_written_file_keeps_what_is_not_its_text(folder: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_whole(str(folder / "new"), b"1")
    finally:
        os.umask(mask)
    assert (folder / "new").stat().st_mode & 0o777 == 0o640
    (folder / "new").chmod(0o604)
    (folder / "link").symlink_to("new")
    write_whole(str(folder / "link"), b"2")
    assert (folder / "link").is_symlink()
    assert (folder / "new").read_bytes() == b"2"
    assert (folder / "new").stat().st_mode & 0o777 == 0o604


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_ends_it_is_told_so(number: signal.Signals, folder: Path) -> None:
    """While a file is linted and before anything is written; its worker ends with it."""
    os.mkfifo(folder / "pipe")
    command = [sys.executable, "-m", "cudalint", "-", "a.cu", "--output", "json=a.json"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # fmt: skip
    _until(lambda: b"-m\0cudalint" in Path(f"/proc/{process.pid}/cmdline").read_bytes() and _handles(process, number))
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (128 + number, "")
    assert err == f"cudalint: error: ended by {number.name} before it was done; no file is left half written\n"
    assert sorted(os.listdir(folder)) == ["a.cu", "pipe"]


def _handles(process: subprocess.Popen[str], number: int) -> bool:
    """Whether a process has a handler of its own for a signal (proc(5))."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    [caught] = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]
    return bool(int(caught, 16) >> (number - 1) & 1)


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def _busy(job: int) -> int:
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
    return job


def test_workers_that_are_killed_cost_their_jobs_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    init = pool._Worker.__init__

    def noted(self: Any, *arguments: Any) -> None:
        init(self, *arguments)
        started.append(self._process.pid)

    monkeypatch.setattr(pool._Worker, "__init__", noted)
    over = threading.Event()

    def kill() -> None:
        chance = random.Random(1)
        while not over.wait(chance.uniform(0.01, 0.05)):
            for pid in started[-1:]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        outcomes = list(pool.run_jobs(_busy, range(60), limits.Limits(2, 10)))
    finally:
        over.set()
        killer.join()
    assert sorted(outcome.index for outcome in outcomes) == list(range(60))
    lost = [outcome.reason for outcome in outcomes if isinstance(outcome, limits.Lost)]
    assert set(lost) == {"the analysis was killed (SIGKILL), perhaps for lack of memory"}
    assert all(outcome.value == outcome.index for outcome in outcomes if isinstance(outcome, limits.Done))


def _half_an_answer(connection: Connection, *others: object) -> None:
    os.write(connection.fileno(), struct.pack("!i", 1000) + b"half")
    os.kill(os.getpid(), signal.SIGKILL)


def _no_answer(connection: Connection, *others: object) -> None:
    connection.send_bytes(b"no pickle")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_half_an_answer, "the analysis was killed (SIGKILL), perhaps for lack of memory"),
        (_no_answer, "internal error: UnpicklingError: invalid load key, 'n'."),
    ],
)
def test_an_answer_that_does_not_arrive(answer: object, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a worker is killed while a long one is on its way."""
    monkeypatch.setattr(pool, "_answer", answer)
    outcomes = {o.index: o for o in pool.run_jobs(_busy, range(2), limits.Limits(2, 10))}
    assert outcomes == {0: limits.Lost(0, reason), 1: limits.Lost(1, reason)}


def test_fewer_processes_than_were_asked_for_do_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    init, left = pool._Worker.__init__, [1]

    def refused(self: Any, *arguments: Any) -> None:
        if not left:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        left.pop()
        init(self, *arguments)

    monkeypatch.setattr(pool._Worker, "__init__", refused)
    outcomes = list(pool.run_jobs(_busy, range(5), limits.Limits(3, 10)))
    assert sorted(each.index for each in outcomes if isinstance(each, limits.Done)) == [0, 1, 2, 3, 4]
    reason = "no process can be started for it: Resource temporarily unavailable"
    outcomes = list(pool.run_jobs(_busy, range(2), limits.Limits(3, 10)))
    assert outcomes == [limits.Lost(0, reason), limits.Lost(1, reason)]


def test_surroundings_that_lack_what_is_usual(folder: Path) -> None:
    """No home to keep results in, no folder for temporary files, few files at once, no words but ASCII, a narrow
    window that is none."""
    environment = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "TMPDIR"), "/proc/none")
    environment |= {"LC_ALL": "C", "COLUMNS": "20", "CUDALINT_NO_CACHE": "", "TERM": "dumb"}
    (folder / "ü.cu").write_text(f"// ü\n{_OTHER}")
    result = _shell("ulimit -n 20; ulimit -s 512; cudalint --format concise a.cu ü.cu", **environment)
    assert (result.returncode, result.stderr) == (1, "")
    assert _FOUND in result.stdout
    assert result.stdout.count("CL101") == 2


def test_a_name_that_is_no_text(folder: Path, check: Check) -> None:
    (folder / os.fsdecode(b"\xff.cu")).write_text(_OTHER)
    result = check("a.cu", os.fsdecode(b"\xff.cu"))
    assert (result.status, result.err) == (2, "cudalint: error: \\udcff.cu: its name is not UTF-8, as clang needs it\n")
    assert _FOUND in result.out


@pytest.mark.parametrize("which", ["one", "together"])
def test_findings_that_cannot_be_put_together(
    which: str, folder: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "b.cu").write_text(_OTHER)

    def brittle(reports: Sequence[FileReport]) -> tuple[Diagnostic, ...]:
        at_fault = any(report.path == "b.cu" for report in reports) if which == "one" else len(reports) > 1
        if at_fault:
            raise IndexError
        return gather(reports)

    monkeypatch.setattr(driver, "gather", brittle)
    result = check("a.cu", "b.cu")
    assert result.status == 2
    assert _FOUND in result.out
    assert ("b.cu:1:37: warning: CL101" in result.out) == (which == "together")
    file, what = ("b.cu", "its findings are left out") if which == "one" else (
        "a.cu", "findings in what it shares with other files may come twice"
    )  # fmt: skip
    assert result.err == f"cudalint: error: {file}: {what}: internal error: IndexError\n"


def test_an_error_while_edits_are_tried_costs_the_edits(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    from cudalint.run import file_findings as engine

    def broken(*arguments: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(engine, "_with_proven_edits", broken)
    result = check("a.cu")
    assert result.status == 2
    assert _FOUND in result.out
    assert result.err == "cudalint: error: a.cu: edits are not tried: internal error: KeyError: 'x'\n"


def test_an_error_while_edits_are_made_costs_the_edits(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cudalint.run.fixing.session import Session

    def broken(*arguments: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(Session, "_passed", broken)
    assert run(["check", "-q", "--format", "concise", "--min-share", "0", "a.cu", "--fix"]) == 2
    captured = capfd.readouterr()
    assert _FOUND in captured.out
    assert captured.err == "cudalint: error: --fix: no more edits are made: internal error: KeyError: 'x'\n"
    assert (folder / "a.cu").read_text() == _STRIDED


_WAITING = """
import os, time
from cudalint.run.limits import Limits
from cudalint.run.pool import run_jobs

def wait(path):
    with open(path + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(path + ".new", path)
    time.sleep(100)

list(run_jobs(wait, ["worker"], Limits(workers=1, seconds=100)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system ends the children of a process that is killed")
def test_workers_end_with_a_run_that_is_killed(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _WAITING]) as process:
        _wait_for(lambda: Path("worker").exists())
        process.kill()
    worker = Path("worker").read_text()
    _wait_for(lambda: not Path(f"/proc/{worker}").exists() or ") Z " in Path(f"/proc/{worker}/stat").read_text())


def _wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
