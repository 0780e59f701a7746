"""What memory is taken to hold: numbers for the values that are loaded, of which the source says nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from cudalint.host.values.arithmetic import Kind
from cudalint.host.values.arrays import Array, convert
from cudalint.host.values.nodes import THREAD_BITS, Node, Reason

if TYPE_CHECKING:
    from cudalint.host.values.numeric import Rows

Data = Literal["random", "zero", "place"]
"""What memory holds: arbitrary numbers, zeros, or in each place the number of the thread that loads it."""

_ROOM_BITS = 16
"""Blocks along each axis are numbered as in a grid of so many bits' worth of them, however large theirs is."""


def held_number(rows: Rows, node: Node) -> Array:
    """A pseudo-random number for an opaque value, equal where all its arguments are equal: memory holds arbitrary
    data, but two lanes that read one address read one value."""
    if rows.data != "random":
        own = rows.data == "place" and node.bits & THREAD_BITS
        return _as_number(convert(_thread_number(rows), node.kind) if own else np.int64(0), node.kind)
    assert isinstance(node.payload, Reason)
    function = rows.graph.number_of(node.index if node.payload.function is None else node.payload.function)
    mixed = rows.salt ^ np.uint64((function * 0xD1B54A32D192ED03) & 0xFFFFFFFFFFFFFFFF)
    for arg in node.args:
        number = np.asarray(rows.value(arg))
        if number.dtype.kind == "f":
            word = np.ascontiguousarray(number, dtype=np.float64).view(np.uint64)
        else:
            word = number.astype(np.int64).view(np.uint64)
        mixed = _scramble(mixed ^ word)
    number = _as_kind(_scramble(mixed), node.kind)
    if rows.is_replicated and node.kind.code in "iu" and node.kind.bytes >= 4:
        return (number & ~31) | ((number + rows.replica) & 31)
    return number


def _thread_number(rows: Rows) -> NDArray[np.int64]:
    """[rows, threads] the number of each thread in a grid with much room along each axis."""
    count = math.prod(rows.threads.block)
    dx, dy, _ = rows.threads.block
    x, y, z = rows.threads.indices
    across, down, deep = rows.blocks.T
    blocks: NDArray[np.int64] = across + (down << _ROOM_BITS) + (deep << 2 * _ROOM_BITS)
    numbers: NDArray[np.int64] = x + y * dx + z * dx * dy + blocks[:, None] * count
    return numbers


def _scramble(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = x ^ (x >> np.uint64(30))
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def _as_number(value: Array, kind: Kind) -> Array:
    if kind.code == "b":
        return np.asarray(value) != 0
    return np.asarray(value, dtype=np.float64) if kind.is_float else value


def _as_kind(word: NDArray[np.uint64], kind: Kind) -> Array:
    if kind.code == "f":
        return (word >> np.uint64(40)).astype(np.float64) / float(1 << 24)
    if kind.code == "b":
        # As evenly spread as other numbers: any byte but zero is true.
        return (word & np.uint64(0xFF)) != 0
    bits = min(8 * kind.bytes - (kind.code == "i"), 32)
    return (word >> np.uint64(64 - bits)).view(np.int64)
