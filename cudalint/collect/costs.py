"""What each launch costs: the work that its execution shows, and the time model's word on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import ClassVar, Self

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run, Subject
from cudalint.cost.launches import scaled, with_estimate
from cudalint.cost.machine import machine_of
from cudalint.cost.model import estimate
from cudalint.cost.requests import Asked, actual, ideal
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.views import LaunchView
from cudalint.evaluate.work.executions import Computed
from cudalint.evaluate.work.memory import touched, traffic_of
from cudalint.facts import (
    Access,
    AccessResult,
    CostStatus,
    KernelFacts,
    LaunchCost,
    LaunchFacts,
    Needless,
    Place,
    Work,
)
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.targets import Target
from cudalint.kinds import Kind
from cudalint.measure.work.memory import Caches
from cudalint.measure.work.memory import Traffic as MemoryTraffic
from cudalint.scenarios.sizes import MOST_THREADS
from cudalint.values.nodes import bits_of

_BEYOND_SHARED = 28 << 10
"""Bytes of L1 that are never shared memory: 256 KB together and 228 KB at most on an H200."""


_MOST_REQUESTS = 2.0
"""Requests for each warp-level instruction, which makes one at most; instructions are counted roughly."""
_OTHER_SIZES = "its accesses are reached with other sizes only than the launch is evaluated with"


class _Traffic(Struct):
    """Sums over the accesses of a kernel under one launch."""

    requests: dict[str, float] = field(default_factory=lambda: {"global": 0.0, "shared": 0.0})
    asked: Asked = Asked()
    bytes: float = 0.0
    """Of global memory, by all lanes."""
    needed: dict[str, float] = field(default_factory=dict)
    """Bytes of each array of global memory in as few sectors for each request as its lanes' bytes fill."""
    assumptions: dict[str, None] = field(default_factory=dict)
    status: CostStatus = "exact"
    reason: str | None = None

    def add(self, access: Access, result: AccessResult, share: float) -> None:
        self.assumptions |= dict.fromkeys(result.assumptions)
        if result.status == "unreached" or result.requests == 0:
            return
        own = actual(access, result)
        self.doubt(result)
        if result.requests is None or own is None:
            return
        requests = result.requests * share
        self.requests["shared" if access.space == "shared" else "global"] += requests
        self.asked += own.times(requests)
        if access.space != "shared":
            self.bytes += requests * (result.active_lanes or WARP_LANES) * access.bytes
            sectors = (ideal(access, result) or own).sectors
            self.needed[access.array] = self.needed.get(access.array, 0.0) + requests * sectors * SECTOR_BYTES

    def doubt(self, result: AccessResult) -> None:
        order = ("exact", "assumed", "range", "unknown")
        own: CostStatus = "range" if result.status == "data-dependent" else result.status  # type: ignore[assignment]
        if order.index(own) > order.index(self.status):
            self.status, self.reason = own, result.reason


class CostCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "costs"
    counts: ClassVar[bool] = True
    needs: ClassVar[tuple[Kind, ...]] = ("accesses", "occupancy", "constants")
    target: Target
    _computed: dict[int, Computed] = field(default_factory=dict)
    _scales: dict[int, float] = field(default_factory=dict)
    _memory: dict[int, MemoryTraffic] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject.target)

    def add(self, run: Run) -> None:
        if run.execution.deadline.is_over():
            return
        view = run.execution.view
        scale = self._scales[view.index] = _scale(run.execution)
        self._computed[view.index] = run.computed
        caches = Caches(_l1_of_a_block(run.execution, self.target), self.target.l2_bytes)
        # Of more blocks than were evaluated, L2 keeps as much as of these.
        self._memory[view.index] = traffic_of(
            touched(run.machine, view, run.meter, caches), self.target.l2_bytes / scale
        )

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (self._cost(index, facts, launch) for index, launch in enumerate(facts.launches))
        return replace(facts, costs=tuple(found))

    def _cost(self, index: int, facts: KernelFacts, launch: LaunchFacts) -> LaunchCost:
        own = self._computed.get(index)
        if own is None:
            return LaunchCost(index, "unknown", launch.assumptions, "the kernel takes too long")
        traffic = _traffic(facts.accesses, index, own)
        if sum(traffic.requests.values()) > _MOST_REQUESTS * own.instructions:
            return LaunchCost(index, "unknown", launch.assumptions, _OTHER_SIZES)
        scale = self._scales[index]
        nominal = (f"about {MOST_THREADS} threads (nothing in sight says how many)",) if scale != 1.0 else ()
        assumptions = tuple(dict.fromkeys((*launch.assumptions, *traffic.assumptions, *own.assumed, *nominal)))
        memory = self._memory[index]
        blocks, threads = math.prod(launch.grid), math.prod(launch.block)
        warps = -(-threads // WARP_LANES)
        work = Work(
            blocks=float(blocks),
            warps_per_block=warps,
            resident_blocks=facts.occupancy[index].blocks_per_sm or 1 if facts.occupancy else 1,
            operations=own.operations,
            instructions=own.instructions,
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
                lengths=tuple(length.assumption for length in own.lengths),
                within={Place(*span): numbers for span, numbers in own.within.items()} if own.lengths else {},
                shares=own.shares, scale=scale, needless=dict(_needless(memory, traffic, scale)),
            ),
            estimate(work, machine_of(self.target)), self.target, memory.through * scale,
        )  # fmt: skip


def _needless(memory: MemoryTraffic, traffic: _Traffic, scale: float) -> Iterator[tuple[str, Needless]]:
    for name, moved in memory.arrays.items():
        if name in traffic.needed:
            l2, dram = (max(0.0, bytes_ - traffic.needed[name]) for bytes_ in (moved.l2, moved.through))
            if l2 or dram:
                yield name, Needless(scale * l2, scale * min(dram, moved.dram))


def _part(own: float, whole: float) -> float:
    return min(1.0, own / whole) if whole else 1.0


def _l1_of_a_block(execution: Execution, target: Target) -> float:
    """Bytes of L1 that each of the blocks on an SM has, if as many are there as there is room for their warps."""
    warps = -(-math.prod(execution.view.block) // WARP_LANES)
    shared = sum(each.bytes or 0 for each in execution.variables.values() if each.space == "shared")
    shared += execution.dynamic_shared or 0
    blocks = max(1, min(target.max_warps_per_sm // warps, target.max_blocks_per_sm))
    blocks = max(1, min(blocks, target.shared_per_sm // shared)) if shared else blocks
    return (target.shared_per_sm + _BEYOND_SHARED - blocks * shared) / blocks


def _scale(execution: Execution) -> float:
    """Times that a launch of unknown size is taken for what was evaluated of it: as many blocks are evaluated as tell
    blocks apart, and for what they cost there are enough of them to fill the device."""
    view, launch = execution.view, execution.launch
    scale = MOST_THREADS / (math.prod(launch.grid) * math.prod(launch.block))
    if any(view.graph.rests_on_sizes(axis) for axis in view.grid):
        return scale if scale <= 1.0 or _may_be_larger(view, scale) else 1.0
    is_number = all(axis.is_const for axis in view.grid)
    return scale if launch.is_made_up or (launch.grid_is_assumed and is_number) else 1.0


def _may_be_larger(view: LaunchView, times: float) -> bool:
    """Whether the host code launches the kernel for sizes that are so many times those that its grid is made of."""
    graph = view.graph
    for size in graph.atoms(bits_of(view.grid), graph.uniform_bits):
        larger = math.ceil(times * max(1, graph.generic(size)))
        if not size.kind.is_float and view.allows(size, larger) and view.is_launched(size, larger):
            return True
    return False


def _traffic(accesses: Iterable[Access], launch: int, own: Computed) -> _Traffic:
    found = _Traffic()
    for access in accesses:
        share = own.shares.get((access.place, access.inlined_from), 1.0)
        for result in access.results:
            if result.launch == launch:
                found.add(access, result, share)
    return found
