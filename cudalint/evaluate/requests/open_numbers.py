"""Numbers that nobody gives, and that are something else than sizes: the stride of a tensor, which is 1 as a rule; a
flag, which only chooses; a shift, such as the level of a pyramid, of which the first one is 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from cudalint.evaluate.requests.requests import Totals
from cudalint.evaluate.requests.situations import Situation
from cudalint.evaluate.requests.views import TOLERANCE, Known, LaunchView, totals_of
from cudalint.heuristics import heuristic
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import BOOL
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import (
    BLOCK_BITS,
    THREAD_BITS,
    Node,
    Uniform,
    below,
    bits_of,
    render,
    without_cast,
    without_not,
)
from cudalint.values.operations import COMPARISONS
from cudalint.values.polynomial import is_address
from cudalint.values.size_uses import factors_of


class OpenValues(Struct, frozen=True):
    """What nobody says is so, and what a figure is better for if it is."""

    unsaid: tuple[str, ...]
    figures: tuple[float, ...]
    """Those that it has then, one for each."""
    numbers: tuple[Node, ...]
    conditions: tuple[str, ...]
    """What has to hold of each of these for it not to be so."""


def open_values(
    reached: Sequence[Known], quick: Totals, view: LaunchView, flags: Sequence[Flag]
) -> OpenValues:
    strides, figures = _unknown_strides(reached, quick, view)
    chosen, others = _other_flags(reached, quick, view, flags)
    names = [render(stride) for stride in strides]
    better = (f"`{flag.text}` is {'false' if flag.is_true else 'true'}" for flag in chosen)
    unsaid = tuple(f"whether {text}" for text in (*(f"`{name}` is 1" for name in names), *better))
    conditions = *(f"{name} > 1" for name in names), *(flag.holding for flag in chosen)
    return OpenValues(unsaid, (*figures, *others), (*strides, *(flag.number for flag in chosen)), conditions)


def _figure(reached: Sequence[Known], situation: Situation, base: float) -> float:
    totals = totals_of(reached[:8], situation)
    return totals.cost / totals.requests if totals.requests else base


# --- numbers that only choose ---------------------------------------------------------------------------


class Flag(Struct, frozen=True, eq=False):
    """A number that addresses depend on only by what a condition asks of it."""

    number: Node
    condition: Node
    is_true: bool
    """Whether the condition holds for the generic value."""
    other: int
    """A value with which the condition is the opposite."""

    @property
    def text(self) -> str:
        """`layout == 1`."""
        text = render(self.condition)
        return text.removeprefix("(").removesuffix(")") if self.condition.op in _EQUALITIES else text

    @property
    def holding(self) -> str:
        """What is so of the generic value: `layout == 1`, `layout != 1`, `!transposed`."""
        if self.is_true:
            return self.text
        return self.text.replace("==", "!=", 1) if self.condition.op in _EQUALITIES else f"!{self.text}"


def flags_of(reached: Sequence[Known], view: LaunchView) -> list[Flag]:
    """The flags that choose addresses of some accesses, of which the launch leaves open what they are."""
    graph = view.graph
    found: dict[Node, Flag] = {}
    for node in below((known.event.offset for known in reached), graph.uniform_bits):
        flag = _flag(node.args[0], graph) if node.op == "select" else None
        if flag is None or flag.number in found:
            continue
        if view.allows(flag.number, flag.other) and view.is_launched(flag.number, flag.other):
            found[flag.number] = flag
    return [flag for flag in found.values() if _only_chooses(flag.number, all_values(reached, view))]


@heuristic("other-flags", "layout flags of libraries: each side is as likely").otherwise(([], []))
def _other_flags(
    reached: Sequence[Known], quick: Totals, view: LaunchView, flags: Sequence[Flag]
) -> tuple[list[Flag], list[float]]:
    """The flags for which the figure is a better one if they are otherwise, and the figures that it has then."""
    found, figures, base = [], [], quick.cost / quick.requests
    for flag in flags:
        figure = _figure(reached, view.varied(flag.number, flag.other), base)
        if figure < base * (1 - TOLERANCE):
            found.append(flag)
            figures.append(figure)
    return found, figures


def _flag(condition: Node, graph: Graph) -> Flag | None:
    """The flag that a condition of its own asks about."""
    bare = without_not(condition)
    compared = bare.args[0] if bare.op in _EQUALITIES and bare.args[1].is_const else bare
    number = without_cast(compared)
    if not isinstance(number.payload, Uniform) or number.kind.is_float or graph.choice(number).is_default:
        return None
    if bare.op not in _EQUALITIES and number.kind != BOOL:
        return None
    asked = int(bare.args[1].value) if bare.op in _EQUALITIES else 1
    is_true = holds(graph, bare, {})
    values = (asked, *alternatives.FLAGS) if number.kind != BOOL else alternatives.FLAGS
    other = next((value for value in values if holds(graph, bare, {number: value}) != is_true), None)
    return None if other is None else Flag(number, bare, is_true, other)


def all_values(reached: Sequence[Known], view: LaunchView) -> Iterator[Node]:
    """All that decides where the accesses go and who gets there."""
    yield from view.grid
    for known in reached:
        yield known.event.offset
        yield from known.event.context.deciding


def _only_chooses(number: Node, values: Iterable[Node]) -> bool:
    """Whether nothing is computed from a number but whether it is a certain other one."""
    users = [node for node in below(values, number.bits) if number in node.args]
    casts = [user for user in users if user.op == "cast"]
    if casts:
        users = [user for user in users if user.op != "cast"]
        users += (node for node in below(values, number.bits) if any(cast in node.args for cast in casts))
    return all(
        user.op in _EQUALITIES or user.op == "!" or (user.op == "select" and user.args[0] is number) for user in users
    )


_EQUALITIES = ("==", "!=")


# --- distances between the elements of tensors and vectors ------------------------------------------------


@heuristic("unit-strides", "strides of tensors and BLAS vectors are 1 as a rule").otherwise(([], []))
def _unknown_strides(reached: Sequence[Known], quick: Totals, view: LaunchView) -> tuple[list[Node], list[float]]:
    """The strides of tensors and vectors for which the figure is a better one if they are 1, and the figures that it
    has then."""
    bits = bits_of(known.event.offset for known in reached)
    found = [u for u in view.graph.atoms(bits, view.graph.uniform_bits) if _may_be_one(u, view.graph)]
    if not found:
        return [], []
    bare = found if _is_of_other_sizes(reached, view) else _bare_strides(found, reached, view)
    factors = _factors(found, reached, view)
    strides, figures, base = [], [], quick.cost / quick.requests
    for uniform in found:
        is_stride = uniform in bare or uniform in factors or _is_stride(uniform)
        if is_stride and view.allows(uniform, 1) and view.is_launched(uniform, 1):
            figure = _figure(reached, view.varied(uniform, 1), base)
            if figure < base * (1 - TOLERANCE):
                strides.append(uniform)
                figures.append(figure)
    return strides, figures


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
        compared += known.event.context.deciding
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


def _may_be_one(number: Node, graph: Graph) -> bool:
    """Whether a number may be the stride of neighbours: those of a tensor but the last are known not to be, and one
    that the program has, be it unless an option says otherwise, is what it is."""
    if not isinstance(number.payload, Uniform) or graph.choice(number).is_default:
        return False
    return not (number.kind.is_float or is_address(number) or number.payload.stride == "outer")


# --- numbers by which places are only shifted -------------------------------------------------------------

_SHIFTS = ("<<", ">>")


def small_shifts(reached: Sequence[Known], view: LaunchView) -> dict[Node, int]:
    """The numbers by which what tells threads apart is shifted to the left on the way to addresses, and that go into
    nothing else: `1 << bits` would be a size, and no place. With the least that each of them may be."""
    graph = view.graph
    offsets = [known.event.offset for known in reached]
    shifted = (node for node in below(offsets, graph.uniform_bits) if node.op == "<<" and node.bits & THREAD_BITS)
    numbers = dict.fromkeys(without_cast(node.args[1]) for node in shifted if node.args[0].bits & THREAD_BITS)
    open_numbers = [n for n in numbers if n.op == "uniform" and not graph.choice(n).is_default]
    found: dict[Node, int] = {}
    for number in open_numbers:
        if not _only_shifts(number, reached, view):
            continue
        values = (v for v in alternatives.SHIFTS if view.allows(number, v) and view.is_launched(number, v))
        value = next(values, None)
        if value is not None:
            found[number] = value
    return found


def _only_shifts(number: Node, reached: Sequence[Known], view: LaunchView) -> bool:
    nodes = list(below(all_values(reached, view), number.bits))
    casts = [node for node in nodes if node.op == "cast" and node.args[0] is number]
    for node in nodes:
        for symbol in (number, *casts):
            if symbol in node.args and node not in casts and not _is_shift_by(node, symbol):
                return False
    return True


def _is_shift_by(node: Node, number: Node) -> bool:
    if node.op in COMPARISONS:
        return any(argument.is_const for argument in node.args)
    if node.op not in _SHIFTS:
        return False
    return node.args[0] is not number and not (node.op == "<<" and node.args[0].is_const)
