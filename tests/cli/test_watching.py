"""`cudalint check --watch`, as a program of its own, and `--history`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

_KERNEL = '#include "stride.h"\n__global__ void k(float* p) { p[threadIdx.x * STRIDE] = 0; }\n'


class _Watching:
    """A run that is watching, and what it has printed."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._out, self._err = folder.parent / "out", folder.parent / "err"
        command = [sys.executable, "-m", "cudalint", "check", "--watch", "--format", "concise", *arguments]
        environment = {**os.environ, "CUDALINT_CACHE_DIR": str(folder.parent / "cache"), "TERM": "dumb"}
        # A program that is started in the background may have been told to ignore interrupts, as its children then do.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err, env=environment)
        signal.signal(signal.SIGINT, before)

    def until(self, rounds: int) -> str:
        """What it has printed on stdout once it has waited so often."""
        until = time.monotonic() + 60
        while self.told().count("watching") < rounds:
            assert self.process.poll() is None, self.told()
            assert time.monotonic() < until, self.told()
            time.sleep(0.05)
        return self._out.read_text()

    def told(self) -> str:
        return self._err.read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "src"
    made.mkdir()
    (made / "a.cu").write_text(_KERNEL)
    (made / "stride.h").write_text("#define STRIDE 1\n")
    return made


@pytest.fixture
def watching(folder: Path) -> Iterator[Callable[..., _Watching]]:
    begun: list[_Watching] = []

    def begin(*arguments: str) -> _Watching:
        begun.append(_Watching(folder, *arguments))
        return begun[-1]

    yield begin
    for each in begun:
        each.process.kill()
        each.process.wait()


@pytest.mark.skipif(os.name == "nt", reason="interrupts are sent otherwise there")
def test_it_lints_again_when_a_header_changes_or_a_file_appears(
    folder: Path, watching: Callable[..., _Watching]
) -> None:
    run = watching()
    assert run.until(1) == ""
    assert ": Nothing to report in 1 kernel for a100 (1 of 1 access evaluated)\ncudalint: watching 1 " in run.told()
    (folder / "stride.h").write_text("#define STRIDE 2\n")
    assert run.until(2).count("a.cu:2:31: warning: CL101 8 sectors per request") == 1
    assert "stride.h changed\n" in run.told()
    (folder / "b.cu").write_text("__global__ void other(float* p) { p[threadIdx.x * 4] = 0; }\n")
    assert "b.cu:1:" in run.until(3)
    assert "cudalint: watching 2 files; Ctrl-C ends it\n" in run.told()
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(timeout=20) == 0
    assert "Traceback" not in run.told()


@pytest.mark.skipif(os.name == "nt", reason="interrupts are sent otherwise there")
def test_it_goes_on_without_a_cache_and_after_an_error(folder: Path, watching: Callable[..., _Watching]) -> None:
    (folder / "a.cu").unlink()
    run = watching("--no-cache")
    run.until(1)
    assert "no CUDA files" in run.told()
    (folder / "a.cu").write_text(_KERNEL.replace("STRIDE", "2"))
    assert "CL101" in run.until(2)


@pytest.mark.parametrize("option", [("--fix",), ("--add-allow", "known"), ("--write-baseline", "b.json"), ("-",)])
def test_what_makes_no_sense_again_and_again_is_refused(real_cudalint: Run, option: tuple[str, ...]) -> None:
    result = real_cudalint("check", ".", "--watch", *option)
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "--watch" in result.err


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.cu"
    path.write_text("__global__ void k(float* p) { p[threadIdx.x * 2] = 0; }\n")
    return path


def test_a_history_has_a_line_for_each_run(real_cudalint: Run, source: Path) -> None:
    first = real_cudalint("check", "a.cu", "--statistics", "--history", "h.jsonl")
    assert first.status == 1
    assert first.out.endswith("\nNo earlier run of these paths for this GPU in the history\n")
    source.write_text("__global__ void k(float* p) { p[threadIdx.x] = 0; }\n")
    second = real_cudalint("check", "a.cu", "--format", "concise", "--history", "h.jsonl")
    told = second.out.splitlines()
    assert second.status == 0
    assert told[0].startswith("Since 20") and told[0].endswith(": 1 -> 0 findings")
    assert told[1] == "  CL101  1 -> 0"
    assert told[2:] == ["  without a time, as nothing gives the sizes of their launches: 1 finding then and 0 now"]
    one, other = (json.loads(line) for line in Path("h.jsonl").read_text().splitlines())
    assert (one["rules"], one["warnings"], one["kernels"], one["target"], one["schema"]) == (
        {"CL101": 1},
        1,
        1,
        "a100",
        1,
    )
    assert (one["lost_us"], one["untimed"], one["losing_kernels"]) == (0, 1, 0)
    assert (other["rules"], other["lost_us"], other["paths"]) == ({}, 0, ["a.cu"])


