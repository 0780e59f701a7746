"""Sizes that grids are rounded up from, in the ways in which people write it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.facts import Tiling
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_HELPERS = """
#include <cmath>
#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
template <typename T> T ceil_div(T n, T d) { return (n + d - 1) / d; }
static inline int blocks_for(const int n, const int d) { return n % d == 0 ? n / d : n / d + 1; }
struct Options { int rows; };
__global__ void k(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
"""


def _tilings(statements: str, grid: str) -> tuple[Tiling, ...]:
    source = f"{_HELPERS}\nint main(int argc, char **) {{ {statements} k<<<{grid}, 32>>>(0, 1); }}"
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),)))
    site = facts.kernels[0].launches[0].site
    assert site is not None
    return site.tilings


@pytest.mark.parametrize(
    "grid",
    [
        *["(n + 31) / 32", "(n + 32 - 1) / 32", "(32 - 1 + n) / 32", "(n - 1 + T) / T", "(n + (T - 1)) / T"],
        *["(n - 1) / 32 + 1", "1 + (n - 1) / 32", "n / T + (n % T != 0)", "n / T + (n % T ? 1 : 0)"],
        *["n % T == 0 ? n / T : n / T + 1", "DIV_UP(n, T)", "ceil_div(n, T)", "ceil_div<int>(n, 32)"],
        *["blocks_for(n, T)", "(unsigned)ceil(n / 32.0)", "(int)ceilf((float)n / T)", "std::ceil((double)n / T)"],
        *["blocks", "dim3((n + 31) / 32)", "grid", "set", "dim3(grid)"],
    ],
)
def test_spellings(grid: str) -> None:
    before = """
    int n = 65; int T = 32; int blocks = (n + T - 1) / T;
    dim3 grid((n + T - 1) / T, 1, 1); dim3 set; set.x = (n + 31) / 32;
    """
    (tiling,) = _tilings(before, grid)
    assert (tiling.axis, tiling.size, tiling.tile, tiling.size_text) == ("x", 65, 32, "n")


@pytest.mark.parametrize(
    "grid",
    [
        *["n / 32", "3", "n", "(n + 7) / 32", "(n + 32) / 32", "(argc + 31) / 32", "(n + argc - 1) / argc"],
        # What the variable was set to is not what it is.
        *["changed", "dim3(changed)"],
    ],
)
def test_what_is_not_rounded_up(grid: str) -> None:
    before = "const int n = 65; int changed = (n + 31) / 32; changed *= 2;"
    assert _tilings(before, grid) == ()


def test_all_axes_and_names() -> None:
    before = "Options o = {100}; int width = 70;"
    x, y, z = _tilings(before, "dim3((width + 15) / 16, (o.rows + 7) / 8, (9 + 3) / 4)")
    assert (x.size, x.tile, x.size_text, x.blocks) == (70, 16, "width", 5)
    assert (y.axis, y.size, y.tile, y.size_text) == ("y", 100, 8, "rows")
    assert (z.size, z.tile, z.size_text) == (9, 4, "9")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5000), st.integers(2, 1024), st.booleans())
def test_every_size(size: int, tile: int, by_function: bool) -> None:
    grid = "ceil_div(n, t)" if by_function else "(n + t - 1) / t"
    (tiling,) = _tilings(f"int n = {size}, t = {tile};", grid)
    assert (tiling.size, tiling.tile) == (size, tile)
