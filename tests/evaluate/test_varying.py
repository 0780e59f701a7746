"""Whether lanes of one warp differ in a value."""

from __future__ import annotations

import numpy as np

from cudalint.values.arithmetic import I8
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Reason
from cudalint.values.numeric import Rows
from cudalint.values.threads import Threads
from cudalint.values.varying import Lanes

LOADED = Reason(True, "it is loaded")


def vary(graph: Graph, node: Node) -> bool:
    rows = Rows(graph, Threads.of((64, 1, 1)), np.zeros((1, 3), dtype=np.int64), np.ones(1), {})
    return Lanes(rows, np.ones((1, 2, 32), dtype=bool)).vary(node)


def test_what_is_loaded_from_one_place_does_not_vary() -> None:
    graph = Graph()
    warp = graph.binary("/", graph.thread[0], graph.const(32, I8), I8)
    assert not vary(graph, graph.opaque(LOADED, (warp,), I8))
    assert vary(graph, graph.opaque(LOADED, (graph.thread[0],), I8))


def test_a_value_inside_of_a_loop_that_is_over_may_vary() -> None:
    """`a[i + k]`, loaded in the last iteration: its counter has no number after the loop."""
    graph = Graph()
    place = graph.binary("+", graph.thread[0], graph.counter("a loop"), I8)
    assert vary(graph, graph.opaque(LOADED, (place,), I8))
