"""All worlds that a launch may have: the numbers to try for what nothing gives, and what has to hold of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.program import Program
from cudalint.hardware.targets import Target
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration
from cudalint.launches.open_numbers import OpenNumbers, is_computed
from cudalint.values.assumptions import is_large
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import Node, below, without_cast
from cudalint.values.polynomial import linear
from cudalint.worlds.blocks import BlockConditions
from cudalint.worlds.choosing import Number, Space, type_of
from cudalint.worlds.guards import Guards
from cudalint.worlds.needs import SMALL, needs_of, values_of
from cudalint.worlds.reach import limits_of
from cudalint.worlds.records import Parameter
from cudalint.worlds.uses import Use, Uses

_MOST_TRIED = 24
"""Numbers of one variable."""
_SIGNED = {4: float(1 << 31), 8: float(1 << 63)}
_MOST_PRODUCTS = 64
"""That are held to fit into their types."""


class LaunchSpace(Struct, frozen=True, eq=False):
    """The worlds of a launch, and what they are made of."""

    open: OpenNumbers
    uses: Uses
    found: tuple[Use, ...]
    """The uses."""
    space: Space
    blocks: BlockConditions


def space_of_launch(
    configuration: Configuration, function: ir.Function, graph: Graph, statements: Sequence[Node], target: Target,
    program: Program,
) -> LaunchSpace:  # fmt: skip
    """The space, with what has to hold: the guards of the launch, what users state, what the device takes, and that
    products fit into their types."""
    open_ = OpenNumbers(configuration, graph, statements)
    uses = Uses(function)
    found = tuple(use for use in uses.all() if use.parameter in open_.parameters)
    conditions = Conditions(configuration, open_, statements, target)
    threads = prod(configuration.block) * prod(int(n.value) for n in configuration.grid if n.is_const)
    tried = _Tried(open_, found, threads, conditions).all()
    limits = Guards(limits_of(uses), function, program)

    def parameters(numbers: Mapping[Node, Any]) -> dict[Parameter, Any]:
        evaluated = open_.evaluated(numbers)
        return {parameter: evaluated.array(node) for parameter, node in open_.parameters.items()}

    space = Space(
        tried, needs_of(found, list(open_.parameters), threads), parameters, conditions,
        lambda numbers: limits(parameters(numbers)),
    )  # fmt: skip
    return LaunchSpace(open_, uses, found, space, BlockConditions(uses))


class Conditions:
    """What has to hold in every world; called with the numbers of C worlds, whether each does: [C, conditions]."""

    def __init__(
        self, configuration: Configuration, open_: OpenNumbers, statements: Iterable[Node], target: Target
    ) -> None:
        self._open, graph = open_, open_.graph
        varied = 0
        for symbol in open_.all:
            varied |= 0 if open_.is_given(symbol) else symbol.bits
        known = ~graph.opaque_bits
        parts = dict.fromkeys(
            part for each in (*configuration.guards, *statements) for part in conjuncts(graph, each)
        )
        self.stated = [
            part for part in parts if part.bits & varied and not part.bits & ~known and not is_large(part)
        ]
        """Guards and statements that open numbers go into."""
        self.extents = [
            (node, most)
            for node, most in zip(configuration.grid, target.max_grid_dimensions, strict=True)
            if node.bits & varied and not node.bits & ~known
        ]
        self.shared = configuration.shared if configuration.shared.bits & varied else None
        self._most_shared = target.shared_per_block_opt_in
        roots = [n for n in (*configuration.grid, configuration.shared, *open_.computed) if n.bits & varied]
        self.products = [
            node
            for node in itertools.islice(below(roots, varied), 10 * _MOST_PRODUCTS)
            if node.op == "*" and node.kind.bytes in _SIGNED and not node.kind.is_float and not node.bits & ~known
            and sum(1 for part in node.args if part.bits & varied) == len(node.args)
        ][:_MOST_PRODUCTS]  # fmt: skip

    def __call__(self, numbers: Mapping[Node, Any]) -> Any:
        evaluated = self._open.evaluated(numbers)
        columns: list[Any] = []
        for node, most in self.extents:
            extent = evaluated.array(node)
            columns.append((extent >= 1) & (extent <= most))
        if self.shared is not None:
            columns.append(evaluated.array(self.shared) <= self._most_shared)
        with np.errstate(all="ignore"):
            for node in self.products:
                one, other = (evaluated.array(part).astype(np.float64) for part in node.args)
                columns.append(np.abs(one * other) < _SIGNED[node.kind.bytes])
        columns += [evaluated.array(part) != 0 for part in self.stated]
        if not columns:
            return np.ones((evaluated.count, 0), bool)
        return np.stack(columns, axis=1)


class _Tried:
    """The numbers to try for each open number."""

    def __init__(
        self, open_: OpenNumbers, uses: Sequence[Use], threads: int, conditions: Conditions
    ) -> None:
        self._open, self._uses, self._threads, self._conditions = open_, uses, threads, conditions
        self._into: dict[Node, list[Parameter]] = {}
        used = {use.parameter for use in uses}
        for parameter in open_.parameters:
            for symbol in open_.behind(parameter) if parameter in used else ():
                self._into.setdefault(symbol, []).append(parameter)

    def all(self) -> dict[Node, list[Number]]:
        return {symbol: self._of(symbol) for symbol in self._open.all}

    def _of(self, symbol: Node) -> list[Number]:
        usual = self._open.usual(symbol)
        if self._open.is_given(symbol):
            return [usual]
        found = [usual, *self._for_uses(symbol), *self._for_conditions(symbol)]
        if symbol.kind.code == "b":
            found = [usual, *(value for value in (False, True) if self._into.get(symbol))]
        bits = 8 * symbol.kind.bytes
        low, high = (0, 1 << bits) if symbol.kind.code == "u" else (-(1 << (bits - 1)), 1 << (bits - 1))
        fitting = [value for value in dict.fromkeys(found) if low <= value < min(high, 1 << 62)]
        if is_computed(symbol):
            # It may be a power of two whatever happens.
            fitting = [value for value in fitting if int(value) & (int(value) - 1) == 0 or value == usual]
        return fitting[:_MOST_TRIED] or [usual]

    def _for_uses(self, symbol: Node) -> Iterator[Number]:
        for parameter in self._into.get(symbol, ()):
            values = values_of(parameter, type_of(parameter), self._uses, self._threads)
            yield from _solved(self._open.parameters[parameter], symbol, values)

    def _for_conditions(self, symbol: Node) -> Iterator[Number]:
        """What conditions compare a number with, and what is next to that; and for which they hold as equations."""
        for condition in self._conditions.stated:
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
