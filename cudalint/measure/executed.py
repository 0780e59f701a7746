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
from cudalint.measure.seen import Seen
from cudalint.measure.work.counts import Laid, Work, counted, laid_out
from cudalint.measure.work.lengths import Lengths
from cudalint.system.processes.deadline import NEVER, Deadline
from cudalint.worlds.choosing import World, Worlds, choose
from cudalint.worlds.open_sizes import NONE_OPEN, OpenSizes
from cudalint.worlds.reach import reaching
from cudalint.worlds.records import Batch
from cudalint.worlds.units import with_units

_MOST_STEPS = 100_000
"""Of an execution in full."""


class Compiled(Struct, eq=False):
    """What is kept of the functions of a file from one launch to the next."""

    program: CountedProgram = field(default_factory=CountedProgram)
    axioms: tuple[ir.Function, ...] = ()
    """What the file states about all of its kernels."""
    capability: tuple[int, int] = (0, 0)
    """Of the GPU that they are compiled for."""
    steps: int = 0
    """Of all executions until now."""
    _laid: dict[tuple[ir.Function, tuple[int, int]], Laid] = field(default_factory=dict)

    def laid(self, function: ir.Function) -> Laid:
        """A function as the compiler lays it out."""
        key = function, self.capability
        if key not in self._laid:
            self._laid[key] = laid_out(function, self.capability)
        return self._laid[key]


class Executed:
    """A kernel, the worlds of one launch, and the trace that its execution leaves; what several kinds of facts ask is
    computed when it is asked for the first time, and kept."""

    def __init__(self, function: ir.Function, batch: Batch, trace: Trace, compiled: Compiled) -> None:
        self.function, self.batch, self.trace, self._compiled = function, batch, trace, compiled

    @cached_property
    def seen(self) -> Seen:
        """What the execution shows of places, beside what the tree says of them."""
        return Seen(self.function, self.trace)

    @cached_property
    def figures(self) -> dict[AccessSite, Figures]:
        """Of each access that is reached in some world."""
        return figures(self.trace)

    def in_full(self) -> Trace:
        """Executed once more, with each turn of each loop, as far as that is not too much."""
        machine = Machine(self.batch.lanes(), self._compiled.program, Limits(_MOST_STEPS), in_full=True)
        return machine.run(self.function, dict(self.batch.arguments))

    @cached_property
    def laid(self) -> Laid:
        """The kernel as the compiler lays it out."""
        return self._compiled.laid(self.function)

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


def execute(function: ir.Function, batch: Batch, compiled: Compiled, deadline: Deadline = NEVER) -> Executed:
    """Executes a kernel in all worlds of a launch, as far as it comes until the deadline."""
    machine = Machine(batch.lanes(), compiled.program, Limits(deadline=deadline))
    trace = machine.run(function, dict(batch.arguments), compiled.axioms)
    compiled.steps += trace.steps
    return Executed(function, batch, trace, compiled)


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
    """A launch executed in all of its worlds, with more of them for what the first ones don't come to. `statements` are
    what users say of the launch."""
    compiled.capability = target.compute_capability
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

    if configuration.worlds:
        usual = {symbol: space.open.usual(symbol) for symbol in space.open.all}
        given = tuple({**usual, **own.numbers} for own in configuration.worlds)
        known = Worlds(given, ("as recorded",) * len(given), len(given), ())
        return InWorlds(executed(known), space, known)
    uses, found, behind = space.text.uses, space.text.found, space.open.behind
    worlds = choose(space.space)
    worlds = reaching(worlds, space.space, uses, trace, behind=behind, admits=space.admits, knows=space.knows)
    worlds = with_units(worlds, space.space, uses, found, trace, behind=behind, admits=space.admits)
    last = executed(worlds)
    named = structs.replace(last.batch, why=("usual numbers", *worlds.why[1:]))
    return InWorlds(Executed(function, named, last.trace, compiled), space, worlds)
