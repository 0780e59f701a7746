"""What is compared of one launch of a kernel: figures with their names, as gates and JSON have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from cudalint.facts import REGISTER_CEILINGS, KernelFacts, LaunchCost
from cudalint.numerals import figure
from cudalint.report.formats.costs import duration

Figures = Mapping[str, float | None]
"""By name; None where it isn't known."""
_SAME: Final = 0.005
"""By which part figures may differ and be the same: times are sums of many."""


class Kind(NamedTuple):
    """How a figure is shown, and what a gate compares with a plain number."""

    title: str
    shown: Callable[[float], str]
    is_relative: bool = False
    """A plain number is a multiple of the base's, as for counts that grow with the size of the problem."""
    better: Literal["less", "more"] | None = "less"
    """None for what is a means: what registers and shared memory do, occupancy and time say."""


def _bytes(value: float) -> str:
    return f"{figure(value / 1024)} KiB" if value >= 1024 and value % 256 == 0 else f"{figure(value)} B"


def _megabytes(value: float) -> str:
    return f"{figure(value / 1e6)} MB"


def _share(value: float) -> str:
    return f"{100 * value:.0f}%"


KINDS: Final[Mapping[str, Kind]] = {
    "time": Kind("time", duration, is_relative=True),
    "time_us": Kind("time", duration),
    "registers": Kind("registers", figure, better=None),
    "spills": Kind("spilled registers", _bytes),
    "stack": Kind("stack frame", _bytes),
    "shared": Kind("shared memory", _bytes, better=None),
    "occupancy": Kind("occupancy", _share, better="more"),
    "blocks_per_sm": Kind("blocks per SM", figure, better="more"),
    "sectors_per_request": Kind("sectors per request", figure),
    "wavefronts_per_request": Kind("wavefronts per request", figure),
    "requests": Kind("global requests", figure, is_relative=True),
    "sectors": Kind("sectors", figure, is_relative=True),
    "shared_requests": Kind("shared requests", figure, is_relative=True),
    "wavefronts": Kind("wavefronts", figure, is_relative=True),
    "instructions": Kind("instructions", figure, is_relative=True),
    "dram": Kind("DRAM traffic", _megabytes, is_relative=True),
    "findings": Kind("findings", figure),
    "new_findings": Kind("new findings", figure),
}
"""In the order in which tables show them. Those of findings are of the kernel, the others of the launch."""
OF_FINDINGS: Final = ("findings", "new_findings")
SHOWN: Final = tuple(name for name in KINDS if name not in (*OF_FINDINGS, "time_us"))


def figures_of(kernel: KernelFacts, launch: int) -> dict[str, float | None]:
    """All but those of findings."""
    return dict(_figures(kernel, launch))


def _figures(kernel: KernelFacts, launch: int) -> Iterator[tuple[str, float | None]]:
    cost = kernel.cost_of(launch) or LaunchCost(launch, "unknown")
    fits = kernel.occupancy_of(launch)
    resources = kernel.resources
    is_count = resources.registers_source not in REGISTER_CEILINGS
    static, dynamic = resources.static_shared_bytes, kernel.launches[launch].dynamic_shared_bytes
    yield from (("time", cost.time_us), ("time_us", cost.time_us))
    yield "registers", resources.registers if is_count else None
    stores, loads = resources.spill_store_bytes, resources.spill_load_bytes
    yield from (("spills", None if stores is None else stores + (loads or 0)), ("stack", resources.stack_bytes))
    yield "shared", None if static is None else static + dynamic
    yield "occupancy", fits.occupancy if fits else None
    yield "blocks_per_sm", fits.blocks_per_sm if fits else None
    asked, shared = cost.requests.get("global"), cost.requests.get("shared")
    yield from (("requests", asked), ("shared_requests", shared))
    yield from (("sectors", cost.sectors), ("wavefronts", cost.wavefronts))
    yield "sectors_per_request", _mean(cost.sectors, asked)
    yield "wavefronts_per_request", _mean(cost.wavefronts, shared)
    yield from (("instructions", cost.instructions), ("dram", cost.dram_bytes))


def _mean(amount: float | None, requests: float | None) -> float | None:
    """Where nothing is asked for, nothing is needed."""
    if requests is None or amount is None:
        return None
    return amount / requests if requests else 0.0


def differ(old: float | None, new: float | None) -> bool:
    if old is None or new is None:
        return old is not new
    return abs(old - new) > _SAME * max(abs(old), abs(new))


def judgement(name: str, old: float | None, new: float | None) -> str:
    """`better` or `worse`; empty where that can't be said."""
    better = KINDS[name].better
    if old is None or new is None or better is None or not differ(old, new):
        return ""
    return "better" if (new < old) is (better == "less") else "worse"


def change(name: str, old: float | None, new: float | None) -> str:
    """`1.5x`, `+16`, `-2 KiB`; empty where one of them isn't known."""
    if old is None or new is None:
        return ""
    kind = KINDS[name]
    if kind.is_relative or name == "time_us":
        return f"{figure(new / old)}x" if old else ""
    sign = "+" if new >= old else "-"
    return f"{sign}{kind.shown(abs(new - old))}"
