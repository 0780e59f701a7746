"""Loops of host code that go from one known number to the next while a condition on sizes holds: choices among those.

`while (threads > n) threads /= 2;` gives the block that `n < 256 ? n < 128 ? ... : 128 : 256` would give.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from cudalint.heuristics import heuristic
from cudalint.host.executor import expressions
from cudalint.host.executor.joins import is_plain
from cudalint.host.executor.loop_parts import LoopParts
from cudalint.host.executor.state import LoopScope
from cudalint.host.executor.values import Place, Value
from cudalint.host.values.evaluation import holds
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_MOST_STEPS = 32
"""By doubling, from 1 to more than there are 32-bit numbers."""
_LOOPS = (st.For, st.While, st.DoWhile, st.RangeFor)
_Numbers = dict[ir.Symbol, Node]


@heuristic("halving-loops", "`while (threads > n) threads /= 2` of host code").otherwise(False)
def choose(ex: Execution, parts: LoopParts) -> bool:
    """Executes a loop in that form; whether it is one. Nothing has changed otherwise."""
    if parts.test_last or any(isinstance(node, _LOOPS) for node in walk.walk(parts.body)):
        # A loop around another one counts what that does, step by step.
        return False
    statements = ex.statements
    changed = [symbol for symbol in ex.changed_in(parts) if symbol in ex.state.variables]
    with ex.on_trial():
        steps = _steps(ex, parts, changed)
    if steps is None:
        ex.statements = statements
        return False
    *earlier, (_, numbers) = steps
    for test, before in reversed(earlier):
        numbers = {symbol: ex.graph.select(test, numbers[symbol], before[symbol]) for symbol in changed}
    ex.state.variables = {**ex.state.variables, **numbers}
    return True


def test_of(ex: Execution, parts: LoopParts) -> Node:
    """The condition of a loop, as it is now."""
    return ex.graph.true if parts.condition is None else expressions.condition(ex, parts.condition)


def one_turn(
    ex: Execution, parts: LoopParts, start: Mapping[ir.Symbol, Node]
) -> tuple[Node, Mapping[ir.Symbol, Value | Place]] | None:
    """A loop's condition where some variables are what `start` says, and what all are after one iteration from there;
    None where that leaves the loop. Nothing else of it stays."""
    statements = ex.statements
    with ex.on_trial():
        ex.state.variables = {**ex.state.variables, **start}
        test, scope = test_of(ex, parts), LoopScope()
        ex.state.loop_scopes.append(scope)
        ex.statement(parts.body)
        ex.state.loop_scopes.pop()
        if parts.increment is not None:
            expressions.discard(ex, parts.increment)
        left, after = ex.state.dead or scope.breaks or scope.exits, ex.state.variables
    ex.statements = statements
    return None if left else (test, after)


def _steps(ex: Execution, parts: LoopParts, changed: Collection[ir.Symbol]) -> list[tuple[Node, _Numbers]] | None:
    """The conditions of the iterations with the numbers before each, and those at the end beside the last condition."""
    found: list[tuple[Node, _Numbers]] = []
    for _ in range(_MOST_STEPS):
        numbers = _numbers(ex, changed)
        test = test_of(ex, parts)
        if numbers is None or not is_plain(ex.graph, test) or (not found and test.is_const):
            return None
        if (found and found[-1][1] == numbers) or (test.is_const and not test.value):
            # At its end, or where further iterations change nothing.
            return [*found, (test, numbers)]
        found.append((test, numbers))
        if not _goes_on(ex, parts):
            return None
    # Of steps as small as these, more than so many are left out if ordinary sizes don't take them.
    return None if holds(ex.graph, found[-1][0], {}) else found


def _numbers(ex: Execution, changed: Collection[ir.Symbol]) -> _Numbers | None:
    """The values of some variables, if those are known numbers."""
    found = {symbol: ex.state.variables.get(symbol) for symbol in changed}
    known = {symbol: value for symbol, value in found.items() if isinstance(value, Node) and value.is_const}
    return known if known and len(known) == len(found) else None


def _goes_on(ex: Execution, parts: LoopParts) -> bool:
    """Executes the body once; whether it comes to its end."""
    scope = LoopScope()
    ex.state.loop_scopes.append(scope)
    ex.statement(parts.body)
    ex.state.loop_scopes.pop()
    if ex.state.dead or scope.breaks or scope.continues or scope.exits:
        return False
    if parts.increment is not None:
        expressions.discard(ex, parts.increment)
    return True
