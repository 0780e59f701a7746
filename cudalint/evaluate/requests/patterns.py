"""What requests cost whose addresses are those of one pattern of lanes, moved from row to row.

Nearly all addresses are a number for the row plus one for the thread (`cudalint.values.apart`). How far into
its sector or bank a row moves the pattern, and which lanes are active, decides what the requests cost: that is counted
once for each such case, however many rows there are, and again for no access that has the same pattern.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.hardware.banks import BANK_BYTES, SharedOperation, shared_request
from cudalint.hardware.requests import WARP_LANES, count_true
from cudalint.hardware.sectors import SECTOR_BYTES, global_request
from cudalint.values.apart import Apart
from cudalint.values.threads import WarpMasks

_MOST_PATTERNS = 512


class Figures(Struct, frozen=True):
    """What warp-level requests come to. All are [rows, warps]."""

    cost: NDArray[np.float64]
    """Sectors or wavefronts."""
    ideal: NDArray[np.float64]
    lanes: NDArray[np.int64]
    """That are active."""

    def spread(self, rows: int) -> Figures:
        """The same in many rows, where there is one."""
        shape = (rows, self.lanes.shape[1])
        return Figures(
            np.broadcast_to(self.cost, shape), np.broadcast_to(self.ideal, shape), np.broadcast_to(self.lanes, shape)
        )


def figures_of(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int, operation: SharedOperation | None
) -> Figures:
    """What requests of so many bytes a lane cost, to shared memory with an operation or to global memory without;
    `addresses` and `mask` are [rows, warps, 32]."""
    if operation is None:
        sectors, least = global_request(addresses, mask, width)
        return Figures(sectors.astype(np.float64), least.astype(np.float64), count_true(mask))
    return Figures(*shared_request(addresses, mask, width, operation), count_true(mask))


def figures_by_pattern(
    addresses: Apart, masks: WarpMasks, width: int, operation: SharedOperation | None
) -> Figures:
    """The same for addresses that come apart."""
    rows, warps = masks.words.shape
    lanes = np.broadcast_to(addresses.lane, (1, warps * WARP_LANES))
    first = lanes[0, 0]
    # Whole sectors further on, requests look the same; in shared memory, whole words further on, or wider accesses.
    period = SECTOR_BYTES if operation is None else max(BANK_BYTES, width)
    starts = np.broadcast_to(np.asarray((addresses.row + first) % period), (rows, 1))[:, 0]
    cases = starts if masks.kinds is None else masks.kinds * period + starts
    if not cases.strides[0] or (cases == cases[0]).all():
        chosen, which = np.zeros(1, dtype=np.int64), None
    else:
        _, chosen, which = np.unique(cases, return_index=True, return_inverse=True)
    pattern, start, words = (array.tobytes() for array in (lanes - first, starts[chosen], masks.words[chosen]))
    found = _figures(pattern, start, words, width, operation)
    if which is None:
        return found.spread(rows)
    return Figures(found.cost[which], found.ideal[which], found.lanes[which])


@lru_cache(maxsize=_MOST_PATTERNS)
def _figures(lanes: bytes, starts: bytes, words: bytes, width: int, operation: SharedOperation | None) -> Figures:
    """What the requests of one pattern cost, for each start of it and the lanes that are active then."""
    start = np.frombuffer(starts, dtype=np.int64).reshape(-1, 1, 1)
    addresses = start + np.frombuffer(lanes, dtype=np.int64).reshape(1, -1, WARP_LANES)
    active = np.unpackbits(np.frombuffer(words, dtype=np.uint8), bitorder="little").view(np.bool_)
    return figures_of(addresses, active.reshape(addresses.shape), width, operation)
