"""Extents and strides of arrays that Python files make, in the arguments of launches."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import FileFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.file_facts import analyse

_FILE = """import numpy as np
import cupy as cp
import pycuda.gpuarray as gpuarray

kernel = cp.RawKernel(r'''
extern "C" __global__ void strided(const float *a, int number, float *out) {{
    out[threadIdx.x] = a[threadIdx.x] + number;
}}
''', 'strided')
n = 100
x = cp.zeros((4096, 64), dtype=cp.float32)
y = np.random.randn(n, 3, 5).astype(np.float16)
column = x[:, 3]
d = gpuarray.to_gpu(y)
kernel((1,), (32,), (x, {number}, x))
"""


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("x.shape[0]", 4096),
        ("x.shape[-1]", 64),
        ("x.strides[0]", 256),
        ("x.strides[1] // x.itemsize", 1),
        ("x.size", 4096 * 64),
        ("x.nbytes", 4096 * 64 * 4),
        ("x.T.strides[0]", 4),
        ("column.strides[0] // 4", 64),
        ("y.strides[0]", 30),
        ("d.strides[1]", 10),
        ("d.shape[0]", 100),
        ("cp.empty_like(x).strides[0]", 256),
        ("cp.zeros((8, n)).strides[0]", 800),
        ("np.int32(cp.full((3, 7), 1, 'int64').strides[0])", 56),
        # What isn't plain is open.
        ("x[::2].strides[0]", None),
        ("x[5:].shape[0]", None),
        ("x.shape[2]", None),
        ("unknown(3).strides[0]", None),
        ("cp.zeros(shape).shape[0]", None),
        ("cp.zeros((3, 4), order='F').strides[0]", None),
    ],
)
def test_numbers_of_arrays(tmp_path: Path, number: str, expected: int | None) -> None:
    path = tmp_path / "a.py"
    path.write_text(_FILE.format(number=number))
    facts = analyse(str(path), AnalysisOptions(kinds=frozenset({"accesses"})))
    assert isinstance(facts, FileFacts)
    (kernel,) = facts.kernels
    assert kernel.launches[0].parameters.get("number") == expected
