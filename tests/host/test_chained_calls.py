"""Chains of calls whose bodies are not in sight, as loggers and builders have them, take time in proportion."""

from __future__ import annotations

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SOURCE = """
struct Options {
    Options &set(int n);
    Options with(int n) const;
    int block() const;
};
__global__ void k(float *x) { x[threadIdx.x] = 0; }
void run(Options options, float *x) {
    options%s;
    k<<<1, 64>>>(x);
}
"""


def test_each_link_is_followed_once() -> None:
    """Twice would be 2^60 calls."""
    for link in (".set(1)", ".with(2)"):
        text = _SOURCE % (link * 60)
        [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", text),))).kernels
        assert [launch.block for launch in kernel.launches] == [(64, 1, 1)]
