"""Kernels are found in the text alone."""

from __future__ import annotations

import pytest
from definitions import Definition, kernel_definitions


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("__global__ void k() {}", [1]),
        ("template <int N = f<3>()>\n__global__ void __launch_bounds__(256, 2) k(int a = g(1))\n{\n}", [2]),
        ("__global__ void k();\nvoid __global__ k() { }", [2]),
        ("// __global__ void a() {}\n/* __global__ void b() {} */ __global__ void c() {}", [2]),
        ('const char *s = "__global__ void a() {}";', []),
        ('auto s = R"(\n__global__ void a() {}\n)";\n__global__ void k() {}', [4]),
        ("#define K \\\n  __global__ void a() {}\n__global__ void k() {}", [3]),
        ("template __global__ void k<3>(float *);", []),
        ("int million = 1'000'000; __global__ void k() { char c = '\"'; }", [1]),
    ],
)
def test_definitions(source: str, lines: list[int]) -> None:
    assert [definition.line for definition in kernel_definitions(source, [])] == lines


def test_what_the_preprocessor_leaves_out() -> None:
    source = "#if 0\n__global__ void a() {}\n#endif\n__global__ void b() {}"
    assert list(kernel_definitions(source, [(1, 3)])) == [Definition(4, 1)]


def test_columns_count_bytes() -> None:
    assert list(kernel_definitions("/* é */ __global__ void k() {}", [])) == [Definition(1, 10)]
