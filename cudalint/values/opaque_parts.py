"""What of a value cannot be followed: the loaded and unknown values that it is computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Reason


def opaque_parts(graph: Graph, node: Node) -> Sequence[tuple[Node, Reason]]:
    """The values that cannot be followed among those that a node is computed from, with the reasons.

    What only went into other opaque values is left out: lanes that agree on the latter agree. A trip count that depends
    on opaque values counts as one. Which of its neighbours come with a lane is no part of the number that it has among
    them: those that come stand side by side.
    """
    known = graph.opaque_parts.get(node.index)
    if known is None:
        known = graph.opaque_parts[node.index] = tuple(_opaque_parts(graph, node))
    return known


def without_data(graph: Graph, node: Node) -> Node:
    """A value with zeros in the place of what cannot be followed."""
    parts = [part for part, _ in opaque_parts(graph, node)]
    if all(part.op == "opaque" for part in parts):
        return graph.without_data(node, parts)
    # A trip count stands for the opaque values in it here, and for itself elsewhere.
    return graph.substitute(node, {part: graph.const(0, part.kind) for part in parts})


def _opaque_parts(graph: Graph, node: Node) -> Iterator[tuple[Node, Reason]]:
    seen: set[int] = set()
    pending: list[tuple[Node, Node | None]] = [(node, None)]
    while pending:
        current, stand_in = pending.pop()
        if current.index in seen or not current.bits & graph.opaque_bits:
            continue
        seen.add(current.index)
        if isinstance(current.payload, Reason):
            yield stand_in or current, current.payload
            continue
        if current.op == "trips" and stand_in is None:
            stand_in = current
        pending.extend((argument, stand_in) for argument in current.args)
