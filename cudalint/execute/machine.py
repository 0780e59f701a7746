"""The state of an execution: which lanes are active, where they are, and what they have left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.contents import Contents, note_store
from cudalint.execute.memory import NULL, Allocation, Memory, as_type, joined, loaded, pieces, plus
from cudalint.execute.trace import (
    AccessEvent,
    BarrierEvent,
    BarrierPart,
    BarrierScope,
    BranchEvent,
    CopyEvent,
    FenceEvent,
    Stack,
    Trace,
)
from cudalint.execute.values import UNKNOWN, Data, Pointer, Value
from cudalint.facts import BarrierKind, Operation
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.lanes import Lanes, Mask
    from cudalint.execute.program import Program

_SCALARS = (ir.Scalar, ir.PointerType, ir.OpaqueType)
"""What one instruction loads or stores."""
_MOST_STEPS = 3_000_000


class TooMuch(Exception):
    """The execution takes more steps than it may."""


class Frame:
    """One call that is under way."""

    __slots__ = ("data", "function", "returned", "value")

    def __init__(self, function: ir.Function, data: int) -> None:
        self.function, self.data = function, data
        self.returned: Mask | None = None
        """Lanes that are done with it."""
        self.value: Value = None


class Machine:
    """Executes what a program compiles to: statements change its mask, and leave events in its trace."""

    def __init__(self, lanes: Lanes, program: Program, most_steps: int = _MOST_STEPS) -> None:
        self.lanes, self.program = lanes, program
        self.trace = Trace(lanes)
        self.memory = Memory(self)
        self.full = lanes.full
        self.mask: Mask | None = lanes.full
        """The active lanes; None where there are none."""
        self.broken: Mask | None = None
        self.continued: Mask | None = None
        self.ended: Mask | None = None
        """Lanes that have left the innermost loop, its current turn, and the kernel."""
        self.frames: list[Frame] = []
        self.environment: dict[ir.Symbol, Allocation | Pointer] = {}
        self.stack: Stack = ()
        self.library: Any = None
        """The call in the user's code of a function of the bundled headers that is being executed."""
        self.weight: Any = 1.0
        self.interval: Any = 0
        self.warp_interval: Any = 0
        """How many barriers of its warp a lane has passed."""
        self.depth = 0
        """Loops around."""
        self.data = 0
        self.loop_data = 0
        """Conditions around that data decides, now and where the innermost loop begins."""
        self.is_left_by_data = False
        """Whether some lanes may have left the innermost loop, or its function, where data said so."""
        self.writes: list[dict[tuple[Allocation, int], Value]] = []
        """For each loop around, what was in cells from outside of it before its current turn."""
        self.most_steps = most_steps
        self.allocations: dict[object, Allocation] = {}
        self.contents: list[Contents] = []
        """Of shared memory, of which integers are kept."""

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

    def step(self) -> None:
        self.trace.steps += 1
        if self.trace.steps > self.most_steps:
            raise TooMuch

    # --- events ------------------------------------------------------------------------------------

    def access(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any, value: Value = None,
    ) -> Value:  # fmt: skip
        """Notes an access of the active lanes; gives what a load finds."""
        if self.mask is None or to.is_null or to.space == "nowhere":
            return loaded(type_, to.name) if operation != "store" else UNKNOWN
        if to.parts:
            return self._several(to, offset, type_, operation, node, value)
        if to.space == "shared":
            found = self._shared(to, offset, type_, operation, value)
            if found is not None:
                self.note(to, offset, type_.bytes, operation, node, value)
                return found
        if isinstance(type_, _SCALARS):
            self.note(to, offset, type_.bytes, operation, node, value)
        else:
            several = pieces(type_)
            for own, bytes_ in several:
                self.note(to, plus(offset, own), bytes_, operation, node, value if len(several) == 1 else None)
        return loaded(type_, to.name) if operation == "load" else UNKNOWN

    def _several(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any, value: Value
    ) -> Value:
        """An access to several pieces of memory, to each by its lanes."""
        mask, found = self.mask, None
        self.data += to.is_open
        for part, (lanes, base) in to.parts.items():
            self.mask, _ = self.split(lanes)
            if self.mask is not None:
                own = self.access(part, plus(base, offset), type_, operation, node, value)
                found = own if found is None else joined(lanes, own, found)
            self.mask = mask
        self.data -= to.is_open
        if to.is_open and operation == "load":
            return loaded(type_, to.name)
        return found if found is not None else UNKNOWN

    def _shared(self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, value: Value) -> Value:
        """Keeps track of integers in shared memory; what a load finds of them, or None."""
        if operation == "load":
            return to.contents.load(self, offset, type_) if to.contents is not None else None
        note_store(self, to, offset, type_, value if operation == "store" else UNKNOWN)
        return None

    def forget_contents(self, step: int) -> None:
        """Of shared memory, what was stored since a step of the execution: where something after it is left out, nobody
        knows what was stored meanwhile."""
        for contents in self.contents:
            contents.forget_since(step)

    def note(
        self, to: Allocation, offset: Any, bytes_: int, operation: Operation, node: Any, value: Value = None
    ) -> None:
        mask = self.mask
        assert mask is not None
        at = self.library or node
        self.trace.accesses.append(
            AccessEvent(
                at, operation, bytes_, to, offset, mask, self.weight, self.interval, self.stack, self.data, value
            )
        )

    def barrier(
        self, node: Any, kind: BarrierKind, scope: BarrierScope = "block", part: BarrierPart = "whole",
        is_implied: bool = False, named: Value = None,
    ) -> None:  # fmt: skip
        """A barrier for the active lanes; behind one of the block the next interval begins for them."""
        mask = self.mask
        assert mask is not None
        if kind == "syncwarp":
            scope = "warp"
        self.trace.barriers.append(
            BarrierEvent(
                node, kind, mask, self.weight, self.interval, self.stack, self.data, scope, part, is_implied, named
            )
        )
        if scope == "warp" and not is_implied:
            self.warp_interval = (
                self.warp_interval + 1 if mask is self.full else self.warp_interval + mask.astype(np.int32)
            )
        if scope == "block" and part != "arrive":
            self.interval = self.interval + 1 if mask is self.full else self.interval + mask.astype(np.int32)

    def copies(self, node: Any, kept: int | None) -> None:
        """A step of asynchronous copies."""
        if self.mask is not None:
            before = len(self.trace.accesses)
            self.trace.copies.append(CopyEvent(node, kept, self.mask, self.interval, self.stack, before))

    def fence(self, node: Any) -> None:
        if self.mask is not None:
            before = len(self.trace.accesses)
            self.trace.fences.append(FenceEvent(node, self.mask, self.interval, self.stack, before))

    def branch(self, node: Any, mask: Mask, taken: Mask | None) -> None:
        none = np.zeros((1, 1), bool) if taken is None else taken
        self.trace.branches.append(BranchEvent(node, mask, none, self.weight, self.stack))

    def unknown(self, reason: str) -> Data:
        self.trace.unknown[reason] += 1
        return UNKNOWN

    def note_write(self, to: Allocation, offset: int, old: Value) -> None:
        """Remembers what was in a cell from outside of the loops around, once for each turn."""
        self.writes[-1].setdefault((to, offset), old)

    # --- a kernel ----------------------------------------------------------------------------------

    def run(self, function: ir.Function, arguments: dict[ir.Symbol, Value]) -> Trace:
        """Executes a kernel. Arguments are values, or, of parameters that are records, dictionaries of their fields'
        values by name; those that are missing are data, and pointers lead to allocations of their own."""
        for parameter in function.parameters:
            variable = Allocation(parameter.name, "local", parameter.type, self.full)
            self._fill(variable, 0, parameter.type, arguments.get(parameter), parameter.name)
            self.environment[parameter] = variable
        self.frames.append(Frame(function, 0))
        body = self.program.statement(function.body)
        with np.errstate(all="ignore"):
            try:
                body(self)
            except TooMuch:
                self.unknown("it takes too many steps")
        return self.trace

    def _fill(self, variable: Allocation, offset: int, type_: ir.Type, value: Value, name: str) -> None:
        if isinstance(type_, ir.RecordType):
            for field in type_.fields:
                own = value.get(field.name) if type(value) is dict else None
                self._fill(variable, offset + field.offset, field.type, own, f"{name}.{field.name}")
        elif isinstance(type_, ir.ArrayType):
            for number in range(min(type_.count or 0, _MOST_ELEMENTS)):
                self._fill(variable, offset + number * type_.element.bytes, type_.element, None, name)
        elif isinstance(type_, ir.PointerType):
            made = value if type(value) is Pointer else Pointer(Allocation(name, "global"), 0, type_.pointee)
            variable.cells[offset] = Pointer(made.allocation, made.offset, type_.pointee)
        elif value is None:
            variable.cells[offset] = UNKNOWN
        elif isinstance(value, (list, tuple)):
            variable.cells[offset] = as_type(self.lanes.by_world(value, np.asarray(value).dtype), type_)
        else:
            variable.cells[offset] = as_type(value, type_)


_MOST_ELEMENTS = 64
__all__ = ["NULL", "Frame", "Machine", "TooMuch"]
