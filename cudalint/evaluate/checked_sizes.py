"""Numbers that host code has compared with others when it gets to a launch: `if (columns != 64) return;`, the cases of
a `switch` over the width of a model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from cudalint.evaluate.graph import Graph, Node, Uniform
from cudalint.evaluate.host import HostLaunch
from cudalint.evaluate.values import LocalPlace, MemoryPlace, Place, Pointer, TemporaryPlace, Value, map_leaves


def with_checked_sizes(launch: HostLaunch, graph: Graph) -> HostLaunch:
    """The launch with the numbers that its conditions leave for unknown sizes."""
    known = _equalities(launch, graph)
    if not known:
        return launch
    grid_x, grid_y, grid_z = (graph.substitute(extent, known) for extent in launch.grid)
    block_x, block_y, block_z = (graph.substitute(extent, known) for extent in launch.block)
    return replace(
        launch,
        grid=(grid_x, grid_y, grid_z),
        block=(block_x, block_y, block_z),
        shared=graph.substitute(launch.shared, known),
        arguments=tuple(_substituted(value, graph, known) for value in launch.arguments),
    )


def _equalities(launch: HostLaunch, graph: Graph) -> dict[Node, Node]:
    """The unknown sizes that have to be some number."""
    found: dict[Node, Node] = {}
    for guard in launch.guards:
        for size, number in _equal(guard):
            bare = size.args[0] if size.op == "cast" else size
            if number.is_const and isinstance(bare.payload, Uniform) and bare.kind.code in "iu":
                found.setdefault(bare, graph.convert(number, bare.kind))
    return found


def _equal(condition: Node) -> tuple[tuple[Node, ...], ...]:
    """What a condition says to be equal, either way round."""
    if condition.op == "!" and condition.args[0].op == "!=":
        condition = condition.args[0]
    elif condition.op != "==":
        return ()
    return condition.args, condition.args[::-1]


def _substituted(value: Value | Place, graph: Graph, known: Mapping[Node, Node]) -> Value | Place:
    if isinstance(value, (LocalPlace, MemoryPlace, TemporaryPlace)):
        return value
    return map_leaves(value, partial(_leaf, graph, known))


def _leaf(graph: Graph, known: Mapping[Node, Node], leaf: Value, path: str) -> Value:
    if isinstance(leaf, Pointer):
        return replace(leaf, offset=graph.substitute(leaf.offset, known))
    return graph.substitute(leaf, known) if isinstance(leaf, Node) else leaf


__all__ = ["with_checked_sizes"]
