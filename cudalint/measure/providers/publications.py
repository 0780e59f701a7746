"""Flags that are set before what they announce is written."""

from __future__ import annotations

from typing import ClassVar

from cudalint.facts import Place
from cudalint.facts.orders import Publication
from cudalint.kinds import Kind
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.publications import early_publications


class PublicationCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "publications"
    into: ClassVar[str] = "publications"

    def add(self, run: Run) -> None:
        trace = run.executed.trace
        if not run.subject.is_whole or run.subject.function.is_template_pattern:
            return
        for early in early_publications(run.executed.seen):
            event = early.event
            # A helper sets any flag: it is the call that comes too early.
            node, stack = (event.stack[-1], ()) if event.stack else (event.node, ())
            found = Publication(
                Place(*node.span), frames_of(stack), event.allocation.name, run.index,
                trace.lanes.thread_of(early.lane), Place(*early.written.node.span), early.written.allocation.name,
                "barrier",
            )  # fmt: skip
            self.note(found.place, found)
