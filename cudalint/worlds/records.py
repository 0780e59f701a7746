"""Worlds: what is chosen for each number that nothing gives, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from cudalint.execute.values import Pointer
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.lanes import Extents, Lanes
    from cudalint.execute.memory import Allocation

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


class Computed(NamedTuple):
    """A number that a kernel takes and that host code computes."""

    values: tuple[int | float | bool, ...]
    """In each world."""
    of: tuple[str, ...]
    """The names of the numbers that it is computed of."""


class Batch(Struct, frozen=True, eq=False):
    """All W worlds in which a launch is executed, at once. In the first of them numbers are as is usual; it is the one
    that figures are reported for."""

    block: Extents
    grid: tuple[Extents, ...]
    """Of each world."""
    shared: tuple[int, ...]
    """Bytes of dynamic shared memory in each world."""
    arguments: Mapping[ir.Symbol, Any]
    """What the kernel is given, as `Machine.run` takes it: values in all worlds, or one for each."""
    worlds: tuple[Mapping[str, Choice], ...]
    """What stands in each of them for every number that nothing gives, by the name that the kernel has for it, or the
    host code."""
    why: tuple[str, ...]
    """For each of them, what it was chosen to show."""
    places: tuple[tuple[Extents, ...], ...]
    """The blocks that are executed in each world, as many in each."""
    weights: tuple[tuple[float, ...], ...]
    """How many blocks of the grid each of them stands for; 0 for what fills up a world of few blocks."""
    sizes: Mapping[Allocation, Size] = {}
    """Of the memory that pointers among the arguments lead to, where somebody says it."""
    made: tuple[float, ...] = ()
    """How often the launch of each world was made, where they are launches that were recorded and not what a launch may
    be: for each time that there is as much work as in the first."""
    is_contradicted: bool = False
    """Whether no world was found in which all conditions of the launch hold: that anything goes wrong there is not
    certain, and maybe it is never made."""
    overflowing: tuple[ir.Binary, ...] = ()
    """Products of the kernel that are too large for their types, with any numbers that were found: an index that they
    go into leads somewhere that it would not lead to with those of the program."""
    lengths: frozenset[str] = frozenset()
    """Numbers of elements, up to which threads or turns go: where one is 1 nothing lies behind anything else."""
    grid_of: tuple[frozenset[str], frozenset[str], frozenset[str]] = (frozenset(),) * 3
    """The open numbers of which the blocks along each axis are computed, by name."""
    flags: Mapping[str, tuple[int, ...]] = {}
    """What numbers that choose between ways are compared with, by their names."""
    computed: Mapping[str, Computed] = {}
    """What the kernel takes that is computed of numbers that nothing gives, by the names that it has there."""
    defaults: Mapping[Parameter, tuple[str, ...]] = {}
    """Of what the kernel takes, the numbers that it is computed of which the program has unless an option says
    otherwise, and those that nothing gives but of which there is no other world, as texts."""

    @property
    def numbers(self) -> tuple[dict[str, int | float | bool], ...]:
        """Of each world, by name."""
        return tuple({name: choice.value for name, choice in world.items()} for world in self.worlds)

    def lanes(self) -> Lanes:
        """What is executed."""
        from cudalint.execute.lanes import Lanes

        grid = [list(extents) for extents in zip(*self.grid, strict=True)]
        return Lanes(self.block, grid, self.places, self.weights)

    def __len__(self) -> int:
        return len(self.worlds)

    def in_blocks(self, places: tuple[Extents, ...]) -> Batch:
        """Its first world alone, in other blocks, of which each stands for itself."""
        return replace(
            self, grid=self.grid[:1], shared=self.shared[:1], worlds=self.worlds[:1], why=self.why[:1], sizes={},
            places=(places,), weights=((1.0,) * len(places),), made=(),
            arguments={symbol: in_first_world(value) for symbol, value in self.arguments.items()},
        )  # fmt: skip


def in_first_world(value: Any) -> Any:
    """An argument as the executor takes it, with what it is in the first world."""
    if isinstance(value, dict):
        return {name: in_first_world(own) for name, own in value.items()}
    if isinstance(value, Pointer):
        return Pointer(value.allocation, in_first_world(value.offset), value.pointee)
    return value[0] if isinstance(value, (list, tuple)) else value


class Size(NamedTuple):
    """Of an allocation."""

    bytes: tuple[int | None, ...]
    """In each world."""
    text: str = ""
    """What makes it, as the source spells it; empty for a plain number."""


def arguments(worlds: Sequence[Mapping[Parameter, int | float | bool]]) -> dict[ir.Symbol, Any]:
    """The arguments of a kernel as the executor takes them: for each a value by world, or a dictionary of a record's
    fields by their names."""
    found: dict[ir.Symbol, Any] = {}
    for parameter in dict.fromkeys(parameter for world in worlds for parameter in world):
        values = [world[parameter] for world in worlds]
        if not parameter.path:
            found[parameter.symbol] = values
            continue
        fields = found.setdefault(parameter.symbol, {})
        for name in parameter.path[:-1]:
            fields = fields.setdefault(name, {})
        fields[parameter.path[-1]] = values
    return found
