"""Closed forms of what a loop changes, against the iterations one by one."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.values.arithmetic import BOOL, I4, I8
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node
from cudalint.values.recurrences import Recurrence

Body = Callable[[Graph, Node, Node], Node]
"""What an iteration makes of a variable: of the graph, the variable and the counter."""

_small = st.integers(-9, 9)
_factor = st.sampled_from([1, 2, 4, 8, 32])


def _binary(op: str, constant: st.SearchStrategy[int]) -> st.SearchStrategy[Body]:
    return constant.map(lambda c: lambda graph, x, _: graph.binary(op, x, graph.const(c), I4))


def _from_constant(c: int) -> Body:
    return lambda graph, x, _: graph.binary("-", graph.const(c), x, I4)


def _cycle(numbers: tuple[int, int]) -> Body:
    step, length = numbers
    return lambda graph, x, _: graph.binary("%", graph.binary("+", x, graph.const(step), I4), graph.const(length), I4)


def _masked(numbers: tuple[int, int]) -> Body:
    step, bits = numbers
    mask = (1 << bits) - 1
    return lambda graph, x, _: graph.binary("&", graph.binary("+", x, graph.const(step), I4), graph.const(mask), I4)


def _round(numbers: tuple[int, int, int]) -> Body:
    """`x += step; if (x >= end) x = again`."""
    step, end, again = numbers

    def body(graph: Graph, x: Node, _: Node) -> Node:
        moved = graph.binary("+", x, graph.const(step), I4)
        return graph.select(graph.binary(">=", moved, graph.const(end), BOOL), graph.const(again), moved)

    return body


def _of_counter(c: int) -> Body:
    return lambda graph, _, k: graph.binary("+", graph.convert(k, I4), graph.const(c), I4)


def _in_some(numbers: tuple[int, bool]) -> Body:
    """A new value where an unchanging condition holds."""
    value, holds = numbers

    def body(graph: Graph, x: Node, _: Node) -> Node:
        condition = graph.uniform("c", int(holds), BOOL)
        return graph.select(condition, graph.const(value), x)

    return body


_bodies = st.one_of(
    _binary("+", _small), _binary("-", _small), _binary("^", st.integers(0, 63)), _binary("*", _factor),
    _binary("<<", st.integers(0, 3)), _binary(">>", st.integers(0, 3)), _binary("/", _factor),
    _small.map(_from_constant), st.tuples(st.integers(1, 5), st.integers(1, 9)).map(_cycle), _small.map(_of_counter),
    st.tuples(_small, st.integers(0, 6)).map(_masked),
    st.tuples(_small, st.booleans()).map(_in_some),
    st.tuples(st.integers(1, 3), st.integers(0, 8), st.integers(-3, 0)).map(_round),
)  # fmt: skip


@settings(max_examples=cases(500), deadline=None)
@given(body=_bodies, start=st.integers(-20, 40))
def test_a_closed_form_is_what_the_iterations_come_to(body: Body, start: int) -> None:
    graph = Graph()
    counter, before = graph.counter("loop"), graph.placeholder(I4)
    after = body(graph, before, counter)
    closed = Recurrence(graph, counter, before, after, graph.const(start)).closed()
    if closed is None:
        # Remainders of negative numbers are negative for a while, and a round may be too far away.
        assert start < 0
        return
    value = graph.const(start)
    for k in range(12):
        number = graph.const(k, I8)
        assert _plain(graph, graph.substitute(closed, {counter: number})) == _plain(graph, value)
        value = graph.substitute(after, {before: value, counter: number})


@settings(max_examples=100, deadline=None)
@given(step=_small, bits=st.integers(0, 6), lane=st.integers(-5, 1023))
def test_what_a_mask_leaves_where_every_lane_begins_elsewhere(step: int, bits: int, lane: int) -> None:
    """The numbers never come back to where they were where the loop has no number to begin with."""
    graph = Graph()
    counter, before = graph.counter("loop"), graph.placeholder(I4)
    start = graph.uniform("s", lane, I4)
    after = _masked((step, bits))(graph, before, counter)
    closed = Recurrence(graph, counter, before, after, start).closed()
    assert closed is not None
    value = lane
    for k in range(12):
        assert _plain(graph, graph.substitute(closed, {counter: graph.const(k, I8)})) == value
        value = (value + step) & ((1 << bits) - 1)


def _plain(graph: Graph, node: Node) -> object:
    """A number, once the symbol of a condition has its value."""
    symbols = graph.atoms(node.bits, graph.uniform_bits)
    bound = {symbol: graph.const(graph.choice(symbol).value, symbol.kind) for symbol in symbols}
    found = graph.substitute(node, bound)
    assert found.is_const
    return found.value
