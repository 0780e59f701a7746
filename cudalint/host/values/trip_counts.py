"""How many iterations of a loop each lane makes, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudalint.hardware.requests import WARP_LANES
from cudalint.host.values.arithmetic import MAX_TRIPS
from cudalint.host.values.arrays import Array, as_numbers
from cudalint.host.values.graph import conjuncts
from cudalint.host.values.nodes import THREAD_BITS, Node

if TYPE_CHECKING:
    from cudalint.host.values.numeric import Rows

_UNKNOWN_TRIPS = 16
"""Iterations of a loop of which nothing is known but that it is a loop."""
_FURTHEST = -(1 << 62)
"""Of the least number of 64 bits there is no opposite."""
_MOST_TOGETHER = 1 << 15
"""Rows times threads times iterations of a loop that are tried at once, where it takes many to see how far it goes."""


def lane_trips(rows: Rows, counter: Node, condition: Node) -> NDArray[np.int64]:
    """How many iterations each lane makes: the first value of `counter` for which `condition` fails.

    Shape: broadcasts to [rows, threads]. Parts of the condition that depend on opaque values say nothing about the
    number of iterations and are taken to hold, unless the rows follow random data.
    """
    trips: Array = np.int64(MAX_TRIPS)
    by_data: list[Array] = []
    unknown = False
    for part in conjuncts(rows.graph, condition):
        if part.is_const:
            trips = trips if part.value else np.int64(0)
        elif not part.bits & rows.graph.opaque_bits:
            trips = np.minimum(trips, _part_trips(rows, counter, part))
        elif rows.follows_data:
            by_data.append(_part_trips(rows, counter, part))
        else:
            unknown = True
    for limit in by_data:
        # Random numbers are larger than any length that is looked for.
        trips = np.where(trips == MAX_TRIPS, limit, np.minimum(trips, limit))
    # Differences of numbers at the ends of 64 bits may come out as anything; a count is what can be counted with.
    counts = np.clip(trips, 0, -_FURTHEST)
    return np.where(counts == MAX_TRIPS, _UNKNOWN_TRIPS, counts) if unknown else np.asarray(counts)


def _part_trips(rows: Rows, counter: Node, part: Node) -> Array:
    if not part.bits & counter.bits:
        return np.where(rows.value(part), MAX_TRIPS, 0)
    compared = part
    if part.op == "!" and part.args[0].op in ("<", "<="):
        inner = part.args[0]
        compared = rows.graph.binary("<=" if inner.op == "<" else "<", inner.args[1], inner.args[0], inner.kind)
    if compared.op in ("<", "<=", "!="):
        linear = _linear_trips(rows, counter, compared)
        if linear is not None:
            return linear
    return _searched_trips(rows, counter, part)


def _linear_trips(rows: Rows, counter: Node, part: Node) -> Array | None:
    """The trip count where both sides move by a constant per iteration; None where they don't."""
    distances = _differences(rows, counter, part, 3)
    start, step = distances[0], distances[1] - distances[0]
    if start.dtype.kind == "f" or not np.array_equal(distances[2] - distances[1], step):
        return None
    if part.op == "!=":
        divisor = np.where(step == 0, 1, step)
        reaches = (step != 0) & (-start % divisor == 0) & (-start // divisor >= 0)
        return np.where(start == 0, 0, np.where(reaches, -start // divisor, MAX_TRIPS))
    rising = np.maximum(step, 1)
    start = np.maximum(start, _FURTHEST)
    if part.op == "<":
        count, none = -(start // rising), start >= 0
    else:
        count, none = -start // rising + 1, start > 0
    return np.where(none, 0, np.where(step > 0, count, MAX_TRIPS))


def _differences(rows: Rows, counter: Node, part: Node, iterations: int) -> list[Array]:
    """By how much the two sides of a comparison differ in each of the first iterations."""
    at = _at_each(rows, counter, range(iterations))
    sides: list[Sequence[Array]] = []
    for side in part.args:
        numbers = as_numbers(np.asarray((at if side.bits & counter.bits else rows).value(side)))
        apart = side.bits & counter.bits and numbers.ndim and len(numbers) == at.count
        sides.append(numbers.reshape(iterations, rows.count, -1) if apart else [numbers] * iterations)
    return [left - right for left, right in zip(*sides, strict=True)]


def _searched_trips(rows: Rows, counter: Node, part: Node) -> NDArray[np.int64]:
    """The trip count by looking: iteration by iteration at first, then by doubling and bisection."""
    lanes = rows.threads.warps * WARP_LANES if part.bits & (THREAD_BITS | rows.graph.opaque_bits) else 1
    shape = (rows.count, lanes)
    going = np.ones(shape, dtype=bool)
    trips = np.zeros(shape, dtype=np.int64)
    done, together = 0, 1
    while done < 64:
        holds = _holds(rows, counter, part, range(done, done + together), lanes)
        ran = np.logical_and.accumulate(going & holds, axis=0)
        trips += ran.sum(axis=0)
        going = ran[-1]
        if not going.any():
            return trips
        done += together
        together = max(1, min(2 * together, 64 - done, _MOST_TOGETHER // going.size))
    low, high = trips - 1, trips
    step = 64
    while step < MAX_TRIPS and going.any():
        step *= 2
        holds = going & np.asarray(rows.at_iteration(counter, step).value(part), dtype=bool)
        low, high = np.where(holds, step, low), np.where(going, step, high)
        going = holds
    # Between the last iteration that was seen to run and the first that was seen not to.
    high = np.where(going, low, high)
    while (is_open := high - low > 1).any():
        middle = (low + high) // 2
        holds = np.asarray(rows.at_iteration(counter, middle).value(part), dtype=bool)
        low, high = np.where(is_open & holds, middle, low), np.where(is_open & ~holds, middle, high)
    return high


def _holds(rows: Rows, counter: Node, part: Node, iterations: range, lanes: int) -> NDArray[np.bool_]:
    """[iterations, rows, lanes] whether part of a loop's condition holds."""
    at = _at_each(rows, counter, iterations)
    found = np.asarray(at.value(part), dtype=bool)
    return np.broadcast_to(found, (at.count, lanes)).reshape(len(iterations), rows.count, lanes)


def _at_each(rows: Rows, counter: Node, iterations: range) -> Rows:
    """The rows in several iterations of a loop, all of them in the first one, then all in the next."""
    if len(iterations) == 1:
        return rows.at_iteration(counter, iterations[0])
    numbers = np.array(iterations, dtype=np.int64).repeat(rows.count)[:, None]
    where = np.tile(np.arange(rows.count), len(iterations))
    return rows.child(where, rows.weights[where], {counter: numbers})
