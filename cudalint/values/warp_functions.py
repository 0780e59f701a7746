"""What the lanes of a warp learn of one another: shuffles, matches and ranks, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudalint.hardware.requests import WARP_LANES
from cudalint.values.arrays import Array
from cudalint.values.nodes import Node

if TYPE_CHECKING:
    from cudalint.values.numeric import Rows


def shuffled(rows: Rows, node: Node) -> Array:
    """[rows, threads] what each lane gets from another one of its warp."""
    shape = (rows.count, rows.threads.warps, WARP_LANES)
    value = rows.full(node.args[0]).reshape(shape)
    lane, width = (_by_warp(rows, a) for a in node.args[1:])
    source = _source_lane(str(node.payload), lane, np.where(width > 0, width, WARP_LANES))
    source = np.clip(source, 0, WARP_LANES - 1)
    if source.shape == (1, 1, WARP_LANES):
        # All warps alike, as with a literal distance.
        return value[:, :, source[0, 0]].reshape(rows.count, -1)
    return np.take_along_axis(value, np.broadcast_to(source, shape), axis=2).reshape(rows.count, -1)


def _source_lane(how: str, lane: NDArray[np.int64], width: NDArray[np.int64]) -> NDArray[np.int64]:
    """The lane that each lane of a warp reads from in a shuffle; its own where that is outside of its part. All arrays
    are [rows or 1, warps or 1, 32 or 1]."""
    own = np.arange(WARP_LANES, dtype=np.int64).reshape(1, 1, WARP_LANES)
    start = own // width * width
    match how:
        case "idx":
            return start + lane % width
        case "up":
            return np.where(own - lane >= start, own - lane, own)
        case "down":
            return np.where(own + lane < start + width, own + lane, own)
        case _:
            return np.where((own ^ lane) < start + width, own ^ lane, own)


def _by_warp(rows: Rows, node: Node) -> NDArray[np.int64]:
    """[rows or 1, warps or 1, 32 or 1] the value of a node."""
    value = np.asarray(rows.value(node)).astype(np.int64)
    if value.ndim == 2 and value.shape[1] > 1:
        return value.reshape(len(value), -1, WARP_LANES)
    return value.reshape(-1, 1, 1)


def matched(rows: Rows, node: Node) -> Array:
    """[rows, threads] the lanes of the warp with a lane's value, as a bit mask."""
    lanes = rows.full(node.args[0]).reshape(rows.count, rows.threads.warps, WARP_LANES)
    same = lanes[..., :, None] == lanes[..., None, :]
    masks = (same.astype(np.int64) << np.arange(WARP_LANES, dtype=np.int64)).sum(axis=3)
    return masks.reshape(rows.count, -1)


def ranked(rows: Rows, node: Node) -> Array:
    """[rows, threads] the lanes of the warp before a lane for which a condition holds."""
    held = rows.full(node.args[0]).astype(np.int64).reshape(rows.count, rows.threads.warps, WARP_LANES)
    return (held.cumsum(axis=2) - held).reshape(rows.count, -1)
