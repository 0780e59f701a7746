"""Which sums of products are matrix products, and how large those are."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import MatrixProductResult
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = """__global__ void sums(const float *a, const float *b, float *c) {{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    {body}
}}
void run(const float *a, const float *b, float *c) {{
    sums<<<{launch}>>>(a, b, c);
}}
"""
_SUM = "float s = 0.0f; for (int k = 0; k < {terms}; k++) s += {left} * {right}; c[y * 512 + x] = s;"
_TWICE = (
    "float s = 0; for (int o = 0; o < 4; o++) for (int k = 0; k < 16; k++)"
    " s += a[y * 64 + o * 16 + k] * b[(o * 16 + k) * 512 + x]; c[y * 512 + x] = s;"
)
_SQUARE = "dim3(32, 16), dim3(16, 16)"
"""512 columns and 256 rows."""


def _products(folder: Path, body: str, launch: str) -> list[MatrixProductResult]:
    source = folder / "sums.cu"
    source.write_text(_KERNEL.format(body=body, launch=launch))
    (kernel,) = analyse_file(str(source), AnalysisOptions(kinds=frozenset({"products"}))).kernels
    return [result for product in kernel.products for result in product.results]


@pytest.mark.parametrize(
    ("body", "launch", "rows", "columns", "terms"),
    [
        (_SUM.format(terms=64, left="a[y * 64 + k]", right="b[k * 512 + x]"), _SQUARE, 256, 512, 64),
        (_SUM.format(terms=64, left="2.0f * a[y * 64 + k]", right="b[k * 512 + x]"), _SQUARE, 256, 512, 64),
        # A scale for each row belongs to the row. The arrays stand in the order in which that is found.
        pytest.param(
            _SUM.format(terms=64, left="c[y] * a[y * 64 + k]", right="b[k * 512 + x]"), _SQUARE, 512, 256, 64,
            marks=pytest.mark.xfail(reason="a term of three factors is no product to it", strict=True),
        ),
        # One row of 512 for each block of 512 threads.
        (_SUM.format(terms=40, left="a[y * 40 + k]", right="b[x * 40 + k]"), "dim3(1, 96), 512", 96, 512, 40),
        # The rows of two threads are 16 steps of the sum apart: the sum goes over both loops.
        (
            _TWICE, _SQUARE, 256, 512, 64,
        ),
    ],
)  # fmt: skip
def test_extents(tmp_path: Path, body: str, launch: str, rows: int, columns: int, terms: int) -> None:
    """How many elements each one meets is found out until it is more than a tile has; the work is that of the whole."""
    (found,) = _products(tmp_path, body, launch)
    assert found.terms == terms
    assert 8 <= found.rows <= rows and 8 <= found.columns <= columns
    assert found.operations == pytest.approx(2 * rows * columns * terms)


@pytest.mark.parametrize(
    "body",
    [
        # Both factors are of one row, or each of the other's: nothing meets many others.
        _SUM.format(terms=64, left="a[y * 64 + k]", right="b[y * 64 + k]"),
        _SUM.format(terms=64, left="a[(y * 512 + x) * 64 + k]", right="b[k * 512 + x]"),
        # Not the elements are multiplied, but something that differs between threads.
        pytest.param(
            _SUM.format(terms=64, left="(a[y * 64 + k] + x)", right="(b[k * 512 + x] + y)"),
            marks=pytest.mark.xfail(reason="what else goes into a factor is not looked at", strict=True),
        ),
        # Data says which row it is, and who takes part.
        _SUM.format(terms=64, left="a[(int)c[y] * 64 + k]", right="b[k * 512 + x]"),
        pytest.param(
            "float s = 0; for (int k = 0; k < 64; k++) if (c[k] > 0) s += a[y * 64 + k] * b[k * 512 + x]; c[x] = s;",
            marks=pytest.mark.xfail(reason="that data decides which terms there are is not looked at", strict=True),
        ),
        # Each term goes into what is multiplied next.
        "float s = 1; for (int k = 0; k < 64; k++) s = s * a[y * 64 + k] + b[k * 512 + x]; c[y * 512 + x] = s;",
        # The largest of the products, and their product.
        "float s = 0; for (int k = 0; k < 64; k++) s = fmaxf(s, a[y * 64 + k] * b[k * 512 + x]); c[y * 512 + x] = s;",
        "float s = 1; for (int k = 0; k < 64; k++) s *= a[y * 64 + k] * b[k * 512 + x]; c[y * 512 + x] = s;",
    ],
)
def test_others(tmp_path: Path, body: str) -> None:
    assert _products(tmp_path, body, _SQUARE) == []
