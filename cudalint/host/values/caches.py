"""How much memory the numbers of a graph may take: what was computed is kept, but only so much of it.

Whatever is dropped can be computed from the graph again. All evaluations of a graph together keep at most `MOST_BYTES`
from one value that is asked for to the next. While one is computed, each evaluation that takes part (one for each loop
around) keeps at most `MOST_AT_ONCE` in addition, or as much as that value itself still needs. The limits are numbers of
bytes, whatever the machine has, so that the same is computed everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakSet

MOST_BYTES = 96 << 20
MOST_AT_ONCE = 40 << 20


class Cache(Protocol):
    bytes: int
    """That are kept."""

    def forget(self) -> None: ...


class Caches:
    """All caches of one graph."""

    def __init__(self) -> None:
        self.times_emptied = 0
        """What refers to numbers that were dropped is of little use to who has not computed them again."""
        self._all: WeakSet[Cache] = WeakSet()
        self.is_working = False
        """Whether a value is computed now, which may ask for further ones."""
        self._kept = 0
        """No less than what is kept: what is gone was not subtracted yet."""

    def register(self, cache: Cache) -> None:
        self._all.add(cache)

    def note(self, size: int) -> None:
        """So many bytes are kept in addition."""
        self._kept += size

    @contextmanager
    def working(self) -> Iterator[None]:
        """While a value is computed, nothing is dropped that it may be waiting for."""
        self._make_room()
        self.is_working = True
        try:
            yield
        finally:
            self.is_working = False

    def _make_room(self) -> None:
        if self._kept <= MOST_BYTES:
            return
        if sum(cache.bytes for cache in self._all) > MOST_BYTES:
            self.times_emptied += 1
            for cache in list(self._all):
                cache.forget()
        self._kept = sum(cache.bytes for cache in self._all)
