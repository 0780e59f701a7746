"""For which sizes something is so, where it may be that blocks are not filled: in words, by what a size is no multiple
of."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from cudalint.measure.sensitivity import where
from cudalint.worlds.records import Batch


def for_which_sizes(holds: Sequence[bool | None], world: int, batch: Batch) -> str | None:
    """The condition under which it is so, with the numbers of one such world; None where it is in all worlds, or where
    these are launches that were recorded. `holds` says of each world whether it is so, or None."""
    if batch.made:
        return None
    numbers = batch.numbers
    own, names = numbers[world], {name for each in numbers for name in each}
    for modulus in _divisors(batch):
        # The largest one that fits says it of the most numbers: a block that is not filled misses threads.
        found = where(holds, numbers, dict.fromkeys(names, (modulus,)))
        is_one = found.kind == "where" and len(found.symbols) == 1
        if is_one and found.condition.endswith(f" % {modulus} != 0"):
            (symbol,) = found.symbols
            return f"where {symbol} = {own[symbol]}, which is no multiple of {modulus}"
    found = where(holds, numbers)
    if found.kind == "where":
        number = own[found.symbols[0]]
        is_one = found.condition == f"{found.symbols[0]} == {number}"
        return f"where {found.symbols[0]} = {number}" if is_one else f"where {found.condition}"
    return f"for some {' and '.join(found.symbols)}" if found.kind == "unexplained" else None


def _divisors(batch: Batch) -> list[int]:
    """What numbers of threads and of rows of a block may be multiples of, the largest first."""
    extents = {*batch.block, prod(batch.block)}
    found = {each for extent in extents for each in range(2, extent + 1) if extent % each == 0}
    return sorted(found, reverse=True)
