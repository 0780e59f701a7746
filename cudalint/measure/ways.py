"""What has to hold for a thread to get to a place: the conditions of branches and loops around it, and those under
which threads leave before it, through the calls that lead there."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cudalint.execute.trace import Stack
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import children, conjuncts
from cudalint.measure.places import reference_of

_BOOL = ir.Scalar("bool", 1, "bool")


class Guard(NamedTuple):
    """One condition on the way."""

    condition: ir.Expr
    holds: bool | None
    """What it has to be; None where it is one of several that decide."""
    stack: Stack
    """The calls that lead to it."""
    loop: Any = None
    """The loop that it is the condition of, or an exit of."""


class _Own(NamedTuple):
    """A condition within one function."""

    condition: ir.Expr
    holds: bool | None
    loop: Any = None


_Chain = tuple[_Own, ...]


class Ways:
    """Those in a kernel and the functions that it calls."""

    def __init__(self, function: ir.Function) -> None:
        self._kernel = function
        self._known: dict[int, dict[int, _Chain]] = {}
        self._kept: list[ir.Function] = []
        self._guards: dict[tuple[int, Stack], tuple[Guard, ...]] = {}

    def guards_of(self, node: Any, stack: Stack) -> tuple[Guard, ...]:
        """Those on the way to a node of the tree, the outermost first."""
        key = id(node), stack
        found = self._guards.get(key)
        if found is None:
            own = self._in_function(self.function_of(stack)).get(id(node), ())
            found = tuple(Guard(each.condition, each.holds, stack, each.loop) for each in own)
            if stack:
                found = (*self.guards_of(stack[0], stack[1:]), *found)
            self._guards[key] = found
        return found

    def function_of(self, stack: Stack) -> ir.Function:
        """The one that calls lead to."""
        if not stack:
            return self._kernel
        reference = reference_of(stack[0])
        body = reference.load() if reference is not None else None
        return body if body is not None else self._kernel

    def _in_function(self, function: ir.Function) -> dict[int, _Chain]:
        found = self._known.get(id(function))
        if found is None:
            walk = _Walk()
            walk.statement(function.body, ())
            self._kept.append(function)
            found = self._known[id(function)] = walk.found
        return found


class _Walk:
    """Goes through a function once, and notes the conditions on the way to each of its nodes."""

    def __init__(self) -> None:
        self.found: dict[int, _Chain] = {}

    def statement(self, n: st.Stmt, chain: _Chain) -> _Chain:
        """Gives the conditions under which threads get behind it."""
        self.found[id(n)] = chain
        match n:
            case st.Block():
                return self._all(n.statements, chain)
            case st.UnknownStmt():
                return self._all(n.children, chain)
            case st.If():
                self.expression(n.condition, chain)
                self.statement(n.then, (*chain, *_parts(n.condition, True)))
                if n.otherwise is not None:
                    self.statement(n.otherwise, (*chain, *_parts(n.condition, False)))
                return (*chain, *_left(n))
            case st.Switch():
                self.expression(n.condition, chain)
                inside = (*chain, _Own(n.condition, None))
                for case in n.cases:
                    inside = self._all(case.body, inside)
                return (*chain, *_left(n))
            case st.For() | st.While() | st.DoWhile() | st.RangeFor():
                return self._loop(n, chain)
            case _:
                for child in children(n):
                    self.expression(child, chain)
                return chain

    def _all(self, statements: Sequence[st.Stmt], chain: _Chain) -> _Chain:
        for each in statements:
            chain = self.statement(each, chain)
        return chain

    def _loop(self, n: Any, chain: _Chain) -> _Chain:
        if isinstance(n, st.For) and n.init is not None:
            chain = self.statement(n.init, chain)
        if isinstance(n, st.RangeFor):
            self.expression(n.range, chain)
            self.statement(n.body, chain)
            return (*chain, *_left(n))
        exits = tuple(each._replace(loop=n) for each in _breaks(n.body))
        around = (*chain, *exits)
        inside = around
        if n.condition is not None:
            self.expression(n.condition, around)
            # The first turn of `do` asks nothing.
            holds = None if isinstance(n, st.DoWhile) else True
            inside = (*around, *(each._replace(loop=n, holds=holds) for each in _parts(n.condition, True)))
        self.statement(n.body, inside)
        if isinstance(n, st.For) and n.increment is not None:
            # Who leaves a turn by `continue` comes there, too.
            self.expression(n.increment, inside)
        return (*chain, *_left(n))

    def expression(self, n: Any, chain: _Chain) -> None:
        self.found[id(n)] = chain
        if isinstance(n, ir.Binary) and n.op in ("&&", "||"):
            self.expression(n.left, chain)
            self.expression(n.right, (*chain, *_parts(n.left, n.op == "&&")))
        elif isinstance(n, ir.Conditional):
            self.expression(n.condition, chain)
            self.expression(n.then, (*chain, *_parts(n.condition, True)))
            self.expression(n.otherwise, (*chain, *_parts(n.condition, False)))
        elif isinstance(n, ir.StatementExpr):
            behind = self._all(n.statements, chain)
            if n.value is not None:
                self.expression(n.value, behind)
        else:
            for child in children(n):
                self.expression(child, chain)


def _parts(condition: ir.Expr, holds: bool) -> Iterator[_Own]:
    """The conditions that all have to be as they are for one to be so."""
    return (_Own(*each) for each in conjuncts(condition, holds))


def _left(n: st.Stmt) -> Iterator[_Own]:
    """The conditions under which threads leave the function or the turn of a loop inside of a statement, turned round.
    """
    for chain in _exits(n, (), (st.Return, st.Break, st.Continue)):
        yield from _turned(chain)


def _breaks(body: st.Stmt) -> Iterator[_Own]:
    """Those under which they leave a loop for good."""
    for chain in _exits(body, (), (st.Return, st.Break)):
        yield from (each._replace(holds=None) for each in chain)


def _turned(chain: _Chain) -> Iterator[_Own]:
    """Of conditions that hold together, that they don't."""
    if any(each.holds is None for each in chain):
        yield from (each._replace(holds=None) for each in chain)
    elif len(chain) == 1:
        yield chain[0]._replace(holds=not chain[0].holds)
    elif chain:
        yield _Own(functools.reduce(_and, map(_true, chain)), False)


