"""Addresses that come from a division by loaded numbers: lanes may go anywhere, however large such a number is."""

from __future__ import annotations

import pytest
from evaluating import evaluate, only

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_INDICES = [
    "x = t / p[0];",
    "x = t % p[0];",
    "x = t >> p[0];",
    "for (int i = 0; i < n; i++) x += t / p[i];",
    "int y = t; for (int i = 0; i < n; i++) { int z = y; y = y / p[i]; x += y * p[i]; y = z - y * p[i]; }",
    "int y = t; for (int i = 0; i < n; i++) { y = y / p[i]; for (int j = 0; j < m; j++) y = p[j] - y; x += y * p[i]; }",
]


@pytest.mark.parametrize("code", _INDICES)
def test_lanes_may_go_anywhere(code: str) -> None:
    kernel = evaluate(f"int x = 0; const int *p = (const int *)b; {code} a[x] = 1;", arguments="unknown, other")
    assert only(kernel).status == "data-dependent"


def test_what_is_one_number_for_the_warp_stays_known() -> None:
    kernel = evaluate("const int *p = (const int *)b; a[t + n / p[0]] = 1;", arguments="unknown, other")
    assert only(kernel).sectors_per_request == 4.0
