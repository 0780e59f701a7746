"""Blocks that have a thread for each element of a shared array: `tile[threadIdx.y * T + threadIdx.x]` of `T * T`
elements, or `tile[threadIdx.x / T][threadIdx.x % T]`. A kernel without a launch in sight is written for these."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.launches.configuration import Block, axes_asked, thread_axes

_AXES = "xyz"
_CONDITIONAL = (st.If, ir.Conditional, st.Switch)
_DEEPEST = 16
"""Variables and operations that an index is followed through."""


class Filled(Struct, frozen=True):
    """A block that fills an array."""

    array: str
    block: Block


def filled_arrays(function: ir.Function, most: int) -> Iterator[Filled]:
    """For each shared array that all threads use, each its own element, the block of at most so many threads that
    leaves no element over. An element that is padding, at the end of rows, is."""
    axes = sorted(thread_axes(function))
    indices = _Indices(_initial(function))
    seen: set[tuple[str, Block]] = set()
    for node in _unconditional(function.body):
        name, subscripts, counts = shared_subscripts(node)
        is_whole = bool(subscripts) and len(subscripts) == len(counts)
        if not is_whole or (_is_plain(subscripts, indices) and axes_asked(function, ("blockDim",))):
            # What has one subscript and asks how large the block is has room for the largest.
            continue
        for extents in _shapes(counts):
            for block in _blocks(math.prod(extents), axes, most):
                fits = [indices.last(index, block) for index in subscripts] == [extent - 1 for extent in extents]
                if fits and (name, block) not in seen:
                    seen.add((name, block))
                    yield Filled(name, block)


def _is_plain(subscripts: Sequence[ir.Expr], indices: _Indices) -> bool:
    return len(subscripts) == 1 and indices.variable(subscripts[0]) is not None


def _shapes(counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The elements along each axis of an array, without and with one of padding in its rows."""
    yield tuple(counts)
    if len(counts) > 1 and counts[-1] > 1:
        yield (*counts[:-1], counts[-1] - 1)


def _blocks(threads: int, axes: Sequence[str], most: int) -> Iterator[Block]:
    """Blocks of so many threads, in whole warps, over the axes along which a kernel asks; rows of a warp come first."""
    if threads > most or threads % WARP_LANES or len(axes) > 2 or (len(axes) == 2 and axes != ["x", "y"]):
        return
    if len(axes) < 2:
        yield threads, 1, 1
        return
    rows = [width for width in range(2, threads) if threads % width == 0]
    for width in sorted(rows, key=lambda width: (width != WARP_LANES, width)):
        yield width, threads // width, 1


def _unconditional(node: object) -> Iterator[ir.Index]:
    """What is indexed wherever all threads come by, the outermost subscript of each access first and alone."""
    if isinstance(node, _CONDITIONAL):
        return
    if isinstance(node, ir.Index):
        yield node
    base = node.base if isinstance(node, ir.Index) else None
    for child in walk.children(node):
        while child is base and isinstance(child, ir.Index):
            # Of `tile[i][j]` the rows are no access of their own.
            yield from _unconditional(child.index)
            child = base = child.base
        yield from _unconditional(child)


def shared_subscripts(node: ir.Index) -> tuple[str, list[ir.Expr], list[int]]:
    """The name, the subscripts and the extents of an element of a shared array; no subscripts of anything else."""
    indices: list[ir.Expr] = []
    array: ir.Expr = node
    while isinstance(array, ir.Index):
        indices.insert(0, array.index)
        array = walk.without_casts(array.base)
    counts: list[int] = []
    if not isinstance(array, ir.Name) or array.symbol.storage != "shared":
        return "", [], []
    type_: ir.Type = array.symbol.type
    while isinstance(type_, ir.ArrayType) and type_.count:
        counts.append(type_.count)
        type_ = type_.element
    return array.symbol.name, indices, counts


def _initial(function: ir.Function) -> Mapping[ir.Symbol, ir.Expr]:
    """What variables are set to that nothing changes afterwards."""
    nodes = walk.nodes_in(function)
    changed = {node.target.symbol for node in nodes if isinstance(node, ir.Assign) and isinstance(node.target, ir.Name)}
    changed |= {
        node.operand.symbol
        for node in nodes
        if isinstance(node, ir.Unary) and node.op in walk.STEPS and isinstance(node.operand, ir.Name)
    }
    declared = (node for node in nodes if isinstance(node, st.Declare))
    return {d.symbol: d.initializer for d in declared if d.initializer is not None and d.symbol not in changed}


class _Indices(Struct, eq=False):
    """Indices that threads make of which thread they are."""

    initial: Mapping[ir.Symbol, ir.Expr]

    def variable(self, expr: ir.Expr) -> tuple[str, str] | None:
        """`threadIdx` and `x`, where that is all there is."""
        expr = self._bare(expr)
        is_member = isinstance(expr, ir.Member) and isinstance(expr.base, ir.Name)
        return (expr.base.symbol.name, expr.field) if is_member else None  # type: ignore[union-attr]

    def last(self, expr: ir.Expr, block: Block, depth: int = 0) -> int | None:
        """The largest value in a block; None where it isn't made of thread indices and numbers alone, or may be
        negative."""
        bare = self._bare(expr)
        if depth > _DEEPEST:
            return None
        if isinstance(bare, ir.Constant):
            return bare.value if isinstance(bare.value, int) and bare.value >= 0 else None
        variable = self.variable(bare)
        if variable is not None and variable[1] in _AXES:
            extent = block[_AXES.index(variable[1])]
            return {"threadIdx": extent - 1, "blockDim": extent}.get(variable[0])
        if not isinstance(bare, ir.Binary):
            return None
        a, b = (self.last(side, block, depth + 1) for side in (bare.left, bare.right))
        if a is None or b is None:
            return None
        if bare.op in ("+", "*"):
            return a + b if bare.op == "+" else a * b
        number = walk.without_casts(bare.right)
        if not isinstance(number, ir.Constant) or b <= 0:
            return None
        of_number = {"/": a // b, "%": min(a, b - 1), ">>": a >> min(b, 63), "<<": a << min(b, 31)}
        return min(a, b) if bare.op == "&" and not b & (b + 1) else of_number.get(bare.op)

    def _bare(self, expr: ir.Expr) -> ir.Expr:
        """What a variable that never changes stands for."""
        for _ in range(_DEEPEST):
            expr = walk.without_casts(expr)
            if not isinstance(expr, ir.Name) or expr.symbol not in self.initial:
                break
            expr = self.initial[expr.symbol]
        return expr
