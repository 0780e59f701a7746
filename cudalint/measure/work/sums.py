"""The terms of sums that a kernel computes: products of two loaded numbers that are added to what was added before, and
the loops that the sum goes over. All of it is read from the source; how often it is executed is in the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from cudalint.execute.trace import Executions, Site, Stack
from cudalint.facts.products import Precision
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import builtin
from cudalint.measure.origins import OriginsOf, definitions, is_own
from cudalint.measure.seen import spelled
from cudalint.measure.ways import Ways
from cudalint.measure.work.nests import Nests, computed_in, repeated

_MOST_PARTS = 256
"""Of a sum or a factor that are looked at."""
_FUSED = {"fmaf": "fp32", "fma": "fp32", "__fmaf_rn": "fp32", "__fmul_rn": "fp32", "__hfma": "fp16", "__hfma2": "fp16",
          "__hfma_relu": "fp16", "__hfma2_relu": "fp16"}  # fmt: skip
_PRODUCTS = frozenset({"operator*", "__hmul", "__hmul2", "__fmul_rn"})
_SUMS = frozenset({"operator+", "__hadd", "__hadd2", "__fadd_rn"})
_ADDS = frozenset({"operator+="})

Source = tuple[Any, Stack]
"""A load, and the calls that lead to it."""
Placed = tuple[Any, Stack]


class SumTerm(NamedTuple):
    """An addition of a product to a sum."""

    code: ir.Expr
    site: Site
    left: tuple[Source, ...]
    """The loads that the factor is one of."""
    right: tuple[Source, ...]
    precision: Precision
    over: tuple[Site, ...]
    """The loops that the sum goes over, the outermost first."""


def sum_terms(kernel: ir.Function, executed: Mapping[Site, Executions], nests: Nests) -> Iterator[SumTerm]:
    """Those of the statements that are executed."""
    terms = _Terms(kernel, nests)
    for site in executed:
        if site.library is None:
            for node in computed_in(site.statement):
                yield from terms.of(node, site)


class _Terms:
    def __init__(self, kernel: ir.Function, nests: Nests) -> None:
        self._ways, self._nests = Ways(kernel), nests
        self._origins = OriginsOf(self._ways)

    def of(self, node: Any, site: Site) -> Iterator[SumTerm]:
        """The products that an expression adds to what it assigns to."""
        target, added, is_update = _assigned(node)
        if target is None:
            return
        found: list[tuple[ir.Expr, Sequence[Placed], Precision]] = []
        precision: Precision = "fp32" if _is_float(target.type) else "fp16"
        goes_on = is_update
        pending: list[Placed] = [(added, site.stack)]
        while pending and len(found) < _MOST_PARTS:
            e, stack = pending.pop()
            e = walk.without_casts(e)
            match e:
                case ir.Binary(op="+" | "-", left=left, right=right):
                    pending += [(right, stack), (left, stack)]
                case ir.Binary(op="*", left=left, right=right) if _is_float(e.type):
                    found.append((e, ((left, stack), (right, stack)), "fp32"))
                case ir.Call(name=name, arguments=arguments) if name in _FUSED and len(arguments) == 3:
                    found.append((e, [(each, stack) for each in arguments[:2]], "fp16" if "__h" in name else "fp32"))
                    pending.append((arguments[2], stack))
                case ir.Call(name=name, arguments=(left, right)) if name in _SUMS:
                    pending += [(right, stack), (left, stack)]
                case ir.Call(name=name, arguments=(left, right)) if name in _PRODUCTS:
                    found.append((e, ((left, stack), (right, stack)), precision))
                case ir.Call(name=name) if builtin(name).effect == "first-argument" and e.arguments:
                    pending.append((e.arguments[0], stack))
                case _:
                    goes_on |= _same_place(e, target)
        if not goes_on or not found:
            return
        over = tuple(loop for loop in self._nests.around(node, site.stack) if self._goes_over(target, node, loop, site))
        for _, factors, kind in found:
            sides = self._factors(factors)
            if sides is not None:
                yield SumTerm(node, site, *sides, kind, over)

    # --- factors ------------------------------------------------------------------------------------------

    def _factors(self, placed: Sequence[Placed]) -> tuple[tuple[Source, ...], tuple[Source, ...]] | None:
        """The two factors that are loaded, of a product of them and what is the same for all."""
        parts: list[tuple[Source, ...]] = []
        pending = list(reversed(placed))
        while pending:
            e, stack = pending.pop()
            e = walk.without_casts(e)
            if isinstance(e, ir.Binary) and e.op == "*":
                pending += [(e.right, stack), (e.left, stack)]
                continue
            sources = self._sources(e, stack, 0)
            if sources is None:
                return None
            if sources:
                parts.append(tuple(dict.fromkeys(sources)))
        return (parts[0], parts[1]) if len(parts) == 2 else None

    def _sources(self, e: Any, stack: Stack, depth: int) -> list[Source] | None:
        """The loads that a factor is one of, whichever way it comes; None where it is computed from several, or from
        something that nothing is known of."""
        e = walk.without_casts(e)
        if depth > _DEEPEST:
            return None
        match e:
            case ir.Conditional(then=then, otherwise=otherwise):
                return self._any([(then, stack), (otherwise, stack)], depth)
            case ir.Name() | ir.Index() | ir.Member() if is_own(e):
                symbol = walk.root(e)
                if symbol is None:
                    return None
                level: Stack | None = stack
                while level is not None:
                    values = self._origins.values_of(symbol, level)
                    if values:
                        return self._any(values, depth)
                    if symbol in self._ways.function_of(level).parameters:
                        return []
                    level = level[1:] if level else None
                return [] if symbol.storage != "local" else None
            case ir.Index() | ir.Unary(op="*") | ir.Member():
                return [(e, stack)]
        found = self._origins.of(e, stack)
        if found.is_unknown or found.atomics:
            return None
        if not found.loads:
            return [] if not found.itself else None
        children = [child for child in walk.children(e) if isinstance(child, _EXPRESSIONS)]
        if isinstance(e, ir.Call) and builtin(e.name).effect == "load":
            return [(e, stack)]
        if isinstance(e, ir.Call) and (body := e.function.load() if e.function is not None else None) is not None:
            results = [node.value for node in walk.nodes_in(body) if isinstance(node, st.Return) and node.value]
            if e.function is not None and e.function.is_user:
                return self._any([(result, (e, *stack)) for result in results], depth)
        loaded = [child for child in children if self._origins.of(child, stack).is_data]
        return self._sources(loaded[0], stack, depth + 1) if len(loaded) == 1 else None

    def _any(self, values: Sequence[Placed], depth: int) -> list[Source] | None:
        found: list[Source] = []
        for value, stack in values:
            own = self._sources(value, stack, depth + 1)
            if own is None:
                return None
            found += own
        return found

    # --- sums ---------------------------------------------------------------------------------------------

    def _goes_over(self, target: Any, node: Any, loop: Site, site: Site) -> bool:
        """Whether all turns of a loop add to the same sum: it is the same place, and nothing begins it anew."""
        symbol = walk.root(target)
        if loop.stack != site.stack or symbol is None or (symbol.storage != "local" and not any(_subscripts(target))):
            return False
        own = definitions(self._ways.function_of(site.stack))
        inside = repeated(loop.statement)
        if is_own(target) and any(by is not node and not _mentions(value, symbol) for value, by in own.get(symbol, ())
                                  if id(by) in inside and _begins(by)):  # fmt: skip
            return False
        return not any(_changes(each, inside, own, set()) for each in _subscripts(target))


def _changes(e: Any, inside: Set[int], own: Any, seen: set[ir.Symbol]) -> bool:
    """Whether an expression may have other values in other turns of a loop. A variable that begins anew in each turn,
    as the counter of a loop within, has the same ones if these do not depend on the turn."""
    for name in (each for each in walk.walk(e) if isinstance(each, ir.Name)):
        given = [(value, by) for value, by in own.get(name.symbol, ()) if id(by) in inside]
        if name.symbol in seen or not given:
            continue
        seen.add(name.symbol)
        if not any(_begins(by) for _, by in given):
            return True
        if any(value is not None and _changes(value, inside, own, seen) for value, _ in given):
            return True
    return False


def _begins(by: Any) -> bool:
    return isinstance(by, st.Declare) or (isinstance(by, ir.Assign) and not by.op)


_DEEPEST = 12
_EXPRESSIONS = (
    ir.Constant, ir.Name, ir.Member, ir.Index, ir.Unary, ir.Binary, ir.Assign, ir.Conditional, ir.Cast, ir.Call,
    ir.Construct, ir.InitList, ir.StatementExpr, ir.FunctionName, ir.UnknownExpr,
)  # fmt: skip


def _assigned(node: Any) -> tuple[Any, Any, bool]:
    """What is assigned to and what, and whether it is added to what was there."""
    match node:
        case ir.Assign(op="+" | "-", target=target, value=value):
            return target, value, True
        case ir.Assign(op="", target=target, value=value):
            return target, value, False
        case ir.Call(name=name, arguments=(target, value)) if name in _ADDS:
            return target, value, True
        case ir.Call(name="operator=", arguments=(target, value)):
            return target, value, False
    return None, None, False


def _same_place(e: Any, target: Any) -> bool:
    """Whether two expressions are spelled in the same way; what a call finds may be another place each time."""
    return spelled(e) == spelled(target) and not any(isinstance(each, ir.Call) for each in walk.walk(target))


def _subscripts(target: Any) -> Iterator[Any]:
    """What tells where a place in memory is."""
    target = walk.without_casts(target)
    while True:
        match target:
            case ir.Index(base=base, index=index):
                yield index
                if not isinstance(ir.referent(walk.without_casts(base).type), ir.ArrayType):
                    yield base
                target = walk.without_casts(base)
            case ir.Member(base=base, arrow=arrow):
                if arrow:
                    yield base
                target = walk.without_casts(base)
            case ir.Unary(op="*", operand=operand):
                yield operand
                return
            case _:
                return


def _mentions(value: Any, symbol: ir.Symbol) -> bool:
    return value is not None and any(isinstance(each, ir.Name) and each.symbol is symbol for each in walk.walk(value))


def _is_float(type_: ir.Type) -> bool:
    own = ir.referent(type_)
    return isinstance(own, ir.Scalar) and own.kind == "float" and own.bytes == 4
