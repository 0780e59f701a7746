"""The functions of bits, against what their names say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from evaluating import elements, evaluate, only, results
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.host.executor.intrinsics import first_set, leading_zeros, ones, trailing_zeros
from cudalint.host.values.arithmetic import U4
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_EXPECTED: dict[Callable[[Graph, Node], Node], Callable[[int], int]] = {
    leading_zeros: lambda x: 32 - x.bit_length(),
    first_set: lambda x: (x & -x).bit_length(),
    trailing_zeros: lambda x: ((x & -x).bit_length() - 1) % 2**32,
    ones: lambda x: x.bit_count(),
}


@pytest.mark.parametrize("function", _EXPECTED, ids=lambda f: f.__name__)
@settings(max_examples=60, deadline=None)
@given(factor=st.integers(0, 2**32 - 1), start=st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**16]))
def test_of_each_lane(function: Callable[[Graph, Node], Node], factor: int, start: int) -> None:
    graph = Graph()
    lane = graph.uniform("lane", 0, U4)
    product = graph.binary("*", lane, graph.const(factor, U4), U4)
    word = graph.binary("+", product, graph.const(start, U4), U4)
    node = graph.convert(function(graph, word), U4)
    found = Evaluated(graph, {lane: np.arange(32)}).array(node)
    assert [int(x) for x in found] == [_EXPECTED[function]((lane * factor + start) % 2**32) for lane in range(32)]


@pytest.mark.parametrize("function", _EXPECTED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("value", [0, 1, 2, 3, 255, 2**31, 2**31 - 1, 2**32 - 1, 2**32 - 2])
def test_of_constants(function: Callable[[Graph, Node], Node], value: int) -> None:
    graph = Graph()
    found = function(graph, graph.const(value, U4))
    assert found.is_const and int(found.value) % 2**32 == _EXPECTED[function](value)


def test_addresses_and_masks_in_a_kernel() -> None:
    """31 - clz is the number of the highest bit; half of 32 numbers have an even number of ones."""
    result = only(evaluate("if (t > 0) a[31 - __clz(t)] = 1; "))
    assert elements(result) == [[lane.bit_length() - 1 for lane in range(1, 32)]]
    assert results(evaluate("if (__popc(t) % 2 == 0) a[t] = 1;"))[0].active_lanes == 16.0


def test_powers_of_two_are_numbers() -> None:
    stride = only(evaluate("a[t * (int)pow(2.0, (double)n)] = 1;", arguments="3, 7"))
    assert elements(stride) == [list(range(0, 256, 8))]
    assert elements(only(evaluate("if (t < 4) a[(int)pow((double)t, 2.0)] = 1;"))) == [[0, 1, 4, 9]]


def test_what_is_computed_from_data_in_a_loop_depends_on_data() -> None:
    """The classic atomic minimum: whether a lane tries depends on what it has read."""
    body = """
    unsigned long long seen = *(unsigned long long*)a;
    while (n < __longlong_as_double(seen)) seen = atomicCAS((unsigned long long*)a, seen, (unsigned long long)m);
    """
    statuses = {result.status for result in results(evaluate(body))}
    assert "unknown" not in statuses


def test_what_bits_loaded_data_has_depends_on_data() -> None:
    result = only(evaluate("a[__popc((unsigned)b[n]) * t] = 1;"))
    assert result.status in ("range", "data-dependent")
    assert "`b`" in str(result.reason)


_LAUNCH = """
#include <cstdlib>
unsigned next_power_of_two(unsigned x) { return x <= 1 ? 1 : 1u << (32 - __builtin_clz(x - 1)); }
__global__ void k(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main(int argc, char **argv) { k<<<1, next_power_of_two(%s)>>>(0); }
"""


@pytest.mark.parametrize(
    ("threads", "block", "assumptions"),
    [("100", 128, ()), ("atoi(argv[1])", 256, ("block = 256 (the launch leaves it open)",))],
)
def test_host_code_rounds_a_block_up(threads: str, block: int, assumptions: tuple[str, ...]) -> None:
    launch = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _LAUNCH % threads),))).kernels[0].launches[0]
    assert (launch.block, launch.assumptions) == ((block, 1, 1), assumptions)
