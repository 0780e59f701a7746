"""Suggested edits made, and the edited text analysed and linted again, before anybody gets to see them.

Edits of one file are tried at once as far as they can be told from one another afterwards: those of different kernels,
and those of one kernel that are about other findings and other lines. Where something gets worse by them, each half of
them is tried again; where a finding stays that one of them is for, the others are tried without it.

An edit is proven where under every launch of every instantiation the findings that suggest it are gone or better, no
finding is new, whatever its severity, and no access costs both more than before and more than its bytes need, nor all
of them together more. What was too little beside the rest of the kernel to be told of, and now weighs more, is no news.
Nor is what comes of a barrier or an atomic that was missing: a load costs something whose value the compiler took from
an earlier one, another barrier has nothing left to order, and atomics meet. The text is all that is believed: what a
remedy's own model says of a change only decides which change is tried.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Suggestion
from cudalint.facts import AccessResult, FileFacts, KernelFacts, LaunchFacts, Place
from cudalint.fixes.edits import Correspondence, MovedLines, edited_texts, fit, overlap
from cudalint.fixes.news import identity, new_findings
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import body_of
from cudalint.rulekit import WITH_FIGURES, is_estimate, is_repeat
from cudalint.shortfalls import weight
from cudalint.source.code import code_text

Linted = tuple[FileFacts, Sequence[Diagnostic]]
Again = Callable[[Mapping[str, str], tuple[str, ...], float, MovedLines | None], Linted | None]
"""Analyses the file anew with other texts in place of some, by their paths: the kernels of some names, or all where
there are none, in so many seconds. Where nothing but bodies of these kernels is new, it is told where lines are now."""
Clock = Callable[[], float]

_SAME = 1e-3
"""Relative difference up to which two figures are the same."""
_NEARLY = 1.1
"""How many times what its bytes need an access takes without a conflict at most: where rows end, lanes are idle."""
_NOISE = 0.1
"""The same for figures of random data."""
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


class Told(NamedTuple):
    """What came of trying a change."""

    problem: str
    """Empty for none."""
    stays: tuple[int, ...]
    """Which of the findings that suggest it are as they were."""


class Tried(Struct, eq=False):
    """Changes of one kernel that were tried while all was as it is that its facts come of."""

    line: Callable[[int], object]
    """Tells a line of the kernel's file by what is the same in all texts that are compared."""
    told: MutableMapping[object, Told]


class Proof(Struct, frozen=True, eq=False):
    """What it takes to try the edits of one file."""

    facts: FileFacts
    before: Callable[[tuple[str, ...]], Linted]
    """The same facts of the kernels of some names, or all where there are none, with what could not be done, and what
    all rules say about these in the text as it is, whichever of them the user wants to hear, with what is little beside
    the rest of its kernel."""
    again: Again
    text_of: Callable[[str], str]
    all_considered: Callable[[str], bool]
    """Whether nothing else in sight uses what stands in another file than the one that is linted."""
    seconds: float
    """How long all trials together may take."""
    lasted: Lasted = Lasted()
    tried_in: Callable[[Place], Tried | None] = lambda place: None
    """What is kept of earlier trials, by the place of the kernel that they changed."""
    tries: bool = True
    """Whether there is time now for what no earlier trial tells."""
    clock: Clock = time.process_time


class _Change(Struct, eq=False):
    """One distinct set of edits."""

    edits: tuple[Edit, ...]
    kernels: frozenset[Place] | None
    """The kernels in whose bodies all of it is, by their places; None where some is elsewhere."""
    targets: list[Diagnostic]
    stays: list[Diagnostic] = []
    """What is as it was with the edits made, beside others that are better."""

    @property
    def rewrites(self) -> bool:
        """Whether accesses are spelled anew by it."""
        return any(target.suggestion and target.suggestion.rewrites for target in self.targets)

    @property
    def relaunches(self) -> bool:
        """Whether other blocks are launched by it."""
        return any(target.suggestion and target.suggestion.relaunches for target in self.targets)

    @property
    def is_of_launches(self) -> bool:
        """Whether launches of the kernel are changed as well."""
        return any(target.suggestion and target.suggestion.of_launches for target in self.targets)

    @property
    def drops_tail(self) -> bool:
        """Whether threads of the last blocks no longer do what they did."""
        return any(target.suggestion and target.suggestion.drops_tail for target in self.targets)

    @property
    def is_of_any_size(self) -> bool:
        """Whether a kernel does what it did with it, whatever its arguments are: accesses are spelled in another way,
        or something is put between statements. How an array lies hangs on sizes."""
        return self.rewrites or self.puts_in_order

    @property
    def puts_in_order(self) -> bool:
        """Whether nothing is done but to put something between statements, such as a barrier, that is not to make
        anything cheaper: what it is for is wrong without."""
        only_puts = all((e.place.line, e.place.column) == (e.place.end_line, e.place.end_column) for e in self.edits)
        return only_puts and self.is_for_order

    @property
    def spots(self) -> frozenset[Place]:
        """The places of the findings that suggest it."""
        return frozenset(target.place for target in self.targets)

    @property
    def names(self) -> frozenset[tuple[object, ...]]:
        """What tells the findings that suggest it from others."""
        return frozenset((*_names(target)[:3], target.place) for target in self.targets)

    @property
    def is_for_order(self) -> bool:
        """Whether nothing is to get cheaper by it."""
        return not any(target.suggestion and target.suggestion.before for target in self.targets)


