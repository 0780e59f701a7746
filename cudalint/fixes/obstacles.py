"""Why there is no edit, where one was looked for."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cudalint.diagnostics import Applicability, Edit, Suggestion


class Obstacle(Exception):
    """What is in the way of an edit, in one clause that names what it is about."""


def edited(
    suggestion: Suggestion, edits: Callable[[], tuple[Edit, ...]], applicability: Applicability = "safe"
) -> Suggestion:
    """A suggestion in words with the edits for it, or with what is in their way."""
    try:
        return replace(suggestion, edits=edits(), applicability=applicability)
    except Obstacle as obstacle:
        return replace(suggestion, no_edit=str(obstacle))
