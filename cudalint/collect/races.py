"""The race facts of a kernel, collected launch by launch."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from itertools import product
from typing import ClassVar, Self

from msgspec import field
from msgspec.structs import replace

from cudalint.collect.barrier_trials import BarrierTrials
from cudalint.collect.provider import Provider, Run, Subject
from cudalint.collect.sites import frames_of
from cudalint.concurrency.conflicts import Conflict, Thread
from cudalint.concurrency.search import Finding, Search
from cudalint.concurrency.trial import Trial, trial_of
from cudalint.concurrency.tried_sizes import outgrown
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import BarrierFix, KernelFacts, Place, Race, RaceEnd
from cudalint.frontend.source_text import Spellings
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, Touch
from cudalint.interpreter.device.memory import element_bytes
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.ir.sizes import sized
from cudalint.kinds import Kind
from cudalint.launches.variants import not_with, other_blocks
from cudalint.measure.control_flow import ControlFlow
from cudalint.measure.crossings import Crossing, fewest_gates, steps
from cudalint.measure.placement import BarrierCall
from cudalint.options.analysis import RaceScope
from cudalint.values.nodes import OPAQUE_BIT, THREAD_BITS, Node

_CONFIRMING_WORK = 1_000_000
"""For races under other blocks than the one that was made up: the file's other kernels need time too."""

Key = tuple[object, ...]


class RaceCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "races"
    needs: ClassVar[tuple[Kind, ...]] = ("barriers",)
    """Both look at one trace of a launch, and have their work from one budget."""
    scope: RaceScope
    spellings: Spellings
    trials: BarrierTrials
    missed: list[str] = field(default_factory=list)
    _widths: dict[str, int] = field(default_factory=dict)
    """Bytes from one element to the next one of what the parameters point to, by their names."""
    _races: dict[Key, Race] = field(default_factory=dict)
    _spans: dict[Key, tuple[ir.Span, ir.Span]] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        return cls(subject.options.race_scope, Spellings(subject.options), BarrierTrials(subject))

    def add(self, run: Run) -> None:
        self._add(run.execution, run.trial)
        self._doubt_block(run)
        self._with_other_blocks(run)
        self.trials.place(self, run)

    def finish(self, subject: Subject) -> None:
        if self.has_unordered:
            self._number(self.trials.flow)
        for text in self.missed:
            subject.has_gap(text, "races")

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, races=self._facts())

    def _doubt_block(self, run: Run) -> None:
        """Races of a block that was made up, and that the kernel is not made for, say nothing about the right one."""
        launch = run.execution.launch
        own = [(key, race) for key, race in self._races.items() if race.launch == run.index]
        if launch.block_is_made_up and own:
            array = outgrown(run.execution, run.trial)
            if array is not None:
                reason = f"no launch in sight gives the block, and `{array}` has no room for {launch.block}"
                for key, race in own:
                    # Sizes for which it is there are none of the right block.
                    self._races[key] = replace(race, certainty="possible", reason=reason, size=None, usual=False)

    def _with_other_blocks(self, run: Run) -> None:
        """Races under a block that was made up are certain only if they are there with other blocks too."""
        subject = run.subject
        end = subject.graph.work + _CONFIRMING_WORK
        for block in other_blocks(run.configuration, subject.function):
            if not self._has_certain(run.index):
                return
            if subject.is_over(end):
                self._doubt(run.index, "no launch in sight gives the block, and others were not tried in time")
                return
            again = subject.again(run.index, replace(run.configuration, block=block))
            self._confirm(again, trial_of(again))

    def _add(self, execution: Execution, trial: Trial) -> None:
        search = Search(execution, trial, self.scope)
        self._widths = self._widths or _widths(execution.function)
        is_one_warp = _is_one_warp(execution)
        for finding in search.findings():
            race = self._race(finding, execution.view.index)
            if is_one_warp and race.reach == "warp" and not _is_of_first_warp(finding.conflict, execution):
                race = replace(race, reach="block")
            key = _key(race)
            known = self._races.get(key)
            if known is None or _rank(race) < _rank(known):
                self._races[key] = race
                self._spans[key] = (_in_kernel(finding.conflict.first), _in_kernel(finding.conflict.second))
        self.missed += [text for text in search.missed if text not in self.missed]

    def _has_certain(self, launch: int) -> bool:
        return any(race.certainty == "certain" and race.launch == launch for race in self._races.values())

    def _confirm(self, execution: Execution, trial: Trial) -> None:
        """Keeps those races of a launch certain that are so with another block too."""
        index = execution.view.index
        certain = [race for race in self._races.values() if race.certainty == "certain" and race.launch == index]
        scope = self.scope if any(race.reach == "grid" for race in certain) else "block"
        space = certain[0].space if len({race.space for race in certain}) == 1 else None
        keys = {_key(race) for race in certain}
        search = Search(execution, trial, scope, space, is_wanted=lambda *found: _key_of(*found) in keys)
        again = [self._race(finding, index) for finding in search.findings()]
        usual = {_key(race): race for race in again if race.usual}
        sure = {_key(race) for race in again if race.certainty == "certain"}
        for key, race in usual.items():
            if key in keys - sure:
                # With fewer threads to a block it takes ordinary data for two of them to meet.
                self._races[key] = replace(self._races[key], certainty="possible", reason=race.reason, usual=True)
        self._doubt(index, not_with(execution.view.block), sure)

    def _doubt(self, launch: int, reason: str, but: Collection[Key] = ()) -> None:
        """Makes the certain races of a launch possible ones, but for some."""
        for key, race in self._races.items():
            if race.certainty == "certain" and race.launch == launch and key not in but:
                self._races[key] = replace(race, certainty="possible", reason=reason)

    def crossings(self, launch: int, flow: ControlFlow) -> list[Crossing]:
        """Of the races of a launch for which no barrier is known yet."""
        return [
            self._crossing(key, race, flow)
            for key, race in self._races.items()
            if race.launch == launch and race.fix is None and _is_within_blocks(race)
        ]

    def settled_by(self, launch: int, execution: Execution, trial: Trial, keys: Collection[object]) -> bool:
        """Whether races of these keys are gone in an execution with barriers."""
        return self._left(launch, execution, trial).isdisjoint(keys)

    def note_fix(self, fix: BarrierFix, keys: Iterable[object]) -> None:
        """Notes a barrier for races, by their keys."""
        for key in keys:
            assert isinstance(key, tuple)
            self._races[key] = replace(self._races[key], fix=fix)

    def place(self, launch: int, fix: BarrierFix, execution: Execution, trial: Trial) -> set[object]:
        """Notes a barrier for those races that are gone in an execution with it; returns the keys of the others."""
        left = self._left(launch, execution, trial)
        for key, race in self._races.items():
            if race.launch == launch and race.fix is None and _is_within_blocks(race) and key not in left:
                self._races[key] = replace(race, fix=fix)
        return left

    def _left(self, launch: int, execution: Execution, trial: Trial) -> set[object]:
        """The keys of the races that are there in an execution with barriers."""
        spaces = {race.space for race in self._races.values() if race.launch == launch and _is_within_blocks(race)}
        space = spaces.pop() if len(spaces) == 1 else None
        search = Search(execution, trial, "block", space, how_sure=False)
        return {_key(self._race(finding, launch)) for finding in search.findings()}

    @property
    def has_unordered(self) -> bool:
        """Whether a barrier may be missing."""
        return any(map(_is_within_blocks, self._races.values()))

    def _number(self, flow: ControlFlow) -> None:
        """Tells which races lack the same barrier: one that was tried, or else one on the way of all of them, even if
        some threads don't come there. The steps of a warp are one matter, however many they are."""
        without, of_warps = [], []
        lacks: dict[object, object] = {}
        fixes: dict[object, object] = {}
        for key, race in self._races.items():
            if not _takes_a_barrier(race):
                continue
            is_of_warp = race.is_lock_step and (race.fix is None or race.fix.call == "__syncwarp")
            if race.fix is not None:
                (fixes if is_of_warp else lacks)[key] = race.fix
            if is_of_warp:
                of_warps.append(self._crossing(key, race, flow))
            elif race.fix is None:
                without.append(self._crossing(key, race, flow))
        lacks |= fewest_gates(without)
        lacks |= steps(of_warps, fixes)
        numbers: dict[object, int] = {}
        for key, race in self._races.items():
            if key in lacks:
                self._races[key] = replace(race, lack=numbers.setdefault(lacks[key], len(numbers)))

    def _crossing(self, key: Key, race: Race, flow: ControlFlow) -> Crossing:
        first, second = map(flow.at, self._spans[key])
        # In one statement nothing lies between, if not the rest of a loop around it.
        gates = flow.between(first, second) if race.across or first is not second else ()
        call: BarrierCall = "__syncwarp" if race.reach == "warp" else "__syncthreads"
        return Crossing(key, race.array, call, gates, (first, second))

    def _facts(self) -> tuple[Race, ...]:
        order = {"certain": 0, "possible": 1}
        return tuple(sorted(self._races.values(), key=lambda r: (order[r.certainty], r.first.place, r.second.place)))

    def _race(self, finding: Finding, launch: int) -> Race:
        conflict, doubt = finding.conflict, finding.doubt
        array = _named(finding.array, conflict)
        second = _end(conflict.second, conflict.other)
        by_data = bool((conflict.first.offset.bits | conflict.second.offset.bits) & OPAQUE_BIT)
        width = self._widths.get(array.name) or _width(conflict.second)
        element = _element(array, width, conflict.address, finding.start)
        if by_data:
            # The call of an atomic is no name of an element.
            spelled = self.spellings.of(second.place) if second.operation != "atomic" else ""
            element = spelled or f"{array.name}[...]"
        return Race(
            space="shared" if array.space == "shared" else "global",
            array=array.name,
            certainty="certain" if doubt is None else "possible",
            launch=launch,
            first=_end(conflict.first, conflict.one),
            second=second,
            element=element,
            reason=(finding.sizes or None) if doubt is None else doubt.reason,
            reach=conflict.reach,
            size=None if doubt is None else doubt.size,
            usual=doubt is not None and doubt.usual,
            by_data=by_data,
            across=conflict.across,
            one_access=_is_one_access(conflict.first, conflict.second),
            sizes=() if by_data else finding.of_element,
            benign=finding.benign,
            fence_before=Place(*finding.drawn.context.span) if finding.drawn is not None else None,
        )


