"""The blocks that a launch has for smaller sizes than the usual ones: `min(1024, n / 4)` threads are whole warps, but
not always as many as the largest block has."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from msgspec.structs import replace

from cudalint.hardware.requests import WARP_LANES
from cudalint.host.values.nodes import render
from cudalint.launches.smallest_sizes import SmallestSizes
from cudalint.measure.executed import Executed, execute
from cudalint.measure.providers.provider import Run


def one_warp_less(run: Run) -> Iterator[tuple[Executed, tuple[tuple[str, int], ...]]]:
    """The kernel in blocks of one warp less, where the launch has such for some sizes, with the smallest of these."""
    nodes, block = run.configuration.asked_block, run.configuration.block
    axes = [axis for axis in range(3) if nodes is not None and not nodes[axis].is_const]
    if nodes is None or len(axes) != 1:
        return
    (axis,) = axes
    others = prod(block) // block[axis]
    step = max(1, WARP_LANES // others)
    fewer = block[axis] - step
    if fewer < step or others * step % WARP_LANES or prod(block) % WARP_LANES:
        return
    graph, node = run.subject.graph, nodes[axis]
    sizes = SmallestSizes(run.configuration, graph, run.statements)
    goal = graph.binary("==", node, graph.const(fewer, node.kind), node.kind)
    for place in sizes.places:
        found = sizes.with_([goal], place)
        if found is not None:
            x, y, z = (fewer if each == axis else extent for each, extent in enumerate(block))
            batch = replace(run.executed.batch, block=(x, y, z))
            named = tuple((render(symbol), number) for symbol, number in found.items())
            yield execute(run.subject.function, batch, run.compiled), named
            return
