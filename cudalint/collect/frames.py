"""Calls, as facts have them."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.facts import Frame
from cudalint.ir import nodes as ir


def frames_of(calls: Iterable[ir.Span]) -> tuple[Frame, ...]:
    return tuple([Frame(call.path, call.line) for call in calls])
