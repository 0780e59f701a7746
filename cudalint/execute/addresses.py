"""Operators on pointers, and on addresses as numbers."""

from __future__ import annotations

import numpy as np

from cudalint.execute.arithmetic import binary
from cudalint.execute.memory import plus, stepped
from cudalint.execute.values import COMPUTED, UNKNOWN, Data, Pointer, Value
from cudalint.ir import nodes as ir

_LONG = ir.Scalar("long", 8, "int")
_BYTE = ir.Scalar("char", 1, "int")
_ALIGNMENT = 1024
"""Bytes that the start of an allocation is a multiple of."""


def with_pointer(op: str, left: Value, right: Value, type_: ir.Type, operand: ir.Type) -> Value:
    """A built-in operator of which at least one side is a pointer; `type_` is that of the result, `operand` that of the
    left side."""
    if type(left) is Pointer and type(right) is Pointer:
        if left.allocation.is_null or right.allocation.is_null:
            return _against_null(op, left if right.allocation.is_null else right)
        if left.allocation is right.allocation:
            if isinstance(left.offset, Data) or isinstance(right.offset, Data):
                return COMPUTED
            if op == "-":
                distance = plus(left.offset, -right.offset)
                if not isinstance(operand, (ir.PointerType, ir.ArrayType)):
                    return distance  # Addresses as numbers.
                return binary("/", distance, max(1, left.pointee.bytes), _LONG)
            return binary(op, left.offset, right.offset, _LONG)
        return (op == "!=") if op in ("==", "!=") else UNKNOWN
    pointer, other = (left, right) if type(left) is Pointer else (right, left)
    if op in ("+", "-"):
        pointee = type_.pointee if isinstance(type_, ir.PointerType) else _BYTE
        moved = stepped(other, pointee, 1 if op == "+" else -1)
        return Pointer(pointer.allocation, plus(pointer.offset, moved), pointer.pointee, pointer.null)
    if op in ("==", "!=") and not isinstance(other, Data):
        return _against_null(op, pointer)
    if isinstance(type_, ir.Scalar) and not isinstance(pointer.offset, Data) and not isinstance(other, Data):
        return _address_bits(op, pointer, other, type_)
    return COMPUTED


def _against_null(op: str, pointer: Pointer) -> Value:
    """A pointer compared with one that leads nowhere."""
    is_set = pointer.is_set
    if op not in ("==", "!=") or isinstance(is_set, Data):
        return UNKNOWN if op not in ("==", "!=") else is_set
    return is_set if op == "!=" else not is_set if type(is_set) is bool else ~is_set


def _address_bits(op: str, pointer: Pointer, other: Value, type_: ir.Scalar) -> Value:
    """Operators on an address as a number. Allocations are aligned to more than anybody asks for, so the lower bits of
    an address are those of its offset, and an operator on these alone gives another address there."""
    if op == "%":
        return binary(op, pointer.offset, other, type_)
    if op not in ("&", "|", "^"):
        return COMPUTED
    least, most = (int(np.min(other)), int(np.max(other))) if type(other) is np.ndarray else (other, other)
    if least >= 0 and most < _ALIGNMENT:
        found = binary(op, pointer.offset, other, _LONG)
        return found if op == "&" else Pointer(pointer.allocation, found, pointer.pointee, pointer.null)
    if op == "&" and type(other) is int:
        upper = other - (1 << 8 * type_.bytes) if other >= 1 << (8 * type_.bytes - 1) else other
        if -_ALIGNMENT <= upper < 0:
            return Pointer(pointer.allocation, binary("&", pointer.offset, upper, _LONG), pointer.pointee, pointer.null)
    return COMPUTED
