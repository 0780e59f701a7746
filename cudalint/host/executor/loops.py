"""Loops of host code: followed as far as they show launches that differ, or numbers that live on after them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from cudalint.host.executor import branches, choices, euclid, expressions
from cudalint.host.executor.joins import is_plain, note_defaults
from cudalint.host.executor.loop_parts import LoopParts
from cudalint.host.executor.state import LoopScope
from cudalint.host.executor.values import ArrayValue, Place, RecordValue, Value
from cudalint.host.values.arithmetic import kind_of, wrap
from cudalint.host.values.evaluation import holds
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.text import field_name

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_MOST_QUIET = 256
"""Iterations of a loop without launches, and how many statements they may take."""
_QUIET_STATEMENTS = 300
_READING_STATEMENTS = 2_000
"""The same for a loop over the words of the command line, which compares each with all options."""
_QUIET_UP_TO = 4_000
"""Statements of a root, up to which loops without launches are followed for longer than it takes to look at them."""
_TRIED = 2
"""Iterations after which is looked whether there will be too many."""
_MOST_LAUNCHING = 64
"""The same for a loop with launches, as long as it makes others than before."""
_LAUNCHING_STATEMENTS = 200
_EARLY_STATEMENTS = 2_000
"""Of its root's code, up to which that is done at all: what comes later needs statements too."""
_MOST_PLACES = 16
"""Iterations however many statements they take, as long as they come to launches at other places or of other blocks, or
have yet to come to one."""
_LONGEST_LIST = 64
"""Elements of an array that may list the sizes that a program is tried with."""
_TESTS_COMPARED = 3
"""Conditions of a loop's first iterations by which it is recognised."""



def follow(ex: Execution, parts: LoopParts) -> None:
    """Some iterations while the condition is known to hold, one if it is unknown; then the rest is unknown."""
    has_launch = ex.code.has_launch(parts.body)
    if not has_launch and not _matters(ex, parts, ex.state.variables):
        return
    if not has_launch and (_count(ex, parts) or choices.choose(ex, parts) or euclid.divide(ex, parts)):
        return
    guards = ex.state.guards
    before = dict(ex.state.variables)
    defaults = before if ex.code.reads_options(parts) else {}
    progress = _Progress(ex, parts, has_launch, before)
    progress.run()
    if progress.returned:
        return
    ex.state.guards = guards
    if not progress.finished:
        for symbol in ex.changed_in(parts):
            if symbol not in defaults or ex.state.variables.get(symbol) is not defaults[symbol]:
                _forget(ex, symbol, parts, before.get(symbol))
            else:
                note_defaults(ex, (symbol,))
    elif defaults and ex.options.command is not None:
        # Other words than those of the command that is known set other numbers, or set them at all.
        note_defaults(ex, ex.changed_in(parts))
    elif progress.by_defaults:
        note_defaults(ex, ex.changed_in(parts), before)
    elif ex.chosen:
        # How often a condition held is unknown if the condition is.
        for symbol in walk.stepped(parts.body):
            if symbol in ex.chosen:
                _forget(ex, symbol, parts, None)
    if progress.finished:
        _forget_where_it_ended(ex, parts, progress.left)
    if not ex.iterations:
        ex.chosen.clear()


def _count(ex: Execution, parts: LoopParts) -> bool:
    """Gives a loop's only variable what it is after the loop, if that is counted up by a number until a condition on
    sizes holds: `while ((1 << bits) < size) ++bits;`."""
    changed = [symbol for symbol in ex.changed_in(parts) if symbol in ex.state.variables]
    start = ex.state.variables[changed[0]] if len(changed) == 1 else None
    if not isinstance(start, Node) or not start.is_const or start.kind.code not in "iu" or parts.test_last:
        return False
    graph = ex.graph
    now = graph.placeholder(start.kind)
    turn = choices.one_turn(ex, parts, {changed[0]: now})
    step = _step(turn[1].get(changed[0]), now) if turn is not None else None
    if turn is None or step is None:
        return False
    test, _ = turn
    if not is_plain(graph, graph.substitute(test, {now: start})):
        return False
    known = (parts.span, start, step, *_first_tests(ex, test, now, start, step))
    times = ex.counted.get(known)
    if times is None:
        counter = graph.counter(parts.span)
        moved = graph.binary("*", step, graph.convert(counter, start.kind), start.kind)
        goes_on = graph.substitute(test, {now: graph.binary("+", start, moved, start.kind)})
        if goes_on.is_const or not goes_on.bits & counter.bits:
            return False
        times = ex.counted[known] = graph.convert(graph.trips(counter, goes_on), start.kind)
    ex.state.variables[changed[0]] = graph.binary("+", start, graph.binary("*", step, times, start.kind), start.kind)
    return True


