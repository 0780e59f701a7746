"""Where a run's time goes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cudalint.cli import run
from cudalint.system.processes import timings
from cudalint.system.processes.timings import FileTimes, Timings, timed, timed_kernel


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands unless a test moves it."""
    now = [0.0]
    monkeypatch.setattr(time, "process_time", lambda: now[0])
    timings.begin()
    return now


def test_time_belongs_to_the_innermost_phase(clock: list[float]) -> None:
    with timed("parse"):
        clock[0] += 1.0
    with timed_kernel("k"), timed("races"):
        clock[0] += 2.0
        with timed("kernels"):
            clock[0] += 4.0
        clock[0] += 8.0
    clock[0] += 16.0
    taken = timings.taken()
    assert taken == FileTimes(31.0, {"parse": 1.0, "races": 10.0, "kernels": 4.0}, {"k": 14.0})


def test_all_of_a_trial_is_the_trial(clock: list[float]) -> None:
    with timed("rules"), timed("edits"):
        with timed("parse"), timed_kernel("k"):
            clock[0] += 1.0
        clock[0] += 1.0
    assert timings.taken() == FileTimes(2.0, {"rules": 0.0, "edits": 2.0}, {})


def test_code_that_is_left_leaves_its_phase(clock: list[float]) -> None:
    with pytest.raises(ValueError, match="left"), timed("host"):
        clock[0] += 1.0
        raise ValueError("left")
    with timed("rules"):
        clock[0] += 1.0
    assert timings.taken().phases == {"host": 1.0, "rules": 1.0}


def test_ten_files_and_kernels_are_listed() -> None:
    measured = Timings(from_cache=3)
    for number in range(12):
        measured.note(f"{number}.cu", FileTimes(float(number), {"kernels": float(number)}, {"k": float(number)}))
    measured.note("lost.cu", None)
    lines = list(measured.lines(2))
    assert lines[0].startswith("Time: 66.00 s of computing for 12 files, ")
    assert lines[0].endswith("(2 workers); 3 files from the cache; 1 file given up, of which nothing is known")
    assert "    66.00 s 100.0%  kernels" in lines
    files = lines[lines.index("The slowest files:") + 1 : lines.index("The slowest kernels:")]
    assert [line.split()[-1] for line in files] == [f"{number}.cu" for number in range(11, 1, -1)]
    assert lines[-1].endswith("k (2.cu)")


def test_the_option_tells_on_stderr(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDALINT_NO_CACHE", raising=False)
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(float *out) { out[threadIdx.x * 32] = 1.0f; }\n")
    time.sleep(0.03)  # What has only just changed is not kept.
    line = ["check", str(source), "--timings", "--cache-dir", str(tmp_path / "cache"), "--select", "CL1", "--no-config"]
    run(line)
    first = capfd.readouterr()
    run(line)
    second = capfd.readouterr()
    assert first.out == second.out
    assert " parse\n" in first.err
    assert first.err.endswith(f"k ({source})\n")
    assert "for 0 files" in second.err
    assert second.err.endswith("1 file from the cache\n")
