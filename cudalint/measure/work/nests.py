"""The loops of an execution and of a function's text, and what stands in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

from cudalint.execute.trace import Site, Stack, Trace
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.kept import kept
from cudalint.measure.places import called

_STATEMENTS = get_args(st.Stmt)
_NOT_OWN = (*_STATEMENTS, st.Case, ir.Lambda)
LOOPS = (st.For, st.While, st.DoWhile)


class Nests:
    """Which loops stand around a place."""

    def __init__(self, executed: Iterable[Site]) -> None:
        loops = [site for site in executed if isinstance(site.statement, LOOPS)]
        bodies: dict[int, frozenset[int]] = {}
        self._inside: list[tuple[Site, frozenset[int]]] = []
        for site in loops:
            own = bodies.get(id(site.statement))
            if own is None:
                own = bodies[id(site.statement)] = repeated(site.statement)
            self._inside.append((site, own))
        self._found: dict[tuple[int, Stack], tuple[Site, ...]] = {}

    def around(self, node: Any, stack: Stack) -> tuple[Site, ...]:
        """The loops that a statement or an expression is in, or the calls that lead there; the outermost first."""
        key = id(node), stack
        found = self._found.get(key)
        if found is None:
            own = [each for each in self._inside if _is_in(node, stack, *each)]
            own.sort(key=lambda each: (len(each[0].stack), -len(each[1])))
            found = self._found[key] = tuple(site for site, _ in own)
        return found


def own_parts(node: Any) -> list[Any]:
    """The expressions right below a statement or an expression, without those of other statements and functions."""
    return [each for each in walk.children(node) if not isinstance(each, _NOT_OWN)]


def computed_in(statement: st.Stmt) -> Iterator[Any]:
    """A statement and the expressions that are its own."""
    waiting: list[Any] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += own_parts(node)


def repeated(loop: Any) -> frozenset[int]:
    """The nodes that each turn of a loop comes to."""
    parts = [loop.body, loop.condition]
    if isinstance(loop, st.For):
        parts.append(loop.increment)
    return frozenset(id(node) for part in parts if part is not None for node in walk.walk(part))


def _is_in(node: Any, stack: Stack, loop: Site, inside: frozenset[int]) -> bool:
    deeper = len(stack) - len(loop.stack)
    if deeper < 0 or stack[deeper:] != loop.stack:
        return False
    return id(node if not deeper else stack[deeper - 1]) in inside


# --- where nodes stand in their function ---------------------------------------------------------------


_MOST_TURNS = 16
_BRANCHES = (st.If, st.Switch, ir.Conditional)


class Around(NamedTuple):
    """What is around a node in its function."""

    loops: tuple[Any, ...]
    """The innermost first."""
    side: int
    """Equal for nodes on the same side of the innermost branch, in the same turn of the innermost loop."""


_NOWHERE = Around((), 0)


def around(node: Any, stack: Stack, kernel: ir.Function) -> Around:
    """What is around a node, in the function to which calls lead."""
    function = called(stack[0]) if stack else kernel
    return _places(function).get(id(node), _NOWHERE) if function is not None else _NOWHERE


@kept(32)
def _places(function: ir.Function) -> dict[int, Around]:
    found: dict[int, Around] = {}
    pending = [(function.body, Around((), 0))]
    while pending:
        node, place = pending.pop()
        found[id(node)] = place
        for child, own in _children(node, place):
            pending.append((child, own))
    return found


def _children(node: Any, place: Around) -> Iterator[tuple[Any, Around]]:
    is_short = isinstance(node, ir.Binary) and node.op in ("&&", "||")
    for child in walk.children(node):
        if isinstance(node, (*LOOPS, st.RangeFor)) and child is not getattr(node, "init", None):
            yield child, Around((node, *place.loops), id(node))
        elif (isinstance(node, _BRANCHES) and child is not node.condition) or (is_short and child is node.right):
            yield child, Around(place.loops, id(child))
        else:
            yield child, place


def constant_turns(loop: Any) -> int:
    """The turns of a short loop, if the compiler knows them: `for (int k = 0; k < 4; k++)`; 0 for any other."""
    match loop:
        case st.For(
            init=st.Declare(symbol=symbol, initializer=first), increment=increment,
            condition=ir.Binary(op="<" | "<=" | "!=" as op, left=left, right=last),
        ) if increment is not None and _names(left, symbol) and symbol in set(walk.stepped(increment)):
            begin, end = _constant(first), _constant(last)
            if begin is None or end is None or not _is_by_one(increment):
                return 0
            turns = end - begin + (op == "<=")
            return turns if 0 < turns <= _MOST_TURNS else 0
    return 0


def _names(e: Any, symbol: ir.Symbol) -> bool:
    e = walk.without_casts(e)
    return isinstance(e, ir.Name) and e.symbol is symbol


def _constant(e: Any) -> int | None:
    e = walk.without_casts(e) if e is not None else None
    if isinstance(e, ir.Name) and walk.is_fixed(e.symbol) and e.symbol.initializer is not None:
        e = e.symbol.initializer()
    return e.value if isinstance(e, ir.Constant) and type(e.value) is int else None


def _is_by_one(increment: Any) -> bool:
    if isinstance(increment, ir.Unary):
        return increment.op in ("++x", "x++")
    return isinstance(increment, ir.Assign) and increment.op == "+" and _constant(increment.value) == 1


class TurnsOf:
    """In which turns of a loop accesses are made."""

    def __init__(self, trace: Trace, loop: Any, stack: Stack) -> None:
        turns = [turn for turn in trace.turns if turn.loop.statement is loop and turn.loop.stack == stack]
        self._before = [turn.before for turn in turns]
        self._numbers = [turn.number for turn in turns]

    def number(self, place: int) -> tuple[int, int]:
        """Of the access at a place of the trace: which of the turns that are executed, and which of its execution of
        the loop."""
        at = bisect_right(self._before, place) - 1
        return (at, self._numbers[at]) if at >= 0 else (-1, -1)
