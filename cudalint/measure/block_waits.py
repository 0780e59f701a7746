"""Blocks that wait for what other blocks of their grid do.

Which blocks those are is seen of some that are executed side by side, the first ones of a grid and its last one; or
loaded data says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.lanes import Lanes
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data
from cudalint.facts.orders import Whom
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.measure.seen import Seen
from cudalint.measure.spins import Spin, reads_only
from cudalint.measure.touches import Site

_EXCLUSIVE = ("CAS", "compare_exchange")
"""Atomics that take locks: who has one is running."""


class Wait(NamedTuple):
    spin: Spin
    whom: Whom
    writer: Site
    """Which does what is waited for."""


def waits_of(seen: Seen, spins: Iterable[Spin]) -> Iterator[Wait]:
    """Those of an execution in which all blocks stand for themselves."""
    if not seen.is_followed or any(barrier.kind == "grid" for barrier in seen.trace.barriers):
        return
    for spin in spins:
        if spin.allocation.space != "global" or spin.allocation.varies:
            continue
        writers = {
            site: events for site, events in seen.events.items()
            if site.operation != "load" and not reads_only(site.node)
            and any(event.allocation is spin.allocation for event in events)
        }  # fmt: skip
        if not writers or any(_is_exclusive(site, seen) for site in writers):
            continue
        if any(_is_drawn(site, seen) for site in (spin.site, *writers)):
            continue
        whom = _whom(spin, writers, seen)
        if whom is not None:
            yield Wait(spin, whom, next(iter(writers)))


def _is_exclusive(site: Site, seen: Seen) -> bool:
    if isinstance(site.node, st.Asm):
        return ".cas" in site.node.text or ".exch" in site.node.text
    if not isinstance(site.node, ir.Call):
        return False
    if any(each in site.node.name for each in _EXCLUSIVE):
        return True
    is_exchange = "Exch" in site.node.name or "exchange" in site.node.name
    return is_exchange and bool(seen.uses_of(site))


def _is_drawn(site: Site, seen: Seen) -> bool:
    """Whether its place comes from a number that threads draw, as a ticket: then those that are waited for have come
    before. What is not followed may be one."""
    pending = [seen.address(site)]
    known: set[Allocation] = set()
    if isinstance(site.node, st.Asm):
        leading = (each for each in site.node.operands if isinstance(each.type, ir.PointerType))
        pending = [seen.origins.of(each, site.stack) for each in leading]
    while pending:
        found = pending.pop()
        if found.atomics or found.is_unknown:
            return True
        for load in found.loads:
            for memory in seen.memory_of(*load):
                if memory.space == "shared" and memory not in known:
                    known.add(memory)
                    for other, events in seen.events.items():
                        if other.operation != "load" and any(event.allocation is memory for event in events):
                            value = seen.value_of(other)
                            if value is None or other.operation == "atomic":
                                return True
                            pending.append(value)
    return False


def _whom(spin: Spin, writers: Mapping[Site, list[AccessEvent]], seen: Seen) -> Whom | None:
    """None where no block waits for another one."""
    stores = [event for events in writers.values() for event in events if event.allocation is spin.allocation]
    loads = [event for _, event in spin.events]
    is_by_data = [any(isinstance(event.offset, Data) for event in events) for events in (loads, stores)]
    if all(is_by_data):
        return None
    if any(is_by_data):
        # Each block has places of its own on one side, and data says whose they are on the other.
        own = [spin.site] if is_by_data[1] else [*writers]
        return "data" if all(seen.address(site).by_block for site in own) else None
    lanes = seen.trace.lanes
    written = [starts_of(stores, row, lanes) for row in range(lanes.rows)]
    waiting = [starts_of(loads, row, lanes) for row in range(lanes.rows)]
    if sum(map(bool, waiting)) < lanes.rows - 1:
        # Others go on, and leave their places to those that are waited for.
        return None
    earlier = later = False
    for row, read in enumerate(waiting):
        writing = {other for other in range(lanes.rows) if read & written[other]}
        if len(writing | {row}) == lanes.rows:
            return "earlier" if _is_in_turn(spin, seen) else "all"
        if row not in writing:
            earlier |= any(other < row for other in writing)
            later |= any(other > row for other in writing)
    return "later" if later else "earlier" if earlier else None


def _is_in_turn(spin: Spin, seen: Seen) -> bool:
    """Whether blocks wait for numbers that differ from block to block, as their own."""
    body = getattr(spin.loop.statement, "body", None)
    guards = (guard for guard in seen.ways.guards_of(body, spin.loop.stack) if guard.loop is spin.loop.statement)
    return any(seen.origins_of(guard).by_block for guard in guards)


def starts_of(events: Iterable[AccessEvent], row: int, lanes: Lanes) -> set[int]:
    """Where the accesses of a block begin, in bytes from the start of what they go to."""
    found: set[int] = set()
    for event in events:
        mask = np.broadcast_to(event.mask, lanes.full.shape)[row]
        if mask.any():
            offsets: Any = np.broadcast_to(np.asarray(event.offset), lanes.full.shape)[row]
            found.update(offsets[mask].tolist())
    return found


def meet_across(written: AccessEvent, read: AccessEvent, lanes: Lanes) -> bool:
    """Whether one block reads what another one has written, at addresses that are known."""
    if isinstance(written.offset, Data) or isinstance(read.offset, Data):
        return False
    stores = [starts_of([written], row, lanes) for row in range(lanes.rows)]
    for row in range(lanes.rows):
        loads = starts_of([read], row, lanes)
        if any(loads & stores[other] for other in range(lanes.rows) if other != row):
            return True
    return False
