"""Grids that are rounded up: worlds in which their sizes fill all tiles, and others in which they don't."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.nodes import Node, below, without_cast
from cudalint.host.values.polynomial import linear
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.worlds.choosing import Number
from cudalint.worlds.needs import Need
from cudalint.worlds.uses import Use

BLOCKS = "blocks"
"""Of a grid, among the numbers that needs are about."""
_FEW = 8
"""Blocks, of which all are executed."""
_TILES = (3, 6)
"""Of sizes to try."""


class Tiled(NamedTuple):
    """A quotient of open numbers that an axis of a grid is made of: `(n + 255) / 256`."""

    axis: int
    blocks: Node
    dividend: Node
    divisor: Node


class State(NamedTuple):
    """Of a quotient in C worlds, each [C]."""

    is_whole: Any
    """One more would be another block's."""
    blocks: Any


States = Mapping[int, State]


def tiles_of(configuration: Configuration, open_: OpenNumbers) -> list[Tiled]:
    """The quotients that the axes of a grid are made of."""
    found = []
    for axis, blocks in enumerate(configuration.grid):
        own = [n for n in below([blocks], open_.open_bits) if n.op == "/" and not n.kind.is_float]
        if own and not own[0].args[1].bits & open_.open_bits:
            found.append(Tiled(axis, blocks, own[0].args[0], own[0].args[1]))
    return found


def states_of(tiles: Sequence[Tiled], evaluated: Evaluated) -> dict[Any, State]:
    """By the quotients' places among the others."""
    found: dict[Any, State] = {}
    for number, (_, blocks, dividend, divisor) in enumerate(tiles):
        by = evaluated.array(divisor)
        found[number] = State(evaluated.array(dividend) % by == by - 1, evaluated.array(blocks))
    return found


def needs_of_tiles(tiles: Sequence[Tiled]) -> Iterator[Need]:
    """Sizes that fill all tiles, few and many of them, and for each quotient one that leaves a rest by itself."""
    for number in range(len(tiles)):
        about: Any = (number,)

        def whole(values: Any, number: int = number) -> Any:
            return values[number].is_whole & (values[number].blocks > 1)

        def few(values: Any, number: int = number) -> Any:
            return whole(values, number) & (values[number].blocks <= _FEW)

        def left(values: Any, number: int = number) -> Any:
            state = values[number]
            alone = ~state.is_whole & (state.blocks > 1)
            for other in range(len(tiles)):
                if other != number:
                    alone = alone & whole(values, other)
            return alone

        what = f"the grid along {'xyz'[tiles[number].axis]}"
        yield Need(f"{what} covers whole tiles", about, whole)
        yield Need(f"{what} covers a few whole tiles", about, few)
        yield Need(f"{what} covers more than its size", about, left)


def needs_of_rows(needs: Iterable[Need], uses: Iterable[Use]) -> Iterator[Need]:
    """Rows that separate blocks, in more than one block: nothing lies behind the first one's otherwise."""
    by_block = {use.parameter for use in uses if use.kind == "stride" and use.other == "block"}
    for need in needs:
        if not need.is_extra and by_block.issuperset(need.about):
            yield Need(f"{need.text}, in several blocks", need.about, partial(_in_several, need))


def _in_several(need: Need, values: Any) -> Any:
    return need.holds(values) & (values[BLOCKS] > 1)


def tried_for_tiles(tiles: Sequence[Tiled], symbol: Node, evaluated: Evaluated) -> Iterator[Number]:
    """Sizes of so many tiles, and of one element more."""
    for _, _, dividend, divisor in tiles:
        if not dividend.bits & symbol.bits:
            continue
        by = int(evaluated.array(divisor)[0])
        factors, constant = linear(without_cast(dividend))
        own = [(without_cast(part), factor) for part, factor in factors]
        if [part for part, _ in own] != [symbol]:
            factor, constant = 1, by - 1
        else:
            factor = own[0][1]
        for count in _TILES:
            for more in (0, 1):
                exact, rest = divmod(count * by + by - 1 - constant + more, factor)
                yield exact + (1 if rest else 0)
