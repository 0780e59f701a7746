"""Branches of the preprocessor beside a line."""

from __future__ import annotations

import pytest

from cudalint.source.conditions import other_branches

_TEXT = """a
#if A
b
#  if B
c
#  elif C
d
#  else
e
#  endif
#else
f
#endif
g
#ifdef D
h
"""


@pytest.mark.parametrize(
    ("line", "others"),
    [(1, ""), (3, "f"), (5, "d\ne\nf"), (7, "c\ne\nf"), (14, ""), (16, "")],
)  # fmt: skip
def test_branches_beside_a_line(line: int, others: str) -> None:
    assert other_branches(_TEXT, line) == others


def test_a_line_of_the_last_branch() -> None:
    assert other_branches(_TEXT, 12).split("\n") == ["b", "#  if B", "c", "#  elif C", "d", "#  else", "e", "#  endif"]
