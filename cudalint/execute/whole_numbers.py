"""Comparisons of floats that are whole numbers by their text: `turn < ceil(size / 16.0f)` counts turns like `<` on
integers, which loops are followed by (see `affine.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cudalint.execute.arithmetic import COMPARING, binary
from cudalint.execute.memory import as_type
from cudalint.execute.operators import combine
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import Value
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_EXACT: Final = {2: 1 << 11, 4: 1 << 24, 8: 1 << 53}
"""By the bytes of a float: up to here it holds all whole numbers."""
TURNED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def compared_as_whole(e: ir.Binary, program: Program, otherwise: Evaluate) -> Evaluate | None:
    """A comparison in which one side is a whole number that was converted, as a closure; None for any other. It notes
    for loops what it means for that number, and does what `otherwise` does where it can't tell."""
    if e.op not in COMPARING:
        return None
    for side, other, op in ((e.left, e.right, e.op), (e.right, e.left, TURNED[e.op])):
        type_ = ir.referent(side.type)
        if isinstance(side, ir.Cast) and _is_float(type_) and _is_whole(side.operand):
            assert isinstance(type_, ir.Scalar)
            return _compared(op, program.value(side.operand), program.value(other), type_, otherwise)
    return None


def _compared(op: str, whole: Evaluate, bound: Evaluate, type_: ir.Scalar, otherwise: Evaluate) -> Evaluate:
    exact = _EXACT.get(type_.bytes, 0)

    def compared(m: Machine) -> Value:
        if m.notes is None:
            return otherwise(m)
        number, limit = whole(m), bound(m)
        rounded = _bound(op, limit)
        if type(number) not in (int, bool, np.ndarray) or rounded is None or not _is_below(number, exact):
            return _plainly(m, op, number, limit, type_)
        m.watch("==", limit, limit, type_)  # It is for one that stays as it is that the rounded one says as much.
        m.watch(op, number, rounded)
        return binary(op, as_type(number, type_), limit, type_)

    return compared


def _plainly(m: Machine, op: str, number: Value, limit: Value, type_: ir.Scalar) -> Value:
    return combine(m, op, as_type(number, type_), limit, type_, type_)


def _bound(op: str, limit: Value) -> Any:
    """The whole number that comparing a whole one with some float is about; None if there is none."""
    if type(limit) is not float and not (type(limit) is np.ndarray and limit.dtype.kind == "f"):
        return None
    rounded = np.ceil(limit) if op in ("<", ">=") else np.floor(limit)
    if not np.isfinite(rounded).all() or not _is_below(rounded, _EXACT[8]):
        return None
    if op in ("==", "!=") and not np.equal(rounded, limit).all():
        return None
    return rounded.astype(np.int64) if type(limit) is np.ndarray else int(rounded)


def _is_below(number: Any, most: int) -> bool:
    return bool(np.less(np.abs(number), most).all())


def _is_float(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind == "float"


def _is_whole(e: ir.Expr) -> bool:
    type_ = ir.referent(e.type)
    return isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint")
