"""Quotients of plain numbers that have become 0 though there was something to divide."""

from __future__ import annotations

from msgspec import Struct

from cudalint.ir import nodes as ir


class Vanished(Struct, frozen=True):
    """One of them."""

    dividend: int
    divisor: int
    span: ir.Span
