"""How long operators go on as they do, against their results."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.execute.affine import lasts
from cudalint.execute.arithmetic import COMPARING, binary, converted
from cudalint.ir import nodes as ir

LONG = ir.Scalar("long", 8, "int")
UINT = ir.Scalar("unsigned int", 4, "uint")
UCHAR = ir.Scalar("unsigned char", 1, "uint")
_FAR = 40
"""Periods that are computed."""
_OPERATORS = [*sorted(COMPARING), "+", "-", "*", "/", "%", ">>", "<<", "&", "|", "^", "min", "max", "cast"]
_QUIET = settings(max_examples=cases(400), deadline=None, derandomize=True, database=None)


def _result(op: str, left: int, right: int, type_: ir.Scalar) -> int:
    if op in ("min", "max"):
        return min(left, right) if op == "min" else max(left, right)
    return int(converted(left, type_) if op == "cast" else binary(op, left, right, type_))


def _type(op: str) -> ir.Scalar:
    return UCHAR if op == "cast" else UINT if op in ("+", "-", "*") else LONG


@_QUIET
@given(
    st.sampled_from(_OPERATORS), st.integers(-300, 300), st.integers(0, 70), st.integers(-9, 9),
    st.sampled_from((0, 0, 0, 1, -2)), st.booleans(),
)  # fmt: skip
def test_results_go_on_as_long_as_they_are_said_to(
    op: str, left: int, right: int, by: int, right_by: int, is_swapped: bool
) -> None:
    if op in ("/", "%", "<<", ">>"):
        right, right_by = right % 31 + 1, 0
    elif is_swapped:
        left, right, by, right_by = right, left, right_by, by
    type_ = _type(op)
    periods, times = lasts(op, left, right, (by, right_by), type_)
    values = [_result(op, left + by * k, right + right_by * k, type_) for k in range(min(periods, _FAR) + 1)]
    steps = {after - before for before, after in itertools.pairwise(values)}
    assert len(steps) <= 1, (op, left, right, by, right_by, periods)
    assert times >= 1


@_QUIET
@given(
    st.sampled_from(_OPERATORS), st.lists(st.integers(-50, 50), min_size=3, max_size=3), st.integers(1, 20),
    st.integers(-5, 5),
)  # fmt: skip
def test_lanes_are_as_they_are_alone(op: str, left: list[int], right: int, by: int) -> None:
    type_ = _type(op)
    together: Any = lasts(op, np.array([left]), right, (by, 0), type_)[0]
    alone = [lasts(op, each, right, (by, 0), type_)[0] for each in left]
    assert np.broadcast_to(together, (1, 3)).tolist() == [alone]


@pytest.mark.parametrize(
    ("op", "right", "by", "times"), [("%", 16, 1, 16), ("&", 7, 2, 4), ("/", 12, 8, 3), (">>", 3, 1, 8)]
)
def test_longer_periods(op: str, right: int, by: int, times: int) -> None:
    assert lasts(op, 5, right, (by, 0), LONG)[1] == times


def test_a_longer_period_is_for_lanes_that_go_on_and_that_it_helps() -> None:
    divisors, mask = np.array([[7, 35, 11, 1025]]), np.array([[True, True, False, True]])
    assert lasts("/", np.zeros((1, 4), np.int64), divisors, (32, 0), LONG, mask)[1] == 35
