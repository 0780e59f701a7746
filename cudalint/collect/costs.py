"""What each launch costs: the work that its execution shows, and the time model's word on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar, Self

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run, Subject
from cudalint.cost.machine import machine_of
from cudalint.cost.model import Estimate, estimate
from cudalint.evaluate.work.executions import Computed, Meter, computed
from cudalint.facts import Access, AccessResult, CostStatus, KernelFacts, LaunchCost, LaunchFacts, Work
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.targets import Target
from cudalint.kinds import Kind

_WAIT = 600.0
"""Cycles from a load to its value, from DRAM."""
_STEP = 6.0
"""Cycles from an instruction to the next one of its warp, when most need the result of the one before."""


class _Traffic(Struct):
    """Sums over the accesses of a kernel under one launch."""

    requests: dict[str, float] = field(default_factory=lambda: {"global": 0.0, "shared": 0.0})
    sectors: float = 0.0
    wavefronts: float = 0.0
    stored: float = 0.0
    """Sectors that are written, or on which atomics work."""
    asked: float = 0.0
    """Bytes, by all lanes, of global memory."""
    assumptions: dict[str, None] = field(default_factory=dict)
    status: CostStatus = "exact"
    reason: str | None = None

    def add(self, access: Access, result: AccessResult) -> None:
        self.assumptions |= dict.fromkeys(result.assumptions)
        if result.status == "unreached" or result.requests == 0:
            return
        per = result.wavefronts_per_request if access.space == "shared" else result.sectors_per_request
        if per is None:
            bounds = result.wavefronts_range if access.space == "shared" else result.sectors_range
            per = sum(bounds) / 2 if bounds is not None else None
        self.doubt(result)
        if result.requests is None or per is None:
            return
        self.requests["shared" if access.space == "shared" else "global"] += result.requests
        if access.space == "shared":
            self.wavefronts += result.requests * per
            return
        self.sectors += result.requests * per
        self.asked += result.requests * (result.active_lanes or WARP_LANES) * access.bytes
        if access.operation in ("store", "atomic"):
            self.stored += result.requests * per

    def doubt(self, result: AccessResult) -> None:
        order = ("exact", "assumed", "range", "unknown")
        own: CostStatus = "range" if result.status == "data-dependent" else result.status  # type: ignore[assignment]
        if order.index(own) > order.index(self.status):
            self.status, self.reason = own, result.reason


class CostCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "costs"
    needs: ClassVar[tuple[Kind, ...]] = ("accesses", "occupancy")
    target: Target
    _computed: dict[int, Computed] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject.target)

    def add(self, run: Run) -> None:
        if not run.execution.deadline.is_over():
            self._computed[run.execution.view.index] = computed(run.execution.steps, Meter(run.execution.view))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (self._cost(index, facts, launch) for index, launch in enumerate(facts.launches))
        return replace(facts, costs=tuple(found))

    def _cost(self, index: int, facts: KernelFacts, launch: LaunchFacts) -> LaunchCost:
        own = self._computed.get(index)
        if own is None:
            return LaunchCost(index, "unknown", launch.assumptions, "the kernel takes too long")
        traffic = _traffic(facts.accesses, index)
        assumptions = tuple(dict.fromkeys((*launch.assumptions, *traffic.assumptions)))
        loads = (traffic.sectors - traffic.stored) * SECTOR_BYTES
        written = traffic.stored * SECTOR_BYTES
        blocks, threads = math.prod(launch.grid), math.prod(launch.block)
        warps = -(-threads // WARP_LANES)
        per_warp = own.instructions / max(1.0, blocks * warps)
        work = Work(
            blocks=blocks,
            warps_per_block=warps,
            resident_blocks=facts.occupancy[index].blocks_per_sm or 1 if facts.occupancy else 1,
            operations=own.operations,
            instructions=own.instructions,
            requests=traffic.requests,
            sectors=traffic.sectors,
            wavefronts=traffic.wavefronts,
            l2_bytes=loads + written,
            dram_bytes=loads + written,
            chain=per_warp * _STEP + _WAIT,
        )
        status: CostStatus = traffic.status
        reason = traffic.reason
        if own.by_data and status in ("exact", "assumed"):
            status, reason = "range", "how often some code is executed depends on data"
        elif status == "exact" and assumptions:
            status = "assumed"
        machine = machine_of(self.target)
        return _with_estimate(
            LaunchCost(
                index, status, assumptions, reason, traffic.requests, traffic.sectors, traffic.wavefronts,
                own.operations, own.instructions, loads, written, work.l2_bytes, work.dram_bytes, traffic.asked,
                work=work,
            ),
            estimate(work, machine), self.target,
        )  # fmt: skip


def _with_estimate(cost: LaunchCost, found: Estimate, target: Target) -> LaunchCost:
    assert cost.operations is not None
    intensity = cost.operations.floating / cost.dram_bytes if cost.dram_bytes else None
    roof = target.fp32_tflops * 1e3
    return replace(
        cost,
        arithmetic_intensity=intensity,
        requested_intensity=cost.operations.floating / cost.requested_bytes if cost.requested_bytes else None,
        ridge=target.ridge,
        limits_us=found.limits,
        bound=found.bound,
        time_us=found.time,
        attainable_gflops=None if intensity is None else min(roof, intensity * target.bandwidth_gb_s),
    )


def _traffic(accesses: Iterable[Access], launch: int) -> _Traffic:
    found = _Traffic()
    for access in accesses:
        for result in access.results:
            if result.launch == launch:
                found.add(access, result)
    return found
