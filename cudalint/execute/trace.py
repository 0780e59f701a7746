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
BarrierScope = Literal["warp", "block"]
"""Whose threads wait: those of a warp or a part of one, or those of the block, of several warps, or of more."""
BarrierPart = Literal["whole", "arrive", "wait"]
"""Some barriers have two halves: who only arrives goes on, who only waits has arrived before."""


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
    scope: BarrierScope = "block"
    part: BarrierPart = "whole"
    is_implied: bool = False
    """It is no barrier of the source but a function for which threads come together: of a warp, as a shuffle, or of the
    block, as cub's collectives."""
    named: Any = None
    """The word of lanes that a barrier of the warp names: a number, an array, data, or None where it names none."""


class CopyEvent(NamedTuple):
    """A step of asynchronous copies: those so far become a group, or all but the latest groups are waited for."""

    node: Any
    kept: int | None
    """How many groups may be under way still; None where it makes a group."""
    mask: Mask
    interval: Any
    stack: Stack
    before: int
    """How many accesses are in the trace before it."""


class FenceEvent(NamedTuple):
    """One execution of a memory fence."""

    node: Any
    mask: Mask
    interval: Any
    stack: Stack
    before: int
    """How many accesses are in the trace before it."""


class BranchEvent(NamedTuple):
    """One execution of a branch: which of the lanes that come to it go where it holds."""

    node: Any
    mask: Mask
    taken: Mask
    weight: Any
    stack: Stack


class Trace:
    """Accesses, barriers and branches in the order of their execution, and what was left out."""

    __slots__ = ("accesses", "barriers", "branches", "copies", "fences", "lanes", "steps", "unknown")

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.accesses: list[AccessEvent] = []
        self.barriers: list[BarrierEvent] = []
        self.branches: list[BranchEvent] = []
        self.copies: list[CopyEvent] = []
        self.fences: list[FenceEvent] = []
        self.unknown: Counter[str] = Counter()
        """Why something was not executed, and how often."""
        self.steps = 0
