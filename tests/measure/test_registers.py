"""The registers that values take at the same time, by arithmetic; where `ptxas` is named, it is 13.0 for sm_80."""

from __future__ import annotations

import pytest
from executing import kernel_in

from cudalint.measure.work.counts import laid_out
from cudalint.measure.work.registers import MOST, registers_of


def _registers(source: str) -> int:
    return registers_of(laid_out(kernel_in(source)))


_TILED = """
__global__ void k(%(type)s *c, const %(type)s *a, const %(type)s *b, int n) {
    %(type)s sums[%(tile)d][%(tile)d] = {};
    for (int i = 0; i < n; i++) {
        %(type)s left[%(tile)d], right[%(tile)d];
        for (int y = 0; y < %(tile)d; y++) left[y] = a[i * 64 + y * 8 + threadIdx.x];
        for (int x = 0; x < %(tile)d; x++) right[x] = b[i * 64 + x * 8 + threadIdx.x];
        for (int y = 0; y < %(tile)d; y++)
            for (int x = 0; x < %(tile)d; x++) sums[y][x] += left[y] * right[x];
    }
    for (int y = 0; y < %(tile)d; y++)
        for (int x = 0; x < %(tile)d; x++) c[(y * %(tile)d + x) * 256 + threadIdx.x] = sums[y][x];
}
"""


@pytest.mark.parametrize(
    ("type_", "words", "tile", "compiled"),
    [("float", 1, 4, 40), ("float", 1, 6, 56), ("double", 2, 4, 56), ("double", 2, 6, 104)],
)
def test_tiles_in_registers(type_: str, words: int, tile: int, compiled: int) -> None:
    """The sums are alive throughout, and one turn's operands when the last of them is there: tile * (tile + 2) values.
    `ptxas` tells the most."""
    held = words * tile * (tile + 2)
    assert held < _registers(_TILED % {"type": type_, "tile": tile}) <= compiled


def test_there_are_no_more_than_instructions_can_name() -> None:
    assert _registers(_TILED % {"type": "double", "tile": 12}) == MOST == 255


def test_a_value_from_before_a_loop_is_alive_in_all_of_it() -> None:
    """The twelve that the loop's turns add; in the other kernel each is done with when the next is loaded."""
    loads = "".join(f"float v{i} = in[threadIdx.x + {i} * 1024];" for i in range(12))
    turns = "for (int i = 0; i < n; i++) {{ sum = sum * 0.5f; {} }}".format("".join(f"sum += v{i};" for i in range(12)))
    once = "".join(f"sum = sum * 0.5f + in[threadIdx.x + {i} * 1024];" for i in range(12))
    head = "__global__ void k(float *out, const float *__restrict__ in, int n) { float sum = 0; "
    held, one_by_one = (_registers(f"{head} {body} out[threadIdx.x] = sum; }}") for body in (loads + turns, once))
    assert 12 <= held <= 18
    assert one_by_one <= 6


def test_the_sides_of_a_branch_are_not_added() -> None:
    """Ten values are computed in either side, and as many of the ones before are chosen: ten, and not twenty."""
    declared = "".join(f"float v{i} = {i};" for i in range(10))
    one = "".join(f"v{i} = in[threadIdx.x * 64 + {i}];" for i in range(10))
    other = "".join(f"v{i} = in[threadIdx.x * 64 + {i} + 20] * 3;" for i in range(10))
    stored = "".join(f"out[threadIdx.x * 64 + {i}] = v{i};" for i in range(10))
    head = "__global__ void k(float *out, const float *in, int n)"
    source = f"{head} {{ {declared} if (n > 7) {{ {one} }} else {{ {other} }} {stored} }}"
    assert 10 <= _registers(source) <= 18


def test_what_is_added_up_is_one_value() -> None:
    """64 numbers that are loaded and added are never there at the same time, and neither are their sums so far."""
    source = """
__global__ void k(int *out) {
    __shared__ int in[64], sums[65];
    in[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    sums[0] = 0;
    for (int i = 1; i <= 64; i++) sums[i] = sums[i - 1] + in[i - 1];
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x];
}"""
    assert _registers(source) <= 10


def test_a_division_takes_registers_of_its_own() -> None:
    """`ptxas` gives the same kernel 12 more for a division of doubles than for a product."""
    source = """
__global__ void k(double *out, const double *in) {
    double v[8];
    for (int j = 0; j < 8; j++) v[j] = in[threadIdx.x + 32 * j];
    double r = v[0] %s v[1];
    out[threadIdx.x] = r;
    for (int j = 2; j < 8; j++) r = r * v[j] + v[j - 1];
    out[threadIdx.x + 1024] = r;
}"""
    assert 8 <= _registers(source % "/") - _registers(source % "*") <= 12


def test_matrices_for_tensor_cores() -> None:
    """256 elements of 4 bytes are 8 registers of each of 32 lanes, 256 of 2 bytes 4: 8 * 8 + (2 + 4) * 4 are 88."""
    source = """
#include <mma.h>
using namespace nvcuda;
__global__ void k(half *a, half *b, float *o, int n) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[2][4];
    for (int i = 0; i < 2; i++) for (int j = 0; j < 4; j++) wmma::fill_fragment(c[i][j], 0.0f);
    for (int k = 0; k < n; k++) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y[4];
        for (int i = 0; i < 2; i++) wmma::load_matrix_sync(x[i], a + i * 16 + k * 1024, 64);
        for (int j = 0; j < 4; j++) wmma::load_matrix_sync(y[j], b + j * 16 + k * 1024, 64);
        for (int i = 0; i < 2; i++) for (int j = 0; j < 4; j++) wmma::mma_sync(c[i][j], x[i], y[j], c[i][j]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) wmma::store_matrix_sync(o + i * 16 + 1024 * j, c[i][j], 64, wmma::mem_row_major);
}"""
    assert 88 <= _registers(source) <= 100
