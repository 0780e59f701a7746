"""The state of an execution: which lanes are active, where they are, and what they have left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cudalint.execute.arithmetic import COMPARING
from cudalint.execute.memory import NULL, Allocation, Memory, as_type, loaded, parts, plus
from cudalint.execute.trace import AccessEvent, BarrierEvent, BranchEvent, LeftOut, Stack, Trace
from cudalint.execute.values import UNKNOWN, Data, Pointer, Value, truth
from cudalint.facts import BarrierKind, Operation
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.execute.lanes import Lanes, Mask
    from cudalint.execute.program import Program

_VECTORS = frozenset({1, 2, 4, 8, 16})
"""Bytes that one instruction loads or stores."""
_MOST_STEPS = 3_000_000
_MOST_EVENTS = 4096
"""Of one access, all of which are kept; of those beyond, one stands for two, then for four, and so on."""


class TooMuch(Exception):
    """The execution takes more steps than it may."""


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

    __slots__ = ("data", "function", "returned", "value")

    def __init__(self, function: ir.Function, data: int) -> None:
        self.function, self.data = function, data
        self.returned: Mask | None = None
        """Lanes that are done with it."""
        self.value: Value = None


class Machine:
    """Executes what a program compiles to: statements change its mask, and leave events in its trace."""

    def __init__(
        self, lanes: Lanes, program: Program, most_steps: int = _MOST_STEPS, in_full: bool = False
    ) -> None:  # fmt: skip
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
        self.depth = 0
        """Loops around."""
        self.data = 0
        self.loop_data = 0
        """Conditions around that data decides, now and where the innermost loop begins."""
        self.is_left_by_data = False
        """Whether some lanes may have left the innermost loop, or its function, where data said so."""
        self.writes: list[dict[tuple[Allocation, int], Value]] = []
        """For each loop around, what was in cells from outside of it before its current turn."""
        self.notes: list[Note] | None = None
        """Inside of loops: what operators were applied to, as far as their results may not be affine in the turns."""
        self.epoch = 0
        """How often notes were dropped, since they were too many."""
        self.quiet_loops: dict[ir.Stmt, int] = {}
        """Turns of loops that need nothing but numbers of their own, and leave nothing but data."""
        self.first_tries: dict[tuple[ir.Stmt, Stack], int] = {}
        """The fewest turns after which a loop was found to go on alike."""
        self.watchers = 0
        """Loops around that learn how their turns go."""
        self.most_steps = most_steps
        self.in_full = in_full
        """Whether no turns of loops are left out, except for those beyond the caps."""
        self._events: dict[tuple[Any, Stack], int] = {}
        """Of each access of the source, as calls lead there."""
        self._owed: dict[tuple[Any, Stack], Any] = {}
        """Weights of events that were not kept, [R, warps]."""
        self.allocations: dict[object, Allocation] = {}

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

    # --- notes for loops ---------------------------------------------------------------------------

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
        if self.notes is not None and type(value) in (int, float, np.ndarray):
            self.watch("!=", value, 0)
        return truth(value)

    # --- events ------------------------------------------------------------------------------------

    def access(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any, value: Value = None,
    ) -> Value:  # fmt: skip
        """Notes an access of the active lanes; gives what a load finds."""
        if self.mask is None or to.is_null or to.space == "nowhere":
            return loaded(type_, to.name) if operation != "store" else UNKNOWN
        if type_.bytes in _VECTORS:
            self.note(to, offset, type_.bytes, operation, node, value)
        else:
            for own, leaf in parts(type_):
                self.note(to, plus(offset, own), leaf.bytes, operation, node)
        return loaded(type_, to.name) if operation == "load" else UNKNOWN

    def note(
        self, to: Allocation, offset: Any, bytes_: int, operation: Operation, node: Any, value: Value = None
    ) -> None:
        mask = self.mask
        assert mask is not None
        at = self.library or node
        weight = self.weight
        if not self.in_full:
            weight = self._weight_of_kept((at, self.stack), mask)
            if weight is None:
                return
        self.trace.accesses.append(
            AccessEvent(at, operation, bytes_, to, offset, mask, weight, self.interval, self.stack, self.data, value)
        )

    def _weight_of_kept(self, site: tuple[Any, Stack], mask: Mask) -> Any:
        """The weight of an event, with what those were owed that were not kept since; None if it isn't kept itself."""
        number = self._events[site] = self._events.get(site, 0) + 1
        if number <= _MOST_EVENTS:
            return self.weight
        if number == _MOST_EVENTS + 1:
            self.trace.left_out.append(LeftOut(*site, "too many events", 1))
            self._owed[site] = np.zeros((self.lanes.rows, self.lanes.warps))
        active = self.lanes.by_warp(mask).any(axis=2)
        owed = self._owed[site]
        if number % (1 << (number // _MOST_EVENTS).bit_length()):
            owed += self.weight * active
            return None
        self._owed[site] = np.where(active, 0.0, owed)
        return self.weight + owed * active

    def barrier(self, node: Any, kind: BarrierKind) -> None:
        """A barrier of the block for the active lanes: the next interval begins for them."""
        mask = self.mask
        assert mask is not None
        self.trace.barriers.append(
            BarrierEvent(node, kind, mask, self.weight, self.interval, self.stack, self.data)
        )
        if kind != "syncwarp":
            self.interval = self.interval + 1 if mask is self.full else self.interval + mask.astype(np.int32)

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
