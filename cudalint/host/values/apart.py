"""Values that are one number for each row plus one for each thread, as most addresses are.

`(blockIdx.x * 256 + threadIdx.x) * 8 + k * pitch` is such a sum: nobody has to compute it for every thread of every row
to know what it does to the lanes of a warp. Where a value comes apart like this, its two parts are computed by
themselves, [rows, 1] and [1, threads]; what does not, or might wrap around on the way, is left to be computed in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudalint.host.values.arithmetic import Kind
from cudalint.host.values.arrays import Array, as_numbers
from cudalint.host.values.nodes import THREAD_BITS, Node

if TYPE_CHECKING:
    from cudalint.host.values.numeric import Rows

FAR = 1 << 62
"""Beyond, sums might wrap around."""


class Apart(NamedTuple):
    """A whole number that is the sum of two."""

    row: Array
    """[rows, 1] or one number."""
    lane: Array
    """[1, threads] or one number."""
    low: int
    high: int
    """Bounds of the sum."""

    def full(self) -> NDArray[np.int64]:
        total: NDArray[np.int64] = np.asarray(self.row + self.lane, dtype=np.int64)
        return total


def whole(value: Array) -> Apart | None:
    """A value that is the same for all threads, or in all rows."""
    numbers = np.asarray(as_numbers(value))
    if numbers.dtype != np.int64 or not numbers.size:
        return None
    if not numbers.ndim:
        number = int(numbers)
        return Apart(np.int64(number), np.int64(0), number, number)
    if min(numbers.shape) > 1:
        return None
    low, high = int(numbers.min()), int(numbers.max())
    of_rows = numbers.shape[1] == 1
    return Apart(numbers, np.int64(0), low, high) if of_rows else Apart(np.int64(0), numbers, low, high)


def total(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    if a is None or b is None:
        return None
    return _within(node.kind, Apart(a.row + b.row, a.lane + b.lane, a.low + b.low, a.high + b.high))


def difference(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    if a is None or b is None:
        return None
    return _within(node.kind, Apart(a.row - b.row, a.lane - b.lane, a.low - b.high, a.high - b.low))


def _both(rows: Rows, node: Node) -> tuple[Apart | None, Apart | None]:
    first = rows.apart(node.args[0])
    return first, None if first is None else rows.apart(node.args[1])


def product(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    if a is None or b is None:
        return None
    number = _number(b)
    if number is None:
        a, number = b, _number(a)
    return None if number is None else _within(node.kind, _scaled(a, number))


def shifted_left(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    distance = None if b is None else _number(b)
    if a is None or distance is None or not 0 <= distance < 32:
        return None
    return _within(node.kind, _scaled(a, 1 << distance))


def _scaled(a: Apart, number: int) -> Apart:
    ends = a.low * number, a.high * number
    if not -FAR < min(ends) <= max(ends) < FAR:
        return Apart(a.row, a.lane, *sorted(ends))
    factor = np.int64(number)
    return Apart(a.row * factor, a.lane * factor, min(ends), max(ends))


def quotient(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    return None if a is None or b is None else _divided(a, _number(b))


def shifted_right(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    distance = None if b is None else _number(b)
    return None if a is None or distance is None or not 0 <= distance < 32 else _divided(a, 1 << distance)


def _divided(a: Apart, divisor: int | None) -> Apart | None:
    if divisor is None or divisor <= 0 or a.low < 0 or not (_divides(divisor, a.row) or _divides(divisor, a.lane)):
        return None
    return Apart(a.row // divisor, a.lane // divisor, a.low // divisor, a.high // divisor)


def remainder(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    return None if a is None or b is None else _rest(a, _number(b))


def masked(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    mask = None if b is None else _number(b)
    return _rest(a, mask + 1) if a is not None and mask is not None and mask > 0 and not mask & (mask + 1) else None


def _rest(a: Apart, divisor: int | None) -> Apart | None:
    if divisor is None or divisor <= 0 or a.low < 0:
        return None
    if a.high < divisor:
        return a
    if _divides(divisor, a.row):
        return Apart(np.int64(0), a.lane % divisor, 0, divisor - 1)
    return Apart(a.row % divisor, np.int64(0), 0, divisor - 1) if _divides(divisor, a.lane) else None


def _divides(divisor: int, numbers: Array) -> bool:
    return not np.any(numbers % divisor)


def least(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    if a is None or b is None or _may_share_bits(node, a, b):
        return None
    return a if a.high <= b.low else b if b.high <= a.low else None


def greatest(rows: Rows, node: Node) -> Apart | None:
    a, b = _both(rows, node)
    if a is None or b is None or _may_share_bits(node, a, b):
        return None
    return a if a.low >= b.high else b if b.low >= a.high else None


def _may_share_bits(node: Node, a: Apart, b: Apart) -> bool:
    """Whether a negative number may stand for a large unsigned one."""
    return min(a.low, b.low) < 0 and any(part.kind.code == "u" for part in (node, *node.args))


def choice(rows: Rows, node: Node) -> Apart | None:
    if node.args[0].bits & THREAD_BITS:
        return None
    condition = np.asarray(rows.value(node.args[0]))
    if condition.all() or not condition.any():
        return rows.apart(node.args[1 if condition.all() else 2])
    return None


def converted(rows: Rows, node: Node) -> Apart | None:
    inner = rows.apart(node.args[0]) if not node.args[0].kind.is_float else None
    if inner is None or node.kind.bytes == 8:
        return inner
    bits = 8 * node.kind.bytes - (node.kind.code == "i")
    lowest = -(1 << bits) if node.kind.code == "i" else 0
    return inner if lowest <= inner.low and inner.high < 1 << bits else None


def _number(a: Apart) -> int | None:
    """The one number that a value is everywhere."""
    return a.low if a.low == a.high else None


def _within(kind: Kind, a: Apart) -> Apart | None:
    """What unsigned numbers do not wrap around; signed ones are computed without an end."""
    if kind.code == "u" and kind.bytes < 8 and not 0 <= a.low <= a.high < 1 << 8 * kind.bytes:
        return None
    return a
