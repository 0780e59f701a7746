"""What of a file could not be done: one record for each kind, however many kernels it costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from cudalint.numerals import count, enumeration

MOST_NAMED = 5
"""Kernels that are named, of any number."""

Gravity = Literal["error", "warning"]
"""An error is something that failed or could not be done at all; a warning, what was left out, mostly for lack of time,
of a file of which the rest was done."""


class Shortfall(Struct, frozen=True):
    """What of a file could not be done, in one line."""

    message: str
    severity: Gravity = "error"
    kernels: tuple[str, ...] = ()
    """The first of those that it costs."""
    number: int = 0
    """How many kernels these are; 0 where it is about none by itself."""
    is_late: bool = False
    """Whether time ran out, so that what is known may be more in another run."""


def of_kernels(names: Iterable[str], text: str, severity: Gravity = "error", is_late: bool = False) -> Shortfall:
    """Something that costs several kernels; `text` has `{}` where they are to be named."""
    known = tuple(dict.fromkeys(names))
    return Shortfall(text.replace("{}", named(known), 1), severity, known[:MOST_NAMED], len(known), is_late)


def weight(shortfalls: Iterable[Shortfall]) -> int:
    """How much is lacking, to compare two analyses by: rows, and what each of them costs."""
    return sum(max(1, each.number) for each in shortfalls)


def named(names: Sequence[str]) -> str:
    """The first of some kernels, and how many more there are."""
    more = len(names) - MOST_NAMED
    listed = [f"`{name}`" for name in names[:MOST_NAMED]]
    return enumeration([*listed, count(more, "more kernel")] if more > 0 else listed)
