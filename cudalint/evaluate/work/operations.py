"""What one operation of the source takes: operations of the machine by type, and instructions."""

from __future__ import annotations

from math import frexp
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import DIVISIONS, Sequence, machine_code

Counts = NDArray[np.float64]
"""[6] fp32, fp64, fp16, tensor and special operations, and instructions."""
WIDTH: Final = 6
_ARITHMETIC = ("+", "-", "*")
_QUARTER: Final = 0.25
_FLOAT: Final = ir.Scalar("float", 4, "float")


def operation_of(code: ir.Expr) -> Counts:
    """What the operation at the root of an expression takes, a lane each: what its operands take is counted with them.
    """
    counts = np.zeros(WIDTH)
    match code:
        case ir.Unary(op=op, type=type_):
            if op in walk.STEPS:
                _arithmetic("+", type_, counts)
            elif not _float_bytes(type_):
                # The sign of a floating-point number goes into what uses it.
                counts[5] += 1.0
        case ir.Binary(op=op, left=left, right=right, type=type_):
            if not (isinstance(left, ir.Constant) and isinstance(right, ir.Constant)):
                _binary(op, left, right, type_, counts)
        case ir.Assign(op=op, target=target, value=value) if op:
            wider = value.type if _float_bytes(value.type) > _float_bytes(target.type) else target.type
            _binary(op, target, value, wider, counts)
            _convert(target.type, wider, counts)
            _convert(wider, target.type, counts)
        case ir.Conditional():
            counts[5] += 1.0
        case ir.Cast(operand=operand, type=type_):
            if not isinstance(operand, ir.Constant):
                _convert(operand.type, type_, counts)
        case ir.Call():
            _call(code, counts)
    return counts


def in_single_precision(code: ir.Expr) -> float:
    """Instructions of the operation at the root of an expression, if it were one of floats."""
    counts = np.zeros(WIDTH)
    match code:
        case ir.Cast():
            return 0.0
        case ir.Binary(op="/", left=left, right=right) | ir.Assign(op="/", target=left, value=right):
            _run(_division(left, right, _FLOAT), counts)
            return float(counts[5])
        case ir.Assign():
            return 1.0
        case ir.Call(name=name, arguments=arguments):
            return machine_code(name, _FLOAT.bytes, _exponent(arguments)).instructions
    return float(operation_of(code)[5])


def _call(call: ir.Call, counts: Counts) -> None:
    arguments = call.arguments if call.receiver is None else (call.receiver, *call.arguments)
    half = _half_lanes(arguments[0].type if arguments else call.type)
    if half and call.name.removeprefix("operator") in ("+", "-", "*", "+=", "-=", "*="):
        counts[2] += half
        counts[5] += 1.0
        return
    # A template may take what it converts: `pow(x, 2)` of a float computes doubles.
    type_ = call.type if _float_bytes(call.type) == 8 or not arguments else arguments[0].type
    _run(machine_code(call.name, _float_bytes(type_), _exponent(arguments)), counts)


def _exponent(arguments: tuple[ir.Expr, ...]) -> int | float | str | None:
    second = walk.without_casts(arguments[1]) if len(arguments) > 1 else None
    return second.value if isinstance(second, ir.Constant) else None


def _half_lanes(type_: ir.Type) -> int:
    """How many 16-bit floating-point numbers a type of the CUDA headers holds."""
    return _HALVES.get(ir.type_name(ir.referent(type_)).removeprefix("const "), 0)


_HALVES: Final = {"__half": 1, "half": 1, "__nv_bfloat16": 1, "__half2": 2, "half2": 2, "__nv_bfloat162": 2}


def _binary(op: str, left: ir.Expr, right: ir.Expr, type_: ir.Type, counts: Counts) -> None:
    if op == "/" or (op == "%" and not _float_bytes(type_)):
        _run(_division(left, right, type_), counts)
    elif op not in (",",):
        _arithmetic(op, type_, counts)


def _arithmetic(op: str, type_: ir.Type, counts: Counts) -> None:
    size = _float_bytes(type_)
    if size and op in _ARITHMETIC:
        counts[{2: 2, 4: 0, 8: 1}.get(size, 1)] += 1.0
    counts[5] += 1.0


def _division(left: ir.Expr, right: ir.Expr, type_: ir.Type) -> Sequence:
    size, left, right = _float_bytes(type_), walk.without_casts(left), walk.without_casts(right)
    is_fixed = isinstance(right, ir.Constant) or (isinstance(right, ir.Name) and walk.is_fixed(right.symbol))
    by = "constant" if is_fixed else "number"
    if size and isinstance(left, ir.Constant) and left.value == 1:
        by = "reciprocal"
    if isinstance(right, ir.Constant) and isinstance(right.value, (int, float)) and is_power_of_two(right.value):
        by = "power"
    wide = isinstance(type_, ir.Scalar) and type_.bytes == 8
    return DIVISIONS[("double" if size == 8 else "float") if size else ("long" if wide else "int"), by]


def _run(sequence: Sequence, counts: Counts) -> None:
    counts[0] += sequence.fp32
    counts[1] += sequence.fp64
    counts[2] += sequence.fp16
    counts[4] += sequence.special
    counts[5] += sequence.instructions


def _float_bytes(type_: ir.Type) -> int:
    return type_.bytes if isinstance(type_, ir.Scalar) and type_.kind == "float" else 0


def _convert(source: ir.Type, target: ir.Type, counts: Counts) -> None:
    """A cast is an instruction between integers and floating point, and between widths of the latter."""
    if isinstance(source, ir.Scalar) and isinstance(target, ir.Scalar):
        floats = [each.bytes for each in (source, target) if each.kind == "float"]
        if len(floats) == 1 or len(set(floats)) == 2:
            _run(_conversion(source, target), counts)


def _conversion(source: ir.Scalar, target: ir.Scalar) -> Sequence:
    """Between integers and floating-point numbers, or between widths of the latter."""
    if max(source.bytes, target.bytes) == 8:
        return Sequence(1, special=1)
    return Sequence(1) if source.kind != "float" and target.bytes == 4 else Sequence(1, special=_QUARTER)


def is_power_of_two(value: int | float) -> bool:
    """Whether the absolute value of a number of the source is one; zero, infinity and what is no number are none. C has
    no limit for the digits of a constant, so that an integer may be beyond what a float or a machine's integer holds.
    """
    if isinstance(value, int):
        size = abs(int(value))
        return size != 0 and size & (size - 1) == 0
    return abs(frexp(value)[0]) == 0.5
