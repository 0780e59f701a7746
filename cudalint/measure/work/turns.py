"""Loops on terms: those whose tests come to plain numbers are walked turn by turn, as far as the compiler unrolls them;
of all others one turn is walked, in which whatever turns change are variables."""

from __future__ import annotations

from typing import Any

from cudalint.execute.memory import Allocation
from cudalint.execute.program import Program
from cudalint.execute.values import Aggregate, Data, Pointer, Value, truth
from cudalint.ir import statements as st
from cudalint.measure.work import compiler, terms
from cudalint.measure.work.attempts import Attempts
from cudalint.measure.work.graph import Graph, Loop, Place, Test, Version
from cudalint.measure.work.runs import ALL
from cudalint.measure.work.terms import VOID, Term, type_of

_MOST_TURNS = 1200
_ASKED = 16
"""Times as much may become of a loop that is to be unrolled as of one that the compiler unrolls by itself."""
_MOST_ATTEMPTS = 3
"""Until it is known what a loop's turns change."""

Cells = dict[tuple[Allocation, int], Value]


class Turns:
    """The turns of one loop of the source."""

    def __init__(self, program: Program, n: st.For | st.While | st.DoWhile) -> None:
        self.n = n
        self.body = program.statement(n.body)
        self.condition = program.value(n.condition) if n.condition is not None else None
        self.increment = program.value(n.increment) if isinstance(n, st.For) and n.increment is not None else None
        self.is_tested_first = not isinstance(n, st.DoWhile)
        self.asked = n.unroll

    def unrolled(self, m: Any) -> bool:
        """Walks all turns, where the compiler lays them out one by one; whether it does."""
        key = self.n, m.stack, m.library
        if not compiler.UNROLLING.is_on or self.asked == 1 or key in m.attempts.too_long:
            return False
        before = m.state()
        limit = compiler.MOST_UNROLLED * (1 if self.asked is None else _ASKED)
        m.begin()
        most = m.graph.size + limit
        is_unrolled = self._all_turns(m, most)
        m.attempts.note(key, is_unrolled or m.graph.size <= most)
        if is_unrolled:
            m.end()
            return True
        m.go_back(before, m.end())
        return False

    def _all_turns(self, m: Any, most: int) -> bool:
        """Walks turns until a test says that there are no more. False where none says so, they become too many, or a
        turn leaves all numbers as the one before: no test will ever say so."""
        if self.condition is None:
            return False
        before: dict[Any, Any] = {}
        for turn in range(_MOST_TURNS):
            if self.is_tested_first or turn:
                holds = truth(self.condition(m))
                if type(holds) is not bool:
                    return False
                if not holds:
                    return True
            self.body(m)
            if not m.next_turn():
                return True
            if self.increment is not None:
                self.increment(m)
            if m.graph.size > most:
                return False
            numbers = {(to, at): _number_in(to.cells.get(at)) for to, at in m.writes[-1]}
            if turn and numbers == before:
                return False
            before = numbers
        return False

    def rolled(self, m: Any) -> None:
        """Walks one turn, with a variable for everything that turns change."""
        graph, before = m.graph, m.state()
        names: Cells = {}
        changed: set[Any] = set()
        around, m.attempts = m.attempts, Attempts(m.attempts.too_long)
        for left in reversed(range(_MOST_ATTEMPTS + 1)):
            loop = Loop(graph.here())
            loop.asked = self.asked
            m.straight.end(*ALL)
            since = len(m.straight.log)
            m.begin()
            held = self._variables(m, loop, names, changed)
            self._turn(m, loop)
            fresh = {
                (to, at): to.cells.get(at) for (to, at), old in m.writes[-1].items()
                if to.depth < m.depth and (to, at) not in names and _differs(to.cells.get(at), old)
            }  # fmt: skip
            stores = {k for k, now in m.versions.items() if now.loops and before.versions.get(k) is not now} - changed
            written = m.end()
            if not left or not (fresh or stores):
                break
            m.go_back(before, written)
            names |= fresh
            changed |= stores
            m.attempts = m.attempts.next()
        around.take(m.attempts)
        m.attempts = around
        graph.scope, graph.site, m.mask = before.scope, before.site, before.mask
        self._leave(loop, held)
        graph.close(loop)
        loop.repeated = frozenset(run for runs in m.straight.repeats(since) for run in runs if run is not None)
        m.straight.end(*ALL)
        self._note_test(m, loop)
        for outer in graph.around():
            outer.is_whole = True

    def _note_test(self, m: Any, loop: Loop) -> None:
        """Of the numbers that the kernel takes, those that the loop's test asks for."""
        below = set(terms.below((loop.test,)))
        variables = below.intersection(loop.variables)
        steps = set(terms.below(loop.variables[variable] for variable in variables))
        m.graph.tests[self.n, m.stack, m.library] = Test(terms.parameters(below | steps), terms.parameters(steps))

    def _leave(self, loop: Loop, held: Cells) -> None:
        """Notes what a turn makes of the variables; what they are behind the loop is what the last test finds."""
        for (to, offset), variable in held.items():
            after = to.cells.get(offset)
            if isinstance(variable, Pointer) and isinstance(after, Pointer):
                loop.variables[variable.offset] = after.offset
            elif isinstance(variable, Term):
                loop.variables[variable] = after
            if self.is_tested_first:
                to.cells[offset] = variable

    def _variables(
        self, m: Any, loop: Loop, names: Cells, changed: set[Any]
    ) -> Cells:
        """Puts variables of the loop where its turns leave other values."""
        graph = m.graph
        graph.scope = loop.scope
        loop.place = Place(loop.scope, (self.n.body, m.stack, m.library), graph.total)
        around = graph.around()
        held: Cells = {}
        for (to, offset), after in names.items():
            old = to.cells.get(offset)
            made = self._variable(graph, loop, around, old, after)
            if made is not None:
                m.note_write(to, offset, old)
                to.cells[offset] = held[to, offset] = made
        for key in changed:
            m.versions[key] = Version(around, begin=graph.total)
        return held

    def _variable(self, graph: Graph, loop: Loop, around: terms.Loops, old: Value, after: Value) -> Value:
        if isinstance(old, Pointer) and isinstance(after, Pointer):
            if old.allocation is not after.allocation:
                return None
            inner = self._variable(graph, loop, around, old.offset, after.offset)
            return None if inner is None else Pointer(old.allocation, inner, old.pointee)
        if isinstance(after, (Pointer, Aggregate)) or (isinstance(after, Data) and not isinstance(after, Term)):
            return None
        if isinstance(old, (Pointer, Aggregate)):
            return None
        type_ = after.type if isinstance(after, Term) else old.type if isinstance(old, Term) else type_of(after)
        term = Term(graph, "variable", (old,) if isinstance(old, Term) else (), type_, around, loop)
        term.home = loop.place
        loop.starts[term] = old
        loop.scope.size += compiler.weight(term)
        return term

    def _turn(self, m: Any, loop: Loop) -> None:
        graph = m.graph
        graph.site = loop.place.site
        test: Value = None
        if self.is_tested_first and self.condition is not None:
            test = truth(self.condition(m))
            loop.test = test
            if isinstance(test, Term):
                graph.root("test", [(test, "test")], VOID)
        self.body(m)
        m.next_turn()
        graph.site = loop.place.site
        if self.increment is not None and m.mask is not None:
            self.increment(m)
        if not self.is_tested_first and self.condition is not None and m.mask is not None:
            loop.test = test = truth(self.condition(m))
            if isinstance(test, Term):
                graph.root("test", [(test, "test")], VOID)


def _number_in(value: Value) -> Any:
    """What tests may find in it; None for a term."""
    if isinstance(value, Pointer):
        return value.allocation, _number_in(value.offset)
    return None if isinstance(value, Data) else value


def _differs(one: Value, other: Value) -> bool:
    if one is other:
        return False
    if isinstance(one, Pointer) and isinstance(other, Pointer):
        return one.allocation is not other.allocation or _differs(one.offset, other.offset)
    if type(one) is type(other) and type(one) in (int, float, bool):
        return bool(one != other)
    return True
