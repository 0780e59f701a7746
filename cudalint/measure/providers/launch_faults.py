"""Launches that fail for some sizes: no blocks where there is something to do, more blocks than an axis may have, more
dynamic shared memory than a block has without the attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, get_args

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, Place
from cudalint.facts.axes import Axis
from cudalint.facts.launch_faults import LaunchFault
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, below, bits_of
from cudalint.host.values.ranges import Ranges
from cudalint.ir import statements as st
from cudalint.kinds import Kind
from cudalint.launches.admitted import admitted_by
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.launches.smallest_sizes import (
    SmallestSizes,
    computes_rest_of,
    named,
    outer_quotients,
    quotients_in,
    vanished,
)
from cudalint.measure.providers.provider import Provider, Run
from cudalint.worlds.text import text_of

_AXES: tuple[Axis, ...] = get_args(Axis)
_FEW = {"name", "use"}
"""Why a number is a small one: there are few heads, and few numbers that are chosen for what they are used as."""


class LaunchFaultCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "launch_faults"
    _found: list[LaunchFault] = field(default_factory=list)

    def add(self, run: Run) -> None:
        if run.configuration.asked_block is not None and run.launch.recorded is None:
            self._found += launch_faults(run)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, launch_faults=tuple(self._found))


def launch_faults(run: Run) -> Iterator[LaunchFault]:
    configuration = run.configuration
    sizes = SmallestSizes(configuration, run.subject.graph, run.statements)
    large = SmallestSizes(configuration, run.subject.graph, run.statements, with_computed=True)
    most = run.subject.target.max_grid_dimensions
    for place in sizes.places:
        for axis, blocks, threads in zip(_AXES, configuration.grid, configuration.asked_block or (), strict=True):
            yield from _nothing(run, sizes, place, axis, blocks, of_block=False)
            yield from _nothing(run, sizes, place, axis, threads, of_block=True)
        for number in (1, 2):
            yield from _too_many(run, large, place, number, most[number])
        yield from _shared(run, large, place)


def _nothing(
    run: Run, sizes: SmallestSizes, place: Place, axis: Axis, extent: Node, of_block: bool
) -> Iterator[LaunchFault]:
    graph, vanished_ = run.subject.graph, run.configuration.vanished
    if extent.is_const and extent.value < 1 and vanished_ is not None:
        yield LaunchFault(run.index, place, "nothing", 0, (), axis, of_block, made_at=(Place(*vanished_.span),))
    if not sizes.is_open(extent) or computes_rest_of(graph, extent):
        return
    quotients = quotients_in(extent)
    # What one size is divided by another is a whole number by what they are: `channels / heads`.
    of_numbers = [each for each in outer_quotients(extent) if not all(map(sizes.symbols, each.args))]
    for some, is_exact in ((of_numbers, False), (quotients, True)):
        none = graph.binary("<", extent, graph.const(1, extent.kind), BOOL)
        found = sizes.with_([none, vanished(graph, some)], place) if some else None
        if found is not None:
            is_required = is_exact or not _takes_any(run, sizes.symbols(extent))
            amount = _amount(graph, extent, found)
            made_at = tuple(Place(*span) for each in some if (span := graph.divided_at.get(each)) is not None)
            yield LaunchFault(
                run.index, place, "nothing", amount, named(found, [extent]), axis, of_block, is_required, made_at
            )
            return


def _too_many(run: Run, sizes: SmallestSizes, place: Place, number: int, most: int) -> Iterator[LaunchFault]:
    graph, grid = run.subject.graph, run.configuration.grid
    extent = grid[number]
    if not sizes.is_open(extent):
        return
    found = sizes.with_([graph.binary("<", graph.const(most, extent.kind), extent, BOOL)], place)
    if found is None:
        return
    others = [grid[axis] for axis in range(3) if axis != number]
    if any(map(_is_limited, others)):
        is_known = True
    elif quotients_in(extent):
        # Of sizes that are divided by a tile the limit is far away.
        return
    else:
        # Of heads, batches and the like there are few.
        is_known = all(each.is_const for each in others) and "name" not in sizes.basis(extent)
    amount = _amount(graph, extent, found)
    yield LaunchFault(run.index, place, "too-many", amount, named(found, [extent]), _AXES[number], False, not is_known)


def _shared(run: Run, sizes: SmallestSizes, place: Place) -> Iterator[LaunchFault]:
    graph, extent = run.subject.graph, run.configuration.shared
    site = run.launch.site
    if site is None or site.opted_in_bytes != 0 or not sizes.is_open(extent) or _FEW & sizes.basis(extent):
        return
    most = run.subject.target.shared_per_block
    found = sizes.with_([graph.binary("<", graph.const(most, extent.kind), extent, BOOL)], place)
    if found is not None:
        yield LaunchFault(run.index, place, "shared", _amount(graph, extent, found), named(found, [extent]))


def _amount(graph: Graph, extent: Node, sizes: dict[Node, int]) -> int:
    return int(Ranges(graph, {symbol: (number, number) for symbol, number in sizes.items()}).of(extent)[0])


def _is_limited(extent: Node) -> bool:
    """Whether the smaller one of a size and a number is taken."""
    return any(
        (node.op == "min" and any(part.is_const for part in node.args))
        or (node.op == "select" and any(part.is_const for part in node.args[1:]))
        for node in below([extent], extent.bits)
    )


def _takes_any(run: Run, symbols: Sequence[Node]) -> bool:
    """Whether blocks go up to a number that comes from one of some symbols, and no further: in a loop that begins where
    they are, or as far as a condition around the kernel's body lets them."""
    function, graph = run.subject.function, run.subject.graph
    text, bits = text_of(function), bits_of(symbols)
    parameters = OpenNumbers(run.configuration, graph).parameters
    admitted = admitted_by(function, text, parameters, run.configuration.block, graph)
    if any(limit.bound.bits & bits for limit in admitted.limits):
        return True
    origins = text.uses.origins
    for node in text.uses.code.nodes:
        if isinstance(node, (st.For, st.While, st.DoWhile)) and node.condition is not None:
            counted = text.definitions.loops.get(node) if isinstance(node, st.For) else None
            varies = origins.of(node.condition).varies | (origins.of(counted.start).varies if counted else frozenset())
            sources = origins.of(node.condition).sources
            if "block" in varies and any(each in parameters and parameters[each].bits & bits for each in sources):
                return True
    return False
