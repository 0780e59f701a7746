"""The barrier facts of a kernel, collected launch by launch, and its warp functions of old, without a mask of the lanes
that take part (`__shfl`, `__any`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set
from math import prod
from typing import ClassVar

from msgspec import field
from msgspec.structs import replace

from cudalint.execute.trace import Stack
from cudalint.facts import AbsentLane, Barrier, BarrierKind, BarrierResult, Frame, KernelFacts, Place, UnmaskedCall
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import builtin
from cudalint.ir.walk import nodes_in, walk, without_casts
from cudalint.kinds import Kind
from cudalint.launches.variants import not_with
from cudalint.measure.absent_lanes import absent_sources
from cudalint.measure.barriers import Arrival, Arrivals, BarrierSite
from cudalint.measure.executed import Executed
from cudalint.measure.places import frames_of, functions_in, reference_of
from cudalint.measure.providers.provider import Provider, Run, Subject, keep
from cudalint.measure.redundant import redundant_barriers
from cudalint.options.limits import MAX_THREADS

_Site = tuple[Place, tuple[Frame, ...], BarrierKind]


class BarrierCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "barriers"
    _sites: dict[_Site, tuple[BarrierSite, bool, str, list[BarrierResult]]] = field(default_factory=dict)
    """With whether a barrier is implied, and the function that it is in."""
    _unmasked: dict[Place, UnmaskedCall] = field(default_factory=dict)
    _absent: dict[tuple[Place, tuple[Frame, ...]], AbsentLane] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        self._add(run)
        if run.launch.block_is_made_up:
            self._with_own_strides(run)

    def add_last(self, run: Run) -> None:
        self._drop(run.index, _redundant(run))

    def finish(self, subject: Subject) -> None:
        for node, stack in unmasked_calls(subject.function):
            call = UnmaskedCall(Place(*node.span), node.name, frames_of(stack))
            self._unmasked.setdefault(call.place, call)

    def _add(self, run: Run) -> None:
        arrivals = _arrivals(run.executed, run.free)
        for each in absent_sources(run.executed.trace, run.executed.batch):
            place, frames = Place(*each.node.span), frames_of(each.stack)
            found = AbsentLane(
                place, frames, run.index, each.thread, each.source, each.block, Place(*each.used.span), each.size,
                run.launch.assumptions,
            )  # fmt: skip
            keep(self._absent, (place, frames), found)
        for site, events in arrivals.sites.items():
            reference = reference_of(site.stack[0]) if site.stack else None
            function = (reference.load() if reference is not None else None) or run.executed.function
            key = _key(site)
            # Named barriers of inline PTX are for a part of the block: who doesn't come says nothing against them.
            is_implied = events[0].is_implied or (site.kind == "named" and isinstance(site.node, st.Asm))
            known = self._sites.setdefault(key, (site, is_implied, function.name, []))
            self._note(known[3], _result(arrivals.at(site), run.index))

    @staticmethod
    def _note(results: list[BarrierResult], result: BarrierResult) -> None:
        """Keeps the worst of a launch."""
        for position, known in enumerate(results):
            if known.launch == result.launch:
                results[position] = min(known, result, key=lambda each: _WORST_FIRST.index(each.verdict))
                return
        results.append(result)

    def _with_own_strides(self, run: Run) -> None:
        """A kernel whose loops go on by 128 is meant for blocks of 128 threads: barriers under a block that was made up
        are divergent only if they are so with that one, too."""
        for threads in sorted(self._strides(run)):
            if WARP_LANES <= threads <= MAX_THREADS and threads != prod(run.configuration.block):
                again = run.with_block((threads, 1, 1))
                self._confirm(_arrivals(again, run.free), run.index, again)

    def _strides(self, run: Run) -> set[int]:
        """By how much the loops go on in which a barrier is divergent."""
        seen = run.executed.seen
        found: set[int] = set()
        for site, _, _, results in self._sites.values():
            if any(result.launch == run.index and result.verdict == "divergent" for result in results):
                for guard in seen.ways.guards_of(site.node, site.stack):
                    if guard.loop is not None and seen.origins_of(guard).by_thread:
                        found.update(_steps(guard.loop))
        return found

    def _confirm(self, arrivals: Arrivals, launch: int, again: Executed) -> None:
        """Keeps those barriers of a launch divergent that are so with another block too."""
        divergent = {_key(site) for site in arrivals.sites if arrivals.at(site).verdict == "divergent"}
        for key, (_, _, _, results) in self._sites.items():
            for position, result in enumerate(results):
                if result.launch == launch and result.verdict == "divergent" and key not in divergent:
                    results[position] = BarrierResult(launch, "unknown", not_with(again.batch.block))

    def _drop(self, launch: int, places: Collection[ir.Span]) -> None:
        """Marks barriers of the kernel's own body that order nothing under a launch."""
        for site, _, _, results in self._sites.values():
            for position, result in enumerate(results):
                is_uniform = result.launch == launch and result.verdict == "uniform"
                if is_uniform and not site.stack and site.node.span in places:
                    results[position] = replace(result, redundant=True)

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        unmasked = sorted(self._unmasked.values(), key=lambda call: call.place)
        absent = sorted(self._absent.values(), key=lambda each: (each.place, each.inlined_from))
        return replace(
            facts, barriers=self._facts(), unmasked_calls=tuple(unmasked), absent_lanes=tuple(absent)
        )

    def _facts(self) -> tuple[Barrier, ...]:
        """The barriers of the source, and warp functions whose mask names lanes that don't come. Which of them order
        nothing is known only where all threads come to every barrier: what a divergent one lets pass, others may hold.
        """
        found = [
            Barrier(place, function, frames, kind, tuple(results), implied)
            for (place, frames, kind), (_, implied, function, results) in self._sites.items()
        ]
        if not all(map(_is_met_by_all, found)):
            found = [
                replace(barrier, results=tuple(replace(result, redundant=False) for result in barrier.results))
                for barrier in found
            ]
        found = [b for b in found if not b.is_implied or any(r.verdict == "divergent" or r.parting for r in b.results)]
        return tuple(sorted(found, key=lambda b: (b.place, b.inlined_from, b.kind)))


