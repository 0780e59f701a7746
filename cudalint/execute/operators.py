"""Built-in operators and conversions on values of any kind, and what loops note of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudalint.execute.absent import Absent, defined, undefined_as, undefined_in
from cudalint.execute.addresses import with_pointer
from cudalint.execute.arithmetic import COMPARING, binary
from cudalint.execute.butterflies import Butterfly
from cudalint.execute.butterflies import combined as in_butterfly
from cudalint.execute.drawn import Drawn, computed_number
from cudalint.execute.memory import plus
from cudalint.execute.values import (
    COMPUTED,
    Aggregate,
    Closure,
    Data,
    FunctionValue,
    InPart,
    Pointer,
    Symbolic,
    Value,
    is_common,
)
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

INT = ir.Scalar("int", 4, "int")

_NUMBERS = frozenset({int, bool, float, np.ndarray})


def combine(m: Machine, op: str, left: Value, right: Value, type_: ir.Type, operand: ir.Type) -> Value:
    """A built-in operator on any two values; `type_` is that of the result, `operand` that of the left side."""
    kinds = type(left), type(right)
    if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS:
        own = operand if op in COMPARING else type_
        if m.notes is not None:
            m.watch(op, left, right, own)
        return binary(op, left, right, own) if isinstance(own, ir.Scalar) else COMPUTED
    if kinds[0] is Data and kinds[1] is Data:
        return (left if right.is_common or not left.is_common else right).derived
    if Pointer in kinds:
        if m.notes is not None:
            _watch_pointers(m, op, left, right)
        return with_pointer(op, left, right, type_, operand)
    if Absent in kinds or (InPart in kinds and (undefined_in(left) or undefined_in(right))):
        one, other = (COMPUTED if type(value) is InPart else defined(value) for value in (left, right))
        return undefined_as(combine(m, op, one, other, type_, operand), (left, right))
    if issubclass(kinds[0], Data) or issubclass(kinds[1], Data):
        for value in (left, right):
            if isinstance(value, Symbolic):
                return value.combined(op, left, right, type_, operand)
        if m.notes is not None and op in ("*", "&"):
            m.watch("==", right if issubclass(kinds[0], Data) else left, 0)
        if Butterfly in kinds:
            return in_butterfly(op, left, right)
        found = _of_data(op, left, right)
        if Drawn in kinds and isinstance(found, Data):
            return computed_number(op, left, right, type_, operand) or Data("computed", is_common=found.is_common)
        return found
    if any(kind in (Aggregate, Closure, FunctionValue) for kind in kinds):
        return COMPUTED
    own = operand if op in COMPARING else type_
    return binary(op, left, right, own) if isinstance(own, ir.Scalar) else COMPUTED


def _watch_pointers(m: Machine, op: str, left: Value, right: Value) -> None:
    if type(left) is Pointer and type(right) is Pointer:
        if left.allocation is not right.allocation or isinstance(right.offset, Data):
            return
        if op == "-":
            m.watch("/", plus(left.offset, -right.offset), left.pointee.bytes)
        else:
            m.watch(op, left.offset, right.offset)
    elif op in ("&", "%"):
        m.watch(op, left.offset if type(left) is Pointer else left, right)


def _of_data(op: str, left: Value, right: Value) -> Value:
    """Data stays data, but where a plain number decides alone."""
    for value in (left, right):
        if op in ("*", "&") and type(value) is int and value == 0:
            return 0
    if op == "%" and type(right) is int and right == 1:
        return 0
    data, number = (left, right) if isinstance(left, Data) else (right, left)
    if data.is_common and not is_common(number):
        found = Data(data.kind, data.reason, data.origin)
        found.is_derived = True
        return found
    return data.derived


def watch_cast(m: Machine, value: Value, type_: ir.Type) -> None:
    if type(value) not in (int, float, bool, np.ndarray):
        return
    if isinstance(type_, ir.Scalar) and type_.kind == "bool":
        m.watch("!=", value, 0)
    else:
        m.watch("cast", value, 0, type_)


def may_wrap(source: ir.Type, target: ir.Type) -> bool:
    """Whether a conversion may change a whole number, or cuts one out of a float."""
    if not isinstance(source, ir.Scalar) or not isinstance(target, ir.Scalar) or target.kind not in ("int", "uint"):
        return isinstance(target, ir.Scalar) and target.kind == "bool"
    if source.kind == "float":
        return True
    return target.bytes < source.bytes or (source.kind != target.kind and source.kind != "bool")


def common_type(target: ir.Type, value: ir.Type, op: str) -> ir.Type:
    """The type that `target op= value` is computed in: see [conv.prom] and [expr.arith.conv]."""
    if not isinstance(target, ir.Scalar) or not isinstance(value, ir.Scalar):
        return target
    if op in ("<<", ">>"):
        return target if target.bytes >= INT.bytes else INT
    if target.kind == "float" or value.kind == "float":
        floats = [type_ for type_ in (target, value) if type_.kind == "float"]
        return max(floats, key=lambda type_: type_.bytes)
    wider = max((target, value), key=lambda type_: (type_.bytes, type_.kind == "uint"))
    return wider if wider.bytes >= INT.bytes and wider.kind != "bool" else INT
