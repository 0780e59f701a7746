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


def first_of_each(rows: Any) -> list[int]:
    """The places of the rows that none before them is equal to, in order."""
    packed = np.ascontiguousarray(np.packbits(rows, axis=1) if rows.dtype == bool else rows)
    bytes_ = packed.shape[1] * packed.itemsize
    if not bytes_:
        return [0][: len(rows)]
    first: dict[Any, int] = {}
    for number, own in enumerate(packed.view(np.dtype((np.void, bytes_))).ravel().tolist()):
        first.setdefault(own, number)
    return list(first.values())


def once(rows: Any) -> Any:
    """The rows, each once."""
    return rows[first_of_each(rows)]
