"""Threads that a loaded value chooses (`if (threadIdx.x == winner[blockIdx.x])`)."""

from __future__ import annotations

import pytest
from evaluating import evaluate
from linting import lint

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")


@pytest.mark.parametrize(
    ("own", "lanes"),
    [
        # How many lanes of a warp have the same value, in a block of 16 x 8: one, two, one, the half of it, all.
        ("threadIdx.x + 16 * threadIdx.y", 1),
        ("threadIdx.x", 2),
        ("(int)(blockIdx.x * 128 + threadIdx.y * 16 + threadIdx.x)", 1),
        ("threadIdx.y", 16),
        ("threadIdx.y / 2", 32),
    ],
)
def test_those_with_the_value_are_active(own: str, lanes: int) -> None:
    body = f"int winner = b[blockIdx.x]; if ({own} == winner) a[64 * (t + 16 * threadIdx.y)] = 1;"
    kernel = evaluate(body, (16, 8, 1), (4, 1, 1))
    [result] = [access.results[0] for access in kernel.accesses if access.array == "a"]
    assert (result.sectors_per_request, result.active_lanes) == (lanes, lanes)


def test_one_thread_has_no_bank_conflict() -> None:
    source = """
    __global__ void k(const int *winner, float *out) {
        __shared__ float rows[32][32];
        for (int i = 0; i < 32; i++) rows[i][threadIdx.x] = i;
        __syncthreads();
        if (winner[blockIdx.x] == threadIdx.x)
            for (int i = 0; i < 32; i++) out[blockIdx.x * 32 + i] = rows[threadIdx.x][i];
    }
    void run(int *winner, float *out) { k<<<64, 32>>>(winner, out); }
    """
    assert not lint(source, "CL201") and not lint(source, "CL101")
