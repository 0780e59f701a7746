"""Sine and cosine of doubles load coefficients: 64 bytes for each of the two polynomials, by quadrant. Those of floats
load bits of pi for large angles."""

from __future__ import annotations

import pytest
from evaluating import evaluate

from cudalint.facts import Access

_TABLE = "__cudart_sin_cos_coeffs"
_BITS_OF_PI = "__cudart_i2opi_f"


def _loads(statements: str, table: str = _TABLE) -> list[Access]:
    return [access for access in evaluate(statements).accesses if access.array == table]


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


@pytest.mark.parametrize(
    "statement",
    ["a[t] = sinf(10000.0f * t);", "a[t] = cos(10000.0f * t);", "a[t] = tanf(t * 10000);", "sincosf(1e6f * t, a, b);"],
)
def test_a_large_angle_of_a_float_loads_one_word_after_the_other(statement: str) -> None:
    (load,) = _loads(statement, _BITS_OF_PI)
    (result,) = load.results
    assert (load.bytes, load.operation, result.status, result.sectors_per_request) == (4, "load", "exact", 1)


def test_lanes_with_small_angles_load_no_bits_of_pi() -> None:
    """From the 11th lane on, the angle is over 105,615."""
    (load,) = _loads("a[t] = sinf(10000.0f * t);", _BITS_OF_PI)
    assert load.results[0].active_lanes == 32 - 11


@pytest.mark.parametrize(
    "value",
    ["sinf(b[t])", "__sinf(10000.0f * t)", "sinf(0.5f)", "sinf(1e7f)", "sinf(b[0] * t)", "sqrtf(10000.0f * t)"],
)
def test_other_angles_and_functions_load_no_bits_of_pi(value: str) -> None:
    assert _loads(f"a[t] = {value};", _BITS_OF_PI) == []


def test_angles_that_are_all_small_are_unreached() -> None:
    (load,) = _loads("a[t] = sinf(1000.0f * t);", _BITS_OF_PI)
    assert load.results[0].status == "unreached"
