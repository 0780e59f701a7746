"""Which of many alike are looked at."""

from __future__ import annotations

import itertools

import pytest

from cudalint.source.spanning import spanning


def test_few_are_all_looked_at() -> None:
    assert spanning([("8",), ("16",), ("24",), ("32",)]) == [0, 1, 2, 3]


def test_every_word_is_in_one_of_them() -> None:
    rows = [(one, other) for one in ("half", "float", "bf16") for other in ("q4", "q5", "q8")]
    chosen = spanning(rows)
    assert len(chosen) == 3
    assert {word for each in chosen for word in rows[each]} == {"half", "float", "bf16", "q4", "q5", "q8"}


@pytest.mark.parametrize(
    ("numbers", "chosen"),
    [
        ((8, 16, 24, 32, 64), {8, 24, 64}),  # 24 is no power of two
        ((8, 16, 32, 64, 128), {8, 128}),
        ((10, 12, 14, 16, 20), {10, 20}),
        ((-1, 1, 2, 3, 4), {-1, 4}),
    ],
)
def test_of_numbers_the_ends_and_one_between_powers(numbers: tuple[int, ...], chosen: set[int]) -> None:
    assert {numbers[each] for each in spanning([(str(number),) for number in numbers])} == chosen


def test_the_first_row_comes_first_and_packs_of_any_length_are_taken() -> None:
    rows = [("a",), ("a", "1"), ("a", "1", "x"), ("a", "1", "x", "y"), ("b",)]
    chosen = spanning(rows)
    assert chosen[0] == 0
    assert {3, 4} <= set(chosen)


def test_flags_that_come_in_all_combinations_take_two() -> None:
    assert len(spanning(list(itertools.product(("true", "false"), repeat=5)))) == 2
