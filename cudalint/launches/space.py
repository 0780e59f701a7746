"""All worlds that a launch may have: the numbers to try for what nothing gives, and what has to hold of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.program import Program
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.targets import Target
from cudalint.host.executor.values import Allocation
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, below, bits_of, without_cast
from cudalint.host.values.polynomial import linear
from cudalint.ir import nodes as ir
from cudalint.launches.conditions import (
    Bounds,
    Condition,
    few_threads,
    holding,
    kernel_products_that_fit,
    of_device,
    products_that_fit,
    stated,
)
from cudalint.launches.configuration import Configuration
from cudalint.launches.flags import Flag, flags_of, needs_of_flags
from cudalint.launches.open_numbers import OpenNumbers, is_computed, pointers_in
from cudalint.launches.tiles import BLOCKS, Tiled, needs_of_rows, needs_of_tiles, states_of, tiles_of, tried_for_tiles
from cudalint.launches.usual import Usual
from cudalint.worlds.choosing import Number, Space, type_of
from cudalint.worlds.guards import Guards
from cudalint.worlds.needs import SHIFTED, SMALL, is_shift, needs_of, values_of
from cudalint.worlds.reach import Way, limits_of
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import KernelText, text_of
from cudalint.worlds.uses import Use

_MOST_TRIED = 24
"""Numbers of one variable."""
_PARTS = (1, 2, 4, 8, 16)
"""Added to a usual number: it is a multiple of less then."""


class LaunchSpace(Struct, frozen=True, eq=False):
    """The worlds of a launch, and what they are made of."""

    open: OpenNumbers
    text: KernelText
    space: Space
    bounds: Bounds
    flags: tuple[Flag, ...] = ()
    """Numbers by which the host code chooses between ways."""
    overflowing: tuple[ir.Binary, ...] = ()
    """Products of the kernel that no numbers were found for with which they fit into their types."""

    def admits(self, numbers: Mapping[Node, Any], conditions: Way) -> Any:
        """[C]: in which worlds conditions may each come out as wanted for some thread."""
        return self.bounds.admits(conditions, self.open.evaluated(numbers))

    def knows(self, conditions: Way) -> bool:
        """Whether something is known of each of some conditions."""
        first = {variable: np.array(values[:1]) for variable, values in self.space.tried.items()}
        return self.bounds.knows(conditions, self.open.evaluated(first))


def space_of_launch(
    configuration: Configuration, function: ir.Function, graph: Graph, statements: Sequence[Node], target: Target,
    program: Program,
) -> LaunchSpace:  # fmt: skip
    """The space, with what has to hold: the guards of the launch, what users state, what the device takes, and that
    products fit into their types."""
    open_ = OpenNumbers(configuration, graph, statements)
    text = text_of(function)
    uses = text.uses
    found = tuple(use for use in text.found if use.parameter in open_.parameters)
    conditions = [
        *stated(configuration, open_, statements), *of_device(configuration, open_, target),
        *products_that_fit(configuration, open_), *kernel_products_that_fit(configuration, open_, text),
    ]  # fmt: skip
    flags = flags_of(configuration, open_)
    usual = Usual.of(open_, found, configuration, flags).numbers([*conditions, *few_threads(configuration, open_)])
    required = holding(conditions, open_, usual)
    overflowing = tuple(each.product for each in conditions if each.product is not None and each not in required)
    related = _related(open_, found, configuration, required)
    moving = _only_moving(configuration, open_, conditions, related)
    usual = {symbol: 0 if symbol.bits & moving else number for symbol, number in usual.items()}
    required = [each for each in required if each.bits & related]
    threads = prod(configuration.block) * prod(int(n.value) for n in configuration.grid if n.is_const)
    tiles = tiles_of(configuration, open_)
    flags = [flag for flag in flags if flag.symbol.bits & related]
    axes = zip(configuration.block, configuration.grid, strict=True)
    extents = dict.fromkeys(extent * int(blocks.value) for extent, blocks in axes if blocks.is_const)
    several = [extent for extent in extents if extent > WARP_LANES]
    tried = _Tried(open_, found, threads, several, usual, required, related, tiles, flags).all()
    limits = Guards(limits_of(uses), function, program)

    last: list[tuple[Mapping[Node, Any], Evaluated]] = []

    def evaluated_of(numbers: Mapping[Node, Any]) -> Evaluated:
        """The same for all that is asked of the same worlds."""
        if not last or last[0][0] is not numbers:
            last[:] = [(numbers, open_.evaluated(numbers))]
        return last[0][1]

    def parameters(numbers: Mapping[Node, Any]) -> dict[Parameter, Any]:
        evaluated = evaluated_of(numbers)
        return {parameter: evaluated.array(node) for parameter, node in open_.parameters.items()}

    def with_grid(numbers: Mapping[Node, Any]) -> dict[Any, Any]:
        evaluated = evaluated_of(numbers)
        chosen = {flag.symbol: evaluated.array(flag.symbol) for flag in flags}
        blocks = np.prod([np.asarray(evaluated.array(extent), float) for extent in configuration.grid], axis=0)
        return {**parameters(numbers), **states_of(tiles, evaluated), **chosen, BLOCKS: blocks}

    def conditions_of(numbers: Mapping[Node, Any]) -> Any:
        evaluated = evaluated_of(numbers)
        held = np.empty((evaluated.count, len(required)), bool)
        for number, each in enumerate(required):
            held[:, number] = each.holds(evaluated)
        return held

    needs = needs_of(found, list(open_.parameters), threads, several)
    rows = needs_of_rows(needs, found) if bits_of(configuration.grid) & open_.open_bits else ()
    space = Space(
        tried, [*needs, *rows, *needs_of_tiles(tiles), *needs_of_flags(flags)], with_grid, conditions_of,
        lambda numbers: limits(parameters(numbers)),
    )  # fmt: skip
    return LaunchSpace(open_, text, space, Bounds(configuration, open_, text), tuple(flags), overflowing)


def _related(
    open_: OpenNumbers, uses: Sequence[Use], configuration: Configuration, conditions: Sequence[Condition]
) -> int:
    """The open numbers that the kernel or its grid is up to, and those that conditions bind to them."""
    used = {use.parameter for use in uses}
    found = bits_of(node for parameter, node in open_.parameters.items() if parameter in used)
    found |= bits_of((*configuration.grid, configuration.shared))
    found &= open_.open_bits
    before = 0
    while found != before:
        before = found
        for condition in conditions:
            if condition.bits & found:
                found |= condition.bits & open_.open_bits
    return found


def _only_moving(
    configuration: Configuration, open_: OpenNumbers, conditions: Sequence[Condition], related: int
) -> int:
    """Open numbers that say where arrays begin within their memory, and nothing else (`out + rank * part`): nobody says
    how far that is, and the first part is one that there is."""
    pointers = list(chain.from_iterable(map(pointers_in, configuration.arguments.values())))
    sizes = (each.target.size for each in pointers if isinstance(each.target, Allocation))
    bound = related | bits_of((*open_.parameters.values(), *(size for size in sizes if size is not None)))
    for condition in conditions:
        bound |= condition.bits
    return bits_of(each.offset for each in pointers) & open_.open_bits & ~bound


class _Tried:
    """The numbers to try for each open number."""

    def __init__(
        self, open_: OpenNumbers, uses: Sequence[Use], threads: int, extents: Sequence[int],
        usual: Mapping[Node, Number], conditions: Sequence[Condition], related: int, tiles: Sequence[Tiled],
        flags: Sequence[Flag],
    ) -> None:  # fmt: skip
        self._flags = {flag.symbol: flag for flag in flags}
        self._related = related
        self._open, self._uses, self._threads, self._usual = open_, uses, threads, usual
        self._extents = extents
        """Threads along the axes of the grid, as far as they are known, and several warps."""
        self._tiles, self._evaluated = tiles, open_.evaluated(usual)
        self._stated = [each.node for each in conditions if each.node is not None]
        self._into: dict[Node, list[Parameter]] = {}
        self._by: dict[Parameter, list[Use]] = {}
        for use in uses:
            self._by.setdefault(use.parameter, []).append(use)
        used = self._by.keys()
        for parameter in open_.parameters:
            for symbol in open_.behind(parameter) if parameter in used else ():
                self._into.setdefault(symbol, []).append(parameter)

    def all(self) -> dict[Node, list[Number]]:
        return {symbol: self._of(symbol) for symbol in self._open.all}

    def _of(self, symbol: Node) -> list[Number]:
        usual = self._usual[symbol]
        if self._open.is_given(symbol) or not symbol.bits & self._related:
            return [usual]
        flag = self._flags.get(symbol)
        if flag is not None and not flag.is_size:
            return list(dict.fromkeys((usual, *flag.tried())))
        tiled = tried_for_tiles(self._tiles, symbol, self._evaluated)
        # What is stated may leave nothing above the usual number.
        is_stated = bool(self._into.get(symbol)) and any(each.bits & symbol.bits for each in self._stated)
        less = [int(usual) - part for part in _PARTS if part < int(usual)] if is_stated else []
        chosen = flag.tried() if flag is not None else ()
        found = [usual, *less, *chosen, *self._for_uses(symbol), *self._for_conditions(symbol), *tiled]
        if self._into.get(symbol):
            found += [int(usual) + part for part in _PARTS]
        if symbol.kind.code == "b":
            found = [usual, *(value for value in (False, True) if self._into.get(symbol))]
        bits = 8 * symbol.kind.bytes
        low, high = (0, 1 << bits) if symbol.kind.code == "u" else (-(1 << (bits - 1)), 1 << (bits - 1))
        fitting = [value for value in dict.fromkeys(found) if max(low, -1 << 62) <= value < min(high, 1 << 62)]
        plain = [p for p in self._into.get(symbol, ()) if without_cast(self._open.parameters[p]) is symbol]
        if any(is_shift(self._by[parameter]) for parameter in plain):
            fitting = [value for value in fitting if value < SHIFTED]
        if is_computed(symbol):
            # It may be a power of two whatever happens.
            fitting = [value for value in fitting if int(value) & (int(value) - 1) == 0 or value == usual]
        return fitting[:_MOST_TRIED] or [usual]

    def _for_uses(self, symbol: Node) -> Iterator[Number]:
        for parameter in self._into.get(symbol, ()):
            values = values_of(parameter, type_of(parameter), self._uses, self._threads)
            if any(use.parameter == parameter and use.kind == "guard" for use in self._uses):
                # Of a size that as many threads as there are fill, some come to each half.
                values += self._extents
            yield from _solved(self._open.parameters[parameter], symbol, values)

    def _for_conditions(self, symbol: Node) -> Iterator[Number]:
        """What conditions compare a number with, and what is next to that; and for which they hold as equations."""
        for condition in self._stated:
            if not condition.bits & symbol.bits:
                continue
            for number in below([condition], condition.bits):
                for part in number.args:
                    if part.is_const and not part.kind.is_float and abs(int(part.value)) < 1 << 40:
                        yield from (int(part.value) + step for step in (0, 1, -1))


def _solved(node: Node, symbol: Node, values: Iterable[int]) -> Iterator[Number]:
    """Numbers for which an argument is one of some values, or close to it; if it is computed otherwise a few."""
    bare = without_cast(node)
    scale = 1
    while bare.op == "/" and bare.args[1].is_const and not bare.kind.is_float and int(bare.args[1].value) > 0:
        scale *= int(bare.args[1].value)
        bare = without_cast(bare.args[0])
    factors, constant = linear(bare)
    own = [(without_cast(part), factor) for part, factor in factors]
    if [part for part, _ in own] == [symbol]:
        factor = own[0][1]
        for value in values:
            exact, rest = divmod(value * scale - constant, factor)
            yield exact if not rest else exact + 1
        return
    yield from (SMALL, 1, 2)
