"""Variables of type double into which nothing but floats, integers and literals flows, and out of which everything is
made a float or an integer again or is compared.

Somebody has written `double`, and may have meant it: a sum over many turns keeps digits that floats would lose. What
goes on from one turn of a loop to the next is therefore taken only if it is a copy, a choice, or an average, as the
bounds of a search by halving are: weights that are not negative and have a sum of at most 1 make no error larger. Any
other variable that goes on into itself is left alone, and all that depends on it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, Final, NamedTuple

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.kept import kept
from cudalint.measure.work.doubles import COMPARISONS, NARROWED, Search, is_double, is_narrow
from cudalint.measure.work.nests import LOOPS

_CHOICES: Final = frozenset({"min", "max", "fmin", "fmax"})
_MOST_FORMS = 16
"""Sums that the choices of one value are taken apart into."""


class Group(Struct, frozen=True, eq=False):
    """Variables that flow into each other, or are computed with or compared with each other."""

    declarations: tuple[st.Declare, ...]
    """In source order."""
    main: st.Declare
    """That of the variable that is used in the innermost loop."""
    roots: Mapping[int, frozenset[int]]
    """What is computed with them: for the identity of each whole expression, those of all of its nodes."""


class _Use(Struct, frozen=True, eq=False):
    """A whole expression in double precision, whose value goes somewhere else."""

    root: Any
    """The operation at which it ends: a conversion, a comparison, an assignment, or the value of a declaration."""
    values: tuple[ir.Expr, ...]
    """What has to be made of floats."""
    target: ir.Symbol | None
    """The variable that it is assigned to."""
    is_update: bool = False
    """The variable's own value goes into it: `x += y`."""
    depth: int = 0
    """Loops around it."""


@kept(64)
def double_variables(function: ir.Function) -> tuple[Group, ...]:
    """The groups of such variables of a function, each for itself."""
    nodes = list(_with_closures(walk.nodes_in(function)))
    declared = {
        node.symbol: node
        for node in nodes
        if isinstance(node, st.Declare) and node.symbol.storage == "local" and is_double(node.symbol.type)
    }
    if not declared:
        return ()
    uses, variables = _uses(nodes, declared, function)
    searches = _settled(uses, variables, declared.keys())
    while (sums := _growing(uses, variables)):
        variables -= sums
        searches = _settled(uses, variables, declared.keys())
    return tuple(_groups(searches, declared))


def _with_closures(nodes: Iterable[Any]) -> Iterator[Any]:
    """With the bodies of closures, which use the variables that they capture."""
    for node in nodes:
        yield node
        body = node.function.load() if isinstance(node, ir.Lambda) else None
        if body is not None:
            yield from _with_closures(walk.nodes_in(body))


# --- what becomes of the variables ---------------------------------------------------------------------


def _uses(
    nodes: Iterable[Any], declared: Mapping[ir.Symbol, st.Declare], function: ir.Function
) -> tuple[list[_Use], set[ir.Symbol]]:
    """All expressions that variables go into, and the variables of which nothing else becomes."""
    around = {id(child): node for node in nodes for child in walk.children(node)}
    variables, uses = set(declared), dict[int, _Use]()
    for node in nodes:
        found: _Use | None = None
        if isinstance(node, st.Declare):
            if node.symbol in declared and node.initializer is not None:
                found = _Use(node.initializer, (node.initializer,), node.symbol)
        elif isinstance(node, ir.Name) and node.symbol in declared:
            found = _use(node, around)
            if found is None or (function.volatile and node.span in function.volatile):
                variables.discard(node.symbol)
        if found is not None:
            depth = _loops_around(found.root, around)
            uses.setdefault(id(found.root), _Use(found.root, found.values, found.target, found.is_update, depth))
    return list(uses.values()), variables


