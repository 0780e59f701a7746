"""Arrays of which each thread has bytes of its own, whenever it touches them: nothing there has to be ordered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, Touch
from cudalint.options.analysis import RaceScope
from cudalint.values.graph import Graph
from cudalint.values.nodes import THREAD_BITS
from cudalint.values.numeric import Rows


@heuristic("own-bytes", "histograms and stacks that each thread has to itself").otherwise(False)
def has_own_bytes(touches: Sequence[Touch], rows: Rows, scope: RaceScope) -> bool:
    """Whether all that a thread ever touches of an array lies apart from what other threads touch: those of its block,
    in each of the blocks that `rows` holds, or those of all these blocks. False where that would take a look at loops
    or data."""
    if not all(isinstance(touch, AccessEvent) and _is_plain(touch, rows.graph) for touch in touches):
        return False
    exists = rows.threads.exists[0]
    addresses = [rows.full(offset)[:, exists] for offset in dict.fromkeys(touch.offset for touch in touches)]
    if scope == "grid":
        addresses = [address.reshape(1, -1) for address in addresses]
    widest = max(touch.bytes for touch in touches)
    first, last = np.minimum.reduce(addresses), np.maximum.reduce(addresses)
    order = np.argsort(first, axis=1)
    first, last = np.take_along_axis(first, order, axis=1), np.take_along_axis(last, order, axis=1)
    return bool((first[:, 1:] >= last[:, :-1] + widest).all())


def _is_plain(touch: Touch, graph: Graph) -> bool:
    bits = touch.offset.bits
    return bool(bits & THREAD_BITS) and not bits & (graph.loop_bits | graph.opaque_bits)
