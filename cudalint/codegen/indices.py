"""What the compiler can see of an address into which numbers go that are known at run time only: arguments, the block,
and what loads bring. The evaluator puts those in, the compiler does not know them.

Of alignment: elements of `t[x * pitch]` with a pitch of 4 are not aligned to 16 bytes to it, but it sees that
`t[2 * (x + blockDim.x)]` is aligned to 8. Of distances: `t[2 * i + place]` and `t[2 * i + 1]` are one element where
`place` is 1, which it does not know; of `t[2 * k]` and `t[2 * k + 1]` it knows that they are two, whatever `k` is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct, field

from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent
from cudalint.interpreter.device.operators import place_of_store
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.values.polynomial import linear

_ACCESSES = (ir.Index, ir.Member, ir.Unary, ir.Name)
_LOOPS = (ir.For, ir.While, ir.DoWhile)
_ALL = 256
"""Of what is no part: no access needs a larger alignment."""
_SIZES = ("blockDim", "gridDim")
_PLACED = ("shared", "dynamic-shared", "constant", "device")
"""Variables whose address does not depend on what they are given."""
_SUMS = ("+", "-", "")
_SCALES = ("*", "/", "<<", ">>")


class Spot(NamedTuple):
    """A place in the source at which something is read or written: a record that is copied may be both at one."""

    span: ir.Span
    is_store: bool

    @staticmethod
    def of(event: AccessEvent) -> Spot:
        return Spot(event.context.span, event.operation == "store")


class Flow(NamedTuple):
    """What is put into a variable, by `=` or by `op=`."""

    target: ir.Symbol
    op: str
    source: ir.Expr


@heuristic("unknown-parts-of-indices", "PTX: the compiler knows no argument when it asks for alignment").otherwise({})
@lru_cache(maxsize=1)
def fixed_indices(function: ir.Function) -> dict[Spot, int]:
    """For the accesses in a kernel's own body and in its lambdas a power of two, of which the part of the address in
    bytes is a multiple that is known at run time only: the compiler sees of the address modulo that what there is to
    see."""
    code = code_of(function)
    return {spot: code.open.bytes_of(access) for spot, access in code.accesses()}


class Code(NamedTuple):
    """A kernel with its lambdas, as the compiler sees it."""

    nodes: Sequence[Any]
    """All nodes of the bodies."""
    flows: Sequence[Flow]
    open: Open

    def accesses(self) -> Iterator[tuple[Spot, ir.Expr]]:
        """Where something may be read or written, and what. What is said last of a spot holds: an assignment writes its
        target, also where the place of the store is that of what is copied."""
        for node in self.nodes:
            if isinstance(node, _ACCESSES):
                yield Spot(node.span, False), node
                yield Spot(node.span, True), node
        for node in self.nodes:
            if isinstance(node, ir.Assign):
                yield Spot(node.span, False), node.target
                yield Spot(node.span, True), node.target
                yield Spot(place_of_store(node), True), node.target


@lru_cache(maxsize=1)
def code_of(function: ir.Function) -> Code:
    """A kernel's code. Variables that a loop of unknown length doubles or halves are open in it, too; those that it
    counts are not, since it is unrolled."""
    parameters, nodes = _contents(function)
    flows = list(_flows(nodes))
    scaled = list(_scaled(nodes, Open.of(parameters, flows)))
    return Code(nodes, flows, Open.of((*parameters, *scaled), flows))


def _contents(function: ir.Function) -> tuple[list[ir.Symbol], list[Any]]:
    """The parameters and all nodes of a kernel and of its lambdas."""
    nodes = list(walk.nodes_in(function))
    parameters = list(function.parameters)
    for node in nodes:
        closure = node.function.load() if isinstance(node, ir.Lambda) else None
        if closure is not None:
            parameters += closure.parameters
            nodes += walk.walk(closure.body)
    return parameters, nodes


def _scaled(nodes: Iterable[object], open_: Open) -> Iterator[ir.Symbol]:
    """The variables that loops whose lengths are open multiply or divide."""
    for loop in nodes:
        if isinstance(loop, _LOOPS) and loop.condition is not None and open_.part(loop.condition) < _ALL:
            for node in walk.walk(loop):
                if isinstance(node, ir.Assign) and node.op in _SCALES and isinstance(node.target, ir.Name):
                    yield node.target.symbol


class Open:
    """The powers of two that divide what is known at run time only of each variable."""

    def __init__(self, parameters: Iterable[ir.Symbol]) -> None:
        self._of: dict[ir.Symbol, int] = dict.fromkeys(parameters, 1)

    @staticmethod
    def of(parameters: Iterable[ir.Symbol], flows: list[Flow]) -> Open:
        found = Open(parameters)
        while found._spread(flows):
            pass
        return found

    def _spread(self, flows: list[Flow]) -> bool:
        changed = False
        for target, op, source in flows:
            before = self._of.get(target, _ALL)
            own = self.part(source)
            if op not in _SUMS and min(own, before) < _ALL:
                own = 1
            if own < before:
                self._of[target], changed = own, True
        return changed

    def __contains__(self, symbol: ir.Symbol) -> bool:
        return symbol.name in _SIZES or self._of.get(symbol, _ALL) < _ALL

    def part(self, expr: object) -> int:
        """The power of two that divides the open part of a number."""
        match expr:
            case ir.Name(symbol=symbol):
                return 1 if symbol.name in _SIZES else self._of.get(symbol, _ALL)
            case ir.Cast(operand=operand):
                return self.part(operand)
            case ir.Binary(op="+" | "-", left=left, right=right, type=type_):
                return min(self._bytes(left, type_), self._bytes(right, type_))
            case ir.Unary(op="&", operand=operand):
                return self.bytes_of(operand)
            case ir.Binary(op="*", left=left, right=right):
                return min(_ALL, self.part(left) * _factor(right), self.part(right) * _factor(left))
            case ir.Binary(op="<<", left=left, right=ir.Constant(value=int(count))) if 0 <= count < 8:
                return min(_ALL, self.part(left) << count)
        return _ALL if not any(self.part(n) < _ALL for n in walk.walk(expr) if isinstance(n, ir.Name)) else 1

    def _bytes(self, side: ir.Expr, sum_: ir.Type) -> int:
        """The part of one side of a sum, in bytes where a pointer is what comes out."""
        by = 1
        if isinstance(sum_, ir.PointerType) and not isinstance(side.type, (ir.PointerType, ir.ArrayType)):
            by = _low_bit(sum_.pointee.bytes or 1)
        return min(_ALL, self.part(side) * by)

    def bytes_of(self, access: ir.Expr) -> int:
        """The same for the address of an access, in bytes."""
        if isinstance(access, ir.Index) and access.type.bytes:
            whole = isinstance(access.base.type, ir.ArrayType) and isinstance(access.base, ir.Index)
            base = self.bytes_of(access.base) if whole else self.part(access.base)
            return min(base, _ALL, self.part(access.index) * _low_bit(access.type.bytes))
        if isinstance(access, ir.Member) and not access.arrow:
            return self.bytes_of(access.base)
        if isinstance(access, ir.Unary) and access.op == "*":
            return self.part(access.operand)
        if isinstance(access, ir.Name):
            return _ALL if access.symbol.storage in _PLACED else self.part(access)
        return _ALL if self.part(access) == _ALL else 1


def _factor(expr: ir.Expr) -> int:
    """The power of two in a factor, as far as it is known."""
    match expr:
        case ir.Constant(value=int(number)) if number:
            return _low_bit(number)
        case ir.Cast(operand=operand):
            return _factor(operand)
        case ir.Binary(op="*", left=left, right=right):
            return min(_ALL, _factor(left) * _factor(right))
    return 1


def _low_bit(number: int) -> int:
    return number & -number


def _flows(nodes: list[object]) -> Iterator[Flow]:
    for node in nodes:
        if isinstance(node, ir.Declare) and node.initializer is not None:
            yield Flow(node.symbol, "", node.initializer)
        elif isinstance(node, ir.Assign):
            symbol = walk.root(node.target)
            # What is stored behind a pointer or in shared memory does not change where that is.
            if symbol is not None and symbol.storage == "local" and not isinstance(symbol.type, ir.PointerType):
                yield Flow(symbol, node.op, node.value)
            elif isinstance(node.target, ir.Name):
                yield Flow(node.target.symbol, node.op, node.value)


_Product = tuple[Hashable, ...]
"""Factors in one order: variables, and how expressions are written that are no sums or products."""
_Sum = dict[_Product, int]
_MOST_TERMS = 32

OpenPart = frozenset[tuple[_Product, int]]


def open_part(function: ir.Function, event: AccessEvent) -> OpenPart:
    """What of the address of an access is open; nothing of what is not in the kernel's own body. Few kernels have
    accesses for which that is asked."""
    return _open_parts(function).get(Spot.of(event), frozenset())


def distance(function: ir.Function, a: AccessEvent, b: AccessEvent) -> int | None:
    """How many bytes behind the first access the second one lies in every launch, if they are to one array; None where
    the compiler can't know that, though the arguments of one launch may tell it."""
    (base, start), (other, its) = linear(a.offset), linear(b.offset)
    if base != other or open_part(function, a) != open_part(function, b):
        return None
    return its - start


