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
from cudalint.hardware.requests import WARP_LANES
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Uniform, below, bits_of, without_cast
from cudalint.host.values.ranges import Ranges
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import conjuncts
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
from cudalint.measure.narrow_arithmetic import COMPARING
from cudalint.measure.providers.provider import Provider, Run
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import KernelText, text_of

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
            is_required = is_exact or _are_small(some) or not _takes_any(run, sizes.symbols(extent))
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
    if not set(sizes.symbols(extent)).isdisjoint(symbol for each in others for symbol in sizes.symbols(each)):
        # A square of so many blocks has more elements than there is memory.
        return
    if any(_is_limited(each, most) for each in others):
        is_known = True
    elif quotients_in(extent):
        # Of sizes that are divided by a tile the limit is far away.
        return
    else:
        # Of heads, batches and the like there are few; what is along an axis of space, or held below something, may be.
        is_counted = "name" not in sizes.basis(extent) and not _is_of_space(extent) and not _is_held(extent)
        is_known = is_counted and all(each.is_const for each in others)
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
        # What is a table, a window or a number of bytes, nobody says, nor how large it gets; rows of data get long.
        is_row = _strides_blocks(run, sizes.symbols(extent))
        yield LaunchFault(
            run.index, place, "shared", _amount(graph, extent, found), named(found, [extent]), is_requirement=not is_row
        )


def _amount(graph: Graph, extent: Node, sizes: dict[Node, int]) -> int:
    return int(Ranges(graph, {symbol: (number, number) for symbol, number in sizes.items()}).of(extent)[0])


def _are_small(quotients: Sequence[Node]) -> bool:
    """Whether quotients only vanish for fewer elements than a warp has lanes."""
    return all(each.op == "/" and each.args[1].is_const and each.args[1].value < WARP_LANES for each in quotients)


def _is_of_space(extent: Node) -> bool:
    """Whether an extent is an axis of what the program has a vector for: an image's, or that of a whole grid."""
    bare = without_cast(extent)
    return isinstance(bare.payload, Uniform) and bare.payload.name.endswith(tuple(f".{axis}" for axis in _AXES))


def _is_held(extent: Node) -> bool:
    """Whether an extent is the smaller one of two numbers: that may be what a device allows."""
    return any(node.op == "min" for node in below([extent], extent.bits))


def _is_limited(extent: Node, most: int) -> bool:
    """Whether the smaller one of a size and a number is taken, and as many blocks as that fit into y and z. Between two
    numbers (`n % 256 == 0 ? 0 : 1`) it is another choice, as it is where a size is to be at least 1."""
    for node in below([extent], extent.bits):
        parts = node.args if node.op == "min" else ()
        if node.op == "select":
            compared = {without_cast(each) for each in node.args[0].args}
            parts = node.args[1:] if compared.issuperset(map(without_cast, node.args[1:])) else ()
        numbers = [part.value for part in parts if part.is_const]
        if len(numbers) == 1 and 1 < numbers[0] <= most:
            return True
    return False


def _strides_blocks(run: Run, symbols: Sequence[Node]) -> bool:
    """Whether one of some numbers says how far the data of one block is from that of the next: `x[blockIdx.x * n + i]`
    has rows of `n`."""
    bits, parameters = bits_of(symbols), OpenNumbers(run.configuration, run.subject.graph).parameters
    return any(
        use.kind == "stride" and use.other == "block" and use.parameter in parameters
        and parameters[use.parameter].bits & bits
        for use in text_of(run.subject.function).uses.all()
    )  # fmt: skip


def _takes_any(run: Run, symbols: Sequence[Node]) -> bool:
    """Whether blocks go up to a number that comes from one of some symbols, and no further: in a loop that begins where
    they are, or as far as a condition around the kernel's body lets them."""
    function, graph = run.subject.function, run.subject.graph
    text, bits = text_of(function), bits_of(symbols)
    parameters = OpenNumbers(run.configuration, graph).parameters
    admitted = admitted_by(function, text, parameters, run.configuration.block, graph)
    if any(limit.bound.bits & bits for limit in admitted.limits):
        return True
    return any(
        bool(each.bits & bits)
        for node in text.uses.code.nodes
        if isinstance(node, (st.For, st.While, st.DoWhile)) and node.condition is not None
        for source in _bounds_of_blocks(text, node)
        if (each := parameters.get(source)) is not None
    )


def _bounds_of_blocks(text: KernelText, loop: st.For | st.While | st.DoWhile) -> Iterator[Parameter]:
    """What says up to where blocks go in a loop: all of them, from where each is."""
    origins = text.uses.origins
    counted = text.definitions.loops.get(loop) if isinstance(loop, st.For) else None
    begins = origins.of(counted.start).varies if counted is not None else frozenset()
    for part, _ in conjuncts(loop.condition, True) if loop.condition is not None else ():
        if isinstance(part, ir.Binary) and part.op in COMPARING:
            for bound, other in ((part.left, part.right), (part.right, part.left)):
                own = origins.of(bound)
                if not own.varies and "block" in origins.of(other).varies | begins:
                    yield from own.sources
