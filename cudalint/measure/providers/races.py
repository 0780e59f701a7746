"""The race facts of a kernel, collected launch by launch."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import ClassVar, NamedTuple, Self

import numpy as np
from msgspec import field
from msgspec.structs import replace

from cudalint.execute.memory import ASTRAY
from cudalint.execute.values import Data
from cudalint.facts import BarrierFix, KernelFacts, Place, Race
from cudalint.frontend.source_text import Spellings
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.launches.variants import NOT_ALL_TRIED, not_with, other_blocks
from cudalint.measure import races as measured
from cudalint.measure.benign import of_nobody, same_either_way, stores_one_value
from cudalint.measure.bounds import Sizes, outside
from cudalint.measure.control_flow import BarrierCall, ControlFlow
from cudalint.measure.doubts import Doubt, doubt_about
from cudalint.measure.elements import meet_in_another
from cudalint.measure.executed import Executed
from cudalint.measure.launched import Launched, doubt_about_launch
from cudalint.measure.providers.barrier_trials import BarrierTrials, Crossing, fewest_gates, steps
from cudalint.measure.providers.provider import Provider, Run, Subject, also_under
from cudalint.measure.providers.race_records import Records
from cudalint.measure.seen import Seen
from cudalint.measure.sensitivity import where
from cudalint.measure.sought import Sought
from cudalint.measure.stored import Stored
from cudalint.measure.tickets import late_turn
from cudalint.options.analysis import RaceScope

_RARE = 4
"""A race that is there in three of four of the worlds is one of ordinary numbers."""

Key = tuple[str, Place, Place]
"""Of an array, and two accesses."""


class _Found(NamedTuple):
    race: Race
    spans: tuple[ir.Span, ir.Span]
    """Of the two ends in the kernel's own body."""


class RaceCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "races"
    needs: ClassVar[tuple[Kind, ...]] = ("barriers",)
    scope: RaceScope
    records: Records
    trials: BarrierTrials
    missed: list[str] = field(default_factory=list)
    _too_much_in: set[int] = field(default_factory=set)
    """Launches under which there is too much to look at for all races to be found."""
    _races: dict[Key, Race] = field(default_factory=dict)
    _spans: dict[Key, tuple[ir.Span, ir.Span]] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: Subject) -> Self:
        spellings = Spellings(subject.options)
        return cls(subject.options.race_scope, Records(subject.function, spellings), BarrierTrials(subject))

    def add(self, run: Run) -> None:
        executed = run.executed
        launched = _launched(run)
        for found in self._found(executed, run.index, launched):
            key = _key(found.race)
            known = self._races.get(key)
            if known is None or _rank(found.race) < _rank(known):
                self._races[key] = found.race
                self._spans[key] = found.spans
            elif _rank(found.race) == _rank(known) and not run.launch.block_is_made_up:
                self._races[key] = also_under(known, run.index)
        self._miss(executed, run.index)
        self._doubt_block(run)
        self._with_other_blocks(run, launched)
        self.trials.place(self, run)

    def finish(self, subject: Subject) -> None:
        if self.has_unordered:
            self._number(self.trials.flow)
        for text in self.missed:
            subject.has_gap(text, "races")
        for launch in self._too_much_in:
            subject.has_part(launch, frozenset({self.kind}))

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, races=self._facts())

    # --- the races of one execution ----------------------------------------------------------------

    def _found(
        self, executed: Executed, index: int, launched: Launched, sought: Sought | None = None
    ) -> Iterator[_Found]:
        """The races that are there for all that is known, and those that depend on something; or those that are sought.
        """
        seen = executed.seen
        codes = Stored(seen).codes
        races = measured.races_of(executed.trace, executed.function.volatile, codes=codes, sought=sought)
        for allocation in races.missed:
            self._too_much_in.add(index)
            self._miss_text(f"races on `{allocation.name}` were not looked for: there is too much to look at")
        for allocation in races.private:
            if allocation.name == ASTRAY.name:
                continue  # It is reported by where it is used.
            # It is called after the array that the pointers were loaded from.
            self._miss_text(f"races through `{allocation.name.lstrip('*')}[...]` were not looked for")
        is_one_warp = _is_one_warp(executed)
        for race in (*races.found, *races.possible):
            if race.is_benign or (race.reach == "grid" and self.scope == "block"):
                continue
            if sought is not None and _places(race) not in sought:
                continue
            if stores_one_value(race, seen):
                continue
            late = late_turn(race, seen)
            doubt = doubt_about(race, seen, late, executed.batch)
            if doubt is not None and doubt.excludes:
                continue
            nobody = of_nobody(race, seen)
            doubt = (Doubt(nobody) if nobody is not None else None) or doubt
            if doubt is None or doubt.usual:
                reason = doubt_about_launch(race, seen, launched, executed.batch)
                doubt = Doubt(reason) if reason is not None else doubt
            benign = same_either_way(race, seen) if doubt is None else None
            condition, symbol = _where(race, seen, executed)
            if condition and meet_in_another(race, seen):
                symbol = None
            record = self.records.of(race, seen, executed.batch, index, doubt, condition, symbol, benign, late)
            if doubt is None and condition and symbol is None:
                record = replace(record, certainty="possible")
            if is_one_warp and record.reach == "warp" and not _is_of_first_warp(race, seen):
                record = replace(record, reach="block")
            yield _Found(record, (_in_kernel(race.first), _in_kernel(race.second)))

    def _miss(self, executed: Executed, launch: int) -> None:
        trace = executed.trace
        left_out = {(each.node, each.stack): each for each in trace.left_out if each.reason == "too many events"}
        written = {id(event.allocation) for event in trace.accesses if event.operation != "load"}
        for event in trace.accesses if left_out else ():
            # Of memory that nobody writes there is no race, however often it is read.
            left = left_out.get((event.node, event.stack)) if id(event.allocation) in written else None
            if left is not None:
                self._too_much_in.add(launch)
                text = f"races of what is accessed at line {left.node.span.line} were not all looked for: there is too"
                self._miss_text(f"{text} much to look at")
        for node, writes in executed.trace.astray.items():
            if writes:
                self._miss_text(f"races through the pointer at line {node.span.line} were not looked for")
        for barrier in executed.trace.barriers:
            if barrier.kind == "syncwarp" and isinstance(barrier.named, Data) and not barrier.is_implied:
                text = f"the barrier at line {barrier.node.span.line} is taken to order all lanes that come"
                self._miss_text(f"{text}: which lanes it waits for is not known")

    def _miss_text(self, text: str) -> None:
        if text not in self.missed:
            self.missed.append(text)

    # --- blocks that were made up ------------------------------------------------------------------

    def _doubt_block(self, run: Run) -> None:
        """Races of a block that was made up, and that the kernel is not made for, say nothing about the right one."""
        launch = run.launch
        own = [(key, race) for key, race in self._races.items() if race.launch == run.index]
        if launch.block_is_made_up and own:
            array = _outgrown(run.executed)
            if array is not None:
                reason = f"no launch in sight gives the block, and `{array}` has no room for {launch.block}"
                for key, race in own:
                    # Sizes for which it is there are none of the right block.
                    self._races[key] = replace(race, certainty="possible", reason=reason, size=None, usual=False)

    def _with_other_blocks(self, run: Run, launched: Launched) -> None:
        """Races under a block that was made up are certain only if they are there with other blocks too."""
        subject = run.subject
        for block in other_blocks(run.configuration, subject.function):
            if not self._has_certain(run.index):
                return
            again = run.with_block(block) if run.may_be_tried() else None
            if again is None or subject.is_over():
                self._doubt(run.index, NOT_ALL_TRIED)
                return
            self._confirm(again, run.index, launched._replace(block=block))

    def _has_certain(self, launch: int) -> bool:
        return any(race.certainty == "certain" and race.launch == launch for race in self._races.values())

    def _confirm(self, executed: Executed, index: int, launched: Launched) -> None:
        """Keeps those races of a launch certain that are so with another block too."""
        keys = {_key(r) for r in self._races.values() if r.certainty == "certain" and r.launch == index}
        again = [found.race for found in self._found(executed, index, launched, _sought(keys))]
        certain = [race for race in again if race.certainty == "certain"]
        # Blocks that come too close to each other say nothing of the threads of one.
        sure = {_key(race) for race in certain if self._is_as_far(race)}
        for race in again:
            key = _key(race)
            if race.usual and key in keys - sure:
                # With fewer threads to a block it takes ordinary data for two of them to meet.
                self._races[key] = replace(self._races[key], certainty="possible", reason=race.reason, usual=True)
        self._doubt(index, not_with(executed.batch.block), sure)

    def _is_as_far(self, race: Race) -> bool:
        known = self._races.get(_key(race))
        return known is None or (known.reach == "grid") is (race.reach == "grid")

    def _doubt(self, launch: int, reason: str, but: Collection[Key] = ()) -> None:
        """Makes the certain races of a launch possible ones, but for some."""
        for key, race in self._races.items():
            if race.certainty == "certain" and race.launch == launch and key not in but:
                self._races[key] = replace(race, certainty="possible", reason=reason)

    # --- barriers that would order them ------------------------------------------------------------

    def crossings(self, launch: int, flow: ControlFlow) -> list[Crossing]:
        """Of the races of a launch for which no barrier is known yet."""
        return [
            self._crossing(key, race, flow)
            for key, race in self._races.items()
            if race.launch == launch and race.fix is None and _is_within_blocks(race)
        ]

    def are_gone_in(self, executed: Executed, keys: Collection[object]) -> bool:
        """Whether races of these keys are gone in an execution with barriers."""
        return self._left(executed, [key for key in self._races if key in keys]).isdisjoint(keys)

    def note_fix(self, fix: BarrierFix, keys: Iterable[object]) -> None:
        """Notes a barrier for races, by their keys."""
        noted = set(keys)
        for key, race in self._races.items():
            if key in noted:
                self._races[key] = replace(race, fix=fix)

    def place(self, launch: int, fix: BarrierFix, executed: Executed) -> set[object]:
        """Notes a barrier for those races that are gone in an execution with it; returns the keys of the others."""
        unordered = {
            key: race
            for key, race in self._races.items()
            if race.launch == launch and race.fix is None and _is_within_blocks(race)
        }
        left = self._left(executed, unordered)
        for key, race in unordered.items():
            if key not in left:
                self._races[key] = replace(race, fix=fix)
        return left

    def _left(self, executed: Executed, keys: Iterable[Key]) -> set[object]:
        """The keys of races within blocks that are there in an execution with barriers, at least of these."""
        sought = _sought(keys)
        races = measured.races_of(executed.trace, executed.function.volatile, between_blocks=False, sought=sought)
        seen = executed.seen
        return {
            _key(self.records.of(race, seen, executed.batch, 0, None, "", None, None, None))
            for race in (*races.found, *races.possible)
            if not race.is_benign and _places(race) in sought
        }

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


