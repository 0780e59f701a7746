"""The pictures at the head of a kernel: its roofline, its limits, its occupancy, and its block."""

from __future__ import annotations

import math
from collections.abc import Iterator

from markupsafe import Markup

from cudalint.facts import LaunchCost, LaunchFacts, Occupancy
from cudalint.hardware.targets import Target
from cudalint.numerals import count
from cudalint.report.drawing.bars import Bar, bars
from cudalint.report.drawing.roofline import Spot, roofline_of
from cudalint.report.drawing.svg import Drawing
from cudalint.report.drawing.threads import by_warp
from cudalint.report.formats import costs
from cudalint.report.formats.html.requests import Pictures
from cudalint.report.formats.html.views import Figure

_LEAST = 0.005
"""Of the longest limit, what is drawn at all."""


def figures_of(
    cost: LaunchCost | None, occupancy: Occupancy | None, launch: LaunchFacts | None, target: Target, pictures: Pictures
) -> Iterator[Figure]:
    if cost is not None and cost.time_us:
        yield Figure("Limits", _inline(_limits(cost)), _limits_caption(cost, target))
        if cost.arithmetic_intensity and cost.reached_gflops:
            spots = [Spot(cost.arithmetic_intensity, cost.reached_gflops)]
            measured = cost.gflops_in(launch.recorded_us) if launch is not None else None
            if measured:
                spots.append(Spot(cost.arithmetic_intensity, measured, is_measured=True))
            caption = _below_roof(cost, target) + ("; hollow: as recorded" if measured else "")
            yield Figure("Roofline", _inline(roofline_of(target, spots)), caption)
    if occupancy is not None:
        yield Figure("Occupancy", _inline(_occupancy(occupancy)), _bound_by(occupancy, target))
    if launch is not None and math.prod(launch.block) > 1:
        drawn = by_warp(launch.block)
        yield Figure("Block", pictures.place(drawn, always=True), drawn.title)


def _inline(drawing: Drawing) -> Markup:
    return Markup(drawing.inline())  # noqa: S704  # Drawings escape their texts.


def _limits(cost: LaunchCost) -> Drawing:
    longest = max(cost.limits_us.values(), default=0.0)
    shown = sorted(((r, t) for r, t in cost.limits_us.items() if t > _LEAST * longest), key=lambda limit: -limit[1])
    # Of sizes that nothing gives the proportions are known.
    words = {r: costs.share(time / longest) if cost.is_nominal else costs.duration(time) for r, time in shown}
    figures = [Bar(costs.NAMES[r], time, words[r], r == cost.bound) for r, time in shown]
    return bars(figures, "; ".join(f"{figure.name} {figure.shown}" for figure in figures))


def _limits_caption(cost: LaunchCost, target: Target) -> str:
    text = f"what each resource of {target.name} takes alone"
    bound = next((time for resource, time in cost.limits_us.items() if resource == cost.bound), 0.0)
    if cost.limits_us.get("latency", 0.0) > bound > 0.0:
        text += f"; while warps wait, {costs.NAMES[cost.bound]} is busy for much of the time"
    return text


def _below_roof(cost: LaunchCost, target: Target) -> str:
    share = (cost.reached_gflops or 0.0) / (cost.attainable_gflops or 1.0)
    side = "memory" if (cost.arithmetic_intensity or 0.0) < target.ridge else "arithmetic"
    return f"{costs.share(min(1.0, share))} of what the roof allows, on the side of {side}"


def _occupancy(occupancy: Occupancy) -> Drawing:
    figures = [
        Bar(name.replace("_", " "), float(limit), count(limit, "block"), name in occupancy.limiters)
        for name, limit in occupancy.limits.items()
        if limit is not None
    ]
    least = min((figure.value for figure in figures), default=1.0)
    most = max(8 * least, 1.0)
    return bars(figures, "; ".join(f"{figure.name} {figure.shown}" for figure in figures), most)


def _bound_by(occupancy: Occupancy, target: Target) -> str:
    if occupancy.obstacles:
        return f"no block fits: {'; '.join(occupancy.obstacles)}"
    if occupancy.occupancy is None or occupancy.warps_per_sm is None:
        return "not known"
    names = " and ".join(limiter.replace("_", " ") for limiter in occupancy.limiters)
    text = f"{occupancy.warps_per_sm} of {target.max_warps_per_sm} warps ({100 * occupancy.occupancy:.0f}%)"
    text += f", bound by {names}" if names else ""
    if occupancy.limits.get("registers") is None and occupancy.by_registers:
        most = max(share for _, _, share in occupancy.by_registers)
        fits = max(registers for registers, _, share in occupancy.by_registers if share == most)
        text += f"; registers are not known: up to {fits} for each thread it stays so"
        if occupancy.most is not None:
            text += f"; its values take about {occupancy.most.registers} at least, estimated"
    return text
