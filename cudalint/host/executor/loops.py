"""Loops: what a turn of them consists of, for `Executor.follow`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.executor.loop_parts import LoopParts, parts_of_for
from cudalint.host.executor.state import LoopScope
from cudalint.host.values.nodes import Reason
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.executor import Executor

def for_loop(ex: Executor, statement: ir.For) -> None:
    if statement.init is not None:
        ex.statement(statement.init)
    ex.follow(parts_of_for(statement))


def while_loop(ex: Executor, statement: ir.While) -> None:
    ex.follow(LoopParts(statement.condition, statement.body, None, statement.span))


def do_loop(ex: Executor, statement: ir.DoWhile) -> None:
    if _runs_once(statement.condition):
        _run_once(ex, statement)
        return
    ex.follow(LoopParts(statement.condition, statement.body, None, statement.span, test_last=True))


def _runs_once(condition: ir.Expr) -> bool:
    """`do { ... } while (0)`, the usual wrapper of a macro."""
    plain = walk.without_casts(condition)
    return isinstance(plain, ir.Constant) and not plain.value


def _run_once(ex: Executor, statement: ir.DoWhile) -> None:
    state = ex.state
    scope = LoopScope(len(state.conditions))
    before = state.conditions
    state.loop_scopes.append(scope)
    ex.statement(statement.body)
    state.loop_scopes.pop()
    left = [*scope.breaks, *scope.continues]
    if state.dead and left:
        state.variables, state.dead = dict(left[0][1]), False
    if not state.dead:
        state.conditions = before
        ex.merge_exits(left, scope.exits)


_BOOL = ir.Scalar("bool", 1, "bool")


def range_loop(ex: Executor, statement: ir.RangeFor) -> None:
    """`for (x : range)` over an object with iterators (loops over arrays are lowered as counted ones): the elements are
    opaque, and so is which threads have another one; what it takes to read them is not followed."""
    ex.state.variables[statement.symbol] = ex.memory.unknown(
        statement.symbol.type, Reason(False, "it is an element of a range", statement.span), (), statement.symbol.name
    )
    ex.follow(LoopParts(None, statement.body, None, statement.span))
