"""The search for races in one execution: which accesses of which array conflict, in which situations, how certainly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct, field

from cudalint.concurrency.certainty import doubt_about
from cudalint.concurrency.conflicts import Conflict, clash
from cudalint.concurrency.doubts.doubt import Doubt
from cudalint.concurrency.doubts.guards import contradiction
from cudalint.concurrency.doubts.last_block import late_turn
from cudalint.concurrency.lanes import effect, is_one_array, memory_of
from cudalint.concurrency.outcomes import same_either_way
from cudalint.concurrency.trial import GaveUp, Trial
from cudalint.concurrency.tried_sizes import Known, is_met, situations, without_faults
from cudalint.evaluate.checks.probes import symbols
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import Benign
from cudalint.hardware.requests import WARP_LANES
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, Event, LibraryAccess, Touch
from cudalint.interpreter.device.values import UNNAMED, Allocation
from cudalint.options.analysis import RaceScope
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, render
from cudalint.values.numeric import Rows


class Finding(Struct, frozen=True, eq=False):
    """A pair of accesses that conflict."""

    array: Allocation
    conflict: Conflict
    doubt: Doubt | None
    """What it depends on; None for a certain race."""
    sizes: str = ""
    """Those under which it is there, where they are not the usual ones: `x = 185`."""
    of_element: tuple[tuple[str, int], ...] = ()
    """All those that go into the address."""
    start: int = 0
    """Bytes from the start of the memory to where the pointer leads that the kernel is given for the second access."""
    benign: Benign | None = None
    """Why the outcome of a certain race is the same in either order; None where it may differ."""
    drawn: AccessEvent | None = None
    """The atomic by which one end is the last block's and the other end is before it: only a fence is missing there."""


class Search(Struct, eq=False):
    execution: Execution
    trial: Trial
    """Its generic situation."""
    scope: RaceScope
    space: Literal["shared", "global"] | None = None
    """The only memory to look at."""
    how_sure: bool = True
    """Whether it matters how sure a conflict is; if not, all of them count that can happen at all."""
    is_wanted: Callable[[Allocation, Conflict], bool] | None = None
    """Which conflicts matter, if not all."""
    missed: list[str] = field(default_factory=list)
    """What could not be looked at, as sentences."""
    _certain: set[object] = field(default_factory=set)
    """Pairs of places that conflict for certain: how sure they are elsewhere does not matter any more."""

    def findings(self) -> list[Finding]:
        view, events = self.execution.view, self.execution.events
        groups = [group for group in arrays(events, view.graph) if self.space in (None, group[0].space)]
        found: dict[object, Finding] = {}
        if not groups:
            if self.space is None:
                self.missed += dict.fromkeys(left_out(self.execution, None))
            return []
        chosen = situations(self.execution, self.trial, groups)
        if self.space is None:
            self.missed += dict.fromkeys(left_out(self.execution, chosen))
        chosen = [without_faults(values, groups, self.execution) for values in chosen]
        for values in chosen:
            trial = self.trial if not values else self.trial.under(values)
            if values and not trial.is_launched:
                continue
            for array, touches in groups:
                self.trial.trim()
                for finding in self._in_array(trial, array, touches):
                    key = _places(array, finding.conflict)
                    known = found.get(key)
                    if known is None or _says_more(finding, known):
                        found[key] = finding
                    if finding.doubt is None and finding.benign is None and not _is_of_a_warp(finding):
                        self._certain.add(key)
        return list(found.values())

    def _in_array(self, trial: Trial, array: Allocation, touches: Sequence[Touch]) -> Iterator[Finding]:
        is_apart = has_own_bytes(touches, self.execution.view.valued(trial.values).base, "block")
        scopes: list[RaceScope] = [] if is_apart else ["block"]
        everywhere = is_one_array(array, trial.graph, THREAD_BITS | BLOCK_BITS)
        if self.scope == "grid" and array.space != "shared" and everywhere and trial.has_neighbours:
            # Most kernels write one element a thread: no trace of all that they do is needed to see that.
            scopes += [] if has_own_bytes(touches, trial.neighbours(), "grid") else ["grid"]
        for scope in scopes:
            try:
                for conflict in trial.conflicts(touches, array.bytes, scope):
                    if not self._matters(array, conflict):
                        continue
                    doubt = contradiction(conflict, trial.graph)
                    if doubt is None and self.how_sure:
                        doubt = doubt_about(conflict, trial, self.execution, touches, array.bytes)
                    if doubt is not None and doubt.unfinished:
                        self._miss(f"whether races on `{array.name}` are certain was not looked at")
                    if doubt is None or not doubt.excludes:
                        sizes = ", ".join(f"{render(symbol)} = {value}" for symbol, value in trial.values.items())
                        of_element, start = _of_element(conflict, trial), _start(conflict.second.target, trial)
                        late = late_turn(conflict, trial.graph, self.execution.events, trial.tree().places)
                        drawn = late.drawn if late is not None else None
                        is_sure = doubt is None and self.how_sure
                        benign = same_either_way(conflict, trial.graph, self.execution) if is_sure else None
                        yield Finding(array, conflict, doubt, sizes, of_element, start, benign, drawn)
            except GaveUp:
                self._miss(f"races on `{array.name}` were not looked for")
                return

    def _matters(self, array: Allocation, conflict: Conflict) -> bool:
        is_wanted = self.is_wanted is None or self.is_wanted(array, conflict)
        return is_wanted and _places(array, conflict) not in self._certain

    def _miss(self, what: str) -> None:
        text = f"{what}: there is too much to look at"
        if text not in self.missed:
            self.missed.append(text)


