"""How the user wants to see results, and in which order: as they stand in the source, or by what they cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.report.findings.results import SEVERITIES, excess
from cudalint.report.findings.showing import CERTAINTIES, certainty_of
from cudalint.report.formats import costs
from cudalint.report.formats.style import Style

Order = Literal["cost", "path"]
ORDERS: Final[tuple[Order, ...]] = ("cost", "path")

_ABOUT_THE_ANALYSIS = "CL9"
Rank = tuple[int, float, float, float, int, int, float]


class Presentation(Struct, frozen=True):
    style: Style = Style()
    pictures: int | None = 0
    """For how many findings of a text report a picture is drawn; None for all."""
    quiet: bool = False
    """Whether nothing but findings is printed."""
    fail_on: Severity = "warning"
    statistics: bool = False
    asked_order: Order | None = None
    """None leaves it to the format: what people read begins with what costs most, what programs read is in the order of
    the source."""
    shows_all: bool = False
    """Whether a text report has all findings and requirements, however many there are."""
    shows_conditional: bool = False
    """Whether it has the requirements of all kernels."""
    say_why: bool = False
    """Whether a text report says of findings without an edit why they have none."""

    @property
    def order(self) -> Order:
        """Of reports that are in an order of their own."""
        return self.asked_order or "cost"


def by_cost(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors, then what else makes results wrong, then waste: what takes most of a program's recorded time first, then
    what takes most of its kernel, of that the certain before the likely, and what takes nobody knows how much after
    that. What is about the analysis comes last."""
    return sorted(diagnostics, key=rank)


def rank(diagnostic: Diagnostic) -> Rank:
    """The smaller, the earlier."""
    cost = costs.of(diagnostic)
    of_program, share, traffic = cost.weight if cost is not None else (0.0, 0.0, 0.0)
    sure, severity = CERTAINTIES.index(certainty_of(diagnostic)), SEVERITIES.index(diagnostic.severity)
    return _part(diagnostic), -of_program, -share, -traffic, sure, severity, -excess(diagnostic)


def _part(diagnostic: Diagnostic) -> int:
    if diagnostic.severity == "error":
        return 0
    if diagnostic.code.startswith(_ABOUT_THE_ANALYSIS):
        return 4
    if diagnostic.cost is None:
        return 1
    return 2 if diagnostic.cost.share is not None else 3


def in_order(diagnostics: Iterable[Diagnostic], order: Order) -> list[Diagnostic]:
    """Findings in the order of the source, in this one."""
    return by_cost(diagnostics) if order == "cost" else list(diagnostics)
