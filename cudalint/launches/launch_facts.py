"""What facts say of a launch that was executed: the numbers of its first world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cudalint.execute.values import Pointer
from cudalint.facts import ArgumentValue, LaunchFacts
from cudalint.host.values.graph import Graph, stated
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir.text import field_name
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.worlds.records import Batch
from cudalint.worlds.text import text_of


def launch_facts_of(
    configuration: Configuration, function: ir.Function, batch: Batch, graph: Graph
) -> LaunchFacts:
    """The launch as facts: plain numbers, what arguments are taken for, and what was assumed for it."""
    arguments = dict(_leaves(batch))
    parameters = {
        symbol.name: value.value
        for symbol, value in configuration.arguments.items()
        if isinstance(value, Node) and value.is_const
    }
    sizes = {name: _bytes(leaf, batch) for name, leaf in arguments.items() if isinstance(leaf, Pointer)}
    defaults = tuple(defaults_of(configuration, function, graph))
    return LaunchFacts(
        configuration.block, batch.grid[0], batch.shared[0], configuration.source, configuration.path,
        configuration.line, parameters, tuple(dict.fromkeys((*configuration.assumptions, *defaults))),
        configuration.site, configuration.twins, by_default=configuration.by_default, guesses=configuration.guesses,
        made_up=configuration.made_up, arguments={name: _value(leaf) for name, leaf in arguments.items()},
        allocated={name: size for name, size in sizes.items() if size}, recorded=configuration.recorded,
        called_from=configuration.called_from,
    )  # fmt: skip


def defaults_of(configuration: Configuration, function: ir.Function, graph: Graph) -> Iterator[str]:
    """The numbers that the program has unless an option says otherwise, as far as loops of the kernel are as long as
    they say: `n == 1024 (Makefile:12)`."""
    open_ = OpenNumbers(configuration, graph)
    counted = {use.parameter for use in text_of(function).found if use.kind == "loop"}
    symbols = dict.fromkeys(symbol for p in open_.parameters if p in counted for symbol in open_.behind(p))
    return (stated(graph, symbol) for symbol in symbols if graph.choice(symbol).is_default)


def _leaves(batch: Batch) -> Iterator[tuple[str, Any]]:
    """The numbers and pointers among the arguments in the first world."""
    for symbol, value in batch.arguments.items():
        if not (isinstance(symbol.type, ir.PointerType) and symbol.type.reference):
            yield from _leaves_of(symbol.name, value)


def _leaves_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for field, own in value.items():
            # Elements of arrays have no names of their own.
            if isinstance(field, str):
                yield from _leaves_of(field_name(name, field), own)
    elif value is not None:
        yield name, value[0] if isinstance(value, list) else value


def _value(leaf: Any) -> ArgumentValue:
    if not isinstance(leaf, Pointer):
        number: ArgumentValue = leaf
        return number
    if leaf.allocation.is_null:
        return None
    return int(leaf.offset[0] if isinstance(leaf.offset, list) else leaf.offset)


def _bytes(pointer: Pointer, batch: Batch) -> int | None:
    size = batch.sizes.get(pointer.allocation)
    return size.bytes[0] if size is not None else None
