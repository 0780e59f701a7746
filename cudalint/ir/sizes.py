"""Sizes that may be divided by, added up and gone through, whatever a source says: at least a byte each, and no more
than there is to address."""

from __future__ import annotations

from typing import Final, NewType

Size = NewType("Size", int)
"""Of something in memory, in bytes. `sized` makes it."""

_MOST_BYTES: Final = 1 << 48
"""More than any GPU can address, and so little that sums and products with it fit into 64 bits."""

_MOST_PARTS: Final = 256
"""Of what is split into parts: structs that are copied by the thread have 4 KB at most in any program that is meant to
be fast, and types may be as large as the address space."""


def sized(bytes_: int) -> Size:
    """What has no size, say an incomplete type or an array of no elements, counts as one byte."""
    return Size(min(max(bytes_, 1), _MOST_BYTES))


def parts(size: Size, step: int) -> list[tuple[int, Size]]:
    """Begin and size of the pieces of so many bytes that something is taken in; of what has very many, the first."""
    step = max(step, 1)
    return [(begin, sized(min(step, size - begin))) for begin in range(0, min(size, _MOST_PARTS * step), step)]
