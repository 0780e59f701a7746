"""What a launch comes to in Nsight Compute's metrics, so that a profile can be held beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from cudalint.facts import AccessResult, KernelFacts

Memory = Literal["global", "shared"]
_OPERATIONS: Final = {"load": "ld", "store": "st"}
"""Those whose metrics don't depend on what the compiler makes of them, as those of atomics do."""


class Metric(NamedTuple):
    name: str
    """As `ncu --metrics` takes it; of a quotient of two, both."""
    value: float


def metrics(kernel: KernelFacts, launch: int) -> Iterator[Metric]:
    """Those that cudalint has a figure for: of each memory the loads and the stores together, if it is known of all of
    them what they ask for; and the occupancy."""
    for memory in ("global", "shared"):
        for operation, short in _OPERATIONS.items():
            results = [
                result
                for access in kernel.accesses
                if access.space == memory and access.operation == operation
                for result in access.results
                if result.launch == launch and result.status != "unreached"
            ]
            found = _mean([_asked(result, memory) for result in results])
            if found is not None:
                yield Metric(_name(memory, short), found)
    occupancy = kernel.occupancy_of(launch)
    if occupancy is not None and occupancy.occupancy is not None and kernel.resources.registers is not None:
        yield Metric("sm__maximum_warps_per_active_cycle_pct", 100 * occupancy.occupancy)


def _name(memory: str, operation: str) -> str:
    if memory == "global":
        return f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{operation}.ratio"
    return (
        f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{operation}.sum / "
        f"smsp__inst_executed_op_shared_{operation}.sum"
    )


def _asked(result: AccessResult, memory: str) -> tuple[float | None, float | None]:
    figure = result.sectors_per_request if memory == "global" else result.wavefronts_per_request
    return figure, result.usual_requests if result.usual_requests is not None else result.requests


def _mean(asked: list[tuple[float | None, float | None]]) -> float | None:
    """Of all requests; None where that is not known."""
    figures = {figure for figure, _ in asked}
    if len(figures) == 1:
        return next(iter(figures))
    known = [(figure, number) for figure, number in asked if figure is not None and number is not None]
    requests = sum(number for _, number in known)
    if len(known) < len(asked) or not requests:
        return None
    return sum(figure * number for figure, number in known) / requests
