"""Other ways in which a kernel might be launched, to see what holds under those too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from msgspec.structs import replace

from cudalint.facts import KnownExtents
from cudalint.host.executor.generics import Generics
from cudalint.host.values.graph import Graph
from cudalint.ir import nodes as ir
from cudalint.launches.arguments import unknown_arguments
from cudalint.launches.configuration import UNKNOWN, Block, Configuration, axes_asked, thread_axes
from cudalint.options.limits import MAX_THREADS

_MOST_SHAPES = 3
"""The kernel is executed with each of them."""
_OTHER_BLOCKS: Mapping[int, Sequence[tuple[int, ...]]] = {
    1: ((64,), (16,), (32,), (128,), (512,), (8,)),
    2: ((32, 8), (16, 16), (8, 8), (32, 32), (64, 4), (32, 1)),
    3: ((32, 8, 1), (8, 8, 8), (32, 4, 2), (16, 4, 4), (4, 4, 4)),
}
"""By the number of axes along which a kernel asks for its place. One that asks for all three may be launched with a
plane of threads, each of which walks along the third one."""
_NARROW_EXTENTS = (16, 8)
_FLAT_EXTENT = 8
"""Threads along each of the axes of a block that has one thread along another axis."""


NOT_ALL_TRIED = "no launch in sight gives the block, and not all others were tried"


def not_with(block: Block) -> str:
    """Why what was found under a block that was made up is not certain."""
    return f"it depends on the block, which no launch in sight gives: not for {block}"


def other_blocks(configuration: Configuration, function: ir.Function) -> tuple[Block, ...]:
    """Blocks that a launch might have as well, where its block was made up: spread over the axes that the kernel asks
    about, and of no more threads than there may be."""
    if configuration.source != "default" or configuration.by_default:
        return ()
    asked = axes_asked(function, ("threadIdx", "blockDim")) | thread_axes(function) or {"x"}
    known = configuration.site.block if configuration.site is not None else UNKNOWN
    axes = [axis for axis in range(3) if known[axis] is None and "xyz"[axis] in asked]
    found: list[Block] = []
    for extents in _OTHER_BLOCKS[len(axes)] if axes else ():
        block = [extent or 1 for extent in known]
        for axis, extent in zip(axes, extents, strict=True):
            block[axis] = extent
        found.append((block[0], block[1], block[2]))
    return tuple(each for each in (*found, *_flat_blocks(function, axes, known)) if prod(each) <= MAX_THREADS)


def other_shapes(configuration: Configuration, function: ir.Function) -> tuple[Block, ...]:
    """Blocks of another shape that a launch might have as well, where nothing says which it is. Threads along one axis
    are in a row in any case; `__launch_bounds__` say how many there are, and not how they lie."""
    block = configuration.block
    if sum(extent > 1 for extent in block) < 2:
        return ()
    if configuration.source == "launch-bounds":
        first, second = [axis for axis in range(3) if block[axis] > 1][:2]
        threads = block[first] * block[second]
        found = []
        for extent in _NARROW_EXTENTS:
            other = list(block)
            other[first], other[second] = extent, threads // extent
            found.append((other[0], other[1], other[2]))
        return tuple(found)
    others = [other for other in other_blocks(configuration, function) if other != block]
    # With threads along one axis, what is a column otherwise may be a row.
    return tuple(sorted(others, key=lambda other: sum(extent > 1 for extent in other)))[:_MOST_SHAPES]


def _flat_blocks(function: ir.Function, axes: Sequence[int], known: KnownExtents) -> Iterator[Block]:
    """A kernel that asks how many threads there are along one of its axes, and where along another one its blocks begin
    without asking that, may be meant for one thread along the other one."""
    counted, begun = axes_asked(function, ("blockDim",)), axes_asked(function, ("blockIdx",))
    wide = [axis for axis in axes if "xyz"[axis] in counted]
    flat = [axis for axis in axes if "xyz"[axis] in begun - counted]
    if wide and flat:
        block = [extent or 1 for extent in known]
        for axis in wide:
            block[axis] = _FLAT_EXTENT
        yield (block[0], block[1], block[2])


def another_use(configuration: Configuration, function: ir.Function, graph: Graph) -> Configuration:
    """The kernel as it might be launched with as well: with any arguments, and with a block twice as wide (or half as
    wide where that is too large) if it asks for the block's size and so is not written for one."""
    x, y, z = configuration.block
    if axes_asked(function, ("blockDim",)):
        x = 2 * x if 2 * x * y * z <= MAX_THREADS else max(1, x // 2)
    arguments = unknown_arguments(function, graph, Generics(graph))
    return replace(configuration, block=(x, y, z), arguments=arguments)
