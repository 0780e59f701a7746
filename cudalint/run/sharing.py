"""Where a worker keeps kernels of headers that files share, while it runs. Workers learn of it before they know what a
kernel is, so that nothing that evaluates is loaded for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class InUse:
    folder: str | None = None
    """None where nothing is shared."""
    around = b""
    """What tells this program and its surroundings from others."""


@contextmanager
def sharing(folder: str | None, around: bytes) -> Iterator[None]:
    """Keeps kernels of headers in a folder, and takes them from there, while this runs."""
    InUse.folder, InUse.around = folder, around
    try:
        yield
    finally:
        InUse.folder = None