def _launched(run: Run) -> Launched:
    launch = run.launch
    is_given = launch.site is not None and launch.site.grid != (None, None, None)
    open_ = {name for name, choice in run.executed.batch.worlds[0].items() if choice.basis != "given"}
    return Launched(
        run.configuration.block, is_given or launch.source in ("launch-site", "recorded") or launch.by_default,
        launch.block_is_made_up,
        open_, run.free,
    )  # fmt: skip


def _where(race: measured.Race, seen: Seen, executed: Executed) -> tuple[str, str | None]:
    """Under which condition a race is there, and the number that decides where it is there in most worlds; nothing
    where it is there in all worlds in which both accesses are made."""
    batch = executed.batch
    if batch.made:
        return "", None
    reached = _reached(race.first, seen) & _reached(race.second, seen)
    if race.is_carried:
        reached &= _come_again(race, seen)
    holds = [world in race.worlds if world in reached else None for world in range(len(batch))]
    found = where(holds, batch.numbers)
    if found.kind not in ("where", "unexplained"):
        return "", None
    known = [held for held in holds if held is not None]
    gone = known.count(False)
    condition = f"where {found.condition}" if found.condition else f"it depends on {_listed(found.symbols)}"
    # Of two numbers that have to do with each other nobody knows what is usual.
    usual = 0 in race.worlds and gone * _RARE <= len(known) and len(found.symbols) == 1
    return condition, found.symbols[0] if usual else None


