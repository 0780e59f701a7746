"""What an execution of a kernel leaves behind: memory accesses, barriers and branches, with the path to them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from cudalint.facts import BarrierKind, LibraryCall, Operation
from cudalint.interpreter.device.handed import Handed
from cudalint.interpreter.device.values import Allocation, Subscripts, Within
from cudalint.ir import nodes as ir
from cudalint.ir.sizes import Size
from cudalint.values.nodes import Node

Scope = Literal["warp", "block", "grid"]
"""Threads that a barrier or an atomic speaks of."""


Nest = tuple[int, ...]
"""Loops one in the other, outermost first, by the indices of their counters; () for what is in no loop."""


class Loop(Struct, frozen=True, eq=False):
    """One execution of a loop statement that was summarised by its iteration counter."""

    counter: Node
    condition: Node
    """Holds for the lanes that execute iteration `counter`, given that they executed those before."""
    conditions: tuple[Node, ...]
    """The path to the loop."""
    span: ir.Span
    is_counted: bool = False
    """The compiler knows the number of iterations: only literals and constants decide it. A block size does not do,
    since it is only known at the launch."""
    is_unrolled: bool = False
    """That and `#pragma unroll` without a factor: nothing is left of it."""
    statement: ir.For | None = None
    """What it is in the source, if it is one of these."""
    since: int = 0
    """The number of the graph's first value that was made in it."""


class Context(Struct, frozen=True, eq=False):
    """Where in the program something happens, and for which lanes."""

    span: ir.Span
    function: str
    frames: tuple[ir.Span, ...]
    """Call sites through which the place was reached, innermost first."""
    conditions: tuple[Node, ...]
    """All of them hold for the lanes that get there."""
    loops: tuple[Loop, ...]
    """The enclosing loops, outermost first."""
    guard: int
    """How many of the conditions were there before the innermost branch; the rest are its guard, which the compiler
    may turn into a predicate."""
    library: str = ""
    """The function of the bundled headers in whose body it happens."""
    handed: tuple[tuple[Handed, ...], ...] = ()
    """What each call site hands on into another file than the kernel's."""

    @property
    def nest(self) -> Nest:
        return tuple([loop.counter.index for loop in self.loops])

    @property
    def deciding(self) -> tuple[Node, ...]:
        """All that decides who gets there: the conditions on the way, and those of the loops around it."""
        return *self.conditions, *(loop.condition for loop in self.loops)


class UnseenCall(Struct, frozen=True):
    """A call of a function that is not understood: there may be barriers in it."""

    name: str
    position: int
    """How many events there were before it."""
    is_anywhere: bool
    """It is executed more than once, or in part understood: what comes after it may come before some of it."""


class AccessEvent(Struct, frozen=True, eq=False):
    context: Context
    target: Allocation
    offset: Node
    """Bytes from the start of the target."""
    bytes: Size
    element: ir.Type
    operation: Operation
    subscripts: Subscripts | None
    record: Within | None
    left_out: str | None = None
    """Why the machine makes no request of its own for it, in words for the user."""
    values: tuple[Node, ...] | None = None
    """For a store: the numbers that are stored; None where they are not followed."""
    atomic_scope: Scope = "grid"
    """For an atomic: the threads among which it is one."""
    one_of: bool = False
    """Some lanes may touch another array, or another place in this one, through the same pointer."""
    is_verbatim: bool = False
    """The compiler takes it as it stands, an instruction of inline PTX or an access to what is `volatile`: it is not
    merged with others, left out or moved."""
    made_by: LibraryCall | None = None
    """The function of the CUDA library whose own access it is."""
    iterations: int = 1
    """Of an unrolled loop, so many that follow one another make one access of the machine, which is evaluated as often
    as there are iterations."""
    copied_from: Node | None = None
    """For an asynchronous copy into shared memory: bytes from the start of what it reads."""
    noted_at: ir.Span | None = None
    """The statement at which the compiler notes it, where it moved it there."""
    along: bool = False
    """Of neighbours that are one access of the machine, it is not the first: its figures are those of that access,
    which is counted where the first stands."""


