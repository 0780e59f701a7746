"""Shuffles in which lanes read from lanes that take no part, as far as what they get is stored in the end.

A tree of `__shfl_down_sync` over 16 lanes reads beyond them in its upper half, and nobody uses that; a sum over a warp
of which a part has returned has it in lane 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.absent import Shuffle
from cudalint.execute.lanes import Extents
from cudalint.execute.trace import Stack, Trace, UndefinedEvent
from cudalint.hardware.requests import WARP_LANES
from cudalint.measure.filled import for_which_sizes
from cudalint.worlds.records import Batch


class AbsentSource(Struct, frozen=True, eq=False):
    """A shuffle under one launch."""

    node: Any
    stack: Stack
    thread: Extents
    """One that reads from a lane that is not there."""
    source: int
    """That lane, from 0 to 31."""
    block: Extents
    used: Any
    """Where what comes of it is stored."""
    size: str | None
    """The condition under which it is so, where it is in some worlds only."""


def absent_sources(trace: Trace, batch: Batch) -> Iterator[AbsentSource]:
    """One for each shuffle, of those where data does not decide whether it is stored."""
    found: dict[tuple[Any, Stack], list[UndefinedEvent]] = {}
    for event in trace.undefined:
        if not event.data:
            found.setdefault((event.shuffle.node, event.shuffle.stack), []).append(event)
    lanes = trace.lanes
    for (node, stack), events in found.items():
        rows = np.zeros(lanes.rows, bool)
        for event in events:
            rows |= event.mask.any(axis=1)
        by_world: Any = rows.reshape(lanes.worlds, -1).any(axis=1)
        row = int(rows.argmax())
        event = next(event for event in events if event.mask[row].any())
        reader, source = _reader(event.shuffle, event, row)
        yield AbsentSource(
            node, stack, lanes.thread_of(reader), source, lanes.block_of(row), event.node,
            None if by_world.all() else for_which_sizes(list(map(bool, by_world)), lanes.world_of(row), batch),
        )  # fmt: skip


def _reader(shuffle: Shuffle, event: UndefinedEvent, row: int) -> tuple[int, int]:
    """A lane that reads from one that is not there, of the warp in which the first lane stores what comes of it; and
    the other lane's number in its warp."""
    warp = int(event.mask[row].argmax()) // WARP_LANES
    own = shuffle.readers[row].reshape(-1, WARP_LANES)
    if not own[warp].any():
        warp = int(own.any(axis=1).argmax())
    lane = int(own[warp].argmax())
    sources = shuffle.sources[row if shuffle.sources.shape[0] > 1 else 0]
    return warp * WARP_LANES + lane, int(sources[warp if sources.shape[0] > 1 else 0][lane])
