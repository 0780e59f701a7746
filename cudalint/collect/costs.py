"""What each launch costs: the work that its execution shows, and the time model's word on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import ClassVar, Self

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run, Subject
from cudalint.cost.by_line import per_request
from cudalint.cost.machine import machine_of
from cudalint.cost.model import Estimate, estimate
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.work.executions import Computed
from cudalint.evaluate.work.executions import Repeated as RepeatedPart
from cudalint.evaluate.work.memory import Caches, touched, traffic_of
from cudalint.evaluate.work.memory import Traffic as MemoryTraffic
from cudalint.facts import (
    Access,
    AccessResult,
    CostStatus,
    KernelFacts,
    LaunchCost,
    LaunchFacts,
    Operations,
    Place,
    Repeated,
    Waits,
    Work,
)
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.targets import Target
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.scenarios.sizes import MOST_THREADS

_BEYOND_SHARED = 28 << 10
"""Bytes of L1 that are never shared memory: 256 KB together and 228 KB at most on an H200."""


_MOST_REQUESTS = 2.0
"""Requests for each warp-level instruction, which makes one at most; instructions are counted roughly."""
_OTHER_SIZES = "its accesses are reached with other sizes only than the launch is evaluated with"


class _Asked(Struct):
    """What some accesses ask of L1 and of shared memory."""

    sectors: float = 0.0
    passes: float = 0.0
    wavefronts: float = 0.0


class _Traffic(Struct):
    """Sums over the accesses of a kernel under one launch."""

    requests: dict[str, float] = field(default_factory=lambda: {"global": 0.0, "shared": 0.0})
    sectors: float = 0.0
    passes: float = 0.0
    wavefronts: float = 0.0
    stored: float = 0.0
    """Sectors that are written, or on which atomics work."""
    asked: dict[str, float] = field(default_factory=dict)
    """Bytes of each array of global memory, by all lanes."""
    repeated: dict[frozenset[int], _Asked] = field(default_factory=dict)
    """What of it is asked for in loops of these assumed lengths."""
    assumptions: dict[str, None] = field(default_factory=dict)
    status: CostStatus = "exact"
    reason: str | None = None

    def add(self, access: Access, result: AccessResult, share: float, lengths: frozenset[int]) -> None:
        self.assumptions |= dict.fromkeys(result.assumptions)
        if result.status == "unreached" or result.requests == 0:
            return
        per = per_request(access, result)
        self.doubt(result)
        if result.requests is None or per is None:
            return
        requests = result.requests * share
        part = self.repeated.setdefault(lengths, _Asked())
        self.requests["shared" if access.space == "shared" else "global"] += requests
        if access.space == "shared":
            self.wavefronts += requests * per
            part.wavefronts += requests * per
            return
        passes = requests * _passes(access, result, per)
        self.sectors += requests * per
        self.passes += passes
        part.sectors += requests * per
        part.passes += passes
        asked = requests * (result.active_lanes or WARP_LANES) * access.bytes
        self.asked[access.array] = self.asked.get(access.array, 0.0) + asked
        if access.operation in ("store", "atomic"):
            self.stored += requests * per

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
        self._scales[view.index] = _scale(run.execution)
        self._computed[view.index] = run.computed
        caches = Caches(_l1_of_a_block(run.execution, self.target), self.target.l2_bytes)
        self._memory[view.index] = traffic_of(touched(run.machine, view, run.meter, caches), self.target.l2_bytes)

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
            sectors=float(traffic.sectors),
            passes=float(traffic.passes),
            wavefronts=float(traffic.wavefronts),
            l2_bytes=float(memory.l2),
            dram_bytes=float(memory.dram),
            waits=own.waits,
            turns=float(sum(r.requests * r.addresses for c in facts.constants for r in c.results if r.launch == index)),
        )
        status: CostStatus = traffic.status
        reason = traffic.reason
        if own.by_data and status in ("exact", "assumed"):
            status, reason = "range", "how often some code is executed depends on data"
        elif status == "exact" and assumptions:
            status = "assumed"
        repeated = tuple(_repeated(work, own, traffic))
        if scale != 1.0:
            work = _scaled(work, scale)
            repeated = tuple(Repeated(each.lengths, _scaled(each.work, scale)) for each in repeated)
        return _with_estimate(
            LaunchCost(
                index, status, assumptions, reason, work.requests, work.sectors, work.wavefronts, work.operations,
                work.instructions, memory.read * scale, memory.written * scale, work.l2_bytes, work.dram_bytes,
                sum(traffic.asked.values()) * scale, work=work,
                stops={Place(*span): times for span, times in own.stops.items()},
                lengths=tuple(length.assumption for length in own.lengths), repeated=repeated,
                within={Place(*span): lengths for span, lengths in own.within.items() if lengths or repeated},
                needless={name: scale * bytes_ for name, bytes_ in _needless(memory, traffic)},
            ),
            estimate(work, machine_of(self.target)), self.target, memory.through * scale,
        )  # fmt: skip


def _needless(memory: MemoryTraffic, traffic: _Traffic) -> Iterator[tuple[str, float]]:
    for name, bytes_ in memory.passed.items():
        if name in traffic.asked and bytes_ > traffic.asked[name]:
            yield name, bytes_ - traffic.asked[name]


def _repeated(work: Work, own: Computed, traffic: _Traffic) -> Iterator[Repeated]:
    """The parts of a launch's work that are done in loops of assumed length. What reaches L2 and DRAM is divided up as
    the sectors are that are asked for."""
    for lengths in dict.fromkeys((*own.repeated, *traffic.repeated)):
        if not lengths:
            continue
        part, asked = own.repeated.get(lengths) or RepeatedPart(), traffic.repeated.get(lengths) or _Asked()
        sectors = asked.sectors / work.sectors if work.sectors else 0.0
        instructions = float(part.counts[5])
        of_all = instructions / work.instructions if work.instructions else 0.0
        waits = Waits(
            work.waits.instructions * of_all, part.loads, part.shared, part.barriers, work.waits.special * of_all
        )
        yield Repeated(
            lengths,
            replace(
                work,
                operations=Operations(*map(float, part.counts[:5])),
                instructions=instructions,
                requests={},
                sectors=float(asked.sectors),
                passes=float(asked.passes),
                wavefronts=float(asked.wavefronts),
                l2_bytes=work.l2_bytes * sectors,
                dram_bytes=work.dram_bytes * sectors,
                waits=waits,
                turns=0.0,
            ),
        )


def _scaled(work: Work, scale: float) -> Work:
    """The work of a smaller grid of the same blocks."""
    operations = (getattr(work.operations, name) * scale for name in Operations.__struct_fields__)
    return replace(
        work,
        blocks=max(1.0, work.blocks * scale),
        operations=Operations(*operations),
        requests={space: count * scale for space, count in work.requests.items()},
        instructions=work.instructions * scale,
        sectors=work.sectors * scale,
        passes=work.passes * scale,
        wavefronts=work.wavefronts * scale,
        l2_bytes=work.l2_bytes * scale,
        dram_bytes=work.dram_bytes * scale,
        turns=work.turns * scale,
    )


def _with_estimate(cost: LaunchCost, found: Estimate, target: Target, through: float) -> LaunchCost:
    """`through`: bytes that go to DRAM or come from it in the end."""
    assert cost.operations is not None
    intensity = cost.operations.floating / through if through else None
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


def _l1_of_a_block(execution: Execution, target: Target) -> float:
    """Bytes of L1 that each of the blocks on an SM has, if as many are there as there is room for their warps."""
    warps = -(-math.prod(execution.view.block) // WARP_LANES)
    shared = sum(each.bytes or 0 for each in execution.variables.values() if each.space == "shared")
    shared += execution.dynamic_shared or 0
    blocks = max(1, min(target.max_warps_per_sm // warps, target.max_blocks_per_sm))
    blocks = max(1, min(blocks, target.shared_per_sm // shared)) if shared else blocks
    return (target.shared_per_sm + _BEYOND_SHARED - blocks * shared) / blocks


_LINE_BYTES = 128
_LINES_PER_CLOCK = 2.4
"""Lines of a strided load that L1 looks up in a clock: 24 lines in about 10 clocks on an H100 (`loads` of records of 24
floats in benchmarks/records.cu)."""
_SECTORS_OF_LINE = 4


def _passes(access: Access, result: AccessResult, sectors: float) -> float:
    """Clocks that L1 takes for a request: one for every 128 bytes that the lanes ask for, and for lines that lie apart
    what was measured."""
    asked = (result.active_lanes or WARP_LANES) * access.bytes / _LINE_BYTES
    return max(1.0, asked, _lines(result, sectors) / _LINES_PER_CLOCK)


def _lines(result: AccessResult, sectors: float) -> float:
    """The lines of 128 bytes that a request touches, on average over those that were kept."""
    sample = result.sample
    if sample is None or not sample.weights.any():
        # What data chooses lies apart.
        return sectors if result.status == "data-dependent" else max(1.0, sectors / _SECTORS_OF_LINE)
    lines = np.where(sample.mask, sample.addresses // _LINE_BYTES, -1)
    lines.sort(axis=1)
    counts = (np.diff(lines, axis=1) != 0).sum(axis=1) + (lines[:, 0] >= 0)
    return float(np.average(counts, weights=sample.weights))


def _scale(execution: Execution) -> float:
    """Times that a launch of unknown size is taken for what was evaluated of it. Sizes that are made up to be general
    are large, and of a grid of which nothing is known as many blocks are evaluated as tell blocks apart: for what they
    cost there are enough of them to fill the device."""
    view, launch = execution.view, execution.launch
    scale = MOST_THREADS / (math.prod(launch.grid) * math.prod(launch.block))
    if any(view.graph.rests_on_sizes(axis) for axis in view.grid):
        return min(1.0, scale)
    is_number = all(axis.is_const for axis in view.grid)
    return scale if launch.is_made_up or (launch.grid_is_assumed and is_number) else 1.0


def _traffic(accesses: Iterable[Access], launch: int, own: Computed) -> _Traffic:
    found = _Traffic()
    for access in accesses:
        place = access.place
        key = (place.path, place.line, place.column, access.space, access.operation, access.array)
        share, lengths = own.shares.get(key, 1.0), own.within.get(ir.Span(*place), frozenset())
        for result in access.results:
            if result.launch == launch:
                found.add(access, result, share, lengths)
    return found
