"""Variables of device functions that stay from launch to launch (`static`): they lie in global memory."""

from __future__ import annotations

import pytest
from evaluating import evaluate, only, results

from cudalint.facts import KernelFacts

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")


def _spaces(kernel: KernelFacts, array: str) -> list[tuple[str, str]]:
    return [(access.space, access.operation) for access in kernel.accesses if access.array == array]


@pytest.mark.parametrize("declared", ["static int count", "static int count = 3", "static __device__ int count = 3"])
def test_a_count_is_loaded_and_stored(declared: str) -> None:
    kernel = evaluate(f"{declared}; count++;")
    assert sorted(_spaces(kernel, "count")) == [("global", "load"), ("global", "store")]
    assert [result.sectors_per_request for result in results(kernel, "count")] == [1, 1]


def test_in_a_function_that_is_called_twice() -> None:
    """Threads that don't wait for one another take the same numbers: that is a race."""
    next_one = "__device__ int next() { static int count = 3; return count++; }"
    kernel = evaluate("a[t] = next() + next();", before=next_one)
    assert {"load", "store"} == {operation for _, operation in _spaces(kernel, "count")}
    assert kernel.races is not None and {race.array for race in kernel.races} == {"count"}


def test_an_array_has_a_place_for_each_index() -> None:
    assert only(evaluate("static float kept[64]; kept[2 * t] = 1;"), "kept").sectors_per_request == 8


def test_a_constant_table_is_no_memory() -> None:
    """The compiler knows its elements."""
    kernel = evaluate("static const int steps[3] = {1, 2, 4}; a[steps[2] * t] = 1;")
    assert _spaces(kernel, "steps") == []
    assert only(kernel).sectors_per_request == 16
