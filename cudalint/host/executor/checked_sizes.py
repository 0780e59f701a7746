"""Sizes that host code has looked at when it gets to a launch: `if (columns != 64) return;`, the cases of a `switch`
over the width of a model, or over the logarithm of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from msgspec.structs import replace

from cudalint.heuristics import heuristic
from cudalint.host.executor.launching import HostLaunch
from cudalint.host.executor.values import PLACES, Place, Pointer, Value, map_leaves
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.assumptions import is_large
from cudalint.host.values.evaluation import Evaluated, holds
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Uniform, below, without_cast
from cudalint.host.values.polynomial import is_address

_CHECKED_SIZES = heuristic("checked-sizes", "cases and checks of host code in front of launches")

_POWERS = tuple(1 << bits for bits in (10, 9, 8, 7, 6, 5, 11, 12, 13, 14, 15, 16, 4, 3, 2, 1, 0, 18, 20, 24, 28))
_CANDIDATES = (*_POWERS, *(power - 1 for power in _POWERS))
"""Tried where a generic size is none that the launch is for: what is most usual first."""
_MOST_BY = 32
_MOST_SYMBOLS = 3
_MOST_NUMBERS = 6
_LARGEST = 1 << 28
"""Of a size."""


class CheckedSizes:
    """Gives the launches of one kernel sizes that they are made for."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._others: dict[tuple[Node, int], Node] = {}
        """Stand-ins for sizes, with other generic values."""

    def of(self, launch: HostLaunch) -> HostLaunch:
        """The launch with the numbers that its conditions leave for unknown sizes, and with others for which they hold
        where a loop counts something of a size that generic ones don't have."""
        if not _CHECKED_SIZES.is_on:
            return launch
        launch = self._decided(launch)
        known = self._equalities(launch)
        # What is made of sizes is not forgotten with the number that it has to be: `switch (next_power(columns))`.
        sizes = {node: number for node, number in known.items() if isinstance(node.payload, Uniform)}
        guards = tuple(self._graph.substitute(guard, sizes) for guard in launch.guards) if sizes else launch.guards
        fitting = self._fitting(guards)
        if not known and not fitting:
            return launch
        return replace(self._substituted(launch, known | fitting), guards=self._left(launch, known | fitting))

    def _left(self, launch: HostLaunch, known: Mapping[Node, Node]) -> tuple[Node, ...]:
        """The conditions of a launch with what is known by them. What a choice or an extent that sizes make has to be
        says which sizes these are (`if (lanes_for(columns) == 8)`), as long as there are numbers for them with which it
        is so."""
        sizes = {node: number for node, number in known.items() if isinstance(node.payload, Uniform)}
        left = (self._graph.substitute(guard, sizes) for guard in launch.guards)
        return tuple(
            own if own.is_const or holds(self._graph, own, {}) else self._graph.substitute(guard, known)
            for guard, own in zip(launch.guards, left, strict=True)
        )

    def _decided(self, launch: HostLaunch) -> HostLaunch:
        """The launch with what its conditions choose: `type == Double ? 8192 : 4096` bytes in a case of `float`."""
        chosen: dict[Node, Node] = {}
        for guard in launch.guards:
            is_denied = guard.op == "!"
            condition = guard.args[0] if is_denied else guard
            for side, is_true in ((condition, not is_denied), (self._graph.negate(condition), is_denied)):
                if side in self._graph.choosing:
                    chosen[side] = self._graph.true if is_true else self._graph.false
        if not chosen:
            return launch
        own = {*chosen, *(self._graph.negate(condition) for condition in chosen)}
        guards = (g if g in own else self._graph.substitute(g, chosen) for g in launch.guards)
        return replace(self._substituted(launch, chosen), guards=tuple(guards))

    def _equalities(self, launch: HostLaunch) -> dict[Node, Node]:
        """The unknown sizes, and choices among numbers that are made by them, that have to be some number."""
        found: dict[Node, Node] = {}
        for guard in launch.guards:
            for size, number in equal(guard):
                bare = without_cast(size)
                if number.is_const and bare.op == "/" and bare.kind.code in "iu":
                    # `if (channels / heads == 64)`: the channels are as many times 64 as there are heads.
                    number = self._graph.binary("*", bare.args[1], number, bare.kind)
                    bare = bare.args[0]
                elif not (number.is_const or self._is_given_by(bare, number, launch)):
                    continue
                is_size = isinstance(bare.payload, Uniform) or (bare.op == "select" and bare.bits)
                # `switch (threads) { case 512: k<512><<<blocks, threads>>>(n); }`, however `threads` is made of `n`.
                is_extent = any(bare is without_cast(extent) for extent in launch.block)
                if (is_size or is_extent) and bare.kind.code in "iu" and not number.bits & bare.bits:
                    found.setdefault(bare, self._graph.convert(number, bare.kind))
        return found

    def _is_given_by(self, size: Node, others: Node, launch: HostLaunch) -> bool:
        """`assert(pixels.size() == 3 * width * height)`: a size that makes no grid is what others make it."""
        if not isinstance(size.payload, Uniform) or self._graph.choice(size).is_default:
            return False
        if without_cast(others).op not in ("*", "+") or others.bits & ~self._graph.uniform_bits:
            return False
        return not any(size.bits & extent.bits for extent in (*launch.grid, *launch.block))

    def _fitting(self, guards: Sequence[Node]) -> dict[Node, Node]:
        """Other values for sizes that break a condition: a bound below which a launch is another one, how often a loop
        goes round, as no generic size has the logarithm of a case, or a remainder, where a launch is for the sizes that
        another one leaves. That the program is run with such a size, nobody says."""
        values: dict[Node, int | float] = {}
        for guard in guards:
            if guard.is_const or is_large(guard) or holds(self._graph, guard, values):
                continue
            is_remainder = _has(guard, ("%", "&", "gcd")) and not _has(guard, ("trips",))
            symbols = [u for u in self._graph.atoms(guard.bits, self._graph.uniform_bits) if not is_address(u)]
            for symbol in symbols if len(symbols) <= _MOST_SYMBOLS else ():
                candidates = self._for_which(guard, symbol, is_remainder, values)
                others = (other for other in guards if other is not guard and other.bits & symbol.bits)
                concerned = [other for other in others if not is_large(other)] if candidates else []
                value = self._candidate(symbol, candidates, concerned, values)
                if value is not None:
                    values[symbol] = value
                    break
        return {symbol: self._other(symbol, int(value)) for symbol, value in values.items()}

    def _for_which(
        self, guard: Node, symbol: Node, is_remainder: bool, values: Mapping[Node, int | float]
    ) -> tuple[int, ...]:
        """The values of a size for which a condition holds, of those that are tried. Launches of one function have most
        conditions in common, and many of them hold for none: that a tensor has elements of some type."""
        if symbol.kind.is_float:
            return ()
        graph = self._graph
        atoms = graph.atoms(guard.bits, graph.uniform_bits)
        key = guard, symbol, tuple([(atom, values.get(atom, graph.choice(atom).value)) for atom in atoms])
        found = graph.fitting.get(key)
        if found is None:
            candidates: Iterable[int] = (*_CANDIDATES, *_named_by(guard))
            candidates = _next_to(graph.generic(symbol)) if is_remainder else candidates
            candidates = (1, 0) if symbol.kind == BOOL else candidates
            tried = tuple(candidates)
            held = Evaluated(graph, {**values, symbol: np.array(tried)}).array(guard) if tried else ()
            found = tuple([value for value, is_held in zip(tried, held, strict=True) if is_held])
            graph.fitting[key] = found
        return found

    def _candidate(
        self, symbol: Node, candidates: Iterable[int], guards: Sequence[Node], values: Mapping[Node, int | float]
    ) -> int | None:
        for candidate in candidates:
            if all(holds(self._graph, guard, {**values, symbol: candidate}) for guard in guards):
                return candidate
        return None

    def _other(self, symbol: Node, value: int) -> Node:
        found = self._others.get((symbol, value))
        if found is None:
            assert isinstance(symbol.payload, Uniform)
            choice = self._graph.choice(symbol)
            found = self._graph.instead(symbol, replace(choice, value=value, basis="check", place=""))
            self._others[symbol, value] = found
        return found

    def _substituted(self, launch: HostLaunch, known: Mapping[Node, Node]) -> HostLaunch:
        graph = self._graph
        grid_x, grid_y, grid_z = (graph.substitute(extent, known) for extent in launch.grid)
        block_x, block_y, block_z = (graph.substitute(extent, known) for extent in launch.block)
        return replace(
            launch,
            grid=(grid_x, grid_y, grid_z),
            block=(block_x, block_y, block_z),
            shared=graph.substitute(launch.shared, known),
            arguments=tuple(_argument(value, graph, known) for value in launch.arguments),
        )


