"""Loops: turn by turn for as long as a lane is active, but turns that go on like others are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudalint.execute.budget import size_of
from cudalint.execute.loop_shapes import declared, is_closed
from cudalint.execute.loop_turns import Turns
from cudalint.execute.memory import Allocation
from cudalint.execute.program import Execute, Program
from cudalint.execute.trace import LeftOut, Site, Turn
from cudalint.execute.values import Data
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_MOST_TURNS = 2000
"""Of one loop, that are executed; what is left out is noted."""
_FEWEST_TURNS = 64
_STEPS_IN_ALL = 50_000
"""Of an execution, after which loops may have half as many turns; after as many again a quarter, and so on."""
_SHORT = 32
_TURNS_BY_DATA = 2
"""Of a loop that data ends: the first turn, and one that comes after another."""
_TOGETHER = Data("loaded", is_common=True)
"""Lanes leave such a loop one after the other, so that most turns have most of them."""


def compiled_loop(program: Program, n: st.For | st.While | st.DoWhile) -> Execute:
    """A loop as a closure; a `for` with its first statement."""
    body = program.statement(n.body)
    condition = program.value(n.condition) if n.condition is not None else None
    init = program.statement(n.init) if isinstance(n, st.For) and n.init is not None else None
    increment = program.value(n.increment) if isinstance(n, st.For) and n.increment is not None else None
    is_tested_first = not isinstance(n, st.DoWhile)
    own = declared(n.init) if isinstance(n, st.For) else ()
    is_closed_ = is_closed(n)
    is_short = _is_short(n)
    size = size_of(n.condition, n.increment if isinstance(n, st.For) else None)

    def execute(m: Machine) -> None:
        if init is not None:
            init(m)
        entered = m.mask
        assert entered is not None
        frame = m.frames[-1]
        outer = m.broken, m.continued, m.loop_data, m.data, m.is_left_by_data, m.is_left_together
        outer_parted = m.is_parted_outside
        m.is_parted_outside |= not m.is_left_together
        m.broken = m.continued = None
        m.loop_data, m.is_left_by_data, m.is_left_together = m.data, False, True
        is_ended_by_data = False
        returned, ended = frame.returned, m.ended
        guard = m.guard
        if not is_short:
            m.guard = None
        m.depth += 1
        m.writes.append({})
        turns = Turns(m, n, own if is_closed_ else ())
        trace, site = m.trace, Site(n, m.stack, m.library)
        turn = 0
        while m.mask is not None:
            m.step(size)
            turns.begin()
            active, by_data = m.mask, False
            if condition is not None and (is_tested_first or turn):
                holds = m.truth(condition(m))
                if isinstance(holds, Data):
                    m.undecided(n, holds)
                    by_data = is_ended_by_data = True
                    m.is_left_together &= holds.is_common
                    if turn >= _TURNS_BY_DATA:
                        m.trace.left_out.append(LeftOut(n, m.stack, "turns by data", 1))
                        turns.cut()
                        break
                    if m.data == outer[3]:
                        m.open_scope(_TOGETHER)
                        m.loop_data = m.data
                elif type(holds) is bool:
                    m.agreed(n)
                    if not holds:
                        break
                else:
                    go_on, _ = m.split(holds)
                    m.branch(n, active, go_on, turn)
                    if go_on is None:
                        break
                    m.mask = go_on
            turns.tested(by_data)
            if m.is_left_by_data and turn >= _TURNS_BY_DATA:
                m.trace.left_out.append(LeftOut(n, m.stack, "turns by data", 1))
                turns.cut()
                break
            if turn >= _most_turns(m):
                m.trace.left_out.append(LeftOut(n, m.stack, "too many turns", 1))
                turns.cut()
                break
            if m.mask is not entered:
                _leave(m, own)
            within = m.mask
            trace.turns.append(Turn(site, turn, m.depth, len(trace.accesses)))
            body(m)
            if m.next_turn():
                if m.mask is not within and np.count_nonzero(m.mask) == np.count_nonzero(within):
                    m.mask = within
                if increment is not None:
                    increment(m)
                if turns.end():
                    break
            turn += 1
        turns.close()
        m.guard = guard
        m.depth -= 1
        written = m.writes.pop()
        if m.writes:
            for (allocation, offset), old in written.items():
                if allocation.depth < m.depth:
                    m.writes[-1].setdefault((allocation, offset), old)
        m.close_scopes(outer[3])
        is_ended_by_data |= m.is_left_by_data
        is_one = m.is_left_together
        m.broken, m.continued, m.loop_data, _, m.is_left_by_data, m.is_left_together = outer
        m.is_parted_outside = outer_parted
        m.mask = entered if frame.returned is returned and m.ended is ended else m.gone(entered)
        if is_ended_by_data and m.mask is not None:
            m.memory.leave_by_data(written.items(), is_one, 1009 * n.span.line + n.span.column)

    return execute


def _most_turns(m: Machine) -> int:
    if m.in_full:
        return _MOST_TURNS
    return max(_FEWEST_TURNS, _MOST_TURNS >> (m.trace.steps * m.wide // _STEPS_IN_ALL))


def _leave(m: Machine, own: tuple[ir.Symbol, ...]) -> None:
    """Lanes that have left a loop never see its own variables again."""
    for symbol in own:
        variable = m.environment.get(symbol)
        if type(variable) is Allocation:
            variable.mask = m.mask


def _is_short(n: st.For | st.While | st.DoWhile) -> bool:
    """Whether nothing is left of a loop in the machine's code but copies of its body, as its text says how few."""
    condition = n.condition
    if not isinstance(n, st.For) or not isinstance(condition, ir.Binary):
        return False
    ends = [end.value for end in (condition.left, condition.right) if isinstance(end, ir.Constant)]
    return any(type(end) is int and 0 <= end <= _SHORT for end in ends)
