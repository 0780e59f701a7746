"""How sure a race is: what guards its accesses, what their addresses come from, and whether other sizes make it vanish.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from cudalint import ir
from cudalint.evaluate.checks.probes import depends_on, generic, symbols
from cudalint.evaluate.execute.events import AccessEvent, BarrierEvent, Event, FenceEvent, UnseenCall
from cudalint.evaluate.execute.values import Allocation
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.symbolic.assumptions import holds
from cudalint.evaluate.symbolic.graph import Graph, conjuncts
from cudalint.evaluate.symbolic.nodes import BLOCK_BITS, THREAD_BITS, Node, Reason, Uniform, render
from cudalint.evaluate.symbolic.numeric import Data, Rows
from cudalint.evaluate.symbolic.opaque_parts import opaque_parts, without_data
from cudalint.evaluate.symbolic.polynomial import terms_of
from cudalint.flow.conflicts import Conflict
from cudalint.flow.distances import is_in_range
from cudalint.flow.lanes import is_up_to_data
from cudalint.flow.left_out import size_guards
from cudalint.flow.pitches import is_another_grid
from cudalint.flow.reach import is_reached, leaves
from cudalint.flow.trial import GaveUp, Trial
from cudalint.flow.unfit import divides_by_too_much, faults
from cudalint.flow.unfold import TooLarge, Touch
from cudalint.flow.updates import is_shared_update
from cudalint.flow.valuations import satisfy
from cudalint.options import RaceScope

_MOST_OTHERS = 32
_FEW = 3
_RARE = 4
"""A race that is there for three in four of the sizes that are tried is one of ordinary sizes."""
_MOST_MEMORY = 1 << 38
"""Bytes: more than GPUs have."""
_FEW_ELEMENTS = (8, 1)
"""That an array certainly has room for, among several in a buffer."""
_FAR_APART = (1_299_709, 104_729, 15_485_863, 7_919, 611_953)
"""Primes: strides of which no small multiples add up to the same."""
_CHANGES = "changes from iteration to iteration"
_DATA: tuple[Data, ...] = ("zero", "place")
"""What memory may hold as well. Two threads that meet whatever it holds meet for certain."""


class Doubt(Struct, frozen=True):
    """What a race depends on."""

    reason: str
    size: str | None = None
    """The plain size that it depends on, where it is there for most sizes."""
    usual: bool = False
    """It is there for ordinary data: as soon as two numbers are equal, or two threads find what they look for."""
    excludes: bool = False
    """The two accesses cannot happen in one run at all."""
    unfinished: bool = False
    """There is too much to look at for anybody to tell."""


def doubt_about(
    conflict: Conflict, trial: Trial, execution: Execution, touches: Sequence[Touch], size: int | None
) -> Doubt | None:
    """None for a race that is certain."""
    graph = trial.graph
    guarded = _guards(graph, conflict)
    known = (
        contradiction(conflict, graph)
        or _unfit(conflict, trial, execution)
        or (guarded if guarded is not None and not guarded.usual else None)
        or _signals(graph, conflict, execution.events)
        or _parts_missing(conflict, execution, trial)
        or _grid(conflict, execution)
        or _one_thread(execution)
        or _one_of_a_number(conflict, execution)
        or _unlikely_launch(conflict, trial, execution)
    )
    if known is not None:
        return known
    try:
        return (
            _extent(conflict, trial, size)
            or _next_array(conflict, trial, execution, touches, size)
            or _far_on(conflict, trial, touches, size)
            or _layout(conflict, trial, touches, size)
            or _addresses(conflict, trial, touches, size)
            or _sizes(conflict, trial, execution, touches, size)
            or guarded
        )
    except GaveUp:
        return Doubt("there was no time to try other sizes and data", unfinished=True)


def _unfit(conflict: Conflict, trial: Trial, execution: Execution) -> Doubt | None:
    """Sizes that no program runs the kernel with."""
    ends = (conflict.first, conflict.second)
    if any(faults(end, trial.values, execution) for end in ends):
        return Doubt("the sizes that were taken make misaligned addresses", excludes=True)
    if any(divides_by_too_much(end, trial.values, execution) for end in ends):
        return Doubt("the sizes that were taken leave nothing of a number that they divide", excludes=True)
    return None


def _grid(conflict: Conflict, execution: Execution) -> Doubt | None:
    """Blocks beside each other, in a grid that nobody gives, of a kernel that does not tell them apart here."""
    launch = execution.launch
    is_given = launch.site is not None and launch.site.grid != (None, None, None)
    is_given = is_given or launch.source == "launch-site" or launch.by_default
    if conflict.reach != "grid" or is_given:
        return None
    bits = 0
    for end in (conflict.first, conflict.second):
        bits |= depends_on(end.context, end.offset)
    return None if bits & BLOCK_BITS else Doubt("it depends on the grid, which no launch in sight gives")


def _one_thread(execution: Execution) -> Doubt | None:
    """A kernel that no launch in sight gives a block, and that never asks for its thread: it may be meant for one."""
    if not execution.launch.block_is_made_up:
        return None
    graph = execution.view.graph
    if any(isinstance(event, AccessEvent) and _tells_threads_apart(event, graph) for event in execution.events):
        return None
    return Doubt("no launch in sight gives the block, and nothing in the kernel tells its threads apart")


def _one_of_a_number(conflict: Conflict, execution: Execution) -> Doubt | None:
    """Threads that all do the same if they do anything, as many of them as a number says that nobody gives: with
    `i < n` around it, a kernel that never asks for `i` otherwise is meant for `n = 1`."""
    graph = execution.view.graph
    if not all(any(_is_bound(part, graph) for part in _parts(graph, end)) for end in (conflict.first, conflict.second)):
        return None
    for event in execution.events:
        if isinstance(event, AccessEvent):
            others = [part for part in _parts(graph, event) if not _is_bound(part, graph)]
            if any(node.bits & (THREAD_BITS | BLOCK_BITS) for node in (event.offset, *others)):
                return None
            if _stores_its_own(event, graph):
                return None
    return Doubt("the threads do the same, as many as a number says that may be 1")


def _is_bound(part: Node, graph: Graph) -> bool:
    """Whether a condition compares the number of a thread with a size that nobody gives."""
    compared = part.args[0] if part.op == "!" else part
    tells = part.bits & THREAD_BITS and part.bits & graph.uniform_bits
    return bool(tells) and not part.bits & graph.opaque_bits and compared.op in ("<", "<=")


def _tells_threads_apart(event: AccessEvent, graph: Graph) -> bool:
    """Whether which thread it is decides who comes, where to, or what is stored."""
    is_placed = bool(depends_on(event.context, event.offset) & (THREAD_BITS | BLOCK_BITS))
    return is_placed or _stores_its_own(event, graph)


def _stores_its_own(event: AccessEvent, graph: Graph) -> bool:
    """Whether which thread it is decides what is stored."""
    bits = 0
    for value in event.values or ():
        # What comes out of clocks and the like differs between threads that nothing else tells apart.
        made_up = {part: graph.const(0, part.kind) for part, reason in opaque_parts(graph, value) if not reason.data}
        bits |= graph.substitute(value, made_up).bits
    return bool(bits & (THREAD_BITS | BLOCK_BITS))


def _unlikely_launch(conflict: Conflict, trial: Trial, execution: Execution) -> Doubt | None:
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
    sizes = 0
    for symbol in _symbols(conflict, trial, execution):
        sizes |= symbol.bits
    guards = [g for g in size_guards(execution) if not g.bits & ~sizes]
    if all(holds(trial.graph, guard, trial.values) for guard in guards):
        return None
    return Doubt("the sizes that were taken are not those of this launch")


def _parts_missing(conflict: Conflict, execution: Execution, trial: Trial) -> Doubt | None:
    """What is not understood may be a barrier."""
    if not execution.complete or execution.function.problems:
        return Doubt("part of the kernel is not understood")
    for call in execution.unseen:
        if call.is_anywhere or _is_between(call, conflict, trial.program().places):
            return Doubt(f"`{call.name}`, which is not understood, may order the threads")
    if conflict.reach != "grid" and any(_is_for_one(event, conflict) for event in execution.events):
        return Doubt("a barrier that not all threads of the block wait for may order them")
    return None


def _is_for_one(event: Event, conflict: Conflict) -> bool:
    """Whether threads wait, on the branch of one of the accesses only, at a barrier of which it is not followed who
    comes: what the branches do is told one after the other, whichever of them is first in time."""
    if not isinstance(event, BarrierEvent) or event.kind != "named" or event.part == "arrive":
        return False
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


# --- guards --------------------------------------------------------------------------------------------


def _parts(graph: Graph, touch: Touch) -> list[Node]:
    """The conditions under which a thread gets there, those of its loops included."""
    conditions = [*touch.context.conditions, *(loop.condition for loop in touch.context.loops)]
    return [part for condition in conditions for part in conjuncts(graph, condition)]


def _own(conflict: Conflict) -> int:
    """The leaves in which the two threads differ."""
    return THREAD_BITS | (BLOCK_BITS if conflict.reach == "grid" else 0)


def contradiction(conflict: Conflict, graph: Graph) -> Doubt | None:
    """Conditions on what both threads share, of which one end needs the opposite of what the other end needs."""
    own = _own(conflict)
    first, second = (
        [c for c in _parts(graph, end) if c.bits & graph.opaque_bits and not c.bits & (own | graph.loop_bits)]
        for end in (conflict.first, conflict.second)
    )
    if not first or not second or set(first) == set(second):
        return None
    if _denies(first, second, graph) or _denies(second, first, graph):
        return Doubt("the two accesses are on opposite sides of one condition", excludes=True)
    together = [*first, *second]
    atoms = list(dict.fromkeys(part for c in together for part, _ in opaque_parts(graph, c)))
    bits = 0
    for atom in atoms:
        bits |= atom.bits
    if any(c.bits & ~bits for c in together) or len(atoms) > 4:
        return None
    if satisfy(graph, together, atoms) is None:
        return Doubt("it depends on whether both accesses can happen in one run")
    return None


def _denies(some: Sequence[Node], others: Sequence[Node], graph: Graph) -> bool:
    """Whether one of some conditions is the opposite of others, be it of several of them together."""
    held = set(others)
    return any(held.issuperset(conjuncts(graph, graph.negate(condition))) for condition in some)


def _guards(graph: Graph, conflict: Conflict) -> Doubt | None:
    """Loaded data that decides, thread by thread, who gets there."""
    guarded = 0
    looks_first = False
    doubt: Doubt | None = None
    deciding: list[Node] = []
    for end in (conflict.first, conflict.second):
        varying = _decided_by_data(end, conflict, graph)
        deciding += varying
        for condition in varying:
            reasons = [reason for _, reason in opaque_parts(graph, condition)]
            doubt = Doubt(_depends(reasons))
            if any(not reason.data for reason in reasons):
                return doubt
            # `if (d[u] + w < d[v]) d[v] = d[u] + w`: what the array holds may keep the threads apart for good.
            looks_first = looks_first or any(f"loaded from `{end.target.name}`" in reason.text for reason in reasons)
        guarded += bool(varying)
    if conflict.reach != "grid" and not (looks_first and conflict.first.target.space != "shared") and guarded < 2:
        return None
    if doubt is None or looks_first or not is_shared_update(conflict, deciding, _own(conflict), graph):
        return doubt
    parts = (known for condition in deciding for known in opaque_parts(graph, condition))
    return replace(doubt, usual=all(_is_loaded(graph, *known) for known in parts))


def _decided_by_data(end: Touch, conflict: Conflict, graph: Graph) -> list[Node]:
    """The conditions by which loaded data decides, thread by thread, who gets to one end."""
    own = _own(conflict)
    return [c for c in _parts(graph, end) if c.bits & graph.opaque_bits and c.bits & own]


def _depends(reasons: Sequence[Reason]) -> str:
    text = reasons[0].text if reasons else "a value is not known"
    return f"it depends on data: {text}"


def _signals(graph: Graph, conflict: Conflict, events: Sequence[Event]) -> Doubt | None:
    """Threads that wait for each other by flags in memory, or take locks."""
    if conflict.first.target.space != "shared" and (_has_fence(events) or _spins(graph, events)):
        return Doubt("the kernel orders threads by memory fences and flags, which are not followed")
    ends = (conflict.first, conflict.second)
    if any(_is_atomic_result(graph, part) for end in ends for part in _parts(graph, end)):
        return Doubt("it depends on the result of an atomic, by which threads may take turns")
    return None


def _has_fence(events: Sequence[Event]) -> bool:
    return any(isinstance(event, FenceEvent) for event in events)


def _spins(graph: Graph, events: Sequence[Event]) -> bool:
    """Whether a loop goes on for as long as global memory says so that the kernel also writes."""
    written = {e.target.name for e in events if isinstance(e, AccessEvent) and e.operation != "load"}
    loops = {loop for e in events if isinstance(e, AccessEvent) for loop in e.context.loops}
    return any(
        f"loaded from `{name}`" in reason.text
        for loop in loops
        if loop.condition.bits & graph.opaque_bits
        for _, reason in opaque_parts(graph, loop.condition)
        for name in written
    )


def _is_atomic_result(graph: Graph, condition: Node) -> bool:
    if not condition.bits & graph.opaque_bits:
        return False
    return any("result of `atomic" in reason.text for _, reason in opaque_parts(graph, condition))


# --- addresses and sizes -------------------------------------------------------------------------------


def _again(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> bool:
    """Whether the same two accesses conflict in another trial."""
    scope: RaceScope = "grid" if conflict.reach == "grid" else "block"
    return trial.has_conflict(conflict.sites, touches, size, scope)


def _extent(conflict: Conflict, trial: Trial, size: int | None) -> Doubt | None:
    """Sizes for which threads leave the array: the program is not meant for them."""
    try:
        if any(leaves(end, trial, size) for end in (conflict.first, conflict.second)):
            return Doubt("with the sizes that were taken, threads leave the array")
    except TooLarge:
        pass
    return None


def _next_array(
    conflict: Conflict, trial: Trial, execution: Execution, touches: Sequence[Touch], size: int | None
) -> Doubt | None:
    """The same for one array of several in a buffer: as many threads as a size says come to its elements, which reach
    into the array behind it if there are too many. The program is not meant for such sizes either."""
    first, second = conflict.first, conflict.second
    graph = trial.graph
    if not _is_of_bytes(first.target) or _start(first.offset, graph) is _start(second.offset, graph):
        return None
    bounds = [part for end in (first, second) for part in _parts(graph, end) if _is_bound(part, graph)]
    found = symbols(graph, functools.reduce(operator.or_, (bound.bits for bound in bounds), 0))
    for symbol in found:
        for number in _FEW_ELEMENTS if not (_is_given(symbol) or is_in_range(symbol, execution)) else ():
            other = trial.under({symbol: number})
            if _fits(graph, conflict, other.values) and not _again(conflict, other, touches, size):
                return Doubt(f"for as many as `{render(symbol)}` was taken for, the array has no room in its buffer")
    return None


def _is_of_bytes(array: Allocation) -> bool:
    """Whether shared memory is declared as bytes, for arrays of other types to be put into it."""
    declared = array.symbol.type if array.space == "shared" and array.symbol is not None else None
    return isinstance(declared, ir.ArrayType) and declared.element.bytes == 1


def _far_on(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> Doubt | None:
    """Loops that loaded data ends, and that come to the element late: `for (i = t; i < count[b]; i += 256) s[i] = ...`
    leaves what lies behind the first elements alone if no count is as large as that."""
    for end in (conflict.first, conflict.second):
        for loop in end.context.loops:
            if loop.condition.bits & trial.graph.opaque_bits and end.offset.bits & loop.counter.bits:
                if _again(conflict, trial.under({}, is_brief=True), touches, size):
                    return None
                _, reason = opaque_parts(trial.graph, loop.condition)[0]
                return Doubt(f"it depends on data how often a loop goes round: {reason.text}")
    return None


def _layout(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> Doubt | None:
    """Strides, between elements that don't overlap: a race that is there for generic strides only is none. Those of a
    tensor are known to be some, others are numbers that only ever multiply an index."""
    found = symbols(trial.graph, conflict.first.offset.bits | conflict.second.offset.bits)
    strides = [s for s in found if isinstance(s.payload, Uniform) and s.payload.stride in ("any", "outer")]
    likely = [s for s in found if s not in strides and _is_like_a_stride(s, conflict, trial)]
    for primes in (_FAR_APART, _FAR_APART[::-1]) if strides or likely else ():
        values: dict[Node, int | float] = dict(zip([*strides, *likely], itertools.cycle(primes)))
        if not _again(conflict, trial.under(values), touches, size):
            if not likely:
                return Doubt("the elements of a tensor do not overlap", excludes=True)
            return Doubt(f"it depends on how far apart elements are: on {_listed(likely)}, which nothing gives")
    return None


def _is_like_a_stride(symbol: Node, conflict: Conflict, trial: Trial) -> bool:
    """Whether a number that nothing gives is but multiplied by indices, and compared with nothing, as the length of a
    row would be."""
    ends = (conflict.first, conflict.second)
    if symbol.kind.is_float or _is_given(symbol) or symbol in trial.values:
        return False
    if any(part.bits & symbol.bits for end in ends for part in _parts(trial.graph, end)):
        return False
    if any(axis.bits & symbol.bits for axis in trial.grid):
        return False
    return any(moves_by(symbol, end.offset, trial.graph) for end in ends)


def moves_by(stride: Node, offset: Node, graph: Graph) -> bool:
    """Whether something that differs between threads or iterations is multiplied by a number, or by what is made of it
    alone: of strides in bytes, the elements (`i * (stride / 4)`)."""
    moving = THREAD_BITS | BLOCK_BITS | graph.loop_bits | graph.opaque_bits
    for monomial, factor in terms_of(graph, offset).items():
        is_factor = any(part.bits & stride.bits and not part.bits & moving for part in monomial)
        if is_factor and (factor.bits & moving or any(other.bits & moving for other in monomial)):
            return True
    return False


def _listed(symbols_: Sequence[Node]) -> str:
    return " and ".join(f"`{render(symbol)}`" for symbol in symbols_)


def _addresses(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> Doubt | None:
    """Addresses made from loaded data: a race is certain if the threads meet whatever the data is."""
    graph = trial.graph
    opaque = [part for end in (conflict.first, conflict.second) for part in opaque_parts(graph, end.offset)]
    if not opaque:
        return None
    text = f"the address depends on data: {opaque[0][1].text}"
    if conflict.reach == "grid" or not all(_is_loaded(graph, part, reason) for part, reason in opaque):
        return Doubt(text)
    if _decide_who_comes(dict(opaque), conflict, graph):
        # `if (key[i] != key[i - 1]) first[key[i]] = i`: in sorted data each number begins once.
        return Doubt(text)
    for data in _DATA:
        if not _again(conflict, trial.under({}, data), touches, size):
            return Doubt(text, usual=_is_usual(conflict, graph))
    return None


def _is_loaded(graph: Graph, part: Node, reason: Reason) -> bool:
    """Whether a value was loaded, from a place that is known or was loaded itself: where it could not be followed, the
    threads may well have found it in different places."""
    if not reason.data or _CHANGES in reason.text:
        return False
    inner = [found for argument in part.args for found in opaque_parts(graph, argument)]
    return all(_is_loaded(graph, *found) for found in inner)


def _decide_who_comes(data: Mapping[Node, Reason], conflict: Conflict, graph: Graph) -> bool:
    """Whether an array that an address is computed from also decides, by other elements, thread by thread, who gets
    there. What an element says of itself lets all pass that have its value."""
    sources = {_source(reason) for reason in data.values()}
    for end in (conflict.first, conflict.second):
        own = {part for part, _ in opaque_parts(graph, end.offset)}
        parts = [known for c in _decided_by_data(end, conflict, graph) for known in opaque_parts(graph, c)]
        if any(part not in own and _source(reason) in sources for part, reason in parts):
            return True
    return False


def _source(reason: Reason) -> str:
    """Where a value comes from, wherever it is loaded: conditions and addresses load the same elements twice."""
    return reason.text.partition(" at line ")[0]


def _is_usual(conflict: Conflict, graph: Graph) -> bool:
    """Whether ordinary data makes threads meet in shared memory: where they add to elements of which nothing else says
    whose they are, as in a histogram, and where such elements are touched as each thread's own as well."""
    first, second = conflict.first, conflict.second
    if first.target.space != "shared":
        return False
    if first.offset is second.offset:
        return {first.operation, second.operation} == {"load", "store"} and is_up_to_data(second.offset, graph)
    if first.target.symbol is not None and first.target.symbol.storage == "dynamic-shared" and (
        _start(first.offset, graph) is not _start(second.offset, graph)
    ):
        # One buffer is several arrays there, and data leads into its own one.
        return False
    ends = (first.offset, second.offset)
    return any(is_up_to_data(a, graph) and _is_of_the_thread(b, graph) for a, b in (ends, ends[::-1]))