def _true(own: _Own) -> ir.Expr:
    """A condition that is true where one is as it has to be."""
    e = own.condition
    return e if own.holds else ir.Unary("!", e, _BOOL, e.where)


def _and(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Binary("&&", left, right, _BOOL, left.where)


def _exits(n: st.Stmt | None, chain: _Chain, kinds: tuple[type, ...]) -> Iterator[_Chain]:
    """The conditions within a statement that lead to each of its exits."""
    match n:
        case None:
            return
        case st.Return() | st.Break() | st.Continue():
            if isinstance(n, kinds):
                yield chain
        case st.Block():
            for each in n.statements:
                yield from _exits(each, chain, kinds)
        case st.UnknownStmt():
            for each in n.children:
                yield from _exits(each, chain, kinds)
        case st.If():
            yield from _exits(n.then, (*chain, *_parts(n.condition, True)), kinds)
            yield from _exits(n.otherwise, (*chain, *_parts(n.condition, False)), kinds)
        case st.Switch():
            inside = tuple(kind for kind in kinds if kind is not st.Break)
            for case in n.cases:
                for each in case.body:
                    yield from _exits(each, (*chain, _Own(n.condition, None)), inside)
        case st.For() | st.While() | st.DoWhile() | st.RangeFor():
            yield from _exits(n.body, (*chain, *_condition_of(n)), (st.Return,))
        case _:
            return


def _condition_of(n: Any) -> Iterator[_Own]:
    condition = getattr(n, "condition", None)
    if condition is not None:
        yield _Own(condition, None)
