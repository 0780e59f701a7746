"""The width of shared loads in loops, against what nvcc 13.0 makes of the same loops (`cuobjdump -sass`)."""

from __future__ import annotations

from typing import Any

import pytest
from evaluating import evaluate

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_LOOPS: list[tuple[Any, ...]] = [
    # length of the loop, element that iteration k reads, bytes that one load brings; and a load of the rest
    ("k < 16", "s[k]", 16),
    ("k < 66", "s[k]", 16, 8),
    ("k < 100", "s[k]", 16),
    ("k < 128", "s[k]", 16),
    ("k < 1001", "s[k]", 16),
    ("k < 250", "s[k]", 16, 8),
    ("k < 1022", "s[k]", 8),
    ("k < 512 + n % 2", "s[k]", 16),
    ("k < blockDim.x", "s[k]", 16),
    ("k < 64", "s[4 * threadIdx.x + k]", 16),
    ("k < 64", "s[2 * threadIdx.x + k]", 8),
    ("k < 64", "s[33 * threadIdx.y + k]", 4),
    ("k < 64", "s[threadIdx.x + k]", 4),
    ("k < m", "s[k]", 16),
    ("k < m", "s[256 * threadIdx.y + k]", 8),
    ("k < m", "s[n + k]", 4),
    ("k < threadIdx.x", "s[k]", 4),
    ("k < ((int*)a)[0]", "s[k]", 4),
    ("k < 64", "((double*)s)[k]", 16),
    ("k < 64", "((unsigned short*)s)[k]", 8),
    ("k < 64", "((unsigned char*)s)[k]", 1),
    ("k < 64", "s[63 - k]", 16),
    ("k < 64", "s[62 - k]", 16, 4),
    ("k < 64", "s[2 * k]", 4),
]


@pytest.mark.parametrize(("length", "element", "expected"), [(*row[:2], list(row[2:])) for row in _LOOPS])
def test_width_of_loads_in_a_loop(length: str, element: str, expected: list[int]) -> None:
    body = f"float x = 0; for (int k = 0; {length}; k++) x += {element}; b[t] = x;"
    kernel = evaluate(body, (32, 4, 1), arguments="unknown, other")
    assert [access.bytes for access in kernel.accesses if access.array == "s"] == expected


def test_a_counter_that_is_declared_before_the_loop_counts_like_its_own() -> None:
    body = "int k; for (k = 0; k < 16; k++) s[16 * threadIdx.x + k] = a[t + 999 * k]; __syncthreads(); b[t] = s[t];"
    kernel = evaluate(body)
    assert [a.bytes for a in kernel.accesses if a.array == "s" and a.operation == "store"] == [16]


_ARITHMETIC = [
    # what iteration k computes from its element, bytes that one load brings
    ("s[k] / d", 4),
    ("d / s[k]", 4),
    ("s[k] / 3.0f", 4),
    ("s[k] / 4.0f", 16),
    ("__fdividef(d, s[k])", 16),
    ("(int)s[k] / n", 16),
    ("expf(s[k])", 16),
    ("logf(s[k])", 16),
    ("tanhf(s[k])", 16),
    ("rsqrtf(s[k])", 16),
    ("sqrtf(s[k])", 4),
    ("powf(s[k], d)", 4),
    ("sinf(s[k])", 4),
    ("__sinf(s[k])", 16),
    ("sqrt(((double*)s)[k])", 8),
    ("exp(((double*)s)[k])", 16),
]


@pytest.mark.parametrize(("value", "expected"), _ARITHMETIC)
def test_arithmetic_that_jumps_keeps_the_loads_of_iterations_apart(value: str, expected: int) -> None:
    kernel = evaluate(f"float d = a[t], x = 0; for (int k = 0; k < 64; k++) x += {value}; b[t] = x;")
    assert [access.bytes for access in kernel.accesses if access.array == "s"] == [expected]


_NEIGHBOURS = [
    # two elements that are next to each other under the launch, whether the compiler knows that
    ("s[2 * threadIdx.x] + s[2 * threadIdx.x + 1]", True),
    ("s[2 * threadIdx.x] + s[2 * threadIdx.x + blockDim.y]", False),
    ("s[2 * threadIdx.x + blockDim.y - 1] + s[2 * threadIdx.x + 1]", False),
    ("s[2 * (threadIdx.x + blockDim.x)] + s[2 * (threadIdx.x + blockDim.x) + 1]", True),
    ("s[2 * threadIdx.x + 2 * (n / 3)] + s[2 * threadIdx.x + 2 * (n / 3) + 1]", True),
    ("((volatile float*)s)[2 * threadIdx.x] + ((volatile float*)s)[2 * threadIdx.x + 1]", False),
]


@pytest.mark.parametrize(("sum_", "is_known"), _NEIGHBOURS)
def test_neighbours_are_merged_if_the_compiler_knows_them(sum_: str, is_known: bool) -> None:
    kernel = evaluate(f"b[t] = {sum_};", (32, 1, 1))
    assert {access.bytes for access in kernel.accesses if access.array == "s"} == ({8} if is_known else {4})


def test_neighbours_of_a_stride_that_is_added_are_known() -> None:
    """A single stage of a transform: every thread takes the two elements from `2 * k` on, as one of 8 bytes."""
    body = "for (int k = threadIdx.x; k < n; k += blockDim.x) { int p = k << 1, q = p + 1; b[k] = s[p] * s[q]; }"
    kernel = evaluate(body, (32, 1, 1), arguments="64, other")
    assert {access.bytes for access in kernel.accesses if access.array == "s"} == {8}


