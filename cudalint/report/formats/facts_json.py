"""`facts --format json`: the contract that schemas/facts.schema.json states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from cudalint.facts import (
    Access,
    AccessResult,
    Barrier,
    Branch,
    FileFacts,
    Frame,
    KernelFacts,
    LaunchCost,
    Occupancy,
    Place,
    Race,
    RaceEnd,
    Resources,
)
from cudalint.report.findings.results import Failure
from cudalint.report.formats.diagnostics_json import JsonObject, document_head, launch_object, plain_number
from cudalint.report.formats.plain import json_text


def document_lines(target: str, files: Iterator[str]) -> Iterator[str]:
    """A whole document around the texts of its files, one file a line, written as they come."""
    head = json_text(document_head(target))
    yield f'{head[:-1]}, "files": ['
    previous: str | None = None
    for text in files:
        if previous is not None:
            yield f"{previous},"
        previous = text
    if previous is not None:
        yield previous
    yield "]}"


def file_text(facts: FileFacts) -> str:
    return json_text(file_object(facts))


def failure_text(failure: Failure) -> str:
    problem = {"path": failure.path, "line": None, "column": None, "message": failure.message}
    return json_text({"path": failure.path, "status": "failed", "problems": [problem], "kernels": []})


def file_object(facts: FileFacts) -> JsonObject:
    return {
        "path": facts.path,
        "status": facts.status,
        "problems": [
            {"path": p.path, "line": p.line, "column": p.column, "message": p.message} for p in facts.problems
        ],
        "kernels": [_kernel(kernel) for kernel in facts.kernels],
    }


def _kernel(kernel: KernelFacts) -> JsonObject:
    return {
        "name": kernel.name,
        "instantiation": kernel.instantiation,
        "path": kernel.place.path,
        "line": kernel.place.line,
        "end_line": kernel.place.end_line,
        "launches": [launch_object(launch) for launch in kernel.launches],
        "accesses": [_access(access) for access in kernel.accesses] if "accesses" in kernel.collected else None,
        "branches": None if kernel.branches is None else [_branch(branch) for branch in kernel.branches],
        "barriers": None if kernel.barriers is None else [_barrier(barrier) for barrier in kernel.barriers],
        "races": None if kernel.races is None else [_race(race) for race in kernel.races],
        "resources": _resources(kernel.resources),
        "occupancy": None if kernel.occupancy is None else [_occupancy(o) for o in kernel.occupancy],
        "roofline": kernel.roofline,
        "costs": None if kernel.costs is None else [_cost(cost) for cost in kernel.costs],
        "gaps": [
            {"path": gap.path, "line": gap.line, "reason": gap.reason, "remedy": gap.remedy} for gap in kernel.gaps
        ],
        "left_out_launches": [
            {"path": each.path, "line": each.line, "launches": each.launches, "is_least": each.is_least}
            for each in kernel.left_out
        ],
    }


def _access(access: Access) -> JsonObject:
    return {
        "path": access.place.path,
        "line": access.position[0],
        "column": access.position[1],
        "end_line": access.place.end_line,
        "end_column": access.place.end_column,
        "function": access.function,
        "inlined_from": _frames(access.inlined_from),
        "space": access.space,
        "operation": access.operation,
        "array": access.array,
        "expression": access.expression,
        "element_type": access.element_type,
        "bytes": access.bytes,
        "results": [_result(result) for result in access.results],
    }


def _result(result: AccessResult) -> JsonObject:
    return {
        "launch": result.launch,
        "status": result.status,
        "assumptions": list(result.assumptions),
        "condition": result.condition or None,
        "reason": result.reason,
        "sectors_per_request": plain_number(result.sectors_per_request),
        "sectors_range": _range(result.sectors_range),
        "ideal_sectors": plain_number(result.ideal_sectors),
        "wavefronts_per_request": plain_number(result.wavefronts_per_request),
        "wavefronts_range": _range(result.wavefronts_range),
        "ideal_wavefronts": plain_number(result.ideal_wavefronts),
        "conflict_ways": plain_number(result.conflict_ways),
        "active_lanes": plain_number(result.active_lanes),
        "active_request_fraction": plain_number(result.active_request_fraction),
        "requests": plain_number(result.requests),
        "requests_range": _range(result.requests_range),
    }


def _range(bounds: tuple[float, float] | None) -> list[float | None] | None:
    return None if bounds is None else [plain_number(bound) for bound in bounds]


def _branch(branch: Branch) -> JsonObject:
    return {
        **_start(branch.place),
        "function": branch.function,
        "inlined_from": _frames(branch.inlined_from),
        "kind": branch.kind,
        "results": [
            {
                "launch": r.launch,
                "verdict": r.verdict,
                "divergent_warps": plain_number(r.divergent_warps),
                "assumptions": list(r.assumptions),
                "reason": r.reason,
                "compiled": r.compiled,
                "slowest_lane_factor": plain_number(r.divergence.slowest) if r.divergence else None,
            }
            for r in branch.results
        ],
    }


def _barrier(barrier: Barrier) -> JsonObject:
    return {
        **_start(barrier.place),
        "function": barrier.function,
        "inlined_from": _frames(barrier.inlined_from),
        "kind": barrier.kind,
        "results": [{"launch": r.launch, "verdict": r.verdict, "reason": r.reason} for r in barrier.results],
    }


def _race(race: Race) -> JsonObject:
    return {
        "space": race.space,
        "array": race.array,
        "certainty": race.certainty,
        "launch": race.launch,
        "first": _race_end(race.first),
        "second": _race_end(race.second),
        "element": race.element,
        "reason": race.reason,
        "fence_before": None if race.fence_before is None else _start(race.fence_before),
        "size": race.size,
        "reach": race.reach,
        "benign": race.benign,
    }


def _race_end(end: RaceEnd) -> JsonObject:
    return {
        **_start(end.place),
        "operation": end.operation,
        "thread": list(end.thread),
        "block": list(end.block),
        "array": end.array,
        "inlined_from": _frames(end.inlined_from),
    }


def _occupancy(occupancy: Occupancy) -> JsonObject:
    return {
        "launch": occupancy.launch,
        "blocks_per_sm": occupancy.blocks_per_sm,
        "warps_per_sm": occupancy.warps_per_sm,
        "occupancy": plain_number(occupancy.occupancy),
        "limiters": list(occupancy.limiters),
        "limits": dict(occupancy.limits),
        "needs_opt_in": occupancy.needs_opt_in,
        "obstacles": list(occupancy.obstacles),
        "by_registers": [
            {"registers": registers, "blocks_per_sm": blocks, "occupancy": share}
            for registers, blocks, share in occupancy.by_registers
        ],
    }


def _cost(cost: LaunchCost) -> JsonObject:
    operations = cost.operations
    footprint = {"read": plain_number(cost.read_bytes), "written": plain_number(cost.written_bytes)}
    return {
        "launch": cost.launch,
        "status": cost.status,
        "assumptions": list(cost.assumptions),
        "reason": cost.reason,
        "requests": {space: plain_number(count) for space, count in cost.requests.items()},
        "sectors": plain_number(cost.sectors),
        "wavefronts": plain_number(cost.wavefronts),
        "operations": None if operations is None else {k: plain_number(v) for k, v in asdict(operations).items()},
        "instructions": plain_number(cost.instructions),
        "footprint_bytes": None if cost.read_bytes is None else footprint,
        "l2_bytes": plain_number(cost.l2_bytes),
        "dram_bytes": plain_number(cost.dram_bytes),
        "requested_bytes": plain_number(cost.requested_bytes),
        "requested_intensity": plain_number(cost.requested_intensity),
        "arithmetic_intensity": plain_number(cost.arithmetic_intensity),
        "ridge": plain_number(cost.ridge),
        "limits_us": {resource: plain_number(time) for resource, time in cost.limits_us.items()},
        "bound": cost.bound,
        "time_us": plain_number(cost.time_us),
        "attainable_gflops": plain_number(cost.attainable_gflops),
    }


def _start(place: Place) -> JsonObject:
    return {"path": place.path, "line": place.line, "column": place.column}


def _frames(frames: Sequence[Frame]) -> list[JsonObject]:
    return [{"path": frame.path, "line": frame.line} for frame in frames]


def _resources(resources: Resources) -> JsonObject:
    return {
        "static_shared_bytes": resources.static_shared_bytes,
        "registers": resources.registers,
        "registers_source": resources.registers_source,
        "max_threads": resources.max_threads,
        "min_blocks": resources.min_blocks,
    }
