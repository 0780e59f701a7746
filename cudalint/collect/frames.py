"""Calls, as facts have them."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint import ir
from cudalint.facts import Frame


def frames_of(calls: Iterable[ir.Span]) -> tuple[Frame, ...]:
    return tuple([Frame(call.path, call.line) for call in calls])
