"""Structs that are loaded as a whole and stored as they are, told from those that are computed with."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.interpreter.device.events import AccessEvent
from cudalint.values.nodes import Reason

Loaded = tuple[object, int]
"""An array, and the number of the node that says where in it."""


def copied_from(event: AccessEvent) -> Loaded | None:
    """Where the struct that is stored was loaded; None where any of its numbers comes from elsewhere."""
    places = {_origin(value.op, value.payload, [a.index for a in value.args]) for value in event.values or ()}
    return places.pop() if len(places) == 1 else None


def copies_among(events: Iterable[AccessEvent]) -> frozenset[Loaded]:
    """Where the structs were loaded that are stored as they are."""
    found = (copied_from(event) for event in events if event.operation == "store" and event.record is not None)
    return frozenset(place for place in found if place is not None)


def is_copy(event: AccessEvent, copied: frozenset[Loaded]) -> bool:
    """Whether an access to a struct is one half of a copy in memory."""
    if event.record is None:
        return False
    if event.operation == "store":
        return copied_from(event) is not None
    return event.operation != "load" or (event.target, event.offset.index) in copied


def _origin(op: str, payload: object, args: list[int]) -> Loaded | None:
    if op != "opaque" or not isinstance(payload, Reason) or payload.kind != "loaded" or not payload.memory:
        return None
    return payload.memory[0], args[0]
