"""What trials of an earlier analysis have shown, for changes of a kernel of which nothing that counts is different."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import NamedTuple

from msgspec import Struct

from cudalint.facts import Place
from cudalint.fixes.changes import Change, names


class Outcome(NamedTuple):
    """What came of trying a change."""

    problem: str
    """Empty for none."""
    stays: tuple[int, ...]
    """Which of the findings that suggest it are as they were."""


class EarlierTrials(Struct, eq=False):
    """Of changes of one kernel, while all is as it is that its facts come of."""

    line: Callable[[int], object]
    """Names a line of the kernel's file by what is the same in all texts that are compared."""
    outcomes: MutableMapping[object, Outcome]

    def of(self, change: Change) -> str | None:
        """What spoke against a change, empty for nothing, and which findings stayed with it; None where it was not
        tried."""
        outcome = self.outcomes.get(self._key(change))
        if outcome is None:
            return None
        change.stays = [change.targets[number] for number in outcome.stays]
        return outcome.problem

    def keep(self, change: Change, problem: str) -> None:
        stays = {id(target) for target in change.stays}
        numbers = tuple(number for number, target in enumerate(change.targets) if id(target) in stays)
        self.outcomes[self._key(change)] = Outcome(problem, numbers)

    def _key(self, change: Change) -> object:
        """What is changed and why, with lines of the one kernel that it is in by their names."""
        kernel = next(iter(change.kernels or ()))

        def moved(place: Place) -> tuple[object, ...]:
            if place.path != kernel.path:
                return tuple(place)
            return place.path, self.line(place.line), place.column, self.line(place.end_line), place.end_column

        return (
            tuple((moved(edit.place), edit.text) for edit in change.edits),
            tuple((*names(target), moved(target.place)) for target in change.targets),
        )
