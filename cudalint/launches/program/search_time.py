"""The time for looking into other files for launches: it is for all files of a run, and no part of the one that a file
has for itself. What takes longer once is not looked into again for its neighbours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct, field

from cudalint.system.disk import recorder as disk
from cudalint.system.processes import time_limit
from cudalint.system.processes.deadline import NEVER, Deadline, Pause

_SHARE = 0.25
"""Of the time limit, beside what the file has: that looking into others takes for one file."""

_too_long: set[tuple[str, int]] = set()
"""Paths of this process's run and hashes of their texts: of a file that changes it is not known."""


class SearchTime(Struct, eq=False):
    """Of one file."""

    seconds: float = 0.0
    """What it may be; 0 for as long as it takes."""
    pause: Pause = field(default_factory=Pause)
    """For the file's own clock."""
    is_cut: bool = False
    """Whether something was left, for this file or in one before."""
    _is_searching: bool = False

    @classmethod
    def beside(cls, limit: float) -> SearchTime:
        return cls(_SHARE * limit)

    def may_look_into(self, path: str, text: bytes | None) -> bool:
        if not self.seconds:
            return True
        is_left = (path, hash(text)) in _too_long or self._left <= 0
        if is_left:
            disk.note_clock()
            self.is_cut = True
        return not is_left

    @property
    def _left(self) -> float:
        return self.seconds - self.pause.seconds

    @contextmanager
    def looking_into(self, path: str, text: bytes | None, own: Deadline) -> Iterator[Deadline]:
        """Gives the deadline for what is done about another file, where `own` is that of the file itself; its clock
        stands still meanwhile."""
        if self._is_searching or not self.seconds:
            yield own
            return
        start, until = time.process_time(), NEVER.within(self._left)
        self._is_searching = True
        granted = self._left
        time_limit.grant(granted)
        try:
            yield until
        finally:
            spent = time.process_time() - start
            self._is_searching = False
            self.pause.seconds += spent
            time_limit.grant(min(0.0, spent - granted))
            if until.is_over():
                self.is_cut = True
                _too_long.add((path, hash(text)))
