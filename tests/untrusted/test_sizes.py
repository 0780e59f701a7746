"""Types and launches of sizes that can't be: none, and more than fits into memory or into 64 bits."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.ir.sizes import parts, sized

Check = Callable[..., Any]

_STRIDED = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"
_PLAIN = "__global__ void k(float *p) { p[threadIdx.x] = 1; }"


@given(st.integers(-10, 5000) | st.integers(), st.integers(-2, 32) | st.integers())
def test_parts_are_within_their_whole(size: int, step: int) -> None:
    whole = sized(size)
    assert 1 <= whole <= 2**48
    found = parts(whole, step)
    assert found[0][0] == 0
    assert len(found) <= 256
    assert all(length >= 1 and begin + length <= whole for begin, length in found)
    assert all(begin + length == following for (begin, length), (following, _) in itertools.pairwise(found))
    assert len(found) == 256 or sum(length for _, length in found) == whole


@pytest.mark.parametrize(
    "kernel",
    [
        "struct S { char a[1ull << 40]; }; __global__ void k(S *p, S *q) { p[threadIdx.x] = q[threadIdx.x]; }",
        "struct S { float4 a[1 << 20]; }; __global__ void k(S *p, S *q) { p[threadIdx.x] = q[threadIdx.x]; }",
        "struct S { int a[0]; }; __global__ void k(S *p) { p[threadIdx.x].a[threadIdx.x] = 1; p[1] = p[0]; }",
        "__global__ void k(float *p) { __shared__ float t[1ull << 60]; t[threadIdx.x * 32] = 1; p[0] = t[1]; }",
        "__global__ void k(int *p) { __shared__ int t[0]; t[threadIdx.x] = 3; p[threadIdx.x] = t[0]; }",
        "__global__ void k(char *p, char *q) { memcpy(p, q, 1ull << 62); memcpy(p, q, 0); memset(p, 0, ~0ull); }",
        f"{_PLAIN} int main() {{ k<<<1ull << 40, 0>>>(0); k<<<-1, 1ull << 63, ~0ull>>>(0); }}",
        f"{_PLAIN} int main() {{ k<<<dim3(0, 0, 0), dim3(~0u, ~0u, ~0u)>>>(0); k<<<dim3(~0u, ~0u), dim3(0)>>>(0); }}",
        f"{_PLAIN} int main() {{ float *p; cudaMalloc(&p, ~0ull); k<<<1, 9>>>(p); cudaMalloc(&p, 0); k<<<1, 9>>>(p);}}",
    ],
)
def test_sizes_that_cannot_be(kernel: str, folder: Path, check: Check) -> None:
    (folder / "a.cu").write_text(f"{_STRIDED}{kernel}\n")
    result = check("a.cu", "--select", "ALL")
    assert (result.err, result.status) == ("", 1)
    assert "a.cu:1:37: warning: CL101" in result.out
