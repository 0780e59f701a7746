"""The loads of constant memory whose lanes want different words, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from msgspec import field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import Sites, note
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.views import LaunchView
from cudalint.facts import KernelFacts
from cudalint.facts.constants import ConstantLoad, ConstantResult
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import AccessEvent
from cudalint.kinds import Kind

_WORD = 4


class ConstantCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "constants"
    _sites: Sites[ConstantResult] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        view = run.execution.view
        for event in run.execution.events:
            if run.execution.deadline.is_over():
                return
            if not isinstance(event, AccessEvent) or event.target.space != "constant" or event.operation != "load":
                continue
            found = _turns(event, view)
            if found is None:
                continue
            requests = run.meter.executions(event.context.loops, event.context.conditions)
            if requests.by_data:
                continue
            result = ConstantResult(view.index, *found, requests.warps, view.assumptions)
            note(self._sites, event, result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (
            ConstantLoad(site.place, site.event.target.name, site.frames, tuple(site.results))
            for site in self._sites.values()
        )
        return replace(facts, constants=tuple(sorted(found, key=lambda each: each.place)))


def _turns(event: AccessEvent, view: LaunchView) -> tuple[float, int] | None:
    """How many different words a warp wants, on average and at most; None where data decides, or it is always one."""
    if event.offset.bits & view.graph.opaque_bits:
        return None
    situation = view.quick()
    rows = situation.rows(event.context.loops)
    shape = (rows.count, situation.threads.warps, WARP_LANES)
    mask = rows.mask(dependence(event.context, event.offset, view.graph).known).reshape(shape)
    words = rows.integers(event.offset).reshape(shape) // _WORD
    sorted_words = np.sort(np.where(mask, words, np.iinfo(np.int64).max), axis=2)
    lanes = mask.sum(axis=2)
    # What is not active is behind all others.
    new = (np.diff(sorted_words, axis=2) != 0) & (np.arange(1, WARP_LANES) < lanes[:, :, None])
    turns = np.where(lanes > 0, 1 + new.sum(axis=2), 0)
    weights = rows.weights[:, None] * (lanes > 0)
    if turns.max() < 2 or not weights.any():
        return None
    return float(np.average(turns, weights=weights)), int(turns.max())
