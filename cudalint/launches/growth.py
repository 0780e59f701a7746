"""How large the grid of a launch gets for sizes that nothing bounds."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, below, bits_of, own_bit, render, without_not
from cudalint.launches.configuration import Configuration

_DIVISIONS = ("/", ">>")
_EQUALITIES = ("==", "!=")
_MOST_BITS = 31
"""Of a size that a launch is made for."""


class Larger(NamedTuple):
    """A grid that has more blocks than some number."""

    blocks: int
    size: tuple[str, int] | None
    """What makes it so large; None where the launch says its extents."""


def larger_than(blocks: int, configuration: Configuration, graph: Graph) -> Larger | None:
    """The grid of a launch where that has more blocks than these: whatever happens, or for a size that it is divided
    into blocks of and that nothing in sight bounds. None where it has no more, or where that is not known: numbers of
    blocks that a program chooses, as it does by the multiprocessors of a GPU, are its own matter."""
    bits = bits_of(configuration.grid)
    if bits & graph.opaque_bits:
        return None
    symbols = graph.atoms(bits, graph.uniform_bits)
    if not symbols:
        found = prod(int(axis.value) for axis in configuration.grid if axis.is_const)
        is_plain = all(axis.is_const for axis in configuration.grid)
        return Larger(found, None) if is_plain and found > blocks else None
    for symbol in symbols:
        if _is_divided(symbol, configuration):
            found_size = _smallest(symbol, symbols, blocks, configuration, graph)
            if found_size is not None:
                return found_size
    return None


def _is_divided(symbol: Node, configuration: Configuration) -> bool:
    """Whether the grid has a block for so and so many of a size."""
    return any(
        node.op in _DIVISIONS and node.args[0].bits & own_bit(symbol) and node.args[1].is_const
        for node in below(configuration.grid, own_bit(symbol))
    )


def _smallest(
    symbol: Node, symbols: list[Node], blocks: int, configuration: Configuration, graph: Graph
) -> Larger | None:
    others = [other for other in symbols if other is not symbol]
    unknown = (graph.uniform_bits & ~own_bit(symbol)) | graph.opaque_bits
    # Rows that have to be as many as columns bound neither.
    guards = [g for g in configuration.guards if not (without_not(g).op in _EQUALITIES and g.bits & unknown)]
    if any(guard.bits & own_bit(symbol) and guard.bits & unknown for guard in guards):
        # It is held against something that nobody knows, as what an occupancy calculator says.
        return None

    def of(size: int) -> int | None:
        """Blocks, at least, whatever the other numbers are; None where the host code does not come to the launch."""
        usual = Evaluated(graph, {symbol: size})
        if not all(usual.first(guard) for guard in guards):
            return None
        least = Evaluated(graph, {symbol: size, **dict.fromkeys(others, 1)}) if others else usual
        return min(prod(int(each.first(axis)) for axis in configuration.grid) for each in (usual, least))

    for exponent in range(_MOST_BITS):
        high = 1 << exponent
        found = of(high)
        if found is not None and found > blocks:
            low = high >> 1
            while high - low > 1:
                middle = (low + high) // 2
                between = of(middle)
                low, high = (low, middle) if between is not None and between > blocks else (middle, high)
            return Larger(of(high) or found, (render(symbol), high))
    return None
