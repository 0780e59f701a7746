"""The barrier of the grid in memory: the first thread of each block adds to a counter and reads it until all have come.

Cooperative groups keep the counter in global memory (`cooperative_groups/details/sync.h` of the toolkit). A profiler
lists both instructions; measured on an H200: one lane and one sector each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.facts import GRID_ARRIVES, GRID_WAITS, LibraryCall, Operation
from cudalint.interpreter.device.values import Allocation, MemoryPlace, Pointer
from cudalint.ir import nodes as ir
from cudalint.values.arithmetic import BOOL, I8, U4

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

_COUNTER = "grid barrier"
_COUNTER_TYPE = ir.Scalar("unsigned int", 4, "uint")
_AT = 4
"""Bytes before the counter in what the launch allocates for it."""
_STEPS: dict[str, tuple[tuple[Operation, str], ...]] = {
    "whole": (("atomic", GRID_ARRIVES), ("load", GRID_WAITS)),
    "arrive": (("atomic", GRID_ARRIVES),),
    "wait": (("load", GRID_WAITS),),
}
"""By the part of the barrier that a call is."""


def touch_counter(ex: Executor, span: ir.Span, part: str) -> None:
    """Records what the first thread of each block does to the counter."""
    graph = ex.graph
    rank = graph.thread[0]
    for axis in (1, 2):
        rank = graph.binary("+", rank, graph.thread[axis], U4)
    ex.branch(graph.binary("==", rank, graph.const(0, U4), BOOL), lambda: _steps(ex, span, part), None)


def _steps(ex: Executor, span: ir.Span, part: str) -> None:
    for operation, name in _STEPS[part]:
        # Who reads while others add is what the barrier is there for: each step has a counter of its own.
        counter = Pointer(Allocation(_COUNTER, "global"), ex.graph.const(_AT, I8), _COUNTER_TYPE)
        first = len(ex.memory.events)
        ex.memory.access(MemoryPlace(counter, _COUNTER_TYPE), ex.context(span), operation)
        ex.memory.sign(first, (ex.context(span).span,), LibraryCall(name, None))
