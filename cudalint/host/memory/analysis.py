"""One analysis of a file's host code: function by function, each with those that it calls, as far as they are in sight.

Branches are followed both ways and joined to what holds on both; of loops the first two iterations are followed, since
what can't be right in one of these is so whatever comes later. What is found goes to `faults`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudalint.facts import Place
from cudalint.facts.host_faults import HostFault
from cudalint.host.memory import expressions, statements
from cudalint.host.memory.frames import Frame, TooLong
from cudalint.host.memory.places import Where
from cudalint.host.memory.pointers import Allocation, Key, Value
from cudalint.host.memory.quantities import Numbers, Quantity
from cudalint.host.memory.state import State
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.system.processes.deadline import NEVER, Deadline

_MOST_STATEMENTS = 3_000
"""From one root."""
_CLOCK_EVERY = 64
"""Statements between two looks at the clock."""


class Analysis:
    """Analyses functions from the outside in."""

    def __init__(self, text_of: Callable[[Place], str], deadline: Deadline = NEVER) -> None:
        """`text_of` gives what stands at a place."""
        self.text_of, self.deadline = text_of, deadline
        self.numbers = Numbers()
        self.state = State()
        self.faults: dict[tuple[str, Place, str], HostFault] = {}
        self.frames: list[Frame] = []
        self.sizes: dict[Allocation, Quantity] = {}
        """In bytes, of those of which it is known."""
        self.variables: dict[Key, Allocation] = {}
        """Variables of the host, and of the device, as memory."""
        self.silent = 0
        """How deep the analysis is in what is not evaluated: nothing there touches memory."""
        self.testing = 0
        """How deep it is in conditions of loops, which may wait for what they read."""
        self.handed_on: set[Allocation] = set()
        """Allocations that functions know which are not in sight, and which these may have pinned."""
        self.captured: set[ir.Symbol] = set()
        """Variables that lambdas may change."""
        self.computed: set[ir.Symbol] = set()
        """Variables of numbers that are parts of others, or bytes."""
        self.registers = False
        """Whether the program pins memory that was allocated elsewhere, or has devices that read all memory."""
        self.turn = 0
        """Iterations of loops that were followed."""
        self.statements = 0

    def root(self, function: ir.Function) -> None:
        """Analyses a function as if somebody called it with arguments of which nothing is known."""
        self.state, self.statements, self.silent, self.testing = State(), 0, 0, 0
        self.frames = [Frame(function)]
        try:
            self.execute(function.body)
        except TooLong:
            return
        finally:
            self.frames = []

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def execute(self, statement: st.Stmt) -> None:
        """Raises `TooLong` where there is no time for more."""
        self.statements += 1
        if self.statements > _MOST_STATEMENTS or (self.statements % _CLOCK_EVERY == 0 and self.deadline.is_over()):
            raise TooLong
        statements.execute(self, statement)

    def value(self, expr: ir.Expr) -> Value:
        """What an expression gives, with all that its evaluation does."""
        return expressions.value(self, expr)

    def place(self, expr: ir.Expr) -> Where:
        """What an lvalue names."""
        return expressions.place(self, expr)

    def read(self, where: Where, expr: ir.Expr) -> Value:
        """What an lvalue holds that an expression names."""
        return expressions.read(self, where, expr)

    def number(self, expr: ir.Expr) -> Quantity:
        """The same of a whole number: an unknown one where it is not followed."""
        found = self.value(expr)
        return found if isinstance(found, Quantity) else self.numbers.fresh(self.text_of(Place(*expr.span)) or "?")

    def fault(self, fault: HostFault) -> None:
        """Notes a fault, once for its place."""
        self.faults.setdefault((fault.kind, fault.place, fault.name), fault)

    def allocated(self, allocation: Allocation, size: Quantity | None) -> None:
        """Notes that memory is allocated."""
        self.state.made.add(allocation)
        if size is not None:
            self.sizes[allocation] = size


def analysed(analysis: Analysis, functions: Sequence[ir.Function]) -> Sequence[HostFault]:
    """The faults of some functions, each seen as a root."""
    for function in functions:
        analysis.root(function)
    return tuple(analysis.faults.values())
