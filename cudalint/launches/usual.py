"""The usual numbers of a launch: those of its first world, whose figures are reported.

They are what the host code has its sizes at, or what was made up for them, made to fit what the kernel does: what it
divides is a multiple, windows are small, options are off, and products and the grid are no larger than makes sense.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from cudalint.hardware.requests import WARP_LANES
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.nodes import Basis, Node, Uniform, bits_of, without_cast
from cudalint.launches.conditions import Condition
from cudalint.launches.configuration import Configuration
from cudalint.launches.flags import Flag
from cudalint.launches.open_numbers import OpenNumbers
from cudalint.worlds.choosing import Number
from cudalint.worlds.needs import is_shift
from cudalint.worlds.records import Parameter
from cudalint.worlds.uses import Use

_FEW = 8
_SHIFTS = {"<<": 16, ">>": 4}
"""`1 << bits` is a size then, and `size >> level` still is one."""
_LARGEST = 1 << 28
"""Sizes beyond would overflow soon where they are multiplied."""
_LARGEST_UNIT = WARP_LANES << 12
"""What is divided by more is no size of tiles: the bytes of a megabyte."""
_MOST_HALVED = 64
_OPEN: tuple[Basis, ...] = ("use", "name", "default")
"""Why a number was chosen for which the kernel may have a better one."""


class Usual(Struct, eq=False):
    """Numbers in the making."""

    open: OpenNumbers
    uses: Sequence[Use]
    configuration: Configuration
    holds: dict[Node, Number]
    """The numbers so far."""
    units: dict[Node, int]
    """What they stay multiples of when they are made smaller."""
    shares: list[tuple[Node, tuple[Node, ...]]]
    """What is divided as if nothing were left, and by what."""
    evaluated: Evaluated
    """What the host code computes of the numbers."""
    made: set[Node] = field(default_factory=set)
    """Those that stand for a zero that no kernel divides by."""

    @classmethod
    def of(
        cls, open_: OpenNumbers, uses: Sequence[Use], configuration: Configuration, flags: Sequence[Flag] = ()
    ) -> Usual:
        holds = {symbol: open_.usual(symbol) for symbol in open_.all}
        found = cls(open_, uses, configuration, holds, {}, [], open_.evaluated(holds))
        found._divide_by_something()
        for flag in flags:
            if not flag.is_size and found._may_change(flag.symbol):
                holds[flag.symbol] = flag.other()
        return found

    def numbers(self, limits: Sequence[Condition]) -> dict[Node, Number]:
        direct = self._direct()
        for parameter, symbol in direct.items():
            self._fit(symbol, [use for use in self.uses if use.parameter == parameter], direct)
        self._scale(direct)
        broken = self._broken(limits)
        held = [limit for limit in limits if limit not in broken]
        for limit in broken:
            for _ in range(_MOST_HALVED):
                if not self._broken([limit]):
                    held.append(limit)
                    break
                if not self._halve(limit, held):
                    break
        self._scale(direct)
        return self.holds

    def _divide_by_something(self) -> None:
        """Nothing is divided by zero: a number that host code was followed to so far is none that it was made for."""
        divisors = {use.parameter for use in self.uses if use.kind == "divisor"}
        for parameter, node in self.open.parameters.items():
            symbol = without_cast(node)
            is_open = isinstance(symbol.payload, Uniform) and symbol.kind.code in "iu"
            if parameter in divisors and is_open and not self.open.is_given(symbol) and not self.holds[symbol]:
                self.holds[symbol] = WARP_LANES
                self.made.add(symbol)

    def _broken(self, limits: Sequence[Condition]) -> list[Condition]:
        self.evaluated = self.evaluated.changed(self.holds)
        return [limit for limit in limits if not limit.holds(self.evaluated).all()]

    def _direct(self) -> dict[Parameter, Node]:
        """The parameters that are open numbers by themselves."""
        found = {}
        for parameter, node in self.open.parameters.items():
            symbol = without_cast(node)
            if isinstance(symbol.payload, Uniform) and self._may_change(symbol):
                found[parameter] = symbol
        return found

    def _may_change(self, symbol: Node) -> bool:
        is_open = symbol in self.made or self.open.graph.choice(symbol).basis in _OPEN
        return is_open and symbol.kind.code in "iu" and not self.open.is_given(symbol)

    def _fit(self, symbol: Node, own: Sequence[Use], direct: Mapping[Parameter, Node]) -> None:
        by_name = {parameter.name: other for parameter, other in direct.items()}
        kinds = {use.kind for use in own}
        value = int(self.holds[symbol])
        if kinds == {"flag"} and not self._is_size(symbol):
            cases = {use.other for use in own}
            self.holds[symbol] = next(number for number in range(len(cases) + 1) if number not in cases)
            return
        if "radius" in kinds:
            self.holds[symbol] = _FEW * max(int(use.other or 1) for use in own if use.kind == "radius")
            return
        if "window" in kinds or "step" in kinds:
            self.holds[symbol] = _FEW if "window" in kinds else 1
            return
        if kinds == {"shift"} or is_shift(own):
            self.holds[symbol] = min(value, _shifted([str(use.other) for use in own if use.kind == "shift"]))
            return
        if value <= 0 or value % WARP_LANES:
            return
        for use in own:
            if use.kind in ("dividend", "vector", "size") and isinstance(use.other, int) and use.other > 0:
                both = math.lcm(self._unit(symbol), WARP_LANES * use.other)
                if both <= _LARGEST_UNIT:
                    self.units[symbol] = both
        self._set(symbol, value)
        for use in own:
            if use.kind == "dividend" and isinstance(use.other, str):
                parts = [by_name.get(name) for name in use.other.split(" * ")]
                if symbol not in parts and None not in parts:
                    self._share(symbol, [part for part in parts if part is not None])

    def _scale(self, direct: Mapping[Parameter, Node]) -> None:
        """Where nothing says how much larger an image becomes, it stays as large as it is."""
        by_name = {parameter.name: symbol for parameter, symbol in direct.items()}
        for use in self.uses:
            one, other = direct.get(use.parameter), by_name.get(str(use.other))
            if use.kind == "scale" and one is not None and other is not None:
                self.holds[one] = self.holds[other]

    def _is_size(self, symbol: Node) -> bool:
        """Whether the launch itself is made of it."""
        return any(node.bits & symbol.bits for node in (*self.configuration.grid, self.configuration.shared))

    def _unit(self, symbol: Node) -> int:
        return self.units.get(symbol, WARP_LANES)

    def _set(self, symbol: Node, value: int) -> None:
        """The number, or the next multiple of what it is a multiple of."""
        unit = self._unit(symbol)
        rounded = -(-value // unit) * unit
        if 0 < rounded < _LARGEST or not self.holds[symbol]:
            self.holds[symbol] = rounded

    def _share(self, whole: Node, parts: Sequence[Node]) -> None:
        """`channels / heads`: one is as many whole warps times the others."""
        least = WARP_LANES * math.prod(int(self.holds[part]) for part in parts)
        if least <= 0:
            return
        both = math.lcm(int(self.holds[whole]), least)
        for part in parts if both >= _LARGEST else ():
            if not self._is_size(part):
                self.holds[part] = self._unit(part)
        least = WARP_LANES * math.prod(int(self.holds[part]) for part in parts)
        both = math.lcm(int(self.holds[whole]), least)
        self.holds[whole] = both if both < _LARGEST else least
        self.shares.append((whole, tuple(parts)))

    def _halve(self, limit: Condition, held: Sequence[Condition]) -> bool:
        """Makes the largest number that goes into a limit about half as large, which others go on to hold with; whether
        that is possible."""
        able = [symbol for symbol in self.open.all if symbol.bits & limit.bits and self._may_change(symbol)]
        for symbol in sorted(able, key=lambda symbol: -int(self.holds[symbol])):
            before = dict(self.holds)
            quotients = [parts for whole, parts in self.shares if whole is symbol]
            parts = list(dict.fromkeys(part for own in quotients for part in own))
            for part in (each for each in parts if self._may_change(each) and not self._is_size(each)):
                self.holds[part] = max(WARP_LANES, int(self.holds[part]) // 2 // WARP_LANES * WARP_LANES)
            products = (math.prod(int(self.holds[part]) for part in own) for own in quotients)
            unit = math.lcm(self._unit(symbol), *(WARP_LANES * product for product in products))
            value = int(before[symbol])
            rest = value % WARP_LANES
            smaller = max(unit, value // 2 // unit * unit) + rest
            self.holds[symbol] = smaller
            bits = symbol.bits | bits_of(parts)
            if 0 < smaller < value and not self._broken([each for each in held if each.bits & bits]):
                return True
            self.holds = before
        return False


def _shifted(how: Sequence[str]) -> int:
    """By how much, as `Use` says how: places by nothing, as in the first level of a pyramid, unless it is a size of
    rows, too, which go into an index with the number of these."""
    sizes = [_SHIFTS[each.split()[0]] for each in how if each != "place"]
    if not sizes:
        return 0
    return min(sizes) // 2 if "place" in how else min(sizes)
