"""CL503: launches that leave most of an SM's warps empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import KernelFacts
from cudalint.hardware.occupancy import Occupancy, occupancy
from cudalint.hardware.targets import Target
from cudalint.hardware.whatif import by_block_size, cliffs
from cudalint.launchkit import Seen, counted_registers, launch_finding, percent, seen_launches
from cudalint.numerals import count, enumeration
from cudalint.rule import Rule, RuleContext

_REGISTER_STEP = 8
"""Registers per thread come in steps of this size."""


class LowOccupancy(Rule):
    """A launch with which less than half of the warps that an SM can hold are resident.

    What it does
        Computes how many blocks fit on an SM under a launch in sight, as NVIDIA's occupancy calculator does, names
        what stops the next one, and the cheapest change that lets it in. Registers count only where they are known
        (`--registers`, `--cubin`, `--ptxas`); without, the figure is what the other limits leave. `cudalint
        occupancy` prints the whole table. A grid in sight whose blocks are all resident at once is left alone: room
        for more would stay empty.

    Why is this bad
        An SM hides the latency of memory by running another warp meanwhile. With few warps there is none. From about
        half of the warps on, more of them seldom help (CUDA C++ Best Practices Guide, "Occupancy"), which is where
        the threshold stands; kernels with much independent work per thread do well below it.

    Why it is off by default
        Low occupancy is often what the author wants: a matrix product for tensor cores keeps its tiles in shared
        memory and hides latency within a thread. Of the findings in public collections (CUDA samples, HeCBench,
        Rodinia) about half were such kernels. Turn it on for kernels that wait for memory.

    In a profile
        The occupancy is `sm__maximum_warps_per_active_cycle_pct`, the limits are `launch__occupancy_limit_registers`,
        `launch__occupancy_limit_shared_mem`, `launch__occupancy_limit_warps` and `launch__occupancy_limit_blocks`. What
        a run reaches of it is `sm__warps_active.avg.pct_of_peak_sustained_active`.

    Example
        gather<<<n / 32, 32>>>(out, in);                // sm_86: 16 blocks, 16 of 48 warps

    Use instead
        gather<<<n / 96, 96>>>(out, in);                // 16 blocks, 48 of 48 warps
    """

    code = "CL503"
    name = "low-occupancy"
    severity = "warning"
    summary = "launches that leave most of an SM's warps empty"
    guide = ("occupancy", "faults")
    by_hand = "what takes the room has to be chosen: registers, shared memory or the size of blocks"
    reads = frozenset({"occupancy"})
    is_waste = True
    judges_by_target = True
    on_by_default = False
    thresholds = {"occupancy": 0.5}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        least = self.limits(context)["occupancy"]
        for seen in seen_launches(kernel):
            needs = _needs(kernel, seen)
            if needs is None:
                continue
            result = needs.on(context.target)
            if not result.launchable or result.occupancy >= least:
                continue
            if seen.site.blocks is not None and seen.site.blocks <= result.blocks_per_sm * context.target.sm_count:
                continue
            yield self._diagnostic(kernel, seen, needs, result, context.target, least)

    def _diagnostic(
        self, kernel: KernelFacts, seen: Seen, needs: _Needs, result: Occupancy, target: Target, least: float
    ) -> Diagnostic:
        # Registers that nobody knows can only lower it.
        most = "at most " if needs.registers is None else ""
        message = (
            f"{most}{percent(result.occupancy)} occupancy: {count(result.blocks_per_sm, 'block')} and "
            f"{result.warps_per_sm} of {target.max_warps_per_sm} warps per SM, limited by "
            f"{enumeration([_limiter(limiter, needs, target) for limiter in result.limiters])}"
        )
        figures = {
            "blocks_per_sm": float(result.blocks_per_sm),
            "warps_per_sm": float(result.warps_per_sm),
            "occupancy": result.occupancy,
        }
        return launch_finding(self, kernel, seen, message, figures, _cheapest(needs, result, target, least))


class _Needs(NamedTuple):
    """What a launch asks of an SM."""

    threads: int
    registers: int | None
    static_shared: int
    dynamic_shared: int

    @property
    def shared(self) -> int:
        return self.static_shared + self.dynamic_shared

    def on(self, target: Target) -> Occupancy:
        return occupancy(target, self.threads, self.registers, self.static_shared, self.dynamic_shared)


def _needs(kernel: KernelFacts, seen: Seen) -> _Needs | None:
    threads, dynamic = seen.site.threads, seen.site.dynamic_shared_bytes
    if threads is None or dynamic is None:
        return None
    return _Needs(threads, counted_registers(kernel.resources), kernel.resources.static_shared_bytes or 0, dynamic)


def _limiter(limiter: str, needs: _Needs, target: Target) -> str:
    match limiter:
        case "warps":
            return f"the {target.max_threads_per_sm} threads of an SM"
        case "blocks":
            return f"the {target.max_blocks_per_sm} blocks of an SM"
        case "registers":
            return f"registers ({needs.registers} per thread)"
    return f"shared memory ({needs.shared} bytes per block)"


class _Change(NamedTuple):
    """Another figure for one thing, and what it brings."""

    distance: float
    """By what factor it differs from the present one."""
    text: str
    after: Occupancy


def _cheapest(needs: _Needs, now: Occupancy, target: Target, least: float) -> Suggestion | None:
    """The nearest change that fills enough of the SM; where none does, the nearest that lets another block in."""
    changes = [*_cliffs(needs, target), *_reaching(needs, target, least)]
    if "shared_memory" not in now.limiters:
        # A block of another size would take as much shared memory only if that doesn't grow with it.
        changes += _other_sizes(needs, now, target)
    if not changes:
        return None
    enough = [change for change in changes if change.after.occupancy >= least]
    best = min(enough or changes, key=lambda change: change.distance)
    blocks = f"{count(best.after.blocks_per_sm, 'block')} and {best.after.warps_per_sm} warps per SM"
    nearest = "" if enough else ", the nearest step"
    return Suggestion(
        f"{best.text}: {blocks}{nearest}",
        before={"occupancy_percent": 100 * now.occupancy},
        after={"occupancy_percent": 100 * best.after.occupancy},
    )


def _cliffs(needs: _Needs, target: Target) -> Iterator[_Change]:
    for cliff in cliffs(target, *needs):
        yield _fewer(needs, cliff.resource, cliff.value, cliff.occupancy)


def _reaching(needs: _Needs, target: Target, least: float) -> Iterator[_Change]:
    """The most registers, and the most shared memory, with which enough of the SM is full."""
    for count_ in range((needs.registers or 0) // _REGISTER_STEP * _REGISTER_STEP, 0, -_REGISTER_STEP):
        after = needs._replace(registers=count_).on(target)
        if after.occupancy >= least:
            yield _fewer(needs, "registers", count_, after)
            break
    blocks = -(-int(least * target.max_warps_per_sm) // -(-needs.threads // target.warp_size))
    most = target.shared_per_sm // max(blocks, 1) // target.shared_allocation_unit * target.shared_allocation_unit
    most -= target.shared_reserved_per_block
    if needs.static_shared < most < needs.shared:
        after = needs._replace(static_shared=0, dynamic_shared=most).on(target)
        if after.occupancy >= least:
            yield _fewer(needs, "shared_memory", most, after)


def _fewer(needs: _Needs, resource: str, value: int, after: Occupancy) -> _Change:
    if resource == "registers":
        have, what = needs.registers or 0, "registers per thread"
    else:
        have, what = needs.shared, "bytes of shared memory per block"
    return _Change(have / max(value, 1), f"{value} {what}, {have - value} fewer", after)


def _other_sizes(needs: _Needs, now: Occupancy, target: Target) -> Iterator[_Change]:
    """Block sizes that fill more of an SM with the same registers and bytes."""
    for row in by_block_size(target, needs.registers, needs.static_shared, needs.dynamic_shared):
        if row.occupancy.occupancy > now.occupancy:
            distance = max(row.value / needs.threads, needs.threads / row.value)
            yield _Change(distance, f"blocks of {row.value} threads", row.occupancy)
