"""Functions of host code that launch kernels and are called through pointers."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

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


@pytest.mark.parametrize(
    ("table", "statements", "expected"),
    [
        ("{launch<1>, launch<2>, launch<1 + 3>}", "all[2](x, 3, 96)", ["k<4>"]),
        ("{launch< 1 >, &launch<2>}", "auto f = all[1]; f(x, 3, 96)", ["k<2>"]),
        ("{launch<1>, launch<2>}", "for (auto f : all) f(x, 3, 96)", ["k<1>", "k<2>"]),
        ("{launch<1>, launch<2>}", "for (int i = 0; i < 2; i++) (*all[i])(x, 3, 96)", ["k<1>", "k<2>"]),
    ],
)
def test_a_table_of_instantiations_is_followed(table: str, statements: str, expected: list[str]) -> None:
    source = _SOURCE % ("", f"Launcher all[] = {table}; {statements}")
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),)))
    called = [kernel.instantiation for kernel in facts.kernels if kernel.launches[0].block == (96, 1, 1)]
    assert called == expected
