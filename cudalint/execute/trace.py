"""What an execution leaves behind: everything else that is said of a launch is computed from its trace.

R rows of L lanes, as in `lanes.py`; weights and intervals are plain numbers where all warps, or all lanes, have them in
common.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from msgspec import Struct

from cudalint.facts import BarrierKind, Operation
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.reasons import Problem, ReasonKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cudalint.execute.absent import Shuffle
    from cudalint.execute.lanes import Lanes, Mask
    from cudalint.execute.memory import Allocation
    from cudalint.execute.values import Data, Pointer

    Counts = NDArray[np.float64]
else:
    Counts = Any

Stack = tuple[ir.Call | ir.Construct, ...]
"""The calls that lead to a place, the innermost first."""
Passed = tuple[tuple[tuple[Any, Any], ...], ...]
"""For each call, the innermost first, pointers and the expressions that make them."""
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
    """What is stored, or None; of an asynchronous copy, where it is read."""
    warp_interval: Any = 0
    """How many barriers of its whole warp a lane has passed."""
    grid_interval: Any = 0
    """How many barriers of the grid a lane has passed."""
    guard: Mask | None = None
    """The lanes that come to the innermost branch around it, which the compiler may turn into a predicate; None where
    there is none, in the innermost loop."""
    passed: Passed = ()
    """What each call of `stack` passes on: the address that a parameter leads to, and the argument that says it."""
    divergent: int = 0
    """How many conditions there are on the way, or breaks of the loop around, for which lanes of a warp may find
    different data."""
    subscripts: tuple[Any, ...] = ()
    """One for each dimension of a shared array, where the access spells as many."""
    inner: int = 0
    """Bytes from the element that they name to what is accessed."""
    is_of_block: bool = False
    """Of an atomic: it is one for the threads of a block only."""
    within: Any = None
    """Where `node` is a call of a library's function: its own expression there, or the type of what the call touches as
    a whole; else None."""
    chosen: Allocation | None = None
    """What its pointer leads to, if that is one piece of memory for some lanes and another one for others: the event is
    that of the lanes of one."""
    maker: str = ""
    """Where `node` is a call of a library's function: the innermost function of the library that makes the access."""
    is_parted: bool = False
    """Whether data may decide that some lanes of a warp come there and others don't."""


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


EVERY_COPY: Final = -1
"""Of a wait: no copy is under way after it, of a group or of none."""


class CopyEvent(NamedTuple):
    """A step of asynchronous copies: those so far become a group, or all but the latest groups are waited for."""

    node: Any
    kept: int | None
    """How many groups may be under way still, or `EVERY_COPY`; None where it makes a group."""
    mask: Mask
    interval: Any
    stack: Stack
    before: int
    """How many accesses are in the trace before it."""


class DistributedEvent(NamedTuple):
    """An access to the shared memory of another block of the cluster."""

    event: AccessEvent
    """Of an allocation that stands for that of the other block, with offsets from its start."""
    array: Allocation
    """The block's own, of the same name."""
    before: int
    """How many accesses are in the trace before it."""


class ClusterStep(NamedTuple):
    """A barrier of the cluster, or of the whole grid, or one of its halves."""

    node: Any
    mask: Mask
    part: BarrierPart
    before: int
    """How many accesses are in the trace before it."""
    distributed: int
    """How many of those are before it that get to the memory of other blocks."""


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
    turn: int = 0
    """Of a loop: the turns that lanes have made before this test, in this execution of it."""
    library: Any = None
    """The call of a function of the bundled headers that it is in."""
    cases: list[Mask | None] | None = None
    """Of a switch, the lanes that jump to each of its cases."""


class Undecided(NamedTuple):
    """A branch that data decides, as it was come to once."""

    condition: Data
    mask: Mask
    """The lanes that came to it."""


class UndefinedEvent(NamedTuple):
    """A store, or an atomic, of what came from a lane that took no part in a shuffle."""

    node: Any
    stack: Stack
    mask: Mask
    """The lanes that store such."""
    shuffle: Shuffle
    data: int


