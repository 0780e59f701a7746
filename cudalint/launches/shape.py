"""Launches that are the same but for the names of sizes of which nothing is known."""

from __future__ import annotations

from collections.abc import Hashable

from cudalint.host.values.nodes import Node, Uniform
from cudalint.launches.configuration import Configuration


class Shapes:
    """Finds launches of one place that are the same, as a function makes them that is called twice."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, int] = {}
        """A number for each different part; sizes are counted as they appear in a launch."""

    def of(self, configuration: Configuration) -> Hashable:
        """Equal for launches that differ by names only."""
        block, asked = configuration.block, configuration.asked()
        pointers = configuration.shared_by(), configuration.absent()
        numbers = configuration.numbers()
        names = tuple(name for name, _ in numbers)
        shape = _Shape(self._parts)
        sizes = [node for _, node in numbers]
        guards = [guard for guard in dict.fromkeys(configuration.guards) if not guard.is_const]
        parts = tuple(map(shape.of, (*configuration.grid, configuration.shared, *sizes, *guards)))
        return block, asked, pointers, names, parts


class _Shape:
    """The numbers of one launch's parts."""

    def __init__(self, parts: dict[Hashable, int]) -> None:
        self._parts = parts
        self._known: dict[Node, int] = {}
        self._sizes: dict[Node, int] = {}

    def of(self, node: Node) -> int:
        pending = [node]
        while pending:
            missing = [part for part in pending[-1].args if part not in self._known]
            pending += missing
            if not missing:
                last = pending.pop()
                self._known[last] = self._parts.setdefault((self._what(last), last.kind), len(self._parts))
        return self._known[node]

    def _what(self, node: Node) -> Hashable:
        if node.is_const:
            return node.value
        if isinstance(node.payload, Uniform) and not node.payload.first.is_default:
            return "size", self._sizes.setdefault(node, len(self._sizes)), node.payload.stride
        if node.args and isinstance(node.payload, (str, type(None))):
            return node.op, node.payload, tuple(self._known[part] for part in node.args)
        return "itself", node.index
