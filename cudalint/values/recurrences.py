"""Closed forms of what a loop changes: a value in iteration `k` as a function of `k`, from what one iteration does to
it."""

from __future__ import annotations

import itertools

from msgspec import Struct

from cudalint.values.arithmetic import BOOL, I8
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node

_LONGEST_ROUND = 32
"""Values before one comes back."""


class Recurrence(Struct, frozen=True, eq=False):
    """One variable of a loop."""

    graph: Graph
    counter: Node
    """The number of the iteration, from 0 on."""
    before: Node
    """Stands for the variable as an iteration finds it."""
    after: Node
    """What the iteration makes of it."""
    start: Node
    """What it is before the loop."""

    def closed(self) -> Node | None:
        """What the iteration of the counter's number finds; None where no form is known."""
        if self.after is self.before:
            return self.start
        kept = self._kept_elsewhere()
        if kept is not None:
            condition, value = kept
            later = self.graph.binary("<", self.graph.const(0, I8), self.counter, BOOL)
            reached = self.graph.binary("&&", later, condition, BOOL)
            return self.graph.select(reached, self._one_earlier(value), self.start)
        if not self.after.bits & self.before.bits:
            return self.graph.select(self._first(), self.start, self._one_earlier(self.after))
        forms = (self._linear, self._growing, self._geometric, self._toggle, self._cycle, self._masked, self._round)
        return next((closed for form in forms if (closed := form()) is not None), None)

    def _one_earlier(self, value: Node) -> Node:
        previous = self.graph.binary("-", self.counter, self.graph.const(1, I8), I8)
        return self.graph.substitute(value, {self.counter: previous})

    def _first(self) -> Node:
        return self.graph.binary("==", self.counter, self.graph.const(0, I8), BOOL)

    def _kept_elsewhere(self) -> tuple[Node, Node] | None:
        """`if (c) x = value;` with an unchanging `c`: the lanes with `c` get a new value, the others keep theirs."""
        if self.after.op != "select" or self.after.args[0].bits & (self.before.bits | self.counter.bits):
            return None
        condition, a, b = self.after.args
        if b is self.before and not a.bits & self.before.bits:
            return condition, a
        if a is self.before and not b.bits & self.before.bits:
            return self.graph.negate(condition), b
        return None

    def _linear(self) -> Node | None:
        """`x += c`."""
        step = linear_step(self.graph, self.after, self.before)
        if step is None or step.bits & self.counter.bits:
            return None
        return self.graph.binary("+", self.start, self.graph.binary("*", self.counter, step, I8), self.before.kind)

    def _growing(self) -> Node | None:
        """`x += a + b * i`, with the iteration's own number: a step that grows by as much each time."""
        graph, counter = self.graph, self.counter
        step = linear_step(graph, self.after, self.before)
        growth = None if step is None or self.before.kind.is_float else _slope(graph, step, counter)
        if step is None or growth is None or growth.bits & counter.bits:
            return None
        first = graph.substitute(step, {counter: graph.const(0, I8)})
        earlier = graph.binary("-", counter, graph.const(1, I8), I8)
        pairs = graph.binary("/", graph.binary("*", counter, earlier, I8), graph.const(2, I8), I8)
        moved = graph.binary("+", graph.binary("*", counter, first, I8), graph.binary("*", pairs, growth, I8), I8)
        return graph.binary("+", self.start, moved, self.before.kind)

    def _geometric(self) -> Node | None:
        """Shifts, multiplication or division by a power of two, and `x ^= c`."""
        graph, start, kind = self.graph, self.start, self.before.kind
        if len(self.after.args) != 2 or self.after.args[0] is not self.before or not self.after.args[1].is_const:
            return None
        op, factor = self.after.op, int(self.after.args[1].value)
        if op == "^":
            return alternating(graph, self.counter, start, graph.binary("^", start, graph.const(factor, kind), kind))
        power = factor.bit_length() - 1
        if op in ("*", "/") and (factor < 1 or factor != 1 << power):
            return None
        amount = graph.binary("*", self.counter, graph.const(power if op in ("*", "/") else factor, I8), I8)
        if op in ("*", "<<"):
            return graph.convert(graph.binary("<<", start, amount, I8), kind)
        if op == "/":
            return graph.binary("/", start, graph.binary("<<", graph.const(1, I8), amount, I8), kind)
        return graph.binary(op, start, amount, kind) if op == ">>" else None

    def _toggle(self) -> Node | None:
        """`x = c - x` and `x = !x`."""
        graph, before, after, start = self.graph, self.before, self.after, self.start
        own = before.bits | self.counter.bits
        if after.op == "-" and after.args[1] is before and not after.args[0].bits & own:
            return alternating(graph, self.counter, start, graph.binary("-", after.args[0], start, before.kind))
        truth = graph.truth(before)
        if after is graph.negate(truth) or (after.op == "==" and graph.negate(after) is truth):
            later = alternating(graph, self.counter, graph.truth(start), graph.negate(start))
            return graph.select(self._first(), start, later)
        return None

    def _cycle(self) -> Node | None:
        """`x = (x + c) % n`, from where remainders are not negative."""
        graph, after = self.graph, self.after
        if after.op != "%" or after.args[1].bits & (self.before.bits | self.counter.bits):
            return None
        step = linear_step(graph, after.args[0], self.before)
        if step is None or not step.is_const or step.value <= 0:
            return None
        if self.start.is_const and self.start.value < -step.value:
            return None
        moved = graph.binary("+", self.start, graph.binary("*", self.counter, step, I8), I8)
        return graph.select(self._first(), self.start, graph.binary("%", moved, after.args[1], self.before.kind))

    def _masked(self) -> Node | None:
        """`x = (x + c) & 1023`: what low bits are left of a sum does not depend on where they are taken."""
        graph, after = self.graph, self.after
        if after.op != "&" or not after.args[1].is_const:
            return None
        mask = int(after.args[1].value)
        step = linear_step(graph, after.args[0], self.before)
        if mask < 0 or mask & (mask + 1) or step is None or step.bits & self.counter.bits:
            return None
        moved = graph.binary("+", self.start, graph.binary("*", self.counter, step, I8), I8)
        return graph.select(self._first(), self.start, graph.binary("&", moved, after.args[1], self.before.kind))

    def _round(self) -> Node | None:
        """`if (++x == 3) x = 0`: whatever comes back, within a few iterations, to a value that it had."""
        values, first = self._until_one_comes_back()
        if not values:
            return None
        graph, numbers = self.graph, [int(value.value) for value in values]
        length = graph.const(len(values) - first, I8)
        if not first and len({b - a for a, b in itertools.pairwise(numbers)}) == 1:
            step = graph.const(numbers[1] - numbers[0], I8)
            turn = graph.binary("*", graph.binary("%", self.counter, length, I8), step, I8)
            return graph.binary("+", self.start, turn, self.before.kind)
        since = graph.binary("-", self.counter, graph.const(first, I8), I8)
        again = graph.binary("+", graph.binary("%", since, length, I8), graph.const(first, I8), I8)
        is_before = graph.binary("<", self.counter, graph.const(first, I8), BOOL)
        return graph.pick(graph.select(is_before, self.counter, again), tuple(values))

    def _until_one_comes_back(self) -> tuple[list[Node], int]:
        """The values of the first iterations, and the place of the one that follows the last of them again; none if
        they are not known or do not come back."""
        if not self.start.is_const or self.before.kind.is_float or self.after.bits & ~self.before.bits:
            return [], 0
        values = [self.start]
        while len(values) <= _LONGEST_ROUND:
            value = self.graph.substitute(self.after, {self.before: values[-1]})
            if not value.is_const:
                return [], 0
            first = next((i for i, known in enumerate(values) if known.value == value.value), None)
            if first is not None:
                return values, first
            values.append(value)
        return [], 0


