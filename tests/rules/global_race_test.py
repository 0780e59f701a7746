"""What CL305 suggests: it says which line to change, and how."""

from __future__ import annotations

import pytest
from linting import advice, lint

_KERNELS = {
    "*sum += in[threadIdx.x];": "update `sum[0]` with an atomic such as `atomicAdd`",
    "sum[0] = sum[0] + in[threadIdx.x];": "update `sum[0]` with an atomic such as `atomicAdd`",
    "sum[threadIdx.x / 2] = in[threadIdx.x];": "let one thread write `sum[0]`, or give each thread an element",
    "sum[threadIdx.x] = sum[threadIdx.x + 1];": "write into another array than `sum`, which other threads still read",
    "float x = sum[threadIdx.x + 1];\n sum[threadIdx.x] = x;": "put `__syncthreads()` between lines 2 and 3",
}


@pytest.mark.parametrize("body", _KERNELS, ids=str)
def test_suggestions(body: str) -> None:
    source = f"__global__ void k(float *sum, const float *in) {{\n{body}\n}}\nvoid run(float *a, float *b) {{"
    (found,) = lint(source + " k<<<1, 64>>>(a, b); }", "CL305")
    assert advice(found).startswith(_KERNELS[body])


def test_blocks_take_another_kernel() -> None:
    source = """
        __global__ void k(float *a) {
            float x = a[blockIdx.x + 1];
            if (threadIdx.x == 0) a[blockIdx.x] = x;
        }
        void run(float *a) { k<<<64, 32>>>(a); }
    """
    (found,) = lint(source, "CL305")
    assert "make a second kernel of what follows line 3" in advice(found)
