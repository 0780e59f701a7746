"""Which made-up values a figure rests on: found by changing them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.evaluate.requests.open_numbers import Flag
from cudalint.evaluate.requests.requests import Totals
from cudalint.evaluate.requests.views import TOLERANCE, Known, LaunchView, totals_of
from cudalint.scenarios import alternatives
from cudalint.values.arithmetic import BOOL
from cudalint.values.defaults import stated
from cudalint.values.graph import Graph
from cudalint.values.nodes import (
    BLOCK_BITS,
    GRANULE,
    THREAD_BITS,
    Node,
    Uniform,
    below,
    bits_of,
    own_bit,
    render,
)

_LARGEST_BLOCK = 1024
"""Threads: sizes below are small."""
_MANY_BLOCKS = 256
"""Worth a launch by themselves."""
_MAX_DIVISORS = 2
GOOD = 1.25
"""Times what is ideal: what an access costs that nobody would change."""
_LONGEST_TEXT = 72
"""Of a condition that is told."""


class Rests(Struct, frozen=True):
    """What a figure rests on among generic values, found by changing them."""

    assumptions: tuple[str, ...]
    bounds: tuple[float, float] | None
    """How far it moves with other values; None where it doesn't."""
    sizes: tuple[str, ...]
    """Those sizes of which nobody says how large they are, and of which another magnitude makes the access a good one:
    as good as any, so that the figure is no more than one of many."""
    conditions: Mapping[Node, str] = {}
    """What has to hold of made-up values, bounds and divisors apart, for the access to be wasteful if it is, and good
    if it is."""


def rests_on(reached: Sequence[Known], quick: Totals, view: LaunchView, flags: Sequence[Flag]) -> Rests:
    graph = view.graph
    texts = [_condition_text(c) for known in reached for c in known.relaxed]
    texts += [f"{render(size)} == {view.pins[size]}" for size in sorted(view.needed, key=lambda size: size.index)]
    bits = bits_of(node for known in reached for node in (known.event.offset, *known.conditions))
    low, high, moved = quick.low, quick.high, False
    sizes: list[str] = []
    base = quick.cost / quick.requests
    by_number = {flag.number: flag for flag in flags}
    conditions: dict[Node, str] = {}
    good = GOOD * quick.ideal / quick.requests
    for uniform in graph.atoms(bits, graph.uniform_bits):
        assert isinstance(uniform.payload, Uniform)
        if uniform.payload.name.startswith("&") or _only_divides(uniform, reached, graph):
            continue
        if stated(graph, uniform) in view.assumptions or uniform in view.needed:
            continue
        size = _Size(uniform, base, reached[:8], view)
        if uniform in view.pins:
            verdict = _other_shift(size, view.pins[uniform])
        else:
            verdict = _other_choice(size, by_number[uniform]) if uniform in by_number else _sensitivity(size)
        text, means = verdict.text, verdict.figures
        if text is not None:
            moved = True
            low, high = min(low, *means), max(high, *means)
            texts.append(text)
            is_open = not graph.choice(uniform).is_default
            is_one_of_many = text == stated(graph, uniform) or verdict.is_for_long_rows
            if is_open and is_one_of_many and min(means) <= good < base:
                sizes.append(render(uniform))
            is_made_up = is_open and (uniform in by_number or verdict.is_for_long_rows or not verdict.is_bound)
            if is_made_up and any((figure <= good) != (base <= good) for figure in means):
                conditions[uniform] = by_number[uniform].holding if uniform in by_number else text
                if verdict.is_for_long_rows:
                    conditions[uniform] = f"{render(uniform)} is large"
    bounds = (low, high) if moved else None
    return Rests(tuple(dict.fromkeys(texts)), bounds, tuple(sizes), conditions)


def _condition_text(condition: Node) -> str:
    text = render(condition)
    if condition.op == "==" and condition.args[0].op == "uniform" and condition.args[1].is_const:
        return text.removeprefix("(").removesuffix(")")
    # A longer one says nothing to anybody: it is spelled as it is evaluated, with all that goes into it.
    return f"`{text}` holds" if len(text) <= _LONGEST_TEXT else "conditions hold that ordinary sizes don't meet"


