"""Suggested edits made, and the edited text measured and linted again, before anybody gets to see them.

Edits of one file are tried at once as far as it shows afterwards what came of which: those of different kernels, and
those of one kernel that are about other findings and other lines. Where something gets worse by them, each half of
them is tried again; where a finding stays that one of them is for, the others are tried without it.

An edit is proven where under every launch of every instantiation the findings that suggest it are gone or better, no
finding is new, whatever its severity, and no access costs both more than before and more than its bytes need, nor all
of them together more. A finding is not new that was too small beside the rest of the kernel to be reported, and now
weighs more. Nor is that an index has 32 bits, where a guard compares it with a size of 64. Nor is what comes of a
barrier or an atomic that was missing: a load costs something whose value the compiler took from an earlier one, another
barrier has nothing left to order, and atomics meet. Only the text is believed: what a remedy's own model says of a
change decides no more than which change is tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Suggestion
from cudalint.facts import FileFacts, Place
from cudalint.fixes.changes import (
    Change,
    applicability,
    are_of_other_kernels,
    are_within_bodies,
    changes_of,
    kernels_of,
    may_be_tried,
    rounds,
)
from cudalint.fixes.earlier import EarlierTrials
from cudalint.fixes.edits import fit, overlap
from cudalint.fixes.trial import Sides, Trial, is_cured, tried_together

_SPARE = 1.5
"""A trial is only begun where so many times what it is expected to take is left."""


class Lasted(Struct, frozen=True):
    """What the analysis of a file took, in seconds."""

    kernels: Mapping[str, float] = {}
    """By name."""
    rest: float = 0.0
    """The front end, host code and rules."""
    host: float = 0.0
    """What of that edits within bodies of kernels don't take again."""


class Proof(Sides, frozen=True, eq=False, kw_only=True):
    """What it takes to try the edits of one file."""

    all_considered: Callable[[str], bool]
    """Whether nothing else in sight uses what stands in another file than the one that is linted."""
    seconds: float
    """How long all trials together may take."""
    lasted: Lasted = Lasted()
    tried_in: Callable[[Place], EarlierTrials | None] = lambda place: None
    """What is kept of earlier trials, by the place of the kernel that they changed."""
    tries: bool = True
    """Whether there is time now for what no earlier trial shows."""
    clock: Callable[[], float] = time.process_time

    def applicability(self, change: Change) -> str:
        return applicability(change, self.facts, self.all_considered)

    def earlier(self, change: Change) -> EarlierTrials | None:
        """Earlier trials of the one kernel that a change is within."""
        if change.kernels is None or len(change.kernels) != 1 or change.is_of_launches:
            return None
        return self.tried_in(next(iter(change.kernels)))


def proven(found: Sequence[Diagnostic], proof: Proof) -> list[Diagnostic]:
    """The findings, with the edits that hold. Where they make something worse the suggestion goes as a whole, but for
    the words against what is wrong or out of bounds; where nothing is known of them, for lack of time as a rule, its
    words stay."""
    changes = changes_of(found, proof.facts)
    # What is wrong comes first. What is outside of all kernels concerns each of them, and takes longest to try.
    tryable = [c for c in changes if may_be_tried(c, proof.facts, proof.text_of, proof.all_considered)]
    tryable.sort(key=lambda change: (not change.puts_in_order, change.kernels is None))
    verdicts = {change.edits: _NOT_TRYABLE for change in changes}
    verdicts |= {change.edits: _UNTRIED if proof.tries else NOT_YET for change in tryable}
    before = {change.edits: verdict for change in tryable if (verdict := _known_before(change, proof)) is not None}
    verdicts |= before
    budget = _Budget(proof)
    open_ = [change for change in tryable if change.edits not in before] if proof.tries else []
    queue = rounds(open_)
    while queue:
        together, later = budget.affordable(queue.pop(0))
        if together:
            decided, again = _try(together, proof, budget)
            verdicts |= decided
            queue += [*again, *([later] if later else [])]
    stays = {id(target) for change in changes for target in change.stays}
    return [_judged(diagnostic, verdicts, id(diagnostic) in stays) for diagnostic in found]