def proven(found: Sequence[Diagnostic], proof: Proof) -> list[Diagnostic]:
    """The findings, with the edits that hold. Where they make something worse the suggestion goes as a whole; where
    nothing can be told of them, for lack of time as a rule, its words stay."""
    changes = _changes(found, proof.facts)
    # What is wrong comes first. What is outside of all kernels concerns each of them, and takes longest to try.
    tryable = [change for change in changes if _may_be_tried(change, proof)]
    tryable.sort(key=lambda change: (not change.puts_in_order, change.kernels is None))
    verdicts = {change.edits: _NOT_TRYABLE for change in changes}
    verdicts |= {change.edits: _UNTRIED if proof.tries else NOT_YET for change in tryable}
    before = {change.edits: verdict for change in tryable if (verdict := _told_before(change, proof)) is not None}
    verdicts |= before
    budget = _Budget(proof)
    open_ = [change for change in tryable if change.edits not in before] if proof.tries else []
    queue = _rounds(open_)
    while queue:
        together, later = budget.affordable(queue.pop(0))
        if together:
            told, again = _try(together, proof, budget)
            verdicts |= told
            queue += [*again, *([later] if later else [])]
    stays = {id(target) for change in changes for target in change.stays}
    return [_judged(diagnostic, verdicts, id(diagnostic) in stays) for diagnostic in found]


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

    def affordable(self, changes: Sequence[_Change]) -> tuple[list[_Change], list[_Change]]:
        """As many of some changes, from the first on, as there is time for at once, and the others."""
        fit: list[_Change] = []
        later: list[_Change] = []
        for change in changes:
            is_in_time = self._seconds([*fit, change]) * self._slowness * _SPARE < self.left
            (fit if is_in_time else later).append(change)
        return fit, later

    def _seconds(self, changes: Sequence[_Change]) -> float:
        lasted = self._proof.lasted
        kernels = _kernels_of(changes, self._proof.facts)
        names = lasted.kernels.keys() if kernels is None else {kernel.name for kernel in kernels}
        rest = lasted.rest - (lasted.host if _are_within_bodies(changes, self._proof) else 0.0)
        return rest + sum(lasted.kernels.get(name, 0.0) for name in names)

    def begin(self) -> float:
        """Starts with a trial, and tells how long it may take."""
        self._start = self._proof.clock()
        return self.left / _SPARE

    def end(self, changes: Sequence[_Change]) -> None:
        """Is done with it."""
        expected = self._seconds(changes)
        if expected:
            self._slowness = max(self._slowness, (self._proof.clock() - self._start) / expected)


def held_together(
    sets: Sequence[tuple[Edit, ...]], found: Sequence[Diagnostic], proof: Proof
) -> list[tuple[Edit, ...]]:
    """Which of some sets of edits, each of which holds by itself, hold when they are made at once. Where all of them
    don't, those that come first stay, and the others are tried in ever smaller groups beside them; those that nothing
    suggests any more, and those for which no time is left, are not among them."""
    known = {change.edits: change for change in _changes(found, proof.facts)}
    changes = [known[edits] for edits in sets if edits in known]
    if len(changes) == 1:
        return [changes[0].edits]
    kept: list[_Change] = []
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


def _hold(changes: Sequence[_Change], proof: Proof, seconds: float) -> bool:
    edits = list(dict.fromkeys(edit for change in changes for edit in change.edits))
    if overlap(edits) or not fit(edits, proof.text_of):
        return False
    owned = _kernels_of(changes, proof.facts)
    names = () if owned is None else tuple(sorted({kernel.name for kernel in owned}))
    trial = _trial(changes, proof, names, seconds)
    if trial is None or trial.broken or trial.worse:
        return False
    return all(_is_cured(change, trial.found, trial.same) for change in changes)


