"""The distinct warp-level requests of one access, of all worlds at once, with the executions that each stands for.

Two requests with the same active lanes whose addresses all differ by one multiple of a unit (a sector of global memory,
a word of the banks) take as many sectors, or wavefronts. So few are left of a loop's many: they are found
by a fingerprint of what is left of the addresses after such a multiple, and nothing else looks at all addresses. A
fingerprint is a sum of products modulo 2^64 with fixed odd factors ("multilinear hashing": two rows that differ have
the same one with a probability of 2^-64 times the power of two that divides their differences).

Events are taken together whose masks and shapes are equal: k executions of r rows of L lanes, where r is 1 for what all
rows have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Lanes
from cudalint.execute.memory import plain
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data
from cudalint.hardware.requests import WARP_LANES
from cudalint.measure.arrays import Flags, Integers, Mask, Weights

_MOST_ELEMENTS = 1 << 18
"""Offsets that are looked at together: two megabytes stay in a cache."""
NOTHING = np.iinfo(np.int64).max


def _odd_numbers(count: int, seed: int) -> Integers:
    """Odd numbers without a pattern: see Steele et al., "Fast splittable pseudorandom number generators" (2014)."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) | np.uint64(1)).view(np.int64)


_FACTORS = _odd_numbers(WARP_LANES, 1)
_OF_MASKS = _odd_numbers(WARP_LANES, 2)


class Extent(NamedTuple):
    """Rows and lanes of what was executed: row `world * blocks + block`."""

    worlds: int
    blocks: int
    warps: int

    @classmethod
    def of(cls, lanes: Lanes) -> Extent:
        return cls(lanes.worlds, lanes.blocks, lanes.warps)


class Pattern:
    """A mask, with what fingerprints need of it: m rows, one where all rows are equal."""

    __slots__ = ("active", "factors", "first", "is_full", "key", "mask", "sums", "tags")

    def __init__(self, mask: Flags, extent: Extent) -> None:
        rows = mask[:1] if len(mask) > 1 and np.array_equal(mask, np.broadcast_to(mask[0], mask.shape)) else mask
        self.mask: Flags = rows.reshape(len(rows), extent.warps, WARP_LANES)
        self.key = len(rows), np.packbits(rows).tobytes()
        self.is_full = bool(rows.all())
        self.active: Flags = np.asarray(self.mask.any(axis=-1))
        """[m, warps]"""
        self.first = self.mask.argmax(axis=-1)
        """The first active lane of each warp."""
        self.factors = np.where(self.mask, _FACTORS, 0)
        self.sums: Integers = self.factors.sum(axis=-1)
        self.tags: Integers = np.where(self.mask, _OF_MASKS, 0).sum(axis=-1)


class Group(NamedTuple):
    """k executions by the same lanes."""

    offsets: Integers
    """[k, 1 or R, 1 or L] bytes."""
    weights: Weights
    """[k, 1 or R, 1 or warps]"""
    pattern: Pattern
    numbers: Sequence[int]
    """[k] their places among all executions."""


class Prints(NamedTuple):
    """Of the requests of a group, [k, 1 or R, warps] each."""

    firsts: Integers
    """The offset of the first active lane."""
    shapes: Integers
    """A fingerprint of the mask and of the offsets less that one."""


class Distinct(Struct, frozen=True, eq=False):
    """n requests, no two of which are equivalent."""

    keys: Integers
    addresses: Integers
    """[n, 32] bytes from the start of the allocation, of one of the executions."""
    mask: Flags
    weights: Weights
    """[n, W] executions in each world."""
    warps: Integers
    """[n] the warp of its block that made that one."""