def _is_one_warp(execution: Execution) -> bool:
    """Whether the block happens to be one warp, such as a tile of 4 x 4: the kernel has barriers of the block."""
    threads = math.prod(execution.view.block)
    barriers = (event for event in execution.events if isinstance(event, BarrierEvent))
    return threads <= WARP_LANES and any(barrier.scope == "block" for barrier in barriers)


def _is_of_first_warp(conflict: Conflict, execution: Execution) -> bool:
    """Whether both accesses are under a condition that all threads of the one warp fulfil, as in `if (tid < 32)`:
    larger blocks have others, and a barrier of the block has no place there."""
    return all(
        any(_holds_for_all(condition, execution) for condition in touch.context.conditions)
        for touch in (conflict.first, conflict.second)
    )


def _holds_for_all(condition: Node, execution: Execution) -> bool:
    if not condition.bits & THREAD_BITS or condition.bits & ~THREAD_BITS:
        return False
    graph, extents = execution.view.graph, execution.view.block
    for thread in product(*map(range, extents)):
        held = graph.of_thread(condition, thread)
        if not held.is_const or not held.value:
            return False
    return True


def _rank(race: Race) -> tuple[bool, bool]:
    """The smaller, the more there is to it."""
    return race.certainty != "certain", race.benign is not None


def _key(race: Race) -> Key:
    return race.array, *sorted((race.first.place, race.second.place))


def _key_of(array: Allocation, conflict: Conflict) -> Key:
    """That of the race that a conflict makes."""
    places = sorted(Place(*end.context.span) for end in (conflict.first, conflict.second))
    return _named(array, conflict).name, *places


def _named(array: Allocation, conflict: Conflict) -> Allocation:
    """The array that a race is told about: several parameters may lead to one in global memory."""
    return array if array.space == "shared" else conflict.second.target


def _takes_a_barrier(race: Race) -> bool:
    return race.space == "shared" and race.is_worth_telling


def _is_within_blocks(race: Race) -> bool:
    """Whether a barrier of a block may order what a race is about."""
    return race.is_worth_telling and race.reach != "grid"


def _in_kernel(touch: Touch) -> ir.Span:
    frames = touch.context.frames
    return frames[-1] if frames else touch.context.span


def _end(touch: Touch, thread: Thread) -> RaceEnd:
    context = touch.context
    frames = frames_of(context.frames)
    return RaceEnd(
        Place(*context.span), touch.operation, thread.thread, thread.block, touch.target.name, frames
    )  # fmt: skip


def _is_one_access(first: Touch, second: Touch) -> bool:
    """Whether the touches are of one access. One place in a function that is called twice is two, and so is what a
    macro reads and stores at different addresses, which all stands where the macro does."""
    is_one_place = first.context.span == second.context.span and first.context.frames == second.context.frames
    return is_one_place and (first.operation == second.operation or first.offset is second.offset)


def _widths(function: ir.Function) -> dict[str, int]:
    """Those of the parameters, and of the fields of structures that are passed. What is declared counts, however it is
    cast where it is touched: `half2` in an array of `half`."""
    found: dict[str, int] = {}
    left = [(symbol.name, symbol.type) for symbol in function.parameters]
    while left:
        name, type_ = left.pop()
        if isinstance(type_, ir.PointerType):
            found[name] = type_.pointee.bytes
        elif isinstance(type_, ir.RecordType):
            left += [(f"{name}.{field.name}", field.type) for field in type_.fields]
    return found


def _element(array: Allocation, width: int, address: int, start: int) -> str:
    """The element as the source would spell it: `t[1][0]`."""
    type_: ir.Type | None = array.symbol.type if array.symbol is not None else None
    if not array.bytes or not isinstance(type_, ir.ArrayType):
        if array.bytes and type_ is not None:
            return array.name
        if address < start and array.same_as is not None:
            array, start = array.same_as, 0
        return f"{array.name}[{(address - start) // width}]"
    text = array.name
    while isinstance(type_, ir.ArrayType):
        step = element_bytes(type_.element)
        text += f"[{address // step}]"
        address %= step
        type_ = type_.element
    return text


def _width(touch: Touch) -> int:
    """Bytes from one element to the next one: a field is that of a whole record."""
    if not isinstance(touch, AccessEvent):
        return touch.bytes
    return sized((touch.record if touch.record is not None else touch.element).bytes)
