"""Distances between the elements of tensors and vectors that nobody gives, and that are 1 as a rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cudalint.evaluate.requests.totals import Totals
from cudalint.evaluate.requests.views import TOLERANCE, Known, LaunchView, totals_of
from cudalint.heuristics import heuristic
from cudalint.values.arithmetic import BOOL
from cudalint.values.graph import Graph
from cudalint.values.nodes import (
    BLOCK_BITS,
    THREAD_BITS,
    Node,
    Uniform,
    below,
    bits_of,
    render,
    without_not,
)
from cudalint.values.polynomial import is_address
from cudalint.values.size_uses import factors_of


@heuristic("unit-strides", "strides of tensors and BLAS vectors are 1 as a rule").otherwise(([], []))
def unknown_strides(reached: Sequence[Known], quick: Totals, view: LaunchView) -> tuple[list[str], list[float]]:
    """The strides of tensors and vectors for which the figure is a better one if they are 1, and the figures that it
    has then."""
    bits = bits_of(known.event.offset for known in reached)
    found = [u for u in view.graph.atoms(bits, view.graph.uniform_bits) if _may_be_one(u)]
    bare = found if _is_of_other_sizes(reached, view) else _bare_strides(found, reached, view)
    factors = _factors(found, reached, view)
    names, figures, base = [], [], quick.cost / quick.requests
    for uniform in found:
        is_stride = uniform in bare or uniform in factors or _is_stride(uniform)
        if is_stride and view.allows(uniform, 1) and view.is_launched(uniform, 1):
            totals = totals_of(reached[:8], view.varied(uniform, 1))
            figure = totals.cost / totals.requests if totals.requests else base
            if figure < base * (1 - TOLERANCE):
                names.append(render(uniform))
                figures.append(figure)
    return names, figures


def _is_stride(number: Node) -> bool:
    return isinstance(number.payload, Uniform) and number.payload.stride == "any"


def _is_of_other_sizes(reached: Sequence[Known], view: LaunchView) -> bool:
    """Whether conditions were taken to hold that don't for the sizes that go into the addresses: these are no sizes of
    the program then, and a number that one of them is multiplied with may well be 1, such as a dilation."""
    bits = bits_of(known.event.offset for known in reached)
    if any(size.bits & bits for size in view.needed):
        return True
    return any(
        atom.kind != BOOL and not atom.kind.is_float
        for known in reached
        for condition in known.relaxed
        for atom in view.graph.atoms(condition.bits & bits, view.graph.uniform_bits)
    )


def _bare_strides(found: Sequence[Node], reached: Sequence[Known], view: LaunchView) -> list[Node]:
    """The numbers that are but how far elements are apart (`x[i * incx]`, `x[i * strides.x + j * strides.y]`): nothing
    else is added to what they multiply, as a column would be, or else what lies further apart than they reach; and
    nothing is compared with them, as with the length of a row, nor launched for them."""
    graph = view.graph
    moving = THREAD_BITS | BLOCK_BITS | graph.loop_bits | graph.opaque_bits
    strides = [u for u in found if not _is_size(u, reached, view)]
    zeros = {u: graph.const(0, u.kind) for u in strides}
    starts = [graph.substitute(known.event.offset, zeros | _first_turns(known, graph)) for known in reached]
    if any(start.bits & moving or (start.is_const and start.value) for start in starts):
        return [u for u in strides if all(_is_within_gaps(known, u, view) for known in reached)]
    return strides


def _first_turns(known: Known, graph: Graph) -> dict[Node, Node]:
    """The first iteration of loops of which data says how often they go round: that may be once, in rows of one."""
    loops = (loop for loop in known.event.context.loops if loop.condition.bits & graph.opaque_bits)
    return {loop.counter: graph.const(0, loop.counter.kind) for loop in loops}


def _factors(found: Sequence[Node], reached: Sequence[Known], view: LaunchView) -> set[Node]:
    """The numbers by which images are enlarged along both axes: channels are divided by their squares
    (`channels / (scale * scale)`), and they are no sizes otherwise."""
    squared = set[Node]()
    for quotient in below((known.event.offset for known in reached), view.graph.uniform_bits):
        if quotient.op == "/" and not quotient.bits & ~view.graph.uniform_bits:
            parts = factors_of(quotient.args[1]) or ()
            squared.update(part for part in parts if parts.count(part) > 1)
    return {u for u in found if u in squared and not _is_size(u, reached, view)}


def _is_size(number: Node, reached: Sequence[Known], view: LaunchView) -> bool:
    """Whether a number says how many there are of something: more blocks are launched if it is larger, or something is
    compared with it. A grid is divided by a stride, and places that are multiples of one are compared with an end."""
    if any(extent.bits & number.bits for extent in view.grid):
        usual, doubled = view.quick().grid, view.varied(number, 2 * view.graph.generic(number)).grid
        if any(more > extent for more, extent in zip(doubled, usual, strict=True)):
            return True
    compared: list[Node] = []
    for known in reached:
        compared += (loop.condition for loop in known.event.context.loops)
        compared += known.event.context.conditions
    graph = view.graph
    return any(_is_more_than_scaled(node, number, graph) and _is_bound(node, number, graph) for node in compared)


def _is_bound(node: Node, number: Node, graph: Graph) -> bool:
    """Whether a number goes into a value otherwise than as a factor of a place, as in `i * incx < n`."""
    if not node.bits & number.bits or node.op == "opaque":
        # Where something is loaded from is no bound.
        return False
    if node.op == "*":
        moving = THREAD_BITS | BLOCK_BITS | graph.loop_bits | graph.opaque_bits
        places = [argument for argument in node.args if argument.bits & moving]
        if len(places) == 1 and not places[0].bits & number.bits:
            return False
    if node.op not in _LINEAR:
        return True
    return any(_is_bound(argument, number, graph) for argument in node.args)


_LINEAR = frozenset({"+", "-", "*", "cast", "!", "<", "<=", "==", "!="})


def _is_within_gaps(known: Known, stride: Node, view: LaunchView) -> bool:
    """Whether elements that are a stride of 1 apart lie within the gaps that all else leaves: images one after another,
    of which every second pixel is taken, and not rows of which the columns would be the next rows' then."""
    event, graph = known.event, view.graph
    offsets = [graph.substitute(event.offset, {stride: graph.const(n, stride.kind)}) for n in (1, 2, 3)]
    rows = known.situation.rows(event.context.loops)
    one, two, three = (rows.full(offset).reshape(known.quick.mask.shape)[known.quick.mask] for offset in offsets)
    scaled = (two - one).astype(np.int64)
    if not np.array_equal(three - two, scaled):
        return False
    rest = one.astype(np.int64) - scaled
    gap = int(np.gcd.reduce(rest - rest.min()))
    return gap > int(scaled.max() - scaled.min()) > 0


def _is_more_than_scaled(node: Node, stride: Node, graph: Graph) -> bool:
    """Whether a number goes into a value otherwise than as a factor of both sides of a comparison, as in
    `i * incx < n * incx`."""
    if not node.bits & stride.bits:
        return False
    compared = without_not(node)
    if compared.op not in ("<", "<=", "==", "!="):
        return True
    sides = (graph.substitute(side, {stride: graph.const(0, stride.kind)}) for side in compared.args)
    return any(not side.is_const or side.value for side in sides)


def _may_be_one(number: Node) -> bool:
    """Whether a number may be the stride of neighbours: those of a tensor but the last are known not to be."""
    if not isinstance(number.payload, Uniform):
        return False
    return not (number.kind.is_float or is_address(number) or number.payload.stride == "outer")
