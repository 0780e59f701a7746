"""Atomics on floating-point numbers in shared memory, which the hardware has none for: a loop loads the number, adds to
it and swaps it in, until nobody was faster.

Counters of an H200 (`scatterAdd` and `aop` of HeCBench): a pass is a load and a swap. The swap takes twice the
wavefronts of a store, since it brings two numbers. Of lanes that want one number, one gets through with each pass.
Where all warps of a block want the same one, most of their passes serve another warp: 90 to 126 for each of 4 warps.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.hardware.banks import shared_request

_SERVES_OTHERS = 0.9
_HALF_WARP = 16
_ONE_HALF_LEFT = 0.75
"""Of the wavefronts of a swap of 8 bytes: when the lanes of the first half are through, theirs cost nothing."""


class Swaps(Struct, frozen=True):
    """What one request becomes, for each of n."""

    passes: NDArray[np.float64]
    wavefronts: NDArray[np.float64]
    """Of all passes together."""
    lanes: NDArray[np.float64]
    """That compute a number, over all passes."""


def swaps(addresses: NDArray[np.int64], mask: NDArray[np.bool_], width: int, warps: int) -> Swaps:
    """`addresses` and `mask` are [n, 32], `width` bytes for each lane, `warps` those of a block."""
    same = (addresses[:, :, None] == addresses[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    most = same.sum(axis=2).max(axis=1).astype(np.float64)
    active = mask.sum(axis=1).astype(np.float64)
    reached = addresses[mask]
    is_one = bool(len(reached)) and bool((reached == reached[0]).all())
    contention = max(1.0, _SERVES_OTHERS * warps) if is_one else 1.0
    passes = np.where(most > 1, most * contention, most)
    loads, _ = shared_request(addresses, mask, width, "load")
    stores, _ = shared_request(addresses, mask, width, "store")
    halves = np.where((most > _HALF_WARP) & (width == 8), _ONE_HALF_LEFT, 1.0)
    lanes = np.where(most > 1, passes * active * (most + 1) / (2 * np.maximum(most, 1)), active)
    return Swaps(passes, passes * (loads + 2 * halves * stores), lanes)
