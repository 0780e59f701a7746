"""What is not there is said in one line, with what ran all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from cudalint.confirm.backend import Backend, Settings
from cudalint.confirm.counters import profile
from cudalint.confirm.session import Report, confirm
from cudalint.confirm.trials import Device, Log, ModuleFigures, Outcome, Trial
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.limits import Limits

_SOURCE = (
    "__global__ void good(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n"
    "void f(float *p) { good<<<4, 256>>>(p); }\n"
)
_NOT_RUN = "nothing was compiled or run; 1 predictions of 1 launches were evaluated"

_NO_DEVICE = """
class runtime:
    def getDeviceCount():
        raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
class cuda:
    pass
cuda.runtime = runtime
"""
_NO_DRIVER_LIBRARY = "raise ImportError('cupy: libcuda.so.1: cannot open shared object file\\nmore of it')"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.cu"
    path.write_text(_SOURCE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("cupy", "said"),
    [
        ("raise ModuleNotFoundError", "CuPy is not installed (pip install 'cudalint[gpu]')"),
        (_NO_DRIVER_LIBRARY, "CuPy cannot be loaded: cupy: libcuda.so.1: cannot open shared object file"),
        (_NO_DEVICE, "no GPU can be used: cudaErrorNoDevice: no CUDA-capable device is detected"),
        (_NO_DEVICE.replace("raise RuntimeError", "return 0 #"), "no GPU is there"),
    ],
)
def test_without_cupy_or_a_gpu(source: Path, tmp_path: Path, cupy: str, said: str) -> None:
    (tmp_path / "cupy.py").write_text(cupy, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "cudalint", "confirm", str(source)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [line for line in done.stdout.splitlines() if line] == [
        f"note: {said}: {_NOT_RUN}",
        "0 predictions: 0 equal within 5%, 0 off, 0 not measured",
    ]
    assert (done.returncode, done.stderr) == (2, "")


def _ask(_: int) -> Device | str:
    return Device("Played GPU", "sm_80", "1.0", "12.0", "NVRTC 12.0", "13", None)


def _play(trial: Trial) -> Outcome:
    """The instrumented build records one request for 32 neighbouring floats."""
    addresses = np.arange(32, dtype=np.int64).reshape(1, 32) * 4
    one = np.ones(1, dtype=np.int64)
    log = Log(one * 0, one * 4, np.ones((1, 32), dtype=bool), np.zeros(1, dtype=bool), addresses)
    return Outcome(module=ModuleFigures(16, 0, 0, 8, "nvrtc"), log=log if trial.sites else None)


def _confirm(source: Path, method: str = "auto") -> Report:
    """On a played GPU, beside the machine's own `ncu`, which stands on the path or doesn't."""
    backend = Backend(_ask, _play, profile)
    settings = replace(Settings(seconds=20), method=method)
    return confirm([(str(source), AnalysisOptions())], Limits(workers=1, seconds=60), settings, backend)


def _by_recording(report: Report) -> None:
    [row] = [row for row in report.rows if row.quantity == "sectors"]
    assert (row.measured, row.verdict, row.source) == (4, "equal", "instrumented build")


def test_without_ncu(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    report = _confirm(source)
    assert report.notes == [
        "Nsight Compute (ncu) is not installed; sectors, wavefronts and branches come from the instrumented build"
    ]
    _by_recording(report)


def test_without_permission(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ncu = tmp_path / "ncu"
    ncu.write_text(f"#!{sys.executable}\nprint('==ERROR== ERR_NVGPUCTRPERM - no permission')\n", encoding="utf-8")
    ncu.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    report = _confirm(source)
    [note] = report.notes
    assert note.startswith("ncu has no permission for the GPU's counters (ERR_NVGPUCTRPERM); ")
    assert note.endswith("; sectors, wavefronts and branches come from the instrumented build")
    _by_recording(report)


def test_only_counters_were_asked_for(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    report = _confirm(source, "ncu")
    assert report.notes == ["Nsight Compute (ncu) is not installed; no access was measured"]
    [row] = [row for row in report.rows if row.quantity == "sectors"]
    assert (row.measured, row.verdict, row.note) == (None, "not measured", "there are no counters")
