"""Accesses to the shared memory of other blocks that no barrier of the cluster orders."""

from __future__ import annotations

from typing import ClassVar

from cudalint.facts import Place
from cudalint.facts.clusters import ClusterRace
from cudalint.kinds import Kind
from cudalint.measure.clusters import unordered
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Run, SiteProvider


class ClusterRaceCollector(SiteProvider, eq=False):
    """Says nothing of kernels that are not known in full: the barrier may be in what is missing."""

    kind: ClassVar[Kind] = "cluster_races"
    into: ClassVar[str] = "cluster_races"

    def add(self, run: Run) -> None:
        if not run.subject.is_whole or run.subject.function.is_template_pattern:
            return
        for each in unordered(run.executed.trace):
            event, own = each.event, each.own
            found = ClusterRace(
                each.kind, Place(*event.node.span), frames_of(event.stack), event.operation, event.allocation.name,
                run.index, Place(*own.node.span) if own is not None else None,
                own.operation if own is not None else None, run.configuration.assumptions,
            )  # fmt: skip
            self.note((found.kind, found.place, found.other), found)
