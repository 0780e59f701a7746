"""The calls that lead to a place, as facts have them."""

from __future__ import annotations

from cudalint.execute.trace import Stack
from cudalint.facts import Frame


def frames_in(stack: Stack) -> tuple[Frame, ...]:
    """From the innermost call on."""
    return tuple(Frame(call.span.path, call.span.line) for call in stack)
