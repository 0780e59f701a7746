"""From the work of a launch to the time that it takes: one limit for each resource, and the largest of them.

docs/cost-model.md says what is left out, and how far off the times were on an H200.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from cudalint.facts.costs import Bound, Resource, Work
from cudalint.hardware.cost.machine import Machine

_LAUNCH_US = 2.0
"""Of an empty kernel: 1.6 to 2.7 on an H200."""
_BUSY = 0.4
"""Of the time that the busiest resource has to be at work for a kernel to be bound by it."""


class Estimate(Struct, frozen=True):
    """How long a launch takes, in microseconds."""

    limits: Mapping[Resource, float]
    bound: Bound
    time: float


def estimate(work: Work, machine: Machine) -> Estimate:
    limits = limits_of(work, machine)
    busy = {resource: time for resource, time in limits.items() if resource not in ("latency", "launch")}
    # L1 and shared memory are one memory, and what they pass takes turns.
    together = busy["l1"] + busy["shared"]
    others = [time for resource, time in busy.items() if resource not in ("l1", "shared")]
    time = _overlapped([together, *others, limits["latency"]]) + limits["launch"]
    return Estimate(limits, _bound(busy, limits, time), time)


def _overlapped(times: Sequence[float]) -> float:
    """Of several things that go on at once: the two that take longest take turns, as no warp does both at a time and
    few are ever enough to keep both busy; twelve matrix products took 0.93 to 1.30 of that on an H100."""
    return sum(sorted(times)[-2:])


def _bound(busy: Mapping[Resource, float], limits: Mapping[Resource, float], time: float) -> Resource:
    """The resource that is busy for longest; where none is for a large part of the time, what is waited for."""
    most = max(busy, key=lambda resource: busy[resource])
    together = busy["l1"] + busy["shared"]
    if together > busy[most]:
        most = "l1" if busy["l1"] >= busy["shared"] else "shared"
    if max(together, busy[most]) >= _BUSY * time:
        return most
    return "latency" if limits["latency"] >= limits["launch"] else "launch"


def limits_of(work: Work, machine: Machine) -> dict[Resource, float]:
    """Microseconds that each resource takes for the work alone."""
    operations = work.operations
    # Fewer blocks than SMs leave some of them without work, and the last blocks of many do.
    idle = _rounds(work, machine)
    rounds = idle * work.slots
    return {
        "dram": work.dram_bytes / machine.dram_bytes,
        "l2": work.l2_bytes / machine.l2_bytes,
        "l1": idle * work.passes / machine.wavefronts,
        "shared": idle * work.wavefronts / machine.wavefronts,
        "constant": idle * work.turns / machine.wavefronts,
        "issue": idle * work.instructions / machine.instructions,
        "fp32": rounds * operations.fp32 / machine.fp32,
        "fp64": rounds * operations.fp64 / machine.fp64,
        "fp16": rounds * operations.fp16 / machine.fp16,
        "special": rounds * operations.special / machine.special,
        "tensor": idle * operations.tensor / machine.tensor if operations.tensor and machine.tensor else 0.0,
        "latency": latency(work, machine),
        "launch": _LAUNCH_US,
    }


def traffic(sectors: float, wavefronts: float) -> float:
    """Units of 128 bytes that go through L1 and shared memory: a line of L1 is as wide as a wavefront of shared memory,
    and is four sectors."""
    return sectors / 4 + wavefronts


def waves(work: Work, machine: Machine) -> float:
    """How often the SMs take in as many blocks as fit, the last time perhaps not all of them."""
    return work.blocks / (machine.sm_count * max(1, work.resident_blocks))


def _rounds(work: Work, machine: Machine) -> float:
    """How many times longer the busiest SM is at it than it would be if all had the same to do."""
    per_sm = work.blocks / machine.sm_count
    return math.ceil(per_sm) / per_sm if per_sm else 1.0


def latency(work: Work, machine: Machine) -> float:
    """The time that warps take one after the other in the places that they find on an SM."""
    cycles = max(1.0, waves(work, machine)) * chain(work)
    return cycles / (machine.clock_ghz * 1e3)


def chain(work: Work) -> float:
    """Cycles that one warp takes if it has the SM for itself: what it waits for, one after the other."""
    waits = work.waits
    load = _L1_WAIT + work.past_l1 * (_L2_WAIT - _L1_WAIT + work.past_l2 * (_DRAM_WAIT - _L2_WAIT))
    return (
        waits.loads * load
        + waits.shared * _SHARED_WAIT
        + waits.barriers * _BARRIER_WAIT
        + waits.instructions * _STEP
        + _BEGIN
    )


_L1_WAIT, _L2_WAIT, _DRAM_WAIT = 40.0, 300.0, 700.0
"""Cycles from a load to its value."""
_SHARED_WAIT = 30.0
_BARRIER_WAIT = 30.0
_STEP = 5.0
"""Cycles from an instruction to the next of its warp: most need a result of one shortly before."""
_BEGIN = 700.0
"""Cycles to begin a block and to read its arguments."""
