"""Loops: their first iteration as it is, the second one after it, and what holds after any number of them. Where the
first one does nothing but to compute, the second one would find nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.facts import Place
from cudalint.facts.host_faults import HostFault
from cudalint.host.memory import conditions, expressions
from cudalint.host.memory.frames import Loop
from cudalint.host.memory.places import spelled
from cudalint.host.memory.pointers import Allocation
from cudalint.host.memory.quantities import Quantity
from cudalint.host.memory.state import State, either
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis

Repeated = st.For | st.While | st.DoWhile | st.RangeFor


def loop(an: Analysis, statement: Repeated) -> None:
    """Follows two iterations."""
    if isinstance(statement, st.For) and statement.init is not None:
        an.execute(statement.init)
    if isinstance(statement, st.RangeFor):
        an.value(statement.range)
    first_allocations = set(an.state.made)
    ends: list[State] = []
    going = an.state
    if not isinstance(statement, st.DoWhile):
        going, left = _tested(an, statement)
        ends.append(left)
    before = _memory_of(going)
    first = _iteration(an, statement, going, ends)
    is_computing = not first.dead and before == _memory_of(first)
    made_first = first.made - first_allocations
    going, left = _tested(an, statement, first)
    ends.append(left)
    if is_computing:
        ends.append(going)
        an.state = either(ends)
        _forget_changed(an, statement)
    elif not going.dead:
        second = _iteration(an, statement, going, ends)
        made_second = second.made - made_first - first_allocations
        _compare(an, statement, made_first, made_second, second)
        ends.append(second)
        an.state = either(ends)
        _forget_changed(an, statement)
    else:
        an.state = either(ends)


def _memory_of(state: State) -> object:
    """What is known but for numbers: two states that are equal here have the same memory, and it is led to alike."""
    others = {key: found for key, found in state.values.items() if found is not None and type(found) is not Quantity}
    return others, frozenset(state.made), dict(state.released), state.pending


def _tested(an: Analysis, statement: Repeated, state: State | None = None) -> tuple[State, State]:
    """The states in which a loop goes on, and in which it ends."""
    if state is not None:
        an.state = state
    if an.state.dead:
        return State(dead=True), State(dead=True)
    if isinstance(statement, st.RangeFor):
        return an.state.fork(), an.state
    if statement.condition is None:
        return an.state, State(dead=True)
    an.testing += 1
    found = conditions.ways(an, statement.condition)
    an.testing -= 1
    return found


def _iteration(an: Analysis, statement: Repeated, state: State, ends: list[State]) -> State:
    """The state after an iteration that begins with one."""
    an.state = state
    if state.dead:
        return state
    found = Loop()
    an.turn += 1
    an.frame.loops.append(found)
    if isinstance(statement, st.RangeFor):
        expressions.initialise(an, statement.symbol, None)
    an.execute(statement.body)
    an.frame.loops.pop()
    ends += found.breaks
    an.state = either((an.state, *found.continues))
    if isinstance(statement, st.For) and statement.increment is not None and not an.state.dead:
        an.value(statement.increment)
    return an.state


def _forget_changed(an: Analysis, statement: Repeated) -> None:
    """After more iterations, numbers are others than after two."""
    for symbol in walk.effects(statement).assigned:
        for key in [key for key in an.state.values if key[0] is symbol]:
            if isinstance(an.state.values[key], Quantity):
                an.state.forget(key)


def _compare(
    an: Analysis, statement: Repeated, first: set[Allocation], second: set[Allocation], after: State
) -> None:
    """Allocations that both iterations make: of another size, they have any later on; of the same one, and released
    again, one of them would do."""
    by_place = {each.made_at: each for each in first}
    for again in second:
        before = by_place.get(again.made_at)
        if before is None:
            continue
        size = an.sizes.get(again)
        if size is None or an.sizes.get(before) != size:
            an.sizes.pop(again, None)
            an.sizes.pop(before, None)
        elif again in after.released and before in after.released and _may_stand_outside(again, statement):
            release = after.released[again]
            an.fault(HostFault(
                "allocated-again", again.made_at, _name(an, again), again.made_by, again.space, again.made_by,
                again.made_at, release.place, release.by, an.numbers.text(size), str(Place(*statement.span).line),
            ))  # fmt: skip


def _may_stand_outside(allocation: Allocation, statement: Repeated) -> bool:
    """Whether one allocation would do, and saves something: a loop over few cases, each of which is launched again and
    again, spends its time on these launches."""
    if allocation.space != "device" or allocation.made_at.path != statement.span.path:
        return False
    if not statement.span.line <= allocation.made_at.line <= statement.span.end_line:
        return False
    nodes = tuple(walk.walk(statement))
    if any(isinstance(node, ir.Call) and node.name == "cudaSetDevice" for node in nodes):
        return False
    return not any(_launches_again(node) for node in nodes if node is not statement)


def _launches_again(node: object, deepest: int = 3) -> bool:
    """Whether a loop launches kernels, or a function that is called does so in one; `deepest` calls in one another."""
    if isinstance(node, (st.For, st.While, st.RangeFor)):
        return any(_launches(each) for each in walk.walk(node))
    ref = node.function if isinstance(node, ir.Call) else None
    if ref is None or not deepest or not _launches(node):
        return False
    function = ref.load()
    return function is not None and any(_launches_again(each, deepest - 1) for each in walk.nodes_in(function))


def _launches(node: object) -> bool:
    if isinstance(node, ir.Call):
        ref = node.function
        return ref is not None and ref.is_user and ref.kind == "host" and ref.has_launch()
    return isinstance(node, ir.Launch)


def _name(an: Analysis, allocation: Allocation) -> str:
    key = allocation.variable
    return spelled(key) if key is not None else "?"

