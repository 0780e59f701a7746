"""Numbers for the values of a graph, in one world or in several at once.

A world gives a number to every uniform symbol. Numbers of C worlds are an array of shape [C]; what is the same in
all of them may be one number. Integers are int64 (unsigned 64-bit ones share the bits of signed ones), floats are
float64, conditions bool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudalint.host.values.arithmetic import MAX_TRIPS, Kind, Number
from cudalint.host.values.graph import Graph, conjuncts
from cudalint.host.values.nodes import Node, Reason, bits_of
from cudalint.host.values.operations import PLAIN, Array, operate

_UNKNOWN_TRIPS = 16
"""Iterations of a loop of which nothing is known but that it is a loop."""
_FURTHEST = -(1 << 62)
"""Of the least number of 64 bits there is no opposite."""
_FIRST_TURNS = 64
"""Iterations that are looked at one by one; later ones by bisection, as a condition that failed stays false."""
_TOO_LARGE = 1 << 63
"""For a signed number of 64 bits."""


class Evaluated:
    """Values in C worlds, each computed when it is asked for first."""

    def __init__(self, graph: Graph, numbers: Mapping[Node, Any], outer: Evaluated | None = None) -> None:
        """`numbers`: of symbols, one for all worlds or an array [C]; others have their usual ones. `outer` has the
        values into which none of these go."""
        self._graph = graph
        self._numbers = dict(numbers)
        self._outer = outer
        self._own = bits_of(numbers)
        self._known: dict[int, Array] = {}
        self._bits: dict[int, int] = {}
        """What goes into values that are computed."""
        self.count: int = outer.count if outer is not None else 1
        """C."""
        for symbol, own in numbers.items():
            values = np.asarray(own)
            if outer is None and values.size > 1:
                self.count = max(self.count, values.size)
                values = values[0] if bool((values == values[0]).all()) else values
            self._known[symbol.index] = values if values.size > 1 else _of_64_bits(values.reshape(())[()], symbol.kind)

    def changed(self, numbers: Mapping[Node, Any]) -> Evaluated:
        """The same with other numbers for some symbols: what these don't go into is computed already."""
        changed = bits_of(symbol for symbol, own in numbers.items() if self._numbers[symbol] is not own)
        found = Evaluated(self._graph, numbers)
        for index, bits in self._bits.items():
            if not bits & changed:
                found._known[index], found._bits[index] = self._known[index], bits
        return found

    def array(self, node: Node) -> NDArray[Any]:
        """[C]"""
        return np.broadcast_to(self.value(node), (self.count,))

    def each(self, node: Node) -> list[Any]:
        """By world."""
        found: list[Any] = self.array(node).tolist()
        return found

    def of(self, node: Node) -> Any:
        """As the executor of kernels takes it: a number, one for each world, or None for what is not known."""
        if node.bits & self._graph.opaque_bits:
            return None
        values = self.each(node)
        return values[0] if all(value == values[0] for value in values) else values

    def first(self, node: Node) -> Number:
        """In the first world."""
        found: Number = np.asarray(self.value(node)).flat[0].item()
        return found

    def value(self, node: Node) -> Array:
        """[C] or one number."""
        known = self._known
        if node.index in known:
            return known[node.index]
        if self._outer is not None and not node.bits & self._own:
            return self._outer.value(node)
        pending = [node]
        with np.errstate(all="ignore"):
            while pending:
                last = pending[-1]
                if last.index in known:
                    pending.pop()
                    continue
                missing = [part for part in last.args if part.index not in known] if last.op in PLAIN else []
                if missing:
                    pending += missing
                    continue
                pending.pop()
                self._bits[last.index] = last.bits
                known[last.index] = self._computed(last)
        return known[node.index]

    def _computed(self, node: Node) -> Array:
        if node.op in PLAIN:
            return operate(node, [self._known[part.index] for part in node.args])
        if self._outer is not None and not node.bits & self._own:
            return self._outer.value(node)
        if node.is_const:
            return bool(node.value) if node.kind.code == "b" else _of_64_bits(node.value, node.kind)
        if node.op == "uniform":
            return _of_64_bits(self._graph.choice(node).value, node.kind)
        if node.op == "trips":
            assert isinstance(node.payload, Node)
            return self._trips(node.payload, node.args[0])
        assert node.op == "opaque", node.op
        return self._drawn(node)

    def _drawn(self, node: Node) -> Array:
        """A pseudo-random number for an opaque value, equal where all its arguments are equal."""
        assert isinstance(node.payload, Reason)
        mixed = (np.arange(self.count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = mixed ^ np.uint64((self._graph.number_of(node.index) * 0xD1B54A32D192ED03) & 0xFFFFFFFFFFFFFFFF)
        for argument in node.args:
            number = np.asarray(self.value(argument))
            dtype: Any = np.float64 if number.dtype.kind == "f" else np.int64
            mixed = _scrambled(mixed ^ np.atleast_1d(number).astype(dtype).view(np.uint64))
        word = _scrambled(mixed)
        if node.kind.is_float:
            return (word >> np.uint64(40)).astype(np.float64) / float(1 << 24)
        if node.kind.code == "b":
            return (word & np.uint64(0xFF)) != 0
        bits = min(8 * node.kind.bytes - (node.kind.code == "i"), 32)
        return (word >> np.uint64(64 - bits)).astype(np.int64)

    # how often loops go round

    def _trips(self, counter: Node, condition: Node) -> NDArray[np.int64]:
        """[C] The first value of `counter` for which `condition` fails. Parts of it that depend on opaque values say
        nothing about that and are taken to hold."""
        trips: Array = np.int64(MAX_TRIPS)
        is_open = False
        for part in conjuncts(self._graph, condition):
            if part.is_const:
                trips = trips if part.value else np.int64(0)
            elif part.bits & self._graph.opaque_bits:
                is_open = True
            else:
                trips = np.minimum(trips, self._trips_of_part(counter, part))
        # Differences of numbers at the ends of 64 bits may come out as anything; a count is what can be counted with.
        counts = np.clip(trips, 0, -_FURTHEST)
        return np.where(counts == MAX_TRIPS, _UNKNOWN_TRIPS, counts) if is_open else np.asarray(counts)

    def _trips_of_part(self, counter: Node, part: Node) -> Array:
        if not part.bits & counter.bits:
            return np.where(self.value(part), MAX_TRIPS, 0)
        compared = part
        if part.op == "!" and part.args[0].op in ("<", "<="):
            inner = part.args[0]
            compared = self._graph.binary("<=" if inner.op == "<" else "<", inner.args[1], inner.args[0], inner.kind)
        linear = self._linear_trips(counter, compared) if compared.op in ("<", "<=", "!=") else None
        return self._searched_trips(counter, part) if linear is None else linear

    def _at(self, counter: Node, iteration: Array) -> Evaluated:
        """In some iteration of a loop, or in several: of K iterations, [K, 1], values are [K, C] or [K, 1]."""
        return Evaluated(self._graph, {counter: iteration}, outer=self)

    def _linear_trips(self, counter: Node, part: Node) -> Array | None:
        """The trip count where both sides move by a constant per iteration; None where they don't."""
        at = self._at(counter, np.arange(3, dtype=np.int64)[:, None])
        left, right = (at.value(side) for side in part.args)
        distances = np.broadcast_to(_as_number(left) - _as_number(right), (3, self.count))
        start, step = distances[0], distances[1] - distances[0]
        if start.dtype.kind == "f" or not np.array_equal(distances[2] - distances[1], step):
            return None
        if part.op == "!=":
            divisor = np.where(step == 0, 1, step)
            reaches = (step != 0) & (-start % divisor == 0) & (-start // divisor >= 0)
            return np.where(start == 0, 0, np.where(reaches, -start // divisor, MAX_TRIPS))
        rising, start = np.maximum(step, 1), np.maximum(start, _FURTHEST)
        count, none = (-(start // rising), start >= 0) if part.op == "<" else (-start // rising + 1, start > 0)
        return np.where(none, 0, np.where(step > 0, count, MAX_TRIPS))

    def _searched_trips(self, counter: Node, part: Node) -> NDArray[np.int64]:
        """The trip count by looking: iteration by iteration at first, then by doubling and bisection."""

        def holds(iteration: Array) -> NDArray[np.bool_]:
            found = np.asarray(self._at(counter, iteration).value(part), dtype=bool)
            return np.broadcast_to(found, (*np.shape(iteration)[:-1], self.count))

        ran = np.logical_and.accumulate(holds(np.arange(_FIRST_TURNS, dtype=np.int64)[:, None]), axis=0)
        trips = ran.sum(axis=0)
        going, step = ran[-1], _FIRST_TURNS
        low, high = trips - 1, trips
        while step < MAX_TRIPS and going.any():
            step *= 2
            held = going & holds(np.full(1, step, dtype=np.int64))
            low, high = np.where(held, step, low), np.where(going, step, high)
            going = held
        # Between the last iteration that was seen to run and the first that was seen not to.
        high = np.where(going, low, high)
        while (is_open := high - low > 1).any():
            middle = (low + high) // 2
            held = holds(middle)
            low, high = np.where(is_open & held, middle, low), np.where(is_open & ~held, middle, high)
        counted: NDArray[np.int64] = high
        return counted


def _as_number(value: Array) -> NDArray[Any]:
    array = np.asarray(value)
    return array.astype(np.int64) if array.dtype.kind == "b" else array


def _of_64_bits(value: Any, kind: Kind) -> Any:
    """A number as numpy computes with it, which wraps where Python's would not fit."""
    if isinstance(value, (bool, np.bool_)):
        return value
    if isinstance(value, (int, np.integer)) or (kind.code == "u" and value >= _TOO_LARGE):
        return np.int64((int(value) + _TOO_LARGE) % (2 * _TOO_LARGE) - _TOO_LARGE)
    return value


def _scrambled(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = x ^ (x >> np.uint64(30))
    x = x * np.uint64(0xBF58476D1CE4E5B9)
    x = x ^ (x >> np.uint64(27))
    x = x * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = np.bitwise_xor(x, x >> np.uint64(31))
    return mixed


def number_of(graph: Graph, node: Node, numbers: Mapping[Node, Number] | None = None) -> Number:
    """The number of a value where symbols have their usual ones, or others."""
    return Evaluated(graph, numbers or {}).first(node)


def holds(graph: Graph, condition: Node, numbers: Mapping[Node, Number]) -> bool:
    """Whether a condition holds for the usual numbers, some of them replaced."""
    return bool(number_of(graph, condition, numbers))
