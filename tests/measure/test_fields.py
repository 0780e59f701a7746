"""Widths of accesses to fields of records between which others are stored, as nvcc 13.0 makes them (nvdisasm)."""

from __future__ import annotations

import pytest
from evaluating import evaluate

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_BEFORE = """
struct Pair { float x, y; };
struct Mixed { double d; float x, y; };
"""


@pytest.mark.parametrize(
    ("array", "index", "other", "width"),
    [
        # A dynamic array begins at a multiple of 16 bytes, and Pair has 8.
        ("extern __shared__ Pair d[];", "t * n + m", "(t + 1) * n + m", 8),
        ("extern __shared__ float2 d[];", "t * n + m", "(t + 1) * n + m", 8),
        ("__shared__ float2 d[512];", "t", "t + n", 8),
        ("__shared__ Mixed d[512];", "t", "t + n", 8),
        ("float2 *d = (float2 *) a;", "t", "t + n", 8),
        # What is aligned to 4 bytes is only merged once nothing is in between.
        ("__shared__ Pair d[512];", "t", "t + n", 4),
        ("Pair *d = (Pair *) a;", "t", "t + n", 4),
    ],
)
def test_stores_to_other_fields_keep_nothing_apart(array: str, index: str, other: str, width: int) -> None:
    body = f"{array} d[{index}].x += d[{other}].x; d[{index}].y += d[{other}].y;"
    kernel = evaluate(body, before=_BEFORE)
    assert [access.bytes for access in kernel.accesses] == [width] * 6


def test_four_fields_of_two_arrays() -> None:
    body = """float4 *g = (float4 *) a, *h = (float4 *) b;
        g[t].x += h[t + n].x; g[t].y += h[t + n].y; g[t].z += g[t + n].z; g[t].w += g[t + n].w;"""
    kernel = evaluate(body, arguments="4, 4")
    assert sorted(access.bytes for access in kernel.accesses) == [8] * 4 + [16] * 8
    assert {result.sectors_per_request for access in kernel.accesses for result in access.results} == {16}


def test_a_store_to_the_same_field_keeps_loads_apart() -> None:
    """The second `x` may be the one that was just stored."""
    body = "float2 *d = (float2 *) a; float s = d[t].x; d[t + n].x = s; d[t + m].x = d[t].y + d[t].x; "
    loads = [access.bytes for access in evaluate(body).accesses if access.operation == "load"]
    assert sorted(loads) == [4, 8, 8]


def test_pairs_of_a_dynamic_array_are_stored_together() -> None:
    body = """extern __shared__ Pair d[];
        for (int k = 0; k < m; k++) { d[t * m + k].x = a[t] * 3; d[t * m + k].y = 4; }"""
    kernel = evaluate(body, arguments="unknown, other", before=_BEFORE)
    assert [access.bytes for access in kernel.accesses if access.array == "d"] == [8, 8]
