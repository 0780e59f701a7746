"""The state of an execution: which lanes are active, what has decided that, and what loops note of their turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cudalint.execute.arithmetic import COMPARING
from cudalint.execute.budget import Budget, Limits
from cudalint.execute.contents import Contents
from cudalint.execute.drawn import Drawn, decided
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import Passed, Stack, Trace
from cudalint.execute.values import Data, Pointer, Value, truth
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

if TYPE_CHECKING:

    from cudalint.execute.lanes import Lanes, Mask
    from cudalint.execute.program import Program

_NARROW = 4096
"""Lanes of all rows, for which numpy takes about as long as the dispatch of a step does."""


class Note(NamedTuple):
    """One execution of an operator by the lanes of a mask."""

    op: str
    left: Value
    right: Value
    type: ir.Type | None
    mask: Mask | None
    allocation: Allocation | None = None
    """The local array of an `element`."""


class Frame:
    """One call that is under way."""

    __slots__ = ("data", "function", "is_open", "returned", "value")

    def __init__(self, function: ir.Function, data: int) -> None:
        self.function, self.data = function, data
        self.returned: Mask | None = None
        """Lanes that are done with it."""
        self.value: Value = None
        self.is_open = False
        """Whether some lanes may have returned with that where data said so."""


class Execution:
    """What statements change: the mask of the active lanes, variables, and what loops note of their turns."""

    def __init__(
        self, lanes: Lanes, program: Program, limits: Limits | None = None, in_full: bool = False
    ) -> None:  # fmt: skip
        self.lanes, self.program = lanes, program
        self.trace = Trace(lanes)
        self.wide = 1 + lanes.rows * lanes.lanes // _NARROW
        """How many times as long a step takes as one of few lanes."""
        self.budget = Budget(self.trace, limits or Limits())
        self.full = lanes.full
        self.mask: Mask | None = lanes.full
        """The active lanes; None where there are none."""
        self.broken: Mask | None = None
        self.continued: Mask | None = None
        self.ended: Mask | None = None
        """Lanes that have left the innermost loop, its current turn, and the kernel."""
        self.frames: list[Frame] = []
        self.is_lost = False
        """Whether lanes have jumped in one of the functions that are under way: nobody knows which of them are active
        until it returns."""
        self.calls_again = 0
        """Of functions that are among the frames."""
        self.environment: dict[ir.Symbol, Allocation | Pointer] = {}
        self.stack: Stack = ()
        self.library: Any = None
        """The call in the user's code of a function of the bundled headers that is being executed."""
        self.whole: ir.Type | None = None
        """What a function of the library touches piece by piece."""
        self.guard: Mask | None = None
        """The lanes that came to the innermost branch of the innermost loop."""
        self.passed: Passed = ()
        """What the calls of the stack were given: see `AccessEvent.passed`."""
        self.subscripts: dict[Any, tuple[tuple[Any, ...], int]] = {}
        """Of elements of shared arrays that were named last: their subscripts, and bytes behind these."""
        self.weight: Any = lanes.weight
        self.interval: Any = 0
        self.warp_interval: Any = 0
        """How many barriers of its warp a lane has passed."""
        self.grid_interval: Any = 0
        self._live: tuple[tuple[Mask | None, Mask | None], Mask] | None = None
        self.depth = 0
        """Loops around."""
        self.data = 0
        self.loop_data = 0
        """Conditions around that data decides, now and where the innermost loop begins."""
        self.scopes: list[int] = []
        """For each of the conditions around that data decides, a number that no other one has."""
        self.others: list[int] = []
        """For each of them that of the other side of an `if` that came before; else 0."""
        self._scopes = 0
        self._divergent: list[bool] = []
        """Whether lanes of a warp may find different data there."""
        self.is_left_by_data = False
        """Whether some lanes may have left the innermost loop, or its function, where data said so."""
        self.is_parted_outside = False
        """Whether lanes of a warp leave a loop around the innermost one at different turns, as data says."""
        self.is_left_together = True
        """Whether all lanes of a warp have then."""
        self.writes: list[dict[tuple[Allocation, int], Value]] = []
        """For each loop around, what was in cells from outside of it before its current turn."""
        self.notes: list[Note] | None = None
        """Inside of loops: what operators were applied to, as far as their results may not be affine in the turns."""
        self.epoch = 0
        """How often notes were dropped, since they were too many."""
        self.quiet_loops: dict[st.Stmt, int] = {}
        """Turns of loops that need nothing but numbers of their own, and leave nothing but data."""
        self.first_tries: dict[tuple[st.Stmt, Stack], int] = {}
        """The fewest turns after which a loop was found to repeat."""
        self.watchers = 0
        """Loops around that learn how their turns go."""
        self.in_full = in_full
        """Whether no turns of loops are left out, except for those beyond the caps."""
        self.allocations: dict[object, Allocation] = {}
        self.pointed: dict[Allocation, int] = {}
        """How often something was stored to memory from which pointers were loaded."""
        self.chosen: Allocation | None = None
        """What a pointer leads to that is several pieces of memory, while each is accessed by its lanes."""
        self.contents: list[Contents] = []
        """Of shared memory, of which integers are kept."""
        self.meant: set[Allocation] = set()
        """What null pointers lead to that are used in any case."""

    # --- masks -------------------------------------------------------------------------------------

    def split(self, condition: Mask) -> tuple[Mask | None, Mask | None]:
        """The active lanes for which a condition holds, and the others; None for no lanes. A mask that has all of
        them is the same object."""
        mask = self.mask
        assert mask is not None
        holds = mask & condition
        number = np.count_nonzero(holds)
        if number == 0:
            return None, mask
        if number == np.count_nonzero(mask):
            return mask, None
        return holds, mask & ~condition

    def gone(self, mask: Mask) -> Mask | None:
        """What is left of lanes without those that have left the function, the loop or its turn meanwhile."""
        left = mask
        for away in (self.frames[-1].returned, self.broken, self.continued, self.ended):
            if away is not None:
                left = left & ~away
        return left if left is self.full or left.any() else None

    def next_turn(self) -> bool:
        """Lanes that went on to the next turn of the innermost loop are active again; whether any lane is."""
        if self.continued is not None:
            self.mask = self.continued if self.mask is None else self.mask | self.continued
            self.continued = None
        return self.mask is not None

    def open_scope(self, condition: Data | None = None, other: int = 0) -> None:
        """Data decides which of the active lanes come to what follows, until `close_scopes`; `other` is the number of
        the scope that the others come to."""
        self.data += 1
        self._scopes += 1
        self.scopes.append(self._scopes)
        self.others.append(other)
        self._divergent.append(condition is None or not condition.is_common)

    def is_common_since(self, data: int) -> bool:
        """Whether all lanes of a warp find the same data, wherever it decides but for the first so many conditions."""
        return not any(self._divergent[data:])

    def leave_by_data(self, data: int) -> None:
        """Some lanes leave the innermost loop, around which are so many conditions that data decides."""
        self.is_left_by_data = True
        self.is_left_together &= self.is_common_since(data)

    def close_scopes(self, data: int) -> None:
        """Goes back to so many conditions that data decides."""
        self.data = data
        del self.scopes[data:]
        del self.others[data:]
        del self._divergent[data:]

    def step(self, size: int = 1) -> None:
        """A statement of so many parts begins; see `budget.size_of`."""
        self.trace.steps += size * self.budget.unit
        if self.trace.steps >= self.budget.next_look:
            self.budget.look()
            if self.notes is not None and self.budget.has_too_many(self.notes):
                self.forget_notes()

    # --- notes for loops ---------------------------------------------------------------------------

    def forget_notes(self) -> None:
        """Loops begin to learn anew how their turns go."""
        assert self.notes is not None
        self.notes.clear()
        self.epoch += 1

    def watch(self, op: str, left: Value, right: Value, type_: ir.Type | None = None) -> None:
        """Notes an operator whose result may cease to be affine in what moves; see `affine.py`."""
        kind = type_.kind if isinstance(type_, ir.Scalar) else ""
        if self.notes is None or (kind == "float" and op not in COMPARING):
            return
        if kind == "uint" or op not in ("+", "-"):
            self.notes.append(Note(op, left, right, type_, self.mask))

    def note_operator(self, op: str, left: Value, right: Value, mask: Mask | None) -> None:
        """As `watch`, of numbers that no operator of the source has."""
        if self.notes is not None:
            self.notes.append(Note(op, left, right, None, mask))

    def watch_place(self, allocation: Allocation, offset: Any, value: Value) -> None:
        """Notes which element of a local array is read or written."""
        if self.notes is not None:
            self.notes.append(Note("element", offset, value, None, self.mask, allocation))

    def truth(self, value: Value) -> Any:
        """A condition: see `values.truth`."""
        if type(value) is Drawn:
            found = decided(value)
            value = value if found is None else found
        if type(value) is Pointer:
            value = value.is_set
        if self.notes is not None and type(value) in (int, float, np.ndarray):
            self.watch("!=", value, 0)
        return truth(value)

    def note_write(self, to: Allocation, offset: int, old: Value) -> None:
        """Remembers what was in a cell from outside of the loops around, once for each turn."""
        self.writes[-1].setdefault((to, offset), old)
