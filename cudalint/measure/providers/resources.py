"""What a kernel asks of an SM under each launch, and how many of its blocks therefore fit."""

from __future__ import annotations

from math import prod
from typing import ClassVar, Self

from msgspec.structs import replace

from cudalint.facts import KernelFacts, LaunchFacts, Occupancy, Resources
from cudalint.facts.resources import REGISTER_CEILINGS, MostByEstimate, SpillPlace
from cudalint.hardware import occupancy as model
from cudalint.hardware.targets import Target
from cudalint.hardware.whatif import by_registers
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.measure.executed import Executed
from cudalint.measure.providers.provider import Provider, Run, Subject
from cudalint.measure.work.registers import HELD, at_least, registers_of
from cudalint.options.analysis import AnalysisOptions
from cudalint.toolchain.toolkit.usage import Usage

_REGISTER_STEP = 8
"""Registers are given to a warp in units of 256, which is 8 for each of its threads."""
_MOST_REGISTERS = 255
"""What an instruction can name."""


def resources_of(
    function: ir.Function, declared: int, usage: Usage | None, options: AnalysisOptions, target: Target
) -> Resources:
    """The kernel's own needs. The user's word comes first, then what was compiled, then what bounds the compiler.
    `declared` are the bytes of its shared arrays, of which nobody knows if their extents may have been made up."""
    registers, source = _registers(function, usage, options, target)
    static_shared = None if function.stand_ins and declared else declared
    if usage is not None and usage.static_shared_bytes is not None:
        static_shared = usage.static_shared_bytes
    compiled = usage or Usage(0, None, "")
    return Resources(
        static_shared, registers, source, function.max_threads, function.min_blocks,
        compiled.stack_bytes, compiled.spill_store_bytes, compiled.spill_load_bytes,
        spills=tuple(SpillPlace(each.path, each.line, each.stores, each.loads) for each in compiled.spill_lines),
    )  # fmt: skip


def _registers(
    function: ir.Function, usage: Usage | None, options: AnalysisOptions, target: Target
) -> tuple[int | None, str | None]:
    if options.registers is not None:
        return options.registers, "command-line"
    if usage is not None:
        return usage.registers, usage.source
    bound = _bound_of(function, target)
    most = options.max_registers
    if most is not None and (bound is None or most < bound):
        return most, "maxrregcount"
    return (bound, "launch-bounds") if bound is not None else (None, None)


def _bound_of(function: ir.Function, target: Target) -> int | None:
    """The registers to which `__launch_bounds__(threads, blocks)` holds the compiler, so that as many blocks fit.

    The warps are spread over the sub-partitions, and each has its share of the registers: `ptxas` 13.0 was seen to
    stop at 80 for 7 blocks of 96 threads, where 96 would do without them. The maximum of threads alone keeps one
    block launchable, which is no figure to compute an occupancy with.
    """
    if function.max_threads is None or function.min_blocks is None:
        return None
    warps = -(-function.max_threads // target.warp_size) * function.min_blocks
    warps_per_partition = -(-warps // target.sub_partitions)
    each = target.registers_per_sm // target.sub_partitions // (warps_per_partition * target.warp_size)
    return min(max(each // _REGISTER_STEP * _REGISTER_STEP, _REGISTER_STEP), _MOST_REGISTERS)


class OccupancyCollector(Provider, eq=False):
    """The occupancy under each launch, which follows from what it asks for and from the kernel's own needs."""

    kind: ClassVar[Kind] = "occupancy"
    target: Target
    executed: Executed | None = None
    """Under any launch: what the compiler makes of the kernel depends on none."""

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject.target)

    def add(self, run: Run) -> None:
        self.executed = self.executed or run.executed

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        launches, resources = enumerate(facts.launches), facts.resources
        is_counted = resources.registers is not None and resources.registers_source not in REGISTER_CEILINGS
        if self.executed is not None and not is_counted and HELD.is_on:
            resources = replace(resources, registers_estimate=registers_of(self.executed.laid))
        found = (occupancy_of(index, launch, resources, self.target) for index, launch in launches)
        return replace(facts, occupancy=tuple(found), resources=resources)


def occupancy_of(index: int, launch: LaunchFacts, resources: Resources, target: Target) -> Occupancy:
    site = launch.site
    threads = (site.threads if site is not None else None) or prod(launch.block)
    dynamic = site.dynamic_shared_bytes if site is not None else launch.dynamic_shared_bytes
    static = resources.static_shared_bytes or 0
    result = model.occupancy(target, threads, resources.registers, static, dynamic)
    return Occupancy(
        index,
        result.blocks_per_sm,
        result.warps_per_sm,
        result.occupancy,
        result.limiters,
        {str(resource): limit for resource, limit in result.limits.by_resource().items()},
        result.needs_opt_in,
        result.obstacles,
        _table(target, threads, static, dynamic) if resources.registers is None else (),
        _most(target, threads, resources, static, dynamic),
    )


def _most(
    target: Target, threads: int, resources: Resources, static: int, dynamic: int | None
) -> MostByEstimate | None:
    if resources.registers is not None or resources.registers_estimate is None:
        return None
    least = at_least(resources.registers_estimate)
    fits = model.occupancy(target, threads, least, static, dynamic)
    if not fits.launchable:
        return None  # It would have to be known for certain.
    return MostByEstimate(least, fits.blocks_per_sm, fits.warps_per_sm, fits.occupancy, fits.limiters)


def _table(target: Target, threads: int, static: int, dynamic: int | None) -> tuple[tuple[int, int, float], ...]:
    rows = by_registers(target, threads, static, dynamic)
    return tuple((row.value, row.occupancy.blocks_per_sm, row.occupancy.occupancy) for row in rows)
