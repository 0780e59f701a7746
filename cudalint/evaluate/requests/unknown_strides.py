"""Distances between the elements of tensors and vectors that nobody gives, and that are 1 as a rule."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.evaluate.requests.totals import Totals
from cudalint.evaluate.requests.views import TOLERANCE, Known, LaunchView, totals_of
from cudalint.evaluate.symbolic.arithmetic import BOOL
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.nodes import BLOCK_BITS, THREAD_BITS, Node, Uniform, bits_of, render, without_not
from cudalint.evaluate.symbolic.polynomial import is_address


def unknown_strides(reached: Sequence[Known], quick: Totals, view: LaunchView) -> tuple[list[str], list[float]]:
    """The strides of tensors and vectors for which the figure is a better one if they are 1, and the figures that it
    has then."""
    bits = bits_of(known.event.offset for known in reached)
    found = [u for u in view.graph.atoms(bits, view.graph.uniform_bits) if _may_be_one(u)]
    bare = found if _is_of_other_sizes(reached, view) else _bare_strides(found, reached, view)
    names, figures, base = [], [], quick.cost / quick.requests
    for uniform in found:
        is_stride = uniform in bare or _is_stride(uniform)
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
    return any(
        atom.kind != BOOL and not atom.kind.is_float
        for known in reached
        for condition in known.relaxed
        for atom in view.graph.atoms(condition.bits & bits, view.graph.uniform_bits)
    )


def _bare_strides(found: Sequence[Node], reached: Sequence[Known], view: LaunchView) -> list[Node]:
    """The numbers that are but how far elements are apart (`x[i * incx]`, `x[i * strides.x + j * strides.y]`): nothing
    else is added to what they multiply, as a column would be, and nothing is compared with them, as with the length of
    a row."""
    graph = view.graph
    moving = THREAD_BITS | BLOCK_BITS | graph.loop_bits | graph.opaque_bits
    compared = list(view.grid)
    for known in reached:
        compared += (loop.condition for loop in known.event.context.loops)
        compared += known.event.context.conditions
    strides = [
        u for u in found if _may_be_one(u) and not any(_is_more_than_scaled(node, u, graph) for node in compared)
    ]
    for known in reached:
        start = graph.substitute(known.event.offset, {u: graph.const(0, u.kind) for u in strides})
        if start.bits & moving or (start.is_const and start.value):
            return []
    return strides


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
