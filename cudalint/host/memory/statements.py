"""What statements of host code do to what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.memory import conditions, expressions, repeated
from cudalint.host.memory.frames import Loop, TooLong
from cudalint.host.memory.state import State, either
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis


def execute(an: Analysis, statement: st.Stmt) -> None:
    """Executes a statement; labels are come to from elsewhere, too."""
    if an.state.dead and not isinstance(statement, (st.Block, st.UnknownStmt)):
        return
    match statement:
        case st.Block(statements=inner):
            for each in inner:
                an.execute(each)
        case st.Declare():
            _declare(an, statement)
        case st.ExprStmt(expr=expr):
            an.value(expr)
        case st.If():
            _branch(an, statement)
        case st.For() | st.While() | st.DoWhile() | st.RangeFor():
            repeated.loop(an, statement)
        case st.Switch():
            _switch(an, statement)
        case st.Return(value=value):
            result = an.value(value) if value is not None else None
            an.frame.returns.append((an.state, result))
            an.state = State(dead=True)
        case st.Break() | st.Continue():
            _leave(an, statement)
        case st.UnknownStmt():
            _unknown(an, statement)
        case _:
            return


def _declare(an: Analysis, statement: st.Declare) -> None:
    symbol, initializer = statement.symbol, statement.initializer
    if symbol.storage not in ("local", "parameter"):
        return
    expressions.initialise(an, symbol, initializer)


def _branch(an: Analysis, statement: st.If) -> None:
    then, otherwise = conditions.ways(an, statement.condition)
    is_of_types = conditions.is_of_types(statement.condition)
    an.silent += is_of_types
    an.state = then
    an.execute(statement.then)
    then, an.state = an.state, otherwise
    if statement.otherwise is not None:
        an.execute(statement.otherwise)
    an.silent -= is_of_types
    an.state = either((then, an.state))


def _switch(an: Analysis, statement: st.Switch) -> None:
    an.value(statement.condition)
    entry = an.state
    loop = Loop(is_switch=True)
    an.frame.loops.append(loop)
    an.state = State(dead=True)
    for case in statement.cases:
        an.state = either((entry, an.state))
        for each in case.body:
            an.execute(each)
    an.frame.loops.pop()
    ends = [an.state, *loop.breaks]
    if not any(case.is_default for case in statement.cases):
        ends.append(entry)
    an.state = either(ends)


def _leave(an: Analysis, statement: st.Break | st.Continue) -> None:
    loops = [each for each in an.frame.loops if isinstance(statement, st.Break) or not each.is_switch]
    if loops:
        (loops[-1].breaks if isinstance(statement, st.Break) else loops[-1].continues).append(an.state)
    an.state = State(dead=True)


def _unknown(an: Analysis, statement: st.UnknownStmt) -> None:
    """A jump, what it leads to, or something whose parts may be executed or not."""
    if statement.is_jump and not statement.children:
        if statement.label in an.frame.labels or not statement.label:
            raise TooLong
        an.frame.jumps.setdefault(statement.label, []).append(an.state)
        an.state = State(dead=True)
    elif statement.is_jump:
        an.frame.labels.add(statement.label)
        an.state = either((an.state, *an.frame.jumps.pop(statement.label, ())))
        for each in statement.children:
            an.execute(each)
    else:
        for each in statement.children:
            before = an.state
            an.state = before.fork()
            an.execute(each)
            an.state = either((before, an.state))
