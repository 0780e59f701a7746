"""Chooses the worlds of a batch: few numbers that satisfy all conditions and differ where a use could matter.

It is a cover: each world is made out of one that the conditions admit, by changing one number, or two, as long as more
of what is asked for is shown by no world before. When all of that is, further worlds show pairs of it in combinations
that are new, so that what a figure rests on can be distinguished. Nothing is random, and conditions are asked about
many worlds at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.worlds.arrays import first_of_each, once
from cudalint.worlds.needs import Need, Values, needs_of, values_of
from cudalint.worlds.origins import numbers_of
from cudalint.worlds.records import Choice, Parameter
from cudalint.worlds.uses import Use

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = int | float | bool
World = Mapping[Any, Number]
"""A number for each variable: what nothing gives, be it a parameter of the kernel or something of which the host code
computes those."""
Numbers = Mapping[Any, Any]
"""The same for C worlds, each [C]."""

MOST_WORLDS = 8
_MOST_ASKED = 12_000
"""Worlds about which conditions are asked; what is not found by then is left out."""
_MOST_AT_ONCE = 2000
_MOST_STEPS = 6
"""Changes of one world."""
_MOST_BASES = 8
"""Worlds beside which numbers are compared."""
_TURNS = 16
"""Worlds in which all numbers are others, each the next of those to try."""


def _none(numbers: Numbers) -> Any:
    return np.ones((len(next(iter(numbers.values()), ())) or 1, 0), bool)


class Space(Struct, frozen=True, eq=False):
    """All worlds that a launch may have."""

    tried: Mapping[Any, Sequence[Number]]
    """Numbers to try for each variable, the usual one first; one alone is given."""
    needs: Sequence[Need]
    parameters: Callable[[Numbers], Values] = lambda numbers: numbers
    """What the kernel is given in such worlds."""
    conditions: Callable[[Numbers], NDArray[np.bool_]] = _none
    """[C, conditions]: whether what has to hold does."""
    wishes: Callable[[Numbers], NDArray[np.bool_]] = _none
    """[C, wishes]: the same for what holds in the first world, if it can."""


class Worlds(Struct, frozen=True):
    """What was chosen."""

    worlds: tuple[World, ...]
    why: tuple[str, ...]
    """What each of them is the first to show."""
    needed: int
    """How many of them, the first ones, show something that no other does; the rest distinguish numbers."""
    missing: tuple[str, ...]
    """What none of them shows: the conditions don't admit it, or it was not found."""
    broken: tuple[int, ...] = ()
    """The conditions that no world was found to satisfy beside the others: they are left out."""
    unreached: tuple[ir.Span, ...] = ()
    """Where parts of the kernel begin that access memory, that open numbers decide about, and that no world was found
    to come to. What the numbers that are given rule out is not among it."""


def choose(space: Space, most: int = MOST_WORLDS) -> Worlds:
    """At most so many worlds, the first with the usual numbers, or as few others as conditions ask for."""
    return Search(space).worlds(most)


def space_of(
    kernel: ir.Function, uses: Sequence[Use], given: Mapping[Parameter, Choice] | None = None, threads: int = 0
) -> Space:
    """The worlds of a kernel of whose launch nothing is known but some numbers: its parameters are the variables.
    `threads` as for `values_of`."""
    given = given or {}
    parameters = list(dict.fromkeys((*numbers_of(kernel), *given)))
    tried: dict[Parameter, Sequence[Number]] = {
        p: [given[p].value] if p in given else values_of(p, type_of(p), uses, threads) for p in parameters
    }
    return Space(tried, needs_of(uses, parameters, threads))


def type_of(parameter: Parameter) -> ir.Type:
    """Of the number, where it is in a record too."""
    type_ = parameter.symbol.type
    for name in parameter.path:
        field = type_.field(name) if isinstance(type_, ir.RecordType) else None
        type_ = field.type if field is not None else ir.OpaqueType("?")
    return type_


class _Judged:
    """Candidates, each a place in the numbers that are tried of each variable."""

    def __init__(self, places: Any, held: Any, shows: Any) -> None:
        self.places, self.held, self.shows = places, held, shows
        self.admitted = held.all(axis=1)


