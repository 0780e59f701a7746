"""Loops: summarised by what they change in an iteration, counted out only where that says more.

What has no closed form (cudalint.interpreter.device.loop_summary) becomes opaque, unless the trip count is a small
constant, or one unless an option says otherwise: then the loop is executed iteration by iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.interpreter.device import expressions
from cudalint.interpreter.device.loop_parts import LoopParts, parts_of_for
from cudalint.interpreter.device.loop_summary import LoopSummary
from cudalint.interpreter.device.state import LoopScope
from cudalint.interpreter.device.values import PLACES
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.values.assumptions import holds
from cudalint.values.nodes import Reason

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

_MAX_UNROLLED = 64
"""Iterations that are counted out at most."""
_MAX_UNROLLED_STATEMENTS = 6_000
_MAX_BEFORE_UNROLLING = 10_000
"""Statements of a kernel after which loops are only summarised, so that all of it is seen."""


def for_loop(ex: Executor, statement: ir.For) -> None:
    if statement.init is not None:
        ex.statement(statement.init)
    run(ex, parts_of_for(statement))


def while_loop(ex: Executor, statement: ir.While) -> None:
    run(ex, LoopParts(statement.condition, statement.body, None, statement.span, "while"))


def do_loop(ex: Executor, statement: ir.DoWhile) -> None:
    if _runs_once(statement.condition):
        _run_once(ex, statement)
        return
    run(ex, LoopParts(statement.condition, statement.body, None, statement.span, "do", test_last=True))


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
    more: ir.Expr | None = None
    if ex.policy.counts_gaps:
        ex.gap(statement.span, "the elements of a range that is no array")
        flag = ir.Symbol("range", _BOOL, "local", statement.span)
        ex.state.variables[flag] = ex.opaque("whether a range has more", _BOOL, (*ex.graph.thread, *ex.graph.block))
        more = ir.Name(flag, _BOOL, statement.span)
    ex.state.variables[statement.symbol] = ex.memory.unknown(
        statement.symbol.type, Reason(False, "it is an element of a range", statement.span), (), statement.symbol.name
    )
    run(ex, LoopParts(more, statement.body, None, statement.span, "for"))


def run(ex: Executor, parts: LoopParts) -> None:
    """Executes a loop of device code."""
    if ex.on_loop is not None:
        ex.on_loop(parts)
        return
    changed = ex.changed_in(parts)
    symbols = [s for s in ex.state.variables if s in changed and not isinstance(ex.state.variables[s], PLACES)]
    summary = LoopSummary(ex, parts, symbols)
    summary.run()
    is_short = 2 * summary.statements < _MAX_UNROLLED_STATEMENTS and ex.statements < _MAX_BEFORE_UNROLLING
    if not (is_short and summary.is_blurred() and _unroll(ex, parts)):
        summary.record()
    ex.graph.release(summary.placeholders.values())


# --- counting out -------------------------------------------------------------------------------------------


def _unroll(ex: Executor, parts: LoopParts) -> bool:
    """Runs the loop iteration by iteration while its condition is a known constant; False (and nothing done) where it
    isn't one, or where there are too many iterations. A condition on numbers that options may change is one as well:
    what it is if no option is given, on which the execution rests from then on."""
    rested = dict(ex.rests_on)
    before, steps = ex.before(), ex.statements
    events, gaps, log, computed = len(ex.memory.events), len(ex.gaps), len(ex.steps), len(ex.computations)
    if parts.condition is not None:
        ex.record_branch(ex.graph.true, parts.kind, parts.span)
    for iteration in range(_MAX_UNROLLED + 1):
        going = _unrolled_iteration(ex, parts)
        if going is False:
            if not iteration and not parts.test_last and ex.memory.recording:
                ex.list_unreached(lambda: _body(ex, parts))
            return True
        if going is None or ex.statements - steps > _MAX_UNROLLED_STATEMENTS:
            break
    ex.rests_on = rested
    ex.take_back(before)
    del ex.memory.events[events:]
    del ex.gaps[gaps:]
    del ex.steps[log:]
    del ex.computations[computed:]
    return False


def _body(ex: Executor, parts: LoopParts) -> LoopScope:
    scope = LoopScope(len(ex.state.conditions))
    ex.state.loop_scopes.append(scope)
    ex.statement(parts.body)
    ex.state.loop_scopes.pop()
    return scope


def _unrolled_iteration(ex: Executor, parts: LoopParts) -> bool | None:
    """One iteration: True to go on, False after the last one, None where that cannot be told."""
    if not parts.test_last:
        going = _constant_test(ex, parts.condition)
        if going is not True:
            return going
    before = ex.state.conditions
    scope = _body(ex, parts)
    if scope.breaks:
        return None
    if scope.continues:
        ex.state.conditions, ex.state.dead = before, False
        ex.merge_exits(scope.continues, scope.exits)
    if ex.state.dead:
        return False
    if parts.increment is not None:
        expressions.discard(ex, parts.increment)
    return _constant_test(ex, parts.condition) if parts.test_last else True


def _constant_test(ex: Executor, condition: ir.Expr | None) -> bool | None:
    if condition is None:
        return True
    test = expressions.condition(ex, condition)
    if test.is_const:
        return bool(test.value)
    if not ex.graph.rests_on_defaults(test):
        return None
    ex.rests_on.update(dict.fromkeys(ex.graph.atoms(test.bits, ex.graph.uniform_bits)))
    return holds(ex.graph, test, {})
