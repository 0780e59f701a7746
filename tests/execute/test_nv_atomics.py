"""The atomics that nvcc builds in since 12.8, whose order and scope are arguments."""

from __future__ import annotations

import pytest
from evaluating import evaluate, results

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_ORDER = "__NV_ATOMIC_RELAXED"


@pytest.mark.parametrize(
    ("call", "sectors"),
    # 4 bytes for each of 32 lanes: one address is a sector, neighbours 4, a stride of 8 floats 32.
    [
        ("int v = __nv_atomic_load_n(p + t, %s);", 4.0),
        ("__nv_atomic_store_n(p + 8 * t, 1, %s);", 32.0),
        ("__nv_atomic_fetch_add(p, 1, %s);", 1.0),
        ("__nv_atomic_max(p + t, 1, %s, __NV_THREAD_SCOPE_BLOCK);", 4.0),
        ("int e = 0; __nv_atomic_compare_exchange_n(p + t, &e, 3, false, %s, __NV_ATOMIC_RELAXED);", 4.0),
        ("int e = 0, r; __nv_atomic_exchange(p + t, &e, &r, %s);", 4.0),
    ],
)
def test_requests(call: str, sectors: float) -> None:
    kernel = evaluate(f"int *p = (int *)a; {call % _ORDER}")
    assert [(access.operation, access.space) for access in kernel.accesses] == [("atomic", "global")]
    assert results(kernel)[0].sectors_per_request == sectors


def test_lanes_that_load_one_address_see_one_value_and_others_differ() -> None:
    load = "int r; __nv_atomic_load(p, &r, __NV_ATOMIC_RELAXED); b[t + 32 * r] = 1;"
    add = "int r = __nv_atomic_fetch_add(p, t, __NV_ATOMIC_RELAXED); b[r] = 1;"
    (one,) = results(evaluate(f"int *p = (int *)a; {load}"), "b")
    (other,) = results(evaluate(f"int *p = (int *)a; {add}"), "b")
    assert one.sectors_per_request == 4.0
    assert other.status == "data-dependent"


@pytest.mark.parametrize(
    ("index", "lanes", "sectors"),
    # Of the lanes with one address the first does the work: all of them, every second, one.
    [("t", 32.0, 4.0), ("t / 2", 16.0, 2.0), ("5", 1.0, 1.0)],
)
def test_leaders_of_lanes_with_one_address(index: str, lanes: float, sectors: float) -> None:
    leader = f"__ffs(__match_any_sync(~0u, (unsigned long long)(p + {index}))) - 1"
    (result,) = results(evaluate(f"int *p = (int *)a; if (t % 32 == {leader}) atomicAdd(p + {index}, 1);"))
    assert (result.active_lanes, result.sectors_per_request) == (lanes, sectors)
