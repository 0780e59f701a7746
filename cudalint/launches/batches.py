"""From a launch of the host code to the worlds in which it is executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cudalint.execute import memory as new
from cudalint.execute import values as execute
from cudalint.host.executor import values as old
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import stated
from cudalint.host.values.nodes import Node, Uniform, render, without_cast
from cudalint.ir.text import element_name
from cudalint.launches.configuration import Configuration
from cudalint.launches.flags import cases_by_name
from cudalint.launches.space import LaunchSpace
from cudalint.worlds.blocks import Sampled, most_blocks
from cudalint.worlds.choosing import Worlds
from cudalint.worlds.records import Batch, Choice, Computed, Parameter, Size


def batch(configuration: Configuration, space: LaunchSpace, worlds: Worlds) -> Batch:
    """A launch in the worlds that were chosen for it."""
    open_ = space.open
    evaluated = open_.evaluated({symbol: np.array([w[symbol] for w in worlds.worlds]) for symbol in open_.all})
    grid = [
        (max(1, x), max(1, y), max(1, z))
        for x, y, z in zip(*(evaluated.each(extent) for extent in configuration.grid), strict=True)
    ]
    memories = _Memories(evaluated)
    arguments = {symbol: memories.argument(value, symbol.name) for symbol, value in configuration.arguments.items()}
    places, weights = _blocks(configuration, space, grid, evaluated)
    named = tuple(open_.choices(world, space.text.found) for world in worlds.worlds)
    return Batch(
        configuration.block, tuple(grid), tuple(max(0, each) for each in evaluated.each(configuration.shared)),
        arguments, named, ("usual numbers", *worlds.why[1:]), places, weights, memories.sizes,
        tuple(world.weight for world in configuration.worlds),
        bool(worlds.broken) or any(guard.is_const and not guard.value for guard in configuration.guards),
        space.overflowing, *_meanings(configuration, space), _computed(space, evaluated), _defaults(space, named),
    )  # fmt: skip


def _defaults(space: LaunchSpace, worlds: Sequence[Mapping[str, Choice]]) -> dict[Parameter, tuple[str, ...]]:
    """See `Batch.defaults`."""
    open_ = space.open
    found: dict[Parameter, tuple[str, ...]] = {}
    for parameter in open_.parameters:
        for symbol in open_.behind(parameter):
            text = ""
            if open_.is_given(symbol):
                text = stated(open_.graph, symbol) if open_.is_default(symbol) else ""
            elif len(worlds) == 1 and render(symbol) in worlds[0]:
                text = f"{render(symbol)} = {worlds[0][render(symbol)].value}"
            if text:
                found[parameter] = (*found.get(parameter, ()), text)
    return found


def _numbers_in(node: Node, space: LaunchSpace) -> frozenset[str]:
    """The names of the open numbers that something is computed of."""
    graph = space.open.graph
    atoms = graph.atoms(node.bits, graph.uniform_bits)
    return frozenset(render(symbol) for symbol in atoms if not space.open.is_given(symbol))


def _meanings(
    configuration: Configuration, space: LaunchSpace
) -> tuple[frozenset[str], Any, dict[str, tuple[int, ...]]]:
    """The names of numbers of elements and of those that the grid is computed of, and what flags are compared with."""
    names = {
        parameter: render(symbol)
        for parameter, symbol in ((p, without_cast(node)) for p, node in space.open.parameters.items())
        if isinstance(symbol.payload, Uniform)
    }
    flags: dict[str, tuple[int, ...]] = dict(cases_by_name(space.flags))
    for use in space.text.found:
        name = names.get(use.parameter)
        if name is not None and use.kind == "flag" and isinstance(use.other, int):
            flags[name] = (*flags.get(name, ()), use.other)
    grid_of = tuple(_numbers_in(extent, space) for extent in configuration.grid)
    return frozenset(names[each] for each in space.text.lengths if each in names), grid_of, flags


def _computed(space: LaunchSpace, evaluated: Evaluated) -> dict[str, Computed]:
    """The numbers that the kernel takes and that are no open numbers by themselves."""
    open_ = space.open
    names = {render(symbol) for symbol in open_.all}
    found: dict[str, Computed] = {}
    for parameter, node in open_.parameters.items():
        is_bare = isinstance(without_cast(node).payload, Uniform)
        if node.bits & open_.open_bits and not is_bare and parameter.name not in names:
            of = tuple(render(symbol) for symbol in open_.behind(parameter) if not open_.is_given(symbol))
            found[parameter.name] = Computed(tuple(evaluated.each(node)), of)
    return found


def _blocks(
    configuration: Configuration, space: LaunchSpace, grid: Sequence[tuple[int, int, int]], evaluated: Evaluated
) -> tuple[Any, Any]:
    """Of each world, filled up to the same number."""
    values = {parameter: evaluated.array(node) for parameter, node in space.open.parameters.items()}
    allowed = most_blocks(len(grid))
    chosen: list[Sampled] = []
    for world, extents in enumerate(grid):
        own = {parameter: each[world] for parameter, each in values.items()}
        chosen.append(space.text.blocks.sampled(own, configuration.block, extents, allowed))
    most = max(map(len, chosen))
    filled = [[*own, *((((0, 0, 0), 0.0),) * (most - len(own)))] for own in chosen]
    places = tuple(tuple(place for place, _ in own) for own in filled)
    return places, tuple(tuple(weight for _, weight in own) for own in filled)


class _Memories:
    """What pointers among the arguments lead to."""

    def __init__(self, evaluated: Evaluated) -> None:
        self._evaluated = evaluated
        self._made: dict[tuple[old.Allocation, tuple[int, ...]], new.Allocation] = {}
        self._elements: tuple[int, ...] = ()
        """Of arrays of which it is only known what each element is like, those that are being made."""
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
            return {
                number: self._element(value, number, element_name(name, number))
                for number in range(min(value.type.count or 0, execute.MOST_ELEMENTS))
            }
        return None

    def _element(self, array: old.ArrayValue, number: int, name: str) -> Any:
        """Pointers of elements that nothing distinguishes are those of several pieces of memory."""
        if number in array.elements:
            return self.argument(array.elements[number], name)
        self._elements += (number,)
        found = self.argument(array.rest, name)
        self._elements = self._elements[:-1]
        return found

    def _allocation(self, target: old.Allocation, name: str) -> new.Allocation:
        memory = target.memory
        made = self._made.get((memory, self._elements))
        if made is None:
            made = self._made[memory, self._elements] = new.Allocation(name, "global", is_null=target.is_null)
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
