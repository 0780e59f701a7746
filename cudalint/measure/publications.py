"""Flags and counters by which a thread tells others that memory was written, and what has to come before.

A store that releases orders what its own thread has done, and what a barrier has ordered before that. What other
threads of the block write after the last barrier is not among it (CUDA C++ Programming Guide, "Memory Fence Functions";
PTX ISA, "Memory Consistency Model").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.trace import AccessEvent, FenceEvent
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import without_casts
from cudalint.measure.block_waits import meet_across
from cudalint.measure.seen import Seen
from cudalint.measure.spins import reads_only
from cudalint.measure.tickets import turns_of
from cudalint.measure.touches import Site
from cudalint.regexes import regex

_RELEASING = regex(r"\b(?:st|red|atom)\.[\w.:]*\b(?:release|acq_rel)\b")
_OF_BLOCK = regex(r"\.cta\b")
_RELEASE, _ACQUIRE_RELEASE = 3, 4
"""`memory_order_release` and `memory_order_acq_rel` of C++."""


class Early(NamedTuple):
    """A flag that is set before all threads of the block have written what it announces."""

    number: int
    event: AccessEvent
    """That sets the flag."""
    lane: int
    written: AccessEvent


def early_publications(seen: Seen) -> Iterator[Early]:
    """Those of an execution of which all is known, each place once."""
    if not seen.is_followed:
        return
    fences: dict[int, list[FenceEvent]] = {}
    for fence in seen.trace.fences:
        fences.setdefault(fence.before, []).append(fence)
    known: set[Site] = set()
    for number, event in enumerate(seen.trace.accesses):
        site = Site(event.node, event.operation, event.bytes, event.stack)
        if site in known or event.allocation.space != "global" or event.operation not in ("store", "atomic"):
            continue
        if not (_releases(event) or _follows_fence(event, fences.get(number, ()))):
            continue
        known.add(site)
        found = _written_late(number, event, seen)
        if found is not None:
            yield found


def _releases(event: AccessEvent) -> bool:
    """Whether it says itself that what was done before it is to be seen with it, by more than the block."""
    node = event.node
    if event.is_of_block:
        return False
    if isinstance(node, st.Asm):
        return _RELEASING.search(node.text) is not None and _OF_BLOCK.search(node.text) is None
    if not isinstance(node, ir.Call) or node.receiver is None or not node.arguments:
        return False
    order = without_casts(node.arguments[-1])
    return len(node.arguments) > 1 and isinstance(order, ir.Constant) and order.value in (_RELEASE, _ACQUIRE_RELEASE)


def _follows_fence(event: AccessEvent, fences: Iterable[FenceEvent]) -> bool:
    """Whether its threads have made a memory fence right before it: it is a flag that is set by hand."""
    if reads_only(event.node):
        return False
    return any((fence.mask | ~event.mask).all() and _is_of_device(fence.node) for fence in fences)


def _is_of_device(node: Any) -> bool:
    if isinstance(node, st.Asm):
        return _OF_BLOCK.search(node.text) is None and "acquire" not in node.text
    return isinstance(node, ir.Call) and not node.name.endswith("_block")


def _written_late(number: int, event: AccessEvent, seen: Seen) -> Early | None:
    """What other warps of the block may still be writing when a thread sets a flag. That is not told where the flag may
    be about something else: what its own thread has written alone, or what was touched before the last barrier."""
    trace, lanes = seen.trace, seen.trace.lanes
    own = np.broadcast_to(event.mask, lanes.full.shape)
    is_one = lanes.by_warp(own).any(axis=2).sum(axis=1) == 1
    left = is_one.copy()
    """Blocks in which no thread that sets the flag has written something that others have not."""
    barriers = (each for each in trace.barriers if each.scope == "block" and each.part != "arrive")
    start = max((each.position for each in barriers if each.position <= number), default=0)
    late: dict[int, AccessEvent] = {}
    for other in trace.accesses[start:number]:
        if other.operation not in ("store", "async-copy") or not _is_elsewhere(other, event):
            continue
        mask = np.broadcast_to(other.mask, lanes.full.shape)
        left &= ~(mask.any(axis=1) & ~(mask & ~own).any(axis=1))
        takes_part = (mask | ~own).all(axis=1) & (lanes.by_warp(mask).any(axis=2).sum(axis=1) > 1)
        late |= dict.fromkeys(np.flatnonzero(takes_part).tolist(), other)
    before = {each.allocation for each in trace.accesses[:start] if _is_elsewhere(each, event)}
    for row, written in late.items():
        is_all = left[row] and before <= {written.allocation}
        if is_one[row] and (is_all or _is_read_by_the_last(number, event, written, seen)):
            return Early(number, event, int(own[row].argmax()), written)
    return None


def _is_read_by_the_last(number: int, event: AccessEvent, written: AccessEvent, seen: Seen) -> bool:
    """Whether a block that finds by this counter that it is the last reads what the others have written."""
    for read in seen.trace.accesses[number + 1 :]:
        if read.allocation is written.allocation and read.operation == "load":
            site = Site(read.node, read.operation, read.bytes, read.stack)
            is_last = any(turn.drawn is event.node for turn in turns_of(site, seen))
            if is_last and meet_across(written, read, seen.trace.lanes):
                return True
    return False


def _is_elsewhere(other: AccessEvent, event: AccessEvent) -> bool:
    return other.allocation.space == "global" and other.allocation is not event.allocation
