"""Where a thread is in its block, and in which warp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.evaluate import expressions
from cudalint.evaluate.arithmetic import I4
from cudalint.evaluate.graph import Node

if TYPE_CHECKING:
    from cudalint.evaluate.executor import Executor


def linear_thread(ex: Executor) -> Node:
    """threadIdx.x + threadIdx.y*Dx + threadIdx.z*Dx*Dy."""
    graph = ex.graph
    x, y, z = (expressions.builtin(ex, "threadIdx", axis) for axis in "xyz")
    dx, dy, _ = (expressions.builtin(ex, "blockDim", axis) for axis in "xyz")
    plane = graph.binary("+", y, graph.binary("*", z, dy, I4), I4)
    return graph.binary("+", x, graph.binary("*", plane, dx, I4), I4)


def lane_index(ex: Executor) -> Node:
    return ex.graph.binary("%", linear_thread(ex), ex.graph.const(32), I4)


def warp_index(ex: Executor) -> Node:
    return ex.graph.binary("/", linear_thread(ex), ex.graph.const(32), I4)


__all__ = ["lane_index", "linear_thread", "warp_index"]
