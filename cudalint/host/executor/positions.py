"""Where a thread is: the built-in variables, its place in the block, and its warp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.values.nodes import Node

if TYPE_CHECKING:
    from cudalint.host.executor.executor import Executor

_AXES = {"x": 0, "y": 1, "z": 2}


def builtin(ex: Executor, name: str, axis: str) -> Node:
    """threadIdx.x and the like."""
    position = _AXES.get(axis, 0)
    extents = ex.extents
    if extents is None:
        return ex.graph.one
    if name == "threadIdx":
        one_thread = extents.block[position].is_const and extents.block[position].value == 1
        return ex.graph.zero if one_thread else ex.graph.thread[position]
    if name == "blockIdx":
        one_block = extents.grid[position].is_const and extents.grid[position].value == 1
        return ex.graph.zero if one_block else ex.graph.block[position]
    if name == "blockDim":
        return extents.block[position]
    return extents.grid[position]