NOT_YET = "it is not tried yet"
_UNTRIED = "it was not tried, as trials take too long in this file"
_NOT_TRYABLE = "not all that uses the text was analysed, so that a change of it can't be tried"
_NO_LONGER_THE_SAME = "the change was tried, and the file is no longer understood as before"
_IS_BROKEN = "the file has syntax errors, with which a change of it can't be tried"
_WORSE = "the change was tried, and makes something else in the kernel worse"
_STAYS = "the change was tried, and the finding stays"
_TELL_NOTHING = (NOT_YET, _UNTRIED, _NOT_TRYABLE, _NO_LONGER_THE_SAME, _IS_BROKEN)
"""What speaks for edits no more than against them: the words of the suggestion may hold."""


def _not_told(facts: FileFacts) -> str:
    """Why nothing can be told of a change."""
    is_broken = any(problem.is_syntax and problem.path == facts.path for problem in facts.problems)
    return _IS_BROKEN if is_broken else _NO_LONGER_THE_SAME


def _judged(diagnostic: Diagnostic, verdicts: Mapping[tuple[Edit, ...], str], stays: bool) -> Diagnostic:
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
            words = without_edits(suggestion) if why in _TELL_NOTHING else suggestion.otherwise
            return replace(diagnostic, suggestion=words, no_edit=why)


def without_edits(suggestion: Suggestion) -> Suggestion:
    """Its words alone."""
    return replace(suggestion, edits=(), applicability="display")


# --- what is tried, and what of it at once -------------------------------------------------------------------


def _changes(found: Iterable[Diagnostic], facts: FileFacts) -> list[_Change]:
    changes: dict[tuple[Edit, ...], _Change] = {}
    for diagnostic in found:
        suggestion = diagnostic.suggestion
        if suggestion is None or not suggestion.edits:
            continue
        if suggestion.edits not in changes:
            owners = _named(diagnostic, facts) if suggestion.of_launches else _owners(suggestion.edits, facts)
            changes[suggestion.edits] = _Change(suggestion.edits, owners, [])
        changes[suggestion.edits].targets.append(diagnostic)
    return list(changes.values())


def _owners(edits: Iterable[Edit], facts: FileFacts) -> frozenset[Place] | None:
    places = {kernel.place for kernel in facts.kernels}
    owners = {edit: next((place for place in places if _contains(place, edit.place)), None) for edit in edits}
    found = frozenset(owner for owner in owners.values() if owner is not None)
    return found if None not in owners.values() else None


def _named(diagnostic: Diagnostic, facts: FileFacts) -> frozenset[Place] | None:
    """The kernel that a finding is in, by its place; None for one that is in none."""
    return frozenset(kernel.place for kernel in facts.kernels if kernel.name == diagnostic.kernel) or None


def _contains(outer: Place, inner: Place) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return outer.path == inner.path and begins and ends


def _are_within_bodies(changes: Iterable[_Change], proof: Proof) -> bool:
    """Whether nothing is changed but statements of kernels."""
    for change in changes:
        for kernel in _kernels_of([change], proof.facts) or ():
            source = code_text(proof.text_of(kernel.place.path))
            try:
                if any(source.extent(edit.place)[0] < body_of(kernel, source) for edit in _within(kernel, change)):
                    return False
            except Obstacle:
                return False
        if change.kernels is None or change.is_of_launches or any("#" in edit.text for edit in change.edits):
            return False
    return True


def _within(kernel: KernelFacts, change: _Change) -> list[Edit]:
    return [edit for edit in change.edits if _contains(kernel.place, edit.place)]


def _may_be_tried(change: _Change, proof: Proof) -> bool:
    plain = fit(change.edits, proof.text_of) and not overlap(change.edits)
    return plain and (change.is_of_any_size or _is_whole(change, proof))


def _is_whole(change: _Change, proof: Proof) -> bool:
    """Whether all instantiations of what is changed were evaluated, and nothing else in sight uses it."""
    paths = {edit.place.path for edit in change.edits} - {proof.facts.path}
    kernels = [k for k in proof.facts.kernels if change.kernels is None or k.place in change.kernels]
    is_complete = not any(gap.kind == "instantiations" for kernel in kernels for gap in kernel.gaps)
    return is_complete and all(map(proof.all_considered, paths))


def _rounds(changes: Iterable[_Change]) -> list[list[_Change]]:
    """What is tried at once: changes of different kernels, which don't meet, and those of one kernel, or of what stands
    outside of all, that get along."""
    rounds: list[list[_Change]] = []
    for change in changes:
        for together in rounds:
            if all(_are_apart(change, other) or _get_along(change, other) for other in together):
                together.append(change)
                break
        else:
            rounds.append([change])
    return rounds


def _are_apart(one: _Change, other: _Change) -> bool:
    return one.kernels is not None and other.kernels is not None and not one.kernels & other.kernels


