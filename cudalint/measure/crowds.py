"""How many values an expression may have at most, whatever the data: where more threads come than there are elements
for them, as in a histogram of bytes, some meet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cudalint.execute.trace import Stack
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir.walk import children, without_casts
from cudalint.measure.bounds import extent_of
from cudalint.measure.origins import argument_of, definitions, is_own
from cudalint.measure.races import Race
from cudalint.measure.seen import Seen
from cudalint.measure.touches import Site

_DEEPEST = 24
"""Steps from an expression to what it is computed from; what is further away may have any value."""
_BITS = 64


def is_crowded(site: Site, race: Race, seen: Seen) -> bool:
    """Whether more threads come to a site than it may lead to elements."""
    values = _Values(seen, race.world)
    elements = values.of_place(site.node, site.stack, _DEEPEST)
    if race.allocation.space == "shared":
        return _is_full(elements, site, race, seen)
    if values.is_of_block and race.reach == "grid":
        return False
    return elements < _threads(site, race, seen, values.is_of_block)


def _is_full(elements: float, site: Site, race: Race, seen: Seen) -> bool:
    """Whether so many threads of a block come to so many elements of a shared array that two meet: two of different
    warps, if the race is one of these. A warp may have an element to itself."""
    extent = extent_of(race.allocation)
    if extent is not None:
        elements = min(elements, extent // max(1, site.bytes))
    alone = WARP_LANES if race.reach == "block" else 1
    return not race.is_conditional and elements * alone < _threads(site, race, seen, True)


def _threads(site: Site, race: Race, seen: Seen, in_block: bool) -> float:
    """That come to a site at once: those of a block, or of all that its blocks stand for."""
    lanes = seen.trace.lanes
    rows = slice(race.world * lanes.blocks, (race.world + 1) * lanes.blocks)
    weights = lanes.weight[rows, 0] if isinstance(lanes.weight, np.ndarray) else np.ones(lanes.blocks)
    most = 0.0
    for event in seen.events.get(site, ()):
        active = np.broadcast_to(event.mask, lanes.full.shape)[rows].sum(axis=1)
        most = max(most, float(active.max() if in_block else (active * weights).sum()))
    return most


class _Values:
    """Counts the values of expressions in one world."""

    def __init__(self, seen: Seen, world: int) -> None:
        self._seen, self._world = seen, world
        self._open: set[tuple[ir.Symbol, Stack]] = set()
        self.is_of_block = False
        """Whether they are counted for one block: each has others."""

    def of_place(self, e: Any, stack: Stack, left: int) -> float:
        """Of an address."""
        match without_casts(e):
            case ir.Index(base=base, index=index):
                return self._product((base, index), stack, left)
            case ir.Unary(op="*", operand=operand):
                return self._of(operand, stack, left - 1)
            case ir.Member(base=base, arrow=arrow):
                return self._of(base, stack, left - 1) if arrow else self.of_place(base, stack, left - 1)
            case ir.Name(symbol=symbol) if symbol.storage not in ("local", "parameter"):
                return 1
            case _:
                return math.inf

    def _of(self, e: Any, stack: Stack, left: int) -> float:
        return min(self._by_parts(e, stack, left), _of_type(e.type))

    def _by_parts(self, e: Any, stack: Stack, left: int) -> float:
        if left <= 0:
            return math.inf
        match e:
            case ir.Constant():
                return 1
            case ir.Name():
                return self._name(e.symbol, stack, left)
            case ir.Binary():
                return min(self._product((e.left, e.right), stack, left), _of_operator(e))
            case ir.Conditional():
                return self._of(e.then, stack, left - 1) + self._of(e.otherwise, stack, left - 1)
            case ir.Unary(op="&"):
                return self.of_place(e.operand, stack, left - 1)
            case ir.Unary(op="-" | "+" | "~" | "!") | ir.Cast():
                return self._product(children(e), stack, left)
            case ir.Member() if is_own(e):
                return self._own_member(e)
            case _:
                return math.inf

    def _product(self, parts: Any, stack: Stack, left: int) -> float:
        return math.prod(self._of(part, stack, left - 1) for part in parts)

    def _own_member(self, e: ir.Member) -> float:
        base = e.base
        if not isinstance(base, ir.Name) or base.symbol.storage != "builtin":
            return math.inf
        if base.symbol.name == "blockIdx":
            self.is_of_block = True
        return 1 if base.symbol.name in ("blockIdx", "blockDim", "gridDim") else math.inf

    def _name(self, symbol: ir.Symbol, stack: Stack, left: int) -> float:
        if isinstance(symbol.type, ir.ArrayType) or symbol.storage in ("constant", "template"):
            return 1
        key = symbol, stack
        if symbol.storage not in ("local", "parameter") or key in self._open:
            return math.inf
        function = self._seen.ways.function_of(stack)
        self._open.add(key)
        found = [self._of(value, stack, left - 1) if value is not None else math.inf
                 for value, _ in definitions(function).get(symbol, ())]  # fmt: skip
        if symbol in function.parameters:
            argument = argument_of(stack[0], function.parameters.index(symbol)) if stack else None
            # All threads are given the same number.
            found.append(1 if not stack else self._of(argument, stack[1:], left - 1) if argument else math.inf)
        self._open.discard(key)
        return sum(found) if found else math.inf


def _of_type(type_: ir.Type) -> float:
    type_ = ir.referent(type_)
    if not isinstance(type_, ir.Scalar) or type_.kind not in ("int", "uint", "bool"):
        return math.inf
    return 2 if type_.kind == "bool" else 2.0 ** min(8 * type_.bytes, _BITS)


def _of_operator(e: ir.Binary) -> float:
    """Of what an operator makes of any number."""
    by = [side.value for side in map(without_casts, (e.left, e.right)) if isinstance(side, ir.Constant)]
    number = next((value for value in by if isinstance(value, int) and value > 0), None)
    if number is None:
        return math.inf
    if e.op == "&":
        return 2.0 ** number.bit_count()
    is_unsigned = isinstance(e.type, ir.Scalar) and e.type.kind == "uint"
    if isinstance(without_casts(e.right), ir.Constant):
        if e.op == "%":
            return number if is_unsigned else 2 * number - 1
        if e.op in ("/", ">>"):
            divisor = number if e.op == "/" else 2.0**number
            return math.ceil(_of_type(without_casts(e.left).type) / divisor) + (not is_unsigned)
    return 2 if e.op in ("==", "!=", "<", "<=", ">", ">=") else math.inf
