"""Barriers against the races of a kernel: each is tried on a variant of the kernel that has it.

What races lack: a barrier on the way from the one access to the other. Many may come of one that is missing, so that
places are chosen for all of them together: those that serve the most first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from cudalint.facts import BarrierFix, Place
from cudalint.frontend.source_text import source_text
from cudalint.ir import nodes as ir
from cudalint.measure.barriers import Arrivals, all_come
from cudalint.measure.control_flow import BarrierCall, Code, ControlFlow, Gate, with_barriers
from cudalint.measure.executed import Executed
from cudalint.measure.providers.provider import Run, Subject
from cudalint.source.insertions import insertions

_FEW = 3
"""Barriers that are tried one by one: a trial of all of them shows less about each."""


class Races(Protocol):
    """The races of a kernel, as far as barriers may order them."""

    @property
    def has_unordered(self) -> bool:
        """Whether a barrier may be missing."""

    def crossings(self, launch: int, flow: ControlFlow) -> list[Crossing]:
        """Of the races of a launch for which no barrier is known yet."""

    def are_gone_in(self, executed: Executed, keys: Collection[object]) -> bool:
        """Whether races of these keys are gone in an execution with barriers."""

    def note_fix(self, fix: BarrierFix, keys: Iterable[object]) -> None:
        """Notes a barrier for races, by their keys."""

    def place(self, launch: int, fix: BarrierFix, executed: Executed) -> set[object]:
        """Notes a barrier for those races that are gone in an execution with it; returns the keys of the others."""


class BarrierTrials(Struct, eq=False):
    subject: Subject
    _flow: ControlFlow | None = None
    _needed: set[Gate] = field(default_factory=set)
    """Where a barrier is missing."""

    @property
    def flow(self) -> ControlFlow:
        """Of the kernel as it is."""
        if self._flow is None:
            self._flow = ControlFlow(self.subject.function)
        return self._flow

    def place(self, races: Races, run: Run) -> None:
        """Looks for barriers against the races of a launch, by trying them."""
        subject = self.subject
        if not races.has_unordered:
            return
        attempts = Attempts(races.crossings(run.index, self.flow), self._needed)
        self._place_together(races, attempts, run)
        while run.may_be_tried() and (attempt := attempts.next()) is not None:
            gate, call = attempt
            changed = with_barriers(subject.function, {gate: call})
            variant = run.changed(changed)
            is_safe = _all_come([gate], variant) and self._all_come_elsewhere(gate, changed, run)
            if subject.is_over():
                return
            if not is_safe:
                attempts.skipped(gate, call)
                continue
            left = races.place(run.index, self._fix(gate, call), variant)
            if attempts.placed(gate, call, left):
                self._needed.add(gate)

    def _place_together(self, races: Races, attempts: Attempts, run: Run) -> None:
        """Tries several barriers at once. Only if all threads come to each of them, and none of the races that they are
        between is left, is anything noted."""
        plan = attempts.plan()
        if len(plan) < _FEW or not run.may_be_tried():
            return
        subject = self.subject
        changed = with_barriers(subject.function, {gate: call for gate, (call, _) in plan.items()})
        variant = run.changed(changed)
        keys = {key for _, ordered in plan.values() for key in ordered}
        if not _all_come(plan, variant) or not races.are_gone_in(variant, keys):
            return
        if not _all_come(plan, run.elsewhere(changed)) or subject.is_over():
            return
        for gate, (call, ordered) in plan.items():
            races.note_fix(self._fix(gate, call), ordered)
        attempts.planned(plan)
        self._needed.update(plan)

    def _all_come_elsewhere(self, gate: Gate, changed: ir.Function, run: Run) -> bool:
        """Whether a barrier is safe with other arguments and blocks too: `if (i < n)` is true for all threads of this
        launch, and not for those of the next."""
        return _all_come([gate], run.elsewhere(changed))

    def _fix(self, gate: Gate, call: BarrierCall) -> BarrierFix:
        place = Place(*gate.span)
        if not self.flow.is_plain(gate):
            return BarrierFix(call, place, gate.where)
        text = source_text(place.path, self.subject.options)
        return BarrierFix(call, place, gate.where, insertions(text, place, gate.where, f"{call}();"))


def _all_come(gates: Iterable[Gate], executed: Executed) -> bool:
    arrivals = Arrivals(executed.seen, executed.batch)
    return all(all_come(arrivals, gate.span.line, gate.span.column, gate.span.path) for gate in gates)


# --- which places are tried, and which first -----------------------------------------------------------


_MOST_FAILURES = 3
"""Places that are tried for one race in vain."""
_CALLS: tuple[BarrierCall, ...] = ("__syncthreads", "__syncwarp")


class Crossing(Struct, frozen=True, eq=False):
    """The way from one access of a race to the other."""

    key: object
    array: str
    call: BarrierCall
    """The least that orders the two."""
    gates: tuple[Gate, ...]
    """In the order in which they are passed; a barrier at any of them is on every path."""
    ends: tuple[Code | None, Code | None]


class Attempts(Struct, eq=False):
    """Which place is tried next, by what came of those before."""

    crossings: list[Crossing]
    """Those that no barrier is known for yet."""
    known: Collection[Gate] = ()
    """Where other launches need a barrier anyway."""
    _failures: Counter[object] = field(default_factory=Counter)
    _tried: set[tuple[Gate, BarrierCall]] = field(default_factory=set)
    _skipped: set[tuple[int, BarrierCall]] = field(default_factory=set)
    """Stretches that some threads don't come to."""

    def plan(self) -> dict[Gate, tuple[BarrierCall, list[object]]]:
        """The places that would be tried one after the other if each orders all that it lies between, with what to try
        there and the keys of what it orders."""
        through: dict[Gate, list[object]] = {}
        for crossing in self.crossings:
            for gate in crossing.gates:
                through.setdefault(gate, []).append(crossing.key)
        done: set[object] = set()
        found: dict[Gate, tuple[BarrierCall, list[object]]] = {}
        for call in _CALLS:
            left = [crossing for crossing in self.crossings if crossing.call == call and crossing.key not in done]
            for gate in dict.fromkeys(fewest_gates(left, self.known).values()):
                found[gate] = call, [key for key in through[gate] if key not in done]
                done.update(through[gate])
        return found

    def planned(self, gates: Collection[Gate]) -> None:
        """Notes that all races are gone that the places of a plan order."""
        self.crossings = [crossing for crossing in self.crossings if not any(map(gates.__contains__, crossing.gates))]

    def next(self) -> tuple[Gate, BarrierCall] | None:
        """A place, and what to try there. Barriers of the block come first: one may serve races of a warp, too."""
        for call in _CALLS:
            gate = _most_serving([(c, self._open_gates(c)) for c in self.crossings if c.call == call], self.known)
            if gate is not None:
                self._tried.add((gate, call))
                return gate, call
        return None

    def skipped(self, gate: Gate, call: BarrierCall) -> None:
        """Notes that some threads don't come to a place."""
        self._skipped.add((gate.stretch, call))
        self._failed(gate, call)

    def placed(self, gate: Gate, call: BarrierCall, left: Collection[object]) -> bool:
        """Notes which races are left with a barrier, by their keys; whether it is good for any."""
        known = len(self.crossings)
        self.crossings = [crossing for crossing in self.crossings if crossing.key in left]
        self._failed(gate, call)
        return len(self.crossings) < known

    def _failed(self, gate: Gate, call: BarrierCall) -> None:
        self._failures.update(c.key for c in self.crossings if c.call == call and gate in c.gates)

    def _open_gates(self, crossing: Crossing) -> list[Gate]:
        if self._failures[crossing.key] >= _MOST_FAILURES:
            return []
        return [
            gate
            for gate in crossing.gates
            if (gate, crossing.call) not in self._tried and (gate.stretch, crossing.call) not in self._skipped
        ]


