"""How far addresses are from those of the next thread, and from those of the next turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct, field

from cudalint.execute.lanes import Extents
from cudalint.measure.arrays import ByWorld, Flags, Integers
from cudalint.measure.distinct import NOTHING, Extent, Group, Prints


class Strides(Struct, frozen=True):
    """By how many bytes the address moves when one thread index grows by 1, in each world; None where that is not
    constant, and along an axis along which no two threads are active."""

    x: ByWorld
    y: ByWorld
    z: ByWorld
    turn: ByWorld
    """From one execution to the next by the same lanes, the first time that it moves: from one turn to the next of the
    innermost loop that it depends on. None where it moves differently in several lanes or blocks."""


class Steps(Struct, eq=False):
    """What was seen of an access so far."""

    block: Extents
    extent: Extent
    least: Integers = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    """[3, W] along each axis; above `most` where nothing was seen."""
    most: Integers = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    turns: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.least = np.full((3, self.extent.worlds), NOTHING)
        self.most = np.full((3, self.extent.worlds), -NOTHING)
        self.turns = [None] * self.extent.worlds

    def add(self, group: Group, prints: Prints) -> None:
        """Takes a group's executions in, in their order."""
        self._add_threads(group, prints)
        if None in self.turns and len(group.offsets) > 1:
            self._add_turns(group, prints)

    def strides(self) -> Strides:
        axes = [
            tuple(int(low) if low == high else None for low, high in zip(least, most, strict=True))
            for least, most in zip(self.least.tolist(), self.most.tolist(), strict=True)
        ]
        x, y, z = axes
        return Strides(x, y, z, tuple(self.turns))

    def _add_threads(self, group: Group, prints: Prints) -> None:
        """Blocks of one shape move in the same way, wherever they are: only one of each is looked at."""
        offsets, pattern = group.offsets, group.pattern
        rows = prints.shapes.shape[1]
        # The first active warp of each row is where the shape of its block begins.
        warp = pattern.active.argmax(axis=-1)
        number = np.broadcast_to(warp[None, :, None], (*prints.firsts.shape[:2], 1))
        begin = np.take_along_axis(prints.firsts, number, axis=-1)
        distance = np.where(pattern.active, prints.firsts - begin, 0)
        factors = 2 * np.arange(prints.shapes.shape[2], dtype=np.int64) + 1
        factors = factors * np.int64(0x1E3779B97F4A7C15)
        keys = (np.where(pattern.active, prints.shapes, 0) * factors + distance * (factors ^ 0x5DEECE66D)).sum(axis=-1)
        if rows > 1:
            world = np.arange(rows) // self.extent.blocks
            keys = keys + world * np.int64(0x14D049BB133111EB)
        _, places = np.unique(keys.reshape(-1), return_index=True)
        number, row = np.unravel_index(places, keys.shape)
        addresses = offsets[number, row if offsets.shape[1] > 1 else 0]
        mask: Flags = pattern.mask[row if len(pattern.mask) > 1 else np.zeros_like(row)].reshape(len(places), -1)
        worlds = row // self.extent.blocks if rows > 1 else None
        x, y, z = self.block
        addresses = np.broadcast_to(addresses, mask.shape)[:, : x * y * z].reshape(-1, z, y, x)
        mask = mask[:, : x * y * z].reshape(-1, z, y, x)
        for axis in range(3):
            if self.block[axis] > 1:
                self._add_axis(axis, addresses, mask, worlds)

    def _add_axis(self, axis: int, addresses: Integers, mask: Flags, worlds: Any) -> None:
        behind: list[Any] = [slice(None)] * 4
        before = list(behind)
        behind[3 - axis], before[3 - axis] = slice(1, None), slice(None, -1)
        both = mask[tuple(behind)] & mask[tuple(before)]
        steps = addresses[tuple(behind)] - addresses[tuple(before)]
        least = np.where(both, steps, NOTHING).min(axis=(1, 2, 3))
        most = np.where(both, steps, -NOTHING).max(axis=(1, 2, 3))
        if worlds is None:
            self.least[axis] = np.minimum(self.least[axis], least.min())
            self.most[axis] = np.maximum(self.most[axis], most.max())
        else:
            np.minimum.at(self.least[axis], worlds, least)
            np.maximum.at(self.most[axis], worlds, most)

    def _add_turns(self, group: Group, prints: Prints) -> None:
        active = group.pattern.active
        moved = np.diff(prints.firsts, axis=0)
        least = np.where(active, moved, NOTHING).min(axis=-1)
        most = np.where(active, moved, -NOTHING).max(axis=-1)
        changed = (active & (prints.shapes[1:] != prints.shapes[:-1])).any(axis=-1)
        if least.shape[1] > 1:
            by_world = len(least), self.extent.worlds, self.extent.blocks
            least, most = least.reshape(by_world).min(axis=-1), most.reshape(by_world).max(axis=-1)
            changed = changed.reshape(by_world).any(axis=-1)
        moves = (least != 0) | (most != 0) | changed
        moves &= least <= most
        constant = (least == most) & ~changed
        for world, known in enumerate(self.turns):
            own = world if moves.shape[1] > 1 else 0
            turn = int(moves[:, own].argmax())
            if known is None and moves[turn, own] and constant[turn, own]:
                self.turns[world] = int(least[turn, own])
