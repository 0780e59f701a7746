"""Chooses the worlds of a batch: few numbers that satisfy all guards and differ where a use could matter.

It is a cover: each world is made out of one that the guards admit, by changing one number, or two, as long as more of
what is asked for is shown by no world before. When all of that is, further worlds show pairs of it in combinations that
are new, so that what a figure rests on can be told apart. Nothing is random.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.worlds.needs import Need, Values, needs_of, values_of
from cudalint.worlds.origins import numbers_of
from cudalint.worlds.records import Choice, Parameter, Valuation
from cudalint.worlds.uses import Use

Allows = Callable[[Values], bool]
"""Whether guards admit a world."""

MOST_WORLDS = 8
_MOST_ASKED = 3000
"""How often guards are asked; what is not found by then is left out."""


class Worlds(Struct, frozen=True):
    """What was chosen."""

    valuations: tuple[Valuation, ...]
    why: tuple[str, ...]
    """What each of them is the first to show."""
    needed: int
    """How many of them, the first ones, show something that no other does; the rest are there to tell numbers apart."""
    missing: tuple[str, ...]
    """What none of them shows: the guards don't admit it, or it was not found."""


class _Made(NamedTuple):
    values: dict[Parameter, int | float | bool]
    shows: int
    """The needs that it has, as bits."""
    why: str


def choose(
    kernel: ir.Function, uses: Sequence[Use], allows: Allows = lambda values: True,
    given: Mapping[Parameter, Choice] | None = None, threads: int = 0, most: int = MOST_WORLDS,
) -> Worlds:  # fmt: skip
    """At most so many worlds for the numbers that a kernel takes. `given` are those that are not open; `threads` as for
    `values_of`. No worlds at all if none is found that the guards admit."""
    given = given or {}
    parameters = list(dict.fromkeys((*numbers_of(kernel), *given)))
    types = {p: type_of(p) for p in parameters}
    tried = {
        p: [given[p].value] if p in given else list(values_of(p, types[p], uses, threads)) for p in parameters
    }
    search = Search(tried, allows, needs_of(uses, parameters, threads))
    made = search.worlds(most)
    first_uses = {use.parameter: use for use in reversed(uses)}
    valuations = tuple(valuation(world.values, given, first_uses) for world in made)
    missing = tuple(
        need.text
        for number, need in enumerate(search.needs)
        if not need.is_extra and not search.shown >> number & 1
    )
    needed = sum(1 for world in made if world.why)
    return Worlds(valuations, tuple(world.why for world in made), needed, missing)


def valuation(values: Values, given: Mapping[Parameter, Choice], first_uses: Mapping[Parameter, Use]) -> Valuation:
    """The numbers with the reasons for them."""

    def choice(parameter: Parameter, value: int | float | bool) -> Choice:
        use = first_uses.get(parameter)
        return Choice(value, "use", use.span) if use is not None else Choice(value, "default")

    return Valuation({p: given[p] if p in given else choice(p, value) for p, value in values.items()})


def type_of(parameter: Parameter) -> ir.Type:
    """Of the number, where it is in a record too."""
    type_ = parameter.symbol.type
    for name in parameter.path:
        field = type_.field(name) if isinstance(type_, ir.RecordType) else None
        type_ = field.type if field is not None else ir.OpaqueType("?")
    return type_


