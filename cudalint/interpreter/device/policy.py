"""What executing device code and executing host code differ in; all else is the same."""

from __future__ import annotations

from msgspec import Struct


class Policy(Struct, frozen=True):
    notes_steps: bool
    """What is executed leaves steps and branches behind, from which it is told how often it is."""
    counts_gaps: bool
    """What is not followed is listed, and may be another value for each thread; elsewhere it is one that nobody
    knows."""
    shares_statics: bool
    """A static variable lies in memory, where all threads see the same one."""
    ends_in_calls: bool
    """A call that never returns ends it: a check of the program's own that has found something wrong."""


DEVICE = Policy(notes_steps=True, counts_gaps=True, shares_statics=True, ends_in_calls=False)
HOST = Policy(notes_steps=False, counts_gaps=False, shares_statics=False, ends_in_calls=True)