def _has(condition: Node, operations: Sequence[str]) -> bool:
    """Whether any of some operations is in a condition."""
    pending = [condition]
    while pending:
        node = pending.pop()
        if node.op in operations:
            return True
        pending += node.args
    return False


def _named_by(condition: Node) -> Iterator[int]:
    """The numbers in a condition, and their products, as in `(columns + 255) / 256 == 3`: larger ones first."""
    parts = (part for node in below([condition], condition.bits) for part in node.args)
    numbers = {int(part.value) for part in parts if part.is_const and not part.kind.is_float}
    small = sorted((number for number in numbers if 0 < number < _LARGEST), reverse=True)[:_MOST_NUMBERS]
    found = {*small, *(a * b for a in small for b in small if a < b)}
    yield from sorted((number for number in found if number < _LARGEST), reverse=True)


def _next_to(size: int) -> Iterator[int]:
    """Sizes with other remainders than a generic one has, which is a multiple of 32."""
    return (size + by for by in range(1, _MOST_BY))


def equal(condition: Node) -> tuple[tuple[Node, ...], ...]:
    """What a condition says to be equal, either way round."""
    if condition.op == "!" and condition.args[0].op == "!=":
        condition = condition.args[0]
    elif condition.op != "==":
        return ()
    return condition.args, condition.args[::-1]


def _argument(value: Value | Place, graph: Graph, known: Mapping[Node, Node]) -> Value | Place:
    if isinstance(value, PLACES):
        return value
    return map_leaves(value, partial(_leaf, graph, known))


def _leaf(graph: Graph, known: Mapping[Node, Node], leaf: Value, path: str) -> Value:
    if isinstance(leaf, Pointer):
        return replace(leaf, offset=graph.substitute(leaf.offset, known))
    return graph.substitute(leaf, known) if isinstance(leaf, Node) else leaf