def test_what_a_loop_of_unknown_length_doubles_is_not_known() -> None:
    """In the last but one iteration, or the first, the elements are neighbours."""
    body = "for (int k = 1; k <= n; k *= 2) { b[t] = s[2 * threadIdx.x + 1 - k] + s[2 * threadIdx.x + 1]; }"
    kernel = evaluate(body, (32, 1, 1), arguments="unknown, other")
    assert {access.bytes for access in kernel.accesses if access.array == "s"} == {4}


_NESTS = [
    # before the outer loop, before the inner loop, length of the inner loop, what else the outer body does, bytes
    ("#pragma unroll", "#pragma unroll", "j < 4", "", 16),
    ("#pragma unroll", "", "j < 4", "", 16),
    ("#pragma unroll", "", "j < 32", "", 16),
    ("#pragma unroll", "", "j < m", "", 4),
    ("#pragma unroll", "", "j < 4", "__syncthreads();", 4),
]


@pytest.mark.parametrize(("outer", "inner", "length", "other", "expected"), _NESTS)
def test_width_of_loads_over_an_outer_loop(outer: str, inner: str, length: str, other: str, expected: int) -> None:
    body = (
        f"float x = 0;\n{outer}\nfor (int k = 0; k < 8; k++) {{\n{inner}\n"
        f"for (int j = 0; {length}; j++) x += s[(4 * threadIdx.y + j) * 8 + k] * a[t + k * 77 + j * 55]; {other} }}"
        "b[t] = x;"
    )
    kernel = evaluate(body, (32, 4, 1), arguments="unknown, other")
    assert [access.bytes for access in kernel.accesses if access.array == "s"] == [expected]


def test_nothing_is_merged_behind_a_branch() -> None:
    kernel = evaluate("float x = 0; for (int k = 0; k < 64; k++) if (a[k] > 0) x += s[k]; b[t] = x;")
    assert [access.bytes for access in kernel.accesses if access.array == "s"] == [4]


_STORES = [
    # what iteration k stores where (`s` has a size, `d` is dynamic, `u` another array), bytes that one store writes
    ("s[4 * threadIdx.x + k] = a[t + 999 * k];", "s", 16),
    ("s[4 * threadIdx.x + k] = 0; b[t + k] = 1;", "s", 16),
    ("s[5 * threadIdx.x + k] = a[t + 999 * k];", "s", 4),
    ("((double*)s)[4 * threadIdx.x + k] = a[t + 999 * k];", "s", 16),
    ("((unsigned short*)s)[4 * threadIdx.x + k] = a[t + 999 * k];", "s", 8),
    ("((unsigned char*)s)[4 * threadIdx.x + k] = a[t + 999 * k];", "s", 1),
    ("if (a[t + k] > 0) s[4 * threadIdx.x + k] = 1;", "s", 4),
    ("s[4 * threadIdx.x + k] = a[t]; u[4 * threadIdx.x + k] = a[t + k];", "s", 4),
    ("s[4 * threadIdx.x + k] = u[4 * threadIdx.x + k];", "s", 4),
    ("s[4 * threadIdx.x + k] = u[4 * threadIdx.x + k];", "u", 4),
    ("s[4 * threadIdx.x + k] = a[t]; s[512 + 4 * threadIdx.x + k] = a[t + k];", "s", 4),
    ("d[4 * threadIdx.x + k] = a[t]; d[512 + 4 * threadIdx.x + k] = a[t + k];", "d", 16),
    ("d[n * threadIdx.x + k] = a[t];", "d", 4),
    ("s[4 * threadIdx.x + k] = a[t]; __syncthreads();", "s", 4),
]


@pytest.mark.parametrize(("statements", "array", "expected"), _STORES)
def test_width_of_stores_in_a_loop(statements: str, array: str, expected: int) -> None:
    declared = "extern __shared__ float d[]; __shared__ float u[1024]; "
    kernel = evaluate(f"{declared}for (int k = 0; k < 4; k++) {{ {statements} }}", arguments="unknown, other")
    assert {access.bytes for access in kernel.accesses if access.array == array} == {expected}


_NEIGHBOURS = [
    # straight-line code, and the bytes of its accesses to the array
    ("s[2 * t] = a[t]; s[2 * t + 1] = a[t + 9];", "s", 8),
    ("d[2 * t] = a[t]; d[2 * t + 1] = a[t + 9];", "d", 8),
    ("s[2 * t] = a[t]; u[2 * t] = a[t + 5]; s[2 * t + 1] = a[t + 9]; u[2 * t + 1] = a[t + 99];", "s", 4),
    ("s[2 * t] = a[t]; s[512 + 2 * t] = a[t + 5]; s[2 * t + 1] = a[t + 9];", "s", 4),
    ("d[2 * t] = a[t]; d[512 + 2 * t] = a[t + 5]; d[2 * t + 1] = a[t + 9];", "d", 8),
    ("float x = s[2 * t]; u[t] = 1; x += s[2 * t + 1]; b[t] = x;", "s", 4),
    ("float x = s[2 * t]; x += u[t]; x += s[2 * t + 1]; b[t] = x;", "s", 8),
    ("s[2 * t] = a[t]; float x = u[t ^ 1]; s[2 * t + 1] = x;", "s", 4),
    ("float x = d[2 * t]; x += d[2 * t + 1]; b[t] = x;", "d", 8),
    ("float x = d[n * t]; x += d[n * t + 1]; b[t] = x;", "d", 4),
]


@pytest.mark.parametrize(("statements", "array", "expected"), _NEIGHBOURS)
def test_width_of_neighbours_in_straight_line_code(statements: str, array: str, expected: int) -> None:
    declared = "extern __shared__ float d[]; __shared__ float u[1024]; "
    kernel = evaluate(declared + statements, arguments="unknown, other")
    assert expected in {access.bytes for access in kernel.accesses if access.array == array}
    assert len({access.bytes for access in kernel.accesses if access.array == array}) == 1 or "512" in statements
