"""Worlds: what is chosen for each number that nothing gives, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.lanes import Extents

Basis = Literal["given", "use", "default"]
"""`given`: by the source, an annotation or a recording; `use`: the kernel does something with it for which the number
matters; `default`: nothing was seen that it matters for."""


class Parameter(NamedTuple):
    """A number that a kernel takes: a parameter, or a field of one that is a record."""

    symbol: ir.Symbol
    path: tuple[str, ...] = ()
    """The names of the fields that lead to it."""

    @property
    def name(self) -> str:
        return ".".join((self.symbol.name, *self.path))


class Choice(Struct, frozen=True):
    """A number, and where it comes from."""

    value: int | float | bool
    basis: Basis
    place: ir.Span | None = None
    """Of what gives it, or of the use that it was chosen for."""


class Valuation(Struct, frozen=True):
    """One world: a number for everything that is not the same in all of them."""

    choices: Mapping[Parameter, Choice]

    @property
    def numbers(self) -> dict[str, int | float | bool]:
        """By the names that the source has."""
        return {parameter.name: choice.value for parameter, choice in self.choices.items()}

    @property
    def values(self) -> dict[Parameter, int | float | bool]:
        return {parameter: choice.value for parameter, choice in self.choices.items()}


class Batch(Struct, frozen=True):
    """All worlds in which a launch is executed, at once."""

    launch: Any
    valuations: tuple[Valuation, ...]
    why: tuple[str, ...]
    """For each of them, what it was chosen to show."""
    blocks: tuple[Extents, ...] = ((0, 0, 0),)
    """Those that are executed in each world."""
    weights: tuple[float, ...] = (1.0,)
    """How many blocks of the grid each of them stands for."""


def arguments(valuations: Sequence[Valuation]) -> dict[ir.Symbol, Any]:
    """The arguments of a kernel as the executor takes them: for each a value by world, or a dictionary of a record's
    fields by their names."""
    found: dict[ir.Symbol, Any] = {}
    for parameter in dict.fromkeys(parameter for valuation in valuations for parameter in valuation.choices):
        values = [valuation.choices[parameter].value for valuation in valuations]
        if not parameter.path:
            found[parameter.symbol] = values
            continue
        fields = found.setdefault(parameter.symbol, {})
        for name in parameter.path[:-1]:
            fields = fields.setdefault(name, {})
        fields[parameter.path[-1]] = values
    return found