class Search:
    """The worlds that were found so far, and what they show."""

    def __init__(self, space: Space) -> None:
        self.space, self.needs = space, list(space.needs)
        self._variables = list(space.tried)
        self._tried = [np.array(list(values)) for values in space.tried.values()]
        self._counts = np.array([len(values) for values in self._tried], np.int64)
        self._open = [place for place, count in enumerate(self._counts) if count > 1]
        self._numbers = {place: list(range(self._counts[place])) for place in self._open}
        """Which of them are tried."""
        self._extra = np.array([need.is_extra for need in self.needs], bool)
        self._disjoint = np.array(
            [
                [not set(one.about) & set(other.about) and not other.is_extra for other in self.needs]
                for one in self.needs
            ],
            bool,
        ).reshape(len(self.needs), len(self.needs))
        """For each need those that are about other numbers."""
        self._together = np.zeros_like(self._disjoint)
        """For each need those that were shown together with it."""
        self._unpaired = self._disjoint.astype(np.float32)
        """For each need 1 for those about other numbers that no world shows together with it."""
        self._shown = np.zeros(len(self.needs), bool)
        self._kept: NDArray[np.bool_] | None = None
        """The conditions that are not left out; None for all."""
        self._asked = 0
        self._step = float(len(self.needs) + 1) ** 3
        """What something that no world shows so far is worth."""

    def worlds(self, most: int) -> Worlds:
        base, broken = self._first()
        made: list[Any] = []
        why: list[str] = []
        judged = self._judge(base[None])
        self._leave_equivalent(base)
        pool = self._pool(base) if self._open and self.needs and most > 1 else None
        best, shows = base, judged.shows[0]
        while True:
            new = shows & ~self._shown & ~self._extra
            made.append(best)
            why.append("; ".join(need.text for need, is_new in zip(self.needs, new, strict=True) if is_new))
            self._take(shows)
            if pool is None or len(made) >= most:
                break
            found = self._best(pool)
            if found is None:
                break
            best, shows = found
        missing = [
            need.text for need, shown in zip(self.needs, self._shown, strict=True) if not shown and not need.is_extra
        ]
        needed = max(1, sum(1 for text in why if text))
        order = sorted(range(len(made)), key=lambda number: bool(number) and not why[number])
        return Worlds(
            tuple(self._world(made[number]) for number in order), tuple(why[number] for number in order), needed,
            tuple(missing), broken,
        )  # fmt: skip

    def _world(self, places: Any) -> World:
        return {
            variable: values[place].item()
            for variable, values, place in zip(self._variables, self._tried, places, strict=True)
        }

    def numbers(self, places: Any) -> Numbers:
        return {
            variable: values[places[:, number]]
            for number, (variable, values) in enumerate(zip(self._variables, self._tried, strict=True))
        }

    def leave_out(self, conditions: Iterable[int]) -> None:
        """Conditions that no world satisfies beside the others."""
        broken = list(conditions)
        if broken:
            first = {variable: values[:1] for variable, values in zip(self._variables, self._tried, strict=True)}
            self._kept = np.ones(self.space.conditions(first).shape[1], bool)
            self._kept[broken] = False

    def admitted(self, numbers: Numbers) -> Any:
        """[C]: whether the conditions hold."""
        return self._conditions(numbers).all(axis=1)

    def _conditions(self, numbers: Numbers) -> Any:
        held = self.space.conditions(numbers)
        return held if self._kept is None else held[:, self._kept]

    def _judge(self, places: Any) -> _Judged:
        self._asked += len(places)
        numbers = self.numbers(places)
        held = self._conditions(numbers)
        held = np.broadcast_to(held, (len(places), held.shape[1]))
        values = self.space.parameters(numbers)
        shows = np.zeros((len(places), len(self.needs)), bool)
        with np.errstate(all="ignore"):
            for number, need in enumerate(self.needs):
                shows[:, number] = need.holds(values)
        return _Judged(places, held, shows)

    # --- the first -----------------------------------------------------------------------------------

    def _first(self) -> tuple[Any, tuple[int, ...]]:
        """Usual numbers, if the conditions admit them, or as few others as possible; and the conditions that are left
        out."""
        base = np.zeros(len(self._variables), np.int64)
        most: tuple[int, int, int] | None = None
        best = base
        for places in self._starts(base):
            numbers = self.numbers(places)
            self._asked += len(places)
            held = np.broadcast_to(self.space.conditions(numbers), (len(places), self._count(numbers)))
            wishes = self.space.wishes(numbers)
            both = held.sum(axis=1) * (wishes.shape[1] + 1) + wishes.sum(axis=1)
            place = int(both.argmax())
            found = int(held[place].sum()), int(np.broadcast_to(wishes.sum(axis=1), len(places))[place]), 0
            if most is None or found[:2] > most[:2]:
                most, best = found, places[place]
                self._kept = held[place] if not held[place].all() else None
            if (held.all(axis=1) & wishes.all(axis=1)).any() or self._asked > _MOST_ASKED:
                break
        broken = () if self._kept is None else tuple(int(number) for number in np.flatnonzero(~self._kept))
        return best, broken

    def _count(self, numbers: Numbers) -> int:
        return int(self.space.conditions({v: own[:1] for v, own in numbers.items()}).shape[1])

    def _starts(self, base: Any) -> Iterator[Any]:
        yield base[None]
        if not self._open:
            return
        yield self._single(base)
        yield self._equal(base)
        yield from _chunks(self._doubles(base, self._single_changes()))
        yield from _chunks(self._products(base))

    # --- candidates ----------------------------------------------------------------------------------

    def _single_changes(self) -> list[tuple[int, int]]:
        return [(place, number) for place in self._open for number in self._numbers[place]]

    def _leave_equivalent(self, base: Any) -> None:
        """Leaves numbers out that show what another one does, under the same conditions, whatever the others are:
        beside those of the first world, and where several are the same, since one factor may hide what others leave."""
        changes = self._single_changes()
        if not changes or not self.needs:
            return
        seen: dict[tuple[int, int], list[bytes]] = {change: [] for change in changes}
        asked = self._asked + len(changes)
        for own in (base, *self._of_several(base)):
            judged = self._judge(_changed(own, [(change,) for change in changes]))
            for row, change in enumerate(changes):
                seen[change] += judged.shows[row].tobytes(), judged.held[row].tobytes()
        self._asked = asked  # What is only compared takes nothing from the search.
        first: dict[tuple[int, bytes], int] = {}
        for (place, number), shown in seen.items():
            first.setdefault((place, b"".join(shown)), number)
        numbers: dict[int, list[int]] = {}
        for (place, _), number in first.items():
            numbers.setdefault(place, []).append(number)
        self._numbers.update(numbers)
        self._open = [place for place in self._open if len(self._numbers[place]) > 1]

    def _of_several(self, base: Any) -> Any:
        """Worlds in which several variables are one number, of as many variables as possible."""
        same = self._equal(base)
        count = (same != base).sum(axis=1)
        order = np.argsort(-count, kind="stable")[:_MOST_BASES]
        return same[order[count[order] > 1]]

    def _single(self, base: Any) -> Any:
        return _changed(base, [(change,) for change in self._single_changes()])

    def _equal(self, base: Any) -> Any:
        """Conditions may ask that numbers are equal."""
        by_value: dict[Number, list[tuple[int, int]]] = {}
        for place, number in self._single_changes():
            by_value.setdefault(self._tried[place][number].item(), []).append((place, number))
        return _changed(base, [dict(changes).items() for changes in by_value.values()] or [()])

    def _doubles(self, base: Any, ones: Sequence[tuple[int, int]]) -> Iterator[Any]:
        for one in ones:
            for other in self._single_changes():
                if other[0] != one[0]:
                    yield _changed(base, [(one, other)])[0]

    def _products(self, base: Any) -> Iterator[Any]:
        for numbers in itertools.product(*(self._numbers[place] for place in self._open)):
            places = base.copy()
            places[self._open] = numbers
            yield places

    def _turned(self, base: Any) -> Any:
        """All numbers are others: the next ones, or those that are further on for each variable."""
        found = []
        for turn in range(_TURNS):
            for step in (0, 1, 3):
                places = base.copy()
                for number, place in enumerate(self._open):
                    own = self._numbers[place]
                    places[place] = own[(turn + step * number) % len(own)]
                found.append(places)
        return np.array(found)

    def _pool(self, base: Any) -> _Judged:
        candidates = base[None], self._single(base), self._equal(base), self._turned(base)
        return _of(self._judge(once(np.concatenate(candidates))))

    def _best(self, pool: _Judged) -> tuple[Any, Any] | None:
        """What shows most that is new: of the pool, and of what changes of one number after the other, or of two at
        once, lead to."""
        if not len(pool.places):
            return None
        gains = self._gains(pool.shows)
        at = int(gains.argmax())
        best, shows, gain = pool.places[at], pool.shows[at], gains[at]
        for step in range(_MOST_STEPS):
            missing = ~(self._shown | shows | self._extra)
            if self._asked > _MOST_ASKED or not missing.any():
                break
            near = self._judge(self._single(best))
            better = self._better(near, gain)
            if better is None and not step:
                better = self._by_two(best, near, missing, gain)
            if better is None or better[2] // self._step == gain // self._step:
                break
            best, shows, gain = better
        return (best, shows) if gain > 0 else None

    def _by_two(self, best: Any, near: _Judged, missing: Any, gain: float) -> tuple[Any, Any, float] | None:
        """Changes of two numbers, where conditions refuse one of them alone that shows something."""
        shows = (near.shows & missing).any(axis=1) & ~near.admitted
        changes = [change for change, own in zip(self._single_changes(), shows, strict=True) if own]
        doubles = list(itertools.islice(self._doubles(best, changes), _MOST_AT_ONCE))
        return self._better(self._judge(np.array(doubles)), gain) if doubles else None

    def _better(self, judged: _Judged, gain: float) -> tuple[Any, Any, float] | None:
        gains = self._gains(judged.shows, judged.admitted)
        at = int(gains.argmax())
        return (judged.places[at], judged.shows[at], gains[at]) if gains[at] > gain else None

    def _gains(self, shows: Any, admitted: Any = True) -> Any:
        """How much each shows that no world does so far, how many pairs of it, and how much that is extra. What shows
        less that is new than another has not to be looked at further."""
        new = shows & ~self._shown
        first = np.where(admitted, (new & ~self._extra).sum(axis=1), -1)
        gains = first * self._step
        best = np.flatnonzero((first == first.max(initial=-1)) & (first >= 0))
        plain = (shows[best] & ~self._extra).astype(np.float32)
        pairs = ((plain @ self._unpaired) * plain).sum(axis=1) // 2
        gains[best] += pairs.astype(np.float64) * (len(self.needs) + 1) + (new[best] & self._extra).sum(axis=1)
        return gains

    def _take(self, shows: Any) -> None:
        self._shown |= shows
        self._together |= shows[:, None] & shows[None]
        self._unpaired = (self._disjoint & ~self._together).astype(np.float32)


def _of(judged: _Judged) -> _Judged:
    """Those that the conditions admit, and of those that show the same the first one."""
    own = np.flatnonzero(judged.admitted)
    own = own[first_of_each(judged.shows[own])]
    return _Judged(judged.places[own], judged.held[own], judged.shows[own])


def _changed(base: Any, changes: Sequence[Iterable[tuple[int, int]]]) -> Any:
    found = np.repeat(base[None], len(changes), axis=0)
    parts = [(row, place, number) for row, own in enumerate(changes) for place, number in own]
    if parts:
        rows, places, numbers = np.array(parts).T
        found[rows, places] = numbers
    return found


def _chunks(candidates: Iterator[Any]) -> Iterator[Any]:
    while own := list(itertools.islice(candidates, _MOST_AT_ONCE)):
        yield np.array(own)
