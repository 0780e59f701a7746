"""The threads that are executed at once: rows of blocks, and lanes of threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.hardware.requests import WARP_LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Array = NDArray[Any]

Extents = tuple[int, int, int]


def is_same_mask(one: Mask | None, other: Mask | None) -> bool:
    """Whether two masks have the same lanes; None has none."""
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


class Lanes:
    """R rows of L lanes: each row is one block in one world, and each lane one of its threads.

    Rows are ordered by world, then by block: row `w * blocks + b`. Lanes are padded to whole warps; those beyond the
    block never execute anything. What all rows, or all lanes, have in common has one row, or one lane.
    """

    def __init__(
        self, block: Extents, grid: Sequence[int | Sequence[int]], blocks: Sequence[Extents | Sequence[Extents]],
        weights: Sequence[Sequence[float]] | None = None,
    ) -> None:  # fmt: skip
        """`grid` has an extent for each axis, or one for each world; `blocks` are those that are executed, in all
        worlds or, as many, in each. `weights` say of each world how many blocks of its grid each of them stands for;
        without them each is one. One that stands for none fills up a world of fewer blocks, and executes nothing."""
        threads = block[0] * block[1] * block[2]
        if threads < 1 or not blocks:
            raise ValueError("there are no threads to execute")
        self.block = block
        self.worlds = max(len(extent) if isinstance(extent, Sequence) else 1 for extent in grid)
        places: Any = blocks if not isinstance(blocks[0][0], int) else [blocks] * self.worlds
        self.worlds = max(self.worlds, len(places))
        self.places: list[Extents] = [place for own in places for place in own]
        """Of each row."""
        self.blocks = len(places[0])
        """That are executed in each world."""
        self.rows = self.worlds * self.blocks
        self.warps = -(-threads // WARP_LANES)
        self.lanes = self.warps * WARP_LANES
        self.threads = threads
        self.full: Mask = np.zeros((self.rows, self.lanes), bool)
        self.full[:, :threads] = True
        self.built_in = {
            "threadIdx": _thread_indices(block, self.lanes),
            "blockDim": list(block),
            "blockIdx": [self._by_row([place[axis] for place in self.places]) for axis in range(3)],
            "gridDim": [self.by_world(extent) for extent in grid],
        }
        self.weight: Any = 1.0
        """Of what a row does: 1.0, or an array [R, warps]."""
        if weights is not None and any(weight != 1.0 for own in weights for weight in own):
            by_row = np.array([weight for own in weights for weight in own], np.float64)
            self.full &= by_row[:, None] > 0
            self.weight = np.repeat(by_row[:, None], self.warps, axis=1)

    def by_world(self, values: int | float | bool | Sequence[int | float | bool], dtype: Any = np.uint32) -> Any:
        """A number for each world as a column of rows; a plain number where all are equal."""
        if not isinstance(values, Sequence):
            return values
        if all(value == values[0] for value in values):
            return values[0]
        return np.repeat(np.asarray(values).astype(dtype), self.blocks)[:, None]

    def _by_row(self, values: Sequence[int]) -> Any:
        if all(value == values[0] for value in values):
            return values[0]
        return np.asarray(values, np.uint32)[:, None]

    def thread_of(self, lane: int) -> Extents:
        """`threadIdx` of a lane."""
        x, y, _ = self.block
        return lane % x, lane // x % y, lane // (x * y)

    def block_of(self, row: int) -> Extents:
        """`blockIdx` of a row."""
        return self.places[row]

    def world_of(self, row: int) -> int:
        return row // self.blocks

    def by_warp(self, lanes: Array) -> Array:
        """[R, L] as [R, warps, 32]."""
        return lanes.reshape(self.rows, self.warps, WARP_LANES)


def _thread_indices(block: Extents, lanes: int) -> list[Any]:
    """`threadIdx` along each axis; 0 along those of one thread."""
    linear = np.arange(lanes, dtype=np.int64)
    x, y, _ = block
    along = (linear % x, linear // x % y, linear // (x * y))
    return [
        values.astype(np.uint32)[None] if extent > 1 else 0 for values, extent in zip(along, block, strict=True)
    ]
