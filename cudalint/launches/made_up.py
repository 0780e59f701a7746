"""The block of a kernel that nobody launches in sight, as far as the kernel itself tells of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from cudalint.facts import LaunchSource
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.launches.blocks import DEFAULT_EXTENTS, DEFAULT_THREADS, spelled
from cudalint.launches.configuration import Block, thread_axes
from cudalint.launches.filled import filled_arrays, shared_subscripts
from cudalint.options.limits import MAX_THREADS

_NOBODY = "no launch in sight"
_AXES = "xyz"
_MOST_TERMS = 64
_ROWS = (2, 4, 8, 16, 32)
"""Threads in a row of a block, where a kernel counts its threads itself."""


class _Clue(Struct, frozen=True):
    """What a piece of code says of the block's extent along an axis."""

    axis: str
    extent: int
    text: str
    rank: int
    """Of several for one axis, the one of the lowest rank counts, and of equals the smallest."""


def made_up_block(function: ir.Function) -> tuple[Block, LaunchSource, str]:
    """A block that the kernel may have been written for, and what it is taken from. One that reads `threadIdx.y` isn't
    meant for threads along x alone, all of which would be in one row."""
    most = min(function.max_threads or MAX_THREADS, MAX_THREADS)
    clues = _clues(function, most)
    if clues:
        block = _by_clues(function, clues, most)
        if block is not None:
            sources = ", ".join(dict.fromkeys(clue.text for clue in clues.values()))
            return block, "inferred", f"block = {spelled(block)} (from {sources}; {_NOBODY})"
    if function.max_threads is None:
        block = _spread(function, DEFAULT_THREADS)
        return block, "default", f"block = {spelled(block)} ({_NOBODY})"
    block = _spread(function, most)
    return block, "launch-bounds", f"block = {spelled(block)} (from __launch_bounds__; {_NOBODY})"


