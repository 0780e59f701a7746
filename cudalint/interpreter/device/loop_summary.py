"""Summaries of loops: closed forms of what an iteration changes.

A loop body is executed once with placeholders for the variables that it changes. Where a variable's value after
the body shows how it moves (plus a loop-invariant step, shifted, multiplied, toggled, exchanged with another), its
value in iteration k has a closed form; then the body is executed a second time with those, and its accesses are
recorded. Cost does not depend on the trip count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cudalint.interpreter.device import expressions
from cudalint.interpreter.device.events import Loop, Side
from cudalint.interpreter.device.loop_parts import LoopParts
from cudalint.interpreter.device.memory import alignment
from cudalint.interpreter.device.pointers import apart, are_in_one_space
from cudalint.interpreter.device.state import Exit, LoopScope
from cudalint.interpreter.device.values import (
    PLACES,
    Allocation,
    ArrayValue,
    Choice,
    LocalMemory,
    Place,
    Pointer,
    RecordValue,
    Value,
    few_of,
    join,
    leaves,
    map_leaves,
    nodes_of,
    substitute,
    substitute_place,
)
from cudalint.ir import nodes as ir
from cudalint.values.arithmetic import BOOL, I8, Kind
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, Reason, below
from cudalint.values.recurrences import Recurrence, alternating, linear_step, without_steps

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

_MOST_COMPARED = 4
"""Values that lanes compare of which is kept that a variable depends on them."""
_MAX_PREDICATED = 4
"""Iterations, and statements in the body, of a loop that leaves a branch short enough for predicates."""
_Opaque = Callable[[Reason, tuple[Node, ...], Kind], Node]


class LoopSummary:
    """One loop on its way from placeholders to closed forms."""

    def __init__(self, ex: Executor, parts: LoopParts, symbols: list[ir.Symbol]) -> None:
        self.ex = ex
        self.graph: Graph = ex.graph
        self.parts = parts
        self.symbols = symbols
        self.since = self.graph.next_index
        self.counter = self.graph.counter(parts.span)
        self.initial: dict[ir.Symbol, Value] = {s: spell_out(_value(ex, s)) for s in symbols}
        self.placeholders: dict[tuple[ir.Symbol, str], Node] = {}
        self.start: dict[tuple[ir.Symbol, str], Value] = {}
        self._keys: dict[Node, tuple[ir.Symbol, str]] = {}
        """What each placeholder stands for."""
        self._at_start: Callable[[Node], Node] = lambda result: result
        """What comes out where all placeholders have the values from before the loop."""
        self.closed: dict[Node, Node] = {}
        """Closed form, in the counter, of each placeholder."""
        self.placeholder_bits = 0
        self.closed_bits = 0
        """Of the placeholders, and of those that have a closed form."""
        self.floats: dict[tuple[ir.Symbol, str], tuple[Node, Node]] = {}
        """What stands for each floating-point variable in the first pass, and what it has become after the body."""
        self.straying: dict[tuple[ir.Symbol, str], Allocation | LocalMemory] = {}
        """Pointers that come to another array than the one that they start in, and to which."""
        self.arrays: dict[Allocation | LocalMemory, int] = {}
        """Numbers of these arrays."""
        self.unresolved: list[tuple[ir.Symbol, str]] = []
        self.leaving: Node = self.graph.false
        self.leaves_function: Node = self.graph.false
        self.test: Node = self.graph.true
        self.statements = 0
        self.outside: dict[ir.Symbol, Value | Place] = {}
        """All variables as they were before the second pass."""

    # first pass

    def run(self) -> None:
        """Executes the body once with placeholders, without recording, and finds the closed forms."""
        ex = self.ex
        steps = ex.statements
        with ex.on_trial(), ex.memory.unrecorded():
            for symbol, value in self.initial.items():
                ex.state.variables[symbol] = map_leaves(value, partial(self._placeholder, symbol))
            scope = self._iteration(None)
            self._solve(ex.state.variables)
            self._exits(scope)
        self.statements = ex.statements - steps

    def _placeholder(self, symbol: ir.Symbol, leaf: Value, path: str) -> Value:
        key = (symbol, path)
        self.start[key] = leaf
        if isinstance(leaf, Node):
            if leaf.kind.is_float:
                moving = self._moving(symbol, leaf, (leaf,), self.graph.variable)
                self.floats[key] = (moving, moving)
                return moving
            return self._stand_in(key, leaf.kind)
        if isinstance(leaf, Pointer):
            node = self._stand_in(key, I8)
            return Pointer(leaf.target, node, leaf.pointee, None, leaf.one_of)
        return leaf

    def _stand_in(self, key: tuple[ir.Symbol, str], kind: Kind) -> Node:
        node = self.placeholders[key] = self.graph.placeholder(kind)
        self._keys[node] = key
        self.placeholder_bits |= node.bits
        return node

    def _moving(
        self, symbol: ir.Symbol, leaf: Node, args: tuple[Node, ...], make: _Opaque | None = None
    ) -> Node:
        data = any(a.bits & self.graph.opaque_bits for a in args)
        reason = Reason(data, f"`{symbol.name}` changes from iteration to iteration", kind="iteration")
        return (make or self.graph.opaque)(reason, (*args, self.counter), leaf.kind)

    def _iteration(self, test: Node | None) -> LoopScope:
        """Condition, body and increment in the current state; `test` replaces the condition where it is given."""
        ex, parts = self.ex, self.parts
        self._returns_before = len(ex.state.functions[-1].returns) if ex.state.functions else 0
        depth = len(ex.state.conditions)
        sides: list[Side] = []
        if parts.condition is not None and not parts.test_last:
            self.test = self._head(parts.condition)
            sides = ex.record_branch(self.test, parts.kind, parts.span)
        if test is not None:
            ex.state.assume(test)
        elif not parts.test_last:
            ex.state.assume(self.test)
        dead_before, guard = ex.state.dead, ex.state.guard
        ex.state.dead = False
        if not self._is_predicated():
            ex.state.guard = None
        scope = LoopScope(len(ex.state.conditions))
        inside = ex.state.conditions
        ex.state.loop_scopes.append(scope)
        ex.side(sides, lambda: ex.statement(parts.body))
        ex.state.loop_scopes.pop()
        self._rejoin(scope, inside)
        if parts.increment is not None:
            ex.step(parts.increment)
            expressions.discard(ex, parts.increment)
        if parts.test_last and parts.condition is not None:
            self.test = self._head(parts.condition)
            ex.record_branch(self.test, parts.kind, parts.condition.span).extend(sides)
        ex.state.conditions, ex.state.dead = ex.state.conditions[:depth], dead_before
        ex.state.guard = guard
        return scope

    def _head(self, condition: ir.Expr) -> Node:
        self.ex.step(condition)
        return expressions.condition(self.ex, condition)

    def _is_predicated(self) -> bool:
        """Whether the loop vanishes from a guarded branch, being unrolled, so that the guard still becomes a predicate
        (measured on `if (ty == 0) for (int i = 0; i < 3; i++)`)."""
        if not self.parts.is_counted or self.statements > _MAX_PREDICATED:
            return False
        trips = self.trips()
        return trips.is_const and trips.value <= _MAX_PREDICATED

    def _rejoin(self, scope: LoopScope, inside: tuple[Node, ...]) -> None:
        """Lets the lanes that continued into the increment again."""
        state = self.ex.state
        for condition, variables in scope.continues:
            if state.dead:
                state.variables, state.dead = dict(variables), False
            else:
                state.variables = self.ex.join_variables(condition, dict(variables), state.variables)
        state.conditions = inside
        state.dead = False

    def _exits(self, scope: LoopScope) -> None:
        """For which lanes the iteration is the last one, in terms of the counter."""
        graph = self.graph
        for condition, _ in scope.breaks:
            self.leaving = graph.binary("||", self.leaving, condition, BOOL)
        for condition in scope.exits:
            self.leaves_function = graph.binary("||", self.leaves_function, condition, BOOL)
        self.leaving = graph.substitute(graph.binary("||", self.leaving, self.leaves_function, BOOL), self.closed)
        self.leaves_function = graph.substitute(self.leaves_function, self.closed)

    # closed forms

    def _solve(self, after: Mapping[ir.Symbol, Value | Place]) -> None:
        results = self._results(after)
        self._remember_floats(after)
        starts = {placeholder: self._start_node(key) for placeholder, key in self._keys.items()}
        self._at_start = self.graph.substitution(starts)
        open_ = dict(results)
        tried: dict[tuple[ir.Symbol, str], int] = {}
        progress = True
        while progress:
            progress = sum(self._close(key, open_, results, tried) for key in list(open_)) > 0
        for key, result in open_.items():
            self.unresolved.append(key)
            start, first_result = self._start_node(key), self._at_start(result)
            compared = map(self._at_start, self._compared(result))
            args = (start, first_result, *compared, *self._chosen_later(result, first_result))
            moving = self._moving(key[0], self.placeholders[key], tuple(dict.fromkeys(args)))
            first = self.start[key]
            if isinstance(first, Pointer):
                moving = self.graph.binary("*", moving, self.graph.const(alignment(first.pointee), I8), I8)
            self.closed[self.placeholders[key]] = moving
        for symbol, path in self.floats:
            self._close_float(symbol, path)

    def _remember_floats(self, after: Mapping[ir.Symbol, Value | Place]) -> None:
        for symbol, value in after.items():
            if symbol not in self.initial or isinstance(value, PLACES):
                continue
            for path, leaf in leaves(value):
                known = self.floats.get((symbol, path))
                if known is not None and isinstance(leaf, Node):
                    self.floats[symbol, path] = (known[0], leaf)

    def _close_float(self, symbol: ir.Symbol, path: str) -> None:
        """A floating-point variable in some iteration: any function of its start and of what the body does to it."""
        self.ex.check_time()
        moving, result = self.floats[symbol, path]
        start = moving.args[0]
        changed = self._at_start(self.graph.substitute(result, {moving: start}))
        self.closed[moving] = self._moving(symbol, start, self.graph.condensed((start, changed)))

    def _results(self, after: Mapping[ir.Symbol, Value | Place]) -> dict[tuple[ir.Symbol, str], Node]:
        """What every placeholder has become after one iteration."""
        found: dict[ir.Symbol, dict[str, Value]] = {}
        for symbol in self.symbols:
            value = after.get(symbol)
            # What is stored through a pointer of another type is in no single element of an array.
            found[symbol] = {} if value is None or isinstance(value, PLACES) else dict(leaves(spell_out(value)))
        return {
            key: self._result(key, found[key[0]].get(key[1]), placeholder)
            for key, placeholder in self.placeholders.items()
        }

    def _result(self, key: tuple[ir.Symbol, str], leaf: Value | None, placeholder: Node) -> Node:
        start = self.start[key]
        if isinstance(leaf, Node) and isinstance(start, Node):
            return leaf
        if isinstance(leaf, Pointer) and isinstance(start, Pointer) and leaf.target is start.target:
            return leaf.offset
        if isinstance(start, Pointer) and isinstance(leaf, Choice):
            # Which pointer it is may be plain where the loop is counted out.
            return self.graph.opaque(Reason(False, "it is one of several pointers"), (placeholder, self.counter), I8)
        if isinstance(start, Pointer):
            return self._elsewhere(key, leaf, start)
        args = (*self.graph.thread, *self.graph.block, self.counter)
        return self.graph.opaque(Reason(False, "it changes its kind"), args, placeholder.kind)

    def _elsewhere(self, key: tuple[ir.Symbol, str], leaf: Value | None, start: Pointer) -> Node:
        """The offset of a pointer that a loop moves to another array, which lies far from its own (`swap(p, q)`), or to
        somewhere unknown (`p = p->next`): aligned as its type is."""
        if isinstance(leaf, Pointer) and are_in_one_space(leaf.target, start.target):
            own, other = (self.arrays.setdefault(array, len(self.arrays)) for array in (start.target, leaf.target))
            self.straying[key] = leaf.target
            return self.graph.binary("+", leaf.offset, apart(self.graph, other - own), I8)
        seen = (leaf.target.opaque,) if isinstance(leaf, Pointer) and isinstance(leaf.target, Allocation) else ()
        args = tuple(a for a in seen if a is not None) or (self.counter,)
        reason = Reason(True, "the pointer is loaded in the previous iteration", self.parts.span)
        element = self.graph.opaque(reason, args, I8)
        return self.graph.binary("*", element, self.graph.const(alignment(start.pointee), I8), I8)

    def _start_node(self, key: tuple[ir.Symbol, str]) -> Node:
        start = self.start[key]
        return start.offset if isinstance(start, Pointer) else start  # type: ignore[return-value]

    def _chosen_later(self, result: Node, first_result: Node) -> tuple[Node, ...]:
        """What comes in where a later iteration takes another side than the first: `a[i]` for an array in registers is
        one of its elements, which are not the same in all lanes because the first one is."""
        lost = result.bits & ~first_result.bits & (THREAD_BITS | BLOCK_BITS)
        if not lost:
            return ()
        return few_of(node for node in below([result], lost) if not node.bits & self.placeholder_bits)

    def _compared(self, result: Node) -> list[Node]:
        """What lanes compare to decide which value it is: which one comes out need not show in the first iteration."""
        chosen = [node.args[0] for node in below([result], THREAD_BITS) if node.op in ("select", "pick")]
        comparisons = (node for node in below(chosen, THREAD_BITS) if node.op in ("<", "<=", "=="))
        of_interest = THREAD_BITS | self.graph.opaque_bits
        found: dict[Node, None] = {}
        for side in (side for node in comparisons for side in node.args if side.bits & of_interest):
            found[side] = None
            if len(found) == _MOST_COMPARED:
                break
        return list(found)

    def _close(
        self,
        key: tuple[ir.Symbol, str],
        open_: dict[tuple[ir.Symbol, str], Node],
        results: Mapping[tuple[ir.Symbol, str], Node],
        tried: dict[tuple[ir.Symbol, str], int],
    ) -> bool:
        """Takes a placeholder from the open ones, if it has a closed form and those that it depends on have theirs.
        `tried`: which of these had theirs when it was tried before."""
        known = open_[key].bits & self.closed_bits
        if tried.get(key) == known:
            return False
        tried[key] = known
        closed = self._closed_form(key, open_[key], results)
        if closed is None:
            return False
        self.closed[self.placeholders[key]] = closed
        self.closed_bits |= self.placeholders[key].bits
        del open_[key]
        return True

    def _closed_form(
        self, key: tuple[ir.Symbol, str], result: Node, results: Mapping[tuple[ir.Symbol, str], Node]
    ) -> Node | None:
        graph, placeholder, start = self.graph, self.placeholders[key], self._start_node(key)
        self.ex.check_time()
        if result.bits & self.closed_bits:
            own = {leaf: closed for leaf, closed in self.closed.items() if leaf.bits & result.bits}
            result = graph.substitute(result, own)
        if result.bits & self.placeholder_bits & ~self.closed_bits & ~placeholder.bits:
            return self._exchanged(key, result, results)
        return Recurrence(graph, self.counter, placeholder, result, start).closed()

    def _exchanged(
        self, key: tuple[ir.Symbol, str], result: Node, results: Mapping[tuple[ir.Symbol, str], Node]
    ) -> Node | None:
        """Two variables that are exchanged in every iteration alternate between their initial values; two pointers
        between two arrays."""
        graph, mine = self.graph, self.placeholders[key]
        other = without_steps(result)
        other_key = self._keys.get(other)
        if other_key is None:
            return None
        there, back = linear_step(graph, result, other), linear_step(graph, results[other_key], mine)
        if there is None or back is None or not (there.is_const and back.is_const and there.value == -back.value):
            return None
        odd = graph.binary("+", self._start_node(other_key), there, mine.kind)
        return alternating(graph, self.counter, self._start_node(key), odd)

    # second pass

    def condition(self) -> Node:
        """Holds for the lanes that execute the iteration, given that they executed those before."""
        graph, counter = self.graph, self.counter
        first = graph.binary("==", counter, graph.const(0, I8), BOOL)
        previous = {counter: graph.binary("-", counter, graph.const(1, I8), I8)}
        test = graph.substitute(self.test, self.closed)
        if self.parts.test_last:
            test = graph.binary("||", first, graph.substitute(test, previous), BOOL)
        if self.leaving is graph.false:
            return test
        stayed = graph.binary("||", first, graph.negate(graph.substitute(self.leaving, previous)), BOOL)
        return graph.binary("&&", test, stayed, BOOL)

    def trips(self) -> Node:
        return self.graph.trips(self.counter, self.condition())

    def is_blurred(self) -> bool:
        """Whether counting the loop out tells more than its closed forms do."""
        blurred = any(not self.placeholders[key].kind.is_float for key in self.unresolved)
        return blurred or any(self._is_exchanged(*pair) for pair in self.floats.values())

    def _is_exchanged(self, moving: Node, result: Node) -> bool:
        """Whether lanes exchange what they have of a variable. Which of them have one value in the end, as all have
        after a butterfly of sums, only the single steps tell."""
        bits = self.counter.bits
        shuffled = [node.args[0] for node in below([result], bits) if node.op == "shuffle"]
        return any(node is moving for node in below(shuffled, bits))

    def record(self) -> None:
        """Executes the body with closed forms, recording, and leaves the state as after the loop."""
        ex = self.ex
        condition = self.condition()
        if condition.is_const and not condition.value:
            ex.record_branch(condition, self.parts.kind, self.parts.span)
            return
        own = self.parts
        loop = Loop(
            self.counter, condition, ex.state.conditions, own.span, own.is_counted, own.is_unrolled, own.statement,
            self.since,
        )
        for symbol, value in self.initial.items():
            ex.state.variables[symbol] = self._with_closed(symbol, value)
        before, depth = ex.state.conditions, len(ex.state.conditions)
        self.outside = dict(ex.state.variables)
        ex.state.loops = (*ex.state.loops, loop)
        exits = [len(scope.exits) for scope in ex.state.loop_scopes]
        scope = self._iteration(condition)
        ex.state.loops = ex.state.loops[:-1]
        ex.state.conditions = before[:depth]
        self._returned(exits)
        self._finish()
        self._broken(scope.breaks)

    def _with_closed(self, symbol: ir.Symbol, value: Value) -> Value:
        def change(leaf: Value, path: str) -> Value:
            if (symbol, path) in self.floats:
                moving, _ = self.floats[symbol, path]
                return self.closed[moving]
            placeholder = self.placeholders.get((symbol, path))
            if placeholder is None:
                return leaf
            closed = self.closed[placeholder]
            return self._moved(leaf, closed, (symbol, path)) if isinstance(leaf, Pointer) else closed

        return map_leaves(value, change)

    def _moved(self, pointer: Pointer, offset: Node, key: tuple[ir.Symbol, str]) -> Pointer:
        """A pointer at an offset from where it started. One that alternates between two arrays is counted from the same
        array as its partner, so that what they have in common is seen."""
        other = self.straying.get(key)
        if other is None or key in self.unresolved:
            return Pointer(pointer.target, offset, pointer.pointee, one_of=other is not None)
        first = min(pointer.target, other, key=self.arrays.__getitem__)
        from_first = apart(self.graph, self.arrays[pointer.target] - self.arrays[first])
        return Pointer(first, self.graph.binary("+", offset, from_first, I8), pointer.pointee, one_of=True)

    def _finish(self) -> None:
        """The values after the loop: closed forms at the trip count, which may differ from lane to lane."""
        ex, graph = self.ex, self.graph
        trips = self.trips()
        at_end = {self.counter: trips}
        for symbol, value in self.initial.items():
            ex.check_time()
            after = ex.state.variables.get(symbol)
            closed = substitute(graph, self._with_closed(symbol, value), at_end)
            if isinstance(after, (Node, ArrayValue)) and _is_float(after):
                closed = substitute(graph, after, at_end)
            elif isinstance(after, (ArrayValue, RecordValue)):
                closed = _with_new_elements(closed, substitute(graph, after, at_end))
            ex.state.variables[symbol] = closed
        for symbol, other in list(ex.state.variables.items()):
            if symbol in self.initial or isinstance(other, PLACES) or self.outside.get(symbol) is other:
                continue
            if any(n.bits & self.counter.bits for n in nodes_of(other)):
                ex.state.variables[symbol] = substitute(graph, other, at_end)

    def _returned(self, exits: list[int]) -> None:
        """After a loop in which lanes return, only the others go on. `exits` counts what the loops around it had
        before."""
        ex, graph = self.ex, self.graph
        for scope, count in zip(ex.state.loop_scopes, exits, strict=True):
            scope.exits[count:] = [self._outside(condition) for condition in scope.exits[count:]]
        if self.leaves_function is graph.false:
            return
        returns = ex.state.functions[-1].returns
        at_end = self._last()
        for position in range(self._returns_before, len(returns)):
            condition, value = returns[position]
            if isinstance(value, PLACES):
                value = substitute_place(graph, value, at_end)
            elif value is not None:
                value = substitute(graph, value, at_end)
            returns[position] = (self._outside(condition), value)
        ex.state.assume(graph.negate(self._outside(self.leaves_function)))

    def _broken(self, breaks: Sequence[Exit]) -> None:
        """Lanes that broke out have the variables of the middle of their last iteration."""
        ex, graph = self.ex, self.graph
        for condition, variables in breaks:
            left = self._outside(condition)
            for symbol in self.initial:
                value, now = variables.get(symbol), ex.state.variables.get(symbol)
                if value is None or now is None or isinstance(value, PLACES) or isinstance(now, PLACES):
                    continue
                ex.state.variables[symbol] = join(graph, left, substitute(graph, value, self._last()), now)

    def _last(self) -> dict[Node, Node]:
        """The counter in a lane's last iteration."""
        return {self.counter: self.graph.binary("-", self.trips(), self.graph.const(1, I8), I8)}

    def _outside(self, condition: Node) -> Node:
        """A condition under which lanes leave in some iteration, which is their last, as it looks from outside."""
        graph = self.graph
        entered = graph.binary("<", graph.const(0, I8), self.trips(), BOOL)
        return graph.binary("&&", entered, graph.substitute(condition, self._last()), BOOL)


