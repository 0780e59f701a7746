"""Values that come apart into a number for the row and one for the thread: their sum is the value, and what requests
cost whose addresses do is what is counted for each of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cudalint.evaluate.requests.patterns import figures_by_pattern, figures_of
from cudalint.evaluate.requests.situations import THOROUGH, Situation
from cudalint.hardware.banks import SharedOperation
from cudalint.values.arithmetic import BOOL, I4, I8, U4, U8, Kind
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node
from cudalint.values.numeric import Rows
from cudalint.values.threads import WarpMasks

OPERATIONS = ("+", "-", "*", "<<", "/", "%", ">>", "&", "min", "max")
KINDS = (I4, U4, I8, U8, Kind("u", 2))


def rows_of(graph: Graph, block: tuple[int, int, int] = (48, 2, 1)) -> Rows:
    return Situation(graph, block, (graph.const(7), graph.const(3), graph.one), THOROUGH).rows(())


@st.composite
def trees(draw: st.DrawFn, depth: int = 4) -> tuple[object, ...]:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return ("leaf", draw(st.integers(0, 5)), draw(st.sampled_from((1, 2, 3, 4, 7, 8, 31, 32, 64, 256, -1, -8))))
    op = draw(st.sampled_from((*OPERATIONS, "cast", "select")))
    return op, draw(st.sampled_from(KINDS)), draw(trees(depth - 1)), draw(trees(depth - 1))


def built(graph: Graph, tree: tuple[object, ...], width: Node) -> Node:
    if tree[0] == "leaf":
        leaves = (*graph.thread[:2], *graph.block[:2], width)
        chosen = tree[1]
        assert isinstance(chosen, int)
        return leaves[chosen] if chosen < len(leaves) else graph.const(tree[2], I4)  # type: ignore[arg-type]
    op, kind, left, right = tree
    assert isinstance(op, str) and isinstance(kind, Kind) and isinstance(left, tuple) and isinstance(right, tuple)
    a, b = built(graph, left, width), built(graph, right, width)
    if op == "cast":
        return graph.convert(a, kind)
    if op == "select":
        return graph.select(graph.binary("<", graph.block[0], graph.const(9), BOOL), a, b)
    if op == "<<":
        # A distance beyond the width of a number is no program's.
        b = graph.const(3)
    return graph.binary(op, a, b, kind)


NEGATIVE = ("-", I4, ("leaf", 0, 1), ("+", I4, ("leaf", 0, 1), ("+", I4, ("leaf", 2, 1), ("leaf", 4, 1))))
"""threadIdx.x - (threadIdx.x + blockIdx.x + width)"""


@settings(max_examples=300, deadline=None)
@given(trees())
@example(("min", U8, ("+", I4, ("leaf", 0, 1), ("leaf", 0, 1)), NEGATIVE))
def test_the_parts_of_a_value_add_up_to_it(tree: tuple[object, ...]) -> None:
    graph = Graph()
    node = built(graph, tree, graph.uniform("width", 96))
    rows = rows_of(graph)
    parts = rows.apart(node)
    if parts is not None:
        whole = rows.full(node)
        assert (np.broadcast_to(parts.full(), whole.shape) == whole).all()
        assert parts.low <= whole.min() and whole.max() <= parts.high


def test_usual_addresses_come_apart() -> None:
    graph = Graph()
    width = graph.uniform("width", 4096)
    x = graph.binary("+", graph.binary("*", graph.block[0], graph.const(64), U4), graph.thread[0], U4)
    row = graph.binary("*", graph.convert(graph.block[1], I4), width, I4)
    rows = rows_of(graph)
    for node in (
        graph.binary("*", graph.convert(graph.binary("+", row, graph.convert(x, I4), I4), I8), graph.const(4, I8), I8),
        graph.binary("/", x, graph.const(32), U4),
        graph.binary("&", x, graph.const(31), U4),
        graph.binary("min", x, graph.const(1 << 20), U4),
    ):
        assert rows.apart(node) is not None
    assert rows.apart(graph.binary("*", graph.block[0], graph.thread[0], U4)) is None
    # Of the unsigned numbers before zero, those of the first thread alone wrap around.
    assert rows.apart(graph.binary("-", x, graph.const(1, U4), U4)) is None


@pytest.mark.parametrize(
    ("width", "operation"),
    [(1, None), (4, None), (8, None), (16, None), (12, None), (1, "load"), (2, "store"), (4, "load"), (4, "async-copy"),
     (8, "load"), (8, "store"), (16, "load"), (16, "store"), (8, "async-copy")],
)  # fmt: skip
def test_moved_patterns_cost_what_each_of_their_requests_does(width: int, operation: SharedOperation | None) -> None:
    random = np.random.default_rng(width)
    graph = Graph()
    rows = rows_of(graph, (64, 1, 1))
    for stride in (0, 1, 2, 3, 5, 33):
        step = graph.const(stride * width, I8)
        lane = graph.binary("*", graph.convert(graph.thread[0], I8), step, I8)
        moved = graph.binary("*", graph.convert(graph.block[0], I8), graph.const(3 * width, I8), I8)
        parts = rows.apart(graph.binary("+", lane, moved, I8))
        assert parts is not None
        for share in (0.0, 0.5, 1.0):
            mask = random.random((rows.count, 64)) < share
            mask[::3] = mask[0]
            found = figures_by_pattern(parts, WarpMasks.of(mask), width, operation)
            addresses = np.broadcast_to(parts.full(), mask.shape).reshape(rows.count, 2, 32)
            expected = figures_of(addresses, mask.reshape(addresses.shape), width, operation)
            assert (found.cost == expected.cost).all()
            assert (found.ideal == expected.ideal).all()
            assert (found.lanes == expected.lanes).all()
