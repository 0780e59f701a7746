"""Expressions that are computed in double precision although floats are all that goes in and comes out."""

from __future__ import annotations

import struct
from collections.abc import Set
from typing import Final

from msgspec import Struct, field

from cudalint.ir import nodes as ir
from cudalint.ir import walk

COMPARISONS: Final = ("<", ">", "<=", ">=", "==", "!=")
_INTRINSIC: Final = "__"
"""What the names of functions begin with that say which type they work on."""
NARROWED: Final = ("+", "-", "*", "/")


class Unasked(Struct, frozen=True):
    """A tree of operations in double precision, all of whose leaves are floats, integers and literals."""

    parts: frozenset[int]
    """The identities of its nodes, the root included."""
    causes: tuple[ir.Constant | ir.Call, ...]
    """What makes doubles of the floats: literals, and functions that are called with a float and an integer. In source
    order."""


class Search(Struct):
    """What was found of a tree so far."""

    parts: set[int]
    causes: list[ir.Constant | ir.Call]
    variables: Set[ir.Symbol] = frozenset()
    """Those of type double that hold nothing else."""
    met: set[ir.Symbol] = field(default_factory=set)
    """Those of them that are named."""
    floats: int = 0
    """Values of less than double precision that are converted while the kernel runs: what is made of nothing but
    constants, such as `sqrtf(2.0f / M_PI)`, the compiler computes."""

    def takes(self, expr: ir.Expr) -> bool:
        """Whether it is part of such a tree, which then has its nodes. Nothing that somebody has declared or cast to be
        a double is, but for those variables."""
        self.parts.add(id(expr))
        match expr:
            case ir.Constant(type=type_, of_variable=is_declared):
                if is_double(type_):
                    self.causes.append(expr)
                return isinstance(expr.value, (int, float)) and not (is_declared and is_double(type_))
            case ir.Name(symbol=symbol) if symbol in self.variables:
                self.met.add(symbol)
                return True
            case ir.Cast(operand=operand, type=type_, explicit=explicit) if is_double(type_):
                if is_double(operand.type):
                    return self.takes(operand)
                self.floats += is_narrow(operand.type) and not _is_folded(operand)
                return not explicit and isinstance(operand.type, ir.Scalar)
            case ir.Unary(op="-" | "+", operand=operand):
                return self.takes(operand)
            case ir.Binary(op=op, left=left, right=right) if op in NARROWED:
                return self.takes(left) and self.takes(right)
            case ir.Conditional(then=then, otherwise=otherwise):
                return self.takes(then) and self.takes(otherwise)
            case ir.Call(function=ref, receiver=None, arguments=arguments) if is_double(expr.type):
                if ref is None or ref.is_user or ref.name.startswith(_INTRINSIC):
                    return False
                if any(is_narrow(argument.type) for argument in arguments):
                    self.causes.append(expr)
                return all(self._argument(argument) for argument in arguments)
        return False

    def _argument(self, argument: ir.Expr) -> bool:
        """What stands for a template's parameter is converted by the function."""
        if is_narrow(argument.type):
            self.floats += not _is_folded(argument)
            return True
        return (isinstance(argument.type, ir.Scalar) and argument.type.kind != "float") or self.takes(argument)


def unasked_double(code: ir.Expr) -> Unasked | None:
    """The tree below an operation at which a result in double precision is made a float or an integer again, or is
    compared, if nobody has asked for that precision and it costs something."""
    search = Search({id(code)}, [])
    match code:
        case ir.Cast(operand=operand, type=ir.Scalar() as type_):
            if is_double(type_) or type_.kind == "void" or not is_double(operand.type):
                return None
            is_free = is_narrow(type_) and _narrows(operand)
            found = not is_free and search.takes(operand)
        case ir.Assign(op=op, target=target, value=value) if op in NARROWED and is_narrow(target.type):
            search.floats += 1
            found = is_double(value.type) and not _is_float_value(value) and search.takes(value)
        case ir.Binary(op=op, left=left, right=right) if op in COMPARISONS and is_double(left.type):
            is_free = _is_float_value(left) and _is_float_value(right)
            found = not is_free and search.takes(left) and search.takes(right)
        case _:
            return None
    if not found or not search.causes or not search.floats:
        return None
    return Unasked(frozenset(search.parts), tuple(search.causes))


def _is_folded(expr: ir.Expr) -> bool:
    """Whether it is made of nothing but constants."""
    match expr:
        case ir.Cast(operand=operand) | ir.Unary(operand=operand):
            return _is_folded(operand)
        case ir.Binary(left=left, right=right):
            return _is_folded(left) and _is_folded(right)
    return isinstance(expr, ir.Constant)


def is_double(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind == "float" and type_.bytes == 8


def is_narrow(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Scalar) and type_.kind == "float" and type_.bytes < 8


def _narrows(expr: ir.Expr) -> bool:
    """Whether the compiler computes it in single precision, as its result is made a float."""
    match expr:
        case ir.Conditional(then=then, otherwise=otherwise):
            return all(isinstance(arm, ir.Constant) or _narrows(arm) for arm in (then, otherwise))
        case ir.Unary(op="-" | "+", operand=operand):
            return _narrows(operand)
        case ir.Binary(op=op, left=left, right=right) if op in NARROWED:
            return _is_float_value(left) and _is_float_value(right)
    return _is_float_value(expr)


def _is_float_value(expr: ir.Expr) -> bool:
    """Whether a double is a float's value for sure."""
    if isinstance(expr, ir.Unary) and expr.op in ("-", "+"):
        return _is_float_value(expr.operand)
    if isinstance(expr, ir.Constant) and isinstance(expr.value, (int, float)):
        try:
            return struct.unpack("f", struct.pack("f", expr.value))[0] == expr.value  # type: ignore[no-any-return]
        except OverflowError:
            return False
    return isinstance(expr, ir.Cast) and is_narrow(walk.without_casts(expr).type)