def _listed(symbols: Collection[str]) -> str:
    return " and ".join(f"`{symbol}`" for symbol in symbols)


def _reached(end: measured.RaceEnd, seen: Seen) -> set[int]:
    """The worlds in which threads make an access."""
    lanes = seen.trace.lanes
    found: set[int] = set()
    for event in seen.events.get(end.site, ()):
        found |= {lanes.world_of(row) for row in np.flatnonzero(event.mask.any(axis=1)).tolist()}
        if len(found) == lanes.worlds:
            break
    return found


def _come_again(race: measured.Race, seen: Seen) -> set[int]:
    """The worlds in which the second access of a race is made in a later turn than the first by some block: where all
    leave the loop after one turn, there is nothing to race with."""
    lanes = seen.trace.lanes
    order = {id(event): number for number, event in enumerate(seen.trace.accesses)}
    begun = np.full(lanes.rows, len(order))
    for event in reversed(seen.events.get(race.first.site, ())):
        begun[event.mask.any(axis=1)] = order.get(id(event), -1)
    found: set[int] = set()
    for event in seen.events.get(race.second.site, ()):
        again = event.mask.any(axis=1) & (begun < order.get(id(event), len(order)))
        found |= {lanes.world_of(row) for row in np.flatnonzero(again).tolist()}
    return found


def _outgrown(executed: Executed) -> str | None:
    """An array that is declared with fewer elements than the block has threads for: it is not made for such a block."""
    for each in outside(executed.trace, Sizes.of(executed.batch, has_shared=False)):
        if each.site.allocation.space == "shared" and not each.site.is_conditional and 0 in each.worlds:
            return each.site.allocation.name
    return None


def _is_one_warp(executed: Executed) -> bool:
    """Whether the block happens to be one warp, such as a tile of 4 x 4: the kernel has barriers of the block."""
    threads = math.prod(executed.batch.block)
    return threads <= WARP_LANES and any(event.scope == "block" for event in executed.trace.barriers)


def _is_of_first_warp(race: measured.Race, seen: Seen) -> bool:
    """Whether both accesses are under a condition that all threads of the one warp fulfil, as in `if (tid < 32)`:
    larger blocks have others, and a barrier of the block has no place there."""
    for end in race.ends:
        guards = [guard for guard in seen.guards(end.site) if guard.loop is None]
        found = [seen.origins_of(guard) for guard in guards]
        own = [each for each in found if each.by_thread and not each.is_data and not each.by_block and not each.numbers]
        mask = end.event.mask
        if not own or not (mask == seen.trace.lanes.full).all():
            return False
    return True


def _rank(race: Race) -> tuple[bool, bool]:
    """The smaller, the more there is to it."""
    return race.certainty != "certain", race.benign is not None


def _key(race: Race) -> Key:
    first, second = sorted((race.first.place, race.second.place))
    return race.array, first, second


def _sought(keys: Iterable[Key]) -> Sought:
    """The places of the accesses of races, by their keys."""
    return frozenset(frozenset(ir.Span(*place) for place in places) for _, *places in keys)


def _places(race: measured.Race) -> frozenset[ir.Span]:
    return frozenset(end.site.node.span for end in race.ends)


def _takes_a_barrier(race: Race) -> bool:
    return race.space == "shared" and race.is_reportable


def _is_within_blocks(race: Race) -> bool:
    """Whether a barrier of a block may order what a race is about."""
    return race.is_reportable and race.reach != "grid"


def _in_kernel(end: measured.RaceEnd) -> ir.Span:
    stack = end.site.stack
    span: ir.Span = stack[-1].span if stack else end.site.node.span
    return span
