"""Shared variables that nobody reads."""

from __future__ import annotations

import pytest
from executing import kernel_in

from cudalint.measure.work.shared import unread

_HELPERS = "struct P { float x[64], y; void set(float v) { y = v; } }; __device__ float f(float *p) { return *p; }"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("s[t] = a[t]; p.x[t] = 1; p.y = 2;", {"s", "p"}),
        ("s[t] = q[t] = a[t];", {"s"}),
        ("s[t] = a[t]; a[t] = s[0];", set()),
        ("s[t] += a[t];", set()),
        ("s[t]++;", set()),
        ("s[t] = a[t]; f(s);", set()),
        ("s[t] = a[t]; float *r = &s[3]; *r = 1;", set()),
        ("s[t] = a[t]; float &r = s[3]; r = 1;", set()),
        ("s[t] = a[t]; atomicAdd(&s[t], 1.0f);", set()),
        ("p.x[t] = 1; p.set(3);", set()),
        ("p.x[t] = 1; a[t] = p.y;", set()),
        ("v[t] = a[t];", set()),
        ("where[t] = a; where[t][1] = 2;", set()),
        ("d[t] = a[t];", set()),
        ("s[t] = a[t]; if (sizeof(s) > 4) a[t] = 1;", {"s"}),
    ],
)  # fmt: skip
def test_what_the_compiler_may_drop(body: str, names: set[str]) -> None:
    declared = "__shared__ float s[64]; __shared__ P p; __shared__ volatile float v[64]; __shared__ float *where[64];"
    source = f"{_HELPERS} __global__ void k(float *a, float *q) {{ {declared} extern __shared__ float d[];"
    function = kernel_in(f"{source} int t = threadIdx.x; {body} }}")
    assert {symbol.name for symbol in unread(function)} == names
