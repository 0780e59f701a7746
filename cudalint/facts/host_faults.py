"""What host code does with memory that can't be right, whichever way the program takes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Place

FaultKind = Literal[
    "passed-to-kernel", "touched-by-host", "freed-by-other", "direction", "beyond", "elements", "size-of-pointer",
    "freed-before", "not-waited-for", "other-stream", "allocated-again", "unchecked",
]
"""Memory of the host that a kernel is given; memory of the device that the host reads or writes; memory that is
released by a function which doesn't know it; a copy whose direction contradicts its pointers; one that goes on behind
its memory; one of as many bytes as there are elements; one of as many bytes as a pointer has; memory that has been
released; what the device may not have finished by then, for the host, and for another stream; an allocation that each
iteration makes and releases; launches of which nobody asks whether they failed."""
HostSpace = Literal["pageable", "variable", "pinned", "mapped", "managed", "device", "symbol"]
"""As `Pages`, with variables of the host, and those of the device that the source gives a name."""


class HostFault(Struct, frozen=True):
    """One of them. `name` is the pointer as the source spells it."""

    kind: FaultKind
    place: Place
    name: str
    by: str = ""
    """The function or kernel that does it."""
    space: HostSpace = "pageable"
    """Of the memory that it is about."""
    made_by: str = ""
    """What allocates that: `malloc`, or nothing for a variable."""
    made_at: Place | None = None
    before: Place | None = None
    """What came before that it is in conflict with: a release, a launch, a copy."""
    before_by: str = ""
    asked: str = ""
    """How many bytes it is about, or which direction a copy is said to have."""
    held: str = ""
    """How many bytes there are, or which direction the pointers have."""
