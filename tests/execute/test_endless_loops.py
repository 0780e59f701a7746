"""Loops that never end: no more of their turns is executed than it takes to see that."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in
from loops_compared import kernel

ENDLESS = {
    "stands still": "for (int i = 0; i < n; i += 0) sink += a[i + t];",
    "stands still for some": "for (int i = t; i < t + 40; i += t % 2) sink += a[i];",
    "comes back": "for (int i = 0; i < n; i ^= 1) sink += a[i + t];",
    "goes on for ever": "for (long i = 0; i >= 0; i += m) sink += a[t];",
}
_FEW = 100
"""Turns."""


@pytest.mark.parametrize("name", ENDLESS)
def test_is_left(name: str) -> None:
    trace = execute(kernel_in(kernel(ENDLESS[name])), (64, 1, 1), (2, 1, 1), {"n": 1000, "m": 7})
    assert len(trace.turns) < _FEW
    assert [each.reason for each in trace.left_out] == ["too many turns"]
    assert not trace.is_cut


def test_counts_turns_until_it_ends() -> None:
    body = "for (int i = 0; i < n; i += i < 500 ? 1 : m) sink += a[i + t];"
    trace = execute(kernel_in(kernel(body)), (64, 1, 1), (2, 1, 1), {"n": 503, "m": 7})
    assert not trace.left_out
