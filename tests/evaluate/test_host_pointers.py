"""Functions of host code that launch kernels and are called through pointers."""

from __future__ import annotations

import pytest

from cudalint.analysis import analyse_file
from cudalint.options import AnalysisOptions

_SOURCE = """
template <int N> __global__ void k(float *x, int stride) { x[(blockIdx.x * 128 + threadIdx.x) * stride * N] = 0; }
template <int N> void launch(float *x, int stride, int threads) { k<N><<<8, threads>>>(x, stride); }
typedef void (*Launcher)(float *, int, int);
void through(void (*f)(float *, int, int), float *x) { %s; }
int main() {
    float *x;
    cudaMalloc(&x, 1 << 20);
    %s;
}
"""


@pytest.mark.parametrize(
    ("call", "statements"),
    [
        ("f(x, 3, 96)", "through(launch<2>, x)"),
        ("(*f)(x, 3, 96)", "through(launch<2>, x)"),
        ("(**f)(x, 3, 96)", "through(&launch<2>, x)"),
        ("", "Launcher f = launch<2>; f(x, 3, 96)"),
        ("", "auto f = &launch<2>; int threads = 96; (*f)(x, 3, threads)"),
    ],
)
def test_a_call_through_a_pointer_has_its_arguments(call: str, statements: str) -> None:
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _SOURCE % (call, statements)),)))
    (kernel,) = facts.kernels
    (launch,) = kernel.launches
    assert (kernel.instantiation, launch.block, launch.parameters) == ("k<2>", (96, 1, 1), {"stride": 3})
