"""Situations in which races are looked for: sizes and flags under which every access is reached.

Besides the generic ones these are sizes that bring two accesses together (`a[i + offset]` and `a[i]` are far apart for
a large `offset`, and meet where it is the distance between two threads), and sizes under which an access is reached
that large ones keep all threads from (`threadIdx.x < 250 - 2 * halo`). Sizes under which a kernel does not do what it
is for say nothing of a program that runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.concurrency.conflicts import clash
from cudalint.concurrency.lanes import effect
from cudalint.concurrency.trial import Trial
from cudalint.concurrency.unfold import TooLarge, flat
from cudalint.evaluate.checks.alignment import natural_width
from cudalint.evaluate.checks.probes import allowed, look, symbols
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.knowledge import sizes_on_the_way
from cudalint.evaluate.requests.situations import mask_of
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, LibraryAccess, Loop, Touch
from cudalint.interpreter.device.values import Allocation
from cudalint.scenarios import alternatives
from cudalint.scenarios.solving import satisfy
from cudalint.values.arithmetic import BOOL, I8
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, Uniform, below, bits_of, without_not
from cudalint.values.numeric import Rows
from cudalint.values.polynomial import Terms, terms_of

_MOST_SITUATIONS = 5
_MOST = 2
"""Sizes of one kind that are looked at for one kernel."""

_FILLED = 3
"""Quarters of a rounded size that are used where it is not filled."""


Arrays = Sequence[tuple[Allocation, Sequence[Touch]]]
"""Arrays, each with the accesses to it."""

Known = dict[tuple[Node, int], bool]
"""Whether a condition holds in the situation of a number: the branches of a long `else if` share theirs."""


def is_met(touch: Touch, graph: Graph, situations: Sequence[Mapping[Node, int | float]], known: Known) -> bool:
    """Whether sizes and flags let threads get to an access in one of the situations."""

    def holds_in(condition: Node, number: int) -> bool:
        if (condition, number) not in known:
            known[condition, number] = holds(graph, condition, situations[number])
        return known[condition, number]

    wanted = dependence(touch.context, touch.offset, graph).on_sizes
    return not wanted or any(all(holds_in(c, number) for c in wanted) for number in range(len(situations)))


def size_guards(execution: Execution) -> list[Node]:
    """The conditions on nothing but sizes and flags under which the host code comes to the launch."""
    bits = execution.view.graph.uniform_bits
    return [g for g in execution.view.guards if g.bits and not g.bits & ~bits]


def situations(execution: Execution, trial: Trial, arrays: Arrays) -> list[dict[Node, int | float]]:
    """All of them for the accesses to some arrays; `trial` is the generic one."""
    touches = [touch for _, group in arrays for touch in group]
    found = reaching_all(execution)
    found += _meetings(execution, [group for _, group in arrays])
    found += _reaching(execution, trial, touches)
    found += _lasting(execution, trial, touches)
    return found + _inside(execution, trial, arrays)


def reaching_all(execution: Execution) -> list[dict[Node, int | float]]:
    """Choices of sizes and flags, so that every access is reached in one of them: the generic one first, and where the
    host code would not launch with that one, another."""
    view = execution.view
    graph = view.graph
    found: list[dict[Node, int | float]] = [{}]
    known: Known = {}
    decided = {u for condition in view.assumed for u in graph.atoms(condition.bits, graph.uniform_bits)}
    guards = size_guards(execution)
    others = _less_than_generic(graph, guards)
    if others or not all(holds(graph, guard, {}) for guard in guards):
        launched = _sizes_for(graph, [*guards, *others], decided)
        found += [launched] if launched else []
    for event in execution.events:
        if not isinstance(event, (AccessEvent, LibraryAccess)) or len(found) >= _MOST_SITUATIONS:
            continue
        if is_met(event, graph, found, known):
            continue
        wanted = dependence(event.context, event.offset, graph).on_sizes
        values = _sizes_for(graph, [*wanted, *guards], decided) or _sizes_for(graph, wanted, decided)
        if values is not None:
            found.append(values)
    return found


def _less_than_generic(graph: Graph, guards: Sequence[Node]) -> list[Node]:
    """Of sizes that are rounded up to the number that a launch is for, some fill it, as generic ones do, and others do
    not: threads for a row of 16 reach beyond one of 12."""
    rounded = [g for g in guards if without_not(g).op in ("==", "!=") and any(n.op == ">>" for n in below([g], g.bits))]
    bits = bits_of(rounded)
    sizes = [u for u in graph.atoms(bits, graph.uniform_bits) if not u.kind.is_float]
    return [graph.binary("<=", u, graph.const(_FILLED * graph.generic(u) // 4, u.kind), BOOL) for u in sizes]


def _sizes_for(graph: Graph, wanted: Sequence[Node], decided: Collection[Node]) -> dict[Node, int | float] | None:
    bits = bits_of(wanted)
    atoms = [u for u in graph.atoms(bits, graph.uniform_bits) if u not in decided]
    return satisfy(graph, wanted, atoms) if atoms else None


# --- sizes that bring two accesses together -------------------------------------------------------------------

_MOST_TOUCHES = 24
"""Accesses of an array that are compared: unrolled loops have many alike."""
_MOST_TRIED = 64
_FAR = (1 << 31) - 1


class _Pair(Struct, frozen=True, eq=False):
    """A store and another access that are apart by a size."""

    first: Touch
    second: Touch
    size: Node
    bytes: int
    """What the size is multiplied by in their distance."""


@heuristic("meeting-distances", "GPUVerify's cases: `a[i + offset]` meets `a[i]`").otherwise([])
def _meetings(execution: Execution, arrays: Sequence[Sequence[Touch]]) -> list[dict[Node, int | float]]:
    """Values of single sizes under which a store and another access to the same array, which differ by a multiple of
    that size, meet in two threads of a block. The sizes of a visible launch are what they are for, and large, unless
    the program says how small they may be."""
    found: dict[Node, int | float] = {}
    launched = execution.launch.source == "launch-site"
    for touches in arrays:
        for pair in _apart(execution, touches[:_MOST_TOUCHES]):
            size = pair.size
            if size in found or len(found) >= _MOST:
                continue
            if not launched or is_in_range(size, execution):
                number = _allowed(execution, touches, size, _values(execution, pair))
                if number is not None:
                    found[size] = number
    return [{size: number} for size, number in found.items()]


def is_in_range(symbol: Node, execution: Execution) -> bool:
    """Whether the program or its user states a least and a greatest value: it works for all in between."""
    graph = execution.view.graph
    stated = [c for c in execution.view.assumed if c.bits == symbol.bits]
    ends = (_FAR, -_FAR) if symbol.kind.code == "i" else (_FAR,)
    return bool(stated) and not any(all(holds(graph, c, {symbol: end}) for c in stated) for end in ends)


def _apart(execution: Execution, touches: Sequence[Touch]) -> Iterator[_Pair]:
    """A store and another access, for each way in which two may be apart by a size."""
    graph = execution.view.graph
    if not any(touch.offset.bits & graph.uniform_bits for touch in touches):
        return
    terms = [terms_of(graph, touch.offset) for touch in touches]
    seen: set[object] = set()
    for first, a in zip(touches, terms, strict=True):
        if effect(first) == "load":
            continue
        for second, b in zip(touches, terms, strict=True):
            step = _difference(graph, a, b)
            ends = (a.get((), graph.zero), b.get((), graph.zero), first.context.conditions, second.context.conditions)
            if step is None or (step, ends) in seen or not clash(first, second):
                continue
            seen.add((step, ends))
            yield _Pair(first, second, *step)


def _difference(graph: Graph, a: Terms, b: Terms) -> tuple[Node, int] | None:
    """The one size by which two addresses differ, and what it is multiplied by."""
    found: tuple[Node, int] | None = None
    for monomial in {**a, **b}:
        one, other = a.get(monomial, graph.zero), b.get(monomial, graph.zero)
        if not monomial or one is other:
            continue
        factor = graph.binary("-", other, one, I8)
        is_plain = len(monomial) == 1 and isinstance(monomial[0].payload, Uniform)
        if found is not None or not is_plain or not factor.is_const:
            return None
        found = monomial[0], int(factor.value)
    return found


def _values(execution: Execution, pair: _Pair) -> list[int]:
    """Values of the size under which two different threads of a block meet: smaller ones first."""
    touches, step = (pair.first, pair.second), pair.bytes
    ends = [place for place in (_places(execution, touch) for touch in touches) if place is not None]
    if len(ends) < 2:
        return []
    (threads, a), (others, b) = ends
    apart = (a[:, None] - b[None, :])[threads[:, None] != others[None, :]]
    distances = np.unique(apart[apart % step == 0] // step)
    distances = distances[distances != 0]
    return [int(d) for d in distances[np.argsort(np.where(distances > 0, distances, 2 * abs(distances)))]]


def _places(execution: Execution, touch: Touch) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """[active threads] of the first block: their numbers, and their bytes but for what sizes add. Those of any
    iteration count as active: what comes of it is tried afterwards."""
    graph = execution.view.graph
    own = terms_of(graph, touch.offset).get((), graph.zero)
    if own.bits & ~(THREAD_BITS | BLOCK_BITS):
        return None
    rows = Rows.of_one_block(graph, {}, execution.view.block)
    mask = mask_of(rows, [c for c in touch.context.conditions if not c.bits & graph.loop_bits])[0]
    bytes_ = np.broadcast_to(np.asarray(rows.value(own), dtype=np.int64), (1, len(mask)))[0]
    active = np.flatnonzero(mask)
    return active, bytes_[active]


def _allowed(
    execution: Execution, touches: Sequence[Touch], size: Node, numbers: Sequence[int]
) -> int | None:
    """The first value that nothing speaks against: no statement about the sizes, no condition on the way."""
    graph = execution.view.graph
    stated = [c for c in execution.view.assumed if c.bits & size.bits]
    on = (dependence(touch.context, touch.offset, graph) for touch in touches)
    conditions = [c for each in on for c in each.on_sizes if c.bits & size.bits]
    for number in numbers[:_MOST_TRIED]:
        values: Mapping[Node, int | float] = {size: number}
        if all(holds(graph, condition, values) for condition in (*stated, *dict.fromkeys(conditions))):
            return number
    return None




# --- sizes under which threads come to an access, again, or stay inside of an array ---------------------------

@heuristic("reaching-sizes", "halos: small sizes let threads through that large ones keep away").otherwise([])
def _reaching(execution: Execution, trial: Trial, touches: Iterable[Touch]) -> list[dict[Node, int | float]]:
    """A small value of one size for accesses that no thread gets to with the usual ones."""
    found: dict[Node, dict[Node, int | float]] = {}
    tried: set[Node] = set()
    try:
        for touch in touches:
            if len(found) >= _MOST or not _is_kept_away(touch) or _is_reached(touch, trial):
                continue
            if any(_is_reached(touch, trial.under(values)) for values in found.values()):
                continue
            for size in sizes_on_the_way(execution.view.graph, touch.context.conditions, touch.context.loops):
                values: dict[Node, int | float] = {size: alternatives.FEW}
                if size in tried or not allowed(execution.view, values):
                    continue
                tried.add(size)
                if _is_reached(touch, trial.under(values)):
                    found[size] = values
                    break
    except TooLarge:
        pass
    return list(found.values())


@heuristic("lasting-sizes", "loops that large sizes end early").otherwise([])
def _lasting(execution: Execution, trial: Trial, touches: Iterable[Touch]) -> list[dict[Node, int | float]]:
    """Larger sizes for loops over the grid that end for most blocks after one iteration with the usual ones: what
    happens from one iteration to the next shows for larger ones only."""
    found: dict[Node, dict[Node, int | float]] = {}
    seen: set[Node] = set()
    try:
        for touch in touches:
            for depth, loop in enumerate(touch.context.loops):
                if loop.counter in seen or not _is_over_the_grid(loop, trial) or len(found) >= _MOST:
                    continue
                seen.add(loop.counter)
                for size in sizes_on_the_way(trial.graph, (), (loop,)) if _rounds(touch, depth, trial) == 1 else ():
                    for number in alternatives.larger(trial.graph.generic(size)):
                        values: dict[Node, int | float] = {size: number}
                        if allowed(execution.view, values) and _rounds(touch, depth, trial.under(values)) > 1:
                            found[size] = values
                            break
                    if size in found:
                        break
    except TooLarge:
        pass
    return list(found.values())


def _is_over_the_grid(loop: Loop, trial: Trial) -> bool:
    bits = loop.condition.bits
    return bool(bits & BLOCK_BITS and bits & trial.graph.uniform_bits) and not bits & trial.graph.opaque_bits


def _rounds(touch: Touch, depth: int, trial: Trial) -> int:
    trace = trial.some_trace("block")
    return trace.iterations(touch)[depth] if trace.is_walked(touch) else 0


def _inside(
    execution: Execution, trial: Trial, arrays: Arrays
) -> list[dict[Node, int | float]]:
    """The largest of some values of a size with which threads stay inside of arrays that they leave with the usual
    ones, as in rows of ten that lanes fill with `lane < n`."""
    found: dict[Node, dict[Node, int | float]] = {}
    try:
        for array, touches in arrays:
            straying = [touch for touch in touches if leaves(touch, trial, array.bytes)]
            for touch in straying[: _MOST - len(found)]:
                for size in sizes_on_the_way(execution.view.graph, touch.context.conditions, touch.context.loops):
                    values = _staying(size, straying, array.bytes, trial, execution)
                    if size not in found and values is not None:
                        found[size] = values
                        break
    except TooLarge:
        pass
    return list(found.values())


def _staying(
    size: Node, straying: Sequence[Touch], extent: int | None, trial: Trial, execution: Execution
) -> dict[Node, int | float] | None:
    for number in alternatives.REACHING_SIZES:
        values: dict[Node, int | float] = {size: number}
        if allowed(execution.view, values) and not any(leaves(t, trial.under(values), extent) for t in straying):
            return values
    return None


def leaves(touch: Touch, trial: Trial, extent: int | None) -> bool:
    """Whether some thread leaves an array of so many bytes for the sizes of a trial, which nothing gives."""
    graph = trial.graph
    bits = dependence(touch.context, touch.offset, graph).bits
    if extent is None or touch.offset.bits & graph.opaque_bits or not symbols(graph, bits):
        return False
    if isinstance(touch, AccessEvent) and touch.one_of:
        # It may be another array, which begins far behind this one.
        return False
    return _has_strays(touch, trial, extent)


def _has_strays(touch: Touch, trial: Trial, extent: int) -> bool:
    trace = trial.some_trace("block")
    if not trace.is_walked(touch) or not trace.follows(touch, touch.offset):
        return False
    rows = trace.rows_of(touch)
    addresses = flat(rows.value(touch.offset), rows).astype(np.int64, copy=False)
    strays = (addresses < 0) | (addresses + touch.bytes > extent)
    return bool((trace.mask(touch) & strays).any())


@heuristic("outgrown-arrays", "blocks larger than an array has elements for").otherwise(None)
def outgrown(execution: Execution, trial: Trial) -> str | None:
    """An array that is declared with fewer elements than the block has threads for: it is not made for such a block."""
    graph = trial.graph
    for event in execution.events:
        if not isinstance(event, AccessEvent) or not event.target.bytes or event.target.symbol is None or event.one_of:
            continue
        bits = dependence(event.context, event.offset, graph).bits
        if not event.offset.bits & THREAD_BITS or bits & (graph.opaque_bits | graph.uniform_bits | BLOCK_BITS):
            continue
        try:
            if _has_strays(event, trial, event.target.bytes):
                return event.target.name
        except TooLarge:
            return None
    return None


def is_reached(touches: Iterable[Touch], trial: Trial) -> bool:
    """Whether some thread gets to each of some accesses."""
    try:
        return all(_is_reached(touch, trial) for touch in touches)
    except TooLarge:
        return True


def _is_reached(touch: Touch, trial: Trial) -> bool:
    trace = trial.some_trace("block")
    return trace.is_walked(touch) and bool(trace.mask(touch).any())


def _is_kept_away(touch: Touch) -> bool:
    """Whether it may be that sizes keep all threads away: by a condition that tells threads apart."""
    return any(c.bits & THREAD_BITS for c in touch.context.conditions)


# --- sizes under which a kernel does not do what it is for ----------------------------------------------------

_DIVISIONS = frozenset({"/", "%"})


@heuristic("faulting-sizes", "sizes under which the hardware faults are none of a program that runs").otherwise(False)
def faults(end: Touch, values: Mapping[Node, int | float], execution: Execution) -> bool:
    """Whether threads come to an access at addresses that are no multiples of its width, for sizes that were chosen, as
    they have to be something or so that somebody comes there at all: a row of `half2` does not have 9 halves, and not
    all that is made of multiples is one (`elements / groups`)."""
    sizes = end.offset.bits & execution.view.graph.uniform_bits
    if not isinstance(end, AccessEvent) or end.target.space != "global" or not (values or sizes):
        return False
    width = natural_width(end.bytes)

    def offends(rows: Rows) -> NDArray[np.bool_]:
        wrong: NDArray[np.bool_] = rows.integers(end.offset) % width != 0
        return wrong

    is_by_data = end.offset.bits & execution.view.graph.opaque_bits
    return not is_by_data and look(execution.view, end.context, end.offset, offends, values).offender is not None


def without_faults(
    values: dict[Node, int | float], arrays: Arrays, execution: Execution
) -> dict[Node, int | float]:
    """Sizes for which all addresses are multiples of what they have to be, near those that were chosen: the next larger
    multiples of a small power of two, if the host code comes to the launch with these too."""
    if not values:
        return values
    ends = (end for _, group in arrays for end in group if _takes_sizes(end, values))
    touches = list({(end.offset, end.bytes): end for end in ends}.values())
    if not any(faults(end, values, execution) for end in touches):
        return values
    graph, guards = execution.view.graph, size_guards(execution)
    kept = [guard for guard in guards if holds(graph, guard, values)]
    for step in alternatives.ROUNDED_TO:
        rounded = {size: -(-value // step) * step if _is_size(size) else value for size, value in values.items()}
        is_launched = all(holds(graph, guard, rounded) for guard in kept)
        if is_launched and not any(faults(end, rounded, execution) for end in touches):
            return rounded
    return values


def _takes_sizes(end: Touch, values: Mapping[Node, int | float]) -> bool:
    return isinstance(end, AccessEvent) and end.bytes > 1 and any(end.offset.bits & size.bits for size in values)


def _is_size(symbol: Node) -> bool:
    return symbol.kind != BOOL and not symbol.kind.is_float


@heuristic("divided-sizes", "`blockDim.x / width` for a width that fits").otherwise(False)
def divides_by_too_much(end: Touch, values: Mapping[Node, int | float], execution: Execution) -> bool:
    """Whether a size is zero by which something is divided on the way to an access, or more than the number that is
    divided by it: a block has no row for its threads then (`blockDim.x / width`)."""
    graph = execution.view.graph
    bits = graph.uniform_bits
    others = ~bits
    nodes = (end.offset, *end.context.deciding)
    divisions = [node for node in below(nodes, bits) if node.op in _DIVISIONS and not node.kind.is_float]
    divisions = [node for node in divisions if node.args[1].bits & bits and not node.args[1].bits & others]
    rows = Rows.of_one_block(graph, values) if divisions else None
    for node in divisions:
        assert rows is not None
        dividend, divisor = node.args
        number = int(np.asarray(rows.value(divisor)).flat[0])
        if number == 0 or (node.op == "/" and dividend.is_const and 0 < dividend.value < number):
            return True
    return False


_PLACE_BITS = THREAD_BITS | BLOCK_BITS


@heuristic("other-grids", "grids made for rows of one length").otherwise(False)
def is_another_grid(values: Mapping[Node, int | float], nodes: Iterable[Node], execution: Execution) -> bool:
    """Whether values say how long the rows are in some addresses or conditions, and a visible launch makes its grid
    from other sizes, which nobody gives: what they have to do with each other is not known, and a large grid is not
    one for short rows."""
    if execution.launch.source != "launch-site":
        return False
    bits = bits_of(execution.view.grid)
    if not bits & execution.view.graph.uniform_bits:
        return False
    others = [symbol for symbol in values if not symbol.bits & bits]
    nodes = tuple(nodes)
    return any(_is_pitch(symbol, nodes) for symbol in others)


def _is_pitch(symbol: Node, nodes: Iterable[Node]) -> bool:
    return any(node.op == "*" and _tells_rows(symbol, *node.args) for node in below(nodes, symbol.bits))


def _tells_rows(symbol: Node, a: Node, b: Node) -> bool:
    return bool((a.bits & symbol.bits and b.bits & _PLACE_BITS) or (b.bits & symbol.bits and a.bits & _PLACE_BITS))
