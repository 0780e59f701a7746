"""What shared memory holds after loops of which not all turns are executed: what all of them leave, or nobody knows."""

from __future__ import annotations

import numpy as np
import pytest
from executing import execute, kernel_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.execute.trace import Trace
from cudalint.execute.values import Data

QUIET = settings(
    max_examples=cases(40), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
_WITHIN = ("t", "i % 64", "(3 * i + 1) % 64", "5", "i & 15", "(t + i % 2) % 64", "(t + i) % 64", "i / 8 % 64")
_VALUES = ("i", "t", "7", "2 * i + t", "i % 5", "s[{}] + 1", "s[{}]")
_WHO = ("", "if (t == 0) ", "if (t == i % 64) ", "if (i % 3 == 1) ", "if (i < 40) ")


def _kernel(body: str) -> str:
    return (
        "__global__ void kernel(int* out, int n) { __shared__ int s[64]; int t = threadIdx.x;"
        f" s[t] = 100; __syncthreads(); {body} __syncthreads(); out[t] = s[t]; out[t] = s[5]; }}"
    )


def _read(trace: Trace) -> list[object]:
    """What is stored to `out` in the end."""
    values = [event.value for event in trace.accesses if event.allocation.name == "out"][-2:]
    return [v if isinstance(v, Data) else np.broadcast_to(v, trace.lanes.full.shape).tolist() for v in values]


def _check(body: str, n: int) -> None:
    function = kernel_in(_kernel(body))
    full = _read(execute(function, (64, 1, 1), (1, 1, 1), {"n": n}, in_full=True))
    some = _read(execute(function, (64, 1, 1), (1, 1, 1), {"n": n}))
    for right, found in zip(full, some, strict=True):
        assert isinstance(found, Data) or found == right, body


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; ++i) { if (t == 0) s[i % 64] = i; __syncthreads(); }",
        "for (int i = 0; i < n; ++i) { s[t] = s[t] + 1; }",
        "for (int i = 0; i < n; ++i) { for (int j = 0; j < 50; ++j) s[t] = j; __syncthreads(); }",
        "for (int i = 0; i < n; ++i) { if (i == n / 2) s[t] = 3; __syncthreads(); }",
        "for (int i = 0; i < n; ++i) { s[t] = i; if (out[i]) break; }",
    ],
)
def test_what_turns_leave_that_are_not_executed(body: str) -> None:
    _check(body, 200)


def test_too_many_turns_to_execute_them() -> None:
    body = "for (int i = 0; i < n; ++i) { s[t] = i % 7 * i; __syncthreads(); }"
    trace = execute(kernel_in(_kernel(body)), (64, 1, 1), (1, 1, 1), {"n": 20_000}, in_full=True)
    assert all(isinstance(value, Data) for value in _read(trace))


def test_what_all_turns_store_alike_is_known() -> None:
    body = "for (int i = 0; i < n; ++i) { s[t] = 2 * t; __syncthreads(); }"
    function = kernel_in(_kernel(body))
    assert not any(isinstance(v, Data) for v in _read(execute(function, (64, 1, 1), (1, 1, 1), {"n": 200})))


@st.composite
def _bodies(draw: st.DrawFn) -> str:
    def one() -> str:
        if draw(st.integers(0, 3)) == 0:
            return "__syncthreads();"
        value = draw(st.sampled_from(_VALUES)).format(draw(st.sampled_from(_WITHIN)))
        return f"{draw(st.sampled_from(_WHO))}s[{draw(st.sampled_from(_WITHIN))}] = {value};"

    inner = " ".join(one() for _ in range(draw(st.integers(1, 4))))
    if draw(st.booleans()):
        inner += " for (int j = 0; j < 20; ++j) { " + one().replace("i", "j").replace("jf", "if") + " }"
    return f"for (int i = 0; i < n; ++i) {{ {inner} __syncthreads(); }}"


@QUIET
@given(_bodies(), st.integers(30, 300))
def test_random_loops(body: str, n: int) -> None:
    _check(body, n)
