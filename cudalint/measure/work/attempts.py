"""Which loops were found to be too long to be laid out turn by turn, for further attempts at the same code."""

from __future__ import annotations

from typing import Any


class Attempts:
    """What becomes of the loops in a body that is walked."""

    __slots__ = ("_are", "too_long")

    def __init__(self, too_long: frozenset[Any] = frozenset()) -> None:
        self.too_long = too_long
        """Those that are known to be so, by their places: it is not tried again."""
        self._are: dict[Any, bool] = {}
        """Of each loop with which it was tried, whether it was found to be no longer than it may be at any time."""

    def note(self, loop: Any, is_short: bool) -> None:
        self._are[loop] = is_short or self._are.get(loop, False)

    def take(self, inner: Attempts) -> None:
        """Notes what came of the loops in a body within."""
        for loop in inner.too_long - self.too_long:
            self.note(loop, False)
        for loop, is_short in inner._are.items():
            self.note(loop, is_short)

    def next(self) -> Attempts:
        """For another attempt, in which more is a variable: what is too long stays so then."""
        return Attempts(self.too_long | {loop for loop, is_short in self._are.items() if not is_short})
