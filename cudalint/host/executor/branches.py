"""Branches of host code: a known condition leads to one side, of an unknown one both are executed and joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cudalint.host.executor import expressions, joins
from cudalint.host.executor.state import Before
from cudalint.host.executor.values import Place, RecordValue, Value
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_Side = Callable[[], None]
"""Executes one side of a branch."""
_Variables = Mapping[ir.Symbol, Value | Place]
_MOST_IDLE = 200
"""Statements that a side counts for at most which nothing leads to."""


def if_(ex: Execution, statement: st.If) -> None:
    condition = expressions.condition(ex, statement.condition)
    if condition.is_const and ex.state.functions[-1].is_instance and _is_of_constants(statement.condition):
        # The template's arguments decide: other ones lead to the other side.
        sides = (statement.then, statement.otherwise)
        chosen, other = sides if condition.value else sides[::-1]
        if other is not None:
            ex.found.ruled_out |= _launching_in(other)
        if chosen is not None:
            ex.statement(chosen)
        return
    otherwise = statement.otherwise
    branch(
        ex, condition, lambda: ex.statement(statement.then),
        None if otherwise is None else lambda: ex.statement(otherwise),
    )  # fmt: skip


def branch(ex: Execution, condition: Node, then: _Side, otherwise: _Side | None) -> None:
    if condition.is_const:
        chosen, other = (then, otherwise) if condition.value else (otherwise, then)
        if other is not None:
            not_taken(ex, other)
        if chosen is not None:
            _believe(ex, chosen, other)
        return
    state, outer, opposite = ex.state, ex.state.guards, ex.graph.negate(condition)
    before = state.variables
    returns = _returns(ex)
    _enter(ex, condition, outer, before)
    then()
    first, first_dead, first_returns = state.variables, state.dead, _returns(ex)
    state.dead = False
    _enter(ex, opposite, outer, before)
    if otherwise is not None:
        otherwise()
    state.guards = outer
    if first_dead and state.dead:
        return
    if first_dead:
        state.guards = (*outer, opposite)
        if first_returns > returns:
            _set_for_callers(ex, before, first)
        return
    if state.dead:
        second, returned = state.variables, _returns(ex) > first_returns
        state.variables, state.dead, state.guards = first, False, (*outer, condition)
        if returned:
            _set_for_callers(ex, before, second)
        return
    state.variables = joins.joined_variables(ex, before, first, state.variables, condition)


def not_taken(ex: Execution, side: _Side) -> None:
    """Looks for launches where the known values don't lead; nothing else of it stays."""
    taken, statements = ex.taken, ex.statements
    ex.taken = False
    try:
        with ex.on_trial():
            side()
    finally:
        ex.taken = taken
        ex.statements = min(ex.statements, statements + _MOST_IDLE)


def _enter(ex: Execution, condition: Node, guards: tuple[Node, ...], before: _Variables) -> None:
    """Starts one side of a branch: numbers that an earlier branch on the same condition chose are known there."""
    ex.state.guards = (*guards, condition)
    ex.state.variables = dict(before)
    if not ex.graph.choosing.isdisjoint((condition, ex.graph.negate(condition))):
        for symbol, value in before.items():
            ex.state.variables[symbol] = _known_side(ex, value, condition)


def _known_side(ex: Execution, value: Value | Place, condition: Node) -> Value | Place:
    if isinstance(value, Node) and value.op == "select":
        test, a, b = value.args
        return a if test is condition else b if ex.graph.negate(test) is condition else value
    if isinstance(value, RecordValue) and _has_choices(ex, value):
        fields = {name: _known_side(ex, part, condition) for name, part in value.fields.items()}
        if any(part is not value.fields[name] for name, part in fields.items()):
            return RecordValue(value.type, fields)  # type: ignore[arg-type]
    return value


def _has_choices(ex: Execution, record: RecordValue) -> bool:
    """Whether there are numbers in a record that a condition chooses between."""
    known = ex.with_choices.get(record)
    if known is None:
        parts = record.fields.values()
        known = any(isinstance(part, Node) and part.op == "select" for part in parts)
        known = known or any(isinstance(part, RecordValue) and _has_choices(ex, part) for part in parts)
        ex.with_choices[record] = known
    return known


def _believe(ex: Execution, chosen: _Side, other: _Side | None) -> None:
    """Takes a branch, unless it only leads out of the function: then it is the end of a program that failed to read a
    file, say, which nothing here really does. One that computes a number to return is none, and so is one that returns
    a structure of numbers (`if (layout == ROWS) return {columns, 1};`)."""
    before, launches, returns = ex.state.before(), len(ex.found.launches), _returns(ex)
    ex.computed = False
    chosen()
    if not ex.state.dead or len(ex.found.launches) > launches or _left_loop(ex, before) or ex.computed:
        return
    left, returned = ex.state.variables, _returns(ex) > returns
    ex.state.take_back(before)
    if returned:
        _set_for_callers(ex, before.state.variables, left)
    if other is not None:
        other()


def _returns(ex: Execution) -> int:
    return len(ex.state.functions[-1].returns) if ex.state.functions else 0


def _set_for_callers(ex: Execution, before: _Variables, left: _Variables) -> None:
    """Keeps what a branch that returns has set of the callers' variables, through references and pointers: a function
    that chooses a block says so in such a branch as often as after it. One in a loop that sets another number with each
    iteration looks for the number, which is unknown."""
    outer = ex.state.functions[-1].outer if ex.state.functions else {}
    in_loop = any(not scope.is_switch for scope in ex.state.loop_scopes)
    for symbol, kept in list(outer.items()):
        value, old = left.get(symbol), before.get(symbol)
        if value is None or value is old or ex.state.variables.get(symbol) is not old:
            continue
        if kept is not None:
            reason = Reason("found by a loop", kind="iteration")
            value = ex.memory.unknown(symbol.type, reason, (), symbol.name)
        ex.state.variables[symbol] = value
        if in_loop and kept is None and isinstance(value, Node):
            outer[symbol] = value
        else:
            del outer[symbol]


def _left_loop(ex: Execution, before: Before) -> bool:
    """Whether the innermost loop or switch was left by `break` or `continue`, which is no failure."""
    scopes = ex.state.loop_scopes
    if not scopes or not before.exits:
        return False
    breaks, continues, _ = before.exits[-1]
    return len(scopes[-1].breaks) > breaks or len(scopes[-1].continues) > continues


def _is_of_constants(condition: ir.Expr) -> bool:
    plain = (ir.Constant, ir.Binary, ir.Unary, ir.Cast)
    return all(isinstance(node, plain) for node in walk.walk(condition))


def _launching_in(statement: st.Stmt) -> set[str]:
    """The keys of the functions with launches that a statement calls, directly or through others."""
    calls = (node.function for node in walk.walk(statement) if isinstance(node, ir.Call))
    waiting = [ref for ref in calls if ref is not None]
    found: set[str] = set()
    while waiting:
        ref = waiting.pop()
        if ref.key not in found and ref.is_user and ref.kind == "host" and ref.has_launch():
            found.add(ref.key)
            waiting += ref.named()
    return found
