"""The barrier facts of a kernel, collected launch by launch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.collect.provider import Provider, Run
from cudalint.collect.sites import frames_of
from cudalint.concurrency.barriers import verdict
from cudalint.concurrency.redundancy import redundant_barriers
from cudalint.concurrency.trial import Trial, trial_of
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import Barrier, BarrierKind, BarrierResult, Frame, KernelFacts, Place, UnmaskedCall
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import BarrierEvent, Loop, UnmaskedEvent
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.launches.variants import another_use, not_with
from cudalint.options.limits import MAX_THREADS
from cudalint.values.nodes import THREAD_BITS, below

_WORST_FIRST = ("divergent", "unknown", "uniform")
_MAX_EVENTS = 24
"""Executions of one barrier (by unrolling and inlining) that are looked at; the rest behave alike."""


_Site = tuple[ir.Span, tuple[ir.Span, ...], BarrierKind]
"""A place with the calls that lead to it."""


class BarrierCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "barriers"
    _sites: dict[_Site, tuple[BarrierEvent, list[BarrierResult]]] = field(default_factory=dict)
    _unmasked: dict[Place, UnmaskedCall] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        self._add(run.execution, run.trial)
        if run.execution.launch.block_is_made_up:
            self._with_own_strides(run)

    def add_last(self, run: Run) -> None:
        self._drop(run.index, _redundant(run))

    def _with_own_strides(self, run: Run) -> None:
        """A kernel whose loops go on by 128 is meant for blocks of 128 threads: barriers under a block that was made up
        are divergent only if they are so with that one, too."""
        for threads in sorted(self._strides(run.execution)):
            if WARP_LANES <= threads <= MAX_THREADS and threads != prod(run.configuration.block):
                again = run.subject.again(run.index, replace(run.configuration, block=(threads, 1, 1)))
                self._confirm(again, trial_of(again))

    def _add(self, execution: Execution, trial: Trial) -> None:
        for event in execution.events:
            if isinstance(event, UnmaskedEvent):
                call = UnmaskedCall(Place(*event.context.span), event.name, _frames(event))
                self._unmasked.setdefault(call.place, call)
        for key, events in _sites(execution).items():
            _, results = self._sites.setdefault(key, (events[0], []))
            results.append(self._worst(events, execution, trial))

    def _strides(self, execution: Execution) -> set[int]:
        """By how much the loops go on in which a barrier is divergent."""
        launch = execution.view.index
        divergent = {
            key for key, (_, results) in self._sites.items()
            if any(result.launch == launch and result.verdict == "divergent" for result in results)
        }  # fmt: skip
        events = (event for key, found in _sites(execution).items() if key in divergent for event in found)
        return {step for event in events for loop in event.context.loops for step in _steps(loop)}

    def _confirm(self, execution: Execution, trial: Trial) -> None:
        """Keeps those barriers of a launch divergent that are so with another block too."""
        launch, sites = execution.view.index, _sites(execution)
        reason = not_with(execution.view.block)
        for key, (_, results) in self._sites.items():
            for position, result in enumerate(results):
                if result.launch != launch or result.verdict != "divergent":
                    continue
                if self._worst(sites.get(key, ()), execution, trial).verdict != "divergent":
                    results[position] = BarrierResult(launch, "unknown", reason)

    def _drop(self, launch: int, places: Collection[ir.Span]) -> None:
        """Marks barriers of the kernel's own body that order nothing under a launch."""
        for (span, *_), (_, results) in self._sites.items():
            for position, result in enumerate(results):
                if result.launch == launch and result.verdict == "uniform" and span in places:
                    results[position] = replace(result, redundant=True)

    def _worst(self, events: Sequence[BarrierEvent], execution: Execution, trial: Trial) -> BarrierResult:
        found = [self._verdict(event, execution, trial) for event in events[:_MAX_EVENTS]]
        nowhere = BarrierResult(execution.view.index, "unknown", "it is not reached")
        return min(found, key=lambda result: _WORST_FIRST.index(result.verdict), default=nowhere)

    @staticmethod
    def _verdict(event: BarrierEvent, execution: Execution, trial: Trial) -> BarrierResult:
        if trial.is_over():
            return BarrierResult(execution.view.index, "unknown", "there is too much to look at")
        return verdict(event, trial, execution)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        unmasked = sorted(self._unmasked.values(), key=lambda call: call.place)
        return replace(facts, barriers=self._facts(), unmasked_calls=tuple(unmasked))

    def _facts(self) -> tuple[Barrier, ...]:
        """The barriers of the source, and warp functions whose mask names lanes that don't come. Which of them order
        nothing is told where all threads come to every barrier: what a divergent one lets pass, others may hold up."""
        found = [_barrier(event, tuple(results)) for event, results in self._sites.values()]
        if not all(map(_is_met_by_all, found)):
            found = [
                replace(barrier, results=tuple(replace(result, redundant=False) for result in barrier.results))
                for barrier in found
            ]
        found = [b for b in found if not b.is_implied or any(r.verdict == "divergent" for r in b.results)]
        return tuple(sorted(found, key=lambda b: (b.place, b.inlined_from, b.kind)))


def _redundant(run: Run) -> set[ir.Span]:
    """The barriers that order nothing, with other arguments and blocks either."""
    subject = run.subject
    found = redundant_barriers(run.execution, run.trial) if subject.is_whole else set()
    if found:
        again = subject.again(run.index, another_use(run.configuration, subject.function, subject.graph))
        found &= redundant_barriers(again, trial_of(again))
    return found


def _sites(execution: Execution) -> dict[_Site, list[BarrierEvent]]:
    found: dict[_Site, list[BarrierEvent]] = {}
    for event in execution.events:
        if isinstance(event, BarrierEvent) and event.part != "arrive" and not _is_librarys(event):
            found.setdefault((event.context.span, event.context.frames, event.kind), []).append(event)
    return found


def _steps(loop: Loop) -> Iterator[int]:
    """What the counter of a loop is multiplied with, where its end also depends on the thread: `i += 128`."""
    if not loop.condition.bits & THREAD_BITS:
        return
    for node in below((loop.condition,), loop.counter.bits):
        if node.op == "*" and loop.counter.bits & node.bits:
            yield from (int(part.value) for part in node.args if part.is_const)


def _is_librarys(event: BarrierEvent) -> bool:
    """The barrier is one inside of a library's function."""
    return event.implied and event.scope != "warp" and event.kind != "named"


def _is_met_by_all(barrier: Barrier) -> bool:
    """Whether all threads of the block come to a barrier for certain, under all launches; one of a warp orders but its
    own lanes."""
    return barrier.kind == "syncwarp" or all(result.verdict == "uniform" for result in barrier.results)


def _barrier(event: BarrierEvent, results: tuple[BarrierResult, ...]) -> Barrier:
    place, context = Place(*event.context.span), event.context
    return Barrier(place, context.function, _frames(event), event.kind, results, event.implied)


def _frames(event: BarrierEvent | UnmaskedEvent) -> tuple[Frame, ...]:
    return frames_of(event.context.frames)
