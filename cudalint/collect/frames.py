"""Calls, as facts have them, and where among them the address of an access is made."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.facts import Frame
from cudalint.interpreter.device.events import AccessEvent
from cudalint.interpreter.device.handed import Handed
from cudalint.ir import nodes as ir
from cudalint.values.polynomial import linear


def frames_of(calls: Iterable[ir.Span]) -> tuple[Frame, ...]:
    return tuple([Frame(call.path, call.line) for call in calls])


def made_at(event: AccessEvent) -> tuple[ir.Span, tuple[ir.Span, ...]]:
    """Where the address of an access is made, and the calls through which that is reached, innermost first: of an
    access in another file than the kernel's to what an argument names, or to a fixed part of it, that is the
    argument."""
    span, frames = event.context.span, event.context.frames
    if not frames or span.path == frames[-1].path:
        return span, frames
    for depth, addresses in enumerate(event.context.handed, 1):
        argument = next((a.span for a in addresses if _is_part_of(event, a)), None)
        if argument is None:
            break
        span, frames = argument, event.context.frames[depth:]
    return span, frames


def _is_part_of(event: AccessEvent, handed: Handed) -> bool:
    return handed.target is event.target and linear(handed.offset)[0] == linear(event.offset)[0]
