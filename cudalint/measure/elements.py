"""Elements that data chooses: whether threads update them together, whether they lie in another array of dynamic shared
memory that is carved up, and whether more threads come than there are elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cudalint.execute.drawn import Drawn
from cudalint.execute.trace import Stack
from cudalint.execute.values import Data
from cudalint.hardware.requests import WARP_LANES
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir.walk import children, without_casts
from cudalint.measure.bounds import extent_of
from cudalint.measure.origins import argument_of, definitions, is_own
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen, is_uniform, spelled
from cudalint.measure.touches import Site
from cudalint.measure.ways import Guard


@heuristic("shared-updates", "counters that all threads increment").otherwise(False)
def is_shared_update(race: Race, deciding: Sequence[Guard], seen: Seen) -> bool:
    """Whether a race is about an element that threads read and write back what they have made of it, all of them the
    same one, each of them where the data that it has loaded fulfils the conditions that decide. Ordinary data lets two
    threads do so: of one that only ever comes alone nobody would add up what it finds."""
    first, second = race.first.site, race.second.site
    if not is_one_element(race) or seen.guards(first) != seen.guards(second):
        return False
    stores = [end for end in race.ends if end.site.operation == "store"]
    others = {first.operation, second.operation} - {"store", "load"}
    if not stores or others or not all(_writes_back(end, race, seen) for end in stores):
        return False
    return not any(_picks_one(guard, seen) for guard in deciding)


def is_one_element(race: Race) -> bool:
    """Whether all threads come to the same element, whatever the data."""
    offsets = [end.event.offset for end in race.ends]
    if any(isinstance(offset, Data) or not is_uniform(offset) for offset in offsets):
        return False
    return spelled(race.first.site.node) == spelled(race.second.site.node)


@heuristic("shared-extremes", "minima that all threads update").otherwise(False)
def is_shared_extreme(race: Race, deciding: Sequence[Guard], seen: Seen) -> bool:
    """Whether a race is about one element for all threads that those replace by their own data for which it is larger
    or smaller than what stands there: at first, ordinary data is so for many of them."""
    if not is_one_element(race):
        return False
    stores = [end for end in race.ends if end.site.operation == "store"]
    return bool(stores) and all(
        any(_stores_what_is_compared(end, guard, race, seen) for guard in deciding) for end in stores
    )


def _stores_what_is_compared(end: RaceEnd, guard: Guard, race: Race, seen: Seen) -> bool:
    """Whether a thread stores the data that a condition has compared with what stood there."""
    compared = guard.condition
    stored = seen.stored(end.site)
    if not isinstance(compared, ir.Binary) or compared.op not in ("<", "<=", ">", ">="):
        return False
    if not isinstance(stored, ir.Assign) or stored.op:
        return False
    for other, mine in ((compared.left, compared.right), (compared.right, compared.left)):
        loads = seen.origins.of(other, guard.stack).loads
        if any(race.allocation in seen.memory_of(*load) for load in loads):
            return _same(mine, stored.value)
    return False


def _same(one: Any, other: Any) -> bool:
    return spelled(without_casts(one)) == spelled(without_casts(other))


def _writes_back(end: RaceEnd, race: Race, seen: Seen) -> bool:
    """Whether what is stored is made of what stood there."""
    value = seen.value_of(end.site)
    return value is not None and any(race.allocation in seen.memory_of(*load) for load in value.loads)


def _picks_one(guard: Guard, seen: Seen) -> bool:
    """Whether a number that was loaded for all threads names the one that comes: `threadIdx.x == leader[0]`."""
    asked = guard.condition
    if not isinstance(asked, ir.Binary) or asked.op != "==":
        return False
    sides = [seen.origins.of(side, guard.stack) for side in (asked.left, asked.right)]
    return all(not each.by_thread for each in sides if each.is_data)


# --- dynamic shared memory that is carved up -----------------------------------------------------------


@heuristic("carved-arrays", "histograms beside other arrays in dynamic shared memory").otherwise(False)
def leads_into_another(race: Race, seen: Seen) -> bool:
    """Whether data chooses an element of one of such arrays, and the other access is of another one: whatever data may
    be, it is taken to lead into its own."""
    symbol = race.allocation.symbol
    if symbol is None or symbol.storage != "dynamic-shared":
        return False
    by_data = [end for end in race.ends if isinstance(end.event.offset, Data)]
    if len(by_data) != 1:
        return False
    own = by_data[0]
    other = race.second if own is race.first else race.first
    pointers = _pointer_of(own.site.node), _pointer_of(other.site.node)
    if not all(map(_begins_an_array, pointers, (own, other), (seen, seen))):
        return False
    start = _start_of(own, seen)
    if pointers[0].symbol is pointers[1].symbol or start is None:
        return False
    low, high = _range_of(other, race, seen)
    return low > start or high <= start


@heuristic("carved-neighbours", "arrays in dynamic shared memory that sizes keep apart").otherwise(False)
def meet_in_another(race: Race, seen: Seen) -> bool:
    """Whether two such arrays meet: where some sizes keep them apart, those with which one has no room are none that
    the kernel is launched with."""
    symbol = race.allocation.symbol
    if symbol is None or symbol.storage != "dynamic-shared":
        return False
    ends = race.ends
    pointers = [_pointer_of(end.site.node) for end in ends]
    if not all(map(_begins_an_array, pointers, ends, (seen, seen))):
        return False
    return pointers[0].symbol is not pointers[1].symbol


def _begins_an_array(pointer: Any, end: RaceEnd, seen: Seen) -> bool:
    """Whether it is a variable that leads all threads to one place."""
    return isinstance(pointer, ir.Name) and not seen.origins.of(pointer, end.site.stack).by_thread


def _pointer_of(node: Any) -> Any:
    """What an access takes an element of."""
    node = without_casts(node)
    match node:
        case ir.Call(arguments=(place, *_)):
            return _pointer_of(place)
        case ir.Unary(op="&" | "*"):
            return _pointer_of(node.operand)
        case ir.Index():
            return _pointer_of(node.base)
        case ir.Binary(op="+" | "-"):
            return _pointer_of(node.left)
        case _:
            return node


def _start_of(end: RaceEnd, seen: Seen) -> int | None:
    """The byte at which an access would be if all data were zero."""
    offset = end.event.offset
    if type(offset) is not Drawn:
        return None
    start = np.unique(np.asarray(offset.without_data(seen.trace.lanes)))
    return int(start[0]) if len(start) == 1 else None


def _range_of(end: RaceEnd, race: Race, seen: Seen) -> tuple[int, int]:
    """The bytes that an access touches: the first one, and the one behind the last."""
    low, high = [], []
    for event in seen.events.get(end.site, ()):
        if event.allocation is race.allocation and not isinstance(event.offset, Data) and event.mask.any():
            offsets = np.broadcast_to(event.offset, event.mask.shape)[event.mask]
            low.append(int(offsets.min()))
            high.append(int(offsets.max()) + event.bytes)
    return min(low, default=0), max(high, default=0)


# --- how many values an expression has at most ---------------------------------------------------------


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