def _known_before(change: Change, proof: Proof) -> str | None:
    """The verdict on a change that was tried in an earlier analysis."""
    earlier = proof.earlier(change)
    problem = earlier.of(change) if earlier is not None else None
    return None if problem is None else problem or proof.applicability(change)


class _Budget:
    """The time that is left for trials, and what one takes: about what the analysis of the file and of the kernels in
    question took."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._end = proof.clock() + proof.seconds
        self._start = 0.0
        self._slowness = 1.0
        """By how many times a trial may take longer than the analysis did."""

    @property
    def left(self) -> float:
        return self._end - self._proof.clock()

    def affordable(self, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
        """As many of some changes, from the first on, as there is time for at once, and the others."""
        fit: list[Change] = []
        later: list[Change] = []
        for change in changes:
            is_in_time = self._seconds([*fit, change]) * self._slowness * _SPARE < self.left
            (fit if is_in_time else later).append(change)
        return fit, later

    def _seconds(self, changes: Sequence[Change]) -> float:
        lasted, facts = self._proof.lasted, self._proof.facts
        kernels = kernels_of(changes, facts)
        names = lasted.kernels.keys() if kernels is None else {kernel.name for kernel in kernels}
        rest = lasted.rest - (lasted.host if are_within_bodies(changes, facts, self._proof.text_of) else 0.0)
        return rest + sum(lasted.kernels.get(name, 0.0) for name in names)

    def begin(self) -> float:
        """Starts with a trial; how long it may take."""
        self._start = self._proof.clock()
        return self.left / _SPARE

    def end(self, changes: Sequence[Change]) -> None:
        """Is done with it."""
        expected = self._seconds(changes)
        if expected:
            self._slowness = max(self._slowness, (self._proof.clock() - self._start) / expected)


_Verdicts = dict[tuple[Edit, ...], str]
"""Of changes by their edits: what they are, `safe` or `unsafe`, or what speaks against them."""


def _try(changes: Sequence[Change], proof: Proof, budget: _Budget) -> tuple[_Verdicts, list[list[Change]]]:
    """Verdicts on changes that are made at once; and those of which nothing is known then, in the groups in which they
    are to be tried again."""
    kernels = kernels_of(changes, proof.facts)
    trial = tried_together(changes, proof, budget.begin())
    budget.end(changes)
    owned = frozenset(kernel.place for kernel in kernels or ())
    if trial is None or (trial.worse - owned and kernels is not None):
        if len(changes) == 1:
            return {changes[0].edits: _NO_LONGER_THE_SAME}, []
        middle = len(changes) // 2
        return {}, [list(changes[:middle]), list(changes[middle:])]
    decided: _Verdicts = {}
    rest: list[Change] = []
    doubtful: list[Change] = []
    for change in changes:
        others = [other for other in changes if other is not change and not are_of_other_kernels(change, other)]
        is_lost = bool(trial.broken & (change.kernels or owned))
        is_late = bool(trial.late & (change.kernels or owned))
        broken = _NO_LONGER_THE_SAME if is_lost else ""
        problem = _UNTRIED if is_late else broken or _problem(change, trial)
        if others and (is_lost or problem == _WORSE):
            doubtful.append(change)
        elif trial.broken and not is_lost:
            rest.append(change)
        elif not problem and any(_problem(other, trial) for other in others):
            rest.append(change)  # It may only help beside those.
        else:
            decided[change.edits] = problem or proof.applicability(change)
            if not is_late and (earlier := proof.earlier(change)) is not None:
                earlier.keep(change, problem)
    middle = len(doubtful) // 2
    return decided, [again for again in (rest, doubtful[:middle], doubtful[middle:]) if again]


def _problem(change: Change, trial: Trial) -> str:
    if trial.worse if change.kernels is None else trial.worse & change.kernels:
        return _WORSE
    return "" if is_cured(change, trial.found, trial.same) else _STAYS


def held_together(
    sets: Sequence[tuple[Edit, ...]], found: Sequence[Diagnostic], proof: Proof
) -> list[tuple[Edit, ...]]:
    """Which of some sets of edits, each of which holds by itself, hold when they are made at once. Where all of them
    don't, those that come first stay, and the others are tried in ever smaller groups beside them; those that nothing
    suggests any more, and those for which no time is left, are not among them."""
    known = {change.edits: change for change in changes_of(found, proof.facts)}
    changes = [known[edits] for edits in sets if edits in known]
    if len(changes) == 1:
        return [changes[0].edits]
    kept: list[Change] = []
    end, longest = proof.clock() + proof.seconds, 0.0
    queue = [changes] if changes else []
    while queue:
        group = queue.pop(0)
        start = proof.clock()
        if end - start <= longest * _SPARE:
            break
        if _hold([*kept, *group], proof, end - start):
            kept += group
        elif len(group) > 1:
            queue[:0] = [group[: len(group) // 2], group[len(group) // 2 :]]
        longest = max(longest, proof.clock() - start)
    return [change.edits for change in kept]


def _hold(changes: Sequence[Change], proof: Proof, seconds: float) -> bool:
    edits = list(dict.fromkeys(edit for change in changes for edit in change.edits))
    if overlap(edits) or not fit(edits, proof.text_of):
        return False
    trial = tried_together(changes, proof, seconds)
    if trial is None or trial.broken or trial.worse:
        return False
    return all(is_cured(change, trial.found, trial.same) for change in changes)


NOT_YET = "it is not tried yet"
_UNTRIED = "it was not tried, as trials take too long in this file"
_NOT_TRYABLE = "not all that uses the text was analysed, so that a change of it can't be tried"
_NO_LONGER_THE_SAME = "the change was tried, and the file is no longer understood as before"
IS_BROKEN = "the file has a syntax error, and is not changed before that is mended"
_WORSE = "the change was tried, and makes something else in the kernel worse"
_STAYS = "the change was tried, and the finding stays"
_SAY_NOTHING = (NOT_YET, _UNTRIED, _NOT_TRYABLE, _NO_LONGER_THE_SAME)
"""What speaks for edits no more than against them: the words of the suggestion may hold."""


def is_broken(facts: FileFacts) -> bool:
    """Whether a file has a syntax error of its own: what was read of it is not what its author means, and so an edit of
    it holds for nothing."""
    return any(each.is_syntax and each.is_certain and each.path == facts.path for each in facts.problems)


def _judged(diagnostic: Diagnostic, verdicts: _Verdicts, stays: bool) -> Diagnostic:
    suggestion = diagnostic.suggestion
    if suggestion is None or not suggestion.edits:
        return diagnostic
    verdict = verdicts[suggestion.edits]
    match _STAYS if stays and verdict in ("safe", "unsafe") else verdict:
        case "safe":
            return replace(diagnostic, no_edit="")
        case "unsafe":
            return replace(diagnostic, suggestion=replace(suggestion, applicability="unsafe"), no_edit="")
        case why:
            # What is wrong has to be mended, and what is out of bounds guarded, whatever else that costs.
            is_fault = diagnostic.severity == "error" or suggestion.drops_tail
            is_needed = is_fault and why == _WORSE and suggestion.otherwise is None
            words = without_edits(suggestion) if is_needed or why in _SAY_NOTHING else suggestion.otherwise
            return replace(diagnostic, suggestion=words, no_edit=why)


def without_edits(suggestion: Suggestion) -> Suggestion:
    """Its words alone."""
    return replace(suggestion, edits=(), applicability="display")
