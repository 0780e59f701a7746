"""Numbers that tell how far the elements of an array are apart."""

from __future__ import annotations

from cudalint.concurrency.doubts.arrays import moves_by
from cudalint.values.arithmetic import I8
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node


def _offset(graph: Graph, row: Node) -> Node:
    """Of an element of 4 bytes in a row that begins `row` elements on."""
    elements = graph.binary("+", row, graph.convert(graph.thread[0], I8), I8)
    return graph.binary("*", elements, graph.const(4, I8), I8)


def test_strides_in_bytes_are_strides() -> None:
    """A launch hands on `nb1 / sizeof(float)`, and the kernel multiplies its block by that."""
    graph = Graph()
    stride, other = graph.uniform("nb1", 1 << 20, I8), graph.uniform("n", 1 << 20, I8)
    block = graph.convert(graph.block[0], I8)
    elements = graph.binary("/", stride, graph.const(4, I8), I8)
    offset = _offset(graph, graph.binary("*", block, elements, I8))
    assert moves_by(stride, offset, graph)
    assert not moves_by(other, offset, graph)
    assert not moves_by(stride, _offset(graph, graph.binary("%", block, stride, I8)), graph)
