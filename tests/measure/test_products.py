"""Products of matrices, against the pairs of elements that all threads multiply, one by one."""

from __future__ import annotations

import pytest
from executing import kernel_in

from cudalint.execute.counted import CountedProgram
from cudalint.execute.lanes import Lanes
from cudalint.execute.machine import Machine
from cudalint.measure.providers.products import Product, other_blocks, products
from cudalint.measure.work.counts import laid_out
from cudalint.measure.work.lengths import Lengths
from cudalint.worlds.open_sizes import NONE_OPEN

BLOCK, BLOCKS, N = 64, 3, 32


def _found(body: str) -> list[Product]:
    kernel = kernel_in(f"__global__ void k(const float *a, const float *b, float *c, int n) {{ {body} }}")
    lanes = Lanes((BLOCK, 1, 1), (BLOCKS, 1, 1), [(x, 0, 0) for x in range(BLOCKS)])
    given = {p: N for p in kernel.parameters if p.name == "n"}
    trace = Machine(lanes, CountedProgram()).run(kernel, dict(given))
    return list(products(trace, kernel, Lengths(trace, laid_out(kernel), NONE_OPEN, float(BLOCK * BLOCKS))))


@pytest.mark.parametrize("left", ["i / 8", "i % 16", "i", "i / 32", "7"])
@pytest.mark.parametrize("right", ["i % 8", "i / 8", "i", "3"])
def test_elements_that_meet(left: str, right: str) -> None:
    (found,) = _found(f"""
        int i = blockIdx.x * {BLOCK} + threadIdx.x; float sum = 0.0f;
        for (int k = 0; k < n; k++) sum += a[({left}) * n + k] * b[k * n + ({right})];
        c[i] = sum;""")
    threads = range(BLOCK * BLOCKS)
    pairs = {(eval(left.replace("/", "//"), {"i": i}), eval(right.replace("/", "//"), {"i": i})) for i in threads}
    assert found.rows == pytest.approx(len(pairs) / len({r for _, r in pairs}))
    assert found.columns == pytest.approx(len(pairs) / len({own for own, _ in pairs}))
    assert found.terms == N
    assert found.operations == 2 * N * len(threads)


_TILE = "int t = threadIdx.x; float sum = 0.0f, sums[4][4] = {}, left[4], right[4];"


@pytest.mark.parametrize(
    ("loop", "rows", "columns", "terms"),
    [
        # 4 elements of the left array, which are the same for all threads, and 4 of each of 192 threads.
        ("""for (int k = 0; k < n; k++) {
                for (int i = 0; i < 4; i++) { left[i] = a[k * 4 + i]; right[i] = b[k * 768 + 4 * g + i]; }
                for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) sums[i][j] += left[i] * right[j]; }""",
         4, 768, N),
        # The same elements, each multiplied by one of the other 4: four terms of one sum.
        ("""for (int k = 0; k < n; k++) {
                for (int i = 0; i < 4; i++) { left[i] = a[k * 4 + i]; right[i] = b[k * 768 + 4 * g + i]; }
                for (int i = 0; i < 4; i++) sum += left[i] * right[i]; }""",
         1, 192, 4 * N),
        # Sums that are kept in memory, one for each turn of the loop around.
        ("""for (int j = 0; j < 16; j++)
                for (int k = 0; k < n; k++) c[j * 192 + g] += a[k * 192 + g] * b[k * 16 + j];""",
         192, 16, N),
    ],
)  # fmt: skip
def test_sums_of_a_thread(loop: str, rows: int, columns: int, terms: int) -> None:
    (found,) = _found(f"{_TILE} int g = blockIdx.x * {BLOCK} + t; {loop} c[g] = sum + sums[1][2];")
    assert (found.rows, found.columns, found.terms) == (rows, columns, terms)


@pytest.mark.parametrize(
    "body",
    [
        "float d = a[k] - b[t]; sum += d * d;",  # computed from both
        "sum = a[k] * b[t];",  # no sum
        "float own = 0.0f; own += a[k] * b[t]; c[t] = own;",  # begins anew
        "sum += a[k] * 2.0f;",  # one array
        "c[k] += a[k] * b[t];",  # another place each time
    ],
)
def test_what_is_no_sum_of_products(body: str) -> None:
    assert not _found(f"int t = threadIdx.x; float sum = 0.0f; for (int k = 0; k < n; k++) {{ {body} }} c[t] = sum;")


@pytest.mark.parametrize("grid", [(1, 1, 1), (5, 1, 1), (4096, 1, 1), (64, 64, 1), (3, 70, 2)])
def test_blocks_lie_in_the_grid(grid: tuple[int, int, int]) -> None:
    for sample in other_blocks(grid):
        assert len(set(sample.places)) == len(sample.places)
        assert all(0 <= place[axis] < grid[axis] for place in sample.places for axis in range(3))
