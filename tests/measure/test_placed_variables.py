"""The width of accesses to shared variables that lie beside one another, by where the compiler puts them. Expected is
what nvcc 13.0 makes of the same code for sm_80 (nvdisasm)."""

from __future__ import annotations

import pytest
from evaluating import evaluate

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_SCALARS = "__shared__ int x, y, z, u; __shared__ int f[60]; __shared__ int w; int i = n, j = a[t], k = a[t + 99];"
_BEFORE_AN_ARRAY = "__shared__ float c[33]; __shared__ float d[64]; c[t] = a[t]; d[t] = a[t + 40];"

_CASES = [
    # declarations, what is done with them, and the bytes of each access to x, y, z, u (or to c and d)
    (_SCALARS, "x = i; y = j;", (8, 8)),
    (_SCALARS, "y = i; x = j;", (8, 8)),
    (_SCALARS, "x = i; u = j; y = k; z = i;", (16, 16, 16, 16)),
    (_SCALARS, "x = i; w = k; y = j;", (4, 4, 4)),
    (_SCALARS, "b[t] = x * y * z;", (16, 16, 16)),
    (_SCALARS, "i = x; w = a[t + 8]; j = y; b[t] = i * j;", (4, 4, 4)),
    (_SCALARS, "x += 1; y += 2;", (4, 4, 4, 4)),
    (_SCALARS, "i = x; x = y; y = i;", (8, 8, 8, 8)),
    # x lies at 132, so that only y and z are aligned to 8.
    ("__shared__ int c[33]; __shared__ int x, y, z; int j = a[t];", "x = n; y = j; z = m;", (4, 8, 8)),
    ("__shared__ int c[33]; __shared__ int x, y, z; x = n; y = m; z = t;", "b[t] = x * y * z;", (16, 16, 16)),
    ("__shared__ int c[33]; __shared__ int x, y; x = n; y = m;", "b[t] = x * y;", (4, 4)),
    ("__shared__ int x, y; __shared__ int c[33]; x = n; y = m;", "b[t] = x * y;", (8, 8)),
]


@pytest.mark.parametrize(("declared", "code", "expected"), _CASES)
def test_width_of_scalars(declared: str, code: str, expected: tuple[int, ...]) -> None:
    every = " + ".join(name for name in ("x", "y", "z", "u", "w") if f"{name}," in declared or f"{name};" in declared)
    arrays = " ".join(f"{name}[t] = a[t];" for name in ("c", "f") if f"{name}[" in declared)
    after = "".join(f" + {name}[t ^ 1]" for name in ("c", "f") if f"{name}[" in declared)
    kernel = evaluate(
        f"{declared} {arrays} __syncthreads();\n{code}\n__syncthreads(); b[t + 999] = {every}{after};",
        arguments="unknown, other",
    )
    line = min(a.place.line for a in kernel.accesses) + 1
    found = [a for a in kernel.accesses if a.place.line == line and a.space == "shared"]
    assert sorted(a.bytes for a in found) == sorted(expected)


@pytest.mark.parametrize(
    ("present", "widths"),
    [((0, 1), (4, 4)), ((0, 1, 2, 3), (16, 16, 16, 4)), ((1, 2), (8, 8)), ((3, 4), (8, 8)), ((3, 5, 6), (16, 16, 16))],
)
def test_elements_of_an_array_behind_another_one(present: tuple[int, ...], widths: tuple[int, ...]) -> None:
    """It begins at 132, 4 bytes behind a multiple of 16: its elements 3 to 6 are aligned together."""
    code = " + ".join(f"d[4 * (t & 7) + {i}]" for i in present)
    kernel = evaluate(f"{_BEFORE_AN_ARRAY} __syncthreads(); b[t] = c[t ^ 1] + {code};")
    found = [a for a in kernel.accesses if a.array == "d" and a.operation == "load"]
    assert tuple(a.bytes for a in found) == widths


def test_what_nobody_reads_takes_no_room() -> None:
    kernel = evaluate("__shared__ int q, x, y; q = n; x = t; y = m; __syncthreads(); b[t] = x * y;")
    assert {a.bytes for a in kernel.accesses if a.array in ("x", "y")} == {8}


@pytest.mark.parametrize(
    ("code", "widths"),
    [
        # Of 16 elements 15 come by 16 bytes, of 4 three do, and of 8 that begin one later 4, and 2 by 8 bytes each.
        ("for (int i = 0; i < 16; i++) q = q * 2 + d[16 * t + i];", {16, 4}),
        ("for (int i = 0; i < 4; i++) q = q * 2 + d[4 * t + i];", {16, 4}),
        ("for (int i = 0; i < 8; i++) q = q * 2 + d[16 * t + i + 1];", {16, 8}),
        ("for (int i = 0; i < 2; i++) q = q * 2 + d[4 * t + i];", {4}),
        ("for (int i = 0; i < 16; i++) q = q * 2 + d[17 * t + i];", {4}),
        ("for (int i = 0; i < n; i++) q = q * 2 + d[i];", {4}),
    ],
)
def test_loops_over_an_array_behind_another_one(code: str, widths: set[int]) -> None:
    """It begins 4 bytes behind a multiple of 16."""
    declared = "__shared__ float c[33]; __shared__ float d[2048]; c[t] = a[t]; d[t] = a[t + 9]; float q = 0;"
    kernel = evaluate(
        f"{declared} __syncthreads();\n{code}\nb[t] = q + c[t ^ 1] + d[t];", arguments="unknown, other"
    )
    loads = [a for a in kernel.accesses if a.array == "d" and a.place.line == kernel.accesses[0].place.line + 1]
    assert {load.bytes for load in loads} == widths
