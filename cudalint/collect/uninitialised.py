"""Reads of shared memory in front of all writes, collected launch by launch."""

from __future__ import annotations

import re
from typing import ClassVar, Self

import numpy as np
from msgspec import field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run, Subject
from cudalint.collect.sites import frames_of
from cudalint.concurrency.doubts.sizes import is_bound
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import KernelFacts, Place
from cudalint.facts.uninitialised import Uninitialised
from cudalint.frontend.source_text import Spellings
from cudalint.hardware.warps import thread_index
from cudalint.interpreter.device.events import AccessEvent, EscapeEvent, LibraryAccess, Touch
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.values.graph import conjuncts

_GOES_ON = re.compile(r"(atomic|fetch_|.*(::|\.)fetch_)(add|sub|inc|dec|max|min|and|or|xor)", re.IGNORECASE)
"""How atomics are called whose result depends on what was there; of an exchange that may be of no interest."""


class UninitialisedCollector(Provider, eq=False):
    """Says nothing of kernels that are not known in full."""

    kind: ClassVar[Kind] = "uninitialised"
    subject: Subject
    spellings: Spellings
    _found: dict[object, Uninitialised] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject, Spellings(subject.options))

    def add(self, run: Run) -> None:
        execution = run.execution
        arrays = _by_array(execution) if self.subject.is_whole else {}
        if not arrays or not _is_plain(execution):
            return
        for target, touches in arrays.items():
            first, *later = touches
            if not self._reads(first) or (target.symbol is None and target.bytes is None):
                continue
            thread = _reader(first, execution)
            if thread is None:
                continue
            written = next((each for each in later if each.operation in ("store", "async-copy")), None)
            found = Uninitialised(
                Place(*first.context.span), frames_of(first.context.frames), target.name, execution.view.index, thread,
                first.operation == "atomic", Place(*written.context.span) if written is not None else None,
                execution.view.assumptions,
            )  # fmt: skip
            self._found.setdefault((target.name, found.place), found)

    def _reads(self, touch: Touch) -> bool:
        if isinstance(touch, LibraryAccess) or touch.one_of:
            return False
        if touch.operation == "atomic":
            called = touch.made_by.name if touch.made_by is not None else self.spellings.of(Place(*touch.context.span))
            return _GOES_ON.match(called) is not None
        return touch.operation == "load" and touch.made_by is None

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, uninitialised=tuple(sorted(self._found.values(), key=lambda each: each.place)))


def _is_plain(execution: Execution) -> bool:
    """Whether nothing touches shared memory that is not seen: functions that are not followed, machine code, pointers
    that may lead anywhere. In a template that nothing instantiates, `BlockReduce(storage).Sum(v)` may be any call."""
    if not execution.complete or execution.unseen or execution.function.is_template_pattern:
        return False
    if any(isinstance(step.code, ir.Asm) for step in execution.steps):
        return False
    anywhere = (
        isinstance(event, EscapeEvent) or (isinstance(event, (AccessEvent, LibraryAccess)) and _is_anywhere(event))
        for event in execution.events
    )
    return not any(anywhere)


def _is_anywhere(touch: Touch) -> bool:
    return touch.target.space == "generic" or (touch.target.opaque is not None and touch.target.space == "shared")


def _by_array(execution: Execution) -> dict[Allocation, list[Touch]]:
    found: dict[Allocation, list[Touch]] = {}
    for event in execution.events:
        if isinstance(event, (AccessEvent, LibraryAccess)) and event.target.space == "shared":
            found.setdefault(event.target.memory, []).append(event)
    return found


def _reader(touch: Touch, execution: Execution) -> tuple[int, int, int] | None:
    """A thread that comes to a place in the first iterations of the loops around it, if none of what decides about that
    is data."""
    view, loops, graph = execution.view, touch.context.loops, execution.view.graph
    first = {loop.counter: graph.const(0, loop.counter.kind) for loop in loops}
    around = (each for loop in loops for each in (loop.condition, *loop.conditions))
    conditions = [graph.substitute(each, first) for each in dict.fromkeys((*touch.context.conditions, *around))]
    # Whatever the size is that threads stay below, there are some.
    parts = [part for each in conditions for part in conjuncts(graph, each) if not is_bound(part, graph)]
    if any(each.bits & graph.opaque_bits for each in conditions) or graph.rests_on_sizes(
        graph.conjunction(tuple(parts))
    ):
        return None
    mask = view.quick().base.mask(conditions)
    lanes = np.flatnonzero(mask.any(axis=0))
    lanes = lanes[lanes < int(np.prod(view.block))]
    if not len(lanes):
        return None
    x, y, z = thread_index(lanes[:1], view.block)
    return int(x[0]), int(y[0]), int(z[0])
