"""Loops of which not all turns are executed, against loops of which all are."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in
from loops_compared import SAMPLED, check, kernel

EXACTLY = {
    "contiguous": "for (int i = 0; i < n; ++i) sink += a[i * 64 + t];",
    "one element": "for (int i = 0; i < n; ++i) sink += a[i];",
    "bytes": "for (int i = 0; i < n; ++i) sink += c[i + t];",
    "wide": "for (int i = 0; i < n; ++i) sink += b[3 * i + t];",
    "by block": "for (int i = t; i < n; i += blockDim.x) sink += a[i];",
    "by grid": "for (int i = blockIdx.x * 64 + t; i < 9 * n; i += gridDim.x * blockDim.x) sink += a[i];",
    "downwards": "for (int i = n; i > 0; --i) sink += a[i * m + t];",
    "not equal": "for (int i = 0; i != n; ++i) sink += a[i * m + t];",
    "unsigned": "for (unsigned i = n; i-- > 0;) sink += a[i * m + t];",
    "while": "int i = 0; while (i < n) { sink += a[i * 5 + t]; i += 2; }",
    "do": "int i = 0; do { sink += a[i * 5 + t]; i += 2; } while (i < n);",
    "pointer": "float* p = a + t; for (int i = 0; i < n; ++i) { sink += *p; p += m; }",
    "two buffers": "int p = 0; for (int i = 0; i < n; ++i) { s[p * 64 + t] = 1; p ^= 1; sink += s[p * 64 + 2 * t]; }",
    "buffers exchanged": "float *p = s, *q = s + 96; for (int i = 0; i < n; ++i) {"
    " sink += p[t] + q[2 * t]; float* r = p; p = q; q = r; }",
    "three stages": "int p = 0; for (int i = 0; i < n; ++i) { s[p * 64 + p * t] = 1; p = (p + 1) % 3; }",
    "remainder": "for (int i = 0; i < n; ++i) sink += a[(i % 16) * t];",
    "odd remainder": "for (int i = 0; i < n; ++i) sink += a[i % 7 + t * m];",
    "mask": "for (int i = 0; i < n; ++i) sink += a[(i & 7) * t + i * 8];",
    "quotient": "for (int i = 0; i < n; ++i) sink += a[(i / 100) * t];",
    "shift": "for (int i = 0; i < n; ++i) sink += a[(i >> 3) * 8 + t];",
    "each sixteenth": "for (int i = 0; i < n; ++i) { if (i % 16 == 3) sink += a[i * m + t]; }",
    "the first": "for (int i = 0; i < n; ++i) { if (i < 100) sink += a[i * m + t]; else sink += b[t]; }",
    "one": "for (int i = 0; i < n; ++i) { if (i == 57) sink += a[i * m + t]; sink += b[t]; }",
    "least": "for (int i = 0; i < n; ++i) sink += a[min(i, 100) * m + t];",
    "border": "for (int i = 0; i < n; ++i) { int j = i + t - 32; if (j >= 0 && j < n) sink += a[j]; }",
    "break": "for (int i = 0; i < n; ++i) { if (i * 3 > 400) break; sink += a[i * m + t]; }",
    "break by lane": "for (int i = 0; i < n; ++i) { if (i * 3 > 16 * t) break; sink += a[i * m + t]; }",
    "continue": "for (int i = 0; i < n; ++i) { if (t > 3 * m) continue; sink += a[i * m + t]; }",
    "continue at times": "for (int i = 0; i < n; ++i) { if (i % 4 == 1) continue; sink += a[i * m + t]; }",
    "bounds by lane": "for (int i = 0; i < t; ++i) sink += a[i * m + t];",
    "bounds by warp": "for (int i = 0; i < n + 40 * (t / 32); ++i) sink += a[i * m + t];",
    "bounds by block": "for (int i = 0; i < n * (1 + blockIdx.x); ++i) sink += a[i * m + t];",
    "nest": "for (int i = 0; i < n; ++i) for (int j = 0; j < 20; ++j) sink += a[(i * 20 + j) * 64 + t];",
    "nest by column": "for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) sink += a[j * 640 + i + t];",
    "triangle": "for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) sink += s[j * 33 + t];",
    "triangle of addresses": "for (int i = 0; i < n; ++i) for (int j = 0; j <= i; ++j) sink += a[j * 64 + i * 8 + t];",
    "tiles": "for (int k = 0; k < n; k += 16) { s[t] = a[k + t * n]; __syncthreads();"
    " for (int j = 0; j < 16; ++j) sink += s[j * 4 + t % 4]; __syncthreads(); }",
    "registers": "float r[8] = {0}; for (int i = 0; i < n; ++i) for (int j = 0; j < 8; ++j) r[j] += a[j * n + i];"
    " sink = r[3];",
    "indices": "int r[4]; for (int j = 0; j < 4; ++j) r[j] = j * m + t;"
    " for (int i = 0; i < n; ++i) for (int j = 0; j < 4; ++j) sink += a[r[j] + i * 8];",
    "after it": "int i; for (i = 0; i < n; ++i) sink += a[i]; sink += b[i + t];",
    "after it by lane": "int i; for (i = t; i < n; i += 5) sink += a[i]; sink += b[i + t];",
    "to a float": "for (int i = 0; i < ceil(n / 1.5f); ++i) sink += a[i * m + t];",
    "to a part": "for (int i = 0; i < n / 1.5f; ++i) sink += a[i * m + t];",
    "to a part, downwards": "for (int i = 2 * n; i / 2 >= n / 3.5; --i) sink += a[i * m + t];",
    "float on the left": "for (int i = 0; n * 0.75f >= i; ++i) sink += a[i * m + t];",
    "not a float": "for (int i = 0; i < n; ++i) { if (i != 8.5f && 96.0f != i) sink += a[i * m + t]; }",
    "float and whole": "for (int i = 0; (float)i < (float)n; ++i) sink += a[i * m + t];",
    "small counter": "unsigned char k = 0; for (int i = 0; i < n; ++i) { k += 3; sink += a[k * 3 + t]; }",
}
"""Bodies of kernels."""
TRIANGLES = [name for name in EXACTLY if name.startswith("triangle")]
"""Those with n * n turns, all of which are executed here to compare with."""


@pytest.mark.parametrize("name", EXACTLY)
@pytest.mark.parametrize(("n", "m"), [(140, 7), (233, 40)])
def test_turns_that_are_left_out_are_counted(name: str, n: int, m: int) -> None:
    check(kernel(EXACTLY[name]), {"n": min(n, 150) if name in TRIANGLES else n, "m": m})


@pytest.mark.parametrize("name", EXACTLY)
def test_worlds_have_turns_of_their_own(name: str) -> None:
    n = [135, 140, 3, 150] if name in TRIANGLES else [150, 211, 3, 400]
    check(kernel(EXACTLY[name]), {"n": n, "m": [1, 7, 40, 32]}, worlds=4)


BEGIN_ANEW = {"quotient", "small counter"}
"""After each 100, and 256, turns: longer periods than are looked for."""


@pytest.mark.parametrize("name", [name for name in EXACTLY if name not in BEGIN_ANEW])
def test_four_times_the_turns_take_the_same_steps(name: str) -> None:
    function = kernel_in(kernel(EXACTLY[name]))
    few, many = (execute(function, (64, 1, 1), (2, 1, 1), {"n": n, "m": 7}).steps for n in (512, 2048))
    assert many < 1.2 * few


SAMPLED_ONLY = {
    "no period": "for (int i = 0; i < n; ++i) if (i * i % 37 < 20) sink += a[(i * i % 101) * 3 + t];",
    "counter": "int k = 0; for (int i = 0; i < n; ++i) { if (i * i % 7 < 3) ++k; sink += a[k * 64 + t]; }",
    "strides by lane": "for (int i = 0; i < n; ++i) sink += a[(i + 1) * t * 3];",
    "inner by lane": "for (int i = 0; i < n; ++i) for (int j = t; j < i; j += 7) sink += a[j * 5 + i];",
    "triple": "for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) for (int k = t % 7; k <= j; ++k)"
    " sink += a[k * 8 + t];",
    "triangle with a remainder": "for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) sink += s[(i + j) % 32 + t];",
}
"""Loops that are long and expensive."""


@pytest.mark.parametrize("name", SAMPLED_ONLY)
def test_turns_are_sampled(name: str) -> None:
    check(kernel(SAMPLED_ONLY[name]), {"n": 70 if name == "triple" else 150, "m": 3}, SAMPLED)


def test_what_is_left_out_is_noted() -> None:
    body = SAMPLED_ONLY["counter"]
    trace = execute(kernel_in(kernel(body)), (64, 1, 1), (2, 1, 1), {"n": 1000, "m": 3})
    assert {each.reason for each in trace.left_out} >= {"sampled turns"}
    trace = execute(kernel_in(kernel(EXACTLY["contiguous"])), (64, 1, 1), (2, 1, 1), {"n": 300, "m": 3})
    assert not trace.left_out
    trace = execute(kernel_in(kernel("for (int i = 0; a[i] > 0; ++i) sink += b[i];")), (64, 1, 1), (2, 1, 1), {})
    assert [each.reason for each in trace.left_out] == ["turns by data"]