def _start(offset: Node, graph: Graph) -> Node:
    """Where the array begins of which an element is chosen by the thread, by how often a loop went round, or by data:
    the address without them."""
    bare = without_data(graph, offset)
    leaves = (*graph.thread, *graph.block, *graph.atoms(bare.bits, graph.loop_bits))
    return graph.substitute(bare, {leaf: graph.const(0, leaf.kind) for leaf in leaves})


def _is_of_the_thread(offset: Node, graph: Graph) -> bool:
    return bool(offset.bits & THREAD_BITS) and not offset.bits & graph.opaque_bits


def _sizes(
    conflict: Conflict, trial: Trial, execution: Execution, touches: Sequence[Touch], size: int | None
) -> Doubt | None:
    """Sizes that nobody gives: whether the race is there for other ones too."""
    view = execution.view
    found = _symbols(conflict, trial, execution)
    # Of flags that no value was found for, other sizes say nothing.
    conditions = [c for c in (*view.assumed, *size_guards(execution)) if holds(view.graph, c, trial.values)]
    others = [
        values for values in itertools.islice(_other_sizes(found, trial), _MOST_OTHERS)
        if all(holds(view.graph, condition, {**trial.values, **values}) for condition in conditions)
    ]  # fmt: skip
    gone: list[Mapping[Node, int | float]] = []
    for values in others:
        other = trial.under(values)
        if not _fits(view.graph, conflict, other.values) or _again(conflict, other, touches, size):
            continue
        if is_reached((conflict.first, conflict.second), other) and _goes_round(conflict, trial, other):
            gone.append(values)
            if len(gone) * _RARE > len(others):
                # Further ones change nothing in what is said.
                break
    if not gone:
        return None
    names = [render(symbol) for symbol in gone[0]]
    text = ", ".join(f"{render(symbol)} = {value}" for symbol, value in gone[0].items())
    usual = len(gone) * _RARE <= len(others) and not _is_beyond_memory(conflict, trial)
    return Doubt(f"it depends on {' and '.join(f'`{n}`' for n in names)}: not for {text}", names[0] if usual else None)