def _value(ex: Executor, symbol: ir.Symbol) -> Value:
    value = ex.state.variables[symbol]
    assert not isinstance(value, PLACES)
    return value


_MAX_SPELLED_OUT = 32


def spell_out(value: Value) -> Value:
    """A small array of integers or pointers with every element present, so that each is followed by itself; in a
    structure as well."""
    if isinstance(value, RecordValue):
        return RecordValue(value.type, {name: spell_out(part) for name, part in value.fields.items()})
    if not isinstance(value, ArrayValue) or _is_float(value):
        return value
    count = value.type.count or 0
    if not 0 < count <= _MAX_SPELLED_OUT:
        return value
    elements = {i: spell_out(value.elements.get(i, value.rest)) for i in range(count)}
    return ArrayValue(value.type, elements, value.rest)


def _with_new_elements(closed: Value, after: Value) -> Value:
    """Elements of arrays that a loop wrote and that had no value of their own before it, those of fields among them."""
    if isinstance(closed, RecordValue) and isinstance(after, RecordValue):
        fields = {name: _with_new_elements(part, after.fields.get(name, part)) for name, part in closed.fields.items()}
        return RecordValue(closed.type, fields)
    if not isinstance(closed, ArrayValue) or not isinstance(after, ArrayValue):
        return closed
    new = {i: v for i, v in after.elements.items() if i not in closed.elements}
    return ArrayValue(closed.type, {**closed.elements, **new}, after.rest)


def _is_float(value: Node | ArrayValue) -> bool:
    inner = value.rest if isinstance(value, ArrayValue) else value
    return isinstance(inner, Node) and inner.kind.is_float