def _get_along(one: _Change, other: _Change) -> bool:
    """Whether changes of one kernel may be tried at once: each is for other findings, of which none is on a line that
    the other one changes."""
    return (
        one.rewrites == other.rewrites
        and one.is_for_order == other.is_for_order
        and not one.relaunches
        and not other.relaunches
        and not one.names & other.names
        and not any(_meet(*pair) for pair in itertools.product(_own(one, other), (*_own(other, one), *other.spots)))
        and not any(_meet(*pair) for pair in itertools.product(one.spots, _own(other, one)))
    )


def _own(change: _Change, other: _Change) -> list[Place]:
    """What is changed by it alone, and not by another one as well: both may need a header."""
    return [edit.place for edit in change.edits if edit not in other.edits]


def _meet(one: Place, other: Place) -> bool:
    return one.path == other.path and one.line <= other.end_line and other.line <= one.end_line


def _applicable(change: _Change, proof: Proof) -> str:
    """`safe` only where something in sight launches all that is changed, and all of it was evaluated."""
    facts = proof.facts
    if not _is_whole(change, proof):
        return "unsafe"
    if any(target.suggestion and target.suggestion.applicability != "safe" for target in change.targets):
        return "unsafe"
    kernels = [k for k in facts.kernels if change.kernels is None or k.place in change.kernels]
    launched = not any(launch.is_made_up for kernel in kernels for launch in kernel.launches)
    return "safe" if launched and facts.status == "ok" and not any(k.gaps for k in kernels) else "unsafe"


# --- one trial ---------------------------------------------------------------------------------------------


_Verdicts = dict[tuple[Edit, ...], str]


def _try(changes: Sequence[_Change], proof: Proof, budget: _Budget) -> tuple[_Verdicts, list[list[_Change]]]:
    """What speaks against each of some changes that are made at once, empty for nothing; and those of which that can't
    be told, in the groups in which they are to be tried again."""
    kernels = _kernels_of(changes, proof.facts)
    names = () if kernels is None else tuple(sorted({kernel.name for kernel in kernels}))
    trial = _trial(changes, proof, names, budget.begin())
    budget.end(changes)
    owned = frozenset(kernel.place for kernel in kernels or ())
    if trial is None or (trial.worse - owned and kernels is not None):
        if len(changes) == 1:
            return {changes[0].edits: _not_told(proof.facts)}, []
        middle = len(changes) // 2
        return {}, [list(changes[:middle]), list(changes[middle:])]
    told: _Verdicts = {}
    rest: list[_Change] = []
    doubtful: list[_Change] = []
    for change in changes:
        others = [other for other in changes if other is not change and not _are_apart(change, other)]
        is_broken = bool(trial.broken & (change.kernels or owned))
        is_late = bool(trial.late & (change.kernels or owned))
        broken = _not_told(proof.facts) if is_broken else ""
        problem = _UNTRIED if is_late else broken or _problem(change, trial)
        if others and (is_broken or problem == _WORSE):
            doubtful.append(change)
        elif trial.broken and not is_broken:
            rest.append(change)
        elif not problem and any(_problem(other, trial) for other in others):
            rest.append(change)  # It may only help beside those.
        else:
            told[change.edits] = problem or _applicable(change, proof)
            if not is_late:
                _keep(change, problem, proof)
    middle = len(doubtful) // 2
    return told, [again for again in (rest, doubtful[:middle], doubtful[middle:]) if again]


def _told_before(change: _Change, proof: Proof) -> str | None:
    """The verdict on a change that was tried in an earlier analysis, of which all that counts is as it was."""
    tried = _tried_beside(change, proof)
    told = tried.told.get(_within_kernel(change, tried.line)) if tried is not None else None
    if told is None:
        return None
    change.stays = [change.targets[number] for number in told.stays]
    return told.problem or _applicable(change, proof)


def _keep(change: _Change, problem: str, proof: Proof) -> None:
    tried = _tried_beside(change, proof)
    if tried is not None:
        stays = {id(target) for target in change.stays}
        numbers = tuple(number for number, target in enumerate(change.targets) if id(target) in stays)
        tried.told[_within_kernel(change, tried.line)] = Told(problem, numbers)


def _tried_beside(change: _Change, proof: Proof) -> Tried | None:
    if change.kernels is None or len(change.kernels) != 1 or change.is_of_launches:
        return None
    return proof.tried_in(next(iter(change.kernels)))


def _within_kernel(change: _Change, line: Callable[[int], object]) -> object:
    """What is changed and why, with the lines of the one kernel that it is in told by `line`."""
    kernel = next(iter(change.kernels or ()))

    def moved(place: Place) -> tuple[object, ...]:
        if place.path != kernel.path:
            return tuple(place)
        return place.path, line(place.line), place.column, line(place.end_line), place.end_column

    return (
        tuple((moved(edit.place), edit.text) for edit in change.edits),
        tuple((*_names(target), moved(target.place)) for target in change.targets),
    )


