"""Loads that a loop does not change, against the lines that nvcc 13.0 gives them (nvdisasm -g, sm_90)."""

from __future__ import annotations

import pytest

from cudalint.driver.analysis import analyse_file
from cudalint.options.analysis import AnalysisOptions

_PLAIN, _RESTRICT = "const float* p, float* o, int n", "const float* __restrict__ p, float* __restrict__ o, int n"
_CASES = [
    # parameters, the loop from line 4 on, lines on which `p` is loaded
    (_PLAIN, "for (int j = 0; j < n; j++) {\n s += p[i]\n * p[j];\n }", [4, 6]),
    (_PLAIN, "for (int j = 0; j < n; j++) {\n for (int k = 0; k < n; k++)\n s += p[j * 7 + i] * p[k];\n }", [5, 6]),
    # What is stored may be the same memory, unless the parameter says that nothing else points to it.
    (_PLAIN, "for (int j = 0; j < n; j++) {\n o[j * n + i] = p[i];\n }", [5]),
    (_RESTRICT, "for (int j = 0; j < n; j++) {\n o[j * n + i] = p[i] * p[j];\n }", [4, 5]),
    # Behind a condition of its own nothing is loaded ahead of time, nor is what the loop changes.
    (_PLAIN, "for (int j = 0; j < n; j++) {\n if (j == i) continue;\n s += p[i];\n }", [6]),
    (_PLAIN, "for (int j = 0; j < n; j++) {\n s += p[i]; __syncthreads();\n }", [5]),
    ("volatile float* p, float* o, int n", "for (int j = 0; j < n; j++) {\n s += p[i];\n }", [5]),
]


@pytest.mark.parametrize(("parameters", "loop", "lines"), _CASES)
def test_what_a_loop_does_not_change_is_loaded_at_its_head(parameters: str, loop: str, lines: list[int]) -> None:
    source = (
        f"__global__ void k({parameters}) {{\nint i = blockIdx.x * blockDim.x + threadIdx.x;\nfloat s = 0;\n{loop}\n"
        "o[i] = s;\n}"
    )
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert sorted({a.position[0] for a in kernel.accesses if a.array == "p"}) == lines


def test_a_loop_that_is_counted_out_may_not_turn() -> None:
    """The compiler does not know that it does, and loads nothing ahead of it."""
    source = """
__global__ void k(const float* p, float* o, int n, int m) {
    float s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += p[threadIdx.x + j] * i;
    o[threadIdx.x] = s;
}
int main(int argc, char** argv) { float *p, *o; k<<<1, 32>>>(p, o, atoi(argv[1]), 2); }
"""
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert {a.position[0] for a in kernel.accesses if a.array == "p"} == {6}
