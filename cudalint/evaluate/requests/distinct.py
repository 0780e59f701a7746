"""The different numbers among sorted ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def distinct(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each number of a sorted array [n] once. Beside `np.unique` it has no work for arrays of a few numbers but to
    compare neighbours."""
    if len(ordered) < 2:
        return ordered
    return ordered[np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))]