def _kernels_of(changes: Sequence[_Change], facts: FileFacts) -> list[KernelFacts] | None:
    """The kernels that changes are within; None where some change is elsewhere."""
    owned: set[Place] = set()
    for change in changes:
        if change.kernels is None:
            return None
        owned |= change.kernels
    return [kernel for kernel in facts.kernels if kernel.place in owned]


def _problem(change: _Change, trial: _Trial) -> str:
    if trial.worse if change.kernels is None else trial.worse & change.kernels:
        return _WORSE
    return "" if _is_cured(change, trial.found, trial.same) else _STAYS


class _Trial(Struct, frozen=True, eq=False):
    """What became of the file with some changes made."""

    worse: set[Place]
    """The kernels that cost more or have a finding that is new, by their places before."""
    found: Sequence[Diagnostic]
    same: Correspondence
    broken: frozenset[Place] = frozenset()
    """The kernels that are no longer what they were; of the others is nothing told then."""
    late: frozenset[Place] = frozenset()
    """Those of them for which there was no time."""


def _trial(changes: Sequence[_Change], proof: Proof, names: tuple[str, ...], seconds: float) -> _Trial | None:
    """Makes changes at once and looks at the kernels of some names, or at all; None where the file is no longer what
    it was."""
    edits = list(dict.fromkeys(edit for change in changes for edit in change.edits))
    kernels = [kernel for kernel in proof.facts.kernels if not names or kernel.name in names]
    moved = MovedLines.of(edits) if _are_within_bodies(changes, proof) else None
    linted = proof.again(edited_texts(edits, proof.text_of), names, seconds, moved)
    if linted is None:
        return None
    facts_before, found_before = proof.before(names)
    after, diagnostics = linted
    if len(kernels) != len(after.kernels):
        return None
    same = Correspondence.of(edits, proof.text_of)
    relaunched = any(change.relaunches for change in changes)
    pairs = list(zip(kernels, after.kernels, strict=True))
    broken = frozenset(old.place for old, new in pairs if not _same_kernel(old, new, relaunched))
    if broken:
        late = frozenset(old.place for old, new in pairs if _is_late(new) and not _is_late(old))
        return _Trial(set(), diagnostics, same, broken, late)
    if not _same_shape(facts_before, after):
        return None
    for_order = {kernel.place: _is_for_order(kernel, changes) for kernel in kernels}
    rewritten = {kernel.place: any(c.rewrites for c in _of(kernel, changes)) for kernel in kernels}
    worse = {
        old.place
        for old, new in pairs
        if not _costs_no_more(old, new, same, for_order[old.place], rewritten[old.place])
        or (any(c.drops_tail for c in _of(old, changes)) and not _only_last_blocks_do_less(old, new, same))
    }
    ordered = [kernel for kernel in kernels if for_order[kernel.place]]
    is_barriers, is_less = _no_news(ordered, same), _lesser(changes)
    new = new_findings(found_before, diagnostics, same, lambda d: is_barriers(d) or is_less(d))
    owners = {(kernel.name, kernel.instantiation): kernel.place for kernel in kernels}
    worse |= {owners.get(key, Place("", 0, 0, 0, 0)) for key in new}
    return _Trial(worse, diagnostics, same)


def _is_for_order(kernel: KernelFacts, changes: Iterable[_Change]) -> bool:
    own = _of(kernel, changes)
    return bool(own) and all(change.is_for_order for change in own)


def _of(kernel: KernelFacts, changes: Iterable[_Change]) -> list[_Change]:
    return [change for change in changes if change.kernels is None or kernel.place in change.kernels]


def _same_shape(before: FileFacts, after: FileFacts) -> bool:
    """Whether nothing was lost on the way beside the kernels."""
    return (
        after.status in ("ok", before.status)
        and len(after.problems) == len(before.problems)
        and weight(after.failures) <= weight(before.failures)
    )


def _same_kernel(old: KernelFacts, new: KernelFacts, relaunched: bool) -> bool:
    launches = zip(old.launches, new.launches, strict=False)
    return (
        (old.name, old.instantiation) == (new.name, new.instantiation)
        and len(old.launches) == len(new.launches)
        and all(_asked_for(a) == _asked_for(b) or (relaunched and _covers_the_same(a, b)) for a, b in launches)
        and len(new.gaps) <= len(old.gaps)
    )


def _is_late(kernel: KernelFacts) -> bool:
    return any(gap.kind == "time" for gap in kernel.gaps)


