"""Situations with other values for some sizes: what they share with the usual one is what they would compute."""

from __future__ import annotations

import numpy as np
import pytest
from evaluating import evaluate, only

from cudalint.evaluate.requests.situations import QUICK, Situation
from cudalint.evaluate.requests.views import LaunchView
from cudalint.interpreter.device.events import Loop
from cudalint.ir import nodes as ir
from cudalint.values.arithmetic import BOOL, I4, I8
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Reason

SPAN = ir.Span("a.cu", 1, 1, 1, 2)


def loop_up_to(graph: Graph, end: Node) -> Loop:
    counter = graph.counter("a loop")
    return Loop(counter, graph.binary("<", counter, end, BOOL), (), SPAN, True, False)


def test_other_sizes_share_rows_with_the_usual_ones() -> None:
    graph = Graph()
    rows, columns = graph.uniform("rows", 4096), graph.uniform("columns", 2048)
    grid = (graph.binary("/", rows, graph.const(64), I4), graph.one, graph.one)
    outer, inner = loop_up_to(graph, graph.const(100)), loop_up_to(graph, columns)
    row = graph.binary("+", graph.thread[0], graph.binary("*", graph.block[0], graph.const(64), I4), I4)
    loaded = graph.opaque(Reason(True, "it is loaded"), (graph.binary("+", row, outer.counter, I8),), I4)
    place = graph.binary("+", graph.binary("*", row, columns, I4), graph.binary("+", outer.counter, loaded, I8), I8)
    guard = graph.binary("<", row, rows, BOOL)
    nests: tuple[tuple[Loop, ...], ...] = ((outer, inner), (outer,), ())
    for values in ({columns: 2049}, {rows: 4097}, {rows: 100, columns: 7}):
        usual = Situation(graph, (64, 1, 1), grid, QUICK)
        for nest in nests[:2]:
            usual.rows(nest).full(place)
        sharing = Situation(graph, (64, 1, 1), grid, QUICK, values, usual=usual)
        alone = Situation(graph, (64, 1, 1), grid, QUICK, values)
        assert sharing.grid == alone.grid
        for nest in nests:
            ours, theirs = sharing.rows(nest), alone.rows(nest)
            assert np.array_equal(ours.weights, theirs.weights)
            assert np.array_equal(ours.mask([guard]), theirs.mask([guard]))
            for levels in range(len(nest) + 1):
                alive, expected = (np.broadcast_to(r.outside(levels), (r.count, 64)) for r in (ours, theirs))
                assert np.array_equal(alive, expected)
            if nest:
                assert np.array_equal(ours.full(place), theirs.full(place))


def test_the_same_iterations_are_drawn_again_once_rows_were_forgotten() -> None:
    graph = Graph()
    view = LaunchView(graph, 0, (64, 1, 1), (graph.one, graph.one, graph.one))
    first, second = loop_up_to(graph, graph.const(1000)), loop_up_to(graph, graph.const(1000))

    def drawn(loop: Loop) -> list[int]:
        return np.asarray(view.quick().rows((loop,)).value(loop.counter)).ravel().tolist()

    before = drawn(first), drawn(second)
    assert before[0] != before[1]
    graph.caches.times_emptied += 1
    view.trim()
    # In the other order: what is evaluated first after memory was emptied is not what was evaluated first at all.
    after = drawn(second), drawn(first)
    assert after[::-1] == before


@pytest.mark.parametrize("grid", [4096, 4097])
def test_rows_of_an_odd_number_of_words_begin_everywhere_in_nested_loops(grid: int) -> None:
    """A row of 127 words by warps: of eight places in a sector that one may begin at, three whole warps take 4 sectors
    at one and 5 at the others, and the last one (31 lanes) 4 at two and 5 at six."""
    body = "for (int r = blockIdx.x; r < 16384; r += gridDim.x) for (int c = t; c < 127; c += 32) a[r * 127 + c] = 1;"
    result = only(evaluate(body, grid=(grid, 1, 1), block=(32, 1, 1)))
    assert result.sectors_per_request == pytest.approx((3 * 39 / 8 + 38 / 8) / 4, rel=0.01)
