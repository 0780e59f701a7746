"""Sizes that nobody gives, and whether a race is there for other ones too."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.doubts.doubt import Doubt, is_there_again
from cudalint.concurrency.trial import Trial
from cudalint.concurrency.tried_sizes import is_in_range, is_reached, size_guards
from cudalint.concurrency.unfold import TooLarge
from cudalint.evaluate.checks.probes import overflows, symbols
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import Touch
from cudalint.options.analysis import RaceScope
from cudalint.scenarios import alternatives
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import THREAD_BITS, Node, Uniform, bits_of, render, without_not
from cudalint.values.numeric import Rows
from cudalint.values.polynomial import terms_of

_MOST_OTHERS = 32
_FEW = 3
_RARE = 4
"""A race that is there for three in four of the sizes that are tried is one of ordinary sizes."""
_MOST_MEMORY = 1 << 38
"""Bytes: more than GPUs have."""


@heuristic("doubt-other-sizes", "races that other sizes clear").otherwise(None)
def other_sizes(
    conflict: Conflict, trial: Trial, execution: Execution, touches: Sequence[Touch], size: int | None
) -> Doubt | None:
    """Sizes that nobody gives: whether the race is there for other ones too."""
    view = execution.view
    found = open_sizes(conflict, trial, execution)
    # Of flags that no value was found for, other sizes say nothing.
    conditions = [c for c in (*view.assumed, *size_guards(execution)) if holds(view.graph, c, trial.values)]
    others = [
        values for values in itertools.islice(_tried(found, trial), _MOST_OTHERS)
        if all(holds(view.graph, condition, {**trial.values, **values}) for condition in conditions)
    ]  # fmt: skip
    gone: list[Mapping[Node, int | float]] = []
    for values in others:
        other = trial.under(values)
        if not fits(view.graph, conflict, other.values) or is_there_again(conflict, other, touches, size):
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
    """Whether the sizes in an address multiply to more than any memory holds, or overflow: large sizes by themselves,
    together they are no sample of ordinary ones."""
    rows = Rows.of_one_block(trial.graph, trial.values)
    for end in (conflict.first, conflict.second):
        for monomial in terms_of(trial.graph, end.offset):
            sizes = (abs(int(np.asarray(rows.value(size)).flat[0])) for size in monomial)
            if math.prod(sizes) >= _MOST_MEMORY:
                return True
    return _overflows(conflict, trial)


def _overflows(conflict: Conflict, trial: Trial) -> bool:
    """Whether the program's own arithmetic overflows in the blocks that are looked at."""
    ends = [end for end in (conflict.first, conflict.second) if not end.offset.bits & trial.graph.opaque_bits]
    try:
        trace = trial.some_trace("grid" if conflict.reach == "grid" else "block")
    except TooLarge:
        return False
    walked = (end for end in ends if trace.is_walked(end) and trace.follows(end, end.offset))
    return any(overflows([end.offset], trace.rows_of(end), trace.mask(end)) for end in walked)


def open_sizes(conflict: Conflict, trial: Trial, execution: Execution) -> list[Node]:
    """The sizes that matter, but for those that may have any value, of all or of a stated range, and for those that the
    program has a default for: what depends on them, such as the block, was taken for that."""
    bits = bits_of(trial.grid) if conflict.reach == "grid" else 0
    for end in (conflict.first, conflict.second):
        bits |= dependence(end.context, end.offset, trial.graph).bits
    found = symbols(trial.graph, bits)
    return [u for u in found if not (is_given(u, trial.graph) or is_in_range(u, execution))]


def is_given(symbol: Node, graph: Graph) -> bool:
    return isinstance(symbol.payload, Uniform) and (symbol.payload.is_arbitrary or graph.choice(symbol).is_default)


def is_bound(part: Node, graph: Graph) -> bool:
    """Whether a condition compares the number of a thread with a size that nobody gives."""
    compared = without_not(part)
    tells = part.bits & THREAD_BITS and part.bits & graph.uniform_bits
    return bool(tells) and not part.bits & graph.opaque_bits and compared.op in ("<", "<=")


def _tried(found: Sequence[Node], trial: Trial) -> Iterator[dict[Node, int | float]]:
    """Each size alone, then all together, set to what sizes often are: the block's, twice that, the number of threads,
    powers of two, and odd numbers."""
    threads = trial.block[0]
    usual = alternatives.usual(threads, trial.extents()[0])
    for symbol in found:
        generic = trial.graph.generic(symbol)
        for number in (*usual, *alternatives.odd_and_even(generic)):
            if number != generic:
                yield {symbol: number}
    if len(found) > 1:
        for number in usual:
            yield dict.fromkeys(found, number)


def fits(graph: Graph, conflict: Conflict, values: Mapping[Node, int | float]) -> bool:
    """Whether the plain conditions on sizes on the way to both accesses still hold."""
    for end in (conflict.first, conflict.second):
        for condition in end.context.conditions:
            if condition.bits and not condition.bits & ~graph.uniform_bits and not holds(graph, condition, values):
                return False
    return True
