"""One launch of a kernel, executed in all of its worlds: what the facts of every kind are computed from."""

from __future__ import annotations

from functools import cached_property

from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.execute.trace import Trace
from cudalint.ir import nodes as ir
from cudalint.measure.requests import AccessSite, Figures, figures
from cudalint.worlds.records import Batch


class Executed:
    """A kernel, the worlds of one launch, and the trace that its execution leaves; what several kinds of facts ask is
    computed when it is asked for the first time, and kept."""

    def __init__(self, function: ir.Function, batch: Batch, trace: Trace, program: Program) -> None:
        self.function, self.batch, self.trace = function, batch, trace
        self._program = program

    @cached_property
    def figures(self) -> dict[AccessSite, Figures]:
        """Of each access that is reached in some world."""
        return figures(self.trace)

    def in_full(self) -> Executed:
        """Once more, with each turn of each loop, as far as that is not too much."""
        machine = Machine(self.batch.lanes(), self._program, _MOST_STEPS, in_full=True)
        trace = machine.run(self.function, dict(self.batch.arguments))
        return Executed(self.function, self.batch, trace, self._program)


_MOST_STEPS = 100_000
"""Of an execution in full."""


def execute(function: ir.Function, batch: Batch, program: Program) -> Executed:
    """Executes a kernel in all worlds of a launch. `program` keeps what functions were compiled to."""
    return Executed(function, batch, Machine(batch.lanes(), program).run(function, dict(batch.arguments)), program)
