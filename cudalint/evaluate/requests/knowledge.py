"""What can be known of an access: under which conditions it is reached, and what its addresses and lanes rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.lists import Lists
from cudalint.evaluate.requests.requests import Requests, gather
from cudalint.evaluate.requests.situations import Situation
from cudalint.evaluate.requests.views import Known, LaunchView
from cudalint.interpreter.device.events import AccessEvent, Loop
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import BOOL
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import (
    BLOCK_BITS,
    THREAD_BITS,
    UNINITIALISED,
    Node,
    Reason,
    Uniform,
    bits_of,
)
from cudalint.values.opaque_parts import opaque_parts

_TABLE_BYTES = 1 << 16
_ONE_WORD = 4
_MAX_TRIED = 6


def _elsewhere(
    event: AccessEvent, conditions: tuple[Node, ...], view: LaunchView, quick: Requests, situation: Situation
) -> tuple[Requests, Situation, tuple[Node, ...]]:
    """Looks for an unknown size under which an access is reached that generic sizes keep out."""
    graph = view.graph
    for uniform in sizes_on_the_way(graph, conditions, event.context.loops):
        few, left_over = alternatives.FEW, alternatives.LEFT_OVER
        for size in (*_covered(uniform, conditions, view), few, *_uneven(graph, uniform, conditions), *left_over):
            if not view.allows(uniform, size) or not view.is_launched(uniform, size):
                continue
            other = view.varied(uniform, size)
            found = gather(event, other, conditions)
            if found.total:
                return found, other, (graph.binary("==", uniform, graph.const(size, uniform.kind), BOOL),)
    return quick, situation, ()


def _covered(uniform: Node, conditions: tuple[Node, ...], view: LaunchView) -> list[int]:
    """As many as there are threads along an axis of the grid, where the place along it is compared with a size: a grid
    that is smaller than a generic size never comes to the second half of it."""
    if any(extent.bits & uniform.bits for extent in view.grid):
        return []
    compared = 0
    for condition in conditions:
        compared |= condition.bits if condition.bits & uniform.bits else 0
    threads = [extent * size for extent, size in zip(view.quick().grid, view.block, strict=True)]
    return [threads[axis] for axis in range(3) if compared & BLOCK_BITS & (8 << axis)]


def _uneven(graph: Graph, uniform: Node, conditions: tuple[Node, ...]) -> Iterator[int]:
    """Sizes that are no multiples of a warp, where they are compared with what is each thread's own: what is left of a
    row behind its last whole piece has a length between one element and the piece's."""
    if any(condition.bits & uniform.bits and condition.bits & THREAD_BITS for condition in conditions):
        yield from alternatives.with_rests(graph.generic(uniform))


def sizes_on_the_way(graph: Graph, conditions: Iterable[Node], loops: Sequence[Loop]) -> list[Node]:
    """The first unknown sizes that decide whether threads get to a place under these conditions, in these loops."""
    bits = bits_of((*(loop.condition for loop in loops), *conditions))
    found = graph.atoms(bits, graph.uniform_bits)[:_MAX_TRIED]
    return [uniform for uniform in found if not uniform.kind.is_float and uniform.kind != BOOL]


def know(event: AccessEvent, view: LaunchView) -> Known:
    situation, on = view.quick(), dependence(event.context, event.offset, view.graph)
    conditions = on.known
    chosen = (_of_a_chosen_thread(c, view.graph) for c in event.context.conditions)
    conditions += tuple(c for c in chosen if c is not None)
    if on.is_never:
        conditions = (view.graph.false,)
    quick = gather(event, situation, conditions)
    relaxed: tuple[Node, ...] = ()
    if quick.total == 0 and event.context.loops and conditions != (view.graph.false,):
        # A few iterations may have missed those in which it is reached.
        situation = view.thorough()
        quick = gather(event, situation, conditions)
    if quick.total == 0 and conditions != (view.graph.false,):
        quick, situation, relaxed = _elsewhere(event, conditions, view, quick, situation)
    if quick.total == 0 and conditions:
        situation = view.quick()
        relaxed = tuple(c for c in conditions if c.bits & view.graph.uniform_bits)
        # Without those that tell threads apart, a whole warp would come to where the ends of rows are.
        of_all = tuple(c for c in relaxed if not c.bits & THREAD_BITS)
        for left_out in dict.fromkeys((of_all, relaxed) if of_all else (relaxed,)):
            kept = tuple(c for c in conditions if c not in left_out)
            found = gather(event, situation, kept) if left_out else quick
            if found.total or left_out == relaxed:
                quick, conditions, relaxed = found, kept, left_out
                break
    if quick.total == 0 and relaxed:
        quick, situation, sizes = _elsewhere(event, conditions, view, quick, situation)
        relaxed = (*relaxed, *sizes)
    doubt, in_mask = _doubt(event, quick, situation, view)
    return Known(event, on, conditions, relaxed if quick.total else (), quick, situation, doubt, in_mask)


def needed_sizes(relaxed: Iterable[Node]) -> dict[Node, int]:
    """The sizes that conditions say to be a number, as those do with which an access is reached that generic sizes keep
    out."""
    equations = (condition.args for condition in relaxed if condition.op == "==")
    return {
        size: int(number.value)
        for size, number in equations
        if isinstance(size.payload, Uniform) and number.is_const and not size.kind.is_float
    }