class CallEvent(NamedTuple):
    """One execution of a call whose function was not followed: there may be accesses and barriers in it."""

    node: Any
    name: str
    mask: Mask
    weight: Any
    interval: Any
    stack: Stack
    data: int
    """How many conditions that data decides there are on the way."""
    warp_interval: Any
    grid_interval: Any
    position: int
    """How many accesses there are in the trace before it."""
    is_users: bool
    """It is the user's, or may be: that of a library makes no barrier, and touches only what it is passed."""
    pointers: tuple[Pointer, ...]
    """Into memory that others see, that it is passed: by value, in records, and as what it is called on."""
    is_in_part: bool = False
    """Its body was executed, with parts that the front end lost: they are within or behind what is in the trace."""


class Gap(NamedTuple):
    """Something that the execution passed over."""

    span: ir.Span
    reason: str
    kind: ReasonKind = "other"
    problem: Problem | None = None


class LeftOut(NamedTuple):
    """Turns of a loop, or events, that no event stands for exactly."""

    node: Any
    stack: Stack
    reason: Literal["sampled turns", "too many turns", "turns by data", "too many events"]
    number: float
    """Of turns or events that are left out, where that is known; else 1."""


class Site(NamedTuple):
    """A statement, as calls lead there."""

    statement: st.Stmt
    stack: Stack
    library: Any
    """The call of a function of the bundled headers that it belongs to."""


class Executions(Struct):
    """Of a statement."""

    counts: Counts
    """[2, W] by warps with an active lane, and by lanes, in each world."""
    by_data: bool
    """Whether data decides about some of them: then they are all that may come."""


class Turn(NamedTuple):
    """A turn of a loop begins that is executed."""

    loop: Site
    number: int
    """Of those of this execution of the loop that are executed."""
    depth: int
    """Of the loop: 1 for one that is in no other."""
    before: int
    """How many accesses are in the trace before it."""


class Trace:
    """Accesses, barriers and branches in the order of their execution, and what was left out."""

    __slots__ = (
        "accesses", "agreed", "astray", "barriers", "branches", "calls", "cluster_steps", "copies", "cut",
        "distributed", "executions", "fences", "gaps", "insides", "lanes", "left_out", "overruns", "steps", "touched",
        "turns", "undecided", "undefined", "unread",
    )  # fmt: skip

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.accesses: list[AccessEvent] = []
        self.astray: dict[Any, bool] = {}
        """Accesses through pointers of which nothing is known, with whether they write."""
        self.touched: list[tuple[int, AccessEvent]] = []
        """What functions of libraries touch, by accesses of their own of which nothing else is known; with how many
        accesses there are before."""
        self.overruns: list[AccessEvent] = []
        """Accesses of a thread's own variables that leave them; those that don't are no events."""
        self.insides: dict[tuple[Any, Stack], Any] = {}
        """For each access of a local array, in which worlds there are some that don't, where there are several worlds.
        """
        self.barriers: list[BarrierEvent] = []
        self.branches: list[BranchEvent] = []
        """Those that numbers decide, by lane or by row."""
        self.agreed: dict[tuple[Any, Stack], None] = {}
        """Branches whose conditions are one number for all lanes and rows, at least once."""
        self.undecided: dict[tuple[Any, Stack], Undecided] = {}
        """Branches that data decides, with a condition that was found, one that lanes may differ in before others."""
        self.undefined: list[UndefinedEvent] = []
        self.copies: list[CopyEvent] = []
        self.distributed: list[DistributedEvent] = []
        """Accesses to the shared memory of other blocks, which are among no others."""
        self.cluster_steps: list[ClusterStep] = []
        self.fences: list[FenceEvent] = []
        self.calls: list[CallEvent] = []
        self.gaps: dict[Gap, int] = {}
        """What was not executed, and how often."""
        self.unread: dict[Gap, int] = {}
        """Calls of which nothing is known, neither by their bodies nor by their names: of a kernel without accesses
        these may be all that it does."""
        self.cut = ""
        """Why the execution ended before its time, if it did: what comes behind is not in the trace."""
        self.left_out: list[LeftOut] = []
        """What the weights of the others are estimates for. Turns that go on exactly like others are not among it."""
        self.executions: dict[Site, Executions] = {}
        """Of the statements of a program that counts them."""
        self.turns: list[Turn] = []
        """Of all loops, in their order."""
        self.steps = 0

    @property
    def is_cut(self) -> bool:
        return bool(self.cut)

    @property
    def unknown(self) -> Counter[str]:
        """Why something was not executed, and how often."""
        found: Counter[str] = Counter({self.cut: 1} if self.cut else {})
        for gap, number in (*self.gaps.items(), *self.unread.items()):
            found[gap.reason] += number
        return found
