"""Numbers that lanes draw from a counter: neighbouring ones, from a start that nobody knows."""

from __future__ import annotations

import pytest

from cudalint.driver.analysis import analyse_file
from cudalint.facts import AccessResult
from cudalint.options.analysis import AnalysisOptions

_GROUP = """
#include <cooperative_groups.h>
__device__ int draw(int *counter) {
    auto group = cooperative_groups::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(counter, group.size());
    return group.shfl(first, 0) + group.thread_rank();
}
"""
_WORKERS = "while (true) { int i = atomicAdd(counter, 1); if (i >= 1000000) break; out[i] = 1; }"

_ANYWHERE = (4 + 7 * 5) / 8
"""Sectors of 32 neighbours of 4 bytes: 4 if the first one begins a sector, 5 from the seven other places on."""
_TWO_APART = (2 * 8 + 6 * 9) / 8
"""Of 63 elements from the first of a warp to its last: 8 from the first two places of a sector on, else 9."""


def _store(body: str, before: str = "") -> AccessResult:
    source = f"{before}__global__ void k(int *out, int *counter, const int *in) {{ {body} }}\n"
    source += "int main() { k<<<64, 256>>>(0, 0, 0); }"
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [result] = (a.results[0] for a in kernel.accesses if a.operation == "store" and a.array == "out")
    return result


@pytest.mark.parametrize(
    ("body", "before", "sectors"),
    [
        ("out[atomicAdd(counter, 1)] = 1;", "", _ANYWHERE),
        ("out[atomicAdd(counter, 2)] = 1;", "", _TWO_APART),
        ("int i = atomicAdd(counter, 1); if (i < 1000000) out[i] = 1;", "", _ANYWHERE),
        (_WORKERS, "", _ANYWHERE),
        ("out[draw(counter)] = 1;", _GROUP, _ANYWHERE),
    ],
)
def test_neighbours_draw_neighbouring_numbers(body: str, before: str, sectors: float) -> None:
    result = _store(body, before)
    assert result.status == "range"
    assert result.sectors_per_request == pytest.approx(sectors, rel=0.02)


def test_those_that_do_not_come_draw_none() -> None:
    # 16 lanes come, and store to 16 neighbours: 2 sectors from one place of eight on, else 3.
    result = _store("if (threadIdx.x % 2) out[atomicAdd(counter, 1)] = 1;")
    assert result.sectors_per_request == pytest.approx((2 + 7 * 3) / 8, rel=0.02)


def test_those_that_come_by_data_stand_side_by_side() -> None:
    result = _store("int i = blockIdx.x * 256 + threadIdx.x; if (in[i] % 2) out[atomicAdd(counter, 1)] = 1;")
    # About half of them come: a sector for each eight, and seven of eight times one more.
    assert result.status == "range"
    assert result.sectors_per_request == pytest.approx(16 / 8 + 7 / 8, rel=0.03)


@pytest.mark.parametrize("call", ["atomicAdd(counter + threadIdx.x % 4, 1)", "atomicAdd(counter, in[threadIdx.x])"])
def test_other_counters_say_nothing(call: str) -> None:
    assert _store(f"out[{call}] = 1;").sectors_per_request in (None, pytest.approx(32, rel=0.05))


_RANDOM = """#include <curand_kernel.h>
__global__ void k(float *out, const float *in, curandState *states, float part) {
    int i = blockIdx.x * 256 + threadIdx.x;
    curandState state = states[i], own;
    curand_init(i, 0, 0, &own);
    BODY
}
int main() { k<<<64, 256>>>(0, 0, 0, 0.25f); }
"""


@pytest.mark.parametrize(
    ("body", "sectors", "lanes"),
    [
        # Of a sector's eight lanes none comes with the probability of 0.75^8, and of 32 lanes a quarter do.
        ("if (curand_uniform(&state) < part) out[i] = 1;", 4 * (1 - 0.75**8), 8),
        ("if (curand(&own) & 1) out[i] = 1;", 4 * (1 - 0.5**8), 16),
        # 32 of 1000 elements, which are 125 sectors.
        ("out[i] = in[curand(&state) % 1000];", 125 * (1 - (1 - 1 / 125) ** 32), 32),
    ],
)
def test_random_numbers_are_spread_evenly(body: str, sectors: float, lanes: float) -> None:
    source = _RANDOM.replace("BODY", body)
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    array = "in" if "in[" in body else "out"
    [result] = (access.results[0] for access in kernel.accesses if access.array == array)
    assert result.status == "range"
    assert result.sectors_per_request == pytest.approx(sectors, rel=0.06)
    assert result.active_lanes == pytest.approx(lanes, rel=0.06)


def test_a_place_that_is_drawn_depends_on_data() -> None:
    source = _RANDOM.replace("BODY", "out[int(curand_uniform(&state) * part)] = 1;")
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [result] = (access.results[0] for access in kernel.accesses if access.array == "out")
    assert result.status == "data-dependent" and result.reason is not None and "curand_uniform" in result.reason
