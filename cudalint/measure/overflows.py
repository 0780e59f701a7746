"""Indices and offsets of a kernel that are computed in 32 bits and that some size in sight, or some size that the code
admits, does not fit: by intervals of numbers that are only known by their types (`Admitted`), and for a launch of known
sizes for each executed thread by itself (`wrapped`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from cudalint.execute.trace import AccessEvent, BranchEvent, Stack
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import children, conjuncts
from cudalint.measure.arrays import Mask
from cudalint.measure.executed import Executed
from cudalint.measure.launched import numbers_in
from cudalint.measure.narrow_arithmetic import COMPARING, NARROW, WIDE, bytes_of, most, products_in
from cudalint.worlds.intervals import Intervals
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import KernelText, text_of

_ARITHMETIC: Final = frozenset({"+", "-", "*", "<<"})
_MOST_STEPS = 200


# --- how large numbers may be --------------------------------------------------------------------------


class Admitted:
    """The largest that a kernel's values may be under a launch, by the types of what nobody knows."""

    def __init__(
        self, text: KernelText, numbers: Mapping[Parameter, float], block: tuple[int, int, int],
        grid: tuple[float, float, float],
    ) -> None:  # fmt: skip
        """`numbers` and `grid` have the largest of each."""
        places = [(0.0, max(0.0, extent - 1)) for extent in grid]
        self._intervals = Intervals(text.uses.origins, text.definitions, numbers, block, grid, places)

    def is_too_large(self, expr: ir.Expr) -> bool:
        """Whether some product in an expression of 32 bits may be beyond what it holds; what nobody knows may."""
        return any(self._is(product) for product in (*products_in(expr), expr))

    def largest(self, expr: ir.Expr) -> float | None:
        with np.errstate(all="ignore"):
            found = self._intervals.of(expr)
        return None if found is None else float(np.max(found[1]))

    def _is(self, expr: ir.Expr) -> bool:
        largest = self.largest(expr)
        return largest is None or largest > most(expr)


# --- launches of known sizes ---------------------------------------------------------------------------


class Wrapped(NamedTuple):
    """Arithmetic of 32 bits that is wrong in a launch of known sizes."""

    node: ir.Expr
    stack: Stack
    value: int
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    is_direct: bool
    """Whether it is part of the index itself, and not of a variable of 32 bits."""
    accesses: tuple[ir.Span, ...] = ()
    """Whose addresses it goes into."""


class _OfThreads(Intervals):
    """The values of each executed thread by itself, in the first world."""

    def __init__(self, executed: Executed) -> None:
        text, batch, lanes = text_of(executed.function), executed.batch, executed.trace.lanes
        values = dict(numbers_in(batch, 0))
        grid = [float(extent) for extent in batch.grid[0]]
        super().__init__(text.uses.origins, text.definitions, values, batch.block, grid, [(0.0, 0.0)] * 3)
        self.blocks = lanes.blocks
        rows = np.asarray(lanes.places[: self.blocks], np.float64)
        self._built_in["blockIdx"] = [(column[:, None], column[:, None]) for column in rows.T]
        threads = [np.asarray(each, np.float64) for each in lanes.built_in["threadIdx"]]
        self._built_in["threadIdx"] = [(each, each) for each in threads]


def wrapped(executed: Executed, most_possible: Admitted) -> Iterator[Wrapped]:
    """What is too large for some executed thread, one for each place. `most_possible` is what is looked at first."""
    moves, text = _moves(executed.function), text_of(executed.function)
    values: _OfThreads | None = None
    found: dict[ir.Expr, Wrapped] = {}
    large: dict[Any, list[tuple[ir.Expr, bool]]] = {}
    for event, place in _places(executed):
        if place not in large:
            large[place] = [
                each for each in _computed(place, text, moves)
                if (largest := most_possible.largest(_measured(each[0]))) is not None and largest > most(each[0])
            ]  # fmt: skip
        for node, is_direct in large[place]:
            values = values or _OfThreads(executed)
            first = _first(node, event.mask, values, executed)
            if first is not None:
                known = found.get(node) or Wrapped(node, event.stack, *first, is_direct)
                found[node] = known._replace(accesses=(*known.accesses, place.span))
                break
    yield from found.values()


