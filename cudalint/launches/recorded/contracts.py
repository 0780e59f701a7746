"""What a kernel requires of its launches, held against all of them that were recorded, evaluated or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from cudalint.host.executor.generics import Generics
from cudalint.host.executor.memory import Memory
from cudalint.host.executor.values import RecordValue
from cudalint.host.values.arithmetic import U4
from cudalint.host.values.assumptions import UnknownName, evaluate_expression
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.launches.recorded.arguments import bytes_of
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch
from cudalint.launches.recorded.values import RecordedValues
from cudalint.options.expressions import Expression, MemberRef, NameRef, parts_of

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
        self._graph = graph
        launches = sorted(kernel.launches, key=lambda launch: -launch.weight)
        self._launches = [_names(launch, kernel.parameters, function, graph) for launch in launches]

    def __len__(self) -> int:
        return len(self._launches)

    def broken(self, condition: Expression) -> Broken | None:
        """Which launches break a condition; None where all keep it. Raises `UnknownName` where it is about something
        that no recording says."""
        held = [self._holds(condition, names) for names in self._launches]
        if all(held):
            return None
        first = self._launches[held.index(False)]
        values = {name: first[name] for name in _named(condition) if name in first}
        return Broken(sum(held), len(held), tuple((name, int(node.value)) for name, node in values.items()))

    def _holds(self, condition: Expression, names: Names) -> bool:
        found = self._graph.truth(evaluate_expression(self._graph, condition, names))
        if not found.is_const:
            raise UnknownName("what it comes to is not known")
        return bool(found.value)


def _names(
    launch: RecordedLaunch, sizes: Sequence[int] | None, function: ir.Function, graph: Graph
) -> dict[str, Node]:
    """What a condition on a kernel may name, as it is in one launch."""
    found: dict[str, Node] = {}
    for axis, extent, blocks in zip("xyz", launch.block, launch.grid, strict=True):
        found[f"blockDim.{axis}"] = graph.const(extent, U4)
        found[f"gridDim.{axis}"] = graph.const(blocks, U4)
    if launch.arguments is not None and sizes is not None:
        values = RecordedValues(graph, Memory(graph, Generics(graph)), "")
        for symbol, argument, size in zip(function.parameters, launch.arguments, sizes, strict=True):
            found |= _numbers(symbol.name, values.argument(symbol, [bytes_of(argument, size)]))
    return found


def _numbers(name: str, value: object) -> Iterator[tuple[str, Node]]:
    if isinstance(value, Node) and value.is_const and not value.kind.is_float:
        yield name, value
    elif isinstance(value, RecordValue):
        for field, own in value.fields.items():
            yield from _numbers(f"{name}.{field}", own)


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
