"""Whole sessions with a GPU that is played: it runs in the same worker processes as a real one would."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from cudalint.confirm.backend import Backend, Settings, ask_device
from cudalint.confirm.counters import Instruction, NoCounters
from cudalint.confirm.rows import Row
from cudalint.confirm.session import Report, confirm
from cudalint.confirm.trials import Device, Log, ModuleFigures, Outcome, Trial
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.limits import Limits

_DEVICE = Device("Played GPU", "sm_80", "1.0", "12.0", "NVRTC 12.0", "13", None)
_MODULE = ModuleFigures(16, 0, 0, 8, "nvrtc")
_SOURCE = """__global__ void good(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void hangs(float *out) { out[threadIdx.x] = 2; }
__global__ void crashes(float *out) { out[threadIdx.x] = 3; }
__global__ void faults(float *out) { out[threadIdx.x] = 4; }
__global__ void overruns(float *out) { out[threadIdx.x] = 5; }
__global__ void uncompilable(float *out) { out[threadIdx.x] = 6; }
__global__ void last(float *out) { out[2 * threadIdx.x] = 7; }
void f(float *p)
{
    good<<<4, 256>>>(p);
    hangs<<<1, 32>>>(p);
    crashes<<<1, 32>>>(p);
    faults<<<1, 32>>>(p);
    overruns<<<1, 32>>>(p);
    uncompilable<<<1, 32>>>(p);
    last<<<1, 32>>>(p);
}
"""


def _ask(_: int) -> Device | str:
    return _DEVICE


def _no_ncu(trials: Sequence[Trial], folder: str, seconds: float) -> list[Instruction]:
    raise NoCounters("Nsight Compute (ncu) is not installed")


def _log(stride: int) -> Log:
    return Log(
        sites=np.zeros(1, dtype=np.int64),
        widths=np.full(1, 4, dtype=np.int64),
        masks=np.ones((1, 32), dtype=bool),
        shared=np.zeros(1, dtype=bool),
        addresses=(np.arange(32, dtype=np.int64) * 4 * stride).reshape(1, 32),
    )


def _play(trial: Trial) -> Outcome:
    """Answers by the kernel's name, and misbehaves where that says so."""
    kernel = trial.build.name_expression
    if kernel == "hangs":
        time.sleep(60)
    if kernel == "crashes":
        os._exit(3)
    if kernel == "uncompilable":
        return Outcome(compile_error="kernel.cu(6): error: no")
    if kernel == "faults":
        return Outcome(module=_MODULE, run_error="cudaErrorIllegalAddress: an illegal memory access", retire=True)
    if trial.sites:
        return Outcome(module=_MODULE, log=_log(2 if kernel == "last" else 1))
    overrun = ("out",) if kernel == "overruns" else ()
    return Outcome(module=_MODULE, overrun=overrun, milliseconds=0.5)


def _confirm(path: Path, run: Callable[[Trial], Outcome] = _play, **more: object) -> Report:
    backend = replace(Backend(_ask, run, _no_ncu), **more)
    settings = Settings(seconds=3)
    return confirm([(str(path), AnalysisOptions())], Limits(workers=1, seconds=20), settings, backend)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.cu"
    path.write_text(_SOURCE, encoding="utf-8")
    return path


def _rows(report: Report, kernel: str, quantity: str) -> list[Row]:
    return [row for row in report.rows if (row.kernel, row.quantity) == (kernel, quantity)]


def test_what_misbehaves_costs_one_row(source: Path) -> None:
    report = _confirm(source)
    kernels = ("hangs", "crashes", "faults", "overruns", "uncompilable")
    told = {kernel: _rows(report, kernel, "run") for kernel in kernels}
    assert {kernel: len(rows) for kernel, rows in told.items()} == dict.fromkeys(told, 1)
    assert "given up after 3 s" in told["hangs"][0].note
    assert "exit status 3" in told["crashes"][0].note
    assert told["faults"][0].verdict == "off"
    assert told["faults"][0].measured == "cudaErrorIllegalAddress: an illegal memory access"
    assert told["overruns"][0].measured == "wrote outside of `out`"
    assert "does not compile" in told["uncompilable"][0].note


def test_the_rest_is_still_confirmed(source: Path) -> None:
    report = _confirm(source)
    [good], [last] = _rows(report, "good", "sectors"), _rows(report, "last", "sectors")
    assert (good.predicted, good.measured, good.verdict, good.source) == (4, 4, "equal", "instrumented build")
    assert (last.predicted, last.measured, last.verdict) == (8, 8, "equal")


def test_no_process_is_left(source: Path) -> None:
    _confirm(source)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_without_counters_the_report_says_so(source: Path) -> None:
    assert _confirm(source).notes == [
        "Nsight Compute (ncu) is not installed; sectors, wavefronts and branches come from the instrumented build"
    ]


def test_without_a_gpu_the_report_says_so(source: Path) -> None:
    report = _confirm(source, ask=lambda _: "CuPy is not installed (pip install 'cudalint[gpu]')")
    assert report.rows == []
    [note] = report.notes
    assert note == (
        "CuPy is not installed (pip install 'cudalint[gpu]'): "
        "nothing was compiled or run; 7 predictions of 7 launches were evaluated"
    )


def test_this_machine_answers_in_one_line() -> None:
    answer = ask_device(0)
    assert isinstance(answer, Device) or "\n" not in answer


def _counted(trials: Sequence[Trial], folder: str, seconds: float) -> list[Instruction]:
    """Every kernel stores with one instruction of 4 sectors on its line."""
    lines = {kernel: n + 1 for n, kernel in enumerate(["good", "hangs", "crashes", "faults", "overruns", "x", "last"])}
    places = [(f"{trial.folder}/main.cu", lines[trial.build.name_expression]) for trial in trials]
    return [Instruction(p, line, "STG.E [R2], R5", 8, 256, 0, "global", "store", 4, 32, 32) for p, line in places]


def test_counters_are_matched_to_lines(source: Path) -> None:
    report = _confirm(source, profile=_counted)
    [good], [last] = _rows(report, "good", "sectors"), _rows(report, "last", "sectors")
    assert (good.verdict, good.source) == ("equal", "ncu")
    assert (last.predicted, last.measured, last.verdict) == (8, 4, "off")


def test_occupancy_is_held_against_the_driver(source: Path) -> None:
    [row] = _rows(_confirm(source), "good", "blocks per SM")
    assert (row.predicted, row.measured, row.verdict) == (8, 8, "equal")


def test_a_predicted_error_is_confirmed_by_it(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        "__global__ void k(float *a) { ((float4 *)(a + 1))[threadIdx.x] = make_float4(0, 0, 0, 0); }\n"
        "void f(float *p) { k<<<1, 32>>>(p); }\n",
        encoding="utf-8",
    )

    def faults(trial: Trial) -> Outcome:
        return Outcome(module=_MODULE, run_error="cudaErrorMisalignedAddress: misaligned address", retire=True)

    [row] = _rows(_confirm(path, faults), "k", "error")
    assert (row.predicted, row.verdict) == ("misaligned address", "equal")
    [row] = _rows(_confirm(path, lambda trial: Outcome(module=_MODULE)), "k", "error")
    assert (row.measured, row.verdict) == ("no error", "off")


def test_a_barrier_that_some_miss_is_confirmed_by_hanging(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        "__global__ void hangs(float *a)\n{\n    if (threadIdx.x < 16)\n        __syncthreads();\n"
        "    a[threadIdx.x] = 1;\n}\nvoid f(float *p) { hangs<<<1, 128>>>(p); }\n",
        encoding="utf-8",
    )
    [row] = _rows(_confirm(path), "hangs", "error")
    assert (row.predicted, row.measured, row.verdict) == ("does not end", "given up after 3 s", "equal")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "binary.cu"
    path.write_bytes(b"\0\1\2")
    report = _confirm(path)
    assert [failure.path for failure in report.failures] == [str(path)]


def test_long_kernels_are_not_for_ncu(source: Path) -> None:
    def slow(trial: Trial) -> Outcome:
        outcome = _play(trial)
        return replace(outcome, milliseconds=500.0) if trial.build.name_expression == "good" else outcome

    report = _confirm(source, slow, profile=_counted)
    [good], [last] = _rows(report, "good", "sectors"), _rows(report, "last", "sectors")
    assert (good.source, last.source) == ("instrumented build", "ncu")
