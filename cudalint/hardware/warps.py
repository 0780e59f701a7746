"""How the threads of a block are numbered and divided into warps (CUDA C++ Programming Guide, Thread Hierarchy)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cudalint.hardware.requests import WARP_LANES


def warp_count(block: tuple[int, int, int]) -> int:
    """Warps of a block; the last one may be partial."""
    return -(-math.prod(block) // WARP_LANES)


def thread_index(
    linear: NDArray[np.int64], block: tuple[int, int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """`threadIdx` of the threads with these numbers: thread (x, y, z) of a block of Dx by Dy by Dz has the number
    x + y*Dx + z*Dx*Dy. Numbers past the block run on in z."""
    dx, dy, _ = block
    return linear % dx, linear // dx % dy, linear // (dx * dy)
