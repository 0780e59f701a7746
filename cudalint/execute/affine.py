"""How long what an operator does stays affine while its operands move by a constant step.

All statements of a loop's body that only add, subtract and multiply by what does not move keep values that move by
constant steps moving by constant steps. What could break that are the other operators: a comparison, a division, a
remainder, bits, a product of two that move, and wrap-around. For one execution of each, and the step that its operands
make per period, `lasts` says for how many further periods its result goes on as it did.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cudalint.execute.arithmetic import COMPARING, COMPARISONS
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.lanes import Array

FOREVER: Final = 1 << 60
MOST_TIMES: Final = 64
"""Turns that may be one period."""
_EXTREMA: Final = frozenset({"min", "max"})
_BITS: Final = frozenset({"&", "|", "^"})
_SUMS: Final = frozenset({"+", "-", "*", "cast"})


def is_number(value: Any) -> bool:
    kind = type(value)
    return kind is int or kind is bool or kind is np.ndarray


def wide(value: Any) -> Any:
    """A whole number as one that doesn't wrap."""
    return value.astype(np.int64) if type(value) is np.ndarray else int(value)


def _clamped(left: Any, right: Any) -> tuple[Any, Any]:
    """Plain numbers beside arrays as far as these reach: beyond, only their sides matter."""
    if type(left) is np.ndarray and type(right) is int:
        return left, max(-_FAR, min(_FAR, right))
    if type(left) is int and type(right) is np.ndarray:
        return max(-_FAR, min(_FAR, left)), right
    return left, right


_FAR: Final = 1 << 62


def step_of(before: Any, after: Any) -> Any:
    """What was added to a number; None if it is none that moves by whole numbers. 0 is a plain number."""
    if before is after:
        return 0
    kinds = type(before), type(after)
    if kinds == (int, int):
        return after - before
    if any(kind not in (int, bool, float, np.ndarray) for kind in kinds):
        return None
    if _is_float(before) or _is_float(after):
        return 0 if np.equal(before, after).all() else None
    return plain(difference(after, before))


def difference(one: Any, other: Any) -> Any:
    """Of whole numbers, which doesn't wrap."""
    first, second = _clamped(wide(one), wide(other))
    return first - second


def _is_float(value: Any) -> bool:
    return value.dtype.kind == "f" if type(value) is np.ndarray else type(value) is float


def plain(value: Any) -> Any:
    """A plain number where all of an array are one."""
    if type(value) is np.ndarray:
        first = int(value.flat[0])
        return first if (value == first).all() else value
    return value


def lasts(
    op: str, left: Any, right: Any, by: tuple[Any, Any], type_: ir.Type | None, mask: Any = None
) -> tuple[Any, int]:  # fmt: skip
    """For how many periods more the result of `left op right` moves as it did when the operands move by `by` in each;
    and of how many of these periods a longer one is made for which it would do so longer, or 1.

    The first is a plain number, or an array by lane. `type_` is that of the result, and of the operand of a `cast`.
    `mask` has the lanes that go on: the longer period is for them.
    """
    if type(by[0]) is int and type(by[1]) is int and by[0] == 0 == by[1]:
        return FOREVER, 1
    try:
        return _lasts(op, left, right, by, type_, mask)
    except OverflowError:
        return 0, 1  # Beside an array there is a number that none can hold.


def _lasts(
    op: str, left: Any, right: Any, by: tuple[Any, Any], type_: ir.Type | None, mask: Any
) -> tuple[Any, int]:  # fmt: skip
    left, right = _clamped(wide(left), wide(right) if right is not None else 0)
    by = _clamped(*by)
    if op in COMPARING:
        return _comparison(op, left - right, by[0] - by[1]), 1
    if op in _EXTREMA:
        return _sign(left - right - 1, by[0] - by[1]), 1
    if op in _SUMS:
        return _sum(op, left, right, by, type_)
    if op in ("/", "%", ">>"):
        return _division(left, right if op != ">>" else _power(right), by, op == ">>", mask)
    if op in _BITS:
        return _bits(op, left, right, by, mask)
    if op == "<<":
        return _none_where(by[1]), 1
    return _none_where(by[0], by[1]), 1


def _power(bits: Any) -> Any:
    """Two to the number of bits."""
    if type(bits) is int:
        return 1 << min(max(bits, 0), 62)
    return plain(np.int64(1) << np.clip(bits, 0, 62))