_STRIDED = "__global__ void k(float* p) { p[blockIdx.x * 8192 + threadIdx.x * 32] = 0; }\n"


def test_only_launches_of_known_sizes_have_lost_time(real_cudalint: Run, source: Path) -> None:
    """Another kernel with the same waste, launched with as many blocks as one wants, is a finding without a time."""
    source.write_text(f"{_STRIDED}void run(float* p) {{ k<<<65536, 256>>>(p); }}\n")
    real_cudalint("check", "a.cu", "--history", "h.jsonl")
    # Of another shape, so that the two are findings of their own.
    body = "float t = q[32 * threadIdx.x + 8192 * blockIdx.x]; q[blockIdx.x] = t;"
    open_one = f"__global__ void open(float* q) {{ {body} }}\n"
    with source.open("a") as file:
        file.write(f"{open_one}void some(float* q, int n) {{ open<<<n, 256>>>(q); }}\n")
    told = real_cudalint("check", "a.cu", "--history", "h.jsonl").out
    one, other = (json.loads(line) for line in Path("h.jsonl").read_text().splitlines())
    assert one["lost_us"] == other["lost_us"] > 0
    assert (one["losing_kernels"], one["untimed"]) == (1, 0)
    assert (other["losing_kernels"], other["untimed"]) == (1, 1)
    assert "(1 kernel then and 1 now lose any)" in told
    assert "nothing gives the sizes of their launches: 0 findings then and 1 now" in told


def test_a_run_of_a_part_is_compared_with_no_whole_one(real_cudalint: Run, source: Path) -> None:
    real_cudalint("check", "a.cu", "--history", "h.jsonl")
    part = real_cudalint("check", "a.cu", "--history", "h.jsonl", "--ignore", "CL101")
    assert part.out.splitlines()[-2:] == [
        "In the history as a part of these paths only, beside other runs with --ignore CL101",
        "No earlier run of this part of these paths for this GPU in the history",
    ]
    whole = real_cudalint("check", "a.cu", "--history", "h.jsonl")
    assert "1 finding, as before" in whole.out
    again = real_cudalint("check", "a.cu", "--history", "h.jsonl", "--ignore", "CL101")
    assert "0 findings, as before" in again.out
    scopes = [json.loads(line)["scope"] for line in Path("h.jsonl").read_text().splitlines()]
    assert scopes == [[], ["--ignore CL101"], [], ["--ignore CL101"]]


def test_what_a_baseline_has_is_in_the_history_and_in_front_of_the_report(real_cudalint: Run, source: Path) -> None:
    """All lanes of a load 128 bytes apart take most of the time, whoever has put up with it."""
    source.write_text(f"{_STRIDED}void run(float* p) {{ k<<<65536, 256>>>(p); }}\n")
    real_cudalint("check", "a.cu", "--write-baseline", "known.json")
    options = ("check", "a.cu", "--baseline", "known.json", "--history", "h.jsonl", "--output", "html=r.html")
    first = real_cudalint(*options)
    assert first.status == 0 and "1 finding known from the baseline" in first.out
    [line] = Path("h.jsonl").read_text().splitlines()
    entry = json.loads(line)
    assert (entry["rules"], entry["known"], entry["losing_kernels"]) == ({}, {"CL101": 1}, 1)
    assert entry["lost_us"] > 0
    page = Path("r.html").read_text()
    assert 'id="changes"' in page and "known from the baseline" in page.partition('id="changes"')[2]
    source.write_text(source.read_text().replace("threadIdx.x * 32", "threadIdx.x"))
    assert "  CL101  1 -> 0 in the baseline\n" in real_cudalint(*options).out


def test_runs_of_other_gpus_are_not_compared(real_cudalint: Run, source: Path) -> None:
    real_cudalint("check", "a.cu", "--history", "h.jsonl")
    other = real_cudalint("check", "a.cu", "--target", "h100", "--history", "h.jsonl")
    assert "No earlier run of these paths for this GPU" in other.out
    again = real_cudalint("check", "a.cu", "--history", "h.jsonl", "--format", "json")
    assert json.loads(again.out)["summary"]["warnings"] == 1
    assert "1 finding, as before" in again.err


def test_a_file_that_is_no_history_is_left_alone(real_cudalint: Run, source: Path) -> None:
    Path("h.jsonl").write_text("{}\n")
    result = real_cudalint("check", "a.cu", "--history", "h.jsonl")
    assert (result.status, result.out) == (2, "")
    assert result.err == "cudalint: error: --history h.jsonl: line 1 is none that --history has written\n"
    assert Path("h.jsonl").read_text() == "{}\n"
    assert "there is no folder" in real_cudalint("check", "a.cu", "--history", "none/h.jsonl").err
