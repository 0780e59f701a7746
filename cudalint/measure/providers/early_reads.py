"""Reads of shared memory while asynchronous copies are under way."""

from __future__ import annotations

from typing import ClassVar

from cudalint.facts import Place
from cudalint.facts.copies import EarlyRead
from cudalint.kinds import Kind
from cudalint.measure.early_reads import early_reads
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Run, SiteProvider


class EarlyReadCollector(SiteProvider, eq=False):
    """Says nothing of kernels with calls and statements that are not known: the wait may be there."""

    kind: ClassVar[Kind] = "early_reads"
    into: ClassVar[str] = "early_reads"

    def add(self, run: Run) -> None:
        function, trace = run.subject.function, run.executed.trace
        if function.problems or function.is_template_pattern or trace.unread:
            return
        if any(gap.problem is not None for gap in trace.gaps):
            return
        lanes = trace.lanes
        for each in early_reads(trace):
            wait = each.wait
            found = EarlyRead(
                Place(*each.read.node.span), frames_of(each.read.stack), each.read.allocation.name, run.index,
                lanes.thread_of(each.lane), Place(*each.copy.node.span), frames_of(each.copy.stack),
                lanes.thread_of(each.copier), Place(*wait.event.node.span) if wait is not None else None,
                frames_of(wait.event.stack) if wait is not None else (),
                (wait.event.kept or 0) if wait is not None else 0, each.groups, run.configuration.assumptions,
            )  # fmt: skip
            self.note((found.place, found.copied_at, found.inlined_from, found.copied_from), found)
