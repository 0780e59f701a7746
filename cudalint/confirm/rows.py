"""Predicted against measured: one row for each figure that the linter gives and a GPU can contradict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Verdict = Literal["equal", "off", "not measured"]

TOLERANCE = 0.05
"""Relative; compilers reorder and predicate, so that a counter may differ by a few requests."""


class Row(Struct, frozen=True):
    path: str
    line: int
    column: int
    kernel: str
    """The instantiation."""
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    quantity: str
    """`sectors`, `wavefronts`, `active lanes`, `divergent warps`, `divergent jumps`, `blocks per SM`,
    `static shared bytes`, `error`, `run`."""
    subject: str
    """What the figure is of: `load of in, 4 B`."""
    predicted: float | str
    measured: float | str | None
    verdict: Verdict
    source: str
    """`ncu`, `instrumented build`, `module`, `driver`."""
    note: str = ""
    ideal: float | None = None
    """The measured ideal, for sectors and wavefronts."""


def agree(predicted: float, measured: float) -> bool:
    return abs(predicted - measured) <= TOLERANCE * max(abs(predicted), abs(measured))


def verdict_on(predicted: float, measured: float | None) -> Verdict:
    if measured is None:
        return "not measured"
    return "equal" if agree(predicted, measured) else "off"


class Summary(Struct, frozen=True):
    equal: int
    off: int
    not_measured: int


def summary_of(rows: Sequence[Row]) -> Summary:
    counts = [sum(row.verdict == verdict for row in rows) for verdict in ("equal", "off", "not measured")]
    return Summary(*counts)
