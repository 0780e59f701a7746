"""A launch executed in all of its worlds, with more of them for what the first ones don't come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import structs

from cudalint.execute.trace import Trace
from cudalint.hardware.targets import Target
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.launches.batches import batch
from cudalint.launches.configuration import Configuration
from cudalint.launches.space import LaunchSpace, space_of_launch
from cudalint.measure.executed import Compiled, Executed, execute
from cudalint.system.processes.deadline import NEVER, Deadline
from cudalint.worlds.choosing import World, Worlds, choose
from cudalint.worlds.reach import reaching
from cudalint.worlds.units import with_units


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
