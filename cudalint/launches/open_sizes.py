"""Which numbers that nothing gives go into what a launch passes to its kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cudalint.host.executor import values as old
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, render
from cudalint.launches.configuration import Configuration
from cudalint.worlds.open_sizes import OpenSizes


def open_sizes(configuration: Configuration, graph: Graph) -> OpenSizes:
    """By the names that the kernel has for them."""
    leaves = (leaf for symbol, value in configuration.arguments.items() for leaf in _leaves(value, symbol.name))
    arguments = {name: _open(node, graph) for name, node in leaves}
    return OpenSizes(arguments, tuple(_open(axis, graph) for axis in configuration.grid))


def _open(node: Node, graph: Graph) -> frozenset[str]:
    sizes = graph.atoms(node.bits, graph.uniform_bits)
    return frozenset(render(size) for size in sizes if not graph.choice(size).is_known)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Node]]:
    if isinstance(value, Node):
        yield name, value
    elif isinstance(value, old.RecordValue):
        for field, own in value.fields.items():
            yield from _leaves(own, f"{name}.{field}")
