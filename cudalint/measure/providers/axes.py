"""Axes of launches along which every block, or every thread, does the same, since the kernel reads no index there.

Both is asked: what the code of the kernel and of all that it calls names, and whether blocks or threads that differ in
nothing but this index come to the same places, at the same addresses, with the same numbers. What cannot be seen may
read anything, and blocks that meet in atomics or wait for each other may share out their work in another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np
from msgspec import field
from msgspec.structs import replace

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.facts import KernelFacts, Place
from cudalint.facts.axes import Axis, UnreadAxis
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import builtin
from cudalint.kinds import Kind
from cudalint.measure.arrays import Integers
from cudalint.measure.executed import Compiled, Executed
from cudalint.measure.places import reference_of
from cudalint.measure.providers.provider import Provider, Run


class UnreadAxisCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "axes"
    _read: list[Read | None] = field(default_factory=list)
    """What the kernel's code reads, once that was asked; None where it is not all in sight."""
    _found: list[UnreadAxis] = field(default_factory=list)

    def add(self, run: Run) -> None:
        batch = run.executed.batch
        if max(*batch.grid[0], *batch.block[1:]) == 1 or not run.subject.is_whole:
            return
        if not self._read:
            self._read.append(read_by(run.executed.function))
        read = self._read[0]
        if read is None:
            return
        for axis, extent, of_block, store in unread_axes(read, run.executed, run.compiled):
            place = Place(*store.node.span)
            self._found.append(UnreadAxis(run.index, axis, extent, of_block, place, store.allocation.name))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, axes=tuple(self._found))


# --- what the executions show --------------------------------------------------------------------------


_AXES: tuple[Axis, ...] = get_args(Axis)
_OF_GRID = ("blockIdx", "gridDim")
_OF_BLOCK = ("threadIdx", "blockDim")
_MOST_FUNCTIONS = 500
"""Functions that are looked through for one kernel."""
Read = frozenset[tuple[str, str]]
"""Names of built-in variables with the axes that are read of them."""


class Unread(NamedTuple):
    """An axis along which all do the same in all worlds."""

    axis: Axis
    extent: int
    of_block: bool
    store: AccessEvent
    """One that all of them make."""


def unread_axes(read: Read, executed: Executed, compiled: Compiled) -> Iterator[Unread]:
    """The axes that nothing depends on, of a kernel whose code names these indices."""
    trace, batch = executed.trace, executed.batch
    store = next((e for e in trace.accesses if e.operation == "store" and e.allocation.space == "global"), None)
    if store is None or _is_open(trace):
        return
    grid, block, lanes = batch.grid[0], batch.block, trace.lanes
    for position, axis in enumerate(_AXES):
        names = {name for name, own in read if own == axis}
        if grid[position] > 1 and not names & {*_OF_GRID}:
            blocks = _along(executed, position, compiled)
            if _do_the_same(blocks, rows=_first_rows(blocks.lanes)):
                yield Unread(axis, grid[position], False, store)
        # The lanes of a warp may do together what none of them reads its index for.
        whole = position and not prod(block[:position]) % WARP_LANES
        is_unread = whole and block[position] > 1 and not names & {*_OF_BLOCK}
        if is_unread and _do_the_same(trace, lanes=_first_lanes(lanes, position)):
            yield Unread(axis, block[position], True, store)


# --- what the trace shows ------------------------------------------------------------------------------------


def _is_open(trace: Trace) -> bool:
    """Whether something of it is not known, or threads meet otherwise than at a plain barrier."""
    if trace.unknown or trace.calls or trace.fences:
        return True
    if any(
        event.operation == "atomic" or (isinstance(event.offset, Data) and event.offset.kind not in ("loaded", "float"))
        for event in trace.accesses
    ):
        return True
    return any(
        barrier.kind == "grid" or (barrier.is_implied and barrier.scope == "block") or _votes(barrier.node)
        for barrier in trace.barriers
    )


def _votes(node: Any) -> bool:
    return isinstance(node, ir.Call) and node.name.startswith("__syncthreads_")


