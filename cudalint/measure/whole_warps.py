"""Conditions that keep warps whole in the place of one that splits them, each evaluated before it is named.

Where a condition repeats (`threadIdx.x % 2`, or `threadIdx.y % 2` with two rows to a warp), that is the same one with
the number of the warp in the place of the thread's, or of as many threads or rows as it takes (`threadIdx.x % 32 < 16`
splits none with pairs of threads); where it is a limit, the nearest multiple of a warp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.execute.values import truth
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.text import expression_text
from cudalint.measure.arrays import Mask

_NEAR = 0.5
"""A condition that holds for so much more or less of the threads is another one."""
_COMPARING = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})
_MOST_STEPS = 50
"""Variables that are followed to what they are declared to be."""
_THREAD = "threadIdx"


def aligned_condition(
    condition: ir.Expr, function: ir.Function, given: Mapping[ir.Symbol, Any], mask: Mask, lanes: Lanes
) -> str | None:
    """The nearest condition on which the lanes of every warp agree, if there is a plain one: of a branch in a function
    to which lanes of a mask come. `given` are the numbers of its parameters, as far as they are known."""
    plain = _resolved(condition, _variables(function), given, _MOST_STEPS)
    if plain is None:
        return None
    before = _holds(plain, mask, lanes)
    for changed in (_rounded(plain, lanes.block), *_by_groups(plain, lanes.block)):
        if changed is None:
            continue
        holds = _holds(changed, mask, lanes)
        if _splits(holds, mask, lanes) or not (holds & mask).any():
            continue
        if abs((holds & mask).sum() - (before & mask).sum()) <= _NEAR * (before & mask).sum():
            return _text(changed)
    return None


def is_by_lane(condition: ir.Expr, function: ir.Function, given: Mapping[ir.Symbol, Any]) -> bool:
    """Whether the thread's number in its warp decides, spelled as such (`threadIdx.x % 32 == 0`): the work is divided
    among warps, and what one lane does can't be given to another warp."""
    plain = _resolved(condition, _variables(function), given, _MOST_STEPS)
    pending, found = [plain], False
    while pending:
        node = pending.pop()
        if isinstance(node, ir.Member) and _is_thread(node):
            return False
        lane = isinstance(node, ir.Binary) and isinstance(node.right, ir.Constant) and (node.op, node.right.value)
        if lane in (("%", WARP_LANES), ("&", WARP_LANES - 1)):
            found = True
        elif node is not None:
            pending += walk.children(node)
    return found


# --- what a condition is made of ---------------------------------------------------------------------------


def _variables(function: ir.Function) -> dict[ir.Symbol, ir.Expr]:
    """What variables are declared to be that are never changed."""
    nodes = walk.nodes_in(function)
    changed = set(walk.effects(function.body).assigned)
    return {
        node.symbol: node.initializer
        for node in nodes
        if isinstance(node, st.Declare) and node.initializer is not None and node.symbol not in changed
    }


def _resolved(
    e: Any, variables: Mapping[ir.Symbol, ir.Expr], given: Mapping[ir.Symbol, Any], left: int
) -> ir.Expr | None:
    """A condition on nothing but built-in variables and numbers; None for any other."""
    if not left:
        return None
    match e:
        case ir.Constant(value=value):
            return e if isinstance(value, (int, bool)) else None
        case ir.Member(base=ir.Name(symbol=symbol), field=name) if symbol.storage == "builtin":
            return e if name in "xyz" else None
        case ir.Name(symbol=symbol) if symbol in variables:
            return _resolved(variables[symbol], variables, given, left - 1)
        case ir.Name(symbol=symbol) if type(given.get(symbol)) is int:
            return ir.Constant(given[symbol], e.type, e.where)
        case ir.Name(symbol=symbol) if symbol.name == "warpSize" and symbol.storage == "builtin":
            return ir.Constant(WARP_LANES, e.type, e.where)
        case ir.Cast(operand=operand, type=ir.Scalar(kind=kind)) if kind in ("int", "uint", "bool"):
            # Of numbers of threads, none of which is too large for another type of integers.
            return _resolved(operand, variables, given, left - 1)
        case ir.Unary(op=op, operand=operand) if op in ("!", "-", "+", "~"):
            inner = _resolved(operand, variables, given, left - 1)
            return None if inner is None else ir.Unary(op, inner, e.type, e.where)
        case ir.Binary(op=op, left=one, right=other) if op != ",":
            first, second = (_resolved(each, variables, given, left - 1) for each in (one, other))
            return None if first is None or second is None else ir.Binary(op, first, second, e.type, e.where)
    return None


