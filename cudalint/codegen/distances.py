"""What of an address is known at run time only, as a sum of products: two accesses are so far from each other as the
compiler knows only if that is the same for both.

`t[2 * i + 1 - stride]` and `t[2 * i + 1]` are neighbours where `stride` is 1, which the evaluator knows under a launch
and the compiler does not. Of `t[2 * k]` and `t[2 * k + 1]` it knows, whatever `k` is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache

from msgspec import Struct, field

from cudalint.codegen.fixed_indices import Open, Spot, code_of
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent
from cudalint.ir import nodes as ir
from cudalint.ir import walk

_Product = tuple[Hashable, ...]
"""Factors in one order: variables, and how expressions are written that are no sums or products."""
_Sum = dict[_Product, int]
_MOST_TERMS = 32

OpenPart = frozenset[tuple[_Product, int]]


@heuristic("open-distances", "PTX: two accesses are as far apart as the compiler knows").otherwise(frozenset())
def open_part(function: ir.Function, event: AccessEvent) -> OpenPart:
    """What of the address of an access is open; nothing of what is not in the kernel's own body. Few kernels have
    accesses for which that is asked."""
    return _open_parts(function).get(Spot.of(event), frozenset())


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