@lru_cache(maxsize=1)
def _open_parts(function: ir.Function) -> dict[Spot, OpenPart]:
    """For the accesses in a kernel's own body and in its lambdas the products in the index with an open variable, and
    how often each is there."""
    code = code_of(function)
    assigned = Counter(flow.target for flow in code.flows)
    single = {flow.target: flow.source for flow in code.flows if assigned[flow.target] == 1 and not flow.op}
    sums = _Sums(code.open, single)
    return {spot: sums.open_part(access) for spot, access in code.accesses()}


class _Sums(Struct, eq=False):
    open: Open
    single: dict[ir.Symbol, ir.Expr]
    """What variables are that are given a value in one place only."""
    _pending: set[ir.Symbol] = field(default_factory=set)

    def open_part(self, access: ir.Expr) -> OpenPart:
        total: _Sum = {}
        while isinstance(access, (ir.Index, ir.Member)):
            if isinstance(access, ir.Index):
                _add(total, self._of(access.index), 1)
            access = access.base
        return frozenset((product, count) for product, count in total.items() if count and self._is_open(product))

    def _is_open(self, product: _Product) -> bool:
        return any(symbol in self.open for symbol in _symbols(product))

    def _of(self, expr: ir.Expr) -> _Sum:
        match expr:
            case ir.Constant(value=int(number)):
                return {(): number}
            case ir.Cast(operand=operand):
                return self._of(operand)
            case ir.Name(symbol=symbol):
                return self._of_name(symbol)
            case ir.Unary(op="-", operand=operand):
                return _add({}, self._of(operand), -1)
            case ir.Binary(op="+" | "-" as op, left=left, right=right):
                return _add(dict(self._of(left)), self._of(right), 1 if op == "+" else -1)
            case ir.Binary(op="*", left=left, right=right):
                return self._times(expr, self._of(left), self._of(right))
            case ir.Binary(op="<<", left=left, right=ir.Constant(value=int(count))) if 0 <= count < 32:
                return _add({}, self._of(left), 1 << count)
        return {(_written(expr),): 1}

    def _of_name(self, symbol: ir.Symbol) -> _Sum:
        source = self.single.get(symbol)
        if source is None or symbol in self._pending:
            return {(symbol,): 1}
        self._pending.add(symbol)
        found = self._of(source)
        self._pending.discard(symbol)
        return found if len(found) <= _MOST_TERMS else {(symbol,): 1}

    def _times(self, expr: ir.Expr, left: _Sum, right: _Sum) -> _Sum:
        if len(left) * len(right) > _MOST_TERMS:
            return {(_written(expr),): 1}
        total: _Sum = {}
        for a, many in left.items():
            for b, more in right.items():
                product = tuple(sorted((*a, *b), key=hash))
                total[product] = total.get(product, 0) + many * more
        return total


def _add(total: _Sum, more: _Sum, times: int) -> _Sum:
    for product, count in more.items():
        total[product] = total.get(product, 0) + times * count
    return total


def _written(expr: ir.Expr) -> Hashable:
    """How an expression is written, conversions aside: two that look the same are the same number here."""
    expr = walk.without_casts(expr)
    if isinstance(expr, ir.Name):
        return expr.symbol
    if isinstance(expr, ir.Constant):
        return expr.value
    own = (type(expr).__name__, *(getattr(expr, name, "") for name in ("op", "name", "field")))
    return (*own, *map(_written, walk.children(expr)))


def _symbols(factors: Iterable[Hashable]) -> Iterator[ir.Symbol]:
    for factor in factors:
        if isinstance(factor, ir.Symbol):
            yield factor
        elif isinstance(factor, tuple):
            yield from _symbols(factor)