def _says_more(finding: Finding, known: Finding) -> bool:
    """Whether it is surer than what is known of the same places, or as sure and one that matters, or as sure and more
    than one of a warp."""
    if (finding.doubt is None) is not (known.doubt is None):
        return finding.doubt is None
    if finding.doubt is None and (finding.benign is None) is not (known.benign is None):
        return finding.benign is None
    return finding.doubt is None and _is_of_a_warp(known) and not _is_of_a_warp(finding)


def _is_of_a_warp(finding: Finding) -> bool:
    """Whether a barrier of the warp is all that two threads need in global memory, as far as is known: those of other
    blocks may meet there too."""
    return finding.array.space == "global" and finding.conflict.reach == "warp"


def _places(array: Allocation, conflict: Conflict) -> object:
    """What findings have in common of which one is enough."""
    return array, frozenset((conflict.first.context.span, conflict.second.context.span))


def _of_element(conflict: Conflict, trial: Trial) -> tuple[tuple[str, int], ...]:
    """The sizes from which the address in a witness comes, as they were taken."""
    found = symbols(trial.graph, conflict.first.offset.bits | conflict.second.offset.bits)
    return tuple((render(symbol), int(trial.values.get(symbol, trial.graph.generic(symbol)))) for symbol in found)


def _start(array: Allocation, trial: Trial) -> int:
    if array.start is None:
        return 0
    return int(np.asarray(Rows.of_one_block(trial.graph, trial.values).value(array.start)).flat[0])


def arrays(events: Sequence[Event], graph: Graph) -> Iterator[tuple[Allocation, list[Touch]]]:
    """The arrays that some threads write while others touch them, with all accesses to each, in program order."""
    groups: dict[object, list[Touch]] = {}
    for event in events:
        if isinstance(event, (AccessEvent, LibraryAccess)) and _is_followed(event, graph):
            groups.setdefault(memory_of(event.target), []).append(event)
    for touches in groups.values():
        if any(effect(t) != "load" for t in touches):
            writes = [t for t in touches if effect(t) != "load"]
            if any(clash(w, t) for w in writes for t in touches):
                yield touches[0].target, touches


def _is_followed(event: Touch, graph: Graph) -> bool:
    target = event.target
    if target.is_null or target.space not in ("shared", "global") or not is_one_array(target, graph):
        return False
    return not dependence(event.context, event.offset, graph).is_astray


def left_out(execution: Execution, situations: Sequence[Mapping[Node, int | float]] | None) -> Iterator[str]:
    """Sentences about accesses to arrays that are written, and about barriers that are taken on trust; `situations` are
    the sizes and flags that are looked at, None where there is nothing to look at in any."""
    graph = execution.view.graph
    touches = [e for e in execution.events if isinstance(e, (AccessEvent, LibraryAccess)) and _is_shared(e)]
    known: Known = {}
    written = {touch.target.name for touch in touches if effect(touch) != "load"}
    for touch in touches:
        name, line = touch.target.name, touch.context.span.line
        if name not in written:
            continue
        if touch.target.space == "generic" or not is_one_array(touch.target, graph):
            pointer = f"`{name}`" if name != UNNAMED else f"the pointer at line {line}"
            yield f"races through {pointer} were not looked for: threads have pointers of their own"
        elif dependence(touch.context, touch.offset, graph).is_astray:
            yield f"races of `{name}` at line {line} were not looked for: an earlier loop decides on it"
        elif situations is not None and not is_met(touch, graph, situations, known):
            yield f"races of `{name}` at line {line} were not looked for: no sizes were found that lead there"
    for event in execution.events:
        if isinstance(event, BarrierEvent) and event.scope == "warp" and not _waits_for_all(event, execution):
            line = event.context.span.line
            yield f"the `__syncwarp` at line {line} is taken to order all lanes, and its mask may name fewer"


def _is_shared(touch: Touch) -> bool:
    return touch.target.space not in ("local", "constant") and not touch.target.is_null


def _waits_for_all(barrier: BarrierEvent, execution: Execution) -> bool:
    mask, lanes = barrier.mask, (1 << min(math.prod(execution.view.block), WARP_LANES)) - 1
    return barrier.implied or mask is None or (mask.is_const and int(mask.value) & lanes == lanes)


@heuristic("own-bytes", "histograms and stacks that each thread has to itself").otherwise(False)
def has_own_bytes(touches: Sequence[Touch], rows: Rows, scope: RaceScope) -> bool:
    """Whether all that a thread ever touches of an array lies apart from what other threads touch: those of its block,
    in each of the blocks that `rows` holds, or those of all these blocks. False where that would take a look at loops
    or data."""
    through_time = rows.graph.loop_bits | rows.graph.opaque_bits
    for touch in touches:
        bits = touch.offset.bits
        if not isinstance(touch, AccessEvent) or not bits & THREAD_BITS or bits & through_time:
            return False
    exists = rows.threads.exists[0]
    addresses = [rows.integers(offset)[:, exists] for offset in dict.fromkeys(touch.offset for touch in touches)]
    if scope == "grid":
        addresses = [address.reshape(1, -1) for address in addresses]
    widest = max(touch.bytes for touch in touches)
    first, last = np.minimum.reduce(addresses), np.maximum.reduce(addresses)
    order = np.argsort(first, axis=1)
    first, last = np.take_along_axis(first, order, axis=1), np.take_along_axis(last, order, axis=1)
    return bool((first[:, 1:] >= last[:, :-1] + widest).all())


