"""What numbers come in: arrays of numpy by what their elements are, and one number for each world."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Weights = NDArray[np.float64]
Mask = NDArray[np.bool_]
"""[R, L] which lanes of which rows."""
ByWorld = tuple[int | None, ...]
"""A number in each world; None where it is not known."""

_WIDEST = 1 << 62


def sorted_by(*columns: Integers) -> Integers:
    """The order of rows by their columns, of which the first one counts most; equal ones stay as they are. As one
    number each they are sorted once."""
    first, *others = columns
    if not len(first):
        return np.arange(0)
    low = int(first.min())
    together, span = first - low, int(first.max()) - low + 1
    for column in others:
        low = int(column.min())
        own = int(column.max()) - low + 1
        span *= own
        if span > _WIDEST:
            found: Integers = np.lexsort(columns[::-1])
            return found
        together = together * own + (column - low)
    return np.argsort(together, kind="stable")
