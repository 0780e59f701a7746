"""One launch of a kernel, executed in all of its worlds: what the facts of every kind are computed from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field, structs

from cudalint.execute.budget import Limits
from cudalint.execute.counted import CountedProgram
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.execute.trace import Trace
from cudalint.hardware.targets import Target
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.launches.batches import batch
from cudalint.launches.configuration import Configuration
from cudalint.launches.space import LaunchSpace, space_of_launch
from cudalint.measure.machine_accesses import MachineSite, SiteKey, machine_sites
from cudalint.measure.requests import AccessSite, Figures, figures
from cudalint.measure.work.counts import Laid, Work, counted, laid_out
from cudalint.measure.work.lengths import Lengths
from cudalint.system.processes.deadline import NEVER, Deadline
from cudalint.worlds.choosing import World, Worlds, choose
from cudalint.worlds.open_sizes import NONE_OPEN, OpenSizes
from cudalint.worlds.reach import reaching
from cudalint.worlds.records import Batch
from cudalint.worlds.units import with_units


class Layouts(Struct, eq=False):
    """Functions as the compiler lays them out, as far as anybody asked."""

    capability: tuple[int, int] = (0, 0)
    """Of the GPU that they are compiled for."""
    found: dict[tuple[ir.Function, tuple[int, int]], Laid] = field(default_factory=dict)

    def of(self, function: ir.Function) -> Laid:
        key = function, self.capability
        if key not in self.found:
            self.found[key] = laid_out(function, self.capability)
        return self.found[key]


class Executed:
    """A kernel, the worlds of one launch, and the trace that its execution leaves; what several kinds of facts ask is
    computed when it is asked for the first time, and kept."""

    def __init__(
        self, function: ir.Function, batch: Batch, trace: Trace, laid: Layouts,
        program: Program | None = None,
    ) -> None:  # fmt: skip
        """`laid` keeps what is known of functions, whatever they are launched with, and `program` what they were
        compiled to."""
        self.function, self.batch, self.trace, self._laid = function, batch, trace, laid
        self._program = program or Program()

    @cached_property
    def figures(self) -> dict[AccessSite, Figures]:
        """Of each access that is reached in some world."""
        return figures(self.trace)

    def in_full(self) -> Executed:
        """Once more, with each turn of each loop, as far as that is not too much."""
        machine = Machine(self.batch.lanes(), self._program, Limits(_MOST_STEPS), in_full=True)
        trace = machine.run(self.function, dict(self.batch.arguments))
        return Executed(self.function, self.batch, trace, self._laid, self._program)

    @cached_property
    def laid(self) -> Laid:
        """The kernel as the compiler lays it out."""
        return self._laid.of(self.function)

    @cached_property
    def machine(self) -> dict[SiteKey, MachineSite]:
        """What the compiler makes of accesses."""
        return machine_sites(self.laid, self.function.volatile)

    def lengths(self, open_: OpenSizes = NONE_OPEN, world: int = 0) -> Lengths:
        """How long loops are taken for of which nothing in sight says that."""
        threads = float(math.prod(self.batch.grid[world]) * math.prod(self.batch.block))
        return Lengths(self.trace, self.laid, open_, threads, world)

    def work(self, lengths: Lengths, world: int = 0) -> Work:
        """Instructions and operations of a world's grid."""
        return counted(self.laid, lengths.counted(), world)


_MOST_STEPS = 100_000
"""Of an execution in full."""


class Compiled(Struct, eq=False):
    """What is kept of the functions of a file from one launch to the next."""

    program: CountedProgram = field(default_factory=CountedProgram)
    laid: Layouts = field(default_factory=Layouts)
    axioms: tuple[ir.Function, ...] = ()
    """What the file states about all of its kernels."""


def execute(function: ir.Function, batch: Batch, compiled: Compiled, deadline: Deadline = NEVER) -> Executed:
    """Executes a kernel in all worlds of a launch, as far as it comes until the deadline."""
    machine = Machine(batch.lanes(), compiled.program, Limits(deadline=deadline))
    trace = machine.run(function, dict(batch.arguments), compiled.axioms)
    return Executed(function, batch, trace, compiled.laid, compiled.program)


# --- all worlds of a launch ----------------------------------------------------------------------------


class InWorlds(NamedTuple):
    """A launch that was executed, and the worlds that were chosen for it."""

    executed: Executed
    space: LaunchSpace
    worlds: Worlds

    def with_block(self, configuration: Configuration, compiled: Compiled) -> Executed:
        """The same worlds of a launch that is another one by the shape of its blocks alone."""
        return execute(self.executed.function, batch(configuration, self.space, self.worlds), compiled)


def in_worlds(
    configuration: Configuration, function: ir.Function, graph: Graph, statements: Sequence[Node], target: Target,
    compiled: Compiled, deadline: Deadline = NEVER,
) -> InWorlds:  # fmt: skip
    """`statements` are what users say of the launch."""
    compiled.laid.capability = target.compute_capability
    space = space_of_launch(configuration, function, graph, statements, target, compiled.program)
    done: list[tuple[Sequence[World], Executed]] = []

    def executed(worlds: Worlds) -> Executed:
        for own, before in done:
            if own == worlds.worlds:
                return before
        found = execute(function, batch(configuration, space, worlds), compiled, deadline)
        done.append((worlds.worlds, found))
        return found

    def trace(worlds: Sequence[World]) -> Trace:
        return executed(Worlds(tuple(worlds), ("",) * len(worlds), 0, ())).trace

    chosen = choose(space.space)
    worlds = reaching(
        chosen, space.space, space.text.uses, trace, behind=space.open.behind, admits=space.admits, knows=space.knows
    )
    worlds = with_units(
        worlds, space.space, space.text.uses, space.text.found, trace, behind=space.open.behind, admits=space.admits
    )
    found = executed(worlds)
    why = ("usual numbers", *worlds.why[1:])
    told = Executed(function, structs.replace(found.batch, why=why), found.trace, compiled.laid, compiled.program)
    return InWorlds(told, space, worlds)
