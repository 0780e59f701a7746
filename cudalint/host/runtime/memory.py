"""The memory of host code: unknown numbers are uniform symbols, with generic values that stand for any."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cudalint.host.executor.memory import Memory
from cudalint.host.executor.state import State
from cudalint.host.executor.values import (
    ArrayValue,
    Choice,
    FunctionValue,
    LocalPlace,
    Place,
    Value,
    some_nodes,
)
from cudalint.host.values.arithmetic import BOOL, Kind, kind_of
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import UNINITIALISED, Node, Reason, Uniform, render
from cudalint.ir import nodes as ir

_GENERIC_FACTORS = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)
_GENERIC_UNITS = {4: 8192, 8: 1 << 20}
"""Generic sizes are odd multiples of these, by the width of the type: products of two `int` sizes still fit."""


class Generics:
    """Makes uniform symbols whose generic values are large multiples of 32 and differ from one another."""

    def __init__(self, graph: Graph, given: Mapping[str, int] | None = None) -> None:
        self.graph = graph
        self.given = dict(given or {})
        """Values for symbols of these names (from `assume`)."""
        self._count = 0
        self._elements: dict[tuple[Node, int], Node] = {}
        self._rounded: dict[tuple[Node, Kind], Node] = {}

    def element(self, array: Node, index: int) -> Node:
        """One of an array's numbers, all of which `array` stands for: they are unknown, and differ from one another."""
        known = self._elements.get((array, index))
        if known is None:
            assert isinstance(array.payload, Uniform)
            name = array.payload.name
            known = self.make(name if name.startswith("?") else f"{name}[{index}]", array.kind)
            self._elements[array, index] = known
        return known

    def rounded(self, number: Node, kind: Kind) -> Node | None:
        """The integer that host code makes of an unknown floating-point number: a size as others are, and not the one
        that the generic 1.5 would be. None for all other numbers."""
        graph = self.graph
        if not number.kind.is_float or kind.is_float or kind.bytes == 1 or not number.bits:
            return None
        if number.bits & ~graph.uniform_bits or not all(map(_is_unknown_float, graph.atoms(number.bits, number.bits))):
            return None
        known = self._rounded.get((number, kind))
        if known is None:
            name = number.payload.name if isinstance(number.payload, Uniform) else render(number)
            known = self._rounded[number, kind] = self.make(name, kind)
        return known

    def make(self, name: str, kind: Kind, is_computed: bool = False) -> Node:
        if name in self.given:
            return self.graph.const(self.given[name], kind)
        if kind.is_float:
            return self.graph.uniform(name, 1.5, kind)
        if kind == BOOL:
            # Options are off unless somebody turns them on.
            return self.graph.uniform(name, 0, kind)
        if kind.bytes == 1:
            return self.graph.uniform(name, 1, kind)
        factor = _GENERIC_FACTORS[self._count % len(_GENERIC_FACTORS)]
        self._count += 1
        return self.graph.uniform(name, _GENERIC_UNITS.get(kind.bytes, 32) * factor, kind, is_computed=is_computed)


def _is_unknown_float(symbol: Node) -> bool:
    return symbol.kind.is_float and isinstance(symbol.payload, Uniform) and not symbol.payload.first.is_default


def _provisional(reason: Reason) -> str:
    """What an unknown number is called until a variable holds it."""
    return reason.text.removeprefix("it is ")


def is_provisional(name: str) -> bool:
    """Whether an unknown number has no better name than what it is, or from which memory it was read."""
    return name.startswith("?") or name.endswith("[...]")


class HostMemory(Memory):
    """Unknown numbers of host code are uniform symbols."""

    def __init__(self, graph: Graph, generics: Generics) -> None:
        super().__init__(graph)
        self.generics = generics
        self._made: dict[object, Node] = {}
        self.unset: set[Node] = set()
        """What stands for the numbers of variables that nothing has been stored in yet."""
        self.now: Callable[[], object] = tuple
        """Which execution of a place this is: what a function reads is another number with each call of it."""

    def unknown(self, type_: ir.Type, reason: Reason, args: tuple[Node, ...] = (), name: str = "") -> Value:
        if isinstance(type_, ir.Scalar):
            origin = (reason.origin, self.now()) if reason.origin is not None else None
            key = (reason.text, origin, name, kind_of(type_), tuple(a.index for a in args))
            node = self._made.get(key)
            if node is None:
                node = self.generics.make(
                    name or f"?{_provisional(reason)}", kind_of(type_), is_computed=reason.kind == "iteration"
                )
                self._made[key] = node
                if reason is UNINITIALISED:
                    self.unset.add(node)
            return node
        return super().unknown(type_, reason, args, name)

    def _element(self, array: ArrayValue, index: int) -> Value:
        """The numbers of an array that was filled elsewhere (by `fread`) are unknown, and differ from one another."""
        value = super()._element(array, index)
        if value is not array.rest or not isinstance(value, Node) or not isinstance(value.payload, Uniform):
            return value
        element = self.generics.element(value, index)
        if value in self.unset:
            self.unset.add(element)
        return element

    def _one_of(self, values: list[Value], index: Node) -> Value | None:
        """Of a table of functions each one with the index at which it stands: a program calls none outside of it."""
        if not any(isinstance(value, FunctionValue) for value in values):
            return super()._one_of(values, index)
        chosen: Value = self.graph.zero
        for depth, (place, value) in enumerate(reversed([*enumerate(values)]), 1):
            here = self.graph.binary("==", index, self.graph.const(place, index.kind), BOOL)
            chosen = Choice(here, value, chosen, depth)
        return chosen

    def smear(
        self, value: Value, type_: ir.Type, extra: tuple[Node, ...] = (), why: str = "", field: str | None = None
    ) -> Value:
        return self.unknown(type_, Reason(False, "of parts"), some_nodes(value) + extra, field or "")

    def apart(self, a: Node, b: Node, element: int, type_: ir.Type) -> Value:
        """Nothing says that they are arrays of their own: a function returns the end of what it was given."""
        return self.unknown(type_, Reason(False, "between two pointers"), (a, b))

    def write(self, state: State, place: Place, value: Value) -> None:
        """A global array or record starts to be followed with the first part of it that is set."""
        if isinstance(place, LocalPlace) and place.path and place.symbol not in state.variables:
            symbol = place.symbol
            state.variables[symbol] = self.unknown(symbol.type, UNINITIALISED, (), symbol.name)
        super().write(state, place, value)
