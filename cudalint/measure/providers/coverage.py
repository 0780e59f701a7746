"""Elements that a kernel's conditions would let through, and that no block of its grid comes to.

The block behind the last one of an axis is asked: if the kernel's conditions on its place let it in, it would have had
something to do. That is told where the grid is made of the size that the condition names, and rounded down or held
below a number; or where it is made of the sizes of another axis, which have changed places.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, Place
from cudalint.facts.axes import Axis
from cudalint.facts.launch_faults import Uncovered
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, below
from cudalint.host.values.ranges import Ranges
from cudalint.host.values.smallest import smallest
from cudalint.ir.text import expression_text
from cudalint.kinds import Kind
from cudalint.launches.admitted import Limit, admitted_by
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.launches.shortfall import is_above, may_fall_short, shortfall, without_remainders
from cudalint.launches.smallest_sizes import SmallestSizes, computes_rest_of, named
from cudalint.measure.providers.provider import Provider, Run
from cudalint.worlds.text import text_of

_AXES: tuple[Axis, ...] = ("x", "y", "z")
_FEWEST_BLOCKS = 2
"""Of a grid in numbers: a single block may be meant to do no more than it does."""
_What = Literal["rounded-down", "exchanged", "limited"]


class CoverageCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "coverage"
    _found: list[Uncovered] = field(default_factory=list)

    def add(self, run: Run) -> None:
        if run.configuration.asked_block is not None and run.launch.recorded is None and run.subject.is_whole:
            self._found += uncovered(run)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, uncovered=tuple(self._found))


class _Axis(NamedTuple):
    """One axis of a launch whose blocks a kernel's conditions look at."""

    axis: Axis
    extent: Node
    limits: tuple[Limit, ...]


def uncovered(run: Run) -> Iterator[Uncovered]:
    configuration, function, graph = run.configuration, run.subject.function, run.subject.graph
    sizes = SmallestSizes(configuration, graph, run.statements)
    parameters = OpenNumbers(configuration, graph).parameters
    admitted = admitted_by(function, text_of(function), parameters, configuration.block, graph)
    axes = [
        _Axis(axis, extent, limits)
        for axis, extent in zip(_AXES, configuration.grid, strict=True)
        if axis not in admitted.unknown
        and (limits := tuple(each for each in admitted.limits if each.axis == axis))
    ]
    for own in axes:
        what = _why(graph, sizes, own, axes)
        if what is None:
            continue
        for place in sizes.places:
            yield from _uncovered(run, sizes, place, own, what)


def _why(graph: Graph, sizes: SmallestSizes, own: _Axis, axes: list[_Axis]) -> _What | None:
    """Why it would be a mistake if the grid fell short along an axis; None where it is not known to be one."""
    bounds = [each.bound for each in own.limits]
    if own.extent.is_const:
        return _why_of_numbers(own, axes)
    made_of = set(sizes.symbols(own.extent))
    if not sizes.is_open(own.extent) or not all(map(sizes.is_open, bounds)):
        return None
    asked = [set(sizes.symbols(bound)) for bound in bounds]
    if all(each == made_of for each in asked):
        is_limited = any(node.op in ("min", "select") for node in below([own.extent], own.extent.bits))
        return "limited" if is_limited else "rounded-down"
    for other in axes:
        others = [set(sizes.symbols(each.bound)) for each in other.limits]
        extent = set(sizes.symbols(other.extent))
        if other is not own and all(each == extent for each in asked) and all(each == made_of for each in others):
            return "exchanged"
    return None


def _why_of_numbers(own: _Axis, axes: list[_Axis]) -> _What | None:
    """The same where all numbers are known: of a size, or of another axis's, they are the quotient."""
    blocks, needed = int(own.extent.value), [_needed(limit, own) for limit in own.limits]
    if any(each is None for each in needed) or blocks < _FEWEST_BLOCKS:
        return None
    if all(each == blocks + 1 for each in needed):
        return "rounded-down"
    for other in axes:
        if other is own or not other.extent.is_const or not all(each == other.extent.value for each in needed):
            continue
        if all(_needed(limit, own) == blocks for limit in other.limits):
            return "exchanged"
    return None


def _needed(limit: Limit, of: _Axis) -> int | None:
    """How many blocks of an axis it takes to come to all that a condition lets through, where that is a number."""
    if not limit.bound.is_const or not limit.rest.is_const or not of.limits:
        return None
    return -(-int(limit.bound.value - limit.rest.value) // of.limits[0].step)


def _uncovered(
    run: Run, sizes: SmallestSizes, place: Place, own: _Axis, what: _What
) -> Iterator[Uncovered]:
    graph, configuration = run.subject.graph, run.configuration
    shorts = [shortfall(graph, own.extent, limit) for limit in own.limits]
    if not all(map(may_fall_short, shorts)):
        return
    if what == "rounded-down" and computes_rest_of(graph, own.extent):
        return
    most = min(sizes.most(short) for short in shorts)
    if what == "rounded-down" and (most <= 1 or 2 * most < own.limits[0].step):
        # Where it is an element or two (`i <= n` in as many blocks as `n` takes), the condition may let too much in.
        return
    some = [graph.binary("<", graph.const(0, extent.kind), extent, BOOL) for extent in configuration.grid]
    goals = [is_above(graph, short, 0) for short in shorts]
    free, boxes = without_remainders(graph, goals)
    if boxes and not _can_be(graph, free, boxes, sizes):
        return
    as_launched = [
        graph.binary("==", asked, graph.const(extent, asked.kind), BOOL)
        for asked, extent in zip(configuration.asked_block or (), configuration.block, strict=True)
        if not asked.is_const
    ]
    found = sizes.with_([*goals, *some, *as_launched], place)
    if found is None:
        return
    values = Ranges(graph, {symbol: (number, number) for symbol, number in found.items()})
    limit = own.limits[0]
    blocks, rest, bound = (int(values.of(node)[0]) for node in (own.extent, limit.rest, limit.bound))
    yield Uncovered(
        run.index, place, own.axis, what, Place(*limit.condition.span), expression_text(limit.index),
        expression_text(limit.bounded_by), limit.step * blocks + rest, bound, blocks, -(-(bound - rest) // limit.step),
        named(found, [own.extent, *(each.bound for each in own.limits)]),
    )  # fmt: skip


def _can_be(graph: Graph, goals: list[Node], boxes: dict[Node, tuple[int, int]], sizes: SmallestSizes) -> bool:
    """Whether goals could hold if remainders were any numbers: mostly they couldn't, and that is soon told."""
    open_ = {symbol for goal in goals for symbol in sizes.symbols(goal)}
    return bool(open_) or smallest(graph, goals, boxes) is not None