_WORST_FIRST = ("divergent", "unknown", "uniform")


def _arrivals(executed: Executed, free: Set[str]) -> Arrivals:
    return Arrivals(executed.seen, executed.batch, free)


def _key(site: BarrierSite) -> _Site:
    return Place(*site.node.span), frames_of(site.stack), site.kind


def _result(arrival: Arrival, launch: int) -> BarrierResult:
    return BarrierResult(
        launch, arrival.verdict, arrival.reason, arrival.size, returned=arrival.returned, tail=arrival.tail,
        unnamed=arrival.unnamed, leaving=arrival.leaving, missing=arrival.missing,
        reason_kind="data" if arrival.by_data else "other", parting=arrival.parting,
        source=arrival.source,
    )  # fmt: skip


def _redundant(run: Run) -> set[ir.Span]:
    """The barriers that order nothing, with other arguments and blocks either."""
    subject = run.subject
    if not subject.is_whole or run.launch.block_is_made_up:
        return set()
    found = redundant_barriers(run.executed)
    if not found or not run.may_be_tried():
        return set()
    return found & redundant_barriers(run.elsewhere())


def _steps(loop: st.Stmt) -> Iterator[int]:
    """By how much a loop's counter goes on: `i += 128`."""
    increment = loop.increment if isinstance(loop, st.For) else None
    for node in walk(increment) if increment is not None else ():
        if isinstance(node, ir.Assign) and node.op == "+":
            value = without_casts(node.value)
            if isinstance(value, ir.Constant) and isinstance(value.value, int):
                yield value.value


def _is_met_by_all(barrier: Barrier) -> bool:
    """Whether all threads of the block come to a barrier for certain, under all launches; one of a warp orders but its
    own lanes."""
    return barrier.kind == "syncwarp" or all(result.verdict == "uniform" for result in barrier.results)


# --- warp functions without a mask ---------------------------------------------------------------------


_UNMASKED = ("shuffle", "unmasked-vote")


def unmasked_calls(kernel: ir.Function) -> Iterator[tuple[ir.Call, Stack]]:
    """Those of a kernel and of what it calls, each once, with the calls that lead there."""
    for function, stack in functions_in(kernel):
        for node in nodes_in(function):
            is_of_old = isinstance(node, ir.Call) and builtin(node.name).effect in _UNMASKED
            if is_of_old and (node.function is None or node.function.load() is None):
                yield node, stack