def _covers_the_same(old: LaunchFacts, new: LaunchFacts) -> bool:
    """Whether launches with other blocks differ by no more threads than a grid that is rounded up does, on each axis
    or on each after x and y were exchanged; where nobody knows the grid, it was made up anew."""
    if old.grid_is_assumed or new.grid_is_assumed or old.source != new.source:
        return old.source == new.source
    return any(
        all(
            b * g - max(b, c) < c * h < b * g + max(b, c)
            for b, g, c, h in zip(old.block, old.grid, block, grid, strict=True)
        )
        for block, grid in (
            (new.block, new.grid),
            (_exchanged(new.block), _exchanged(new.grid)),
            (_exchanged(new.block), new.grid),
        )
    )


def _exchanged(extents: tuple[int, int, int]) -> tuple[int, int, int]:
    return extents[1], extents[0], extents[2]


def _asked_for(launch: LaunchFacts) -> tuple[object, ...]:
    """A grid that nobody knows is made up anew for other code."""
    return launch.block, None if launch.grid_is_assumed else launch.grid, launch.dynamic_shared_bytes


# --- who makes accesses ---------------------------------------------------------------------------------------


def _only_last_blocks_do_less(old: KernelFacts, new: KernelFacts, same: Correspondence) -> bool:
    """Whether each access is made by as many lanes as before, but for those of one block along each axis of the grid.
    Whoever has an index that only counts rows would leave all rows but the first undone."""
    before = _lanes(old, same.before, same.line_before)
    after = _lanes(new, same.after, same.line_after)
    if before.keys() != after.keys():
        return False
    for key, lanes in before.items():
        blocks = old.launches[key.launch].grid
        others = math.prod(1 - 1 / extent for extent in blocks if extent > 1)
        left = after[key]
        if lanes is None or left is None or left < lanes * others * (1 - _SAME):
            return False
    return True


def _lanes(
    kernel: KernelFacts, spot: Callable[[Place], tuple[str, int, int]], line: Callable[[str, int], tuple[str, int]]
) -> dict[_Key, float | None]:
    """By access, how many lanes make it in all of a launch; None where that is not known."""
    found: dict[_Key, float | None] = {}
    for access in kernel.accesses:
        calls = tuple(line(frame.path, frame.line) for frame in access.inlined_from)
        for result in access.results:
            key = _Key(spot(access.place), calls, access.operation, access.space, access.array, result.launch)
            if result.status == "unreached" or is_repeat(result):
                continue
            is_known = result.requests is not None and result.active_lanes is not None and not result.reached_otherwise
            sum_ = found.get(key, 0.0)
            found[key] = (
                sum_ + (result.requests or 0.0) * (result.active_lanes or 0.0)
                if is_known and sum_ is not None
                else None
            )
    return found


# --- what accesses cost --------------------------------------------------------------------------------------


class _Cost(Struct):
    """What an access costs under one launch, over all copies that unrolling makes of it."""

    per_request: float = 0.0
    """The sum of what a request of each copy costs."""
    total: float | None = 0.0
    """None where nobody knows how many requests there are."""
    is_known: bool = True
    is_estimate: bool = False
    is_reached: bool = False
    is_repeat: bool = False
    """Some copy makes no request, as the compiler uses what another load has brought: what keeps it from that is what
    orders the two, or how they lie."""

    excess: float = 1.0
    """How many times what its bytes need the worst copy takes."""

    @property
    def is_ideal(self) -> bool:
        """Whether no copy takes more than its bytes need."""
        return self.excess <= 1 + _SAME

    def include(self, other: _Cost) -> None:
        """Takes what another access costs as a part of this one's."""
        self.per_request += other.per_request
        self.total = self.total + other.total if self.total is not None and other.total is not None else None
        self.is_known &= other.is_known
        self.is_estimate |= other.is_estimate
        self.is_reached |= other.is_reached
        self.is_repeat |= other.is_repeat
        self.excess = max(self.excess, other.excess)


_Quantity = Callable[[AccessResult], tuple[float | None, float | None]]
"""What a request takes, and what its bytes need."""
_QUANTITIES: tuple[_Quantity, ...] = (
    lambda r: (r.sectors_per_request, r.ideal_sectors),
    lambda r: (r.wavefronts_per_request, r.ideal_wavefronts),
)