class _Size:
    """One made-up value, and what becomes of a figure when it is another one."""

    def __init__(self, uniform: Node, base: float, reached: Sequence[Known], view: LaunchView) -> None:
        """`base` is the figure with the generic value."""
        assert isinstance(uniform.payload, Uniform)
        self.uniform = uniform
        self.payload = uniform.payload
        self.generic = view.graph.choice(uniform).value
        self.base = base
        self.reached = reached
        self.view = view

    def mean(self, value: int | float) -> float:
        """The figure with another value; the same as ever for one that the launch isn't made with."""
        if not self.view.allows(self.uniform, value) or not self.view.is_launched(self.uniform, value):
            return self.base
        totals = totals_of(self.reached, self.view.varied(self.uniform, value))
        return totals.cost / totals.requests if totals.requests else self.base

    def moves(self, figure: float) -> bool:
        return abs(figure - self.base) > TOLERANCE * max(figure, self.base)

    def beside(self, added: int) -> int:
        """A size with another remainder: a smaller one where a larger one is not launched."""
        larger = int(self.generic) + added
        is_possible = self.view.is_launched(self.uniform, larger) or added >= self.generic
        return larger if is_possible else int(self.generic) - added


class _Verdict(NamedTuple):
    text: str | None
    """What must hold of a generic value for the figure to stay, None where it stays anyway."""
    figures: list[float]
    """Those that were seen."""
    is_for_long_rows: bool = False
    """Whether rows have to be as long as that which are ordinary rows when they are shorter."""
    is_bound: bool = False
    """Whether a bound or a divisor is all that is asked of it."""


_STAYS = _Verdict(None, [])


