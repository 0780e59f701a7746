"""What a warp waits for, one after the other: loads, barriers, and results that take long."""

from __future__ import annotations

import math
from collections.abc import Mapping

from cudalint.execute.trace import Site, Trace
from cudalint.facts.costs import Waits
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.measure.distinct import executions_in
from cudalint.measure.requests import AccessSite
from cudalint.measure.work.counts import Laid, Work
from cudalint.measure.work.lengths import Lengths, Requests

_OVERLAP = 4
"""Iterations whose loads are under way together: loops are unrolled mostly by four."""


def stops(trace: Trace, lengths: Lengths, warps: float, world: int = 0) -> Mapping[ir.Span, float]:
    """How often a warp waits at each barrier of the source, on average."""
    found: dict[ir.Span, float] = {}
    for event in trace.barriers:
        if event.is_implied:
            continue
        executed = executions_in(world, event.mask, event.weight, trace.lanes)
        times = executed * lengths.share(event.node, event.stack) / warps
        found[event.node.span] = found.get(event.node.span, 0.0) + times
    return found


def waits(
    requests: Mapping[AccessSite, Requests], trace: Trace, lengths: Lengths, laid: Laid, work: Work,
    warps: float, stops: Mapping[ir.Span, float],
) -> Waits:  # fmt: skip
    """On average over the warps of a launch, of which there are `warps`."""
    stopped = {
        loop for event in trace.barriers if not event.is_implied
        for loop in lengths.nests.around(event.node, event.stack)
    }  # fmt: skip
    by_data = {(each.node, each.stack) for each in trace.left_out if each.reason == "turns by data"}
    nests: dict[tuple[bool, tuple[Site, ...]], list[tuple[float, bool]]] = {}
    for site, own in requests.items():
        if site.operation == "store" or site.space not in ("global", "shared"):
            continue
        nest = lengths.nests.around(site.node, site.stack)
        # What the compiler lays out turn by turn is under way together.
        rolled = tuple(loop for loop in nest if loop in laid.tests)
        unrolled = math.prod(max(1.0, lengths.turns(loop)) for loop in nest if loop not in laid.tests)
        nests.setdefault((site.space == "shared", rolled), []).append((own.number / unrolled, own.by_data))
    rounds = [0.0, 0.0]
    for (is_shared, nest), group in nests.items():
        times = max(number for number, _ in group) / warps
        depends = any(by_data for _, by_data in group)
        is_open = depends or any((loop.statement, loop.stack) in by_data for loop in nest[-1:])
        if nest and not is_open and nest[-1] not in stopped:
            times /= _OVERLAP
        rounds[is_shared] += times * (2 if depends and len(group) > 1 else 1)
    long = work.operations["special"] + work.operations["fp64"] / 2
    return Waits(
        work.total / warps, rounds[0], rounds[1], math.fsum(stops.values()), long / (warps * WARP_LANES)
    )  # fmt: skip
