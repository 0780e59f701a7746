"""Races of which somebody asks whether they are there: those of two places of the source."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from cudalint.ir import nodes as ir
from cudalint.measure.arrays import Flags

Sought = Set[frozenset[ir.Span]]
"""The places of the two accesses of races."""


def asked_of(spans: Sequence[ir.Span], sought: Sought, writes: Flags) -> Flags:
    """Of two kinds of accesses of an allocation each, [k, k], whether their races have to be looked for: those that are
    sought, and where there are any those of writes. What these store decides which races are harmless."""
    numbers: dict[ir.Span, int] = {}
    of_kinds = np.array([numbers.setdefault(span, len(numbers)) for span in spans])
    are_sought = np.zeros((len(numbers), len(numbers)), bool)
    for pair in sought:
        ends = [numbers[span] for span in pair if span in numbers]
        if len(ends) == len(pair):
            are_sought[ends[0], ends[-1]] = are_sought[ends[-1], ends[0]] = True
    asked: Flags = are_sought[of_kinds[:, None], of_kinds]
    return asked | (writes[:, None] & writes) if asked.any() else asked