def _spread(function: ir.Function, threads: int) -> Block:
    """So many threads, or nearly, over the axes along which the kernel asks which thread it is: whole warps along x,
    the rest along the others."""
    axes = sorted(thread_axes(function))
    if len(axes) < 2 or threads < WARP_LANES:
        return threads, 1, 1
    extents = dict(zip(axes, DEFAULT_EXTENTS[len(axes)], strict=True))
    if threads != DEFAULT_THREADS:
        # Along the axes after the first one it has what is left, all of it along the second one.
        extents = dict.fromkeys(axes, 1) | {axes[0]: WARP_LANES, axes[1]: threads // WARP_LANES}
    return extents.get("x", 1), extents.get("y", 1), extents.get("z", 1)


def _by_clues(function: ir.Function, clues: Mapping[str, _Clue], most: int) -> Block | None:
    """The block with the extents that clues say, and along other axes what is left of the usual number of threads.
    None where that is no block of whole warps."""
    axes = sorted(thread_axes(function) | {"x"})
    known = math.prod(clue.extent for clue in clues.values())
    wanted = min(function.max_threads or DEFAULT_THREADS, most)
    open_ = [axis for axis in axes if axis not in clues]
    extents = {axis: clue.extent for axis, clue in clues.items()}
    for axis in open_:
        extents[axis] = max(1, wanted // known) if axis == open_[0] else 1
    x, y, z = (extents.get(axis, 1) for axis in _AXES)
    is_block = x * y * z <= most and x * y * z % WARP_LANES == 0
    return (x, y, z) if is_block else None


# --- clues -------------------------------------------------------------------------------------------------


def _clues(function: ir.Function, most: int) -> dict[str, _Clue]:
    """The best clue for each axis along which the kernel itself asks which thread it is."""
    code = _Code(function)
    found: dict[str, _Clue] = {}
    filled = _of_filled(function, most)
    for clue in (*code.of_loops(), *filled, *code.of_tiles(), *code.of_sums(), *code.of_comparisons()):
        before = found.get(clue.axis)
        if clue.extent > 1 and (before is None or (clue.rank, clue.extent) < (before.rank, before.extent)):
            found[clue.axis] = clue
    return found


def _of_filled(function: ir.Function, most: int) -> Iterator[_Clue]:
    """The first array of which each thread has an element and none is left over."""
    for filled in filled_arrays(function, most):
        for axis, extent in zip(_AXES, filled.block, strict=True):
            yield _Clue(axis, extent, f"the extents of `{filled.array}`", 1)
        return


class _Code:
    """A kernel's code, read for what it says of the block."""

    def __init__(self, function: ir.Function) -> None:
        self._nodes = walk.nodes_in(function)
        self._named = _names(self._nodes)
        self._steps = dict(_steps(self._nodes))

    def of_loops(self) -> Iterator[_Clue]:
        """`for (int i = threadIdx.x; i < n; i += 128)`, and `a[threadIdx.y + j]` where `j` grows by 8."""
        for node in self._nodes:
            if isinstance(node, st.Declare) and node.initializer is not None and node.symbol in self._steps:
                axis = self._axis(node.initializer, "threadIdx")
                if axis is not None:
                    yield _of_steps(axis, self._steps[node.symbol])
            if not isinstance(node, ir.Binary) or node.op != "+":
                continue
            terms = list(_terms(node))
            steps = [self._steps[t.symbol] for t in terms if isinstance(t, ir.Name) and t.symbol in self._steps]
            axes = [axis for term in terms if (axis := self._axis(term, "threadIdx")) is not None]
            if len(steps) == len(axes) == 1:
                yield _of_steps(axes[0], steps[0])

    def of_tiles(self) -> Iterator[_Clue]:
        """`tile[threadIdx.y][threadIdx.x]` of shared memory has an element for each thread, fewer ones if it is also
        `tile[threadIdx.y + 2][threadIdx.x]`, and in each row maybe one more for the banks' sake."""
        margins: dict[tuple[str, str, int], int] = {}
        for node in self._nodes:
            for name, axis, count, margin in self._subscripts(node) if isinstance(node, ir.Index) else ():
                margins[name, axis, count] = max(margin, margins.get((name, axis, count), 0))
        for (name, axis, count), margin in margins.items():
            extent = count - margin
            yield _Clue(axis, extent - extent % 2, f"the extents of `{name}`", 1)

    def _subscripts(self, node: ir.Index) -> Iterator[tuple[str, str, int, int]]:
        """The subscripts of a shared array that are a thread's index and a number: the array's name, the axis, how many
        elements there are, and the number."""
        name, indices, counts = shared_subscripts(node)
        for index, count in zip(indices, counts, strict=False) if len(indices) > 1 else ():
            place = self._place(index)
            if place is not None:
                yield name, place[0], count, place[1]

    def of_sums(self) -> Iterator[_Clue]:
        """`blockIdx.x * 16 + threadIdx.x`, and `threadIdx.y * 8 + threadIdx.x` in rows that are no longer than a warp:
        longer ones may be those of an image."""
        for node in self._nodes:
            if not isinstance(node, ir.Binary) or node.op != "+":
                continue
            terms = list(_terms(node))
            axes = {axis for term in terms if (axis := self._axis(term, "threadIdx")) is not None}
            for term in terms:
                for block, number in _scaled(term):
                    axis = self._axis(block, "blockIdx")
                    if axis is not None and axis in axes:
                        yield _Clue(axis, number, f"`blockIdx.{axis} * {number}`", 2)
                    is_row = self._axis(block, "threadIdx") == "y" and "x" in axes and number in _ROWS
                    if is_row and len(terms) == 2:
                        yield _Clue("x", number, f"`threadIdx.y * {number} + threadIdx.x`", 3)

    def of_comparisons(self) -> Iterator[_Clue]:
        """`if (blockDim.x == 256)`."""
        for node in self._nodes:
            if isinstance(node, ir.Binary) and node.op == "==":
                for extent, number in ((node.left, node.right), (node.right, node.left)):
                    axis, count = self._axis(extent, "blockDim"), _number(number)
                    if axis is not None and count is not None:
                        yield _Clue(axis, count, f"`blockDim.{axis} == {count}`", 0)

    def _place(self, index: ir.Expr) -> tuple[str, int] | None:
        """The axis of a thread's index that is used as a subscript, and what is added to it."""
        terms = list(_terms(index))
        axes = [axis for term in terms if (axis := self._axis(term, "threadIdx")) is not None]
        numbers = [number for term in terms if (number := _number(term)) is not None]
        if len(axes) != 1 or len(axes) + len(numbers) != len(terms) or min(numbers, default=0) < 0:
            return None
        return axes[0], sum(numbers)

    def _axis(self, expr: ir.Expr, variable: str) -> str | None:
        expr = walk.without_casts(expr)
        if isinstance(expr, ir.Name):
            known = self._named.get(expr.symbol)
            return known[1] if known is not None and known[0] == variable else None
        return _axis_of(expr, variable)


def _of_steps(axis: str, step: int) -> _Clue:
    return _Clue(axis, step, f"steps of {step}", 0)


_VARIABLES = ("threadIdx", "blockIdx", "blockDim")


def _names(nodes: Sequence[object]) -> dict[ir.Symbol, tuple[str, str]]:
    """Variables that are one of the thread's or the block's indices all along: `const int tx = threadIdx.x`."""
    found: dict[ir.Symbol, tuple[str, str]] = {}
    for node in nodes:
        if isinstance(node, st.Declare) and node.initializer is not None:
            for variable in _VARIABLES:
                axis = _axis_of(walk.without_casts(node.initializer), variable)
                if axis is not None:
                    found[node.symbol] = variable, axis
    for node in nodes:
        changed = node.target if isinstance(node, ir.Assign) else None
        if isinstance(node, ir.Unary) and node.op in walk.STEPS:
            changed = node.operand
        if isinstance(changed, ir.Name):
            found.pop(changed.symbol, None)
    return found


def _steps(nodes: Sequence[object]) -> Iterator[tuple[ir.Symbol, int]]:
    """The counters of loops that grow by a number other than one, with that number."""
    for node in nodes:
        step = node.increment if isinstance(node, st.For) else None
        if isinstance(step, ir.Assign) and step.op == "+" and isinstance(step.target, ir.Name):
            number = _number(step.value)
            if number is not None and number > 1:
                yield step.target.symbol, number


def _terms(expr: ir.Expr) -> Iterator[ir.Expr]:
    """What is added up, as far as that are few: an index has two or three."""
    pending = [expr]
    for _ in range(_MOST_TERMS):
        if not pending:
            return
        bare = walk.without_casts(pending.pop())
        if isinstance(bare, ir.Binary) and bare.op == "+":
            pending += (bare.right, bare.left)
        else:
            yield bare


def _scaled(expr: ir.Expr) -> Iterator[tuple[ir.Expr, int]]:
    """`a * 16`, either way round."""
    if isinstance(expr, ir.Binary) and expr.op == "*":
        for factor, other in ((expr.left, expr.right), (expr.right, expr.left)):
            number = _number(factor)
            if number is not None:
                yield other, number


def _number(expr: ir.Expr) -> int | None:
    bare = walk.without_casts(expr)
    return bare.value if isinstance(bare, ir.Constant) and isinstance(bare.value, int) else None


def _axis_of(expr: ir.Expr, variable: str) -> str | None:
    is_member = isinstance(expr, ir.Member) and isinstance(expr.base, ir.Name) and expr.base.symbol.name == variable
    return expr.field if is_member and isinstance(expr, ir.Member) else None
