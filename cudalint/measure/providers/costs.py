"""What each launch costs: the work that its execution shows, and the time model's word on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.execute.memory import Allocation
from cudalint.facts import (
    Access,
    AccessResult,
    CostStatus,
    KernelFacts,
    LaunchCost,
    LaunchFacts,
    Needless,
    Operations,
    Place,
    Work,
)
from cudalint.facts.costs import AccessPlace, Waits
from cudalint.hardware.cost.launches import scaled, with_estimate
from cudalint.hardware.cost.machine import machine_of
from cudalint.hardware.cost.model import estimate
from cudalint.hardware.cost.requests import Asked, actual, ideal, number_of, swapped
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.targets import Target
from cudalint.host.values.evaluation import holds
from cudalint.host.values.nodes import bits_of, render, without_cast
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.launches.conditions import MOST_THREADS
from cudalint.measure.executed import Executed
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Provider, Run, Subject
from cudalint.measure.work.counts import Work as Counted
from cudalint.measure.work.lengths import Lengths, requests_of
from cudalint.measure.work.memory import Caches, touched, traffic_of
from cudalint.measure.work.memory import Traffic as MemoryTraffic
from cudalint.measure.work.waits import stops, waits
from cudalint.worlds.records import Batch

_OF_SWAP_LOOP = 6.0
"""Instructions of an atomic on a floating-point number in shared memory for each pass: the sum is computed and swapped
in until nobody was faster."""
_FLOAT_BYTES = 4
_BEYOND_SHARED = 28 << 10
"""Bytes of L1 that are never shared memory: 256 KB together and 228 KB at most on an H200."""


class _Traffic(Struct):
    """Sums over the accesses of a kernel under one launch."""

    requests: dict[str, float] = field(default_factory=lambda: {"global": 0.0, "shared": 0.0})
    asked: Asked = Asked()
    swaps: float = 0.0
    """Instructions of loops that swap sums into shared memory."""
    sums: dict[str, float] = field(default_factory=lambda: {"fp32": 0.0, "fp64": 0.0})
    bytes: float = 0.0
    """Of global memory, by all lanes."""
    needed: dict[str, float] = field(default_factory=dict)
    """Bytes of each array of global memory in as few sectors for each request as its lanes' bytes fill."""
    assumptions: dict[str, None] = field(default_factory=dict)
    status: CostStatus = "exact"
    reason: str | None = None

    def add(self, access: Access, result: AccessResult, requests: float) -> None:
        self.assumptions |= dict.fromkeys(result.assumptions)
        if result.status == "unreached" or requests == 0:
            return
        own = actual(access, result)
        self.doubt(result)
        if own is None:
            return
        self.requests["shared" if access.space == "shared" else "global"] += requests
        self.asked += own.times(requests)
        loop = swapped(access, result)
        if loop is not None:
            self.swaps += _OF_SWAP_LOOP * loop.passes * requests
            self.sums["fp32" if access.bytes == _FLOAT_BYTES else "fp64"] += loop.sums * requests
        if access.space != "shared":
            self.bytes += requests * (result.active_lanes or WARP_LANES) * access.bytes
            sectors = (ideal(access, result) or own).sectors
            self.needed[access.array] = self.needed.get(access.array, 0.0) + requests * sectors * SECTOR_BYTES

    def doubt(self, result: AccessResult) -> None:
        order = ("exact", "assumed", "range", "unknown")
        own: CostStatus = "range" if result.status == "data-dependent" else result.status  # type: ignore[assignment]
        if order.index(own) > order.index(self.status):
            self.status, self.reason = own, result.reason


class _Found(Struct, frozen=True):
    """What the execution of one launch shows."""

    work: Counted
    memory: MemoryTraffic
    waits: Waits
    stops: Mapping[ir.Span, float]
    shares: Mapping[AccessPlace, float]
    lengths: tuple[str, ...]
    """What loops are taken for."""
    within: Mapping[Place, frozenset[int]]
    by_data: bool
    blocks: int
    scale: float
    is_nominal: bool
    rests_on: tuple[str, ...]
    """See `LaunchCost`."""

    @property
    def assumed(self) -> tuple[str, ...]:
        """What was taken for granted about the lengths of loops."""
        return tuple(dict.fromkeys(self.lengths))

    @property
    def operations(self) -> Operations:
        return Operations(*(self.work.operations[name] for name in Operations.__struct_fields__))


class CostCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "costs"
    needs: ClassVar[tuple[Kind, ...]] = ("accesses", "occupancy", "constants")
    target: Target
    _found: dict[int, _Found] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject.target)

    def add(self, run: Run) -> None:
        if run.subject.is_over():
            return
        executed, batch = run.executed, run.executed.batch
        trace, grid = executed.trace, batch.grid[0]
        warps = float(math.prod(grid) * trace.lanes.warps)
        lengths, work = run.lengths, run.work()
        scale = _scale(run, math.prod(grid) * math.prod(batch.block))
        caches = Caches(_l1_of_a_block(executed, self.target), self.target.l2_bytes)
        requests = requests_of(trace, lengths)
        found = touched(trace, requests, lengths, grid, caches, _sizes(batch))
        stops_ = stops(trace, lengths, warps)
        is_nominal = run.launch.recorded is None and (scale != 1.0 or bool(lengths.sizes))
        self._found[run.index] = _Found(
            work,
            # Of more blocks than were evaluated, L2 keeps as much as of these.
            traffic_of(found, self.target.l2_bytes / scale),
            waits(requests, trace, lengths, executed.laid, work, warps, stops_),
            stops_, _shares(lengths), tuple(length.assumption for length in lengths.found.values()),
            _within(lengths), any(each.by_data and each.counts[1, 0] for each in trace.executions.values()),
            math.prod(grid), scale, is_nominal, tuple(_unknown_sizes(run, scale)) if is_nominal else (),
        )  # fmt: skip

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (self._cost(index, facts, launch) for index, launch in enumerate(facts.launches))
        return replace(facts, costs=tuple(found))

    def _cost(self, index: int, facts: KernelFacts, launch: LaunchFacts) -> LaunchCost:
        own = self._found.get(index)
        if own is None:
            return LaunchCost(index, "unknown", launch.assumptions, "the kernel takes too long")
        traffic = _Traffic()
        for access, result in ((each, result) for each in facts.accesses for result in each.results):
            if result.launch == index:
                traffic.add(access, result, number_of(access, result, own.shares))
        scale, memory, instructions = own.scale, own.memory, own.work.total + traffic.swaps
        nominal = (f"about {MOST_THREADS} threads (nothing in sight says how many)",) if scale != 1.0 else ()
        assumptions = tuple(dict.fromkeys((*launch.assumptions, *traffic.assumptions, *own.assumed, *nominal)))
        warps = -(-math.prod(launch.block) // WARP_LANES)
        work = Work(
            blocks=float(own.blocks),
            warps_per_block=warps,
            resident_blocks=facts.occupancy[index].blocks_per_sm or 1 if facts.occupancy else 1,
            operations=_with_sums(own.operations, traffic.sums),
            instructions=instructions,
            requests={space: float(number) for space, number in traffic.requests.items()},
            sectors=float(traffic.asked.sectors),
            passes=float(traffic.asked.passes),
            wavefronts=float(traffic.asked.wavefronts),
            l2_bytes=float(memory.l2),
            dram_bytes=float(memory.dram),
            waits=own.waits,
            turns=float(sum(r.requests * r.addresses for c in facts.constants for r in c.results if r.launch == index)),
            past_l1=_part(memory.l2, SECTOR_BYTES * traffic.asked.sectors),
            past_l2=_part(memory.dram, memory.l2),
            slots=warps * WARP_LANES / math.prod(launch.block),
        )
        status: CostStatus = traffic.status
        reason = traffic.reason
        if own.by_data and status in ("exact", "assumed"):
            status, reason = "range", "how often some code is executed depends on data"
        elif status == "exact" and assumptions:
            status = "assumed"
        if scale != 1.0:
            work = scaled(work, scale)
        return with_estimate(
            LaunchCost(
                index, status, assumptions, reason, work.requests, work.sectors, work.wavefronts, work.operations,
                work.instructions, memory.read * scale, memory.written * scale, work.l2_bytes, work.dram_bytes,
                traffic.bytes * scale, work=work,
                stops={Place(*span): times for span, times in own.stops.items()},
                lengths=own.lengths, within=own.within,
                shares=own.shares, scale=scale, needless=dict(_needless(memory, traffic, scale)),
                is_nominal=own.is_nominal, rests_on=own.rests_on,
            ),
            estimate(work, machine_of(self.target)), self.target, memory.through * scale,
        )  # fmt: skip


def _with_sums(operations: Operations, sums: Mapping[str, float]) -> Operations:
    return replace(operations, fp32=operations.fp32 + sums["fp32"], fp64=operations.fp64 + sums["fp64"])


def _needless(memory: MemoryTraffic, traffic: _Traffic, scale: float) -> Iterator[tuple[str, Needless]]:
    for name, moved in memory.arrays.items():
        if name in traffic.needed:
            l2, dram = (max(0.0, bytes_ - traffic.needed[name]) for bytes_ in (moved.l2, moved.through))
            if l2 or dram:
                yield name, Needless(scale * l2, scale * min(dram, moved.dram))


def _part(own: float, whole: float) -> float:
    return min(1.0, own / whole) if whole else 1.0


def _l1_of_a_block(executed: Executed, target: Target) -> float:
    """Bytes of L1 that each of the blocks on an SM has, if as many are there as there is room for their warps."""
    warps = executed.trace.lanes.warps
    variables = {event.allocation for event in executed.trace.accesses if event.allocation.space == "shared"}
    shared = executed.batch.shared[0] + sum(each.type.bytes for each in variables if each.type is not None)
    blocks = max(1, min(target.max_warps_per_sm // warps, target.max_blocks_per_sm))
    blocks = max(1, min(blocks, target.shared_per_sm // shared)) if shared else blocks
    return (target.shared_per_sm + _BEYOND_SHARED - blocks * shared) / blocks


def _sizes(batch: Batch) -> dict[Allocation, int]:
    """Of arrays, in the first world."""
    return {array: size.bytes[0] for array, size in batch.sizes.items() if size.bytes[0]}


def _shares(lengths: Lengths) -> dict[AccessPlace, float]:
    """By access, which part of its requests counts, where not all do."""
    found = {}
    for node, stack in lengths.accesses():
        share = lengths.share(node, stack)
        if share != 1.0:
            found[Place(*node.span), frames_of(stack)] = share
    return found


def _within(lengths: Lengths) -> dict[Place, frozenset[int]]:
    found: dict[Place, frozenset[int]] = {}
    for node, stack in lengths.places():
        place = Place(*node.span)
        found[place] = found.get(place, frozenset()) | lengths.numbers(node, stack)
    return found


def _scale(run: Run, threads: int) -> float:
    """Times that a launch of unknown size is taken for what was evaluated of it: as many blocks are evaluated as tell
    blocks apart, and for what they cost there are enough of them to fill the device."""
    graph, grid, launch = run.subject.graph, run.configuration.grid, run.launch
    if launch.recorded is not None:
        return 1.0
    scale = MOST_THREADS / threads
    if any(graph.rests_on_sizes(axis) for axis in grid):
        return scale if scale <= 1.0 or _may_be_larger(run, scale) else 1.0
    is_number = all(axis.is_const for axis in grid)
    return scale if launch.is_made_up or (launch.grid_is_assumed and is_number) else 1.0


def _unknown_sizes(run: Run, scale: float) -> Iterator[str]:
    """The numbers that the kernel takes and that nothing gives, of which its grid is made, or for which its loops are
    not taken for as long as they say."""
    graph = run.subject.graph
    grid = graph.atoms(bits_of(run.configuration.grid), graph.uniform_bits) if scale != 1.0 else ()
    names = {render(size) for size in grid if not graph.choice(size).is_known} | run.lengths.sizes
    for parameter, node in run.chosen.space.open.parameters.items():
        if not parameter.path and render(without_cast(node)) in names:
            yield parameter.name


def _may_be_larger(run: Run, times: float) -> bool:
    """Whether the host code launches the kernel for sizes that are so many times those that its grid is made of."""
    graph, conditions = run.subject.graph, (*run.configuration.guards, *run.statements)
    for size in graph.atoms(bits_of(run.configuration.grid), graph.uniform_bits):
        larger = math.ceil(times * max(1, graph.generic(size)))
        own = (condition for condition in conditions if condition.bits & size.bits and holds(graph, condition, {}))
        if not size.kind.is_float and all(holds(graph, condition, {size: larger}) for condition in own):
            return True
    return False
