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


_EXTENSION = """\
#include <torch/extension.h>
#include "ops/common.h"
#define CHECK_INPUT(x) TORCH_CHECK(x.is_cuda(), #x " must be on the GPU"); OPS_CHECK_CONTIGUOUS(x)

OPS_BEGIN
template <typename T, int N>
struct OPS_ALIGNED(16) Pack {{ T values[N]; }};

template <typename scalar_t>
OPS_FORCEINLINE __device__ scalar_t load(const scalar_t *x, int i) {{
    OPS_UNROLL for (int k = 0; k < 4; k++) i += 0;
    return OPS_LDG(x + i);
}}

template <typename scalar_t>
__global__ void scale(const scalar_t *x, ops::Vec *v, scalar_t *y, int n) {{
    ops::Vec w = v[0];
    int i = threadIdx.x{semicolon}
    if (i < n) y[i] = x[i] OPS_PLUS(1);
}}
template <typename scalar_t>
__global__ void OPS_BOUNDS(256) twice(const scalar_t *x, scalar_t *y, int n) {{
    OPS_1D_LOOP(i, n) {{
        int j = i;
        y[j] = x[j] * 2;
    }}
}}
OPS_END

torch::Tensor run(torch::Tensor x) {{
    CHECK_INPUT(x);
    auto y = torch::empty_like(x);
    int n = 3;
    OPS_DISPATCH(x.scalar_type(), "scale", [&] {{
        OPS_DISPATCH_BOOL(n > 3, FLAG, {{ int a = 0; a += n; }});
    }});
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", ([&] {{
        scale<scalar_t><<<1, 256>>>(x.data_ptr<scalar_t>(), ops::get(x), y.data_ptr<scalar_t>(), n);
    }}));
    OPS_SWITCH(n, T, int b = 3; b += 2;)
    for (int i = 0; i < n; i++) {{ n--; }}
    return y;
}}
OPS_TABLE(numbers) {{ 1, 2, 3 }};
OPS_REGISTER(scale)
static int after = 3;
int values[] = {{
#include "values.inc"
}};
#ifdef OPS_NEW
int old = 2;
#else
int old = ;
#endif
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("run", &run, "doc"); }}
"""
"""An extension of PyTorch whose own headers are not found: each `OPS_...` may be what makes C++ of its line."""


@pytest.mark.parametrize(("semicolon", "lines"), [(";", []), ("", [18])])
def test_an_extension_whose_headers_are_not_found(semicolon: str, lines: list[int], tmp_path: Path) -> None:
    found = _found(tmp_path / "a.cu", _EXTENSION.format(semicolon=semicolon))
    assert [line for line, code, _ in found if code == "CL904"] == lines
