"""From the work of a launch to the time that it takes: one limit for each resource, and the largest of them.

docs/cost-model.md says what is left out, and how far off the times were on an H200.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct

from cudalint.cost.machine import Machine
from cudalint.facts.costs import Bound, Resource, Work

_LAUNCH_US = 2.0
"""Of an empty kernel: 1.6 to 2.7 on an H200."""
_SECTORS_PER_WAVEFRONT = 4.0
"""A pass through L1 brings a line of 128 bytes."""


class Estimate(Struct, frozen=True):
    """How long a launch takes, in microseconds."""

    limits: Mapping[Resource, float]
    bound: Bound
    time: float


def estimate(work: Work, machine: Machine) -> Estimate:
    limits = limits_of(work, machine)
    # L1 and shared memory are one memory, and what they pass takes turns.
    together = limits["l1"] + limits["shared"]
    throughput = max(together, *(time for resource, time in limits.items() if resource not in _OVERHEADS))
    time = max(throughput, limits["latency"]) + limits["launch"]
    bound: Resource = max(limits, key=lambda resource: limits[resource])
    if together > limits[bound]:
        bound = "l1" if limits["l1"] >= limits["shared"] else "shared"
    return Estimate(limits, bound, time)


_OVERHEADS = ("l1", "shared", "latency", "launch")


def limits_of(work: Work, machine: Machine) -> dict[Resource, float]:
    """Microseconds that each resource takes for the work alone."""
    operations, requests = work.operations, work.requests.get("global", 0.0)
    # Fewer blocks than SMs leave some of them without work, and the last blocks of many do.
    idle = _rounds(work, machine)
    passes = max(requests, work.sectors / _SECTORS_PER_WAVEFRONT)
    return {
        "dram": work.dram_bytes / machine.dram_bytes,
        "l2": work.l2_bytes / machine.l2_bytes,
        "l1": idle * passes / machine.wavefronts,
        "shared": idle * work.wavefronts / machine.wavefronts,
        "issue": idle * work.instructions / machine.instructions,
        "fp32": idle * operations.fp32 / machine.fp32,
        "fp64": idle * operations.fp64 / machine.fp64,
        "fp16": idle * operations.fp16 / machine.fp16,
        "special": idle * operations.special / machine.special,
        "tensor": idle * operations.tensor / machine.tensor if operations.tensor else 0.0,
        "latency": latency(work, machine),
        "launch": _LAUNCH_US,
    }


def waves(work: Work, machine: Machine) -> float:
    """How often the SMs take in as many blocks as fit, the last time perhaps not all of them."""
    return work.blocks / (machine.sm_count * max(1, work.resident_blocks))


def _rounds(work: Work, machine: Machine) -> float:
    """How many times longer the busiest SM is at it than it would be if all had the same to do."""
    per_sm = work.blocks / machine.sm_count
    return math.ceil(per_sm) / per_sm if per_sm else 1.0


def latency(work: Work, machine: Machine) -> float:
    """The time that warps take one after the other in the places that they find on an SM."""
    cycles = math.ceil(waves(work, machine)) * work.chain
    return cycles / (machine.clock_ghz * 1e3)
