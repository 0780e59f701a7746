"""A launch executed in all of its worlds, with more of them for what the first ones don't come to."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from cudalint.execute.trace import Trace
from cudalint.hardware.targets import Target
from cudalint.ir import nodes as ir
from cudalint.launches.batches import batch
from cudalint.launches.configuration import Configuration
from cudalint.launches.space import space_of_launch
from cudalint.measure.executed import Compiled, Executed, execute
from cudalint.processes.deadline import NEVER, Deadline
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node
from cudalint.worlds.choosing import World, Worlds, choose
from cudalint.worlds.reach import reaching


def executed_in_worlds(
    configuration: Configuration, function: ir.Function, graph: Graph, statements: Sequence[Node], target: Target,
    compiled: Compiled, deadline: Deadline = NEVER,
) -> Executed:  # fmt: skip
    """`statements` are what users say of the launch."""
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
    worlds = reaching(chosen, space.space, space.text.uses, trace, behind=space.open.behind)
    found = executed(worlds)
    why = ("usual numbers", *worlds.why[1:])
    return Executed(function, structs.replace(found.batch, why=why), found.trace, compiled.laid, compiled.program)