def _first_tests(ex: Execution, test: Node, now: Node, start: Node, step: Node) -> tuple[Node, ...]:
    """What a loop asks before its first iterations, by which one is known that is run again for the same sizes."""
    found, value = [], start
    for _ in range(_TESTS_COMPARED):
        found.append(ex.graph.substitute(test, {now: value}))
        value = ex.graph.binary("+", value, step, start.kind)
    return tuple(found)


def _step(after: object, before: Node) -> Node | None:
    """The number by which a value was counted up."""
    if isinstance(after, Node) and after.op == "+" and before in after.args:
        [other] = [argument for argument in after.args if argument is not before] or [before]
        return other if other.is_const else None
    return None


class _Progress(Struct, eq=False):
    """One loop that is followed."""

    ex: Execution
    parts: LoopParts
    has_launch: bool
    outer: Collection[ir.Symbol]
    """The variables that there were before it."""
    finished: bool = False
    """The loop was followed to its end."""
    returned: bool = False
    """Its body leaves the function."""
    by_defaults: bool = False
    """How often it goes round, options may change."""
    steps: int = 0
    """Statements that were executed before it."""
    iteration: int = 0
    test: Node | None = None
    """Its condition as it was evaluated last."""
    too_long: bool = False
    """It goes on for longer than it may be followed."""
    counter: ir.Symbol | None = None
    earlier: Value | Place | None = None
    """What the variable that it counts was one iteration ago."""
    left: list[Mapping[ir.Symbol, Value | Place]] = field(default_factory=list)
    """The variables where it was left by `break` on a condition that is unknown."""

    def __post_init__(self) -> None:
        self.steps = self.ex.statements
        self.counter = _counter(self.ex, self.parts)

    def run(self) -> None:
        ex, parts = self.ex, self.parts
        for iteration in range(self._most()):
            self.iteration = iteration
            before = len(ex.found.launches)
            made, places = len(ex.found.made), self._places()
            going = self._is_going() if not parts.test_last else True
            self.finished = going is False
            if self.finished and not iteration and self.has_launch:
                # As little as what stands in a branch that the known values don't take.
                branches.not_taken(ex, lambda: ex.statement(parts.body))
            if iteration == _TRIED:
                self.too_long = self._is_too_long()
            if iteration >= _TRIED and not self.has_launch and (self.too_long or ex.statements > _QUIET_UP_TO):
                return
            self.earlier = ex.state.variables.get(self.counter) if self.counter is not None else None
            if self.finished or not self._body():
                return
            if going is None or (not self.has_launch and self._took() > self._most_statements()):
                return
            if self.has_launch and iteration and len(ex.found.made) == made and not self._is_needed():
                # The same launches once more: a loop for timing, or over time steps.
                return
            if self.has_launch and iteration and self._is_enough(iteration, self._places() != places):
                ex.found.unfollowed |= {launch.written_at for launch in ex.found.launches[before:]}
                return
            if not self._goes_on():
                return

    def _is_too_long(self) -> bool:
        """Whether a loop goes round more often than it may be followed, so that nothing stays of what its first
        iterations do: with what its counter is much later, its condition still holds."""
        ex, parts, counter = self.ex, self.parts, self.counter
        if counter is None or parts.condition is None:
            return False
        now, leaves = ex.state.variables.get(counter), (st.Break, st.Return)
        if not isinstance(now, Node) or not isinstance(self.earlier, Node) or not now.is_const:
            return False
        if not self.earlier.is_const or any(isinstance(node, leaves) for node in walk.walk(parts.body)):
            return False
        if any(isinstance(node, ir.Binary) and node.op == "!=" for node in walk.walk(parts.condition)):
            # It holds again behind the end.
            return False
        rounds = min(self._most(), self._most_statements() * self.iteration // max(1, self._took()) + 1)
        far = int(now.value) + 2 * rounds * int(now.value - self.earlier.value)
        if far != wrap(far, now.kind):
            # Counted down to zero, `unsigned` numbers start again at the largest.
            return False
        before, test = ex.state.variables, self.test
        ex.state.variables = {**before, counter: ex.graph.const(far, now.kind)}
        going = self._is_going()
        ex.state.variables, self.test = before, test
        return going is True

    def _body(self) -> bool:
        """Executes the body; whether it comes to its end."""
        ex = self.ex
        scope = LoopScope()
        ex.state.loop_scopes.append(scope)
        # With numbers of its own, each iteration would make launches of its own.
        ex.iterations.append(0 if self.has_launch else self.iteration)
        if self.test is not None and not self.test.is_const and is_plain(ex.graph, self.test):
            ex.state.guards = (*ex.state.guards, self.test)
        ex.statement(self.parts.body)
        ex.iterations.pop()
        ex.state.loop_scopes.pop()
        self.left += (variables for variables in scope.breaks if variables is not ex.state.variables)
        if scope.breaks and ex.state.dead:
            ex.state.dead, self.finished = False, True
            return False
        if scope.continues:
            ex.state.dead = False
        self.returned = ex.state.dead
        return not self.returned

    def _goes_on(self) -> bool:
        """Executes what stands between two iterations."""
        if self.parts.increment is not None:
            expressions.discard(self.ex, self.parts.increment)
        if not self.parts.test_last:
            return True
        going = self._is_going()
        self.finished = going is False
        return going is True

    def _is_going(self) -> bool | None:
        """Whether the condition holds; None where that is unknown. What depends on numbers that options may change is
        what it is if none is given."""
        test = self.test = choices.test_of(self.ex, self.parts)
        if test.is_const:
            return bool(test.value)
        if not self.ex.graph.rests_on_defaults(test):
            return None
        self.by_defaults = True
        return holds(self.ex.graph, test, {})

    def _is_needed(self) -> bool:
        """Whether a few more iterations may give numbers to what comes after the loop: it may be in a function that was
        called before, with all of its launches made then."""
        few = self._took() <= _LAUNCHING_STATEMENTS and self.ex.statements <= _EARLY_STATEMENTS
        return few and not self.too_long and _matters(self.ex, self.parts, self.outer)

    def _is_enough(self, iteration: int, is_new_place: bool) -> bool:
        if self._took() > _LAUNCHING_STATEMENTS or self.ex.statements > _EARLY_STATEMENTS:
            return iteration + 1 >= _MOST_PLACES or not (is_new_place or self._is_yet_to_come())
        return iteration + 1 == _MOST_LAUNCHING

    def _most(self) -> int:
        return _MOST_LAUNCHING if self.has_launch else _MOST_QUIET

    def _most_statements(self) -> int:
        if self.has_launch:
            return _LAUNCHING_STATEMENTS
        reads_words = self.ex.options.command is not None and self.ex.code.reads_options(self.parts)
        return _READING_STATEMENTS if reads_words else _QUIET_STATEMENTS

    def _took(self) -> int:
        return self.ex.statements - self.steps

    def _places(self) -> int:
        """With other blocks at one place counted separately, and launches that are really made."""
        found = self.ex.found.launches if self.has_launch else ()
        return len({(launch.kernel.key, launch.span, launch.block, launch.taken) for launch in found})

    def _is_yet_to_come(self) -> bool:
        """Whether a launch was seen only in a branch that no iteration has taken so far, and there is time to wait."""
        if self.ex.statements > _EARLY_STATEMENTS:
            return False
        taken, others = ({x.span for x in self.ex.found.launches if x.taken is taken} for taken in (True, False))
        return not others <= taken


def _counter(ex: Execution, parts: LoopParts) -> ir.Symbol | None:
    """The variable that is counted from one iteration to the next, if it is all that changes in the condition."""
    if parts.condition is None or parts.increment is None:
        return None
    compared = {node.symbol for node in walk.walk(parts.condition) if isinstance(node, ir.Name)}
    changed = compared.intersection(ex.changed_in(parts))
    counted = changed.intersection((parts.own, *walk.stepped(parts.increment)))
    return counted.pop() if counted == changed and len(counted) == 1 else None


def _matters(ex: Execution, parts: LoopParts, outer: Collection[ir.Symbol]) -> bool:
    """Whether a loop changes any number or pointer of those that were there before it and live on after it: filling
    arrays decides no launch, but for lists of a few sizes."""
    changed = [symbol for symbol in ex.changed_in(parts) if symbol is not parts.own and symbol in outer]
    if any(isinstance(ex.state.variables.get(symbol), (Node, RecordValue)) for symbol in changed):
        return True
    return any(_is_list_of_sizes(symbol.type) for symbol in changed) and _only_counts(parts.body)


def _only_counts(body: st.Stmt) -> bool:
    """Whether all that a loop does is to store what it makes of its counter: `sizes[i] = (i + 1) << 8;`."""
    nodes = list(walk.walk(body))
    stored = [node for node in nodes if isinstance(node, (ir.Assign, ir.Index))]
    return [type(node) for node in stored] == [ir.Assign, ir.Index] and not any(
        isinstance(node, (ir.Call, ir.Member, st.For, st.While, st.DoWhile, st.RangeFor, ir.Unary)) for node in nodes
    )


def _is_list_of_sizes(type_: ir.Type) -> bool:
    """`int sizes[24]`."""
    if not isinstance(type_, ir.ArrayType) or not isinstance(type_.element, ir.Scalar) or type_.count is None:
        return False
    return type_.count <= _LONGEST_LIST and kind_of(type_.element).code in "iu" and type_.element.bytes >= 4


def _forget(ex: Execution, symbol: ir.Symbol, parts: LoopParts, before: Value | Place | None) -> None:
    """A number that a loop changes, and that was not followed to the loop's end; of a record or a list those that it
    changed."""
    reason = Reason(f"after the loop at line {parts.span.line}", parts.span, kind="iteration")
    value = ex.state.variables.get(symbol)
    if isinstance(value, Node):
        ex.state.variables[symbol] = ex.memory.unknown(symbol.type, reason, (), symbol.name)
    elif isinstance(value, RecordValue) and isinstance(before, RecordValue):
        ex.state.variables[symbol] = _without_changes(ex, value, before, reason, symbol.name)
    elif isinstance(value, ArrayValue) and _is_list_of_sizes(value.type):
        known = before.elements if isinstance(before, ArrayValue) else {}
        kept = {index: element for index, element in value.elements.items() if known.get(index) is element}
        ex.state.variables[symbol] = ArrayValue(value.type, kept, ex.memory.unknown(value.type.element, reason))


def _forget_where_it_ended(
    ex: Execution, parts: LoopParts, left: Sequence[Mapping[ir.Symbol, Value | Place]]
) -> None:
    """Numbers that are others where an unknown condition ended the loop than at its end: `for (i = 0; i < 24; ++i)
    if (n == 1 << i) { *levels = i; break; }` is there to find out which."""
    for symbol in ex.changed_in(parts) if left else ():
        value = ex.state.variables.get(symbol)
        if any(variables.get(symbol, value) is not value for variables in left):
            _forget(ex, symbol, parts, None)


def _without_changes(
    ex: Execution, record: RecordValue, before: RecordValue, reason: Reason, name: str
) -> RecordValue:
    fields = dict(record.fields)
    for field_, value in record.fields.items():
        was, type_ = before.fields.get(field_), record.type.field(field_)
        if isinstance(value, RecordValue) and isinstance(was, RecordValue):
            fields[field_] = _without_changes(ex, value, was, reason, field_name(name, field_))
        elif isinstance(value, Node) and value is not was and type_ is not None:
            fields[field_] = ex.memory.unknown(type_.type, reason, (), field_name(name, field_))
    return RecordValue(record.type, fields)
