"""Which of the numbers of a launch nothing gives."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class OpenSizes(Struct, frozen=True):
    """Numbers that nothing gives, by name."""

    arguments: Mapping[str, frozenset[str]] = {}
    """Those that go into each number that the kernel takes, by its name."""
    grid: tuple[frozenset[str], ...] = (frozenset(),) * 3
    """Those that go into the grid, by axis."""

    def of(self, parameter: str) -> frozenset[str]:
        """Those that go into what the kernel knows under a name."""
        name, _, axis = parameter.partition(".")
        return self.grid["xyz".index(axis)] if name == "gridDim" else self.arguments.get(parameter, frozenset())


NONE_OPEN = OpenSizes()
