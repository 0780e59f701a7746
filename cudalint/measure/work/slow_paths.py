"""Arithmetic that takes a jump in compiled code: it treats large or tiny arguments separately, or calls a routine.

What stands before and behind a jump is not merged into one wide access.
"""

from __future__ import annotations

from math import frexp
from typing import Any, NamedTuple, TypeGuard

from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import builtin
from cudalint.ir.kept import kept

_SLOW_PATHS = heuristic("slow-paths", "SASS of divisions and library functions: their jumps end straight-line code")
_NO_ARITHMETIC = ("__", "atomic", "clock")


class Separation(NamedTuple):
    """What may not be merged across a piece of code."""

    loads: bool = False
    stores: bool = False
    for_compiler: bool = False
    """Not only for the assembler: PTX has a jump there, too."""


@kept(4096)
def separation_of(code: Any) -> Separation:
    """Of an expression, or a statement that holds no others."""
    if not _SLOW_PATHS.is_on:
        return Separation()
    return Separation(*map(any, zip(*map(_jumps, walk.walk(code)), strict=True)))


def _jumps(node: object) -> Separation:
    """Of one operation."""
    match node:
        case ir.Binary(op="/", right=right, type=ir.Scalar(kind="float")):
            divides = not _is_power_of_two(right)
            return Separation(divides, divides)
        case ir.Binary(op="/" | "%", right=right, type=ir.Scalar(kind="int" | "uint", bytes=bytes_)):
            divides = not isinstance(right, ir.Constant)
            return Separation(divides and bytes_ == 8, divides)
    if not _is_library_call(node):
        return Separation()
    known = builtin(node.name)
    loads = known.jumps in ("assembler", "compiler")
    takes_long = known.jumps != "never" and known.computes and not node.name.startswith(_NO_ARITHMETIC)
    stores = bool(loads or takes_long)
    return Separation(loads, stores, stores and known.jumps != "assembler")


def _is_library_call(node: object) -> TypeGuard[ir.Call]:
    if not isinstance(node, ir.Call) or node.callee is not None:
        return False
    return node.function is None or not node.function.is_user


def _is_power_of_two(divisor: ir.Expr) -> bool:
    """Whether the compiler multiplies by the reciprocal, since that is exact."""
    divisor = walk.without_casts(divisor)
    if not isinstance(divisor, ir.Constant) or not isinstance(divisor.value, (int, float)):
        return False
    return is_power_of_two(divisor.value)


def is_power_of_two(value: int | float) -> bool:
    """Whether the absolute value of a number of the source is one; zero, infinity and what is no number are none. C has
    no limit for the digits of a constant, so that an integer may be beyond what a float or a machine's integer holds.
    """
    if isinstance(value, int):
        size = abs(int(value))
        return size != 0 and size & (size - 1) == 0
    return abs(frexp(value)[0]) == 0.5
