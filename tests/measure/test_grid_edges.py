"""Grids that are larger than their work: the block in which it ends is evaluated wherever it is."""

from __future__ import annotations

import math

import pytest
from evaluating import evaluate, only
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")


@settings(deadline=None)
@given(st.integers(1, 4000), st.integers(1, 3000))
def test_threads_behind_the_end_leave(n: int, spare: int) -> None:
    """Blocks of 32: ceil(n / 32) requests, of which the full ones cost 4 sectors and the last ceil(rest / 8)."""
    full, rest = divmod(n, 32)
    sectors, requests = 4 * full + math.ceil(rest / 8), math.ceil(n / 32)
    for body in (f"int i = blockIdx.x * 32 + t; if (i >= {n}) return; a[i] = 1;",
                 f"int i = blockIdx.x * 32 + t; if (i < {n}) a[i] = 1;"):  # fmt: skip
        result = only(evaluate(body, grid=(requests + spare, 1, 1), block=(32, 1, 1)))
        assert result.sectors_per_request == pytest.approx(sectors / requests, abs=1e-6)


def test_two_axes_with_spare_blocks() -> None:
    """34 of 36 x 36 blocks of 32 along y have work, and along x two: 32 threads and 2 threads, each of which touches a
    sector of its own. (32 + 2) / 2 = 17 was measured on an H200 with exact_rhs_gpu_kernel_2 of GMAP/NPB-GPU."""
    body = "int k = blockIdx.x * 32 + t, j = blockIdx.y; if (k >= 34 || j >= 34) return; a[k * 1000 + j * 8] = 1;"
    result = only(evaluate(body, grid=(36, 36, 1), block=(32, 1, 1)))
    assert result.sectors_per_request == 17