def _slope(graph: Graph, value: Node, counter: Node) -> Node | None:
    """What is added to a value with each iteration, where the counter is in it as in a sum of products."""
    if value is counter:
        return graph.const(1, I8)
    if not value.bits & counter.bits:
        return graph.const(0, I8)
    if value.op == "cast" and not value.kind.is_float:
        return _slope(graph, value.args[0], counter)
    if value.op not in ("+", "-", "*", "<<") or value.kind.is_float:
        return None
    a, b = value.args
    if value.op in ("*", "<<") and not b.bits & counter.bits:
        slope = _slope(graph, a, counter)
        return None if slope is None else graph.binary(value.op, slope, b, I8)
    if value.op == "*" and not a.bits & counter.bits:
        slope = _slope(graph, b, counter)
        return None if slope is None else graph.binary("*", a, slope, I8)
    slopes = _slope(graph, a, counter), _slope(graph, b, counter)
    if value.op in ("*", "<<") or slopes[0] is None or slopes[1] is None:
        return None
    return graph.binary(value.op, slopes[0], slopes[1], I8)


def alternating(graph: Graph, counter: Node, even: Node, odd: Node) -> Node:
    """One value in the first iteration and every second one from there, another in those between."""
    return graph.select(graph.truth(graph.binary("&", counter, graph.one, I8)), odd, even)


def without_steps(result: Node) -> Node:
    """The one value from which `result` can be a plain number of steps away."""
    while True:
        if result.op == "select":
            result = result.args[1]
        elif result.op == "cast" or (result.op in ("+", "-") and result.args[1].is_const):
            result = result.args[0]
        elif result.op == "+" and result.args[0].is_const:
            result = result.args[1]
        else:
            return result


def linear_step(graph: Graph, result: Node, start: Node) -> Node | None:
    """`s` where `result` is `start + s` and `s` does not depend on `start`; None where it has another form."""
    return _linear_step(graph, result, start, {})


def _linear_step(graph: Graph, result: Node, start: Node, known: dict[int, Node | None]) -> Node | None:
    """The same with what was found for the parts of a value: choices share them, and there are as many ways through a
    chain of choices as they multiply to."""
    if result is start:
        return graph.const(0, I8)
    if not result.bits & start.bits:
        return None
    if result.index not in known:
        known[result.index] = _step_of(graph, result, start, known)
    return known[result.index]


def _step_of(graph: Graph, result: Node, start: Node, known: dict[int, Node | None]) -> Node | None:
    if result.op == "cast" and not result.kind.is_float and result.kind.bytes >= start.kind.bytes:
        return _linear_step(graph, result.args[0], start, known)
    if result.op == "select" and not result.args[0].bits & start.bits:
        a_step = _linear_step(graph, result.args[1], start, known)
        b_step = _linear_step(graph, result.args[2], start, known) if a_step is not None else None
        return None if a_step is None or b_step is None else graph.select(result.args[0], a_step, b_step)
    if result.op in ("+", "-"):
        a, b = result.args
        if not b.bits & start.bits:
            inner = _linear_step(graph, a, start, known)
            return None if inner is None else graph.binary(result.op, inner, b, I8)
        if result.op == "+" and not a.bits & start.bits:
            inner = _linear_step(graph, b, start, known)
            return None if inner is None else graph.binary("+", inner, a, I8)
    return None