def _sensitivity(size: _Size) -> _Verdict:
    uniform = size.uniform
    if uniform.kind == BOOL:
        return _other_truth(size)
    scaled = [size.mean(value) for value in _other_magnitudes(uniform, size.view)]
    if any(map(size.moves, scaled)):
        is_few = not (uniform.kind.is_float or size.view.graph.choice(uniform).is_default)
        few = [value for value in alternatives.FEW_OF_ANYTHING if is_few and value < size.generic]
        return _Verdict(stated(size.view.graph, uniform), [*scaled, *map(size.mean, few)])
    if uniform.kind.is_float:
        return _STAYS
    for divisor, text in _divisors(uniform, size.reached, size.view):
        # What is divided has to change by as much as the divisor for the quotient to change at all.
        quotients = {added: size.mean(size.beside(added * divisor)) for added in alternatives.POWERS_ADDED}
        needed = _divisibility(text, int(size.generic) // divisor, quotients, size)
        if needed is not None:
            return _Verdict(needed, list(quotients.values()), is_bound=True)
    return _other_remainders(size)


def _other_truth(size: _Size) -> _Verdict:
    flipped = size.mean(0 if size.generic else 1)
    text = f"`{render(size.uniform)}` is {'true' if size.generic else 'false'}"
    return _Verdict(text, [flipped]) if size.moves(flipped) else _STAYS


def _other_choice(size: _Size, flag: Flag) -> _Verdict:
    flipped = size.mean(flag.other)
    text = f"`{flag.text}` is {'true' if flag.is_true else 'false'}"
    return _Verdict(text, [flipped]) if size.moves(flipped) else _STAYS


def _other_shift(size: _Size, least: int) -> _Verdict:
    means = [size.mean(least + more) for more in alternatives.SHIFTS[1:]]
    return _Verdict(f"{render(size.uniform)} == {least}", means) if any(map(size.moves, means)) else _STAYS


def _other_remainders(size: _Size) -> _Verdict:
    uniform, reached = size.uniform, size.reached
    means = {1: size.mean(size.beside(1))}
    if size.view.allows(uniform, size.beside(1)) and not size.moves(means[1]):
        # If an odd size changes nothing, no other divisibility matters.
        # Of a tensor with rows of three, no size says so; a row of a matrix is as long as a matrix is wide.
        if _is_pitch(uniform, reached):
            return _least_pitch(size)
        comes = _decides_who_comes(uniform, reached, size.view)
        is_open = size.payload.stride or comes or _divides_threads(uniform, reached)
        return _least(size) if is_open else _STAYS
    means |= {added: size.mean(size.beside(added)) for added in alternatives.POWERS_ADDED[1:]}
    needed = _divisibility(render(uniform), int(size.generic), means, size)
    if needed is None:
        return _STAYS
    # Of rows that are multiples of that as well, short ones may be others.
    rows = alternatives.SHORT_ROWS if _is_pitch(uniform, reached) else ()
    short = [size.mean(row) for row in rows if row < size.generic]
    is_for_long_rows = any(figure < size.base for figure in short)
    return _Verdict(needed, [*means.values(), *short], is_for_long_rows, is_bound=True)


def _divisibility(text: str, number: int, figures: Mapping[int, float], size: _Size) -> str | None:
    """The remainder that a number needs for the figure to stay, from the figures with something added to it."""
    sensitive = [added for added, figure in figures.items() if size.moves(figure)]
    if not sensitive:
        return None
    modulus = 2 * max(sensitive)
    return f"{text} % {modulus} == {number % modulus}"


def _other_magnitudes(uniform: Node, view: LaunchView) -> list[int | float]:
    """Values of another order, to see whether it matters. A default that an option changes may be a small one where
    programs are run with large ones."""
    choice = view.graph.choice(uniform)
    generic = choice.value
    if not generic and not uniform.kind.is_float:
        return [_LARGEST_BLOCK]
    larger, smaller = alternatives.of_other_magnitude(generic)
    found = [larger if view.fits(uniform, int(larger)) and view.is_launched(uniform, larger) else smaller]
    if choice.is_default and not uniform.kind.is_float and 0 < generic < _LARGEST_BLOCK:
        found.append(generic * _LARGEST_BLOCK)
    return found


def _least(size: _Size) -> _Verdict:
    """From which size on the figure is what it is for large ones: rows of few elements, a block to each, leave most
    lanes without work."""
    uniform, view = size.uniform, size.view
    if any(uniform.bits & extent.bits for extent in view.grid) and _fills_grid(uniform, view):
        return _STAYS
    figures: list[float] = []
    shortest = (alternatives.SHORTEST_ROW,) if size.payload.stride else ()
    for value in (*shortest, *alternatives.SMALL_SIZES):
        if value >= size.generic:
            break
        if not view.allows(uniform, value) or not view.is_launched(uniform, value):
            continue
        figure = size.mean(value)
        if not size.moves(figure):
            bound = f"{render(uniform)} >= {value - 1}"
            return _Verdict(bound, figures, is_bound=True) if figures else _STAYS
        figures.append(figure)
    # It is something else that matters.
    return _STAYS


def _least_pitch(size: _Size) -> _Verdict:
    """From which pitch on the figure is what it is for large ones: neighbouring lanes share sectors with short ones.
    There is no smallest row, and one of one element lies as threads do."""
    uniform, view = size.uniform, size.view
    figures: list[float] = []
    for value in alternatives.PITCHES:
        if value >= size.generic:
            break
        if not view.allows(uniform, value) or not view.is_launched(uniform, value):
            continue
        figure = size.mean(value)
        if not size.moves(figure) and not size.moves(size.mean(value + 1)):
            if not figures:
                return _STAYS
            return _Verdict(f"{render(uniform)} >= {value}", figures, value > GRANULE, is_bound=True)
        figures.append(figure)
    if figures[:1] < figures[-1:] and figures == sorted(figures) and figures[-1] <= size.base:
        # The longer the rows the worse, up to those that were chosen.
        return _Verdict(f"{render(uniform)} is large", figures, True, is_bound=True)
    # It is something else that matters.
    return _STAYS


def _is_pitch(uniform: Node, reached: Sequence[Known]) -> bool:
    """Whether the places of threads are multiplied by a size, as in `out[pixel * nearest + k]`."""
    nodes = [known.event.offset for known in reached]
    return any(
        node.op == "*" and node.args[not i].bits & uniform.bits and node.args[i].bits & THREAD_BITS
        for node in below(nodes, uniform.bits)
        for i in (0, 1)
    )


def _fills_grid(uniform: Node, view: LaunchView) -> bool:
    """Whether it is for this size that there are many blocks: one that is worth a grid is large. Of pixels times
    channels, the pixels alone may be worth it."""
    others = bits_of(view.grid) & view.graph.uniform_bits & ~own_bit(uniform)
    return not others and math.prod(view.varied(uniform, alternatives.SMALL_SIZES[0]).grid) < _MANY_BLOCKS


def _decides_who_comes(uniform: Node, reached: Sequence[Known], view: LaunchView) -> bool:
    """Whether a size is what threads compare their place in the block with. Where it is the one in the grid, as in
    `if (i < n)` and loops that stride over the grid, only the edge of a size that is worth a grid is at stake."""
    if view.needed or any(known.relaxed for known in reached):
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
