"""Numbers that lanes draw from a counter: neighbouring ones, from a start that nobody knows."""

from __future__ import annotations

import pytest

from cudalint.facts import AccessResult
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

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
    source += "void run(int *out, int *counter, const int *in) { k<<<64, 256>>>(out, counter, in); }"
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [result] = (a.results[0] for a in kernel.accesses if a.operation == "store" and a.array == "out")
    return result


@pytest.mark.parametrize(
    ("body", "before", "sectors"),
    [
        ("out[atomicAdd(counter, 1)] = 1;", "", _ANYWHERE),
        ("out[atomicAdd(counter, 2)] = 1;", "", _TWO_APART),
    ],
)
def test_neighbours_draw_neighbouring_numbers(body: str, before: str, sectors: float) -> None:
    result = _store(body, before)
    assert result.status == "range"
    assert result.sectors_per_request == pytest.approx(sectors, rel=0.02)


@pytest.mark.parametrize("body", ["int i = atomicAdd(counter, 1); if (i < 1000000) out[i] = 1;", _WORKERS])
def test_those_that_find_a_number_that_there_is_may_be_fewer(body: str) -> None:
    result = _store(body)
    assert (result.status, result.sectors_range) == ("range", (1, 5))
    assert 4 <= (result.sectors_per_request or 0) <= 5


def test_what_a_group_draws_together_is_data() -> None:
    assert _store("out[draw(counter)] = 1;", _GROUP).status in ("range", "data-dependent")


def test_those_that_do_not_come_draw_none() -> None:
    # 16 lanes come, and store to 16 neighbours: 2 sectors from one place of eight on, else 3.
    result = _store("if (threadIdx.x % 2) out[atomicAdd(counter, 1)] = 1;")
    assert result.sectors_per_request == pytest.approx((2 + 7 * 3) / 8, rel=0.02)


def test_those_that_come_by_data_are_all_at_most() -> None:
    """However many come they stand side by side."""
    result = _store("int i = blockIdx.x * 256 + threadIdx.x; if (in[i] % 2) out[atomicAdd(counter, 1)] = 1;")
    assert (result.status, result.sectors_range) == ("range", (1, 5))
    assert (result.sectors_per_request or 9) <= 5


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
void run(float *out, const float *in, curandState *states) { k<<<64, 256>>>(out, in, states, 0.25f); }
"""


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("if (curand_uniform(&state) < part) out[i] = 1;", "range"),
        ("if (curand(&own) & 1) out[i] = 1;", "range"),
        ("out[i] = in[curand(&state) % 1000];", "data-dependent"),
    ],
)
def test_random_numbers_are_data(body: str, status: str) -> None:
    source = _RANDOM.replace("BODY", body)
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    array = "in" if "in[" in body else "out"
    [result] = (access.results[0] for access in kernel.accesses if access.array == array)
    assert (result.status, result.sectors_per_request) == (status, 4 if status == "range" else None)


def test_a_place_that_is_drawn_depends_on_data() -> None:
    source = _RANDOM.replace("BODY", "out[int(curand_uniform(&state) * part)] = 1;")
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [result] = (access.results[0] for access in kernel.accesses if access.array == "out")
    assert result.status == "data-dependent"
