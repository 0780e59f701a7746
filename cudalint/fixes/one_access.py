"""What one access would cost in another way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from cudalint.diagnostics import Suggestion
from cudalint.facts import KernelFacts
from cudalint.hardware.requests import WARP_LANES
from cudalint.rulekit import Evaluated, mean_sectors

WORTH_IT = 0.8
"""A remedy has to bring the figure under this share of what it was."""
WIDEST = 16
"""Bytes that one instruction moves per lane at most."""


class Texts(Struct, frozen=True):
    """The texts that edits are made in."""

    paths: tuple[str, ...]
    """Of all that a kernel may call something of."""
    text_of: Callable[[str], str]
    kernels: tuple[KernelFacts, ...] = ()
    """All of the file: of a template each instantiation."""


def with_unit_stride(one: Evaluated) -> float | None:
    """Sectors per request if lane n, with the same mask, touched the n-th element of an aligned array."""
    sample = one.result.sample
    if sample is None:
        return None
    lanes = np.broadcast_to(np.arange(WARP_LANES, dtype=np.int64) * one.access.bytes, sample.addresses.shape)
    return mean_sectors(lanes, sample, one.access.bytes)


def if_better(one: Evaluated, text: str, after: float | None) -> Suggestion | None:
    before = one.result.sectors_per_request
    if after is None or before is None or after > before * WORTH_IT:
        return None
    return Suggestion(text, (), {"sectors_per_request": before}, {"sectors_per_request": after})
