"""References to what stands in no variable."""

from __future__ import annotations

import pytest
from evaluating import evaluate, only

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_PUT = """
__device__ void put(float* out, const int& at) { out[2 * at] = 1; }
__device__ void put_in(float* out, const uint3& place, const dim3& extent) { out[place.x + place.x / extent.x] = 1; }
"""


@pytest.mark.parametrize(
    ("statement", "sectors"),
    [
        ("put(a, threadIdx.x);", 8),
        ("const int& lane = threadIdx.x; a[4 * lane] = 1;", 16),
        ("const unsigned& lane = threadIdx.x; a[4 * lane] = 1;", 16),
        ("const dim3& extent = blockDim; a[t * extent.y * extent.x / 8] = 1;", 16),
        ("put_in(a, threadIdx, blockDim);", 4),
        ("const int& width = warpSize; a[t * width] = 1;", 32),
    ],
)
def test_built_in_variables_are_bound_to_references(statement: str, sectors: float) -> None:
    """They are no variables of the program, and have their values all the same."""
    result = only(evaluate(statement, before=_PUT))
    assert (result.status, result.sectors_per_request) == ("exact", sectors)
