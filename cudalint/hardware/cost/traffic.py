"""What goes through L1 and shared memory, in one unit."""

from __future__ import annotations

SECTORS_OF_LINE = 4
"""32-byte sectors of a line of L1, which is as wide as a wavefront of shared memory: 128 bytes."""


def traffic(sectors: float, wavefronts: float) -> float:
    """Units of 128 bytes that go through L1 and shared memory."""
    return sectors / SECTORS_OF_LINE + wavefronts
