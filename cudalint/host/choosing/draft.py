"""A valuation in the making: numbers for symbols, of which those with the stronger reason stay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

from msgspec.structs import replace

from cudalint.host.values.arithmetic import Number
from cudalint.host.values.evaluation import holds
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import GRANULE, Basis, Choice, Node, Valuation

_REASONS: tuple[Basis, ...] = get_args(Basis)
"""The strongest first: a user's word is not changed for what a size is used as."""


class Draft:
    """Choices on the way from one valuation of a graph to another one. The graph is left as it is."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._start = graph.valuation
        self._changed: dict[Node, Choice] = {}

    @property
    def valuation(self) -> Valuation:
        return self._start.having(self._changed)

    @property
    def values(self) -> Mapping[Node, Number]:
        """The numbers that are others than at the start."""
        return {symbol: choice.value for symbol, choice in self._changed.items()}

    def choice(self, symbol: Node) -> Choice:
        return self._changed.get(symbol) or self._start.of(symbol)

    def of(self, symbol: Node) -> int:
        """The number that stands for an integer."""
        return int(self.choice(symbol).value)

    def is_open(self, symbol: Node, basis: Basis) -> bool:
        """Whether no stronger reason has chosen its number."""
        return _REASONS.index(self.choice(symbol).basis) >= _REASONS.index(basis)

    def choose(self, symbol: Node, value: Number, basis: Basis, place: str = "") -> None:
        """Lets a number stand for a symbol, unless a stronger reason has chosen another one."""
        if self.is_open(symbol, basis):
            self._changed[symbol] = replace(self.choice(symbol), value=value, basis=basis, place=place)

    def granule(self, symbol: Node) -> int:
        """What the number is a multiple of."""
        return math.lcm(GRANULE, self.choice(symbol).granule)

    def mark_granule(self, symbol: Node, number: int) -> None:
        """Notes that a symbol is divided by a number without a rest."""
        choice = self.choice(symbol)
        self._changed[symbol] = replace(choice, granule=math.lcm(choice.granule, number))

    def holds(self, condition: Node, others: Mapping[Node, Number] | None = None) -> bool:
        """Whether a condition holds with the numbers so far, and others for some symbols."""
        return holds(self.graph, condition, {**self.values, **(others or {})})
