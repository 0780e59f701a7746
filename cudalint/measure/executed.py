"""One launch of a kernel, executed in all of its worlds: what the facts of every kind are computed from."""

from __future__ import annotations

from functools import cached_property

from cudalint.execute.budget import Limits
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.execute.trace import Trace
from cudalint.ir import nodes as ir
from cudalint.measure.requests import AccessSite, Figures, figures
from cudalint.processes.deadline import NEVER, Deadline
from cudalint.worlds.records import Batch


class Executed:
    """A kernel, the worlds of one launch, and the trace that its execution leaves; what several kinds of facts ask is
    computed when it is asked for the first time, and kept."""

    def __init__(self, function: ir.Function, batch: Batch, trace: Trace) -> None:
        self.function, self.batch, self.trace = function, batch, trace

    @cached_property
    def figures(self) -> dict[AccessSite, Figures]:
        """Of each access that is reached in some world."""
        return figures(self.trace)


def execute(function: ir.Function, batch: Batch, program: Program, deadline: Deadline = NEVER) -> Executed:
    """Executes a kernel in all worlds of a launch, as far as it comes until the deadline. `program` keeps what functions
    were compiled to."""
    machine = Machine(batch.lanes(), program, Limits(deadline=deadline))
    return Executed(function, batch, machine.run(function, dict(batch.arguments)))
