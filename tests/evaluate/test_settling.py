"""Numbers for sizes about which the program states something."""

from __future__ import annotations

from cudalint.evaluate.assumptions import holds, settle
from cudalint.evaluate.graph import BOOL, I4, Graph


def test_a_condition_that_nothing_fulfils_is_no_obstacle_to_the_others() -> None:
    """A square is never 7, and n, which is 1024, can still become less than 100."""
    graph = Graph()
    n, m = graph.uniform("n", 1024), graph.uniform("m", 1024)
    never = graph.binary("==", graph.binary("*", m, m, I4), graph.const(7), BOOL)
    small = graph.binary("<", n, graph.const(100), BOOL)
    settle(graph, (never, small))
    assert holds(graph, small, {}) and not holds(graph, never, {})


def test_what_holds_stays_so() -> None:
    """Of the numbers below 100, n has to be a multiple of 8 then; m, of which nothing is said, stays."""
    graph = Graph()
    n, m = graph.uniform("n", 1024), graph.uniform("m", 1024)
    whole = graph.binary("==", graph.binary("%", n, graph.const(8), I4), graph.const(0), BOOL)
    small = graph.binary("<", n, graph.const(30), BOOL)
    settle(graph, (whole, small))
    assert holds(graph, whole, {}) and holds(graph, small, {})
    assert m.payload.generic == 1024
