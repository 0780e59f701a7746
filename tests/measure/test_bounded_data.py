"""Spans of what is computed of a loaded number, against all numbers that it may be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cudalint.execute.drawn import Drawn
from cudalint.ir import nodes as ir
from cudalint.measure.bounded_data import span_of

_BYTE, _INT = ir.Scalar("unsigned char", 1, "uint"), ir.Scalar("int", 4, "int")
_LOADED = Drawn("load", (1, 0), _BYTE, SimpleNamespace(), False)
_ALL = np.arange(256)

_STEPS = st.lists(
    st.tuples(st.sampled_from(["&", "%", "+", "-", "*", ">>", "min", "max"]), st.integers(1, 300)), max_size=4
)


def _built(steps: list[tuple[str, int]]) -> tuple[Drawn, Any]:
    value, numbers = Drawn("cast", (_LOADED,), _INT), _ALL
    for op, number in steps:
        if op in ("min", "max"):
            function = np.minimum if op == "min" else np.maximum
            value, numbers = Drawn("function", (function, value, number), _INT, None, False), function(numbers, number)
            continue
        number = number % 8 if op == ">>" else number
        value = Drawn(op, (value, number), _INT)
        numbers = {
            "&": lambda x, k=number: x & k, "%": lambda x, k=number: np.fmod(x, k), "+": lambda x, k=number: x + k,
            "-": lambda x, k=number: x - k, "*": lambda x, k=number: x * k, ">>": lambda x, k=number: x >> k,
        }[op](numbers).astype(np.int32).astype(np.int64)  # fmt: skip
    return value, numbers


@given(_STEPS)
def test_numbers_lie_in_their_span(steps: list[tuple[str, int]]) -> None:
    value, numbers = _built(steps)
    span = span_of(value)
    if span is not None:
        assert span.low <= numbers.min() and numbers.max() <= span.high


@given(st.sampled_from(["&", "%", "min"]), st.integers(1, 200), st.integers(0, 4), st.integers(1, 8))
def test_what_the_code_holds_is_come_to(op: str, number: int, added: int, times: int) -> None:
    value, numbers = _built([(op, number), ("*", times), ("+", added)])
    span = span_of(value)
    assert span is not None
    assert not span.is_held or span.high == numbers.max()


def test_a_number_that_nothing_holds() -> None:
    span = span_of(_LOADED)
    assert span is not None and span == (0, 255, False)
