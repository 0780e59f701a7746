"""Sine and cosine of doubles load coefficients: 64 bytes for each of the two polynomials, by quadrant."""

from __future__ import annotations

import pytest
from evaluating import evaluate

from cudalint.facts import Access

_TABLE = "__cudart_sin_cos_coeffs"


def _loads(statements: str) -> list[Access]:
    return [access for access in evaluate(statements).accesses if access.array == _TABLE]


@pytest.mark.parametrize(
    ("angle", "sectors"),
    [
        # All within an eighth of a turn, where the sine's polynomial is the sine.
        ("0.01 * t", 1),
        # An angle that all lanes have, an argument of the kernel.
        ("(double)n", 1),
        # Neighbours' angles lie in other quadrants.
        ("acos(-1.0) / 2 * t", 2),
        # From the 16th lane on, the angle is beyond 45 degrees, and the sine is taken from the cosine's polynomial.
        ("acos(-1.0) / 64 * (t + 0.5)", 2),
    ],
)
def test_a_load_of_16_bytes_from_one_polynomial_or_both(angle: str, sectors: int) -> None:
    (load,) = _loads(f"((double*)a)[t] = sin({angle});")
    (result,) = load.results
    assert (load.bytes, load.operation, result.sectors_per_request) == (16, "load", sectors)
    assert result.status in ("exact", "assumed")


def test_an_angle_from_memory_may_lie_anywhere() -> None:
    (load,) = _loads("((double*)a)[t] = cos(((double*)b)[t]);")
    assert load.results[0].status == "data-dependent"


@pytest.mark.parametrize("value", ["sinf(b[t])", "sin(b[t])", "sin(0.5)", "tan((double)t)", "sqrt((double)t)"])
def test_other_functions_load_nothing(value: str) -> None:
    assert _loads(f"((double*)a)[t] = {value};") == []


def test_loads_of_two_calls_are_not_each_others_repetition() -> None:
    found = _loads("((double*)a)[t] = sin(0.01 * t) * cos(0.02 * t);")
    assert [load.results[0].sectors_per_request for load in found] == [1, 1]
