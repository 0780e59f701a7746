"""Lanes that are sent to lists of their own by loaded numbers, and guards that compare lanes with one loaded number."""

from __future__ import annotations

import pytest

from cudalint.driver.analysis import analyse_file
from cudalint.facts import AccessResult
from cudalint.options.analysis import AnalysisOptions

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


def test_packed_starts_of_lists_are_unknown() -> None:
    """What stands for a word of 64 bits has 32 of them: its upper half would send all lanes to one place."""
    code = "unsigned long row = rows[i]; for (unsigned j = row >> 32; j < (unsigned)row; j++) sum += x[j];"
    assert _of("x", code).status == "data-dependent"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("if (t < counts[blockIdx.x]) sum = x[i];", "assumed"),
        ("sum = t < counts[blockIdx.x] || t > 99 ? x[i] : 1;", "assumed"),
        ("for (int j = t; j < counts[blockIdx.x]; j += 256) sum += x[j];", "assumed"),
        ("if (t < counts[0]) sum = x[i];", "assumed"),
        # All lanes of a warp or none of them, and the size of all.
        ("if (counts[blockIdx.x] > 7) sum = x[i];", "exact"),
        ("if (i / 32 < counts[blockIdx.x]) sum = x[i];", "exact"),
        ("if (i < counts[0]) sum = x[i];", "exact"),
        # One sector is one sector.
        ("if (t < counts[blockIdx.x]) sum = x[blockIdx.x];", "exact"),
    ],
)
def test_what_cuts_a_warp_short_is_assumed_not_to(code: str, status: str) -> None:
    result = _of("x", code)
    assert result.status == status
    assert any("loaded from `counts`" in text for text in result.assumptions) is (status == "assumed")
