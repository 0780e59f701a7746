"""Reads of shared memory in front of all writes, collected launch by launch."""

from __future__ import annotations

from typing import ClassVar, Self

from msgspec import field
from msgspec.structs import replace

from cudalint.facts import KernelFacts, Place
from cudalint.facts.uninitialised import Uninitialised
from cudalint.kinds import Kind
from cudalint.measure.access_places import frames_of
from cudalint.measure.providers.provider import Provider, Run, Subject
from cudalint.measure.uninitialised import first_reads


class UninitialisedCollector(Provider, eq=False):
    """Says nothing of kernels that are not known in full. In a template that nothing instantiates,
    `BlockReduce(storage).Sum(v)` may be any call."""

    kind: ClassVar[Kind] = "uninitialised"
    subject: Subject
    _found: dict[object, Uninitialised] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject)

    def add(self, run: Run) -> None:
        if not self.subject.is_whole or run.subject.function.is_template_pattern:
            return
        for each in first_reads(run.executed.trace):
            written = each.written
            found = Uninitialised(
                Place(*each.event.node.span), frames_of(each.event.stack), each.array.name, run.index, each.thread,
                each.event.operation == "atomic", Place(*written.node.span) if written is not None else None,
                run.configuration.assumptions,
            )  # fmt: skip
            self._found.setdefault((each.array.name, found.place), found)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, uninitialised=tuple(sorted(self._found.values(), key=lambda each: each.place)))