def _use(name: ir.Name, around: Mapping[int, Any]) -> _Use | None:
    """The whole expression that a variable stands in; None where something else is done with it."""
    top: Any = name
    while _goes_on(outer := around.get(id(top)), top):
        top = outer
    match outer:
        case ir.Cast(type=ir.Scalar(kind=kind) as type_) if kind != "void" and not is_double(type_):
            return _Use(outer, (top,), None)
        case ir.Binary(op=op, left=left, right=right) if op in COMPARISONS:
            return _Use(outer, (left, right), None)
        case ir.Assign(op=op, target=ir.Name(symbol=target) as at, value=value) if op in ("", *NARROWED):
            if at is top and not isinstance(around.get(id(outer)), (st.ExprStmt, st.For)):
                return None  # Its value goes somewhere, too.
            if is_double(at.type):
                return _Use(outer, (value,), target, bool(op))
            return _Use(outer, (value,), None) if op and is_narrow(at.type) else None
        case ir.Assign(op=op, target=target, value=value) if value is top and op in NARROWED:
            return _Use(outer, (value,), None) if is_narrow(target.type) else None
        case st.Declare(symbol=symbol, initializer=value) if value is not None and is_double(symbol.type):
            return _Use(value, (value,), symbol)
    return None


def _goes_on(outer: Any, inner: Any) -> bool:
    """Whether a value is part of a larger expression in double precision."""
    match outer:
        case ir.Unary(op="-" | "+"):
            return True
        case ir.Binary(op=op):
            return op in NARROWED
        case ir.Conditional(condition=condition):
            return condition is not inner
        case ir.Cast(type=type_):
            return is_double(type_)
        case ir.Call(receiver=None, callee=None, type=type_):
            return is_double(type_)
    return False


def _loops_around(node: Any, around: Mapping[int, Any]) -> int:
    depth, inner = 0, node
    while (outer := around.get(id(inner))) is not None:
        depth += isinstance(outer, LOOPS) and inner is not getattr(outer, "init", None)
        inner = outer
    return depth


# --- which of them are of floats alone ---------------------------------------------------------------------


def _settled(
    uses: Iterable[_Use], variables: set[ir.Symbol], declared: Set[ir.Symbol]
) -> list[tuple[_Use, Search]]:
    """Takes the variables out that others than these and floats flow into, or that flow into others."""
    while True:
        found, before = [], len(variables)
        for use in uses:
            search = Search({id(use.root)}, [], variables)
            is_taken = all(search.takes(value) for value in use.values)
            touched = _named(use, declared) | ({use.target} if use.target is not None else set())
            if not is_taken or not touched <= variables:
                variables -= touched
            elif touched:
                found.append((use, search))
        if len(variables) == before:
            return found


class _Sum(NamedTuple):
    """A value as a sum: weights of what is not constant, and the rest."""

    weights: Mapping[int, float]
    constant: float

    @property
    def is_average(self) -> bool:
        """Whether no error of what goes in comes out larger, and none is added each time."""
        total = sum(self.weights.values())
        return min(self.weights.values(), default=0.0) >= 0 and (total < 1 or (total == 1 and not self.constant))


def _growing(uses: Iterable[_Use], variables: set[ir.Symbol]) -> set[ir.Symbol]:
    """Variables that go on into themselves by more than copies, choices and averages, with all on the way."""
    flows = {variable: set[ir.Symbol]() for variable in variables}
    for use in uses:
        if use.target in flows:
            flows[use.target] |= _named(use, variables)
    reached = {variable: _reached(variable, flows) for variable in variables}
    found = set[ir.Symbol]()
    for use in uses:
        if use.target is None or use.target not in variables:
            continue
        inside = {each for each in _named(use, variables) if use.target in reached[each]}
        if inside and (use.is_update or not all(each.is_average for each in _sums(use.values[0]))):
            found |= {use.target} | inside
    return found


def _named(use: _Use, variables: Set[ir.Symbol]) -> set[ir.Symbol]:
    own = {use.target} if use.is_update and use.target is not None else set[ir.Symbol]()
    nodes = (node for value in use.values for node in walk.walk(value))
    return own | {node.symbol for node in nodes if isinstance(node, ir.Name) and node.symbol in variables}