def _goes_round(conflict: Conflict, trial: Trial, other: Trial) -> bool:
    """Whether the loops around both accesses still make a few iterations: sizes for which a loop ends at once say
    nothing about what happens from one iteration to the next."""
    scope: RaceScope = "grid" if conflict.reach == "grid" else "block"
    try:
        usual_trace, other_trace = trial.some_trace(scope), other.some_trace(scope)
    except TooLarge:
        return True
    for end in (conflict.first, conflict.second):
        usual, now = usual_trace.iterations(end), other_trace.iterations(end)
        if any(b < min(a, _FEW) for a, b in zip(usual, now, strict=True)):
            return False
    return True


def _is_beyond_memory(conflict: Conflict, trial: Trial) -> bool:
    """Whether the sizes in an address multiply to more than any memory holds, and overflow where there are enough of
    them: large sizes by themselves, together they are no sample of ordinary ones."""
    rows = Rows.of_one_block(trial.graph, trial.values)
    for end in (conflict.first, conflict.second):
        for monomial in terms_of(trial.graph, end.offset):
            sizes = (abs(int(np.asarray(rows.value(size)).flat[0])) for size in monomial)
            if math.prod(sizes) >= _MOST_MEMORY:
                return True
    return False


def _symbols(conflict: Conflict, trial: Trial, execution: Execution) -> list[Node]:
    """The sizes that matter, but for those that may have any value, of all or of a stated range, and for those that the
    program has a default for: what depends on them, such as the block, was taken for that."""
    bits = 0
    for end in (conflict.first, conflict.second):
        bits |= end.offset.bits
        for condition in end.context.conditions:
            bits |= condition.bits
        for loop in end.context.loops:
            bits |= loop.condition.bits
    for axis in trial.grid if conflict.reach == "grid" else ():
        bits |= axis.bits
    found = symbols(trial.graph, bits)
    return [u for u in found if not (_is_given(u) or is_in_range(u, execution))]


def _is_given(symbol: Node) -> bool:
    return isinstance(symbol.payload, Uniform) and (symbol.payload.is_arbitrary or symbol.payload.is_default)


def _other_sizes(found: Sequence[Node], trial: Trial) -> Iterator[dict[Node, int | float]]:
    """Each size alone, then all together, set to what sizes often are: the block's, twice that, the number of threads,
    powers of two, and odd numbers."""
    threads = trial.block[0]
    usual = (threads, 2 * threads, threads * trial.extents()[0], 1024, 1 << 14)
    for symbol in found:
        for number in (*usual, generic(symbol) * 3 + 1, generic(symbol) * 8 + 32):
            if number != generic(symbol):
                yield {symbol: number}
    if len(found) > 1:
        for number in usual:
            yield dict.fromkeys(found, number)


def _fits(graph: Graph, conflict: Conflict, values: Mapping[Node, int | float]) -> bool:
    """Whether the plain conditions on sizes on the way to both accesses still hold."""
    for end in (conflict.first, conflict.second):
        for condition in end.context.conditions:
            if condition.bits and not condition.bits & ~graph.uniform_bits and not holds(graph, condition, values):
                return False
    return True
