"""Numbers for the uniform symbols, each with the reason for it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from cudalint.host.values.nodes import Choice, Node, Uniform


class Valuation(Struct, frozen=True, eq=False):
    """What stands for each uniform symbol: what was chosen for it, or else what it was made with."""

    chosen: Mapping[Node, Choice] = field(default_factory=dict)

    def of(self, symbol: Node) -> Choice:
        choice = self.chosen.get(symbol)
        if choice is None:
            assert isinstance(symbol.payload, Uniform)
            return symbol.payload.first
        return choice

    def having(self, chosen: Mapping[Node, Choice]) -> Valuation:
        """The same with other choices for some symbols."""
        return Valuation({**self.chosen, **chosen}) if chosen else self
