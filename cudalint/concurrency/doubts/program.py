"""Whether the program is run as it was evaluated: with this launch and these sizes, and with nothing in between that is
not understood."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.doubts.doubt import Doubt, conditions_of
from cudalint.concurrency.doubts.sizes import is_bound, open_sizes
from cudalint.concurrency.trial import Trial
from cudalint.concurrency.tried_sizes import divides_by_too_much, faults, is_another_grid, size_guards
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, UnseenCall
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, bits_of
from cudalint.values.opaque_parts import opaque_parts


@heuristic("doubt-unfit", "sizes under which the program faults").otherwise(None)
def unfit(conflict: Conflict, trial: Trial, execution: Execution) -> Doubt | None:
    """Sizes that no program runs the kernel with."""
    ends = (conflict.first, conflict.second)
    if any(faults(end, trial.values, execution) for end in ends):
        return Doubt("the sizes that were taken make misaligned addresses", excludes=True)
    if any(divides_by_too_much(end, trial.values, execution) for end in ends):
        return Doubt("the sizes that were taken leave nothing of a number that they divide", excludes=True)
    return None


@heuristic("doubt-grid", "grids that nobody gave").otherwise(None)
def grid(conflict: Conflict, execution: Execution) -> Doubt | None:
    """Blocks beside each other, in a grid that nobody gives, of a kernel that does not tell them apart here."""
    launch = execution.launch
    is_given = launch.site is not None and launch.site.grid != (None, None, None)
    is_given = is_given or launch.source == "launch-site" or launch.by_default
    if conflict.reach != "grid" or is_given:
        return None
    bits = 0
    for end in (conflict.first, conflict.second):
        bits |= dependence(end.context, end.offset, execution.view.graph).bits
    return None if bits & BLOCK_BITS else Doubt("it depends on the grid, which no launch in sight gives")


@heuristic("doubt-one-thread", "kernels that are written for one thread").otherwise(None)
def one_thread(execution: Execution) -> Doubt | None:
    """A kernel that no launch in sight gives a block, and that never asks for its thread: it may be meant for one."""
    if not execution.launch.block_is_made_up:
        return None
    graph = execution.view.graph
    if any(isinstance(event, AccessEvent) and _tells_threads_apart(event, graph) for event in execution.events):
        return None
    return Doubt("no launch in sight gives the block, and nothing in the kernel tells its threads apart")


@heuristic("doubt-one-of-a-number", "kernels that take a number for the block").otherwise(None)
def one_of_a_number(conflict: Conflict, execution: Execution) -> Doubt | None:
    """Threads that all do the same if they do anything, as many of them as a number says that nobody gives: with
    `i < n` around it, a kernel that never asks for `i` otherwise is meant for `n = 1`."""
    graph = execution.view.graph
    ends = (conflict.first, conflict.second)
    if not all(any(is_bound(part, graph) for part in conditions_of(graph, end)) for end in ends):
        return None
    for event in execution.events:
        if isinstance(event, AccessEvent):
            others = [part for part in conditions_of(graph, event) if not is_bound(part, graph)]
            if any(node.bits & (THREAD_BITS | BLOCK_BITS) for node in (event.offset, *others)):
                return None
            if _stores_its_own(event, graph):
                return None
    return Doubt("the threads do the same, as many as a number says that may be 1")


def _tells_threads_apart(event: AccessEvent, graph: Graph) -> bool:
    """Whether which thread it is decides who comes, where to, or what is stored."""
    is_placed = bool(dependence(event.context, event.offset, graph).bits & (THREAD_BITS | BLOCK_BITS))
    return is_placed or _stores_its_own(event, graph)


def _stores_its_own(event: AccessEvent, graph: Graph) -> bool:
    """Whether which thread it is decides what is stored."""
    bits = 0
    for value in event.values or ():
        # What comes out of clocks and the like differs between threads that nothing else tells apart.
        made_up = {part: graph.const(0, part.kind) for part, reason in opaque_parts(graph, value) if not reason.data}
        bits |= graph.substitute(value, made_up).bits
    return bool(bits & (THREAD_BITS | BLOCK_BITS))


@heuristic("doubt-unlikely-launch", "launches that nobody shows").otherwise(None)
def unlikely_launch(conflict: Conflict, trial: Trial, execution: Execution) -> Doubt | None:
    """Sizes that matter here, and under which the host code would not have come to the launch, or not with the block
    that was made up for it."""
    site = execution.launch.site
    if not trial.is_launched:
        return Doubt("the sizes that were taken make no grid")
    is_global = conflict.first.target.space == "global"
    if is_global and any(guard.is_const and not guard.value for guard in execution.view.guards):
        # Rows of one element, say, where it asks for a multiple of 128.
        return Doubt("the host code does not come to the launch with the numbers that it has")
    if trial.values and site is not None and None in site.block:
        return Doubt("it depends on how sizes go with the block, which the launch leaves open")
    if is_another_grid(trial.values, (conflict.first.offset, conflict.second.offset), execution):
        return Doubt("it depends on how sizes go with the grid, which the launch makes from other ones")
    sizes = bits_of(open_sizes(conflict, trial, execution))
    guards = [g for g in size_guards(execution) if not g.bits & ~sizes]
    if all(holds(trial.graph, guard, trial.values) for guard in guards):
        return None
    return Doubt("the sizes that were taken are not those of this launch")


@heuristic("doubt-parts-missing", "calls that are not understood").otherwise(None)
def parts_missing(conflict: Conflict, execution: Execution, trial: Trial) -> Doubt | None:
    """What is not understood may be a barrier."""
    if not execution.complete or execution.function.problems:
        return Doubt("part of the kernel is not understood")
    for call in execution.unseen:
        if call.is_anywhere or _is_between(call, conflict, trial.tree().places):
            return Doubt(f"`{call.name}`, which is not understood, may order the threads")
    if conflict.reach != "grid" and any(_is_for_one(each, conflict) for each in _named_barriers(execution)):
        return Doubt("a barrier that not all threads of the block wait for may order them")
    return None


@functools.lru_cache(maxsize=1)
def _named_barriers(execution: Execution) -> list[BarrierEvent]:
    """Those at which threads wait and of which it is not followed who comes."""
    barriers = (event for event in execution.events if isinstance(event, BarrierEvent))
    return [event for event in barriers if event.kind == "named" and event.part != "arrive"]


def _is_for_one(event: BarrierEvent, conflict: Conflict) -> bool:
    """Whether threads wait at a barrier on the branch of one of the accesses only: what the branches do is told one
    after the other, whichever of them is first in time."""
    comes = set(event.context.conditions)
    branches = [comes <= set(end.context.conditions) for end in (conflict.first, conflict.second)]
    return bool(comes) and branches[0] != branches[1]


def _is_between(call: UnseenCall, conflict: Conflict, places: Mapping[int, int]) -> bool:
    """Whether a call that is executed once comes after one end of a conflict and before the other one. `places` has the
    position of each event, by its identity."""
    first, second = (places.get(id(end)) for end in (conflict.first, conflict.second))
    if first is None or second is None:
        return True
    return min(first, second) < call.position <= max(first, second)