def _is_thread(node: Any) -> bool:
    return isinstance(node, ir.Member) and isinstance(node.base, ir.Name) and node.base.symbol.name == _THREAD


# --- others in its place -----------------------------------------------------------------------------------


def _granules(e: ir.Expr, block: Extents) -> dict[str, int]:
    """The thread's coordinates in a condition, each with how far it has to go for the next warp to begin. Nothing
    where rows of the block begin in the middle of a warp."""
    found, stride = {}, 1
    asked = {node.field for node in walk.walk(e) if _is_thread(node)}
    for axis, extent in zip("xyz", block, strict=True):
        if axis in asked:
            if stride % WARP_LANES and WARP_LANES % stride:
                return {}
            found[axis] = max(1, WARP_LANES // stride)
        stride *= extent
    return found


def _by_groups(e: ir.Expr, block: Extents) -> Iterator[ir.Expr]:
    """The condition with the number of a warp in the place of the thread's, then with those of smaller groups."""
    granules = _granules(e, block)
    share = 1
    while any(granule > share for granule in granules.values()):
        yield _in_groups(e, {axis: granule // share for axis, granule in granules.items() if granule > share})
        share *= 2


def _in_groups(e: Any, groups: Mapping[str, int]) -> Any:
    match e:
        case ir.Member(field=axis) if _is_thread(e):
            size = groups.get(axis, 1)
            return e if size == 1 else ir.Binary("/", e, ir.Constant(size, e.type, e.where), e.type, e.where)
        case ir.Unary(op=op, operand=operand):
            return ir.Unary(op, _in_groups(operand, groups), e.type, e.where)
        case ir.Binary(op=op, left=left, right=right):
            return ir.Binary(op, _in_groups(left, groups), _in_groups(right, groups), e.type, e.where)
    return e


def _rounded(e: ir.Expr, block: Extents) -> ir.Expr | None:
    """`threadIdx.x < 48` with the nearest multiple of 32 that isn't 0."""
    match e:
        case ir.Unary(op="!", operand=operand):
            inner = _rounded(operand, block)
            return None if inner is None else ir.Unary("!", inner, e.type, e.where)
        case ir.Binary(op=op, left=left, right=ir.Constant(value=value)) if op in ("<", "<=", ">", ">="):
            granules = list(_granules(left, block).values())
            if granules:
                limit = int(value) + (op in ("<=", ">"))
                step = granules[0]
                near = ir.Constant(max(step, round(limit / step) * step), e.right.type, e.right.where)
                return ir.Binary("<" if op in ("<", "<=") else ">=", left, near, e.type, e.where)
    return None


# --- evaluated ---------------------------------------------------------------------------------------------


def _holds(e: ir.Expr, mask: Mask, lanes: Lanes) -> Mask:
    """[R, L] where a condition holds."""
    machine, program = Machine(lanes, Program()), Program()
    machine.mask = mask
    found = truth(program.value(e)(machine))
    return np.broadcast_to(np.asarray(found, bool), mask.shape)


def _splits(holds: Mask, mask: Mask, lanes: Lanes) -> bool:
    yes, no = lanes.by_warp(holds & mask).any(axis=2), lanes.by_warp(~holds & mask).any(axis=2)
    return bool((yes & no).any())


def _text(e: ir.Expr) -> str:
    if not isinstance(e, ir.Binary) or e.op not in _COMPARING:
        e = ir.Binary("!=", e, ir.Constant(0, e.type, e.where), e.type, e.where)
    text = expression_text(e)
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text
