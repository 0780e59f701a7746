"""The threads of a block as the columns of arrays, and which of them are active."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.warps import thread_index, warp_count


class Threads(Struct, frozen=True, eq=False):
    """The threads of a block, padded to whole warps. Arrays are [1, threads]."""

    block: tuple[int, int, int]
    indices: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    exists: NDArray[np.bool_]
    warps: int

    @staticmethod
    @cache
    def of(block: tuple[int, int, int]) -> Threads:
        """Lanes past the block have the indices of its last thread, and do not exist."""
        count, warps = math.prod(block), warp_count(block)
        linear = np.arange(warps * WARP_LANES, dtype=np.int64)[None, :]
        return Threads(block, thread_index(np.minimum(linear, count - 1), block), linear < count, warps)


class WarpMasks(Struct, frozen=True, eq=False):
    """Which lanes are active, a word for each warp."""

    words: NDArray[np.uint32]
    """[rows, warps]."""
    kinds: NDArray[np.int64] | None
    """[rows] the same number where the same lanes are active; None where those are so in all rows."""

    active: NDArray[np.bool_]
    """[rows, warps] whether any lane is."""

    @staticmethod
    def of(mask: NDArray[np.bool_]) -> WarpMasks:
        """`mask` is [rows, threads]."""
        different = mask if mask.strides[0] else mask[:1]
        words = np.ascontiguousarray(np.packbits(different, axis=1, bitorder="little")).view("<u4")
        if len(words) == 1 or (words == words[:1]).all():
            words = np.tile(words[:1], (len(mask), 1))
            return WarpMasks(words, None, words > 0)
        text, length, kinds = words.tobytes(), words.strides[0], dict[bytes, int]()
        parts = (text[start : start + length] for start in range(0, len(text), length))
        return WarpMasks(words, np.array([kinds.setdefault(part, len(kinds)) for part in parts]), words > 0)
