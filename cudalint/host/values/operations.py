"""The operations of the expression graph: what each comes to in every domain that values are looked at in."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from cudalint.host.values import apart, arithmetic, arrays, residue
from cudalint.host.values.apart import Apart
from cudalint.host.values.arithmetic import U8, Kind, Number
from cudalint.host.values.arrays import Array
from cudalint.host.values.nodes import Node
from cudalint.host.values.residue import Residue

if TYPE_CHECKING:
    from cudalint.host.values.numeric import Rows

Parts = Callable[["Rows", Node], Apart | None]


class Operation(Struct, frozen=True):
    """A binary operation."""

    number: Callable[[Number, Number, Kind], Number]
    """Of two plain numbers, before the result is wrapped to its kind."""
    array: Callable[[Array, Array, Kind], Array]
    """Of the numbers of all threads, in all rows (`Rows.value`)."""
    parts: Parts | None = None
    """Of values that are one number for the row plus one for the thread (`Rows.apart`), where the result may be so."""
    residue: Callable[[Residue, Residue], Residue] | None = None
    """Of what is known modulo powers of two (`Residues`)."""
    commutes: bool = False
    compares: bool = False
    """The result is a condition."""
    wraps: bool = False
    """What does not fit an unsigned number is cut off."""
    by_sign: bool = False
    """Large unsigned numbers are to be told from negative ones."""


class Function(Struct, frozen=True):
    """A function of one floating-point number."""

    number: Callable[[float], float]
    array: Callable[[Array], Array]


def _truth(function: Callable[[Number, Number], bool]) -> Callable[[Number, Number, Kind], Number]:
    return lambda a, b, kind: int(function(a, b))


OPERATIONS: Mapping[str, Operation] = {
    "+": Operation(lambda a, b, k: a + b, arrays.total, apart.total, residue.total, commutes=True, wraps=True),
    "-": Operation(lambda a, b, k: a - b, arrays.difference, apart.difference, residue.difference, wraps=True),
    "*": Operation(lambda a, b, k: a * b, arrays.product, apart.product, residue.product, commutes=True, wraps=True),
    "/": Operation(arithmetic.quotient, arrays.quotient, apart.quotient, by_sign=True),
    "%": Operation(arithmetic.remainder, arrays.remainder, apart.remainder, residue.remainder, by_sign=True),
    "<<": Operation(
        lambda a, b, k: arithmetic.shifted(a, b, True), arrays.shifted_left, apart.shifted_left, wraps=True
    ),
    ">>": Operation(
        lambda a, b, k: arithmetic.shifted(a, b, False), arrays.shifted_right, apart.shifted_right, by_sign=True
    ),
    "&": Operation(
        lambda a, b, k: int(a) & int(b), arrays.conjunction,
        apart.masked, residue.conjunction, commutes=True,
    ),
    "|": Operation(
        lambda a, b, k: int(a) | int(b), arrays.disjunction,
        None, residue.disjunction, commutes=True,
    ),
    "^": Operation(
        lambda a, b, k: int(a) ^ int(b), arrays.exclusive_or,
        None, residue.exclusive_or, commutes=True, wraps=True,
    ),
    "min": Operation(
        lambda a, b, k: min(a, b), lambda a, b, k: np.minimum(a, b), apart.least, commutes=True, by_sign=True
    ),
    "max": Operation(
        lambda a, b, k: max(a, b), lambda a, b, k: np.maximum(a, b), apart.greatest, commutes=True, by_sign=True
    ),
    "gcd": Operation(
        lambda a, b, k: math.gcd(int(a), int(b)), lambda a, b, k: np.gcd(a, b), commutes=True, by_sign=True
    ),
    "pow": Operation(lambda a, b, k: math.pow(a, b), lambda a, b, k: np.float_power(a, b)),
    "<": Operation(_truth(operator.lt), lambda a, b, k: np.less(a, b), compares=True, by_sign=True),
    "<=": Operation(_truth(operator.le), lambda a, b, k: np.less_equal(a, b), compares=True, by_sign=True),
    "==": Operation(_truth(operator.eq), lambda a, b, k: np.equal(a, b), commutes=True, compares=True),
    "!=": Operation(_truth(operator.ne), lambda a, b, k: np.not_equal(a, b), commutes=True, compares=True),
    "&&": Operation(
        _truth(lambda a, b: bool(a) and bool(b)), lambda a, b, k: np.logical_and(a, b), compares=True
    ),
    "||": Operation(
        _truth(lambda a, b: bool(a) or bool(b)), lambda a, b, k: np.logical_or(a, b), compares=True
    ),
}  # fmt: skip
"""By symbol. There is none for `>` and `>=`, which are `<` and `<=` with their sides changed (`SWAPPED`)."""
PARTS: Mapping[str, Parts] = {
    **{op: known.parts for op, known in OPERATIONS.items() if known.parts is not None},
    "select": apart.choice, "cast": apart.converted,
}  # fmt: skip
COMPARISONS = frozenset(op for op, known in OPERATIONS.items() if known.compares)
COMMUTATIVE = frozenset(op for op, known in OPERATIONS.items() if known.commutes)
SWAPPED = {">": "<", ">=": "<="}
FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function(math.sqrt, np.sqrt),
    "rsqrt": Function(lambda x: 1.0 / math.sqrt(x), lambda x: 1.0 / np.sqrt(x)),
    "floor": Function(math.floor, np.floor),
    "ceil": Function(math.ceil, np.ceil),
    "trunc": Function(math.trunc, np.trunc),
    "rint": Function(lambda x: float(round(x)), np.rint),
    "round": Function(lambda x: math.floor(x + 0.5) if x >= 0 else math.ceil(x - 0.5), arrays.rounded),
    "fabs": Function(math.fabs, np.abs),
    "log": Function(math.log, np.log),
    "log2": Function(math.log2, np.log2),
    "log10": Function(math.log10, np.log10),
    "exp": Function(math.exp, np.exp),
    "exp2": Function(lambda x: 2.0**x, np.exp2),
    "sin": Function(math.sin, np.sin),
    "cos": Function(math.cos, np.cos),
    "tan": Function(math.tan, np.tan),
    "asin": Function(math.asin, np.arcsin),
    "acos": Function(math.acos, np.arccos),
    "atan": Function(math.atan, np.arctan),
}
"""By their C name without suffix."""
_UNSIGNED_MASKS = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFFFFFF}


def fold(op: str, a: Number, b: Number, kind: Kind) -> Number:
    """A binary operation on two numbers, before its result is wrapped; 0 where C leaves it open."""
    try:
        return OPERATIONS[op].number(a, b, kind)
    except (OverflowError, ValueError):
        return 0


def operate(node: Node, args: list[Array]) -> Array:
    """What a node is for all threads, given what its arguments are."""
    op, kind = node.op, node.kind
    operation = OPERATIONS.get(op)
    if operation is not None:
        if operation.by_sign and U8 in (kind, node.args[0].kind, node.args[1].kind):
            args = _as_unsigned(args)
        result = _as_signed(operation.array(args[0], args[1], kind))
        if operation.wraps and kind.code == "u" and kind.bytes in _UNSIGNED_MASKS:
            return result & _UNSIGNED_MASKS[kind.bytes]
        return result
    if op == "!":
        return np.logical_not(args[0])
    if op == "select":
        return np.where(args[0], args[1], args[2])
    if op == "cast":
        return arrays.convert(args[0], kind)
    if op == "function":
        return FUNCTIONS[str(node.payload)].array(np.asarray(args[0], dtype=np.float64))
    if op == "pick":
        return arrays.pick(args)
    raise AssertionError(f"no numbers for {op}")


def _as_unsigned(args: list[Array]) -> list[Array]:
    """Unsigned 64-bit numbers share the bits of signed ones; where some are beyond 2^63, they have to be told apart."""
    arrays = [np.asarray(a) for a in args]
    if any(a.dtype.kind == "f" for a in arrays) or all(a.min(initial=0) >= 0 for a in arrays):
        return args
    return [a.astype(np.int64).view(np.uint64) if a.ndim else a.astype(np.int64).astype(np.uint64) for a in arrays]


def _as_signed(result: Array) -> Array:
    """Back to the form in which all integers are kept."""
    if isinstance(result, (np.ndarray, np.generic)) and result.dtype == np.uint64:
        return result.astype(np.int64)
    return result
