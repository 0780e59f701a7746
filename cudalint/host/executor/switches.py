"""Switches of host code: a case that is known is taken, and of a number that is unknown all of them are."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudalint.host.executor import branches, expressions, joins
from cudalint.host.executor.state import LoopScope
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.evaluation import holds
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution


def follow(ex: Execution, statement: st.Switch) -> None:
    """The cases of an unknown value are all executed, each from the state before. One that options may change leads to
    one of them in the end, like a known one, but the launches of the others are made as well."""
    value, guards = expressions.number(ex, statement.condition), ex.state.guards
    ex.state.loop_scopes.append(LoopScope(is_switch=True))
    is_default = ex.graph.rests_on_defaults(value)
    start = _chosen(ex, value, statement.cases) if value.is_const or is_default else None
    before, excluded = dict(ex.state.variables), list[Node]()
    for position, case in enumerate(statement.cases):
        if position == start:
            continue
        labels = () if value.is_const else _labels(ex, value, case, statement.cases)
        ex.state.guards = (*guards, *labels)
        goes_on = _case(ex, case, taken=not value.is_const)
        if labels and not goes_on:
            others = (ex.graph.negate(label) for label in labels)
            excluded.append(functools.reduce(lambda a, b: ex.graph.binary("||", a, b, BOOL), others))
        if is_default:
            ex.state.variables = dict(before)
    ex.state.guards = guards
    if start is None:
        # `default: throw ...;`: the others are left.
        ex.state.guards += tuple(excluded)
    else:
        ex.state.guards += _labels(ex, value, statement.cases[start], statement.cases) if is_default else ()
        _bodies(ex, statement.cases[start:])
    if is_default:
        ex.state.guards = guards
    scope = ex.state.loop_scopes.pop()
    if scope.breaks or not value.is_const:
        ex.state.dead = False
    if is_default:
        joins.note_defaults(ex, tuple(ex.state.variables), before)


def _chosen(ex: Execution, value: Node, cases: Sequence[st.Case]) -> int | None:
    """The case that a value leads to, as the program is run."""
    for position, case in enumerate(cases):
        labels = (expressions.number(ex, label) for label in case.values)
        if any(holds(ex.graph, ex.graph.binary("==", value, label, BOOL), {}) for label in labels if label.is_const):
            return position
    return next((position for position, case in enumerate(cases) if case.is_default), None)


def _labels(ex: Execution, value: Node, case: st.Case, cases: Sequence[st.Case]) -> tuple[Node, ...]:
    """What holds of a switch's value in a case: `default` is for the values that no other case has."""
    if case.is_default:
        others = (label for other in cases if other is not case for label in other.values)
        return tuple(_compared(ex, value, "!=", label) for label in others)
    matches = [_compared(ex, value, "==", label) for label in case.values]
    return (functools.reduce(lambda a, b: ex.graph.binary("||", a, b, BOOL), matches),) if matches else ()


def _compared(ex: Execution, value: Node, by: str, label: ir.Expr) -> Node:
    return ex.graph.binary(by, value, expressions.number(ex, label), BOOL)


def _case(ex: Execution, case: st.Case, taken: bool) -> bool:
    """Whether what comes behind the switch may be executed after a case."""
    if not taken:
        branches.not_taken(ex, lambda: _bodies(ex, (case,)))
        return True
    before, breaks = ex.state.variables, len(ex.state.loop_scopes[-1].breaks)
    ex.state.variables = dict(before)
    _bodies(ex, (case,))
    goes_on = not ex.state.dead or len(ex.state.loop_scopes[-1].breaks) > breaks
    if ex.state.dead and not ex.state.loop_scopes[-1].breaks:
        ex.state.variables = before
    else:
        ex.state.variables = joins.joined_variables(ex, before, ex.state.variables, dict(before))
    ex.state.dead = False
    return goes_on


def _bodies(ex: Execution, cases: Sequence[st.Case]) -> None:
    for case in cases:
        for inner in case.body:
            ex.statement(inner)
