"""What global and shared requests have in common: 32 lanes, an address each, and a mask of the active."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WARP_LANES = 32


def warp_arrays(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Bring addresses and mask to one shape [..., 32].

    Raises ValueError if the last axis isn't 32 lanes, or the shapes can't be broadcast against each other.
    """
    if np.shape(addresses) != np.shape(mask):
        addresses, mask = np.broadcast_arrays(addresses, mask)
    if addresses.shape[-1:] != (WARP_LANES,):
        raise ValueError(f"a request has {WARP_LANES} lanes on its last axis, not shape {addresses.shape}")
    return addresses, mask


def count_true(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count what is true along the last axis. numpy adds bytes several times as fast as truth values."""
    counts: NDArray[np.int64] = flags.view(np.uint8).sum(axis=-1, dtype=np.uint32).astype(np.int64)
    return counts


def distinct(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each number of a sorted array [n] once. Beside `np.unique` it has no work for arrays of a few numbers but to
    compare neighbours."""
    if len(ordered) < 2:
        return ordered
    return ordered[np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))]


def lanes_by_unit(
    addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int, unit: int
) -> dict[int, tuple[int, ...]]:
    """Map each aligned unit of memory that one request touches to the active lanes with a byte in it.

    `addresses` and `mask` have shape [32]; `width` is the bytes that each lane moves, `unit` the bytes of a
    unit. The keys are unit numbers (first byte // unit), in ascending order.
    """
    lanes_of: dict[int, list[int]] = {}
    for lane in np.flatnonzero(mask).tolist():
        first = int(addresses[lane])
        for number in range(first // unit, (first + width - 1) // unit + 1):
            lanes_of.setdefault(number, []).append(lane)
    return {number: tuple(lanes_of[number]) for number in sorted(lanes_of)}
