"""The loops of an execution, and what stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from cudalint.execute.trace import Site, Stack
from cudalint.ir import nodes as ir
from cudalint.ir import walk

_STATEMENTS = get_args(ir.Stmt)
_NOT_OWN = (*_STATEMENTS, ir.Case, ir.Lambda)
LOOPS = (ir.For, ir.While, ir.DoWhile)


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


def computed_in(statement: ir.Stmt) -> Iterator[Any]:
    """A statement and the expressions that are its own."""
    waiting: list[Any] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += own_parts(node)


def repeated(loop: Any) -> frozenset[int]:
    """The nodes that each turn of a loop comes to."""
    parts = [loop.body, loop.condition]
    if isinstance(loop, ir.For):
        parts.append(loop.increment)
    return frozenset(id(node) for part in parts if part is not None for node in walk.walk(part))


def _is_in(node: Any, stack: Stack, loop: Site, inside: frozenset[int]) -> bool:
    deeper = len(stack) - len(loop.stack)
    if deeper < 0 or stack[deeper:] != loop.stack:
        return False
    return id(node if not deeper else stack[deeper - 1]) in inside