def _costs_no_more(old: KernelFacts, new: KernelFacts, same: Correspondence, for_order: bool, rewritten: bool) -> bool:
    """Who makes something cheaper has to pay for what the compiler had merged and no longer can, too; `for_order` says
    that nobody does. Of accesses that are `rewritten` those of one array count as one, and an array of the block's own
    that is new may have no conflicts."""
    for quantity in _QUANTITIES:
        before = _costs(old, quantity, same.before, same.line_before, rewritten)
        after = _costs(new, quantity, same.after, same.line_after, rewritten)
        if rewritten and for_order:
            _leave_out_updates(before, after)
        if rewritten and before.keys() != after.keys():
            concerned = {key.of_array for key in before.keys() ^ after.keys()}
            before, after = _by_array(before, concerned), _by_array(after, concerned)
            added = {key: after.pop(key) for key in after.keys() - before.keys()}
            if not all(k.space == "shared" and cost.is_known and cost.excess <= _NEARLY for k, cost in added.items()):
                return False
        if before.keys() != after.keys():
            return False
        pairs = [(before[key], after[key]) for key in before]
        # What all lanes read in one place may become a row, if that is what makes rows of columns.
        if not all(_no_worse(*pair) or (not for_order and _is_as_needed(*pair)) for pair in pairs):
            return False
        if not for_order and not _all_no_worse(pairs):
            return False
    return True


class _Key(NamedTuple):
    """Which accesses a cost is of."""

    spot: tuple[str, int, int]
    calls: tuple[tuple[str, int], ...]
    operation: str
    space: str
    array: str
    launch: int

    @property
    def of_array(self) -> _Key:
        """All accesses of this kind to its array."""
        return self._replace(spot=("", 0, 0), calls=())


def _leave_out_updates(before: dict[_Key, _Cost], after: dict[_Key, _Cost]) -> None:
    """A load and a store that became one atomic may cost more: they were no update."""
    arrays = {(key.array, key.launch) for key in after.keys() - before.keys() if key.operation == "atomic"}
    for costs in (before, after):
        for key in [key for key in costs if (key.array, key.launch) in arrays]:
            del costs[key]


def _by_array(costs: Mapping[_Key, _Cost], concerned: Collection[_Key]) -> dict[_Key, _Cost]:
    """The costs with those of some arrays as one for each kind of access."""
    found: dict[_Key, _Cost] = {}
    for key, cost in costs.items():
        if key.of_array in concerned:
            found.setdefault(key.of_array, _Cost()).include(cost)
        else:
            found[key] = cost
    return found


def _all_no_worse(pairs: Sequence[tuple[_Cost, _Cost]]) -> bool:
    """Whether accesses cost no more together, those with countable requests and the others each."""
    known = [(before, after) for before, after in pairs if before.is_known and after.is_known]
    totals = [_totals(*pair) for pair in known]
    countable = [each for each in totals if each is not None]
    others = [(b.per_request, a.per_request) for (b, a), each in zip(known, totals, strict=True) if each is None]
    noise = _NOISE if any(before.is_estimate or after.is_estimate for before, after in known) else _SAME
    return all(
        sum(after for _, after in each) <= sum(before for before, _ in each) * (1 + noise)
        for each in (countable, others)
    )


def _totals(before: _Cost, after: _Cost) -> tuple[float, float] | None:
    """What all requests cost together; None where data decides how many there are: other random data makes other
    numbers of them."""
    if before.total is None or after.total is None or before.is_estimate or after.is_estimate:
        return None
    return before.total, after.total


def _costs(
    kernel: KernelFacts,
    quantity: _Quantity,
    spot: Callable[[Place], tuple[str, int, int]],
    line: Callable[[str, int], tuple[str, int]],
    rewritten: bool,
) -> dict[_Key, _Cost]:
    """What is rewritten may have a way of its own for other sizes, which is not made together with the first one."""
    found: dict[_Key, _Cost] = {}
    for access in kernel.accesses:
        if access.space not in ("global", "shared", "generic"):
            continue
        calls = tuple(line(frame.path, frame.line) for frame in access.inlined_from)
        for result in access.results:
            if rewritten and result.reached_otherwise:
                continue
            key = _Key(spot(access.place), calls, access.operation, access.space, access.array, result.launch)
            _add(found.setdefault(key, _Cost()), result, *quantity(result))
    return found


def _add(cost: _Cost, result: AccessResult, figure: float | None, ideal: float | None) -> None:
    if result.status == "unreached":
        return
    cost.is_reached = True
    if is_repeat(result):
        cost.is_repeat = True
        return
    if result.status not in WITH_FIGURES:
        cost.is_known = False
        return
    if figure is not None:
        cost.excess = max(cost.excess, figure / ideal if ideal else math.inf)
    figure = figure or 0.0
    cost.is_estimate = cost.is_estimate or is_estimate(result)
    cost.per_request += figure
    known = cost.total is not None and result.requests is not None
    cost.total = (cost.total or 0.0) + figure * (result.requests or 0.0) if known else None


def _is_as_needed(before: _Cost, after: _Cost) -> bool:
    """Whether an access is known, as it was, and takes no more than its bytes need; what it costs beside the others is
    in the sum of all."""
    return before.is_reached and after.is_reached and before.is_known and after.is_known and after.is_ideal


