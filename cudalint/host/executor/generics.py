"""Uniform symbols for unknown numbers, with generic values that stand for any."""

from __future__ import annotations

from collections.abc import Mapping

from cudalint.host.values.arithmetic import BOOL, Kind
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Reason, Uniform, render
from cudalint.ir.text import element_name

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
            known = self.make(name if name.startswith("?") else element_name(name, index), array.kind)
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


def provisional(reason: Reason) -> str:
    """What an unknown number is called until a variable holds it."""
    return reason.text.removeprefix("it is ")


def is_provisional(name: str) -> bool:
    """Whether an unknown number has no better name than what it is, or from which memory it was read."""
    return name.startswith("?") or name.endswith("[...]")
