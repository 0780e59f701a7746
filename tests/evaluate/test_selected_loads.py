"""Loads of both sides of `c ? a : b`, read from what nvcc 13.0 makes of the same kernels (PTX of sm_90, -O3)."""

from __future__ import annotations

import pytest

from cudalint.driver.analysis import analyse_file
from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions

_HEAD = """__global__ void k(const float *s, const float *t, const unsigned char *b, float *o, int n) {
  int i = threadIdx.x;
  __shared__ float sh[64];
  sh[i] = i;
  __syncthreads();
"""
_MAIN = "void run(float *s, unsigned char *b, float *o) { k<<<1, 32>>>(s, s, b, o, 9); }"


def _kernel(statement: str) -> KernelFacts:
    source = f"{_HEAD}{statement}\n}}\n{_MAIN}"
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    return kernel


@pytest.mark.parametrize(
    ("expression", "instructions"),
    [
        ("i > 0 ? s[i - 1] : s[i]", 1),
        ("i > 0 ? b[i - 1] : b[i + n]", 1),
        ("i > 0 ? sh[i - 1] : sh[i + 3]", 1),
        ("i > 9 ? s[i - 1] : (i < 20 ? s[i + 7] : s[i + 9])", 1),
        ("i > 9 ? (i < n ? s[i] : s[i + 3]) : (i < n ? s[i + 7] : s[i + 9])", 1),
        ("i > 9 ? 2 * s[i - 1] : 2 * s[i + 5]", 1),
        ("i > 9 ? s[i - 1] * t[i] : s[i + 2] * t[i + 5]", 2),
        # What is loaded is not used alike, or is not of one type or space.
        ("i > 9 ? s[i - 1] : -s[i + 5]", 2),
        ("i > 9 ? s[i - 1] * 2 + 1 : s[i + 5] * 3", 2),
        ("i > 9 ? b[i - 1] : s[i + 5]", 2),
        ("i > 9 ? sh[i - 1] : s[i + 5]", 2),
        ("i > 9 ? s[i - 1] : 0", 1),
    ],
)  # fmt: skip
def test_how_many_loads_are_made(expression: str, instructions: int) -> None:
    loads = [a for a in _kernel(f"o[i] = {expression};").accesses if a.operation == "load"]
    assert sum(access.results[0].status == "exact" for access in loads) == instructions


def test_the_one_load_is_made_by_all_lanes() -> None:
    """Lane 0 reads element 0, lanes 1 to 31 elements 0 to 30: 124 bytes, 4 sectors. Apart they would be 1 and 4."""
    first, last = (a.results[0] for a in _kernel("o[i] = i > 0 ? s[i - 1] : s[i];").accesses if a.array == "s")
    assert (last.sectors_per_request, last.active_lanes) == (4.0, 32)
    assert first.reason == "it is one load with that at line 6: the compiler selects the address"


def test_a_value_at_hand_is_loaded_again() -> None:
    """Of `s[i]` and the choice nvcc makes two loads, each by all lanes."""
    statement = "o[i + 64] = s[i]; float v = i > 0 ? s[i - 1] : s[i]; o[i] = v;"
    source = f"{_HEAD}{statement}\n}}\n{_MAIN}".replace("float *o,", "float *__restrict__ o,")
    source = source.replace("const float *s,", "const float *__restrict__ s,")
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    first, other, again = (a.results[0] for a in kernel.accesses if a.array == "s")
    assert (first.status, other.status, again.status) == ("exact", "unknown", "exact")
    assert (first.active_lanes, again.active_lanes) == (32, 32)


def test_vectors_are_loaded_by_the_lanes_of_their_side() -> None:
    """Lane 0 reads element 0, a sector; lanes 1 and 2 elements 0 and 1, 32 bytes and a sector as well."""
    statement = "const float4 *v = (const float4 *)s; if (i < 3) ((float4 *)o)[i] = i > 0 ? v[i - 1] : v[i];"
    results = [a.results[0] for a in _kernel(statement).accesses if a.array == "s"]
    assert [(result.status, result.active_lanes) for result in results] == [("exact", 2), ("exact", 1)]
    assert [result.sectors_per_request for result in results] == [1.0, 1.0]
