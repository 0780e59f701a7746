"""Other numbers than those that were chosen: what is tried to see whether something rests on a choice.

Each question has its numbers here, whoever asks it: whether divisibility matters, or the magnitude; from which size on
something holds; which sizes bring threads to a place that the chosen ones keep them from. Whether a launch may be made
with such numbers, says the view of the launch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from cudalint.host.values.nodes import GRANULE

OF_LITTLE_SENSE = (1, 7, 33)
"""Sizes of which no program makes whole blocks."""
VECTORS = (1, 2, 4, 8, 16)
"""Elements of vectors, by which sizes are divided on the way to a block."""
SEPARATION = 1024
"""By which two sizes differ at least in `apart`."""
_STRIDES = (1_299_709, 104_729, 15_485_863, 7_919, 611_953)
_RESTS = (1, 8, 16, 24, 25, 26, 27)
_TIMES = 16
_MOST_MOVES = 20


def larger(size: int) -> list[int]:
    """The smallest power of two that will do says most, as a size that is far from there may be more than fits into
    memory."""
    most = size * _TIMES
    return [*(1 << bits for bits in range(size.bit_length(), most.bit_length())), most] if size > 0 else []


def usual(threads: int, blocks: int) -> tuple[int, ...]:
    """What sizes often are: the block's, twice that, the number of threads, powers of two."""
    return threads, 2 * threads, threads * blocks, 1024, 1 << 14


def odd_and_even(size: int | float) -> tuple[int | float, int | float]:
    """Large sizes beside a chosen one, one of them odd."""
    return size * 3 + 1, size * 8 + GRANULE


def other_blocks(count: int) -> Sequence[tuple[int, ...]]:
    """The extents of blocks that might as well be meant along so many axes: a kernel that asks for all three of them
    may be launched with a plane of threads, each of which walks along the third one."""
    if count == 1:
        return ((64,), (16,), (32,), (128,), (512,), (8,))
    if count == 2:
        return (32, 8), (16, 16), (8, 8), (32, 32), (64, 4), (32, 1)
    return (32, 8, 1), (8, 8, 8), (32, 4, 2), (16, 4, 4), (4, 4, 4)


def moved(count: int, modulus: int) -> list[tuple[int, ...]]:
    """How far each of some sizes is moved off a multiple: each alone by small numbers, then all by different ones."""
    none = (0,) * count
    if count == 1:
        return [(by,) for by in range(modulus)]
    single = [(*none[:i], by, *none[i + 1 :]) for i in range(count) for by in (1, 2, 3, 4, 8) if by < modulus]
    drawn = np.random.default_rng(count).integers(0, modulus, (2 * modulus, count))
    together = [tuple(int(by) for by in row) for row in drawn]
    return [none, *single[:_MOST_MOVES], *together[:_MOST_MOVES]]


def multiples(count: int, unit: int) -> Iterator[tuple[int, ...]]:
    """Numbers for so many sizes that are multiples of a unit, different from one another, in either order; some blocks
    take 3, 5 or 7 times a power of two."""
    orders = [range(1, count + 1), range(count, 0, -1)][:count]
    for scale, order in itertools.product((1, 3, 7, 105), orders):
        yield tuple(scale * factor * unit for factor in order)


def apart(count: int, turn: int) -> tuple[int, ...]:
    """Numbers for so many sizes of which no two are equal, and none is what it is in the other turn; they differ by
    more than any tile, which leaves no remainder in them."""
    first = 2 + turn * count
    order = range(first, first + count)
    return tuple(SEPARATION * number for number in (reversed(order) if turn else order))
