"""Functions of numbers: extrema, roundings, conversions, products, and the functions of mathematics.

Source: CUDA Math API, "Integer Intrinsics", "Type Casting Intrinsics", "Single Precision Mathematical Functions".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cudalint.execute.absent import Absent, defined, undefined_as
from cudalint.execute.arithmetic import dtype_of
from cudalint.execute.butterflies import Butterfly, combined
from cudalint.execute.drawn import Drawn, function_number
from cudalint.execute.library.common import Handler, arguments_of, data_of, is_number, is_whole, opaque
from cudalint.execute.memory import as_type
from cudalint.execute.operators import combine
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import COMPUTED, UNKNOWN, Data, Pointer, Value
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import Builtin

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

Compute = Callable[..., Any]
_WIDEST_FAST: Final = 4
"""Bytes of integers whose products numpy has room for."""


def of_numbers(program: Program, e: ir.Call, compute: Compute) -> Evaluate:
    """A function of numbers, which is computed for wide arrays of them, and is data where an argument is."""
    arguments, type_ = arguments_of(program, e), ir.referent(e.type)

    def call(m: Machine) -> Value:
        found = [argument(m) for argument in arguments]
        if not found or not isinstance(type_, ir.Scalar) or not all(is_number(value) for value in found):
            return function_number(compute, found, type_) or opaque(type_, _computed(found))
        for value in found:
            m.watch("same", value, 0)
        if any(type(value) is np.ndarray for value in found):
            return _as_lanes(compute(*(np.asarray(value) for value in found)), type_)
        result = compute(*(np.asarray([value]) for value in found))[0]
        plain = result.item() if isinstance(result, np.generic) else result
        return plain if isinstance(plain, Data) else as_type(plain, type_)

    return call


def _computed(values: Sequence[Value]) -> Data:
    """What comes of arguments of which one at least is no number: no longer one that could be drawn."""
    found = data_of(values)
    if type(found) is not Drawn:
        return found
    made = Data("computed", "", found.origin, found.is_common)
    made.is_derived = True
    return made


def _as_lanes(values: Any, type_: ir.Scalar) -> Any:
    with np.errstate(invalid="ignore", over="ignore"):
        return values if values.dtype == dtype_of(type_) else values.astype(dtype_of(type_))


def _extremum(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    arguments, type_ = arguments_of(program, e), ir.referent(e.type)
    array, plain = (np.minimum, min) if "min" in builtin.operand else (np.maximum, max)

    def call(m: Machine) -> Value:
        found = [as_type(argument(m), type_) for argument in arguments[:2]]
        if len(found) != 2 or not isinstance(type_, ir.Scalar) or not all(is_number(value) for value in found):
            if Absent in map(type, found):
                return undefined_as(opaque(type_, _computed(list(map(defined, found)))), found)
            if len(found) == 2 and Butterfly in map(type, found):
                return opaque(type_, combined("min", *found))
            return function_number(array, found, type_) or opaque(type_, _computed(found))
        m.watch("min" if plain is min else "max", found[0], found[1])
        if np.ndarray in map(type, found):
            dtype = dtype_of(type_)
            return array(*(value if type(value) is np.ndarray else dtype.type(value) for value in found))
        return plain(found)

    return call


def _absolute(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    argument, type_ = program.value(e.arguments[0]), ir.referent(e.type)

    def call(m: Machine) -> Value:
        value = argument(m)
        if not is_number(value):
            return function_number(np.abs, [value], type_) or opaque(type_, _computed([value]))
        m.watch("<", value, 0)
        return as_type(abs(as_type(value, type_)), type_)

    return call


def _operator(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    left, right = (program.value(argument) for argument in e.arguments[:2])
    type_ = ir.referent(e.type)
    if not isinstance(type_, ir.Scalar):
        return of_numbers(program, e, lambda *values: values[0])

    def call(m: Machine) -> Value:
        return combine(m, builtin.operand, as_type(left(m), type_), as_type(right(m), type_), type_, type_)

    return call


def _fused(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    type_ = ir.referent(e.type)
    if not isinstance(type_, ir.Scalar) or len(e.arguments) < 3:
        return of_numbers(program, e, lambda *values: values[0])
    factor, other, added = (program.value(argument) for argument in e.arguments[:3])

    def call(m: Machine) -> Value:
        numbers = [as_type(each(m), type_) for each in (factor, other, added)]
        product = combine(m, "*", numbers[0], numbers[1], type_, type_)
        return combine(m, "+", product, numbers[2], type_, type_)

    return call


def _high_product(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """The upper half of the product of two integers, `__mulhi` and `__umul64hi`."""
    type_ = ir.referent(e.type)
    bits = 8 * type_.bytes

    def compute(left: Any, right: Any) -> Any:
        if type_.bytes <= _WIDEST_FAST:
            wide = np.int64 if isinstance(type_, ir.Scalar) and type_.kind == "int" else np.uint64
            return (left.astype(wide) * right.astype(wide)) >> wide(bits)
        return (left.astype(object) * right.astype(object)) >> bits

    return of_numbers(program, e, compute)


def _power(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    return of_numbers(program, e, lambda base, exponent: np.power(base.astype(np.float64), exponent))


def _converted(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    return of_numbers(program, e, lambda value: value)


def _rounded(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__float2int_rd` and the like: numbers that the type doesn't have become the nearest that it has, and what is no
    number zero (PTX ISA, "cvt")."""
    rounding, type_ = _FUNCTIONS[builtin.operand], ir.referent(e.type)

    def compute(value: Any) -> Any:
        found = rounding(value.astype(np.float64))
        if not isinstance(type_, ir.Scalar) or type_.kind == "float":
            return found
        info: Any = np.iinfo(dtype_of(type_))
        low, high = float(info.min), float(info.max)
        whole = np.nan_to_num(np.clip(found, low, np.nextafter(high, 0) if high > 2.0**53 else high))
        return whole.astype(dtype_of(type_))

    return of_numbers(program, e, compute)


