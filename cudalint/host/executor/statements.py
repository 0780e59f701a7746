"""Statements of host code, but for switches: what is declared, expressions for their effects, loops, and ways out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.executor import expressions, lambdas, lists, loops
from cudalint.host.executor.loop_parts import LoopParts
from cudalint.host.executor.outcomes import is_refusal
from cudalint.host.executor.state import LoopScope
from cudalint.host.executor.values import PLACES, LocalPlace, RecordValue
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution


def declare(ex: Execution, statement: st.Declare) -> None:
    symbol = statement.symbol
    ex.code.definitions.note(symbol, statement.initializer)
    in_memory = symbol.storage != "constant" and expressions.lies_in_memory(symbol)
    if not in_memory and not (symbol.storage == "static" and statement.initializer is None):
        ex.state.variables[symbol] = expressions.initial_value(ex, symbol, statement.initializer)
    value = ex.state.variables.get(symbol)
    if value is not None and not isinstance(value, PLACES):
        ex.name(value, symbol.name)


def expression(ex: Execution, statement: st.ExprStmt) -> None:
    expr = statement.expr
    if not isinstance(expr, ir.Assign) and ex.code.ends(statement):
        ex.state.dead = True
        return
    expressions.discard(ex, expr)
    if not isinstance(expr, ir.Assign):
        return
    ex.code.definitions.note_assignment(expr)
    target = expr.target
    if isinstance(target, (ir.Name, ir.Member)):
        value = expressions.evaluate(ex, target)
        ex.name(value, target.symbol.name if isinstance(target, ir.Name) else target.field)
    elif isinstance(target, ir.Unary) and isinstance(_bare(target.operand), ir.Name):
        # `*x = header->width` in what is called as `load(path, &width)`.
        where = expressions.place(ex, target)
        if isinstance(where, LocalPlace) and not where.path:
            ex.name(expressions.read(ex, where, expr.span), where.symbol.name)


def _bare(expr: ir.Expr) -> ir.Expr:
    return expr.operand if isinstance(expr, ir.Cast) else expr


def block(ex: Execution, statement: st.Block) -> None:
    outer, ex.waiting = ex.waiting, {}
    for inner in statement.statements:
        ex.statement(inner)
    lambdas.call_waiting(ex)
    ex.waiting = outer


def unknown(ex: Execution, statement: st.UnknownStmt) -> None:
    """What the front end doesn't know; of jumps that lead out of the function, what stands on their way."""
    rest = ex.code.exits.get(statement)
    if rest is None:
        for child in statement.children:
            ex.statement(child)
        return
    # Of a root, nobody asks what it returns.
    for each in () if ex.state.functions[-1].is_root else rest:
        if not ex.state.dead:
            ex.statement(each)
    if not ex.state.dead:
        return_(ex, st.Return(None, statement.span))


def assembly(ex: Execution, statement: st.Asm) -> None:
    """Of no concern to launches."""


# --- loops -----------------------------------------------------------------------------------------------


def for_(ex: Execution, statement: st.For) -> None:
    if statement.init is not None:
        ex.statement(statement.init)
    own = statement.init.symbol if isinstance(statement.init, st.Declare) else None
    loops.follow(ex, LoopParts(statement.condition, statement.body, statement.increment, statement.span, own=own))


def while_(ex: Execution, statement: st.While) -> None:
    loops.follow(ex, LoopParts(statement.condition, statement.body, None, statement.span))


def do_while(ex: Execution, statement: st.DoWhile) -> None:
    condition = walk.without_casts(statement.condition)
    if not isinstance(condition, ir.Constant) or condition.value:
        loops.follow(ex, LoopParts(statement.condition, statement.body, None, statement.span, test_last=True))
        return
    # `do { ... } while (0)`, the usual wrapper of a macro.
    scope = LoopScope()
    ex.state.loop_scopes.append(scope)
    ex.statement(statement.body)
    ex.state.loop_scopes.pop()
    left = [*scope.breaks, *scope.continues]
    if ex.state.dead and left:
        ex.state.variables, ex.state.dead = dict(left[0]), False
    if not ex.state.dead:
        for variables in left:
            ex.state.variables = {**ex.state.variables, **variables}


def range_for(ex: Execution, statement: st.RangeFor) -> None:
    """`for (x : range)` over an object with iterators (loops over arrays are lowered as counted ones): of a list that
    is not known, the elements are unknown."""
    if lists.follow_range(ex, statement):
        return
    symbol, reason = statement.symbol, Reason("it is an element of a range", statement.span)
    ex.state.variables[symbol] = ex.memory.unknown(symbol.type, reason, (), symbol.name)
    loops.follow(ex, LoopParts(None, statement.body, None, statement.span))


# --- ways out --------------------------------------------------------------------------------------------


def return_(ex: Execution, statement: st.Return) -> None:
    state, scope = ex.state, ex.state.functions[-1]
    value = None
    if statement.value is not None:
        evaluated = expressions.place if scope.returns_place else expressions.evaluate
        value = evaluated(ex, statement.value)
    for loop in state.loop_scopes:
        loop.exits += 1
    state.dead = True
    ex.computed = statement.value is not None and (_computes(statement.value) or _is_of_numbers(value))
    scope.returns.append((ex.graph.conjunction(state.guards[len(scope.guards) :]), value))


def break_(ex: Execution, statement: st.Break) -> None:
    if ex.state.loop_scopes:
        ex.state.loop_scopes[-1].breaks.append(ex.state.variables)
    ex.state.dead = True


def continue_(ex: Execution, statement: st.Continue) -> None:
    for scope in reversed(ex.state.loop_scopes):
        if not scope.is_switch:
            scope.continues.append(ex.state.variables)
            break
        scope.exits += 1
    ex.state.dead = True


def _computes(expr: ir.Expr) -> bool:
    """Whether an expression computes a number from variables: no constant, and no status that is passed on."""
    steps = (n for n in walk.walk(expr) if isinstance(n, ir.Binary) and n.op in ("+", "-", "*", "/", "%", "<<", ">>"))
    return any(isinstance(node, ir.Name) for step in steps for node in walk.walk(step))


def _is_of_numbers(value: object) -> bool:
    """Whether a result is a structure of plain numbers, and none that says by negative ones, or by nothing but zeros,
    that there are none."""
    if not isinstance(value, RecordValue) or is_refusal(value):
        return False
    numbers = [part for part in value.fields.values() if isinstance(part, Node)]
    return len(numbers) == len(value.fields) and any(not part.is_const or part.value != 0 for part in numbers)
