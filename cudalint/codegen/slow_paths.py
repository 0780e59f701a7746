"""Arithmetic that takes a jump in compiled code: it tells large or tiny arguments apart, or calls a routine.

What stands before and behind a jump is not merged into one wide access.
"""

from __future__ import annotations

import functools
from typing import NamedTuple, TypeGuard

from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import builtin
from cudalint.measure.work.operations import is_power_of_two

_NEW_COMPILER = (10, 0)
_NO_ARITHMETIC = ("__", "atomic", "clock")
_STATEMENTS = (ir.For, ir.While, ir.DoWhile, ir.Block, ir.If)


class Apart(NamedTuple):
    """What a piece of code keeps apart."""

    loads: bool
    stores: bool
    for_compiler: bool
    """Not only for the assembler: PTX has a jump there, too."""


@heuristic(
    "slow-paths", "SASS of divisions and library functions: their jumps end straight-line code"
).otherwise(Apart(False, False, False))
def keeps_apart(code: ir.Stmt | ir.Expr) -> Apart:
    return _keeps_apart(code)


@functools.lru_cache(maxsize=4096)
def _keeps_apart(code: ir.Stmt | ir.Expr) -> Apart:
    loads = stores = for_compiler = False
    # What is in other statements has steps of its own.
    for node in walk.walk(code) if not isinstance(code, _STATEMENTS) else ():
        loads = loads or _jumps(node)
        stores = stores or loads or _takes_long(node)
        for_compiler = for_compiler or _jumps_in_ptx(node)
    return Apart(loads, stores, for_compiler)


def forget() -> None:
    """Lets the code go that was asked about."""
    _keeps_apart.cache_clear()


def is_kept_in_place(statement: ir.Asm, capability: tuple[int, int]) -> bool:
    """Whether the compiler proper merges nothing across an `asm` statement: for GPUs before compute capability 10.0
    another compiler is used (nvcc 13.0), to which all of them are alike."""
    return statement.is_volatile or capability < _NEW_COMPILER


def _jumps(node: object) -> bool:
    match node:
        case ir.Binary(op="/", right=right, type=ir.Scalar(kind="float")):
            return not _is_power_of_two(right)
        case ir.Binary(op="/" | "%", right=right, type=ir.Scalar(kind="int" | "uint", bytes=8)):
            return not isinstance(right, ir.Constant)
    return _is_library_call(node) and builtin(node.name).jumps in ("assembler", "compiler")


def _jumps_in_ptx(node: object) -> bool:
    if not _is_library_call(node) or builtin(node.name).jumps == "assembler":
        return False
    return _jumps(node) or _takes_long(node)


def _takes_long(node: object) -> bool:
    match node:
        case ir.Binary(op="/" | "%", right=right, type=ir.Scalar(kind="int" | "uint")):
            return not isinstance(right, ir.Constant)
    if not _is_library_call(node) or builtin(node.name).jumps == "never":
        return False
    return not node.name.startswith(_NO_ARITHMETIC)


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