def _away_from_zero(value: Any) -> Any:
    return np.trunc(value + np.copysign(0.5, value))


_FUNCTIONS: Mapping[str, Compute] = {
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2,
    "log10": np.log10, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint,
    "round": _away_from_zero,
}  # fmt: skip


def _function(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    compute = _FUNCTIONS.get(builtin.operand)
    if compute is None:
        return of_numbers(program, e, lambda *values: [COMPUTED])
    return of_numbers(program, e, lambda value: compute(value.astype(np.float64)))


def _sine_and_cosine(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`sincosf(x, &s, &c)`."""
    argument, *targets = arguments_of(program, e)

    def call(m: Machine) -> Value:
        value = argument(m)
        for target, own, compute in zip(targets, e.arguments[1:], (np.sin, np.cos), strict=False):
            at, type_ = target(m), ir.pointee(ir.referent(own.type))
            if type(at) is not Pointer:
                continue
            known = is_number(value) and isinstance(type_, ir.Scalar)
            found = as_type(compute(np.asarray(value, np.float64)), type_) if known else data_of([value])
            m.memory.store(at.allocation, at.offset, found, type_, e)
        return UNKNOWN

    return call


# --- bits ------------------------------------------------------------------------------------------------------


def _lengths(words: Any) -> Any:
    """How many bits unsigned words have without the zeros before them: exact, as doubles have 53 bits."""
    low = np.frexp((words & np.uint64(0xFFFFFFFF)).astype(np.float64))[1]
    high = np.frexp((words >> np.uint64(32)).astype(np.float64))[1]
    return np.where(high > 0, high + 32, low)


def _ones(words: Any, width: int) -> Any:
    found = np.zeros(words.shape, np.int64)
    for byte in range(0, width, 8):
        found += _ONES_OF_A_BYTE[((words >> np.uint64(byte)) & np.uint64(0xFF)).astype(np.int64)]
    return found


_ONES_OF_A_BYTE: Final = np.array([byte.bit_count() for byte in range(256)], np.int64)


def _lowest(words: Any) -> Any:
    return words & (~words + np.uint64(1))


def _reversed(words: Any, width: int) -> Any:
    found = np.zeros_like(words)
    for bit in range(width):
        found |= ((words >> np.uint64(bit)) & np.uint64(1)) << np.uint64(width - 1 - bit)
    return found


_OF_BITS: Mapping[str, Callable[[Any, int], Any]] = {
    "ones": _ones,
    "leading-zeros": lambda words, width: width - _lengths(words),
    "first-set": lambda words, width: _lengths(_lowest(words)),
    "trailing-zeros": lambda words, width: _lengths(_lowest(words)) - 1,
    "reversed-word": _reversed,
}  # fmt: skip


def _bits(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__popc`, `__clz`, `__ffs`, `__brev` and their forms for words of 64 bits, whose names end so."""
    count, width = _OF_BITS[builtin.operand], 64 if e.name.endswith("ll") else 32
    mask = np.uint64((1 << width) - 1)

    def compute(value: Any) -> Any:
        return count(value.astype(np.int64).astype(np.uint64) & mask, width)

    return of_numbers(program, e, compute)


def _funnel(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__funnelshift_l(low, high, shift)`: 32 bits of the two words in a row; the forms with `c` shift by 32 at most,
    the others modulo 32."""
    is_left, is_clamped = "_l" in e.name, e.name.endswith("c")

    def compute(low: Any, high: Any, shift: Any) -> Any:
        both = (high.astype(np.uint64) & _WORD) << np.uint64(32) | low.astype(np.uint64) & _WORD
        by = shift.astype(np.uint64) & _WORD
        by = np.minimum(by, np.uint64(32)) if is_clamped else by & np.uint64(31)
        return (both << by) >> np.uint64(32) if is_left else (both >> by) & _WORD

    return of_numbers(program, e, compute)


_WORD: Final = np.uint64(0xFFFFFFFF)


def _permuted_bytes(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__byte_perm(x, y, selector)`: each nibble of the selector chooses one of eight bytes."""

    def compute(low: Any, high: Any, selector: Any) -> Any:
        both = (high.astype(np.uint64) & _WORD) << np.uint64(32) | low.astype(np.uint64) & _WORD
        found = np.zeros(np.broadcast_shapes(both.shape, selector.shape), np.uint64)
        for place in range(4):
            by = ((selector.astype(np.uint64) >> np.uint64(4 * place)) & np.uint64(7)) * np.uint64(8)
            found |= ((both >> by) & np.uint64(0xFF)) << np.uint64(8 * place)
        return found

    return of_numbers(program, e, compute)


def _reinterpreted(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__float_as_int` and the like: the same bits as a number of another type."""
    argument, own, type_ = program.value(e.arguments[0]), ir.referent(e.arguments[0].type), ir.referent(e.type)

    def call(m: Machine) -> Value:
        value = argument(m)
        if not is_number(value) or not isinstance(own, ir.Scalar) or not isinstance(type_, ir.Scalar):
            return opaque(type_, data_of([value]))
        if own.bytes != type_.bytes or (is_whole(value) and own.kind == "float"):
            return COMPUTED
        bits = np.atleast_1d(np.asarray(value).astype(dtype_of(own))).view(dtype_of(type_))
        return bits if type(value) is np.ndarray else as_type(bits[0].item(), type_)

    return call


HANDLERS: Mapping[str, Handler] = {
    "extremum": _extremum, "absolute": _absolute, "operator": _operator, "fused": _fused, "power": _power,
    "high-product": _high_product, "converted": _converted, "rounded": _rounded, "function": _function,
    "sine-and-cosine": _sine_and_cosine, "bits": _bits, "funnel-shift": _funnel, "byte-permutation": _permuted_bytes,
    "same-bits": _reinterpreted,
}  # fmt: skip
