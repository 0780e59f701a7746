"""Numbers that differ from world to world, in terms of others: `2 * n + 1`, `rows * columns`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

_MOST_FACTORS = 3


class Amount(Struct, frozen=True):
    """`factor` times the product of some numbers, and something more."""

    factor: int
    names: tuple[str, ...]
    more: int = 0

    def __str__(self) -> str:
        numbers = [str(self.factor)] if self.factor != 1 or not self.names else []
        product = " * ".join((*numbers, *self.names))
        if not self.more:
            return product
        return f"{product} {'+' if self.more > 0 else '-'} {abs(self.more)}"


def amount_of(values: Sequence[int | None], numbers: Mapping[str, Sequence[int | float | bool]]) -> Amount | None:
    """What a number is in all worlds in which it is known, as few others as possible going into it; None where nothing
    of the kind is, or where too few worlds tell that apart."""
    known = [world for world, value in enumerate(values) if value is not None]
    own = [value for value in values if value is not None]
    if not own:
        return None
    if len(set(own)) == 1:
        return Amount(own[0], ())
    for count in range(1, _MOST_FACTORS + 1):
        for names in itertools.combinations(numbers, count):
            factors = [[int(numbers[name][world]) for name in names] for world in known]
            found = _linear(own, [math.prod(each) for each in factors])
            if found is not None:
                return Amount(found[0], names, found[1])
    return None


def _linear(values: Sequence[int], products: Sequence[int]) -> tuple[int, int] | None:
    """`a, b` such that each value is a times its product, plus b. Two pairs have some in any case: with no third one b
    is nothing."""
    apart = dict(zip(products, values, strict=True))
    (one, its), *others = sorted(apart.items())
    if not others:
        return None
    other, own = others[-1]
    factor, rest = divmod(own - its, other - one)
    more = its - factor * one
    if rest or factor < 1 or (more and len(apart) < 3):
        return None
    if any(value != factor * product + more for product, value in zip(products, values, strict=True)):
        return None
    return factor, more