def groups(events: Sequence[AccessEvent], extent: Extent, patterns: dict[int, Pattern]) -> Iterator[Group]:
    """The executions whose addresses are known. `patterns` keeps what was found out about masks, by their identity."""
    found: dict[tuple[Any, tuple[int, ...]], tuple[Pattern, list[Any], list[Any], list[int]]] = {}
    for number, event in enumerate(events):
        offset = event.offset
        if isinstance(offset, Data):
            continue
        pattern = pattern_of(event.mask, extent, patterns)
        offset = plain(offset)
        shape = offset.shape if type(offset) is np.ndarray else (1, 1)
        _, offsets, weights, numbers = found.setdefault((pattern.key, shape), (pattern, [], [], []))
        offsets.append(offset)
        weights.append(event.weight)
        numbers.append(number)
    for (_, shape), (pattern, offsets, weights, numbers) in found.items():
        at_once = max(1, _MOST_ELEMENTS // max(shape[0] * shape[1], pattern.mask.size))
        for start in range(0, len(offsets), at_once):
            own = slice(start, start + at_once)
            stacked = np.array(offsets[own], np.int64).reshape(-1, *shape)
            yield Group(stacked, _stacked(weights[own], extent), pattern, numbers[own])


def pattern_of(mask: Flags, extent: Extent, patterns: dict[int, Pattern]) -> Pattern:
    """What is known of a mask that somebody holds on to."""
    found = patterns.get(id(mask))
    if found is None:
        found = patterns[id(mask)] = Pattern(mask, extent)
    return found


def _stacked(weights: Sequence[Any], extent: Extent) -> Weights:
    if all(type(weight) is not np.ndarray for weight in weights):
        return np.array(weights, np.float64).reshape(-1, 1, 1)
    return np.stack([weights_by_row(weight, extent) for weight in weights])


def weights_by_row(weight: Any, extent: Extent) -> Weights:
    """[R, warps]"""
    return np.broadcast_to(np.asarray(weight, np.float64), (extent.worlds * extent.blocks, extent.warps))


def executions(mask: Mask, weight: Any, extent: Extent, patterns: dict[int, Pattern]) -> Weights:
    """[W] how often warps execute something with an active lane of a mask, given what one execution stands for."""
    active = np.where(pattern_of(mask, extent, patterns).active, weights_by_row(weight, extent), 0.0)
    found: Weights = active.reshape(extent.worlds, -1).sum(axis=-1)
    return found


def executions_in(world: int, mask: Mask, weight: Any, lanes: Lanes) -> float:
    """The same in one world."""
    rows = slice(world * lanes.blocks, (world + 1) * lanes.blocks)
    active = lanes.by_warp(np.broadcast_to(mask, (lanes.rows, lanes.lanes))).any(axis=2)
    return float((active * weight)[rows].sum())


def prints_of(group: Group) -> Prints:
    """The fingerprints of a group's requests."""
    offsets, pattern = group.offsets, group.pattern
    count, rows, lanes = offsets.shape
    warps = pattern.mask.shape[1]
    shape = count, max(rows, len(pattern.mask)), warps
    if lanes == 1:
        return Prints(np.broadcast_to(offsets, shape), np.broadcast_to(pattern.tags, shape))
    by_warp = offsets.reshape(count, rows, warps, WARP_LANES)
    if pattern.is_full:
        firsts, sums = by_warp[..., 0], np.einsum("krwl,l->krw", by_warp, _FACTORS)
    else:
        numbers = pattern.first[None, ..., None]
        wide = np.broadcast_to(by_warp, (*shape, WARP_LANES))
        firsts = np.take_along_axis(wide, np.broadcast_to(numbers, (*shape, 1)), axis=-1)[..., 0]
        # Integers of rows are 1 or R, and einsum takes 1 for all of them.
        sums = np.einsum("krwl,krwl->krw", by_warp, pattern.factors[None])
    return Prints(firsts, sums - firsts * pattern.sums + pattern.tags)


def distinct_of(group: Group, prints: Prints, extent: Extent, unit: int) -> Distinct:
    """A group's requests; those that differ by a multiple of `unit` bytes (a power of two) once."""
    pattern = group.pattern
    keys = prints.shapes + (prints.firsts & (unit - 1)) * pattern.sums
    weights = by_world(group, keys.shape[1], extent)
    active = np.broadcast_to(pattern.active, keys.shape)
    places = np.flatnonzero(active)
    found, first, inverse = np.unique(keys.reshape(-1)[places], return_index=True, return_inverse=True)
    summed = _summed(weights, inverse.reshape(-1), places, len(found), keys.shape, extent)
    number, row, warp = np.unravel_index(places[first], keys.shape)
    return Distinct(found, *_lanes_at(group, number, row, warp), summed, warp)


def by_world(group: Group, rows: int, extent: Extent) -> Weights:
    """The weights of requests: [k, R, 1 or warps] where rows differ, and otherwise [k, W, 1 or warps], summed over the
    blocks of each world."""
    weights = group.weights
    if rows > 1:
        return np.broadcast_to(weights, (len(weights), rows, weights.shape[2]))
    if weights.shape[1] == 1:
        return np.broadcast_to(weights * extent.blocks, (len(weights), extent.worlds, weights.shape[2]))
    summed: Weights = weights.reshape(len(weights), extent.worlds, extent.blocks, -1).sum(axis=2)
    return summed


def _summed(
    weights: Weights, inverse: Integers, places: Integers, count: int, shape: tuple[int, ...], extent: Extent
) -> Weights:
    """[n, W]: the weights of the active requests by their fingerprint and world."""
    if shape[1] > 1 and extent.worlds * extent.blocks > 1:
        own = np.broadcast_to(weights, shape).reshape(-1)[places]
        worlds = places // extent.warps % shape[1] // extent.blocks
        table = np.bincount(inverse * extent.worlds + worlds, own, count * extent.worlds)
        return table.astype(np.float64, copy=False).reshape(count, extent.worlds)
    columns = []
    for world in range(extent.worlds):
        own = np.broadcast_to(weights[:, world : world + 1], shape).reshape(-1)[places]
        columns.append(np.bincount(inverse, own, count))
    return np.stack(columns, axis=-1)


def _lanes_at(group: Group, number: Any, row: Any, warp: Any) -> tuple[Integers, Flags]:
    """Addresses and masks of some of a group's requests."""
    offsets, mask = group.offsets, group.pattern.mask
    own = row if len(mask) > 1 else 0
    row = row if offsets.shape[1] > 1 else 0
    if offsets.shape[2] == 1:
        addresses = np.repeat(offsets[number, row], WARP_LANES, axis=-1)
    else:
        addresses = offsets.reshape(*offsets.shape[:2], -1, WARP_LANES)[number, row, warp]
    return addresses, mask[own, warp]


def merged(parts: Sequence[Distinct], extent: Extent) -> Distinct:
    """The same requests of several groups are one."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none = np.zeros((0, WARP_LANES), np.int64)
        numbers = np.zeros(0, np.int64)
        return Distinct(numbers, none, none.astype(bool), np.zeros((0, extent.worlds)), numbers)
    keys = np.concatenate([part.keys for part in parts])
    found, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.zeros((len(found), extent.worlds))
    np.add.at(weights, inverse.reshape(-1), np.concatenate([part.weights for part in parts]))
    addresses, mask, warps = (
        np.concatenate([getattr(part, name) for part in parts])[first] for name in ("addresses", "mask", "warps")
    )
    return Distinct(found, addresses, mask, weights, warps)