class Search:
    """The worlds that were found so far, and what they show."""

    def __init__(
        self, tried: Mapping[Parameter, Sequence[int | float | bool]], allows: Allows, needs: list[Need]
    ) -> None:
        self.tried, self.needs = dict(tried), needs
        alone = [(number, need) for number, need in enumerate(needs) if len(need.about) == 1]
        self._bits = {
            p: {value: _bits(alone, p, value) for value in values} for p, values in self.tried.items()
        }
        """What each number shows by itself."""
        self._extra = sum(1 << number for number, need in enumerate(needs) if need.is_extra)
        self._of_several = [(number, need) for number, need in enumerate(needs) if len(need.about) > 1]
        self._open = [p for p, values in self.tried.items() if len(values) > 1]
        self._allows, self._asked = allows, dict[tuple[int | float | bool, ...], bool]()
        self._has_refused = False
        self.shown = 0
        self._together = [0] * len(needs)
        """For each need those that were shown together with it."""
        self._apart = [
            sum(
                1 << n
                for n, other in enumerate(needs)
                if not set(other.about) & set(need.about) and not other.is_extra
            )
            for need in needs
        ]
        """For each need those that are about other numbers."""

    def worlds(self, most: int) -> list[_Made]:
        """At most so many, the usual one first."""
        made: list[_Made] = []
        base = self._first()
        while base is not None and len(made) < most:
            starts = [base, *(world.values for world in made[-1:])]
            found = base if not made else max((self._improved(start) for start in starts), key=self._gain)
            shows = self._shows(found)
            if made and not any(self._gain(found)):
                break
            shown = shows & ~self.shown & ~self._extra
            new = [need.text for number, need in enumerate(self.needs) if shown >> number & 1]
            made.append(_Made(found, shows, "; ".join(new)))
            self._take(shows)
        return made

    def admits(self, values: Values) -> bool:
        """Whether the guards do; they are not asked too often."""
        key = tuple(values.values())
        if key not in self._asked:
            if len(self._asked) >= _MOST_ASKED:
                return False
            self._asked[key] = bool(self._allows(values))
            self._has_refused |= not self._asked[key]
        return self._asked[key]

    def _first(self) -> dict[Parameter, int | float | bool] | None:
        """A world to begin with: usual numbers, if the guards admit them, or as few others as possible."""
        for values in self._starts():
            if self.admits(values):
                return values
            if len(self._asked) >= _MOST_ASKED:
                break
        return None

    def _starts(self) -> Iterator[dict[Parameter, int | float | bool]]:
        usual = {p: values[0] for p, values in self.tried.items()}
        yield usual
        for count in (1, 2):
            for changed in itertools.combinations(self._open, count):
                for values in itertools.product(*(self.tried[p][1:] for p in changed)):
                    yield {**usual, **dict(zip(changed, values, strict=True))}
        yield from ({**usual, **alike} for alike in self._alike())
        for values in itertools.product(*(self.tried[p] for p in self._open)):
            yield {**usual, **dict(zip(self._open, values, strict=True))}

    def _improved(self, start: dict[Parameter, int | float | bool]) -> dict[Parameter, int | float | bool]:
        """The most that is new that changes of one number after the other, or of two at once, lead to."""
        best, gain = start, self._gain(start)
        while True:
            last = gain
            for change in itertools.chain(self._single(), self._pairs(best), self._alike()):
                changed = {**best, **change}
                own = self._gain(changed)
                if own > gain and self.admits(changed):
                    best, gain = changed, own
            if gain == last:
                return best

    def _single(self) -> Iterable[dict[Parameter, int | float | bool]]:
        return ({p: value} for p in self._open for value in self.tried[p])

    def _alike(self) -> Iterator[dict[Parameter, int | float | bool]]:
        """Guards may ask that numbers are equal."""
        for value in dict.fromkeys(value for p in self._open for value in self.tried[p]):
            yield {p: value for p in self._open if value in self._bits[p]}

    def _pairs(self, values: Values) -> Iterator[dict[Parameter, int | float | bool]]:
        """Changes of two numbers, where guards refuse one of them alone."""
        if not self._has_refused or len(self._asked) >= _MOST_ASKED:
            return
        for one, other in itertools.combinations(self._open, 2):
            for own in self.tried[one]:
                if own != values[one] and not self.admits({**values, one: own}):
                    yield from ({one: own, other: its} for its in self.tried[other])

    def _shows(self, values: Values) -> int:
        found = 0
        for parameter, value in values.items():
            found |= self._bits[parameter][value]
        return found | sum(1 << number for number, need in self._of_several if need.holds(values))

    def _gain(self, values: Values) -> tuple[int, int, int]:
        """How much it shows that no world does so far, how many pairs of it, and how much that is extra."""
        shows = self._shows(values)
        new, pairs = shows & ~self.shown, 0
        left = shows & ~self._extra
        while left:
            number = left.bit_length() - 1
            left ^= 1 << number
            pairs += (left & self._apart[number] & ~self._together[number]).bit_count()
        return (new & ~self._extra).bit_count(), pairs, (new & self._extra).bit_count()

    def _take(self, shows: int) -> None:
        self.shown |= shows
        for number in range(len(self.needs)):
            if shows >> number & 1:
                self._together[number] |= shows


def _bits(needs: Iterable[tuple[int, Need]], parameter: Parameter, value: int | float | bool) -> int:
    own = {parameter: value}
    return sum(1 << number for number, need in needs if need.about == (parameter,) and need.holds(own))
