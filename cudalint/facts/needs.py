"""What of a file's code not every GPU has."""

from __future__ import annotations

from msgspec import Struct

Capability = tuple[int, int]


class Support(Struct, frozen=True):
    """The compute capabilities that have something: from the least one on, and in front of `before` where those of
    later generations have it no more."""

    least: Capability
    before: Capability | None = None

    def includes(self, capability: Capability) -> bool:
        return self.least <= capability and (self.before is None or capability < self.before)


class Need(Struct, frozen=True):
    """Something in the code that not every GPU has."""

    feature: str
    """As the code has it: `wgmma.mma_async`, `__CUDA_ARCH__ >= 900`."""
    support: Support
    path: str
    line: int
