"""Numbers of the host code that are not known before the program runs, although they start as something known."""

from __future__ import annotations

import pytest

from cudalint.analysis import analyse_file
from cudalint.options import AnalysisOptions

_PROGRAM = """
#include <fstream>
#include <utility>
__global__ void k(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 1;
}
int main(int argc, char **argv) {
    int n = 0;
    %s
    k<<<(n + 127) / 128, 128>>>(0, n);
}
"""


def _facts(code: str):  # type: ignore[no-untyped-def]
    kernel = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _PROGRAM % code),))).kernels[0]
    return dict(kernel.launches[0].parameters), kernel.accesses[0].results[0]


@pytest.mark.parametrize(
    "code",
    [
        "std::ifstream in(argv[1]); in >> n;",
        "std::ifstream in(argv[1]); if (in.is_open()) { in >> n; }",
        "if (argc > 1) n = atoi(argv[1]);",
        "for (int i = 0; i < 10; i++) if (rand() % 2) n++;",
        "int level = 0; do { if (rand()) { n += 1; } level--; } while (level >= 0);",
    ],
)
def test_a_count_of_zero_is_what_stands_there_before_it_is_known(code: str) -> None:
    parameters, result = _facts(code)
    assert "n" not in parameters
    assert (result.status, result.sectors_per_request) == ("exact", 4.0)


@pytest.mark.parametrize(
    ("code", "n"),
    [
        ("for (int i = 0; i < 10; i++) n += 3;", 30),
        ("for (int i = 0; i < 10; i++) if (i % 2) n++;", 5),
        ("n = 64; for (int i = 0; i < argc; i++) { int m = std::forward<int &>(n); rand(); }", 64),
    ],
)
def test_defaults_and_what_can_be_counted_stay(code: str, n: int) -> None:
    parameters, _ = _facts(code)
    assert parameters["n"] == n
