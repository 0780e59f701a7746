"""What a piece of code computes, once for each lane that executes it: operations by type, and instructions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cudalint import ir
from cudalint.evaluate.branches.work import own_expressions
from cudalint.evaluate.execute import walk
from cudalint.evaluate.work.sequences import DIVISIONS, Sequence, sequence_of

Counts = NDArray[np.float64]
"""[6] fp32, fp64, fp16, tensor and special operations, and instructions."""
_COLUMN: Final = {"fp32": 0, "fp64": 1, "fp16": 2, "tensor": 3, "special": 4, "instructions": 5}
WIDTH: Final = len(_COLUMN)
_ARITHMETIC = ("+", "-", "*")


def operations_of(code: ir.Stmt | ir.Expr, apart: Collection[int] = ()) -> Counts:
    """What a statement or an expression computes itself: without the statements in it, without the bodies of the
    functions that it calls, and without the expressions whose ids are in `apart`."""
    counts = np.zeros(WIDTH)
    for expr in own_expressions(code):
        _add(expr, counts, apart, expr is code)
    return counts


def _add(expr: ir.Expr, counts: Counts, apart: Collection[int], is_own: bool) -> None:
    pending: list[object] = [expr]
    while pending:
        node = pending.pop()
        if id(node) in apart and not (is_own and node is expr):
            continue
        _add_node(node, counts)
        pending += walk.children(node)


def _add_node(node: object, counts: Counts) -> None:
    match node:
        case ir.Index(base=base):
            counts[5] += 0.0 if isinstance(base, ir.Index) else 2.0
        case ir.Unary(op=op, type=type_):
            if op in walk.STEPS:
                _arithmetic("+", type_, counts)
            elif op in ("*", "-", "~"):
                counts[5] += 0.0 if op == "-" and _float_bytes(type_) else 1.0
        case ir.Binary(op=op, left=left, right=right, type=type_):
            if not (isinstance(left, ir.Constant) and isinstance(right, ir.Constant)):
                _binary(op, right, type_, counts)
        case ir.Assign(op=op, target=target, value=value) if op:
            wider = value.type if _float_bytes(value.type) > _float_bytes(target.type) else target.type
            _binary(op, value, wider, counts)
        case ir.Conditional():
            counts[5] += 1.0
        case ir.Cast(operand=operand, type=type_):
            if _is_converted(operand.type, type_) and not isinstance(operand, ir.Constant):
                _run(sequence_of("convert", type_, operand.type), counts)
        case ir.Call(name=name, function=function, type=type_, arguments=arguments):
            if function is None or not function.is_user:
                _run(sequence_of(name, type_, arguments[0].type if arguments else type_), counts)


def _binary(op: str, right: ir.Expr, type_: ir.Type, counts: Counts) -> None:
    if op == "/" or (op == "%" and not _float_bytes(type_)):
        _run(_division(right, type_), counts)
    elif op not in (",",):
        _arithmetic(op, type_, counts)


def _arithmetic(op: str, type_: ir.Type, counts: Counts) -> None:
    size = _float_bytes(type_)
    if size and op in _ARITHMETIC:
        counts[{2: 2, 4: 0, 8: 1}.get(size, 1)] += 1.0
    counts[5] += 1.0


def _division(right: ir.Expr, type_: ir.Type) -> Sequence:
    size, right = _float_bytes(type_), walk.without_casts(right)
    by = "constant" if isinstance(right, ir.Constant) else "number"
    if isinstance(right, ir.Constant) and isinstance(right.value, (int, float)) and _is_power_of_two(right.value):
        by = "power"
    wide = isinstance(type_, ir.Scalar) and type_.bytes == 8
    return DIVISIONS[("double" if size == 8 else "float") if size else ("long" if wide else "int"), by]


def _is_power_of_two(value: int | float) -> bool:
    return bool(value) and float(np.frexp(abs(value))[0]) == 0.5


def _run(sequence: Sequence, counts: Counts) -> None:
    counts[0] += sequence.fp32
    counts[1] += sequence.fp64
    counts[2] += sequence.fp16
    counts[4] += sequence.special
    counts[5] += sequence.instructions


def _float_bytes(type_: ir.Type) -> int:
    return type_.bytes if isinstance(type_, ir.Scalar) and type_.kind == "float" else 0


def _is_converted(source: ir.Type, target: ir.Type) -> bool:
    """Whether a cast is an instruction: between integers and floating point, or between widths of the latter."""
    if not isinstance(source, ir.Scalar) or not isinstance(target, ir.Scalar):
        return False
    return (source.kind == "float") != (target.kind == "float") or (
        source.kind == "float" and source.bytes != target.bytes
    )
