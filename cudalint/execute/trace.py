"""What an execution leaves behind: everything else that is said of a launch is computed from its trace.

R rows of L lanes, as in `lanes.py`; weights and intervals are plain numbers where all warps, or all lanes, have them in
common.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cudalint.facts import BarrierKind, Operation
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.lanes import Lanes, Mask
    from cudalint.execute.memory import Allocation

Stack = tuple[ir.Call | ir.Construct, ...]
"""The calls that lead to a place, the innermost first."""


class AccessEvent(NamedTuple):
    """One execution of a load, a store, an atomic or an asynchronous copy by the lanes of a mask."""

    node: Any
    """What it is in the tree: an expression, or the statement of inline PTX."""
    operation: Operation
    bytes: int
    allocation: Allocation
    offset: Any
    """Bytes from the start of the allocation: a plain number, an array, or data."""
    mask: Mask
    weight: Any
    """How many executions it stands for: 1.0, or an array [R, warps]."""
    interval: Any
    """How many barriers of the block a lane has passed: a plain number, or an array [R, L]."""
    stack: Stack
    data: int
    """How many conditions that data decides there are on the way: the mask has the lanes that may come."""
    value: Any = None
    """What is stored, or None."""


class BarrierEvent(NamedTuple):
    """One execution of a barrier."""

    node: Any
    kind: BarrierKind
    mask: Mask
    weight: Any
    interval: Any
    """Before it."""
    stack: Stack
    data: int


class BranchEvent(NamedTuple):
    """One execution of a branch: which of the lanes that come to it go where it holds."""

    node: Any
    mask: Mask
    taken: Mask
    weight: Any
    stack: Stack


class LeftOut(NamedTuple):
    """Turns of a loop, or events, that no event stands for exactly."""

    node: Any
    stack: Stack
    reason: Literal["sampled turns", "too many turns", "turns by data", "too many events"]
    number: float
    """Of turns or events that are left out, where that is known; else 1."""


class Trace:
    """Accesses, barriers and branches in the order of their execution, and what was left out."""

    __slots__ = ("accesses", "barriers", "branches", "lanes", "left_out", "steps", "unknown")

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.accesses: list[AccessEvent] = []
        self.barriers: list[BarrierEvent] = []
        self.branches: list[BranchEvent] = []
        self.unknown: Counter[str] = Counter()
        """Why something was not executed, and how often."""
        self.left_out: list[LeftOut] = []
        """What the weights of the others are estimates for. Turns that go on exactly like others are not among it."""
        self.steps = 0
