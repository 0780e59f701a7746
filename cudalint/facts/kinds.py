"""The kinds of facts, which rules and users name: those that somebody asks for are collected."""

from __future__ import annotations

from typing import Final, Literal, get_args

Kind = Literal[
    "accesses", "alignments", "bounds", "pitches", "branches", "barriers", "races", "occupancy"
]  # fmt: skip
"""What a kernel's launches, resources and gaps are is known in any case: every launch is executed."""
Kinds = frozenset[Kind]

EVERY_KIND: Final[Kinds] = frozenset(get_args(Kind))
NO_KIND: Final[Kinds] = frozenset()
