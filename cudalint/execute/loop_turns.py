"""Which turns of a loop are executed, and for how many others each of them stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.affine import FOREVER, MOST_TIMES
from cudalint.execute.endless import Standing
from cudalint.execute.loop_forward import forget, go_forward, note_for_outer_loops
from cudalint.execute.loop_plans import History, Misfit, Plan, is_opaque
from cudalint.execute.loop_samples import Samples, samples_of
from cudalint.execute.trace import LeftOut
from cudalint.execute.values import Data
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

_PERIODS = (1, 2, 3, 4)
"""In turns, that are tried unasked."""
_TRIES = frozenset({6, 8, 12, 16, 24, 32, 48, 64, 96})
"""Turns after which those that do not repeat are looked at again."""
_MOST_REMEMBERED = 2 * MOST_TIMES + 8
"""Turns, until the history begins anew."""
_MOST_NOTES = 100_000
_LEAST_QUIET = 3
"""Turns of a loop that leaves nothing, of which two are executed."""
_STEPS = 24_000
"""That the turns of a loop may take until some stand for others only by estimate."""
_MOST_KNOWN = 512
"""Turns that are executed of a loop whose length is known."""
_LESS_IN_NESTS = 3
"""Halvings of that for each loop around."""
_STEPS_IN_ALL = 50_000
"""Of an execution, after which loops get half as many; after as many again a quarter, and so on."""
_LEAST_STEPS = 200
_TOO_MUCH, _MUCH_TOO_MUCH = 3, 8
"""Times these steps, after which turns are not looked at for how they go on, and after which fewer are executed."""
_TURNS_TO_KNOW = 3
_TURNS_TO_STAND = 2
"""What one turn does to the next is seen in the second one."""
_FEWEST_SAMPLES, _LEAST_SAMPLES, _MOST_SAMPLES = 2, 12, 64
"""Where an execution is very expensive, where a loop is, and at most."""
_LEAST_SAVED = 2
"""Turns, for which it is worth it."""


class Turns:
    """One execution of a loop."""

    def __init__(self, machine: Machine, node: st.Stmt, own: tuple[ir.Symbol, ...]) -> None:
        """`own` are the variables of a loop that needs no others to know its turns."""
        self.machine, self._node, self._own = machine, node, own
        self._is_outermost = machine.notes is None
        if machine.notes is None and not machine.in_full:
            machine.notes = []
        machine.watchers += 1
        self._history = History(machine)
        self._is_open = False
        self._periods = list(_PERIODS)
        self._plan: Plan | None = None
        self._left = 0
        """Turns of the window that are to be executed."""
        self._after: Any = 0
        self._weight: Any = 1.0
        self._samples: Samples | None = None
        self._steps, self._executed, self._next_look = machine.trace.steps, 0, 0
        self._total: Any = 0
        """Turns until now, with those that are left out."""
        self._quiet = machine.quiet_loops.get(node, 0)
        self._is_skipping = False
        self._is_data_left = False
        """Whether data has decided the loop's condition."""
        self._standing = Standing(machine)
        self._key = node, machine.stack
        self._first = machine.first_tries.get(self._key, 0)
        self._events = self._number_of_events()

    def begin(self) -> None:
        """Before the loop's condition."""
        if self._plan is None and self._samples is None and not self._is_skipping and not self.machine.in_full:
            self._history.begin()
            self._is_open = True

    def tested(self, by_data: bool = False) -> None:
        """After the loop's condition, which data may decide."""
        self._is_data_left |= by_data
        if self._is_open:
            self._history.tested()

    def end(self) -> bool:
        """After the last statement of a turn, if lanes go on; whether all turns are done that are to be executed."""
        self._total = self._total + 1
        self._executed += 1
        if self._is_skipping:
            self._stop_skipping()
            return True
        if self._plan is not None:
            self._left -= 1
            if not self._left:
                self._leave_window(self._plan)
                if self._standing.is_again() and not self._may_data_end_it():
                    return self._never_ends()
        elif self._samples is not None:
            self._next_sample(self._samples)
        elif self._is_open:
            self._close_turn()
            if self._stands_still():
                return self._never_ends()
            if self._quiet and self._is_quiet():
                self._skip()
            else:
                self._quiet = 0
                return self._look()
        return False

    def _look(self) -> bool:
        """Goes forward where turns go on like the last ones; whether they do so without an end."""
        m = self.machine
        assert m.notes is not None
        if self._begin_samples(_TOO_MUCH):
            return False
        for period in list(self._periods):
            if self._is_worth_trying(period) and self._try(period):
                return self._plan is None and self._never_ends()
        if self._begin_samples():
            return False
        if len(m.notes) > _MOST_NOTES:
            m.forget_notes()
        if len(self._history.turns) >= _MOST_REMEMBERED:
            self._anew()
        return False

    def close(self) -> None:
        if self._is_open:
            self._close_turn()
        m = self.machine
        if self._plan is not None or self._samples is not None or self._is_skipping:
            m.weight = self._weight
        if not m.in_full:
            self._remember()
        m.watchers -= 1
        if self._is_outermost:
            m.notes = None

    def _remember(self) -> None:
        """For the next time that this loop is executed."""
        m = self.machine
        if self._own and type(self._total) is int and self._total >= _LEAST_QUIET and self._is_quiet():
            m.quiet_loops[self._node] = self._total

    def _number_of_events(self) -> tuple[int, ...]:
        trace = self.machine.trace
        return len(trace.accesses), len(trace.barriers), len(trace.branches)

    # --- loops that leave nothing ------------------------------------------------------------------

    def _is_quiet(self) -> bool:
        """Whether nothing has come of it so far but data."""
        if self._events != self._number_of_events():
            return False
        m = self.machine
        own = [m.environment.get(symbol) for symbol in self._own]
        return all(
            isinstance(allocation.cells.get(offset), Data) and is_opaque(old)
            for (allocation, offset), old in m.writes[-1].items()
            if allocation not in own
        )

    def _skip(self) -> None:
        """One more turn stands for all others."""
        self._is_skipping, self._weight = True, self.machine.weight
        self.machine.weight = self._weight * (self._quiet - 1)

    def _stop_skipping(self) -> None:
        self.machine.weight, self._is_skipping = self._weight, False
        self._total = self._quiet
        for allocation in dict.fromkeys(allocation for allocation, _ in self.machine.writes[-1]):
            if isinstance(allocation.type, ir.ArrayType):
                forget(self.machine, allocation)

    # --- loops without an end ----------------------------------------------------------------------

    def _may_data_end_it(self) -> bool:
        return self._is_data_left or self.machine.is_left_by_data

    def _stands_still(self) -> bool:
        """Whether the last turn, which came after another one, has changed nothing that the next ones depend on."""
        turns = self._history.turns
        if len(turns) < _TURNS_TO_STAND or self._may_data_end_it():
            return False
        return self._standing.is_still(turns[-1].mask, turns[-1].written)

    def _never_ends(self) -> bool:
        """No more of its turns is executed."""
        self.machine.trace.left_out.append(LeftOut(self._node, self.machine.stack, "too many turns", 1))
        return True

    # --- turns that repeat -------------------------------------------------------------------------

    def _close_turn(self) -> None:
        self._history.end()
        self._is_open = False

    def _anew(self) -> None:
        self._history = History(self.machine)
        if self._is_outermost and self.machine.notes is not None:
            self.machine.notes.clear()

    def _is_worth_trying(self, period: int) -> bool:
        seen = self._history.together
        if seen < max(2 * period, self._first):
            return False
        return seen <= 2 * period + 2 or seen in (3 * period, self._first) or seen in _TRIES

    def _try(self, period: int) -> bool:
        """Goes forward, if turns repeat with such a period. There is no plan then if they are so for ever."""
        try:
            plan = self._history.plan(period, needed=2 + -(-_LEAST_SAVED // period))
        except Misfit as misfit:
            longer = period * misfit.times
            if longer <= MOST_TIMES and longer not in self._periods:
                self._periods.append(longer)
            return False
        if self._is_for_ever(plan) and not self._may_data_end_it():
            return True
        return self._enter_window(plan)

    def _is_for_ever(self, plan: Plan) -> bool:
        """Whether nothing in sight ends the loop for any of its lanes."""
        if type(plan.periods) is int:
            return plan.periods >= FOREVER
        return bool((plan.periods[self._active_warps()] >= FOREVER).all())

    def _active_warps(self) -> Any:
        m = self.machine
        assert m.mask is not None
        return m.mask.reshape(m.mask.shape[0], m.lanes.warps, WARP_LANES).any(axis=2)

    # --- going forward -----------------------------------------------------------------------------

    def _enter_window(self, plan: Plan) -> bool:
        """Goes to the turns that stand for those that repeat. The last ones of these are executed as they are.

        Of turns whose weights grow two neighbours in the middle stand for all, since their mean is that of all.
        """
        m = self.machine
        length = plan.window * (2 if plan.grows else 1)
        chunks = (plan.periods - 1) * plan.period // length
        if type(chunks) is np.ndarray:
            chunks = np.maximum(np.where(self._active_warps(), chunks, 1), 1)
            if (np.max(chunks) - 1) * length < _LEAST_SAVED:
                return False
        elif (chunks - 1) * length < _LEAST_SAVED:
            return False
        if m.watchers > 1:
            note_for_outer_loops(m, plan, length)
        in_periods = length // plan.period
        before, after = (0, (chunks - 1) * in_periods)
        if plan.grows:
            before = after = (chunks - 1) * (plan.window // plan.period)
        self._go(plan, before)
        self._plan, self._left, self._after, self._weight = plan, length, after, m.weight
        m.weight = m.weight * chunks
        self._total = self._total + (chunks - 1) * length
        seen = self._history.together
        m.first_tries[self._key] = min(seen, m.first_tries.get(self._key, seen))
        return True

    def _leave_window(self, plan: Plan) -> None:
        m = self.machine
        m.weight, self._plan = self._weight, None
        self._go(plan, self._after)
        self._anew()

    def _go(self, plan: Plan, periods: Any) -> None:
        go_forward(self.machine, plan.moves, plan.interval, periods)
        if np.any(periods):
            for allocation in plan.forgotten:
                forget(self.machine, allocation)
            for allocation in plan.stale:
                if allocation.contents is not None:
                    allocation.contents.forget()

    # --- samples -----------------------------------------------------------------------------------

    def _begin_samples(self, too_much: int = 1) -> bool:
        """Executes some of the turns that are left, if they are too expensive to be all executed: if they have taken so
        many times what they may."""
        m = self.machine
        spent, executed = (m.trace.steps - self._steps) * m.wide, self._executed
        less = m.trace.steps * m.wide // _STEPS_IN_ALL
        budget = max(_LEAST_STEPS, _STEPS >> (_LESS_IN_NESTS * (m.watchers - 1) + less))
        if len(self._history.turns) < _TURNS_TO_KNOW or executed < self._next_look:
            return False
        if spent < too_much * budget and executed < too_much * _MOST_KNOWN:
            return False
        self._next_look = 2 * executed
        least = max(_FEWEST_SAMPLES, _LEAST_SAMPLES >> (less + (spent // (_MUCH_TOO_MUCH * budget)).bit_length()))
        most = max(least, _MOST_SAMPLES >> (m.watchers - 1))
        samples = samples_of(self._history, max(least, min(most, budget * executed // max(1, spent))))
        if samples is None:
            return False
        m.trace.left_out.append(LeftOut(self._node, m.stack, "sampled turns", samples.left_out))
        self._samples, self._weight = samples, m.weight
        self._next_sample(samples)
        return True

    def cut(self) -> None:
        """The turns that are left are not executed."""
        self.machine.forget_contents(self._steps)

    def _next_sample(self, samples: Samples) -> None:
        m = self.machine
        m.forget_contents(self._steps)
        length = samples.next(m)
        m.weight = self._weight * float(length)
        self._total = self._total + length - 1
        if samples.is_done:
            m.weight, self._samples = self._weight, None
            self._anew()