def _along(executed: Executed, position: int, compiled: Compiled) -> Trace:
    """Of blocks that differ in nothing but their place along an axis."""
    batch = executed.batch
    places = []
    for extents in batch.grid:
        along = (0, extents[position] // 2, extents[position] - 1)
        places.append([_at(position, place) for place in along])
    grid = [list(extents) for extents in zip(*batch.grid, strict=True)]
    machine = Machine(Lanes(batch.block, grid, places), compiled.program)
    return machine.run(executed.function, dict(batch.arguments))


def _at(position: int, place: int) -> Extents:
    x, y, z = (place if axis == position else 0 for axis in range(3))
    return x, y, z


def _first_rows(lanes: Lanes) -> Integers:
    """For each row the first one of its world."""
    rows = np.arange(lanes.rows)
    found: Integers = rows - rows % lanes.blocks
    return found


def _first_lanes(lanes: Lanes, position: int) -> Integers:
    """For each lane the first one that differs in nothing but its place along an axis."""
    stride, extent = prod(lanes.block[:position]), lanes.block[position]
    lane = np.arange(lanes.lanes)
    found: Integers = np.where(lane < lanes.threads, lane - lane // stride % extent * stride, lane)
    return found


def _do_the_same(trace: Trace, rows: Integers | None = None, lanes: Integers | None = None) -> bool:
    """Whether rows, or lanes, do as the first of their kind does."""
    asked: list[Any] = []
    for event in trace.accesses:
        asked += [event.mask, event.offset, event.value]
    for barrier in trace.barriers:
        asked.append(barrier.mask)
    for branch in trace.branches:
        asked += [branch.mask, branch.taken]
    seen: set[int] = set()
    for values in asked:
        if type(values) is np.ndarray and id(values) not in seen:
            seen.add(id(values))
            if not _is_same(values, rows, lanes):
                return False
    return True


def _is_same(values: Any, rows: Integers | None, lanes: Integers | None) -> bool:
    if rows is not None:
        return len(values) == 1 or np.array_equal(values[rows], values)
    return values.shape[1] == 1 or np.array_equal(values[:, lanes], values)


# --- what the code names ------------------------------------------------------------------------------------


def read_by(kernel: ir.Function) -> Read | None:
    """What a kernel and the functions that it calls read of built-in variables; None where that may be anything."""
    found: set[tuple[str, str]] = set()
    pending, seen = [kernel], set[str]()
    while pending:
        function = pending.pop()
        nodes = [*walk.nodes_in(function), *_of_initializers(function)]
        own = read_in(nodes)
        if own is None:
            return None
        found |= own
        for ref in (ref for node in nodes if isinstance(node, _WITH_FUNCTIONS) for ref in _functions_of(node)):
            if ref.key in seen:
                continue
            seen.add(ref.key)
            called = ref.load()
            if len(seen) > _MOST_FUNCTIONS or (called is None and not _is_known(ref.name)):
                return None
            if called is not None:
                pending.append(called)
    return frozenset(found)


_WITH_FUNCTIONS = (ir.Call, ir.Construct, ir.Lambda, ir.FunctionName)


def _of_initializers(function: ir.Function) -> Iterator[Any]:
    for _, initializer in function.member_initializers:
        yield from walk.walk(initializer)


def _is_known(name: str) -> bool:
    """Whether it is known what a function of the library does."""
    known = builtin(name)
    return bool(known.effect or known.work or known.single or known.double) or name.startswith(("operator", "make_"))


def _functions_of(node: Any) -> Iterator[ir.FunctionRef]:
    """The device functions that a node with functions names."""
    ref = reference_of(node)
    if ref is not None and ref.kind == "device":
        yield ref


def read_in(nodes: Sequence[Any]) -> set[tuple[str, str]] | None:
    found: set[tuple[str, str]] = set()
    members = {id(node.base): node.field for node in nodes if isinstance(node, ir.Member)}
    for node in nodes:
        if isinstance(node, (st.Asm, ir.Launch, st.UnknownStmt)):
            return None
        if isinstance(node, ir.Call) and (node.is_virtual or (node.function is None and not _is_known(node.name))):
            return None
        if isinstance(node, ir.Name) and node.symbol.name in (*_OF_GRID, *_OF_BLOCK):
            # Without a field it is passed as a whole.
            found |= {(node.symbol.name, axis) for axis in (members.get(id(node)) or _AXES)}
    return found
