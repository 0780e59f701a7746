"""`facts --format json`: the contract that schemas/facts.schema.json states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

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
    Race,
    RaceEnd,
)
from cudalint.report.findings.results import Failure
from cudalint.report.formats.diagnostics_json import (
    JsonObject,
    document_head,
    launch_object,
    picked,
    plain_number,
    plain_value,
)
from cudalint.report.formats.plain import json_text

T = TypeVar("T")


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
        **picked(facts, "path", "status"),
        "problems": [picked(problem, *_START, "message") for problem in facts.problems],
        "kernels": [_kernel(kernel) for kernel in facts.kernels],
    }


_START = ("path", "line", "column")


def _kernel(kernel: KernelFacts) -> JsonObject:
    return {
        **picked(kernel, "name", "instantiation"),
        **picked(kernel.place, "path", "line", "end_line"),
        "launches": _each(kernel.launches, launch_object),
        "accesses": _each(kernel.accesses, _access) if "accesses" in kernel.collected else None,
        "branches": _each(kernel.branches, _branch),
        "barriers": _each(kernel.barriers, _barrier),
        "races": _each(kernel.races, _race),
        "resources": picked(
            kernel.resources,
            "static_shared_bytes",
            "registers",
            "registers_source",
            "registers_estimate",
            "max_threads",
            "min_blocks",
            "stack_bytes",
            "spill_store_bytes",
            "spill_load_bytes",
        ),
        "occupancy": _each(kernel.occupancy, _occupancy),
        "roofline": kernel.roofline,
        "costs": _each(kernel.costs, _cost),
        "gaps": [picked(gap, "path", "line", "reason", "remedy") for gap in kernel.gaps],
        "left_out_launches": [picked(each, "path", "line", "launches", "is_least") for each in kernel.left_out],
    }


def _each(records: Sequence[T] | None, made: Callable[[T], JsonObject]) -> list[JsonObject] | None:
    """None where nobody asked for such facts."""
    return None if records is None else list(map(made, records))


def _in_function(record: Access | Branch | Barrier) -> JsonObject:
    return {"function": record.function, "inlined_from": _frames(record.inlined_from)}


def _access(access: Access) -> JsonObject:
    line, column = access.position
    return {
        "path": access.place.path,
        "line": line,
        "column": column,
        **picked(access.place, "end_line", "end_column"),
        **_in_function(access),
        **picked(access, "space", "operation", "array", "expression", "element_type", "bytes"),
        "results": _each(access.results, _result),
    }


def _result(result: AccessResult) -> JsonObject:
    return {
        **picked(result, "launch", "status", "assumptions"),
        "condition": result.condition or None,
        **picked(
            result, "reason", "sectors_per_request", "sectors_range", "ideal_sectors", "wavefronts_per_request",
            "wavefronts_range", "ideal_wavefronts", "conflict_ways", "active_lanes", "active_request_fraction",
            "requests", "requests_range",
        ),
    }  # fmt: skip


def _branch(branch: Branch) -> JsonObject:
    return {
        **picked(branch.place, *_START),
        **_in_function(branch),
        "kind": branch.kind,
        "results": [
            {
                **picked(each, "launch", "verdict", "divergent_warps", "assumptions", "reason", "compiled"),
                "slowest_lane_factor": plain_number(each.divergence.slowest) if each.divergence else None,
            }
            for each in branch.results
        ],
    }


def _barrier(barrier: Barrier) -> JsonObject:
    return {
        **picked(barrier.place, *_START),
        **_in_function(barrier),
        "kind": barrier.kind,
        "results": [picked(each, "launch", "verdict", "reason") for each in barrier.results],
    }


def _race(race: Race) -> JsonObject:
    return {
        **picked(race, "space", "array", "certainty", "launch"),
        "first": _race_end(race.first),
        "second": _race_end(race.second),
        **picked(race, "element", "reason"),
        "fence_before": None if race.fence_before is None else picked(race.fence_before, *_START),
        **picked(race, "size", "reach", "benign"),
    }


def _race_end(end: RaceEnd) -> JsonObject:
    own = picked(end, "operation", "thread", "block", "array")
    return {**picked(end.place, *_START), **own, "inlined_from": _frames(end.inlined_from)}


def _occupancy(occupancy: Occupancy) -> JsonObject:
    return {
        **picked(
            occupancy, "launch", "blocks_per_sm", "warps_per_sm", "occupancy", "limiters", "limits", "needs_opt_in",
            "obstacles",
        ),
        "by_registers": [
            {"registers": registers, "blocks_per_sm": blocks, "occupancy": share}
            for registers, blocks, share in occupancy.by_registers
        ],
        "most_by_estimate": None if occupancy.most is None else picked(
            occupancy.most, "registers", "blocks_per_sm", "warps_per_sm", "occupancy", "limiters"
        ),
    }  # fmt: skip


def _cost(cost: LaunchCost) -> JsonObject:
    footprint = {"read": plain_number(cost.read_bytes), "written": plain_number(cost.written_bytes)}
    return {
        **picked(cost, "launch", "status", "assumptions", "reason", "requests", "sectors", "wavefronts"),
        "operations": None if cost.operations is None else plain_value(asdict(cost.operations)),
        "instructions": plain_number(cost.instructions),
        "footprint_bytes": None if cost.read_bytes is None else footprint,
        **picked(
            cost, "l2_bytes", "dram_bytes", "requested_bytes", "requested_intensity", "arithmetic_intensity", "ridge",
            "limits_us", "bound", "time_us", "attainable_gflops",
        ),
    }  # fmt: skip


def _frames(frames: Sequence[Frame]) -> list[JsonObject]:
    return [picked(frame, "path", "line") for frame in frames]
