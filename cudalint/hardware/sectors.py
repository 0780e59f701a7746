"""Global memory: the 32-byte sectors that one warp-level request moves.

Source of the terms: Nsight Compute, Kernel Profiling Guide, section "Memory Tables" (sectors per request),
and its source counters `memory_l2_theoretical_sectors_global` and `..._ideal`. The figures here equal those
counters on every global pattern of tests/data/patterns.json.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudalint.hardware.requests import WARP_LANES, count_true, lanes_by_unit, warp_arrays

SECTOR_BYTES = 32

_SECTOR_SHIFT = 5
# Larger than any sector number, since those are addresses shifted right; it stands for an inactive lane.
_NO_SECTOR = np.iinfo(np.int64).max


class Sector(NamedTuple):
    """One sector of a request: its number (first byte // 32) and the active lanes with a byte in it."""

    number: int
    lanes: tuple[int, ...]


def global_request(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the sectors of warp-level global requests, and the fewest that could hold as many bytes.

    `addresses` (bytes, any sign) and `mask` (active lanes) have shape [..., 32], the last axis being the
    lanes of one request; they are broadcast against each other. `width` is the bytes that each lane moves.

    Returns `(sectors, ideal)`, both of shape [...]: the distinct sectors that the active lanes' bytes touch,
    and `min(sectors, ceil(active * width / 32))`. A request without an active lane costs 0. An access that is
    not aligned to its width, which a GPU would refuse, is counted by the bytes it names.

    Raises ValueError if the last axis isn't 32 lanes.
    """
    addresses, mask = warp_arrays(addresses, mask)
    active = count_true(mask)
    touched = addresses >> _SECTOR_SHIFT
    last = (addresses + (width - 1)) >> _SECTOR_SHIFT
    if not np.array_equal(touched, last):
        touched, mask = _spell_out(touched, last, mask)
    sectors = _count_distinct(touched, mask)
    ideal = np.minimum(sectors, -(-active * width // SECTOR_BYTES))
    return sectors, ideal


def sector_map(addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int) -> tuple[Sector, ...]:
    """Say which lanes touch which sector in one request, in address order.

    `addresses` and `mask` have shape [32]; `width` is the bytes that each lane moves.
    """
    units = lanes_by_unit(addresses, mask, width, SECTOR_BYTES)
    return tuple(Sector(number, lanes) for number, lanes in units.items())


def _spell_out(
    first: NDArray[np.int64], last: NDArray[np.int64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """List all sectors of accesses that straddle: [..., 32] becomes [..., 32 * the most of one lane]."""
    most = int((last - first).max()) + 1
    every = np.minimum(first[..., None] + np.arange(most), last[..., None])
    return every.reshape(*mask.shape[:-1], WARP_LANES * most), np.repeat(mask, most, axis=-1)


def _count_distinct(values: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the distinct values under the mask along the last axis."""
    full = bool(mask.all())
    ordered = values if full else np.where(mask, values, _NO_SECTOR)
    # Most requests ascend with the lane, and looking is much cheaper than sorting.
    steps = ordered[..., 1:] != ordered[..., :-1]
    if not np.all(ordered[..., 1:] >= ordered[..., :-1]):
        ordered = np.sort(ordered, axis=-1)
        steps = ordered[..., 1:] != ordered[..., :-1]
    distinct = count_true(steps) + 1
    if not full:
        distinct = distinct - (ordered[..., -1] == _NO_SECTOR)
    return distinct
