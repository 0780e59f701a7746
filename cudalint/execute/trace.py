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
    warp_interval: Any = 0
    """How many barriers of its whole warp a lane has passed."""
    grid_interval: Any = 0
    """How many barriers of the grid a lane has passed."""


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
    warp_interval: Any = 0
    """Before it."""
    expected: Mask | None = None
    """The lanes that it waits for in blocks (of a barrier of the warp: in warps) with an active lane: those that have
    not returned, and that a barrier of the warp names. None where that is not known."""
    partial: Mask | None = None
    """Lanes of a warp's barrier which names a part of the warp only: they are ordered with each other, and begin no
    interval."""
    position: int = 0
    """How many accesses there are in the trace before it."""
    scope: BarrierScope = "block"
    part: BarrierPart = "whole"
    is_implied: bool = False
    """It is no barrier of the source but a function for which threads come together: of a warp, as a shuffle, or of the
    block, as cub's collectives."""
    named: Any = None
    """The word of lanes that a barrier of the warp names: a number, an array, data, or None where it names none."""
    made_by: Any = None
    """The call that is a barrier, which may be one inside of a library's function; `node` is the call of that then."""


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
    data: int = 0
    """How many conditions that data decides there are on the way."""


class LeftOut(NamedTuple):
    """Turns of a loop, or events, that no event stands for exactly."""

    node: Any
    stack: Stack
    reason: Literal["sampled turns", "too many turns", "turns by data", "too many events"]
    number: float
    """Of turns or events that are left out, where that is known; else 1."""


class Trace:
    """Accesses, barriers and branches in the order of their execution, and what was left out."""

    __slots__ = (
        "accesses", "barriers", "branches", "copies", "fences", "lanes", "left_out", "overruns", "steps", "unknown",
    )  # fmt: skip

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.accesses: list[AccessEvent] = []
        self.overruns: list[AccessEvent] = []
        """Accesses of a thread's own variables that leave them; those that don't are no events."""
        self.barriers: list[BarrierEvent] = []
        self.branches: list[BranchEvent] = []
        self.copies: list[CopyEvent] = []
        self.fences: list[FenceEvent] = []
        self.unknown: Counter[str] = Counter()
        """Why something was not executed, and how often."""
        self.left_out: list[LeftOut] = []
        """What the weights of the others are estimates for. Turns that go on exactly like others are not among it."""
        self.steps = 0
