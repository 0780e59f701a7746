"""Numbers of the host code that are not known before the program runs, although they start as something known."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_PROGRAM = """
#include <fstream>
#include <utility>
int power_of_two(int size, int *power) {
    for (int i = 0; i < 24; i++) if (size == 1 << i) { *power = i; return 0; }
    return 1;
}
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
        # Which iteration it is that finds it is not known.
        "int size = atoi(argv[1]); for (int i = 0; i < 24; i++) if (size == 1 << i) { n = i; break; }",
        "int size = atoi(argv[1]); for (n = 0; n < 24; n++) if (size == 1 << n) break;",
        "power_of_two(atoi(argv[1]), &n);",
        # A file of numbers that are all read as floating-point ones, and how many cells there are in a width.
        "float read(FILE *); n = (int)read(stdin);",
        "float read(FILE *), width = read(stdin), step = read(stdin); n = ceil(width / step) + 1;",
        # Between a pointer and the end that a function finds.
        "float *unique(float *, float *), *all = unique(0, 0); n = unique(all, all + 99) - all;",
    ],
)
def test_a_count_of_zero_is_what_stands_there_before_it_is_known(code: str) -> None:
    parameters, result = _facts(code)
    assert "n" not in parameters
    # As many as there are fill whole warps; the number of them is not seen.
    assert (result.status, result.sectors_per_request, result.condition) == ("assumed", 4.0, "")


@pytest.mark.parametrize(
    ("code", "n"),
    [
        ("for (int i = 0; i < 10; i++) n += 3;", 30),
        ("for (int i = 0; i < 10; i++) if (i % 2) n++;", 5),
        ("for (int i = 0; i < 24; i++) if (4096 == 1 << i) { n = i; break; }", 12),
        ("n = 64; for (int i = 0; i < 24; i++) if (rand() == i) break;", 64),
        ("power_of_two(4096, &n);", 12),
        ("n = 64; for (int i = 0; i < argc; i++) { int m = std::forward<int &>(n); rand(); }", 64),
    ],
)
def test_defaults_and_what_can_be_counted_stay(code: str, n: int) -> None:
    parameters, _ = _facts(code)
    assert parameters["n"] == n


_TWO = """
#include <cstdio>
#include <iostream>
__global__ void k(float *a, int w, int h) { a[(w - h) * threadIdx.x] = 1; }
int scan(const char *s) { int v; sscanf(s, "%%d", &v); return v; }
int get() { int v; std::cin >> v; return v; }
int elsewhere(const char *name);
int ask(const char *name) { return elsewhere(name); }
int option(int argc, char **argv, char name) {
    int v = 0;
    for (int i = 0; i < argc; i++) if (argv[i][1] == name) v = atoi(argv[i + 1]);
    return v;
}
int sum(int *v) { int s = 0; for (int i = 0; i < v[0]; i++) s += v[i]; return s; }
int main(int argc, char **argv) { %s k<<<1, 128>>>(0, w, h); }
"""


@pytest.mark.parametrize(
    "code",
    [
        "int w = scan(argv[1]), h = scan(argv[2]);",
        "int w = get(), h = get();",
        "int w = ask(argv[1]), h = ask(argv[2]);",
        "int w = option(argc, argv, 'w'), h = option(argc, argv, 'h');",
        "int w = sum((int *)argv[1]), h = sum((int *)argv[2]);",
        "int n[2]; for (int i = 0; i < 2; i++) fscanf(stdin, \"%d\", &n[i]); int w = n[0], h = n[1];",
    ],
)
def test_what_two_calls_find_are_two_numbers(code: str) -> None:
    kernel = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _TWO % code),))).kernels[0]
    # If both were the same, all lanes would store to one element: 1 sector.
    assert kernel.accesses[0].results[0].sectors_per_request == 32.0


_LOADED = """
#include <cstdio>
bool read(const char *path, float *v);
bool load(const char *path, int &n) {
    float v[2];
    if (!read(path, v)) return false;
    n = (int)v[0];
    return n > 0;
}
__global__ void k(float *a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main(int argc, char **argv) {
    int n = 0;
    if (%s) puts(argv[1]); else n = 640;
    k<<<(n + 127) / 128, 128>>>(0, n);
}
"""


@pytest.mark.parametrize(
    ("condition", "is_its_own"),
    [
        ("argc > 1 && load(argv[1], n)", True),
        ("argc == 2 && load(argv[1], n)", True),
        # The file is read in any case.
        ("load(\"sizes.txt\", n)", False),
    ],
)
def test_what_a_program_has_without_options_stands_for_what_they_give(condition: str, is_its_own: bool) -> None:
    launch = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _LOADED % condition),))).kernels[0].launches[0]
    assert (launch.grid == (5, 1, 1)) == is_its_own
