"""Sizes that may be smaller than a block: a figure that is another one then says for which size it is told."""

from __future__ import annotations

import pytest

from cudalint.facts import AccessResult
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_HOST = "int main(int, char **v) { int n = atoi(v[1]); k<<<%s, 256>>>(0, n); }"
_WITHIN_A_BLOCK = "__global__ void k(float *a, int n) { if (threadIdx.x < n) a[blockIdx.x * 256 + threadIdx.x] = 1; }"
_ROWS = """__global__ void k(float *a, int n) {
    for (int i = threadIdx.x; i < n; i += 256) a[blockIdx.x * 65536 + i] = 1;
}"""
_PIXELS = """__global__ void k(float *a, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    a[8 * (i / n)] = 1;
}"""
_ONE_EACH = """__global__ void k(float *a, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) a[i] = 1;
}"""


def _result(kernel: str, grid: str, assume: str = "") -> AccessResult:
    host = _HOST % grid
    source = f"#include <cstdlib>\n{assume}\n{kernel}\n{host}\n"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [access] = facts.accesses
    return access.results[0]


@pytest.mark.parametrize(
    ("kernel", "least"),
    [
        # 256 threads have work, or of 129 those of 4 warps and a lane: (4 * 4 + 1) / 5 sectors instead of 4.
        (_WITHIN_A_BLOCK, 256),
        # For 1025 elements of a row, 32 warps store 4 sectors and one stores 1: 129 / 33, 2.3 % less than 4; for 2049,
        # 257 / 65, which is as good as 4.
        (_ROWS, 2048),
    ],
)
def test_sizes_that_leave_lanes_without_work_are_assumed_to_be_large(kernel: str, least: int) -> None:
    result = _result(kernel, "8")
    assert (result.status, result.sectors_per_request) == ("assumed", 4)
    assert _assumed(result) >= least


_STRIDES = _ONE_EACH.replace("if (i < n) a", "for (; i < n; i += 256 * gridDim.x) a")
_SQUARE = _WITHIN_A_BLOCK.replace("blockIdx.x * 256", "blockIdx.x * 65536")


@pytest.mark.parametrize(
    ("kernel", "grid"), [(_ONE_EACH, "(n + 255) / 256"), (_STRIDES, "8"), (_SQUARE, "n")]
)
def test_sizes_that_a_grid_is_for_are_large(kernel: str, grid: str) -> None:
    result = _result(kernel, grid)
    assert (result.sectors_per_request, result.condition) == (4, "")
    assert _assumed(result) >= 2048


def _assumed(result: AccessResult) -> int:
    """The number that `n` is taken for."""
    [number] = [text.removeprefix("n = ") for text in result.assumptions if text.startswith("n = ")]
    return int(number)


def test_sizes_that_threads_are_divided_by_are_assumed_to_be_large() -> None:
    """Pixels of n channels are a sector apart, so that a warp with the end of one in it touches two. Of the 32 warps,
    one has it for 513 channels, which is 3.1 % more, and none for 1025."""
    result = _result(_PIXELS, "4")
    assert (result.status, result.sectors_per_request) == ("assumed", 1)
    assert _assumed(result) >= 1024


def test_a_size_beside_another_one_in_the_grid_may_be_small() -> None:
    """Few channels of many pixels are worth a grid, too. Each of 32 channels has an array of its own, and of 33 so does
    each lane's; of 31 or fewer, two pixels are neighbours in one."""
    source = """__global__ void k(float *a, int n, int m) {
        int i = blockIdx.x * 256 + threadIdx.x;
        a[i % n * 65536 + i / n] = 1;
    }
    int main(int, char **v) { int n = atoi(v[1]), m = atoi(v[2]); k<<<(n * m + 255) / 256, 256>>>(0, n, m); }"""
    source = f"#include <cstdlib>\n{source}\n"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [result] = facts.accesses[0].results
    assert result.status == "assumed"
    assert result.sectors_per_request == pytest.approx(min(32, _assumed(result)))


def test_what_the_user_states_need_not_be_assumed() -> None:
    result = _result(_WITHIN_A_BLOCK, "8", "// cudalint: assume(n >= 256)")
    assert (result.status, result.assumptions) == ("exact", ())



_PITCH = """__global__ void k(float *a, int n) {
    for (int j = 0; j < n; ++j) a[(blockIdx.x * 256 + threadIdx.x) * n + j] = 1;
}"""


def test_rows_of_threads_are_assumed_to_be_long() -> None:
    # Eight floats are a sector; of four, two lanes share one.
    result = _result(_PITCH, "8")
    assert (result.status, result.sectors_per_request) == ("assumed", 32)
    assert _assumed(result) >= 8


def test_rows_of_threads_that_are_known_to_be_long_are_not_assumed_to_be() -> None:
    result = _result(_PITCH, "8", "// cudalint: assume(n >= 8)")
    assert (result.status, result.assumptions, result.sectors_per_request) == ("exact", (), 32)


@pytest.mark.parametrize(("asked", "value"), [("n == 1", 0), ("n != 0 && n != 1", 2), ("n", 1)])
def test_numbers_that_are_only_asked_for_are_small(asked: str, value: int) -> None:
    source = f"__global__ void k(float *a, int n) {{ if ({asked}) a[threadIdx.x] = 1; else a[threadIdx.x + 1] = 1; }}"
    assert _given(source) == value


def test_numbers_that_something_is_computed_from_are_sizes() -> None:
    source = "__global__ void k(float *a, int n) { if (n == 1) a[threadIdx.x] = 1; else a[threadIdx.x * n] = 1; }"
    assert _given(source) > 32


def _given(kernel: str) -> int:
    """What `n` is taken for."""
    source = f"#include <cstdlib>\n{kernel}\n{_HOST % 8}\n"
    [facts] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    number = facts.launches[0].arguments["n"]
    assert isinstance(number, int)
    return number
