"""Loads whose value the compiler still has, read from what nvcc 13.0 makes of the same kernels (nvdisasm, sm_90)."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_BODY = """
    o[i] = a[i] + b[0];
    p[i] = a[i] * b[0];
    __syncthreads();
    p[i + 7] = a[i] * b[1] + p[i];
}
"""


@pytest.mark.parametrize(
    ("parameters", "loaded"),
    [
        # Lines on which `a` and `b` are loaded; a store to what may be the same memory makes the compiler load again.
        ("const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ o, float *__restrict__ p",
         {"a": [3], "b": [3, 6]}),
        ("const float *a, const float *b, float *o, float *p", {"a": [3, 4, 6], "b": [3, 4, 6]}),
        ("const float *__restrict__ a, const float *b, float *o, float *p", {"a": [3], "b": [3, 4, 6]}),
        ("float *__restrict__ a, const float *b, float *__restrict__ o, float *p", {"a": [3], "b": [3, 6]}),
        # A name for the type says it as well.
        ("in_t a, in_t b, pointer<float> o, pointer<float> p", {"a": [3], "b": [3, 6]}),
    ],
)  # fmt: skip
def test_nothing_else_points_to_what_restrict_names(parameters: str, loaded: dict[str, list[int]]) -> None:
    types = "typedef const float *__restrict__ in_t; template <class T> using pointer = T *__restrict__;"
    source = f"{types}\n__global__ void k({parameters}, int i) {{{_BODY}"
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    found = {
        name: sorted({a.place.line for a in kernel.accesses if a.array == name and a.results[0].status != "unknown"})
        for name in loaded
    }
    assert found == loaded


def test_a_load_in_a_branch_is_not_kept_over_a_barrier_behind_it() -> None:
    """As nvcc has it: what was loaded under a condition is loaded again under the same one after a barrier."""
    body = """
    if (i < 99) p[i] = a[i];
    __syncthreads();
    if (i < 99) p[i + 7] = a[i];
}
"""
    source = f"\n__global__ void k(const float *__restrict__ a, float *__restrict__ p, int i) {{{body}"
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert [access.results[0].status for access in kernel.accesses if access.array == "a"] == ["assumed", "assumed"]