def _reached(variable: ir.Symbol, flows: Mapping[ir.Symbol, set[ir.Symbol]]) -> set[ir.Symbol]:
    """What flows into a variable, through others as well."""
    found, waiting = set[ir.Symbol](), list(flows[variable])
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += flows[each]
    return found


def _sums(expr: ir.Expr) -> list[_Sum]:
    """The sums that a value may be, by the choices in it. What is no sum is one of its own."""
    match expr:
        case ir.Cast(operand=operand):
            return _sums(operand)
        case ir.Constant(value=value) if isinstance(value, (int, float)):
            return [_Sum({}, float(value))]
        case ir.Unary(op="-" | "+" as op, operand=operand):
            return [_scaled(each, -1.0 if op == "-" else 1.0) for each in _sums(operand)]
        case ir.Conditional(then=then, otherwise=otherwise):
            return [*_sums(then), *_sums(otherwise)]
        case ir.Call(name=name, arguments=(first, second)) if name in _CHOICES:
            return [*_sums(first), *_sums(second)]
        case ir.Binary(op="+" | "-" as op, left=left, right=right):
            one, other = _sums(left), _sums(right)
            if len(one) * len(other) <= _MOST_FORMS:
                return [_added(a, _scaled(b, -1.0 if op == "-" else 1.0)) for a in one for b in other]
        case ir.Binary(op="*" | "/" as op, left=left, right=right):
            one, other = _sums(left), _sums(right)
            if all(not each.weights for each in other) and (op == "*" or all(each.constant for each in other)):
                factors = [1 / b.constant if op == "/" else b.constant for b in other]
                return [_scaled(a, factor) for a in one for factor in factors][:_MOST_FORMS]
            if op == "*" and all(not each.weights for each in one):
                return [_scaled(b, a.constant) for a in one for b in other][:_MOST_FORMS]
    if isinstance(expr, ir.Name):
        return [_Sum({id(expr.symbol): 1.0}, 0.0)]
    has_names = any(isinstance(node, ir.Name) and is_double(node.type) for node in walk.walk(expr))
    # A function of a variable, or a product of two, may make its error as large as anything.
    return [_Sum({id(expr): 2.0 if has_names else 1.0}, 0.0)]


def _scaled(of: _Sum, factor: float) -> _Sum:
    return _Sum({key: weight * factor for key, weight in of.weights.items()}, of.constant * factor)


def _added(one: _Sum, other: _Sum) -> _Sum:
    keys = dict.fromkeys((*one.weights, *other.weights))
    weights = {key: one.weights.get(key, 0.0) + other.weights.get(key, 0.0) for key in keys}
    return _Sum({key: weight for key, weight in weights.items() if weight}, one.constant + other.constant)


# --- groups ----------------------------------------------------------------------------------------------


def _groups(found: Iterable[tuple[_Use, Search]], declared: Mapping[ir.Symbol, st.Declare]) -> Iterator[Group]:
    """The variables by what they are computed and compared with, if there are floats among that."""
    together = list[tuple[set[ir.Symbol], list[tuple[_Use, Search]]]]()
    for use, search in found:
        own = search.met | ({use.target} if use.target is not None else set())
        joined = [each for each in together if each[0] & own]
        together = [each for each in together if not each[0] & own]
        others = [each for _, uses in joined for each in uses]
        together.append((own.union(*(variables for variables, _ in joined)), [*others, (use, search)]))
    for variables, uses in together:
        if not any(search.floats for _, search in uses):
            continue
        order = sorted(variables, key=lambda symbol: symbol.span)
        depth = dict.fromkeys(order, 0)
        for use, search in uses:
            for each in (*search.met, *((use.target,) if use.target is not None else ())):
                depth[each] = max(depth[each], use.depth)
        yield Group(
            tuple(declared[each] for each in order),
            declared[max(order, key=lambda each: depth[each])],
            {id(use.root): frozenset(search.parts) for use, search in uses},
        )