def _of_a_chosen_thread(condition: Node, graph: Graph) -> Node | None:
    """`threadIdx.x == winner[blockIdx.x]`: a loaded value that is the same for all threads chooses those for which the
    other side has that value. Which ones is as good as any: those for which it has the first thread's value."""
    if condition.op != "==":
        return None
    for chosen, own in (condition.args, condition.args[::-1]):
        is_same = chosen.bits & graph.opaque_bits and not chosen.bits & THREAD_BITS
        if is_same and own.bits & THREAD_BITS and not own.bits & graph.opaque_bits:
            return graph.binary("==", own, graph.of_thread(own, (0, 0, 0)), BOOL)
    return None


def _doubt(
    event: AccessEvent, quick: Requests, situation: Situation, view: LaunchView
) -> tuple[Reason | None, bool]:
    """Why the figure cannot be told, if lanes of one warp depend on values that cannot be followed."""
    graph, rows = situation.graph, situation.rows(event.context.loops)
    opaque = event.target.opaque
    bits = dependence(event.context, event.offset, graph).bits | (opaque.bits if opaque is not None else 0)
    if quick.total == 0 or not bits & graph.opaque_bits:
        return None, False
    lanes = situation.lanes(event.context.loops, quick.mask)
    scaled = _scaled_by_data(graph, event.offset)
    if scaled is not None:
        return scaled, False
    lists, touched = Lists(event, rows, lanes), _Touched(quick)
    addresses = [event.offset] if opaque is None else [event.offset, opaque]
    for node in addresses:
        for part, reason in opaque_parts(graph, node):
            if reason is UNINITIALISED:
                return reason, False
            if part.op == "trips":
                # Lanes that walked on by data: as if all had come equally far, which makes the figure a range.
                continue
            if not lanes.vary(part) or _looks_up(part, node, event, touched):
                continue
            if node is not event.offset or not (lists.are_own(part) or lists.are_rows):
                return reason, False
    if stays_one(event, quick):
        return None, False
    # The head of a loop, where it is tested, is not under its condition, but gets there only where it held before.
    heads = [part for loop in event.context.loops for part in conjuncts(graph, loop.condition)]
    for condition in dict.fromkeys((*event.context.conditions, *heads)):
        if not condition.bits & graph.opaque_bits or _of_a_chosen_thread(condition, graph) is not None:
            continue
        parts = opaque_parts(graph, condition)
        varying = [reason for part, reason in parts if lanes.vary(part)]
        if varying or lanes.vary(condition):
            return (varying or [reason for _, reason in parts])[0], True
    return None, False


def stays_one(event: AccessEvent, quick: Requests) -> bool:
    """Whether an access takes one sector or wavefront, whichever of the lanes are active."""
    return float(quick.cost.max()) <= 1.0 and event.bytes <= _ONE_WORD


def _scaled_by_data(graph: Graph, node: Node) -> Reason | None:
    """Why the distance between lanes is unknown: a thread index is multiplied or divided by a value from memory."""
    seen: set[int] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.op == "opaque" or not current.bits & THREAD_BITS or not current.bits & graph.opaque_bits:
            continue
        if current.index in seen or current.index in graph.unscaled:
            continue
        seen.add(current.index)
        if current.op in ("*", "/", "%", "<<", ">>"):
            for factor, other in (current.args, current.args[::-1]):
                if factor.bits & graph.opaque_bits and not factor.bits & THREAD_BITS and other.bits & THREAD_BITS:
                    return opaque_parts(graph, factor)[0][1]
        pending.extend(current.args)
    graph.unscaled |= seen
    return None


def _looks_up(part: Node, node: Node, event: AccessEvent, touched: _Touched) -> bool:
    """Whether the access looks something up in a small table by some bits of a word (`table[hash & 255]`), or in a
    codebook by a code of 16 bits: then every entry is about as likely, and the mean over uniform data is a figure
    worth giving, as a range. So it is for the bytes that a histogram counts, which say where atomics go. In a table
    that is read, bytes are rather pixels or letters, of which neighbours are alike, unless they are mixed with other
    data (`table[state ^ key]`) or hold codes of a few bits each (`table[code & 15]`)."""
    if part.kind.is_float or node is not event.offset:
        return False
    if part.kind.bytes < 2 and event.operation == "atomic":
        return touched.low >= 0 and touched.high < _TABLE_BYTES
    if part.kind.bytes < 2 and not (event.operation == "load" and _mixes_or_unpacks(node, part.bits)):
        return False
    return part.kind.bytes == 2 or touched.is_table


class _Touched:
    """The bytes that an access goes to, whatever stands for the data: the same for all loaded numbers in its address.
    """

    def __init__(self, quick: Requests) -> None:
        self._quick = quick

    @cached_property
    def low(self) -> int:
        return int(self._quick.addresses[self._quick.mask].min())

    @cached_property
    def high(self) -> int:
        return int(self._quick.addresses[self._quick.mask].max())

    @cached_property
    def is_table(self) -> bool:
        """Whether they are few."""
        # Where not even the lanes of a warp are told apart, what stands for the data shows nothing of a table's size.
        addresses, mask = self._quick.addresses, self._quick.mask
        first = np.take_along_axis(addresses, np.argmax(mask, axis=2)[..., None], axis=2)
        is_apart = bool((mask & (addresses != first)).any())
        return is_apart and self.high - self.low < _TABLE_BYTES


def _mixes_or_unpacks(node: Node, bits: int) -> bool:
    """Whether data goes into a value by way of an exclusive or with other data, or in pieces."""
    seen: set[Node] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current in seen or current.op == "opaque" or not current.bits & bits:
            continue
        seen.add(current)
        if current.op == "^" and all(argument.bits & bits for argument in current.args):
            return True
        if current.op in ("&", ">>") and current.args[1].is_const:
            return True
        pending.extend(current.args)
    return False
