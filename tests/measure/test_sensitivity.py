"""Which numbers make a difference, with worlds written by hand and conditions that are known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.measure.sensitivity import where

Numbers = dict[str, int]
QUIET = settings(max_examples=cases(150), deadline=None, derandomize=True, database=None)


def _where(
    worlds: list[Numbers], holds: Callable[[Numbers], bool], moduli: Mapping[str, list[int]] | None = None
) -> str:
    found = where([holds(numbers) for numbers in worlds], worlds, moduli)
    assert found.kind == "where"
    return found.condition


def _grid(**values: list[int]) -> list[Numbers]:
    return [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]


def test_one_number_makes_the_difference() -> None:
    worlds = _grid(s00=[1, 33], K=[64, 65], n=[32, 1000])
    assert _where(worlds, lambda w: w["s00"] > 1) == "s00 > 1"
    assert _where(worlds, lambda w: w["s00"] == 1) == "s00 == 1"
    assert _where(worlds, lambda w: w["K"] % 4 != 0) == "K % 2 != 0"
    assert _where(worlds, lambda w: w["K"] % 4 != 0, {"K": [4]}) == "K % 4 != 0"
    assert _where(worlds, lambda w: w["K"] % 4 == 0, {"K": [4]}) == "K % 4 == 0"


def test_the_modulus_is_the_one_that_the_worlds_tell() -> None:
    worlds = _grid(K=[64, 66, 68, 33])
    assert _where(worlds, lambda w: w["K"] % 4 != 0) == "K % 4 != 0"
    assert _where(worlds, lambda w: w["K"] % 4 == 0) == "K % 4 == 0"
    assert _where(worlds, lambda w: w["K"] % 8 != 0) == "K % 8 != 0"


def test_a_bound_is_one_that_was_seen() -> None:
    worlds = _grid(n=[8, 32, 33, 1000])
    assert _where(worlds, lambda w: w["n"] > 32) == "n >= 33"
    assert _where(worlds, lambda w: w["n"] < 20) == "n <= 8"
    assert _where(worlds, lambda w: w["n"] == 33) == "n % 2 != 0"
    assert _where(_grid(mode=[2, 3, 5, 7]), lambda w: w["mode"] == 3) == "mode == 3"


def test_two_numbers() -> None:
    worlds = _grid(s00=[1, 7], K=[64, 66, 33])
    assert _where(worlds, lambda w: w["s00"] > 1 and w["K"] % 4 != 0, {"K": [4]}) == "s00 > 1 && K % 4 != 0"
    assert _where(worlds, lambda w: w["s00"] > 1 or w["K"] % 4 != 0, {"K": [4]}) == "s00 > 1 || K % 4 != 0"
    assert _where(_grid(m=[32, 64, 96], n=[32, 64, 96]), lambda w: w["m"] > w["n"]) == "m > n"
    assert _where(_grid(m=[48, 64, 96], n=[3, 16, 32]), lambda w: w["m"] % w["n"] != 0) == "m % n != 0"


def test_of_several_that_fit_the_first_is_named() -> None:
    worlds = [{"m": 1, "n": 1}, {"m": 5, "n": 5}]
    found = where([False, True], worlds)
    assert (found.condition, found.symbols) == ("m > 1", ("m",))


def test_what_nothing_explains_stays_so() -> None:
    parity = _grid(a=[2, 3], b=[2, 3], c=[2, 3])
    found = where([(w["a"] + w["b"] + w["c"]) % 2 == 0 for w in parity], parity)
    assert (found.kind, found.symbols) == ("unexplained", ("a", "b", "c"))
    # The same numbers, and yet another outcome.
    assert where([True, False], [{"a": 1}, {"a": 1}]).kind == "unexplained"


def test_worlds_of_which_nothing_is_known_do_not_count() -> None:
    worlds = _grid(n=[1, 2, 3])
    assert where([None, None, None], worlds).kind == "unknown"
    assert where([None, True, True], worlds) == where([None, True, True], [{}, {}, {}])
    assert where([None, True, True], worlds).kind == "always"
    assert where([False, False, None], worlds).kind == "never"


@QUIET
@given(
    st.lists(st.fixed_dictionaries({name: st.integers(0, 70) for name in "abc"}), min_size=2, max_size=8),
    st.integers(0, 255),
)
def test_a_condition_holds_exactly_where_it_should(worlds: list[Numbers], bits: int) -> None:
    holds = [bool(bits >> number & 1) for number in range(len(worlds))]
    found = where(holds, worlds)
    assume(found.kind == "where")
    expression = found.condition.replace("&&", "and").replace("||", "or")
    assert [bool(eval(expression, {}, numbers)) for numbers in worlds] == holds
    assert set(found.symbols) <= set("abc")


@pytest.mark.parametrize("limit", range(1, 5))
def test_a_single_number_that_separates_is_always_found(limit: int) -> None:
    worlds = _grid(a=[3, 5, 11, 29, 71], b=[2, 9])
    ordered = sorted({w["a"] for w in worlds})
    found = where([w["a"] >= ordered[limit] for w in worlds], worlds)
    assert (found.kind, found.symbols) == ("where", ("a",))
