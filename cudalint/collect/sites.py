"""Where accesses stand: their places with the calls that lead there, as facts have them, and where among those an
address is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from msgspec import Struct, field

from cudalint.facts import Frame, Place
from cudalint.interpreter.device.events import AccessEvent
from cudalint.interpreter.device.handed import Handed
from cudalint.ir import nodes as ir
from cudalint.values.polynomial import linear

T = TypeVar("T")


class Site(Struct, Generic[T], frozen=True, eq=False):
    """An array that is accessed at a place in the source, as it is reached by some calls."""

    event: AccessEvent
    """The first access there."""
    results: list[T] = field(default_factory=list)

    @property
    def place(self) -> Place:
        return Place(*self.event.context.span)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The calls that lead there."""
        return frames_of(self.event.context.frames)


Sites = dict[object, Site[T]]


def note(sites: Sites[T], event: AccessEvent, result: T) -> None:
    """Adds what a launch shows of an access to what is known of its site."""
    key = (event.context.span, event.context.frames, event.target.name)
    sites.setdefault(key, Site(event)).results.append(result)


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
