"""The numbers of a launch, world by world, and how sizes are spelled with them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cudalint.ir import nodes as ir
from cudalint.measure.amounts import amount_of
from cudalint.measure.bounds import ByWorld
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
    """The open numbers of a launch, each with what it is in all worlds."""
    numbers = batch.numbers
    return {name: [own[name] for own in numbers] for name in numbers[0] if all(name in own for own in numbers)}


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


_NAME = re.compile(r"[A-Za-z_](?:[\w.]|->|\[\d+\])*")
