"""Accesses that leave an allocation whose extent is known, and those at bytes that are no multiple of their width.

Allocations are aligned to 256 bytes, as those of `cudaMalloc` are (CUDA C++ Programming Guide, "Device Memory
Accesses"); shared and local arrays are taken to be aligned to what is accessed there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Stack, Trace
from cudalint.execute.values import Data
from cudalint.facts import Operation
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cudalint.execute.lanes import Mask

    Numbers = NDArray[np.int64]
else:
    Mask = Numbers = Any


class Violation(Struct, frozen=True, eq=False):
    """What one site does wrong in an allocation: it leaves it, or is not aligned."""

    node: Any
    stack: Stack
    operation: Operation
    bytes: int
    allocation: Allocation
    extent: int | None
    """Bytes of the allocation; None where it is the alignment that is wrong."""
    thread: Extents
    """The first one that does it, in the first such execution."""
    block: Extents
    offset: int
    """Where its access begins, in bytes from the start of the allocation."""
    lowest: int
    """The least and the greatest byte where a wrong access begins, in any world."""
    highest: int
    world: int
    """That of the thread."""
    worlds: tuple[int, ...]
    """In which it happens."""
    executions: float
    """By threads, that are wrong, in all worlds."""
    is_conditional: bool
    """Data decides whether it happens."""


class Violations(Struct, frozen=True):
    """Those of a launch, each in the order of the trace."""

    outside: list[Violation]
    misaligned: list[Violation]


class _Wrong(NamedTuple):
    """Lanes of one event that do something wrong."""

    event: AccessEvent
    lanes: Mask
    offsets: Numbers
    extent: int | None


def violations_of(trace: Trace) -> Violations:
    """Accesses out of bounds, and those that are not aligned."""
    outside: dict[object, list[_Wrong]] = {}
    misaligned: dict[object, list[_Wrong]] = {}
    for event in (*trace.accesses, *trace.overruns):
        if isinstance(event.offset, Data):
            continue
        site = event.node, event.stack, event.operation, event.bytes, id(event.allocation), event.data > 0
        for wrong in _wrong(event) if event.bytes > 0 else ():
            (misaligned if wrong.extent is None else outside).setdefault(site, []).append(wrong)
    return Violations(*(list(_told(trace.lanes, found.values())) for found in (outside, misaligned)))


def extent_of(allocation: Allocation) -> int | None:
    """Bytes of an allocation; None where nobody says how many there are."""
    if allocation.extent is not None:
        return allocation.extent
    type_ = allocation.type
    if type_ is None or allocation.space == "nowhere" or isinstance(type_, ir.OpaqueType):
        return None
    if isinstance(type_, ir.ArrayType) and _is_open(type_):
        return None
    if isinstance(type_, ir.RecordType) and type_.unsized:
        return None
    return type_.bytes or None


def _is_open(type_: ir.ArrayType) -> bool:
    """Whether the source leaves an extent open, as `extern __shared__ float a[]` does."""
    element = type_.element
    return type_.count is None or (isinstance(element, ir.ArrayType) and _is_open(element))


def _wrong(event: AccessEvent) -> Iterator[_Wrong]:
    width, extent, offset = event.bytes, extent_of(event.allocation), event.offset
    if type(offset) is not np.ndarray:
        if extent is not None and not 0 <= offset <= extent - width:
            yield _Wrong(event, event.mask, _wide(event), extent)
        if offset % width:
            yield _Wrong(event, event.mask, _wide(event), None)
        return
    # Most are right even for the lanes that don't come.
    if extent is not None and not (int(offset.min()) >= 0 and int(offset.max()) <= extent - width):
        lanes = event.mask & ((offset < 0) | (offset > extent - width))
        if lanes.any():
            yield _Wrong(event, lanes, _wide(event), extent)
    if width > 1 and int(np.bitwise_or.reduce(offset, axis=None)) % width:
        lanes = event.mask & (offset % width != 0)
        if lanes.any():
            yield _Wrong(event, lanes, _wide(event), None)


def _wide(event: AccessEvent) -> Numbers:
    return np.broadcast_to(np.asarray(event.offset, np.int64), event.mask.shape)


def _told(lanes: Lanes, sites: Any) -> Iterator[Violation]:
    """Certain ones of a site in place of those that data decides."""
    merged: dict[object, list[_Wrong]] = {}
    for wrongs in sites:
        event = wrongs[0].event
        key = event.node, event.stack, event.operation, event.bytes, id(event.allocation)
        known = merged.get(key)
        if known is None or known[0].event.data > 0:
            merged[key] = wrongs
    for wrongs in merged.values():
        yield _violation(lanes, wrongs)


def _violation(lanes: Lanes, wrongs: Sequence[_Wrong]) -> Violation:
    event, wrong, offsets, extent = wrongs[0]
    row, lane = (int(each) for each in np.unravel_index(int(wrong.argmax()), wrong.shape))
    rows = np.zeros(lanes.rows, bool)
    for each in wrongs:
        rows |= each.lanes.any(axis=1)
    weights = (np.broadcast_to(each.event.weight, (lanes.rows, lanes.warps)) for each in wrongs)
    executions = (
        float((lanes.by_warp(each.lanes).sum(axis=2) * weight).sum())
        for each, weight in zip(wrongs, weights, strict=True)
    )
    found = [each.offsets[each.lanes] for each in wrongs]
    return Violation(
        event.node, event.stack, event.operation, event.bytes, event.allocation, extent, lanes.thread_of(lane),
        lanes.block_of(row), int(offsets[row, lane]), min(int(each.min()) for each in found),
        max(int(each.max()) for each in found), lanes.world_of(row),
        tuple(sorted({lanes.world_of(row) for row in np.flatnonzero(rows).tolist()})), sum(executions), event.data > 0,
    )  # fmt: skip
