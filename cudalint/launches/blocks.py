"""Which block a launch is evaluated with, in numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from msgspec import Struct
from msgspec.structs import replace

from cudalint.hardware.requests import WARP_LANES
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import GRANULE, Node
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Block, Configuration, Nodes, Numbers, axes_asked
from cudalint.options.limits import MAX_EVALUATED, MAX_THREADS

DEFAULT_THREADS = 256
DEFAULT_EXTENTS: Mapping[int, tuple[int, ...]] = {0: (), 1: (256,), 2: (32, 8), 3: (32, 4, 2)}
"""The default block, spread over as many extents as are open."""
_OF_LITTLE_SENSE = (1, 7, 33)
"""Sizes of which no program makes whole blocks."""
_VECTORS = (1, 2, 4, 8, 16)
"""Elements of vectors, by which sizes are divided on the way to a block."""


class ChosenBlock(Struct, frozen=True):
    """The block that a launch is evaluated with."""

    extents: Block
    assumptions: tuple[str, ...] = ()
    is_of_large_sizes: bool = False
    """Small ones make another one; it is assumed for all others."""


def block_of(nodes: Nodes, graph: Graph, function: ir.Function) -> ChosenBlock:
    """The block as numbers. Extents that are unknown symbols get the default's share, and keep it in the grid and
    the arguments."""
    open_ = [n for n in nodes if not n.is_const]
    numbers = Numbers(graph)
    # A launch over `__launch_bounds__` fails, so that no open extent is as large.
    most = function.max_threads or MAX_THREADS
    threads = min(most, DEFAULT_THREADS)
    if not _is_possible(numbers, nodes) or (
        open_ and (not _is_possible(numbers, nodes, most) or _is_made_small(numbers, nodes, graph))
    ):
        known = math.prod(max(1, numbers.of(n)) for n in nodes if n.is_const)
        defaults = {node: _side(extent, open_.count(node), threads) for node, extent in zip(
            open_, _default_extents(nodes, function), strict=True
        )}
        # What a size is by itself is chosen before the quotients that it goes into (`width / heads` by `heads`).
        for node, extent in sorted(defaults.items(), key=lambda pair: len(generic_values(graph, pair[:1]))):
            _choose(graph, node, min(extent, threads, max(1, most // known)))
        numbers = Numbers(graph)
    x, y, z = (numbers.of(n) for n in nodes)
    if _is_possible(numbers, nodes):
        return _possible((x, y, z), nodes, graph)
    if not open_:
        return at_most((x, y, z))
    chosen = min(max(x, 1), MAX_THREADS) if nodes[0].is_const else threads
    return ChosenBlock((chosen, 1, 1), (f"block = {chosen} (the launch leaves it open)",))


def _possible(block: Block, nodes: Nodes, graph: Graph) -> ChosenBlock:
    """A block that a launch can have, and how far it leaves open whether it does."""
    if not _is_of_large_sizes(graph, nodes, block):
        return ChosenBlock(block, (f"block = {spelled(block)} (the launch leaves it open)",))
    if _is_of_small_sizes(graph, nodes, block):
        return ChosenBlock(block)
    return ChosenBlock(block, (f"block = {spelled(block)} (the launch has another one for small sizes)",), True)


def _default_extents(nodes: Nodes, function: ir.Function) -> list[int]:
    """For each open extent its share of the default block, which is spread over the axes that the kernel asks for: one
    that asks for `threadIdx.x` alone is meant for threads along x."""
    asked = axes_asked(function, ("threadIdx", "blockDim")) or {"x"}
    open_ = [axis for axis, node in zip("xyz", nodes, strict=True) if not node.is_const]
    wanted = [axis for axis in open_ if axis in asked] or open_
    extents = dict(zip(wanted, DEFAULT_EXTENTS[len(wanted)], strict=True))
    return [extents.get(axis, 1) for axis in open_]


def _side(extent: int, axes: int, threads: int) -> int:
    """What one number is that is the extent along several axes, as that of `dim3(tile, tile)`: a power of two, with no
    more threads in all than a block has by default."""
    return extent if axes == 1 else 1 << int(math.log2(threads) / axes)


def at_most(asked: Block) -> ChosenBlock:
    """The block as it is asked for, even if none may have as many threads; of far too many the first, whose warps are
    what they would be."""
    if min(asked) >= 1 and math.prod(asked) <= MAX_EVALUATED:
        return ChosenBlock(asked)
    block: list[int] = []
    for extent in asked:
        block.append(min(max(extent, 1), MAX_EVALUATED // math.prod(block)))
    x, y, z = block
    why = f"the launch asks for {spelled(asked)}, which no block can be"
    return ChosenBlock((x, y, z), (f"block = {spelled(block)} ({why})",))


def spelled(extents: Sequence[int]) -> str:
    """`32x8`, as people write it."""
    _, y, z = extents
    return "x".join(map(str, extents[: 3 if z > 1 else 2 if y > 1 else 1]))


def _is_possible(numbers: Numbers, nodes: Nodes, most: int = MAX_THREADS) -> bool:
    x, y, z = (numbers.of(n) for n in nodes)
    return min(x, y, z) >= 1 and x * y * z <= most


def _is_made_small(numbers: Numbers, nodes: Nodes, graph: Graph) -> bool:
    """Whether a block has less than a warp of threads, or of threads along x, only since a size was made small for
    another reason, as in `4096 / threads` or `dim3(width, 256 / width)`: who gives a block by an option gives whole
    warps."""
    block = tuple(numbers.of(n) for n in nodes)
    along = math.prod(block) if nodes[0].is_const else block[0]
    if along >= WARP_LANES or any(graph.rests_on_defaults(n) for n in nodes):
        return False
    return not _is_of_large_sizes(graph, nodes, (block[0], block[1], block[2]))


def _is_of_small_sizes(graph: Graph, nodes: Nodes, block: Block) -> bool:
    symbols = [symbol for symbol, _ in generic_values(graph, nodes)]
    sizes = _OF_LITTLE_SENSE
    # Sizes differ from one another: the difference of two says nothing where they are equal.
    turns = (dict(zip(symbols, islice(cycle(sizes), first, None), strict=False)) for first in range(len(sizes)))
    return all(tuple(Numbers(graph, turn).of(n) for n in nodes) == block for turn in turns)


def _is_of_large_sizes(graph: Graph, nodes: Nodes, block: Block) -> bool:
    """Whether the block is the same for other large sizes, some of them odd: `min(n, 256)` is 256."""
    found = generic_values(graph, nodes)
    others = {symbol: (value * 3 + 1, value * 8 + GRANULE)[at % 2] for at, (symbol, value) in enumerate(found)}
    numbers = Numbers(graph, others)
    return tuple(numbers.of(n) for n in nodes) == block


def generic_values(graph: Graph, nodes: Sequence[Node]) -> tuple[tuple[Node, int | float], ...]:
    """The unknown symbols that go into extents, with the values that stand for them."""
    symbols = dict.fromkeys(symbol for n in nodes for symbol in graph.atoms(n.bits, graph.uniform_bits))
    return tuple([(symbol, graph.choice(symbol).value) for symbol in symbols])


def _choose(graph: Graph, node: Node, value: int) -> None:
    """Gives the symbols that an open extent consists of the generic value that makes it `value`, which is not what the
    program has for them any more: one of them, if that does (`channels / heads`, or `(channels >> 2) / heads`), or else
    all. Numbers that something outside of the program says stay what they are."""
    symbols = [pair for pair in generic_values(graph, (node,)) if not graph.choice(pair[0]).place]
    for symbol, _ in symbols:
        factors = (1, *(generic for other, generic in symbols if other is not symbol))
        for tried in (value * int(factor) * scale for scale in _VECTORS for factor in factors):
            if Numbers(graph, {symbol: tried}).of(node) == value:
                graph.choose(symbol, tried, "launch")
                return
    for symbol, _ in symbols:
        graph.choose(symbol, value, "launch")


def with_room(configuration: Configuration, threads: int, array: str, graph: Graph) -> Configuration | None:
    """The same launch with as many whole warps along x as an array has room for, if nothing gives its block; None where
    that is no block of it."""
    x, *others = configuration.block
    fewer = threads // WARP_LANES * WARP_LANES
    if configuration.source != "default" or configuration.by_default or others != [1, 1] or not 0 < fewer < x:
        return None
    before, guards = graph.valuation, dict(zip(configuration.guards, configuration.guards, strict=True))
    for extent in configuration.open_extents:
        if Numbers(graph).of(extent) == x:
            _choose(graph, extent, fewer)
            was, is_now = (graph.const(number, extent.kind) for number in (x, fewer))
            guards[graph.binary("==", extent, was, extent.kind)] = graph.binary("==", extent, is_now, extent.kind)
    if any(Numbers(graph).of(extent) not in (1, fewer) for extent in configuration.open_extents):
        graph.valuation = before
        return None
    text, *more = configuration.assumptions
    return replace(
        configuration,
        block=(fewer, 1, 1),
        source="default" if configuration.open_extents else "inferred",
        assumptions=(text.replace(f"{x} (", f"{fewer} (from the extents of `{array}`; ", 1), *more),
        guards=tuple(guards[guard] for guard in configuration.guards),
    )