def fewest_gates(crossings: Iterable[Crossing], known: Collection[Gate] = ()) -> dict[object, Gate]:
    """By the keys of crossings, places so that each has one and as few as possible do; none where no gate lies between.
    """
    ways = [crossing for crossing in crossings if crossing.gates]
    # By gate, the ways that pass it and are left, each with how many gates it passes before.
    through: dict[Gate, dict[int, int]] = {}
    for number, crossing in enumerate(ways):
        for position, gate in enumerate(crossing.gates):
            through.setdefault(gate, {})[number] = position
    found: dict[object, Gate] = {}

    def rank(gate: Gate) -> tuple[object, ...]:
        first, position = next(iter(through[gate].items()))
        return *_rank(gate, len(through[gate]), position, gate in known), first

    while through:
        gate = min(through, key=rank)
        for number in list(through[gate]):
            found[ways[number].key] = gate
            for passed in ways[number].gates:
                del through[passed][number]
                if not through[passed]:
                    del through[passed]
    return found


def _rank(gate: Gate, served: int, position: int, is_known: bool = False) -> tuple[object, ...]:
    """Ascending: the gate on the most ways, one where a barrier is needed anyway, that in the fewest loops and
    branches, the end of a body, the last one on the way."""
    return -served, not is_known, gate.depth, gate.branches, gate.where != "end", -position


def _most_serving(crossings: Iterable[tuple[Crossing, Sequence[Gate]]], known: Collection[Gate] = ()) -> Gate | None:
    """The gate that lies on the most ways, and among those the best (`_rank`)."""
    served: Counter[Gate] = Counter()
    position: dict[Gate, int] = {}
    for crossing, gates in crossings:
        served.update(gates)
        # As a rule they are all of its gates.
        places = enumerate(gates) if gates is crossing.gates else ((crossing.gates.index(g), g) for g in gates)
        for place, gate in places:
            position.setdefault(gate, place)
    return min(served, key=lambda gate: _rank(gate, served[gate], position[gate], gate in known), default=None)


def steps(crossings: Sequence[Crossing], fixes: Mapping[object, object]) -> dict[object, int]:
    """Numbers for crossings, by their keys: one for those of an array whose ways touch each other, as the steps of a
    reduction do, and one for those that lack the same barrier, which is one of `fixes`, by key, as far as known."""
    from networkx.utils import UnionFind  # To load it takes longer than to lint a small file.

    groups: UnionFind[object] = UnionFind()
    lacks = fewest_gates(crossing for crossing in crossings if crossing.key not in fixes) | dict(fixes)
    for crossing in crossings:
        ends = (end for end in crossing.ends if end is not None)
        for place in (*crossing.gates, *ends):
            groups.union(crossing, (crossing.array, place))
        if crossing.key in lacks:
            groups.union(crossing, ("lacks", lacks[crossing.key]))
    numbers: dict[object, int] = {}
    return {crossing.key: numbers.setdefault(groups[crossing], len(numbers)) for crossing in crossings}