def _no_worse(before: _Cost, after: _Cost) -> bool:
    """What was not known before need not be afterwards. What is reached is a matter of what the kernel does, which no
    edit may change."""
    if before.is_reached != after.is_reached:
        return False
    if not before.is_known or not after.is_known:
        return not before.is_known
    if before.is_repeat:
        return True  # What it costs then is seen in the sum of all, or it is behind a barrier.
    noise = _NOISE if before.is_estimate or after.is_estimate else _SAME
    then, now = _totals(before, after) or (before.per_request, after.per_request)
    return now <= then * (1 + noise)


# --- findings ----------------------------------------------------------------------------------------------

_OF_COSTS = ("CL101", "CL201")
"""The rules that tell of what the requests of an access cost."""
_OF_ORDER = ("CL303", "CL109")
"""Those that tell of what order costs: spare barriers, and atomics that meet."""


def _no_news(ordered: Iterable[KernelFacts], same: Correspondence) -> Callable[[Diagnostic], bool]:
    """Whether a finding in kernels that get a barrier or an atomic is only what the missing one kept away: what a load
    costs that the compiler took from an earlier one, another barrier that has nothing left to order, and atomics that
    meet."""
    names = {(kernel.name, kernel.instantiation) for kernel in ordered}
    repeats = {
        (kernel.name, kernel.instantiation, same.before(access.place))
        for kernel in ordered
        for access in kernel.accesses
        if any(map(is_repeat, access.results))
    }

    def is_none(diagnostic: Diagnostic) -> bool:
        kernel = diagnostic.kernel, diagnostic.instantiation
        if diagnostic.code in _OF_COSTS:
            return (*kernel, same.after(diagnostic.place)) in repeats
        return diagnostic.code in _OF_ORDER and kernel in names

    return is_none


def _lesser(changes: Iterable[_Change]) -> Callable[[Diagnostic], bool]:
    """Whether a finding is what is left of one that accesses are spelled anew for: a row that is loaded in vectors is
    still a row of a thread's own."""
    targets = [target for change in changes if change.rewrites for target in change.targets]

    def is_less(diagnostic: Diagnostic) -> bool:
        return any(_names(diagnostic) == _names(target) and _is_lesser(diagnostic, target) for target in targets)

    return is_less


def _is_lesser(diagnostic: Diagnostic, target: Diagnostic) -> bool:
    """Whether an access that was spelled anew, and may move more at once, takes less beyond what its bytes need."""
    return target.code in _OF_COSTS and _wasted(diagnostic) < _wasted(target) * (1 - _SAME)


def _names(diagnostic: Diagnostic) -> tuple[str, ...]:
    return diagnostic.code, diagnostic.kernel, diagnostic.instantiation, diagnostic.about


def _wasted(diagnostic: Diagnostic) -> float:
    """By how many times an access takes more than its bytes need."""
    figures = diagnostic.figures
    if "sectors_per_request" in figures:
        return figures["sectors_per_request"] / figures["ideal_sectors"]
    return figures["conflict_ways"]


def _is_cured(change: _Change, after: Sequence[Diagnostic], same: Correspondence) -> bool:
    """Whether the findings that suggest it are gone or better: each of them, or some if all are about costs, which the
    others share with the rest of the kernel then."""
    change.stays = _left(change, after, same)
    if len(change.stays) == len(change.targets):
        return False
    return not change.stays or all(target.code in _OF_COSTS for target in change.targets)


def _left(change: _Change, after: Sequence[Diagnostic], same: Correspondence) -> list[Diagnostic]:
    """The findings that suggest it and are neither gone nor better."""
    left: dict[object, list[Diagnostic]] = {}
    for diagnostic in after:
        left.setdefault(identity(diagnostic, same.after), []).append(diagnostic)
    stays: list[Diagnostic] = []
    for target in change.targets:
        others = left.get(identity(target, same.before), ())
        alike = [other for other in others if _alike(other, target)]
        if not all(_is_better(other, target) or (change.rewrites and _is_lesser(other, target)) for other in alike):
            stays.append(target)
    return stays


def _alike(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether they are about the same launch, as far as that is told."""
    if other.suggestion is not None and other.suggestion.relaunches:
        return True
    blocks = [{(launch.block, launch.grid) for launch in each.launches} for each in (one, other)]
    return not all(blocks) or bool(blocks[0] & blocks[1])


def _is_better(after: Diagnostic, before: Diagnostic) -> bool:
    pairs = [(after.figures[name], before.figures[name]) for name in before.figures if name in after.figures]
    lower = any(new < old * (1 - _SAME) for new, old in pairs)
    return lower and all(new <= old * (1 + _SAME) for new, old in pairs)
