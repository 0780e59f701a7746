"""Numbers that options may change: what is counted out by them is what it is for plain numbers, and says so."""

from __future__ import annotations

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_HOST = """
#include <cstdlib>
int levels(int n) {
    int found = 0;
    while (n > 1) { n >>= 1; found++; }
    return found;
}
int main(int argc, char **argv) {
    int n = %s;
    if (%s) n = atoi(argv[1]);
    %s
}
"""
_OPTION, _NONE = "argc > 1", "false"


def _kernel(code: str, n: int, launch: str, condition: str = _OPTION) -> KernelFacts:
    text = code + _HOST % (n, condition, launch)
    return analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", text),))).kernels[0]


_ELIMINATION = """
__global__ void k(float *a, int n, int steps) {
    __shared__ float s[256];
    int stride = 1;
    s[threadIdx.x] = s[threadIdx.x + n / 2] = 0;
    for (int j = 0; j < steps; j++) {
        __syncthreads();
        stride <<= 1;
        if (threadIdx.x < n / stride) s[stride * threadIdx.x + stride - 1] += 1;
    }
    if (threadIdx.x < 2) a[threadIdx.x] = s[%s];
}
"""


def test_host_loops_go_round_as_often_as_they_do_without_options() -> None:
    kernel = _kernel(_ELIMINATION % "threadIdx.x", 128, "k<<<8, n / 2>>>(0, n, levels(n));")
    (result,) = (r for a in kernel.accesses if a.place.line == 9 and a.operation == "store" for r in a.results)
    # In step j = 1..7 there are 128 >> j stores, 2**j words apart, by up to 64 threads: two warps in step 1, one later.
    # Of 32 lanes (all of them up to j = 2), min(32, 2**j) fall into each bank in turn, as far as there are so many:
    # 2, 2 | 4 | 16 lanes 8 apart: 4 | 8 lanes 16 apart: 4 | 4 lanes 32 apart: 4 | 2 | 1.
    assert result.wavefronts_per_request == pytest.approx((2 + 2 + 4 + 4 + 4 + 4 + 2 + 1) / 8)
    assert result.status == "assumed" and "n == 128" in result.assumptions


def test_a_block_of_a_default_size_is_that_of_the_launch() -> None:
    launch = _kernel(_ELIMINATION % "threadIdx.x", 128, "k<<<8, n / 2>>>(0, n, levels(n));").launches[0]
    assert (launch.block, launch.block_is_made_up) == ((64, 1, 1), False)
    assert launch.assumptions == ("n == 128", "steps == 7")


def test_a_default_that_no_block_can_have_is_none() -> None:
    launch = _kernel(_ELIMINATION % "threadIdx.x", 4096, "k<<<8, n / 2>>>(0, n, levels(n));").launches[0]
    assert launch.block_is_made_up and launch.assumptions[0].endswith("(the launch leaves it open)")


def test_a_race_by_default_is_certain() -> None:
    # After 7 steps, thread 0 has stored s[127], which thread 1 reads without a barrier.
    kernel = _kernel(_ELIMINATION % "stride - 1", 128, "k<<<8, n / 2>>>(0, n, levels(n));")
    assert ("certain", 9, 11) in [(r.certainty, r.first.place.line, r.second.place.line) for r in kernel.races or ()]


_FILL = "__global__ void k(float *a) { a[threadIdx.x] = 1; }"


@pytest.mark.parametrize("condition", [_OPTION, _NONE])
def test_launches_in_a_loop_by_default_are_followed(condition: str) -> None:
    kernel = _kernel(_FILL, 256, "for (int size = n; size > 16; size /= 2) k<<<1, size>>>(0);", condition)
    assert [launch.block[0] for launch in kernel.launches] == [256, 128, 64, 32]
    assert {launch.assumptions for launch in kernel.launches} == {("n == 256",) if condition == _OPTION else ()}


_HALVES = """
__global__ void k(float *a, int n) {
    __shared__ float s[128];
    s[threadIdx.x] = a[threadIdx.x];
    int length = n;
    while (length > 1) {
        __syncthreads();
        int half = (length + 1) / 2;
        if (threadIdx.x < length / 2) s[threadIdx.x] += s[threadIdx.x + half];
        length = half;
    }
    if (threadIdx.x == 0) a[0] = s[0];
}
"""


@pytest.mark.parametrize(("condition", "status"), [(_OPTION, "assumed"), (_NONE, "exact")])
def test_loops_without_closed_forms_are_counted_out_by_defaults(condition: str, status: str) -> None:
    kernel = _kernel(_HALVES, 100, "k<<<1, 128>>>(0, n);", condition)
    results = [r for a in kernel.accesses if a.place.line == 9 and a.operation == "store" for r in a.results]
    # Lengths of 100, 50, 25, 13, 7, 4, 2 have 50, 25, 12, 6, 3, 2, 1 active lanes: in two warps, then in one each.
    assert [result.active_lanes for result in results] == [pytest.approx(99 / 8)]
    assert [result.status for result in results] == [status]
    assert all(("n == 100" in result.assumptions) == (status == "assumed") for result in results)
    assert all(race.certainty != "certain" for race in kernel.races or ())


def test_what_the_user_states_of_a_default_comes_first() -> None:
    code = _HALVES.replace("float *a, int n) {", "float *a, int n) { // cudalint: assume(n == 4)")
    kernel = _kernel(code, 100, "k<<<1, 128>>>(0, n);")
    results = [r for a in kernel.accesses if a.place.line == 9 and a.operation == "store" for r in a.results]
    # Lengths of 4 and 2: 2 lanes, then 1.
    assert [result.active_lanes for result in results] == [pytest.approx(3 / 2)]


def test_a_small_default_is_assumed_where_a_large_number_shows_something_else() -> None:
    # One thread stores 8 bytes: 1 sector, as do 3 or 17 threads in theirs or nearly so; a full warp stores 8 sectors.
    kernel = _kernel(
        "__global__ void k(double *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 1; }",
        1, "k<<<(n + 255) / 256, 256>>>(0, n);",
    )  # fmt: skip
    [result] = kernel.accesses[0].results
    assert (result.status, result.assumptions, result.sectors_per_request) == ("assumed", ("n == 1",), 1)
