"""CL904 in files without kernels, outside of kernels, and in Python; and what stays doubtful."""

from __future__ import annotations

from pathlib import Path

import pytest

import cudalint

_PYTHON = """import cupy
kernel = cupy.RawKernel({prefix}'''
extern "C" __global__ void f(float *o) {{
  o[threadIdx.x] = {value}
}}
''', 'f')
kernel((1,), (32,), (cupy.zeros(32, dtype='f'),))
"""


def _found(path: Path, text: str) -> list[tuple[int, str, str]]:
    path.write_text(text)
    return [(d.place.line, d.code, d.message) for d in cudalint.check(path)]


def test_a_file_whose_only_kernel_is_broken(tmp_path: Path) -> None:
    found = _found(tmp_path / "a.cu", "__global__ void f( {\n")
    assert found == [(1, "CL904", "syntax error: expected expression")]


def test_lines_outside_of_kernels(tmp_path: Path) -> None:
    text = "int x = ;\n__global__ void f(float *o) { o[threadIdx.x] = 1; }\nvoid g() { f<<<1, 32>>(0); }\n"
    assert _found(tmp_path / "a.cu", text) == [
        (1, "CL904", "syntax error: expected expression"),
        (3, "CL904", "syntax error: expected '>>>'"),
    ]


def test_lines_that_a_macro_of_the_build_may_make_sense_of(tmp_path: Path) -> None:
    text = """
        API_BEGIN(first) int x = 1 API_END(first)
        __global__ void f(float *o) { o[threadIdx.x] = 1; }
        void g(float *o) { f<<<1, 32>>>(o); }
    """
    assert _found(tmp_path / "a.cu", text) == []


def test_a_kernel_in_python(tmp_path: Path) -> None:
    found = _found(tmp_path / "a.py", _PYTHON.format(prefix="r", value="1"))
    assert found == [(4, "CL904", "syntax error: expected ';' after expression")]


@pytest.mark.parametrize("value", ["{start}", "{start + 1}"])
def test_what_python_puts_together_is_doubtful(value: str, tmp_path: Path) -> None:
    text = _PYTHON.format(prefix="f", value=value).replace("(float *o) {", "(float *o) {{").replace("\n}\n", "\n}}\n")
    assert "CL904" not in [code for _, code, _ in _found(tmp_path / "a.py", text)]


@pytest.mark.parametrize(("name", "is_told"), [("notes.txt", True), ("notes.md", True), ("notes.h", False)])
def test_a_file_that_is_no_source(name: str, is_told: bool, tmp_path: Path) -> None:
    found = _found(tmp_path / name, "hello\n")
    assert [code for _, code, _ in found] == ["CL902"] * is_told
