"""The numbers of a launch, world by world, and how sizes are spelled with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from cudalint.ir import nodes as ir
from cudalint.measure.arrays import ByWorld
from cudalint.regexes import regex
from cudalint.worlds.records import Batch

_LONGEST_TEXT = 80
"""Characters of a size as a message spells it."""


def elements_text(
    extents: ByWorld, element: int, numbers: Mapping[str, Sequence[int | float | bool]]
) -> str | None:
    """A size as a number of elements, in terms of some numbers; None where it is no multiple of them, where nothing of
    the kind makes it, or where nobody would read it."""
    if any(extent is not None and extent % element for extent in extents):
        return None
    amount = amount_of([None if extent is None else extent // element for extent in extents], numbers)
    text = str(amount) if amount is not None else None
    return text if text is not None and len(text) <= _LONGEST_TEXT else None


def numbers_of(batch: Batch) -> dict[str, list[int | float | bool]]:
    """The open numbers of a launch, each with what it is in all worlds; a recorded one may be infinite in some, or none
    at all, and nothing is counted by such."""
    numbers = batch.numbers
    common = {name: [own[name] for own in numbers] for name in numbers[0] if all(name in own for own in numbers)}
    return {name: values for name, values in common.items() if all(map(math.isfinite, values))}


def parameters_of(batch: Batch) -> dict[str, list[int | float | bool]]:
    """The whole numbers that the kernel is given, by the names of its parameters."""
    found: dict[str, list[int | float | bool]] = {}
    for symbol, value in batch.arguments.items():
        values = list(value) if isinstance(value, (list, tuple)) else [value] * len(batch)
        is_number = isinstance(symbol.type, ir.Scalar) and symbol.type.kind in ("int", "uint")
        if is_number and all(isinstance(each, int) for each in values):
            found[symbol.name] = values
    return found


def names_in(text: str) -> set[str]:
    """The names that an expression of the source consists of, those of fields with what they are fields of."""
    return set(_NAME.findall(text))


_NAME = regex(r"[A-Za-z_](?:[\w.]|->|\[\d+\])*")


# --- in terms of others: `2 * n + 1`, `rows * columns` -------------------------------------------------


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
    of the kind is, or where there are too few worlds to decide."""
    known = [world for world, value in enumerate(values) if value is not None]
    own = [value for value in values if value is not None]
    if not own:
        return None
    if len(set(own)) == 1:
        return Amount(own[0], ())
    for count in range(1, _MOST_FACTORS + 1):
        # One number may be a factor twice: the rows of a square have its columns' number.
        for names in itertools.combinations_with_replacement(numbers, count):
            factors = [[int(numbers[name][world]) for name in names] for world in known]
            found = _linear(own, [math.prod(each) for each in factors])
            if found is not None:
                return Amount(found[0], names, found[1])
    return None


def _linear(values: Sequence[int], products: Sequence[int]) -> tuple[int, int] | None:
    """`a, b` such that each value is a times its product, plus b. Two pairs have some in any case: with no third one b
    is nothing."""
    pairs = dict(zip(products, values, strict=True))
    (one, its), *others = sorted(pairs.items())
    if not others:
        return None
    other, own = others[-1]
    factor, rest = divmod(own - its, other - one)
    more = its - factor * one
    if rest or factor < 1 or (more and len(pairs) < 3):
        return None
    if any(value != factor * product + more for product, value in zip(products, values, strict=True)):
        return None
    return factor, more