class LibraryAccess(Struct, frozen=True, eq=False):
    """A library function reads or writes memory; its instructions are none of the source's own, but its races are."""

    context: Context
    target: Allocation
    offset: Node
    bytes: Size
    element: ir.Type
    operation: Operation
    values: tuple[Node, ...] | None = None
    atomic_scope: Scope = "grid"
    cooperative: bool = False
    """The threads of a block do it together: each element is touched by one of them."""


class LocalIndexEvent(Struct, frozen=True, eq=False):
    """An element of an array in registers or local memory, chosen by an index that varies or is out of range."""

    context: Context
    symbol: ir.Symbol
    index: Node
    count: int
    operation: Operation
    name: str
    """Of the array, with the variable that it is a part of: `view.sizes`."""


class Collective(Struct, frozen=True):
    """A function of a library that the threads of a block compute together, and for which block it was made."""

    name: str
    """Its class."""
    block: tuple[int, int, int]
    or_fewer: bool
    """It is told how many threads have something to add, so that fewer of them may come."""


class BarrierEvent(Struct, frozen=True, eq=False):
    """A place where threads wait for each other."""

    context: Context
    kind: BarrierKind
    scope: Scope = "block"
    """All of whose threads have to come."""
    implied: bool = False
    """It is no barrier of the source: a shuffle or vote with a mask, which makes the warp converge."""
    part: Literal["whole", "arrive", "wait"] = "whole"
    """Arriving and waiting may be apart; what lies between is not ordered with either side."""
    mask: Node | None = None
    """For a warp: the lanes that are waited for, as a bit mask; None for a group, which waits for its own."""
    collective: Collective | None = None
    """What it is a part of."""


class CopyEvent(Struct, frozen=True, eq=False):
    """A step of the pipeline of asynchronous copies: the copies so far become a group, or groups are waited for."""

    context: Context
    leaves: int | None
    """Groups that may still be under way after the wait; None where nothing is waited for (a commit)."""


class Step(Struct, frozen=True, eq=False):
    """One execution of a piece of code that computes: a statement, or the head of a loop."""

    code: ir.Stmt | ir.Expr
    loops: tuple[Loop, ...]
    """The loops around it: it is executed once for every iteration of the innermost one."""
    position: int = 0
    """How many events there were before it."""
    conditions: tuple[Node, ...] = ()
    """All of them hold for the lanes that execute it."""


class Computation(Struct, frozen=True, eq=False):
    """One operation that the compiled program carries out: each value once, outside of loops that don't change it."""

    code: ir.Expr
    """An operator, a conversion, or a call of a library's function: the operation at its root."""
    loops: tuple[Loop, ...]
    conditions: tuple[Node, ...]
    """All of them hold for the lanes that compute it."""
    place: int
    """Its number among all of the execution."""
    operands: tuple[Node, ...] = ()
    """What it is computed from, as it stands; of a call, the result."""


class Side(Struct, frozen=True, eq=False):
    """What the lanes on one side of a branch execute."""

    steps: range
    """Places in the execution's list of steps."""
    leaves: bool
    """They don't come back: they return, or leave or continue a loop."""


class BranchEvent(Struct, frozen=True, eq=False):
    """A condition by which lanes may part. Loops are recorded where they test it: inside, for a given iteration. The
    condition of a switch is the number of the case that a lane jumps to."""

    context: Context
    condition: Node
    kind: Literal["if", "conditional", "for", "while", "do", "switch"]
    sides: list[Side] = field(default_factory=list)
    """The lanes for which the condition holds first; of a switch, the cases."""


class FenceEvent(Struct, frozen=True, eq=False):
    """A memory fence: a sign that threads talk to each other through flags."""

    context: Context


class EscapeEvent(Struct, frozen=True, eq=False):
    """A function that is not followed gets an address: what it reads and writes there is not known."""

    context: Context
    name: str
    target: Allocation


class UnmaskedEvent(Struct, frozen=True, eq=False):
    """A warp function of old, without a mask: it relies on all lanes being there."""

    context: Context
    name: str


Event = (
    AccessEvent
    | LocalIndexEvent
    | LibraryAccess
    | BarrierEvent
    | CopyEvent
    | FenceEvent
    | BranchEvent
    | EscapeEvent
    | UnmaskedEvent
)