def _places(executed: Executed) -> Iterator[tuple[AccessEvent | BranchEvent, ir.Expr]]:
    """The accesses of global memory, and the comparisons that say which threads come there."""
    for access in executed.trace.accesses:
        if access.allocation.space == "global" and not access.data:
            yield access, access.node
    for branch in executed.trace.branches:
        condition = getattr(branch.node, "condition", None)
        if not branch.data and not branch.turn and condition is not None:
            for part, _ in conjuncts(condition, True):
                if isinstance(part, ir.Binary) and part.op in COMPARING:
                    yield from ((branch, side) for side in (part.left, part.right))


def _first(
    node: ir.Expr, active: Mask, values: _OfThreads, executed: Executed
) -> tuple[int, tuple[int, int, int], tuple[int, int, int]] | None:  # fmt: skip
    """The first active thread for which a number is too large, with the number."""
    with np.errstate(all="ignore"):
        own = values.of(_measured(node))
    if own is None:
        return None
    lanes = executed.trace.lanes
    mask = active[: values.blocks]
    least = np.broadcast_to(own[0], mask.shape)
    wrong = mask & (least > most(node))
    if not wrong.any():
        return None
    row = int(wrong.any(axis=1).argmax())
    lane = int(wrong[row].argmax())
    return int(least[row, lane]), lanes.thread_of(lane), lanes.block_of(row)


def _measured(node: ir.Expr) -> ir.Expr:
    """What has to fit: of a conversion, what is converted."""
    return node.operand if isinstance(node, ir.Cast) else node


def _moves(kernel: ir.Function) -> dict[ir.Symbol, list[ir.Expr]]:
    """What pointers of a kernel and of what it calls are set to, and moved by."""
    found: dict[ir.Symbol, list[ir.Expr]] = {}
    code = text_of(kernel).uses.code
    for symbol, value in code.bound:
        if isinstance(symbol.type, ir.PointerType):
            found.setdefault(symbol, []).append(value)
    for node in code.nodes:
        if isinstance(node, st.Declare) and node.initializer is not None:
            symbol, value = node.symbol, node.initializer
        elif isinstance(node, ir.Assign) and isinstance(node.target, ir.Name) and node.op in ("", "+"):
            symbol, value = node.target.symbol, node.value
        else:
            continue
        if isinstance(symbol.type, ir.PointerType):
            found.setdefault(symbol, []).append(value)
    return found


def _computed(
    access: Any, text: KernelText, moves: Mapping[ir.Symbol, list[ir.Expr]]
) -> list[tuple[ir.Expr, bool]]:  # fmt: skip
    """The arithmetic of 32 bits that goes into an address, what is innermost first."""
    found: dict[ir.Expr, bool] = {}
    pending: list[tuple[Any, bool]] = [(access, True)]
    seen: set[Any] = set()
    while pending and len(seen) < _MOST_STEPS:
        e, is_direct = pending.pop()
        if e in seen:
            continue
        seen.add(e)
        match e:
            case ir.Cast():
                if bytes_of(e) == NARROW and bytes_of(e.operand) >= NARROW and not e.explicit:
                    found.setdefault(e, False)
                pending.append((e.operand, is_direct))
            case ir.Binary() if e.op in _ARITHMETIC:
                if bytes_of(e) == NARROW:
                    found.setdefault(e, is_direct)
                pending += [(e.left, is_direct), (e.right, is_direct)]
            case ir.Conditional():
                pending += [(e.then, is_direct), (e.otherwise, is_direct)]
            case ir.Index():
                pending += [(e.base, is_direct), (e.index, is_direct)]
            case ir.Unary(op="*" | "&" | "+"):
                pending.append((e.operand, is_direct))
            case ir.Member():
                pending.append((e.base, is_direct))
            case ir.Name() if isinstance(e.symbol.type, ir.PointerType):
                pending += [(value, True) for value in moves.get(e.symbol, ())]
            case ir.Name():
                value = text.definitions.of(e.symbol)
                if value is not None:
                    pending.append((value, bytes_of(e) == WIDE))
            case ir.Call() if not isinstance(e.type, ir.PointerType) and e.name in ("min", "max"):
                pending += [(argument, False) for argument in e.arguments]
            case ir.Call():
                pending += [(each, True) for each in e.arguments if isinstance(each.type, ir.PointerType)]
    return sorted(found.items(), key=lambda each: _depth(each[0]))


def _depth(e: Any) -> int:
    return 1 + max((_depth(child) for child in children(e)), default=0)
