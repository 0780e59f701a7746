"""From a launch of the host code to the worlds in which it is executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cudalint.execute import memory as new
from cudalint.execute import values as execute
from cudalint.interpreter.device import values as old
from cudalint.launches.configuration import Configuration
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, bits_of, render
from cudalint.values.numeric import Rows
from cudalint.values.threads import Threads
from cudalint.worlds.blocks import blocks_of
from cudalint.worlds.records import Batch, Choice, Size

_Numbers = Mapping[Node, int | float | bool]


def batch_of(configuration: Configuration, graph: Graph) -> Batch:
    """All worlds of a launch."""
    open_ = _open_sizes(configuration, graph)
    worlds: list[_Numbers] = [{symbol: graph.choice(symbol).value for symbol in open_}]
    evaluated = _Evaluated(graph, worlds)
    grid = [
        (max(1, x), max(1, y), max(1, z))
        for x, y, z in zip(*(evaluated.each(extent) for extent in configuration.grid), strict=True)
    ]
    memories = _Memories(evaluated)
    arguments = {symbol: memories.argument(value, symbol.name) for symbol, value in configuration.arguments.items()}
    places, weights = _blocks(grid)
    return Batch(
        configuration.block, tuple(grid), tuple(max(0, each) for each in evaluated.each(configuration.shared)),
        arguments, tuple(_named(numbers) for numbers in worlds), ("usual numbers",), places, weights, memories.sizes,
    )  # fmt: skip


def _open_sizes(configuration: Configuration, graph: Graph) -> list[Node]:
    """The unknown numbers that go into a launch, and into the conditions under which it comes to it."""
    bits = bits_of((*configuration.grid, configuration.shared, *configuration.guards))
    for symbol, value in configuration.arguments.items():
        for leaf in _nodes(value, symbol.name):
            bits |= leaf.bits
    return graph.atoms(bits, graph.uniform_bits)


def _nodes(value: Any, name: str) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, old.Pointer):
        yield value.offset
        if isinstance(value.target, old.Allocation) and value.target.size is not None:
            yield value.target.size
    elif isinstance(value, old.RecordValue):
        for field, own in value.fields.items():
            yield from _nodes(own, f"{name}.{field}")
    elif isinstance(value, old.ArrayValue):
        yield from _nodes(value.rest, name)
        for own in value.elements.values():
            yield from _nodes(own, name)


def _named(numbers: _Numbers) -> dict[str, Choice]:
    return {render(symbol): Choice(value, "default") for symbol, value in numbers.items()}


def _blocks(grid: Sequence[tuple[int, int, int]]) -> tuple[Any, Any]:
    """Of each world, filled up to the same number."""
    chosen = [blocks_of(extents) for extents in grid]
    most = max(map(len, chosen))
    chosen = [[*own, *((((0, 0, 0), 0.0),) * (most - len(own)))] for own in chosen]
    places = tuple(tuple(place for place, _ in own) for own in chosen)
    return places, tuple(tuple(weight for _, weight in own) for own in chosen)


class _Evaluated:
    """Values of the host code in each world."""

    def __init__(self, graph: Graph, worlds: Sequence[_Numbers]) -> None:
        self._graph, self.count = graph, len(worlds)
        uniforms: dict[Node, Any] = {}
        for symbol in worlds[0]:
            values = [world[symbol] for world in worlds]
            uniforms[symbol] = values[0] if len(values) == 1 else np.array(values)[:, None]
        blocks = np.zeros((len(worlds), 3), np.int64)
        self._rows = Rows(graph, Threads.of((1, 1, 1)), blocks, np.ones(len(worlds)), uniforms)

    def each(self, node: Node) -> list[Any]:
        """By world."""
        values = np.broadcast_to(np.asarray(self._rows.value(node)), (self.count, 1))[:, 0]
        found: list[Any] = values.tolist()
        return found

    def of(self, node: Node) -> Any:
        """As the executor takes it: a number, one for each world, or None for what is not known."""
        if node.bits & self._graph.opaque_bits:
            return None
        values = self.each(node)
        return values[0] if all(value == values[0] for value in values) else values


class _Memories:
    """What pointers among the arguments lead to."""

    def __init__(self, evaluated: _Evaluated) -> None:
        self._evaluated = evaluated
        self._made: dict[old.Allocation, new.Allocation] = {}
        self.sizes: dict[new.Allocation, Size] = {}

    def argument(self, value: Any, name: str) -> Any:
        """An argument as the executor takes it."""
        if isinstance(value, Node):
            return self._evaluated.of(value)
        if isinstance(value, old.Pointer) and isinstance(value.target, old.Allocation):
            return execute.Pointer(
                self._allocation(value.target, name), self._evaluated.of(value.offset) or 0, value.pointee
            )
        if isinstance(value, old.MemoryPlace):
            return self.argument(value.pointer, name)
        if isinstance(value, old.RecordValue):
            return {field: self.argument(own, f"{name}.{field}") for field, own in value.fields.items()}
        if isinstance(value, old.ArrayValue):
            count = value.type.count or 0
            return {
                number: self.argument(value.elements.get(number, value.rest), f"{name}[{number}]")
                for number in range(min(count, execute.MOST_ELEMENTS))
            }
        return None

    def _allocation(self, target: old.Allocation, name: str) -> new.Allocation:
        memory = target.memory
        made = self._made.get(memory)
        if made is None:
            made = self._made[memory] = new.Allocation(name, "global", is_null=target.is_null)
            size = self._size(memory)
            if size is not None:
                self.sizes[made] = size
        return made

    def _size(self, memory: old.Allocation) -> Size | None:
        if memory.size is None:
            return Size((memory.bytes,) * self._evaluated.count) if memory.bytes else None
        values = self._evaluated.of(memory.size)
        if values is None:
            return None
        own = values if isinstance(values, list) else [values] * self._evaluated.count
        return Size(tuple(own), render(memory.size))
