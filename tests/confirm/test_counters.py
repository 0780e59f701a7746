"""Nsight Compute's CSV: a part of what version 2025.3 printed for a kernel on an H200."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cudalint.confirm import counters
from cudalint.confirm.counters import NoCounters, parse

_TEXT = (Path(__file__).parent / "source_counters.csv").read_text(encoding="utf-8")


def test_instructions_with_their_lines() -> None:
    found = {(i.line, i.space, i.operation): (i.bytes, i.executed, i.cost, i.ideal) for i in parse(_TEXT) if i.space}
    assert found[6, "global", "load"] == (4, 64, 512, 256)
    assert found[6, "shared", "store"] == (4, 64, 2048, 64)
    assert found[11, "global", "atomic"] == (4, 64, 256, 128)


def test_branches() -> None:
    [branch] = [i for i in parse(_TEXT) if i.divergent]
    assert (branch.line, branch.executed, branch.divergent) == (8, 64, 64)


def test_columns_that_a_kernel_has_nothing_for() -> None:
    text = (
        '"File Path","a.cu"\n"Line No","Source","Address","Source","Instructions Executed",'
        '"Predicated-On Thread Instructions Executed"\n"","","0x10","EXIT","4","128"\n'
    )
    assert [(i.path, i.executed, i.space) for i in parse(text)] == [("a.cu", 4, "")]


def test_quotes_in_the_source() -> None:
    """ncu does not escape them."""
    numbers = ("Instructions Executed", "Predicated-On Thread Instructions Executed")
    head = ",".join(f'"{name}"' for name in ("Line No", "Source", "Address", "Source", *numbers)) + "\n"
    told = '"1","a = 1;","-","-","4","128"\n"2","printf("%d, %d\\n","x", y);  // "z, w"","-","-","4","128"\n'
    [found] = parse(head + told + '"","","0x10","STG.E [R2], R5","4","128"\n')
    assert (found.line, found.executed) == (2, 4)


def test_a_kernel_that_failed() -> None:
    """What ncu 2025.3 wrote of a kernel that reads beyond its array, but for most lines."""
    text = (
        '"File Path","reversal.cu"\n"Function Name","reverse(int *, int *)"\n'
        '"Line No","Source","Address","Source","Warp Stall Sampling (All Samples)",'
        '"Warp Stall Sampling (Not-issued Samples)"\n'
        '"","","0x7f80377a0010","      S2R R7, SR_TID.X","0","0"\n'
    )
    with pytest.raises(NoCounters, match="the kernel failed"):
        parse(text)


def test_another_version() -> None:
    with pytest.raises(NoCounters, match="Instructions Executed"):
        parse('"Line No","Source","Address","Source","Something"\n')


@pytest.mark.parametrize("text", ["", "==PROF== nothing\n", '"a","b"\n,\n', _TEXT[:400]])
def test_broken_reports(text: str) -> None:
    assert parse(text) == []


def test_no_ncu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoCounters, match="not installed"):
        counters.find_ncu()


_TRIAL: Any = "a trial, which nobody opens here"


def _program(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """An `ncu` that does as told."""
    ncu = folder / "ncu"
    ncu.write_text(f"#!{sys.executable}\n{body}\n", encoding="utf-8")
    ncu.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, monkeypatch, "print('==ERROR== ERR_NVGPUCTRPERM - The user does not have permission')")
    with pytest.raises(NoCounters, match="no permission"):
        counters.profile([_TRIAL], str(tmp_path), 30)


def test_ncu_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, monkeypatch, "print('==ERROR== Failed to initialize the profiler')")
    with pytest.raises(NoCounters, match="made no report: ==ERROR== Failed"):
        counters.profile([_TRIAL], str(tmp_path), 30)


def test_ncu_that_hangs_takes_its_children_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\ntime.sleep(60)"
    )
    _program(tmp_path, monkeypatch, body)
    with pytest.raises(NoCounters, match="given up"):
        counters.profile([_TRIAL], str(tmp_path), 3)
    child = int((tmp_path / "child").read_text())
    ends_by = time.monotonic() + 20
    while _is_running(child):
        assert time.monotonic() < ends_by
        time.sleep(0.05)


def _is_running(process: int) -> bool:
    """A zombie does not: it waits for its new parent, which is not this process."""
    told = subprocess.run(["/bin/ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True).stdout.strip()
    return bool(told) and not told.startswith("Z")


_FAULTING = """
import os, pickle, sys, time
folder = os.path.dirname(sys.argv[sys.argv.index("--import") + 1 if "--import" in sys.argv else -1])
report = os.path.join(folder, "report.ncu-rep")
head = '"Line No","Source","Address","Source","Instructions Executed","Predicated-On Thread Instructions Executed"'
if "--import" in sys.argv:
    for path in open(report).read().split():
        print(f'"File Path","{path}"')
        # What failed has no counters.
        print(head if path != "faults" else '"Line No","Source","Address","Source"')
        print('"","","0x10","EXIT","4","128"' if path != "faults" else '"","","0x10","EXIT"')
else:
    kernels = pickle.load(open(sys.argv[-1], "rb"))
    if "slow" in kernels:
        open(os.path.join(folder, "started"), "w").write(" ".join(kernels[: kernels.index("slow") + 1]))
        time.sleep(60)
    begun = kernels[: kernels.index("faults") + 1] if "faults" in kernels else kernels
    open(report, "w").write(" ".join(begun))
    open(os.path.join(folder, "started"), "w").write(" ".join(begun) + ("" if "faults" in begun else " end"))
"""


def test_kernels_behind_one_that_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, monkeypatch, _FAULTING)
    trials: Any = ["a", "faults", "b", "c"]
    assert [i.path for i in counters.profile(trials, str(tmp_path), 30)] == ["a", "b", "c"]


def test_the_last_kernel_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, monkeypatch, _FAULTING)
    trials: Any = ["a", "b", "faults"]
    assert [i.path for i in counters.profile(trials, str(tmp_path), 30)] == ["a", "b"]


def test_a_kernel_that_takes_too_long_under_ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is lost with it; the kernels before it run again, and those behind it all the same."""
    _program(tmp_path, monkeypatch, _FAULTING)
    trials: Any = ["a", "slow", "b"]
    assert [i.path for i in counters.profile(trials, str(tmp_path), 2)] == ["a", "b"]
