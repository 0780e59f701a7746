"""`facts` for people: one table per kernel and launch, one row per access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.facts import (
    REGISTER_CEILINGS,
    Access,
    AccessResult,
    FileFacts,
    KernelFacts,
    LeftOutLaunches,
    MostByEstimate,
    Occupancy,
    Resources,
)
from cudalint.numerals import count, enumeration, figure
from cudalint.report.formats import costs, wording
from cudalint.report.formats.profiler import metrics
from cudalint.report.formats.style import Look, Style
from cudalint.report.formats.without_kernels import problem_lines, without_kernels

_HEADINGS = ("line", "array", "access", "sectors/ideal", "wavefronts/ideal", "ways", "lanes", "status")
_RIGHT_ALIGNED = frozenset({0, 3, 4, 5, 6})

_LOOK_OF_STATUS: dict[str, Look] = {"exact": "green", "assumed": "green", "unreached": "dim"}

Row = tuple[str, ...]


def render(facts: FileFacts, style: Style) -> Iterator[str]:
    if not facts.kernels:
        yield from without_kernels(facts, style)
        yield ""
        return
    yield from problem_lines(facts, style)
    for kernel in facts.kernels:
        yield from _kernel(kernel, style)


def _kernel(kernel: KernelFacts, style: Style) -> Iterator[str]:
    place = f"{kernel.place.path}:{kernel.place.line}"
    by_text: dict[tuple[str, ...], list[str]] = {}
    for index, launch in enumerate(kernel.launches):
        lines = tuple(_under_launch(kernel, index, style))
        by_text.setdefault(lines, []).append(wording.launch_phrase(launch))
    for lines, (first, *others) in by_text.items():
        yield f"{style.paint(place, 'bold')}: {style.paint(kernel.instantiation, 'cyan')}, for {first}"
        yield from (f"  the same for {other}" for other in others)
        yield from lines
    yield from (f"  {each.path}:{each.line}: {_left_out(each)}" for each in kernel.left_out)
    for gap in kernel.gaps:
        remedy = f" ({gap.remedy})" if gap.remedy else ""
        yield f"  {gap.path}:{gap.line}: not analysed: {gap.reason}{remedy}"
    yield ""


def _under_launch(kernel: KernelFacts, index: int, style: Style) -> Iterator[str]:
    """What a launch is taken for, and the figures under it."""
    launch = kernel.launches[index]
    if launch.assumptions:
        yield f"  assumed: {', '.join(launch.assumptions)}"
    if launch.recorded_us:
        yield f"  {costs.recorded(launch)}{_as_modelled(kernel, index)}"
    yield from (f"  {occupancy_phrase(o, kernel.resources)}" for o in kernel.occupancy or () if o.launch == index)
    rows = [
        (_row(access, result), result)
        for access in kernel.accesses
        for result in access.results
        if result.launch == index
    ]
    if "accesses" in kernel.collected:
        yield from _table(rows, style)
        yield from _in_a_profile(kernel, index, style)


def _in_a_profile(kernel: KernelFacts, index: int, style: Style) -> Iterator[str]:
    found = list(metrics(kernel, index))
    if found:
        yield style.paint("  in a profile of ncu", "dim")
        width = max(len(metric.name) for metric in found)
        yield from (f"    {metric.name.ljust(width)}  {figure(metric.value)}" for metric in found)


def _as_modelled(kernel: KernelFacts, index: int) -> str:
    """`; about 9.8 us as the time model has it, bound by DRAM`; empty where it has no time."""
    found = next((cost for cost in kernel.costs or () if cost.launch == index and cost.time_us), None)
    if found is None or not found.time_us:
        return ""
    as_modelled = "" if found.is_nominal else " as the time model has it"
    return f"; {costs.estimated(found)}{as_modelled}, {costs.bound_by(found.bound)}"


def _left_out(launches: LeftOutLaunches) -> str:
    number = count(launches.launches, "more launch", "more launches")
    least = "at least " if launches.is_least else ""
    return f"not evaluated: {least}{number} there, with other grids or arguments"


def occupancy_phrase(occupancy: Occupancy, resources: Resources) -> str:
    """`occupancy 75%: 6 blocks, 48 warps per SM, limited by registers (40 per thread, from ptxas)`."""
    if occupancy.obstacles:
        return f"no block fits on an SM: {'; '.join(occupancy.obstacles)}"
    fits: Occupancy | MostByEstimate = occupancy
    most = occupancy.most
    if most is not None and most.blocks_per_sm < (occupancy.blocks_per_sm or 0):
        fits = most
        registers = f"at least about {most.registers} for each thread, estimated; --ptxas counts them"
    elif resources.registers is None:
        registers = "registers unknown"
    else:
        at_most = "at most " if resources.registers_source in REGISTER_CEILINGS else ""
        registers = f"{at_most}{resources.registers} registers, from {resources.registers_source}"
    if resources.stack_bytes:
        registers += f"; {resources.stack_bytes} bytes of local memory per thread"
    if resources.spill_store_bytes or resources.spill_load_bytes:
        registers += f", {resources.spill_store_bytes} spilled and {resources.spill_load_bytes} loaded again"
    at_most = "" if fits is occupancy else "at most about "
    share = f"occupancy {at_most}{100 * (fits.occupancy or 0):.0f}%"
    limiters = enumeration([limiter.replace("_", " ") for limiter in fits.limiters])
    blocks = count(fits.blocks_per_sm or 0, "block")
    return f"{share}: {blocks}, {fits.warps_per_sm} warps per SM, limited by {limiters} ({registers})"


def _row(access: Access, result: AccessResult) -> Row:
    status = f"{result.status}: {result.reason}" if result.reason else result.status
    if result.assumptions:
        status = f"{status} ({', '.join(result.assumptions)})"
    return (
        str(access.place.line),
        access.array,
        f"{access.space} {access.operation}, {access.bytes} B",
        _ratio(result.sectors_per_request, result.sectors_range, result.ideal_sectors),
        _ratio(result.wavefronts_per_request, result.wavefronts_range, result.ideal_wavefronts),
        "" if result.conflict_ways is None else figure(result.conflict_ways),
        "" if result.active_lanes is None else figure(result.active_lanes),
        status,
    )


def _ratio(actual: float | None, bounds: tuple[float, float] | None, ideal: float | None) -> str:
    if actual is None and bounds is None:
        return ""
    if actual is not None:
        text = figure(actual)
    else:
        assert bounds is not None
        text = f"{figure(bounds[0])}..{figure(bounds[1])}"
    return text if ideal is None else f"{text}/{figure(ideal)}"


def _table(rows: Sequence[tuple[Row, AccessResult]], style: Style) -> Iterator[str]:
    if not rows:
        yield "  no accesses"
        return
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *(row for row, _ in rows), strict=True)]
    yield style.paint(_aligned(_HEADINGS, widths), "dim")
    for row, result in rows:
        line = _aligned(row, widths)
        status_start = len(line.rstrip()) - len(row[-1])
        look = _LOOK_OF_STATUS.get(result.status, "yellow")
        yield line[:status_start] + style.paint(row[-1], look)


def _aligned(row: Row, widths: Sequence[int]) -> str:
    cells = (
        cell.rjust(width) if index in _RIGHT_ALIGNED else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return f"  {'  '.join(cells)}".rstrip()
