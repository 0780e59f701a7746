"""Sizes under which a kernel does not do what it is for: what happens under them alone says nothing of a program that
runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cudalint.concurrency.left_out import size_guards
from cudalint.evaluate.checks.alignment import natural_width
from cudalint.evaluate.checks.probes import look
from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, Touch
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import BOOL
from cudalint.values.assumptions import holds
from cudalint.values.nodes import Node, below
from cudalint.values.numeric import Rows

_DIVISIONS = frozenset({"/", "%"})


@heuristic("faulting-sizes", "sizes under which the hardware faults are none of a program that runs").otherwise(False)
def faults(end: Touch, values: Mapping[Node, int | float], execution: Execution) -> bool:
    """Whether threads come to an access at addresses that are no multiples of its width, for sizes that were chosen so
    that somebody comes there at all: a row of `half2` does not have 9 halves."""
    if not isinstance(end, AccessEvent) or end.target.space != "global" or not values:
        return False
    width = natural_width(end.bytes)

    def offends(rows: Rows) -> NDArray[np.bool_]:
        wrong: NDArray[np.bool_] = rows.full(end.offset).astype(np.int64) % width != 0
        return wrong

    is_by_data = end.offset.bits & execution.view.graph.opaque_bits
    return not is_by_data and look(execution.view, end.context, end.offset, offends, values).offender is not None


def without_faults(
    values: dict[Node, int | float], groups: Iterable[tuple[object, Sequence[Touch]]], execution: Execution
) -> dict[Node, int | float]:
    """Sizes for which all addresses are multiples of what they have to be, near those that were chosen: the next larger
    multiples of a small power of two, if the host code comes to the launch with these too."""
    ends = (end for _, group in groups for end in group if _takes_sizes(end, values))
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
    nodes = (end.offset, *end.context.conditions, *(loop.condition for loop in end.context.loops))
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
