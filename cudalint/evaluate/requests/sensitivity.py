"""Which made-up values a figure rests on: found by changing them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from cudalint.evaluate.requests.totals import Totals
from cudalint.evaluate.requests.views import TOLERANCE, Known, LaunchView, totals_of
from cudalint.evaluate.symbolic.arithmetic import BOOL
from cudalint.evaluate.symbolic.defaults import stated
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.nodes import BLOCK_BITS, GRANULE, THREAD_BITS, Node, Uniform, below, render, without_not
from cudalint.evaluate.symbolic.polynomial import is_address

_VARIATIONS = (1, 2, 4, 8, 16)
"""What is added to a generic problem size to see whether its divisibility matters."""
_SMALL_SIZES = tuple((1 << bits) + 1 for bits in range(2, 14))
"""Tried to see from which size on a figure holds: none of them makes the last warp full."""
_SHORTEST_ROW = 3
"""Of coordinates. Rows of five elements of 8 bytes are in sectors of their own like longer ones."""
_MAGNITUDE = 3
"""What it is multiplied by to see whether its magnitude matters, or divided by where products would overflow."""
_LARGEST_BLOCK = 1024
"""Threads: sizes below are small."""
_MANY_BLOCKS = 256
"""Worth a launch by themselves."""
_MAX_DIVISORS = 2
_LONGEST_TEXT = 72
"""Of a condition that is told."""


def assumptions_of(
    reached: Sequence[Known], quick: Totals, view: LaunchView
) -> tuple[tuple[str, ...], tuple[float, float] | None]:
    """Which generic values the figure rests on, found by changing them; and how far it moves then."""
    graph = view.graph
    texts = [_condition_text(c) for k in reached[:1] for c in k.relaxed]
    bits = 0
    for known in reached:
        bits |= known.event.offset.bits
        for condition in known.conditions:
            bits |= condition.bits
    low, high, moved = quick.low, quick.high, False
    base = quick.cost / quick.requests
    for uniform in graph.atoms(bits, graph.uniform_bits):
        assert isinstance(uniform.payload, Uniform)
        if uniform.payload.name.startswith("&") or _only_divides(uniform, reached, graph):
            continue
        if stated(uniform) in view.assumptions:
            continue
        text, means = _sensitivity(uniform, base, reached[:8], view)
        if text is not None:
            moved = True
            low, high = min(low, *means), max(high, *means)
            texts.append(text)
    return tuple(dict.fromkeys(texts)), (low, high) if moved else None


def unknown_strides(reached: Sequence[Known], quick: Totals, view: LaunchView) -> tuple[list[str], list[float]]:
    """The strides of tensors and vectors for which the figure is a better one if they are 1, and the figures that it
    has then."""
    bits = 0
    for known in reached:
        bits |= known.event.offset.bits
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
    bits = 0
    for known in reached:
        bits |= known.event.offset.bits
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


def _condition_text(condition: Node) -> str:
    text = render(condition)
    if condition.op == "==" and condition.args[0].op == "uniform" and condition.args[1].is_const:
        return text.removeprefix("(").removesuffix(")")
    # A longer one says nothing to anybody: it is spelled as it is evaluated, with all that goes into it.
    return f"`{text}` holds" if len(text) <= _LONGEST_TEXT else "conditions hold that ordinary sizes don't meet"


def _sensitivity(
    uniform: Node, base: float, reached: Sequence[Known], view: LaunchView
) -> tuple[str | None, list[float]]:
    """What must hold of a generic value for the figure to stay, None where it stays anyway; and the figures seen."""
    assert isinstance(uniform.payload, Uniform)
    generic = uniform.payload.generic

    def mean(value: int | float) -> float:
        if not view.allows(uniform, value) or not view.is_launched(uniform, value):
            return base
        totals = totals_of(reached, view.varied(uniform, value))
        return totals.cost / totals.requests if totals.requests else base

    def beside(added: int) -> int:
        """A size with another remainder: a smaller one where a larger one is not launched."""
        larger = int(generic) + added
        return larger if view.is_launched(uniform, larger) or added >= generic else int(generic) - added

    def moves(figure: float) -> bool:
        return abs(figure - base) > TOLERANCE * max(figure, base)

    if uniform.kind == BOOL:
        flipped = mean(0 if generic else 1)
        text = f"`{render(uniform)}` is {'true' if generic else 'false'}"
        return (text, [flipped]) if moves(flipped) else (None, [])
    scaled = [mean(value) for value in _other_magnitudes(uniform, view)]
    if any(map(moves, scaled)):
        return stated(uniform), scaled
    if uniform.kind.is_float:
        return None, []
    for divisor, text in _divisors(uniform, reached, view):
        # What is divided has to change by as much as the divisor for the quotient to change at all.
        quotients = {added: mean(beside(added * divisor)) for added in _VARIATIONS}
        sensitive = [added for added, figure in quotients.items() if moves(figure)]
        if sensitive:
            number = int(generic) // divisor
            return f"{text} % {2 * max(sensitive)} == {number % (2 * max(sensitive))}", list(quotients.values())
    means = {1: mean(beside(1))}
    if view.allows(uniform, beside(1)) and not moves(means[1]):
        # If an odd size changes nothing, no other divisibility matters.
        # Of a tensor with rows of three, no size says so; a row of a matrix is as long as a matrix is wide.
        is_open = uniform.payload.stride or _decides_who_comes(uniform, reached) or _divides_threads(uniform, reached)
        return _least(uniform, moves, mean, view) if is_open else (None, [])
    means |= {added: mean(beside(added)) for added in _VARIATIONS[1:]}
    sensitive = [added for added, figure in means.items() if moves(figure)]
    if not sensitive:
        return None, []
    modulus = 2 * max(sensitive)
    return f"{render(uniform)} % {modulus} == {int(generic) % modulus}", list(means.values())


def _other_magnitudes(uniform: Node, view: LaunchView) -> list[int | float]:
    """Values of another order, to see whether it matters. A default that an option changes may be a small one where
    programs are run with large ones."""
    assert isinstance(uniform.payload, Uniform)
    generic = uniform.payload.generic
    if not generic and not uniform.kind.is_float:
        return [_LARGEST_BLOCK]
    # One with a remainder of its own keeps it: the magnitude alone is to be another one.
    is_small = uniform.kind.is_float or generic < _MAGNITUDE * GRANULE
    over = 0 if is_small else int(generic) % GRANULE
    larger, smaller = (generic - over) * _MAGNITUDE + over, generic // _MAGNITUDE
    if not is_small:
        smaller = smaller // GRANULE * GRANULE + over
    found = [larger if view.fits(uniform, int(larger)) and view.is_launched(uniform, larger) else smaller]
    if uniform.payload.is_default and not uniform.kind.is_float and 0 < generic < _LARGEST_BLOCK:
        found.append(generic * _LARGEST_BLOCK)
    return found


def _least(
    uniform: Node, moves: Callable[[float], bool], mean: Callable[[int | float], float], view: LaunchView
) -> tuple[str | None, list[float]]:
    """From which size on the figure is what it is for large ones: rows of few elements, a block to each, leave most
    lanes without work."""
    assert isinstance(uniform.payload, Uniform)
    if any(uniform.bits & extent.bits for extent in view.grid) and _fills_grid(uniform, view):
        return None, []
    figures: list[float] = []
    for size in (_SHORTEST_ROW, *_SMALL_SIZES) if uniform.payload.stride else _SMALL_SIZES:
        if size >= uniform.payload.generic:
            break
        if not view.allows(uniform, size) or not view.is_launched(uniform, size):
            continue
        figure = mean(size)
        if not moves(figure):
            return (f"{render(uniform)} >= {size - 1}" if figures else None), figures
        figures.append(figure)
    # It is something else that matters.
    return None, []


def _fills_grid(uniform: Node, view: LaunchView) -> bool:
    """Whether there are few blocks where a size is small: one that is worth a grid is large. Of pixels times channels,
    the pixels alone may be worth it."""
    return math.prod(view.varied(uniform, _SMALL_SIZES[0]).grid) < _MANY_BLOCKS


def _decides_who_comes(uniform: Node, reached: Sequence[Known]) -> bool:
    """Whether a size is what threads compare their place in the block with. Where it is the one in the grid, as in
    `if (i < n)` and loops that stride over the grid, only the edge of a size that is worth a grid is at stake."""
    if any(known.relaxed for known in reached):
        return False
    loops = (loop.condition for known in reached for loop in known.event.context.loops)
    conditions = (*loops, *(condition for known in reached for condition in known.conditions))
    own = (condition.bits for condition in conditions if not condition.bits & BLOCK_BITS)
    return any(bits & uniform.bits and bits & THREAD_BITS for bits in own)


def _divides_threads(uniform: Node, reached: Sequence[Known]) -> bool:
    """Whether what a thread is for is divided by a size, as in `pixel[i / channels]`: of few channels, more than one
    pixel belong to a warp."""
    nodes = [node for known in reached for node in (known.event.offset, *known.conditions)]
    return any(
        node.op in ("/", "%") and node.args[1].bits & uniform.bits and node.args[0].bits & THREAD_BITS
        for node in below(nodes, uniform.bits)
    )


def _only_divides(uniform: Node, reached: Sequence[Known], graph: Graph) -> bool:
    """Whether a size comes in only as what another one is divided by: what matters is the quotient then."""
    nodes = [node for known in reached for node in (known.event.offset, *known.conditions)]
    users = [node for node in below(nodes, uniform.bits) if uniform in node.args]
    return bool(users) and all(
        u.op == "/" and u.args[1] is uniform and u.args[0].op == "uniform" for u in users
    )


def _divisors(uniform: Node, reached: Sequence[Known], view: LaunchView) -> list[tuple[int, str]]:
    """The numbers by which a size is divided on the way to these accesses, with the text of the quotient."""
    found: dict[str, int] = {}
    nodes = [node for known in reached for node in (known.event.offset, *known.conditions)]
    for quotient in below(nodes, uniform.bits):
        dividend, divisor = quotient.args if quotient.op == "/" else (uniform, uniform)
        if dividend is uniform and divisor is not uniform and not divisor.bits & ~view.graph.uniform_bits:
            number = int(np.asarray(view.quick().base.value(divisor)).flat[0])
            if number > 1:
                found[render(quotient).removeprefix("(").removesuffix(")")] = number
    return [(number, text) for text, number in found.items()][:_MAX_DIVISORS]
