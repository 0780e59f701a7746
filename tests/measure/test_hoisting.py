"""Loads that a loop does not change, against the lines that nvcc 13.0 gives them (nvdisasm -g, sm_90)."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

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


_ROWS = """
__global__ void k(const double* __restrict__ p, const double* __restrict__ g, double* __restrict__ o) {
    int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    double h[4];
    for (int j = 0; j < 4; j++)
        BODY
    STORE
}
int main() { double *p, *g, *o; k<<<64, 32>>>(p, g, o); }
"""
_STORE = "o[i] = h[0] + h[1] + h[2] + h[3];"


@pytest.mark.parametrize(
    ("body", "store", "requests"),
    [
        # 64 warps; each turn loads the same, so that the first one's load is the only one (measured on an H200).
        ("h[j] = p[i] * g[j];", _STORE, 64),
        ("h[j] = p[i + j] * g[j];", _STORE, 4 * 64),
        # What is stored may be what is loaded.
        ("o[i + j] = p[i] * g[j];", "", 64),
        ("{ const double* q = o; o[i + j] = q[i] * g[j]; }", "", 4 * 64),
    ],
)
def test_the_turns_of_a_short_loop_load_the_same(body: str, store: str, requests: int) -> None:
    source = _ROWS.replace("BODY", body).replace("STORE", store)
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    loads = [a for a in kernel.accesses if a.operation == "load" and a.array != "g"]
    assert [(a.position[0], a.results[0].requests) for a in loads] == [(6, requests)]
