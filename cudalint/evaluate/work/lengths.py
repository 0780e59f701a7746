"""How long loops are of which nothing in sight says that.

A loop over a size that nothing gives is as long as that size is taken to be, if the size makes the grid as well: a
kernel with a thread for each of `n` bodies goes through all `n` of them. Sizes that loops alone have are taken for a
few hundred, and for fewer within other such loops: a thread takes some thousands of turns in all, and of loops in one
another the inner ones are short. One that goes on by the grid's size has one turn if that is unknown, too: somebody
launches as many blocks as there is work for. Where only data ends a loop, it has the turns that drawn data give it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.views import LaunchView
from cudalint.interpreter.device.events import AccessEvent, Loop
from cudalint.ir import nodes as ir
from cudalint.values.graph import conjuncts
from cudalint.values.nodes import BLOCK_BITS, Node, bits_of
from cudalint.values.polynomial import terms_of

_NOMINAL = 256
_SHORTER = 16
"""Times that a loop is shorter than the one around it."""
_FEWEST = 4
_MOST_TURNS = 1 << 36
"""Of all threads, through a loop over a size that makes their grid: a million of them through 65,536 of something."""

Key = tuple[int | str, ...]
"""Loops with the same one are of one length: the sizes that end them or, where data alone do, their place."""


class Length(Struct, eq=False):
    """What loops of one length are taken for."""

    span: ir.Span
    """Of the first of them."""
    turns: float

    @property
    def assumption(self) -> str:
        turns = round(self.turns)
        return f"a loop at line {self.span.line} has {turns} iteration{'s' if turns != 1 else ''}"


class Lengths:
    """Of the loops of one execution."""

    def __init__(self, view: LaunchView, nests: Iterable[Sequence[Loop]] = ()) -> None:
        self._view = view
        self._grid = frozenset(size.index for size in self._sizes(bits_of(view.grid)))
        self._keys: dict[int, Key | None] = {}
        self._depths: dict[Key, int] = {}
        self._shares: dict[int, float] = {}
        self.found: dict[Key, Length] = {}
        """Of all loops that were asked about and that are not as long as the program says."""
        for nest in nests:
            keys = [key for key in map(self.key, nest) if key is not None]
            self._depths |= {key: max(depth, self._depths.get(key, 0)) for depth, key in enumerate(keys)}

    def key(self, loop: Loop) -> Key | None:
        """None for a loop whose length the program gives, or the block that it is launched with."""
        index = loop.counter.index
        if index not in self._keys:
            self._keys[index] = self._key(loop)
        return self._keys[index]

    def _key(self, loop: Loop) -> Key | None:
        graph = self._view.graph
        sizes = self._sizes(loop.condition.bits)
        if sizes:
            return tuple(size.index for size in sizes)
        return (loop.span.path, loop.span.line, loop.span.column) if loop.condition.bits & graph.opaque_bits else None

    def _sizes(self, bits: int) -> Sequence[Node]:
        graph = self._view.graph
        return [size for size in graph.atoms(bits, graph.uniform_bits) if not graph.choice(size).is_default]

    def share(self, around: Sequence[Loop], loop: Loop) -> float:
        """Which part of its evaluated iterations a loop is taken to have, within others."""
        key = self.key(loop)
        if key is None:
            return 1.0
        found = self._shares.get(loop.counter.index)
        if found is None:
            situation = self._view.quick()
            trips = float(situation.trips(situation.rows(around), loop).max())
            turns = min(trips, 1.0 if self._is_dealt_out(loop, key) else self._most(key))
            found = self._shares[loop.counter.index] = turns / trips if trips else 1.0
            if key not in self.found:
                self.found[key] = Length(loop.span, turns)
        return found

    def _is_dealt_out(self, loop: Loop, key: Key) -> bool:
        """Whether the blocks share a loop out among them, so that it is as long as the grid is small, and nothing says
        what the one has to do with the other."""
        if self._grid.isdisjoint(key) or self._grid.issuperset(key):
            return False
        graph = self._view.graph
        grid = bits_of(size for size in self._sizes(loop.condition.bits) if size.index in self._grid)
        sides = [
            side
            for test in (*conjuncts(graph, loop.condition), loop.condition)
            if test.op in ("<", "<=") and not test.bits & graph.opaque_bits
            for side in test.args
            if side.bits & BLOCK_BITS and side.bits & loop.counter.bits
        ]
        return any(
            bits_of(factors) & grid and number.bits & loop.counter.bits
            for side in sides
            for factors, number in terms_of(graph, side).items()
        )

    def _most(self, key: Key) -> float:
        """How many turns a loop is taken for at most."""
        if isinstance(key[0], str):
            return math.inf
        if self._grid.issuperset(key):
            threads = math.prod(self._view.quick().grid) * math.prod(self._view.block)
            return max(float(_NOMINAL), _MOST_TURNS / threads)
        shorter: int = _SHORTER ** self._depths.get(key, 0)
        return max(float(_FEWEST), _NOMINAL / shorter)

    def of(self, loops: Iterable[Loop]) -> frozenset[Key]:
        """Of all loops in a nest that have an assumed length."""
        return frozenset(key for key in map(self.key, loops) if key is not None)


def lengths_of(execution: Execution, accesses: Iterable[AccessEvent] = ()) -> Lengths:
    nests: Mapping[tuple[int, ...], Sequence[Loop]] = {
        tuple(loop.counter.index for loop in loops): loops
        for loops in (
            *(each.context.loops for each in accesses),
            *(each.loops for each in execution.computations),
            *(each.loops for each in execution.steps),
        )
    }
    return Lengths(execution.view, nests.values())
