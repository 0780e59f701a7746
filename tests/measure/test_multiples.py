"""What numbers have to be multiples of, against all numbers."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.measure.alignment import requirement_of

_VALUES = (64, 65, 66, 67, 68, 72, 80, 1)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.sampled_from((2, 4, 8, 16)), st.integers(1, 15), st.integers(0, 15))
def test_all_lanes_alike(width: int, factor: int, rest: int) -> None:
    """`factor * K + rest` is aligned for exactly the numbers that fulfil what is asked for."""
    residues = [1 << (factor * value + rest) % width for value in _VALUES]
    needed = requirement_of(residues, width, {"K": _VALUES}, 1)
    aligned = {value for value in range(64) if (factor * value + rest) % width == 0}
    if needed is None:
        assert not aligned or len(aligned) == 64
        return
    found = re.fullmatch(r"K % (\d+) == (\d+)", needed.text)
    assert found is not None
    assert {value for value in range(64) if value % int(found[1]) == int(found[2])} == aligned


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.sampled_from((2, 4, 8, 16)), st.sampled_from((1, 2, 4, 8)))
def test_rows_one_by_one(width: int, unit: int) -> None:
    """Rows of K elements: all of them are aligned if K elements are."""
    residues = []
    for value in _VALUES:
        bits = 0
        for row in range(32):
            bits |= 1 << row * value * unit % width
        residues.append(bits)
    needed = requirement_of(residues, width, {"K": _VALUES}, unit)
    divisor = width // min(width, unit)
    assert (needed.text if needed is not None else None) == (f"K % {divisor} == 0" if divisor > 1 else None)
