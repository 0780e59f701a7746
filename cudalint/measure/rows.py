"""Whether a size that has to be a multiple is the caller's choice: what only says how far apart rows lie, and what
counts whole vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.ir.walk import without_casts
from cudalint.measure.bounds import coverings
from cudalint.measure.numbers import parameters_of
from cudalint.worlds.origins import numbers_of
from cudalint.worlds.records import Batch
from cudalint.worlds.text import text_of
from cudalint.worlds.uses import Uses

_COMPARING = ("<", "<=", ">", ">=", "==", "!=")
_DISTANCES = frozenset({"stride", "size", "vector"})


class Rows(Struct, frozen=True):
    """What a kernel and its launch do with the sizes that it takes, by their names."""

    uses: dict[str, frozenset[str]]
    """How each of them is used (`worlds.uses`)."""
    divided: dict[str, frozenset[int]]
    """By which numbers it is, by itself or as a factor; by 1 where something is added to it before."""
    compared: frozenset[str]
    """Those with which something that differs is compared as they are."""
    counted: frozenset[str]
    """Those that the grid is computed from."""
    in_bytes: frozenset[str]
    """Those that move a pointer to bytes, which is then looked at as one to something larger."""
    open_axes: int
    """Along how many axes the number of blocks is open."""
    called: dict[str, str]
    """What a number that nothing gives is called in the kernel."""

    @classmethod
    def of(cls, kernel: ir.Function, batch: Batch, open_axes: int) -> Rows:
        text = text_of(kernel)
        own = text.uses
        uses: dict[str, set[str]] = {parameter.name: set() for parameter in numbers_of(kernel)}
        divided: dict[str, set[int]] = {}
        for use in text.found:
            uses.setdefault(use.parameter.name, set()).add(use.kind)
        for name, by in _divided(own):
            divided.setdefault(name, set()).add(by)
        parameters = parameters_of(batch)
        numbers = {name: [world.get(name) for world in batch.numbers] for name in batch.numbers[0]}
        called = {
            name: next((each for each, its in parameters.items() if its == values), name)
            for name, values in numbers.items()
        }
        return cls(
            {name: frozenset(kinds) for name, kinds in uses.items()},
            {name: frozenset(by) for name, by in divided.items()},
            frozenset(_compared(own)),
            frozenset(name for covering in coverings(batch) for name in covering.names)
            | frozenset(
                name for name, values in numbers.items() for axis in range(3)
                if [grid[axis] for grid in batch.grid] == values
            ),
            frozenset(name for name, kinds in uses.items() if "size" in kinds),
            open_axes,
            called,
        )  # fmt: skip

    def are_the_callers(self, names: Iterable[str], divisor: int, unit: int, space: str) -> bool:
        """Whether whoever makes sizes that have to be multiples of a divisor makes them so, as far as one can see."""
        return any(self._is_the_callers(name, divisor, unit, space) for name in names)

    def _is_the_callers(self, name: str, divisor: int, unit: int, space: str) -> bool:
        own = self.called.get(name, name)
        kinds = self.uses.get(own)
        if kinds is None or space != "global":
            return False
        by = self.divided.get(own, frozenset())
        if by and own not in self.compared and all(each % divisor == 0 for each in by):
            return True
        is_distance = kinds <= _DISTANCES and not {name, own} & self.counted
        is_bounded = unit == 1 or self.open_axes > 1 or any(
            {"loop", "guard"} & its for other, its in self.uses.items() if other != own
        )
        return is_distance and (is_bounded or own in self.in_bytes)


def _divided(uses: Uses) -> Iterator[tuple[str, int]]:
    for node in uses.code.nodes:
        if isinstance(node, ir.Binary) and node.op in ("/", ">>"):
            by = uses.origins.of(node.right).constant
            plain = [uses.origins.of(factor).plain for factor in _factors(node.left)]
            for parameter in uses.origins.of(node.left).sources:
                is_factor = parameter in plain and by is not None and by >= 0
                yield parameter.name, (by if node.op == "/" else 1 << min(by, 31)) if is_factor and by else 1


def _factors(expression: ir.Expr) -> list[ir.Expr]:
    """Of a product, or the expression itself."""
    expression = without_casts(expression)
    if isinstance(expression, ir.Binary) and expression.op == "*":
        return [*_factors(expression.left), *_factors(expression.right)]
    return [expression]


def _compared(uses: Uses) -> set[str]:
    found = set()
    for node in uses.code.nodes:
        if isinstance(node, ir.Binary) and node.op in _COMPARING:
            for side in _sides(node):
                plain = uses.origins.of(side).plain
                if plain is not None:
                    found.add(plain.name)
    return found


def _sides(node: ir.Binary) -> tuple[Any, Any]:
    return node.left, node.right
