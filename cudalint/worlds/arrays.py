"""What arrays have in common. `numpy.unique` does it too, but loads masked arrays first, which takes long."""

from __future__ import annotations

from typing import Any

import numpy as np


def distinct(values: Any) -> Any:
    """The numbers of an array, each once, in order."""
    ordered = np.sort(np.asarray(values).ravel())
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if ordered.size else ordered


def numbered(rows: Any) -> Any:
    """For each row which of all that differ it is, in their order: the first column counts first."""
    count, columns = rows.shape
    if not columns or count < 2:
        return np.zeros(count, np.int64)
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    numbers = np.concatenate([[0], np.cumsum((ordered[1:] != ordered[:-1]).any(axis=1))])
    found = np.empty(count, np.int64)
    found[order] = numbers
    return found


def once(rows: Any) -> Any:
    """The rows, each once."""
    numbers = numbered(rows)
    first = np.full(int(numbers.max(initial=-1)) + 1, len(rows))
    np.minimum.at(first, numbers, np.arange(len(rows)))
    return rows[np.sort(first)]
