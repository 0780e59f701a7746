"""Widths that need an alignment that only the launch knows, as nvcc 13.0 makes them (`cuobjdump -sass`)."""

from __future__ import annotations

import pytest
from evaluating import evaluate

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_NOT_YET = pytest.mark.xfail(reason="how the compiler orders factors and sums is not followed that far", strict=True)


@pytest.mark.parametrize(
    ("before", "index", "expected"),
    [
        ("", "2 * t", 8),
        ("int two = 2;", "two * t", 8),
        ("", "n * t", 4),
        ("int pitch = n;", "pitch * t", 4),
        ("int pitch = 0; pitch += n;", "pitch * t", 4),
        pytest.param("float *d2 = d + n;", "2 * t - n + n", 4, marks=_NOT_YET),
        ("", "blockDim.x * t", 4),
        ("", "2 * t + n", 4),
        ("", "2 * (t + n)", 8),
        ("", "2 * t * n", 8),
        ("", "2 * (n / 3)", 8),
        ("", "6 * t + 2 * n", 8),
        ("int i = t; if (n > 1) i += blockDim.x;", "(i << 1)", 8),
        ("int i = 2 * t; if (n > 1) i += m;", "i", 4),
    ],
)
def test_the_compiler_does_not_know_the_arguments(before: str, index: str, expected: int) -> None:
    body = f"extern __shared__ float d[]; {before} d[{index}] = a[t]; d[{index} + 1] = a[t + 9];"
    kernel = evaluate(body, arguments="2, 4")
    assert {access.bytes for access in kernel.accesses if access.array == "d"} == {expected}
