"""Lanes that are sent to lists of their own by loaded numbers, and guards that compare lanes with one loaded number."""

from __future__ import annotations

import pytest

from cudalint.facts import AccessResult
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = """
__global__ void k(const unsigned long *rows, const int *counts, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float sum = 0;
    %s
    y[i] = sum;
}
void run(unsigned long *rows, int *counts, float *x, float *y) { k<<<1024, 256>>>(rows, counts, x, y); }
"""


def _of(array: str, code: str) -> AccessResult:
    kernel = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _KERNEL % code),))).kernels[0]
    return next(access.results[0] for access in kernel.accesses if access.array == array)


def test_lists_lie_apart() -> None:
    result = _of("x", "for (int j = counts[i]; j < counts[i + 1]; j++) sum += x[j];")
    assert result.status == "range" and (result.sectors_per_request or 0) > 16


def test_what_no_loop_walks_from_may_lead_anywhere() -> None:
    assert _of("x", "sum = x[counts[i]];").status == "data-dependent"
    assert _of("x", "sum = x[counts[i]]; for (int j = 0; j < counts[i]; j++) sum += y[j];").status == "data-dependent"


def test_packed_starts_of_lists_lie_apart_too() -> None:
    """What stands for a word of 64 bits has 32 of them: its upper half must not send all lanes to one place."""
    code = "unsigned long row = rows[i]; for (unsigned j = row >> 32; j < (unsigned)row; j++) sum += x[j];"
    result = _of("x", code)
    assert result.status == "range" and (result.sectors_per_request or 0) > 16


@pytest.mark.parametrize(
    ("code", "sectors", "status"),
    [
        ("if (t < counts[blockIdx.x]) sum = x[i];", 4, "range"),
        ("sum = t < counts[blockIdx.x] || t > 99 ? x[i] : 1;", 4, "range"),
        ("for (int j = t; j < counts[blockIdx.x]; j += 256) sum += x[j];", 4, "range"),
        ("if (t < counts[0]) sum = x[i];", 4, "range"),
        # All lanes of a warp or none of them.
        ("if (i / 32 < counts[blockIdx.x]) sum = x[i];", 4, "exact"),
        ("if (counts[blockIdx.x] > 7) sum = x[i];", 4, "exact"),
        # One sector is one sector.
        ("if (t < counts[blockIdx.x]) sum = x[blockIdx.x];", 1, "exact"),
    ],
)
def test_what_data_cuts_a_warp_short_by_is_told(code: str, sectors: int, status: str) -> None:
    """The figure is for warps that are whole, and a range wherever data may take lanes of one away."""
    result = _of("x", code)
    assert (result.status, result.sectors_per_request, result.reached_by_data) == (status, sectors, True)
