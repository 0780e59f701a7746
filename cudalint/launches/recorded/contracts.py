"""What a kernel requires of its launches, held against all of them that were recorded, evaluated or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from msgspec import Struct

from cudalint.host.executor.generics import Generics
from cudalint.host.executor.memory import Memory
from cudalint.host.values.arithmetic import U4
from cudalint.host.values.assumptions import UnknownName, evaluate_expression
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.launches.open_numbers import nodes_in
from cudalint.launches.recorded.arguments import bytes_of
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch
from cudalint.launches.recorded.values import RecordedValues
from cudalint.options.expressions import Expression, MemberRef, NameRef, parts_of
from cudalint.worlds.records import Parameter

Names = Mapping[str, Node]


class Broken(Struct, frozen=True):
    """A condition that some recorded launch does not keep."""

    held: int
    of: int
    """Different launches in all."""
    values: tuple[tuple[str, int], ...]
    """What the condition names, in the launch that breaks it and that takes most."""


class Contracts:
    """The numbers of all recorded launches of one kernel."""

    def __init__(self, kernel: RecordedKernel, function: ir.Function, graph: Graph) -> None:
        self._graph, self._function, self._sizes = graph, function, kernel.parameters
        self._launches = sorted(kernel.launches, key=lambda launch: -launch.weight)

    def __len__(self) -> int:
        return len(self._launches)

    def broken(self, condition: Expression) -> Broken | None:
        """Which launches break a condition; None where all keep it. Raises `UnknownName` where it is about something
        that no recording says."""
        named = list(_named(condition))
        parameters = {name.partition(".")[0] for name in named}
        held = [self._holds(condition, self._names(launch, parameters)) for launch in self._launches]
        if all(held):
            return None
        first = self._names(self._launches[held.index(False)], parameters)
        values = {name: first[name] for name in named if name in first}
        return Broken(sum(held), len(held), tuple((name, int(node.value)) for name, node in values.items()))

    def _holds(self, condition: Expression, names: Names) -> bool:
        found = self._graph.truth(evaluate_expression(self._graph, condition, names))
        if not found.is_const:
            raise UnknownName("what it comes to is not known")
        return bool(found.value)

    def _names(self, launch: RecordedLaunch, parameters: Set[str]) -> dict[str, Node]:
        """What a condition may name that is about some parameters, as it is in one launch."""
        found: dict[str, Node] = {}
        for axis, extent, blocks in zip("xyz", launch.block, launch.grid, strict=True):
            found[f"blockDim.{axis}"] = self._graph.const(extent, U4)
            found[f"gridDim.{axis}"] = self._graph.const(blocks, U4)
        if launch.arguments is not None and self._sizes is not None:
            values = RecordedValues(self._graph, Memory(self._graph, Generics(self._graph)), "")
            for symbol, argument, size in zip(self._function.parameters, launch.arguments, self._sizes, strict=True):
                if symbol.name in parameters:
                    value = values.argument(symbol, [bytes_of(argument, size)])
                    found |= {
                        parameter.name: node
                        for parameter, node in nodes_in(value, Parameter(symbol))
                        if parameter is not None and node.is_const and not node.kind.is_float
                    }
        return found


def _named(expression: Expression) -> Iterator[str]:
    """The names in a condition, `p.width` as one."""
    if isinstance(expression, NameRef):
        yield expression.name
    elif isinstance(expression, MemberRef):
        yield from (f"{base}.{expression.field}" for base in _named(expression.base))
    else:
        for part in parts_of(expression).values():
            for own in part if isinstance(part, tuple) else (part,):
                yield from _named(own)