def _none_where(*steps: Any) -> Any:
    """No period where anything moves."""
    moves: Any = False
    for step in steps:
        moves = moves | (step != 0)
    return np.where(moves, 0, FOREVER) if type(moves) is np.ndarray else 0 if moves else FOREVER


def _sign(number: Any, step: Any) -> Any:
    """For how many steps a number stays negative, or stays not negative."""
    if type(number) is int and type(step) is int:
        if number < 0:
            return FOREVER if step <= 0 else (-number - 1) // step
        return FOREVER if step >= 0 else number // -step
    if type(step) is int:
        if step == 0:
            return FOREVER
        is_negative = np.less(number, 0)
        if step > 0:
            return np.where(is_negative, (-number - 1) // step, FOREVER)
        return np.where(is_negative, FOREVER, number // -step)
    up, down = np.maximum(step, 1), np.maximum(-np.asarray(step), 1)
    negative: Any = np.where(np.less_equal(step, 0), FOREVER, (-number - 1) // up)
    return np.where(np.less(number, 0), negative, np.where(np.greater_equal(step, 0), FOREVER, number // down))


def _comparison(op: str, distance: Any, step: Any) -> Any:
    if op in ("<", ">="):
        return _sign(distance, step)
    if op in ("<=", ">"):
        return _sign(distance - 1, step)
    if type(distance) is int and type(step) is int:
        if distance == 0 or step == 0:
            return FOREVER if step == 0 else 0
        turns, rest = divmod(-distance, step)
        return turns - 1 if rest == 0 and turns > 0 else FOREVER
    safe = np.where(np.equal(step, 0), 1, step)
    turns, rest = np.floor_divide(-np.asarray(distance), safe), np.remainder(-np.asarray(distance), safe)
    meets = np.equal(rest, 0) & (turns > 0)
    unequal = np.where(meets, turns - 1, FOREVER)
    return np.where(np.equal(step, 0), FOREVER, np.where(np.equal(distance, 0), 0, unequal))


def has_lasted(
    op: str, before: tuple[Any, Any], after: tuple[Any, Any], by: tuple[Any, Any], type_: ir.Type | None
) -> Any:  # fmt: skip
    """Whether the result of an operator has moved by a constant step as its operands moved by `by`, from `before` to
    `after`: a bool, or an array by lane. That is what `lasts` says of `before`, without a division for most of them."""
    try:
        (left, right), (new_left, new_right) = (_clamped(wide(left), wide(right)) for left, right in (before, after))
        if op in COMPARING or op in _EXTREMA:
            compare: Callable[[Any, Any], Any] = COMPARISONS.get(op, operator.le)
            return np.equal(compare(left, right), compare(new_left, new_right))
        if op in _SUMS and (op != "*" or (type(by[0]) is int and by[0] == 0) or (type(by[1]) is int and by[1] == 0)):
            old, new = _exact(op, left, right), _exact(op, new_left, new_right)
            return np.equal(_times_around(old, type_), _times_around(new, type_))
    except OverflowError:
        return False
    return np.greater_equal(lasts(op, *before, by, type_)[0], 1)


def _exact(op: str, left: Any, right: Any) -> Any:
    return left if op == "cast" else left * right if op == "*" else left + right if op == "+" else left - right


def _times_around(number: Any, type_: ir.Type | None) -> Any:
    """How often a number wraps around in a type of integers."""
    if not isinstance(type_, ir.Scalar) or type_.kind not in ("int", "uint"):
        return 0
    bits, is_signed = 8 * type_.bytes, type_.kind == "int"
    if bits >= 64:
        return 0 if is_signed else np.less(number, 0)
    return (number + (1 << (bits - 1) if is_signed else 0)) >> bits


def _within(number: Any, divisor: Any, step: Any) -> Any:
    """For how many steps `floor(number / divisor)` stays."""
    rest = number % divisor
    if type(step) is int:
        if step == 0:
            return FOREVER
        return (divisor - 1 - rest) // step if step > 0 else rest // -step
    up, down = np.maximum(step, 1), np.maximum(-np.asarray(step), 1)
    moving = np.where(np.greater(step, 0), (divisor - 1 - rest) // up, rest // down)
    return np.where(np.equal(step, 0), FOREVER, moving)


def _times(divisor: Any, step: Any, mask: Any) -> int:
    """Of how many periods one is made in which a number moves by a multiple of a divisor. Lanes for which it would have
    to be too long have no part in it: they go on for as long as the quotient stays."""
    if type(divisor) is int and type(step) is int:
        return divisor // math.gcd(divisor, step)
    each = divisor // np.gcd(divisor, np.abs(step))
    found = np.unique(each if mask is None else np.broadcast_to(each, mask.shape)[mask])
    found = found[found <= MOST_TIMES]
    return math.lcm(*(int(each) for each in found[:8])) if len(found) <= 8 else 1


def _division(left: Any, divisor: Any, by: tuple[Any, Any], is_floor: bool, mask: Any) -> tuple[Any, int]:
    """Of a quotient or a remainder. A division of C's rounds toward zero, a shift downwards."""
    if not (type(by[1]) is int and by[1] == 0):
        return _none_where(by[1]), 1
    step = by[0]
    if np.any(np.equal(divisor, 0)):
        return 0, 1
    divisor = abs(divisor)
    whole = step % divisor
    level = _within(left, divisor, step) if is_floor else _toward_zero(left, divisor, step)
    side = FOREVER if is_floor else _sign(left, step)
    if type(whole) is int:
        return (side, 1) if whole == 0 else (level, _times(divisor, step, mask))
    return np.where(whole == 0, side, level), _times(divisor, step, mask)


def _toward_zero(left: Any, divisor: Any, step: Any) -> Any:
    """For how many steps a quotient that is rounded toward zero stays."""
    if type(left) is int and type(step) is int:
        return _within(left, divisor, step) if left >= 0 else _within(-left, divisor, -step)
    is_below = np.less(left, 0)
    return _within(np.abs(left), divisor, np.where(is_below, -np.asarray(step), step))


def _bits(op: str, left: Any, right: Any, by: tuple[Any, Any], mask: Any) -> tuple[Any, int]:
    """Of `&`, `|` and `^`: if one side doesn't move, higher bits of the other than it has don't matter."""
    if not (type(by[0]) is int and by[0] == 0):
        left, right, by = right, left, (by[1], by[0])
    if not (type(by[0]) is int and by[0] == 0) or type(left) is not int:
        if type(by[0]) is int and by[0] == 0 and type(left) is np.ndarray and (left >= 0).all():
            return _by_bits(int(left.max()), by[1], mask)
        return _none_where(*by), 1
    bits, step = left, by[1]
    if op == "&" and bits < 0 and (~bits & (~bits + 1)) == 0:
        bits = ~bits  # What it takes off is a remainder.
    if op == "&" and bits >= 0 and (bits & (bits + 1)) == 0:
        return _division(right, bits + 1, (step, 0), True, mask)
    return _by_bits(bits, step, mask) if bits >= 0 else (_none_where(step), 1)


_MOST_BITS = 62
"""Of a mask whose power of two fits into a number of arrays."""


def _by_bits(bits: int, step: Any, mask: Any) -> tuple[Any, int]:
    if bits.bit_length() > _MOST_BITS:
        return _none_where(step), 1
    unit = 1 << bits.bit_length()
    return _none_where(step % unit), _times(unit, step, mask)


def _sum(op: str, left: Any, right: Any, by: tuple[Any, Any], type_: ir.Type | None) -> tuple[Any, int]:
    """Of what only wrap-around, or a product of two that move, keeps from going on for ever."""
    periods: Any = FOREVER
    step: Any
    if op == "*":
        step = left * by[1] + right * by[0]
        periods = _none_where(by[0] * by[1])
    else:
        step = _exact(op, *by)
    if not isinstance(type_, ir.Scalar) or type_.kind not in ("int", "uint"):
        return periods, 1
    return _least(periods, held(_exact(op, left, right), step, type_)), 1


def held(number: Any, step: Any, type_: ir.Scalar) -> Any:
    """For how many steps a number wraps around no more than it does now in a type of integers."""
    bits = 8 * type_.bytes
    if bits >= 64:
        return _sign(number, step) if type_.kind == "uint" else FOREVER
    half = 1 << (bits - 1) if type_.kind == "int" else 0
    return _within(number + half, 1 << bits, step)


def _least(one: Any, other: Any) -> Any:
    return min(one, other) if type(one) is int and type(other) is int else np.minimum(one, other)


def least_by_warp(periods: Array, mask: Array, warps: int) -> Array:
    """The least of the active lanes of each warp, [R, warps]."""
    own = np.where(mask, periods, FOREVER)
    found: Array = own.reshape(own.shape[0], warps, -1).min(axis=2)
    return found
