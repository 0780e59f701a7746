"""What numbers have to be multiples of for addresses to be aligned, told from what is left of these, world by world."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.measure.numbers import numbers_of, parameters_of
from cudalint.worlds.records import Batch

Terms = Mapping[str, tuple[int, ...]]
"""Integers by their names, in each world."""
_LONGEST_TEXT = 40
_MOST_TOGETHER = 3


class Requirement(Struct, frozen=True):
    """Conditions that all have to hold."""

    text: str
    names: tuple[str, ...]
    """Of the numbers that they are about."""
    divisor: int


def terms_of(batch: Batch) -> Terms:
    """The numbers that differ between the worlds: the open ones that the kernel is given, what else it is given, and
    the other open ones."""
    open_, given = (
        {tuple(map(int, values)): name for name, values in reversed(numbers.items()) if len(set(values)) > 1}
        for numbers in (numbers_of(batch), parameters_of(batch))
    )
    both = {name: values for values, name in reversed(open_.items()) if values in given}
    others = {name: values for values, name in reversed(given.items()) if values not in open_}
    return both | others | {name: values for values, name in reversed(open_.items()) if values not in given}


def is_whatever(residues: Sequence[int], terms: Terms, width: int, unit: int, batch: Batch) -> bool:
    """Whether lanes are misaligned whatever the numbers are: in all worlds alike, or in each that has several blocks
    where their number is open, among them one in which all numbers are multiples of the width; or as a sum that is
    never a multiple of it, such as `2 * K + 1`. See `requirement_of` for the arguments."""
    reached = [world for world, bits in enumerate(residues) if bits]
    if len({residues[world] for world in reached}) == 1:
        return True
    if all(residues[world].bit_count() == 1 for world in reached):
        sums = list(_sums_of(residues, width, _in(terms, reached), unit))
        # Few worlds may admit several sums: it is never aligned if none of the simplest ones ever is.
        return bool(sums) and all(each.is_never for each in sums if len(each.names) == len(sums[0].names))
    open_axes = [axis for axis in range(3) if len({grid[axis] for grid in batch.grid}) > 1]
    several = [world for world in reached if all(batch.grid[world][axis] > 1 for axis in open_axes)]
    if any(residues[world] == 1 for world in several):
        return False
    return any(all(values[world] % width == 0 for values in terms.values()) for world in several)


def requirement_of(residues: Sequence[int], width: int, terms: Terms, unit: int) -> Requirement | None:
    """What makes all lanes aligned. `residues` are the bits of what is left of lanes' addresses in each world; `unit`
    is what the array is declared to hold, in bytes, or 0."""
    worlds = [world for world, bits in enumerate(residues) if bits]
    if all(residues[world].bit_count() == 1 for world in worlds):
        first = next(_sums_of(residues, width, _in(terms, worlds), unit), None)
        return first.requirement() if first is not None else None
    aligned = [residues[world] == 1 for world in worlds]
    rests = (rest for world in worlds for rest in range(width) if residues[world] >> rest & 1)
    return _one_by_one(aligned, width // math.gcd(width, *rests), _in(terms, worlds))


def _in(terms: Terms, worlds: Sequence[int]) -> Terms:
    return {name: tuple(values[world] for world in worlds) for name, values in terms.items()}


class _Sum(Struct, frozen=True):
    """`c1 * K + c2 * H + rest`, which has to be a multiple of the width."""

    factors: Mapping[str, int]
    """Of numbers, or of a product of two of them."""
    names: tuple[str, ...]
    """The numbers themselves."""
    rest: int
    width: int

    @property
    def is_never(self) -> bool:
        """Whether no numbers make it a multiple."""
        return self.rest % math.gcd(self.width, *self.factors.values()) != 0

    def requirement(self) -> Requirement | None:
        shared = math.gcd(self.width, *self.factors.values())
        divisor = self.width // shared
        left = {name: factor // shared for name, factor in self.factors.items() if factor // shared % divisor}
        if divisor == 1 or not left or self.is_never:
            return None
        wanted = -self.rest // shared % divisor
        if len(left) == 1:
            ((name, factor),) = left.items()
            if factor % 2 == 0:
                return None
            wanted, left = wanted * pow(factor, -1, divisor) % divisor, {name: 1}
        parts = [name if factor == 1 else f"{factor} * {name}" for name, factor in left.items()]
        text = parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"
        is_product = len(self.factors) < len(self.names)
        return Requirement(f"{text} % {divisor} == {wanted}", self.names if is_product else tuple(left), divisor)


_Named = tuple[tuple[str, ...], dict[str, Any]]
"""Integers, or a product of them, by what they are called, with the names that it consists of."""


def _sums_of(residues: Sequence[int], width: int, terms: Terms, unit: int) -> Iterator[_Sum]:
    """Where all lanes have the same rest: the sums of multiples of numbers, and of a constant, that leave it in all
    worlds; the simplest ones first."""
    wanted = np.array([bits.bit_length() - 1 for bits in residues if bits])
    step = math.gcd(unit, width) if unit else 1
    factors = range(step, width, step)
    one_by_one: list[_Named] = [((name,), {name: np.array(own)}) for name, own in terms.items()]
    pairs: list[_Named] = [
        ((one, other), {one: np.array(its), other: np.array(own)})
        for (one, its), (other, own) in itertools.combinations(terms.items(), 2)
    ]
    products: list[_Named] = [
        (names, {" * ".join(names): np.prod(list(own.values()), axis=0)}) for names, own in pairs
    ]
    for names, values in (*one_by_one, *products, *pairs):
        for own in itertools.product(factors, repeat=len(values)):
            rests = (wanted - np.array(own) @ np.array(list(values.values()))) % width
            if (rests == rests[0]).all():
                yield _Sum(dict(zip(values, own, strict=True)), names, int(rests[0]), width)


def _one_by_one(aligned: Sequence[bool], divisor: int, terms: Terms) -> Requirement | None:
    """Where lanes multiply numbers by different ones each of those has to be a multiple by itself. Worlds without the
    lanes that would be misaligned are aligned all the same: that is the case in as few of them as possible."""
    best: tuple[int, Requirement] | None = None
    for text, names, met, own in _candidates(terms, divisor):
        is_enough = all(fine for holds, fine in zip(met, aligned, strict=True) if holds)
        if not is_enough or not any(met):
            continue
        unneeded = sum(fine and not holds for holds, fine in zip(met, aligned, strict=True))
        if best is None or unneeded < best[0]:
            best = unneeded, Requirement(text, names, own)
    return best[1] if best is not None and len(best[1].text) <= _LONGEST_TEXT else None


def _candidates(terms: Terms, divisor: int) -> Iterator[tuple[str, tuple[str, ...], list[bool], int]]:
    """Those that are told rather come first."""
    divisors = [own for own in dict.fromkeys((divisor, 2, 4, 8, 16)) if own > 1]
    for own in divisors:
        for name, values in terms.items():
            yield f"{name} % {own} == 0", (name,), [value % own == 0 for value in values], own
    for own in divisors:
        for (one, its), (other, others) in itertools.combinations(terms.items(), 2):
            products = [a * b for a, b in zip(its, others, strict=True)]
            yield f"{one} * {other} % {own} == 0", (one, other), [value % own == 0 for value in products], own
    for count in range(2, _MOST_TOGETHER + 1):
        for names in itertools.combinations(terms, count):
            for own in divisors:
                met = [all(each % own == 0 for each in numbers) for numbers in zip(*map(terms.get, names), strict=True)]
                yield " && ".join(f"{name} % {own} == 0" for name in names), names, met, own
