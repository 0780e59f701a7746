"""Kernels in other languages are counted, and said not to be linted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudalint.cli import run
from cudalint.frontend.python.other_kernels import kernels_in

_TRITON = '''
"""
@triton.jit
def in_a_docstring(): ...
"""
import triton as tr, os
from triton import (autotune,
    jit as compiled)

@tr.jit
def helper(x):
    return x + 1

@autotune(
    configs=[1, 2],
)
@compiled
def first(x, BLOCK: int):
    helper(x)

@tr.jit(noinline=True)
def second(x):
    pass

first[(1,)](None, 1)
'''
_NUMBA = """
from numba import cuda, jit
import numba.cuda

@cuda.jit("void(float32[:])",
    device=True)
def inner(a): return a[0]

@cuda.jit
def outer(a): a[0] = 1

@numba.cuda.jit()
def another(a): a[0] = 1

@jit
def of_the_processor(a): a[0] = 1

@pytest.mark.parametrize("jit", [1])
def nothing(a): a[0] = 1
"""
_TAICHI = """
import taichi as ti

@ti.func
def helper(v): return v

@ti.kernel
def fill():
    helper(1)

fill()
"""
_NVRTC = """
from cuda import nvrtc
err, program = nvrtc.nvrtcCreateProgram(text, b"a.cu", 0, [], [])
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_TRITON, {"Triton kernel": 2}),  # A docstring has none, and `helper` is called as functions are.
        (_NUMBA, {"Numba kernel": 2}),
        (_TAICHI, {"Taichi kernel": 1}),  # It is called without a grid.
        ("from taichi import kernel\n@kernel\ndef f(): pass\n", {"Taichi kernel": 1}),
        (_NVRTC, {"NVRTC program": 1}),
        ("class A:\n    kernel = 1\n", {}),
        ("@jit\ndef f(): pass\n", {}),
    ],
)
def test_what_is_counted(text: str, expected: dict[str, int]) -> None:
    assert kernels_in(text.encode()) == expected


def test_the_report_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ops").mkdir()
    Path("ops/a.py").write_text(_TRITON)
    Path("ops/b.py").write_text(_NUMBA)
    assert run(["ops/a.py"]) == 0
    assert capfd.readouterr().out == "No kernel in CUDA C++; not linted: 2 Triton kernels\n"
    assert run(["ops"]) == 2
    assert "no CUDA files" in (error := capfd.readouterr().err)
    assert "; not linted: 2 Triton kernels and 2 Numba kernels\n" in error
    Path("ops/c.cu").write_text("__global__ void k(float *a) { a[threadIdx.x] = 0; }\nvoid f() { k<<<1, 32>>>(0); }\n")
    assert run(["ops", "ops/a.py", "--format", "json"]) == 0
    summary = json.loads(capfd.readouterr().out)["summary"]
    expected = [{"kind": "Triton kernel", "number": 2}, {"kind": "Numba kernel", "number": 2}]
    assert (summary["kernels"], summary["not_linted"]) == (1, expected)


def test_programs_that_c_compiles_when_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "run.cu"
    source.write_text(
        "#include <nvrtc.h>\n// nvrtcCreateProgram(&q, was, 0);\n"
        'const char *text = "__global__ void k() {}";\n'
        "void run() { nvrtcProgram p; nvrtcCreateProgram(&p, text, 0, 0, 0, 0); }\n"
    )
    for path in (source, tmp_path):
        run(["check", "--no-cache", str(path)])
        assert capsys.readouterr().out == "No kernel in CUDA C++; not linted: 1 NVRTC program\n"
