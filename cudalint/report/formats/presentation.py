"""How the user wants to see results: what every reporter gets to know."""

from __future__ import annotations

from msgspec import Struct

from cudalint.diagnostics import Severity
from cudalint.report.formats.order import Order
from cudalint.report.formats.style import Style


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
