"""The numbers that nothing gives of a launch, and how the kernel's parameters are computed of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from cudalint.host.executor import values as host
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import Graph, conjuncts
from cudalint.host.values.nodes import Basis, Node, Uniform, bits_of, render
from cudalint.host.values.polynomial import linear
from cudalint.launches.configuration import Configuration
from cudalint.worlds.choosing import Number
from cudalint.worlds.records import Choice, Parameter
from cudalint.worlds.uses import Use

_GIVEN: tuple[Basis, ...] = ("given", "launch", "program")
"""Why a number is not open: a user gives it; the block was made of it; the program has it, unless an option says
otherwise."""
_SETTLED: tuple[Basis, ...] = ("given", "launch")
"""What comes before an equation that a user states."""


class OpenNumbers:
    """Of one launch."""

    def __init__(self, configuration: Configuration, graph: Graph, statements: Sequence[Node] = ()) -> None:
        self.graph = graph
        self.computed = tuple(
            node for s, value in configuration.arguments.items() for _, node in nodes_in(value, Parameter(s))
        )
        """All that the launch is given."""
        launch = (*configuration.grid, configuration.shared, *self.computed, *configuration.guards, *statements)
        self.all = graph.atoms(bits_of(launch), graph.uniform_bits)
        self._stated = bits_of(statements)
        self._fixed = _fixed(graph, statements)
        self.open_bits = bits_of(symbol for symbol in self.all if not self.is_given(symbol))
        self.parameters: dict[Parameter, Node] = {
            parameter: node
            for symbol, value in configuration.arguments.items()
            for parameter, node in nodes_in(value, Parameter(symbol))
            if parameter is not None and not node.bits & graph.opaque_bits and not node.kind.is_float
        }
        """The numbers that the kernel takes."""

    def is_given(self, symbol: Node) -> bool:
        """What a user states of a number comes before what the program has if no option says otherwise."""
        basis = self.graph.choice(symbol).basis
        if symbol in self._fixed and basis not in _SETTLED:
            return True
        return symbol.kind.is_float or (basis in _GIVEN and not (basis == "program" and symbol.bits & self._stated))

    def is_default(self, symbol: Node) -> bool:
        """Whether it is what the program has if no option says otherwise, and no user states another."""
        return self.graph.choice(symbol).is_default and symbol not in self._fixed

    def behind(self, parameter: Parameter) -> tuple[Node, ...]:
        """What a parameter of the kernel is computed of."""
        node = self.parameters.get(parameter)
        return () if node is None else tuple(self.graph.atoms(node.bits, self.graph.uniform_bits))

    def usual(self, symbol: Node) -> Number:
        choice = self.graph.choice(symbol)
        return choice.value if choice.basis in _SETTLED else self._fixed.get(symbol, choice.value)

    def choices(self, numbers: Mapping[Node, Number], uses: Sequence[Use]) -> dict[str, Choice]:
        """The numbers of a world by name, with the reasons for them."""
        first: dict[Node, Use] = {}
        for use in uses:
            for symbol in self.behind(use.parameter):
                first.setdefault(symbol, use)
        return {render(symbol): self._choice(symbol, number, first.get(symbol)) for symbol, number in numbers.items()}

    def _choice(self, symbol: Node, number: Number, use: Use | None) -> Choice:
        if self.is_given(symbol) and not symbol.kind.is_float:
            return Choice(number, "given")
        return Choice(number, "use", use.span) if use is not None else Choice(number, "default")

    def evaluated(self, numbers: Mapping[Node, Any]) -> Evaluated:
        """What the host code computes in such worlds."""
        return Evaluated(self.graph, numbers)


def _fixed(graph: Graph, statements: Sequence[Node]) -> dict[Node, Number]:
    """What equations such as `m == 4096` leave for an open number, where they agree."""
    found: dict[Node, set[int]] = {}
    for part in chain.from_iterable(conjuncts(graph, each) for each in statements):
        if part.op != "==" or any(side.kind.is_float for side in part.args) or part.bits & graph.opaque_bits:
            continue
        (left, before), (right, behind) = map(linear, part.args)
        terms = [*left, *((symbol, -factor) for symbol, factor in right)]
        if len(terms) == 1 and isinstance(terms[0][0].payload, Uniform):
            symbol, factor = terms[0]
            number, rest = divmod(behind - before, factor)
            if not rest:
                found.setdefault(symbol, set()).add(number)
    return {symbol: numbers.pop() for symbol, numbers in found.items() if len(numbers) == 1}


def nodes_in(value: Any, parameter: Parameter | None) -> Iterator[tuple[Parameter | None, Node]]:
    """What an argument consists of, with the parameter that it is, where the kernel has a name for it."""
    if isinstance(value, Node):
        yield parameter, value
    elif isinstance(value, host.Pointer):
        yield None, value.offset
        if isinstance(value.target, host.Allocation) and value.target.size is not None:
            yield None, value.target.size
    elif isinstance(value, host.MemoryPlace):
        yield from nodes_in(value.pointer, None)
    elif isinstance(value, host.RecordValue):
        for field, own in value.fields.items():
            inner = Parameter(parameter.symbol, (*parameter.path, field)) if parameter is not None else None
            yield from nodes_in(own, inner)
    elif isinstance(value, host.ArrayValue):
        for own in (value.rest, *value.elements.values()):
            yield from nodes_in(own, None)


def pointers_in(value: Any) -> Iterator[host.Pointer]:
    """The pointers that an argument consists of."""
    match value:
        case host.Pointer():
            yield value
        case host.MemoryPlace(pointer=pointer):
            yield pointer
        case host.RecordValue(fields=fields):
            yield from chain.from_iterable(map(pointers_in, fields.values()))
        case host.ArrayValue(rest=rest, elements=elements):
            yield from chain.from_iterable(map(pointers_in, (rest, *elements.values())))


def is_computed(symbol: Node) -> bool:
    """Whether a loop that was not followed makes it."""
    return isinstance(symbol.payload, Uniform) and symbol.payload.is_computed
