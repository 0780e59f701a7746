"""Loads in loops whose elements several threads of a block want at once, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from msgspec import field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run, Subject
from cudalint.collect.sites import Sites, note
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.work.memory import Plan, is_placed, plan_of
from cudalint.facts import KernelFacts
from cudalint.facts.reuse import Reuse, ReuseResult
from cudalint.frontend.source_text import Spellings
from cudalint.hardware.requests import distinct
from cudalint.interpreter.device.events import AccessEvent, Nest
from cudalint.kinds import Kind


class ReuseCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "reuse"
    spellings: Spellings
    _sites: Sites[ReuseResult] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(Spellings(subject.options))

    def add(self, run: Run) -> None:
        if run.execution.deadline.is_over():
            return
        view = run.execution.view
        plans: dict[Nest, Plan] = {}
        for event in run.machine:
            context = event.context
            is_load = event.operation == "load" and event.target.space == "global" and event.left_out is None
            if not is_load or not context.loops or event.offset.bits & view.graph.opaque_bits:
                continue
            plan = plans.get(context.nest)
            if plan is None:
                plan = plans[context.nest] = plan_of(view, context.loops)
            if not is_placed(event, plan.rows):
                continue
            found = _shared_in(event, plan)
            if found is None:
                continue
            threads, elements, trips = found
            executions = run.meter.executions(context.loops, context.conditions).warps
            result = ReuseResult(view.index, threads, elements, trips, executions, view.assumptions)
            note(self._sites, event, result)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        found = (
            Reuse(
                site.place, site.event.target.name, self.spellings.of(site.place), site.frames, tuple(site.results)
            )
            for site in self._sites.values()
        )  # fmt: skip
        return replace(facts, reuse=tuple(sorted(found, key=lambda each: each.place)))


def _shared_in(event: AccessEvent, plan: Plan) -> tuple[float, float, float] | None:
    """How many lanes load each element in one iteration of the loops around, how many elements that are, and how often
    the innermost loop comes to others; None for what stays the same from one iteration to the next."""
    mask = plan.rows.mask(dependence(event.context, event.offset, plan.rows.graph).known)
    if not mask[0].any():
        return None
    elements = plan.rows.integers(event.offset) // event.bytes
    own = distinct(np.sort(elements[0][mask[0]]))
    innermost = next((level for level in plan.levels if not level.is_grid), None)
    if innermost is None or innermost.count < 2:
        return None
    moved = innermost.rows
    others = elements[moved][mask[moved]]
    if not len(np.setdiff1d(others, own)):
        return None
    return float(mask[0].sum() / len(own)), float(len(own)), innermost.count
