"""Suggested edits made, and the edited text analysed and linted again, before anybody gets to see them.

An edit is proven where under every launch of every instantiation the findings that suggest it are gone or better, no
finding is new that is as severe, and no access costs more than before. (What a barrier that was missing leaves to
others to do, and what weighs more once conflicts are gone, is milder than what was cured.) The text is all that is
believed: what a remedy's own model says of a change only decides which change is tried.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Edit, Severity, Suggestion
from cudalint.facts import AccessResult, FileFacts, KernelFacts, Place
from cudalint.remedies.edits import Correspondence, edited_texts, fit, overlap
from cudalint.results import SEVERITIES
from cudalint.rulekit import WITH_FIGURES, is_estimate, is_repeat

Linted = tuple[FileFacts, Sequence[Diagnostic]]
Again = Callable[[Mapping[str, str], tuple[str, ...], float], Linted | None]
"""Analyses the file anew with other texts in place of some, by their paths: the kernels of some names, or all where
there are none, in so many seconds."""
Clock = Callable[[], float]

_SAME = 1e-3
"""Relative difference up to which two figures are the same."""
_SPARE = 1.5
"""A trial is only begun where so many times what the longest one took is left."""


class Proof(Struct, frozen=True, eq=False):
    """What it takes to try the edits of one file."""

    facts: FileFacts
    diagnostics: Sequence[Diagnostic]
    """What all rules say about the text as it is, whichever of them the user wants to hear."""
    again: Again
    text_of: Callable[[str], str]
    all_considered: Callable[[str], bool]
    """Whether nothing else in sight uses what stands in another file than the one that is linted."""
    seconds: float
    """How long all trials together may take."""
    clock: Clock = time.process_time


class _Change(Struct, eq=False):
    """One distinct set of edits."""

    edits: tuple[Edit, ...]
    kernels: frozenset[Place] | None
    """The kernels in whose bodies all of it is, by their places; None where some is elsewhere."""
    targets: list[Diagnostic]


def proven(found: Sequence[Diagnostic], proof: Proof) -> list[Diagnostic]:
    """The findings, with the edits that hold. Where they make something worse the suggestion goes as a whole; where
    there is no time to tell its words stay."""
    changes = _changes(found, proof.facts)
    verdicts: dict[tuple[Edit, ...], str | None] = {change.edits: _UNTRIED for change in changes}
    tryable = [change for change in changes if _may_be_tried(change, proof)]
    end, longest = proof.clock() + proof.seconds, 0.0
    queue = list(_rounds(tryable))
    while queue:
        together = queue.pop(0)
        start = proof.clock()
        if end - start <= longest * _SPARE:
            break
        verdict = _try(together, proof, (end - start) / _SPARE)
        longest = max(longest, proof.clock() - start)
        if verdict is None and len(together) > 1:
            queue += [[change] for change in together]
            continue
        for change in together:
            holds = verdict is not None and verdict[change.edits]
            verdicts[change.edits] = _applicable(change, proof.facts) if holds else None
    return [_judged(diagnostic, verdicts) for diagnostic in found]


_UNTRIED = "untried"


def _judged(diagnostic: Diagnostic, verdicts: Mapping[tuple[Edit, ...], str | None]) -> Diagnostic:
    suggestion = diagnostic.suggestion
    if suggestion is None or not suggestion.edits:
        return diagnostic
    match verdicts[suggestion.edits]:
        case None:
            return replace(diagnostic, suggestion=None)
        case "untried":
            return replace(diagnostic, suggestion=without_edits(suggestion))
        case "unsafe":
            return replace(diagnostic, suggestion=replace(suggestion, applicability="unsafe"))
        case _:
            return diagnostic


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
            changes[suggestion.edits] = _Change(suggestion.edits, _owners(suggestion.edits, facts), [])
        changes[suggestion.edits].targets.append(diagnostic)
    return list(changes.values())


def _owners(edits: Iterable[Edit], facts: FileFacts) -> frozenset[Place] | None:
    places = {kernel.place for kernel in facts.kernels}
    owners = {edit: next((place for place in places if _contains(place, edit.place)), None) for edit in edits}
    found = frozenset(owner for owner in owners.values() if owner is not None)
    return found if None not in owners.values() else None


def _contains(outer: Place, inner: Place) -> bool:
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return outer.path == inner.path and begins and ends


def _may_be_tried(change: _Change, proof: Proof) -> bool:
    paths = {edit.place.path for edit in change.edits} - {proof.facts.path}
    plain = fit(change.edits, proof.text_of) and not overlap(change.edits)
    return plain and all(map(proof.all_considered, paths)) and _is_complete(change, proof.facts)


def _is_complete(change: _Change, facts: FileFacts) -> bool:
    """Whether all instantiations in sight were evaluated."""
    kernels = [k for k in facts.kernels if change.kernels is None or k.place in change.kernels]
    return not any(gap.is_about_instantiations for kernel in kernels for gap in kernel.gaps)


def _rounds(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Changes of different kernels don't meet: they are tried at once."""
    rounds: list[list[_Change]] = []
    for change in changes:
        if change.kernels is None:
            yield [change]
            continue
        for together in rounds:
            if not any(change.kernels & (other.kernels or frozenset()) for other in together):
                together.append(change)
                break
        else:
            rounds.append([change])
    yield from rounds


def _applicable(change: _Change, facts: FileFacts) -> str:
    """`safe` only where something in sight launches all that is changed, and all of it was evaluated."""
    if any(target.suggestion and target.suggestion.applicability != "safe" for target in change.targets):
        return "unsafe"
    kernels = [k for k in facts.kernels if change.kernels is None or k.place in change.kernels]
    launched = not any(launch.is_made_up for kernel in kernels for launch in kernel.launches)
    return "safe" if launched and facts.status == "ok" and not any(k.gaps for k in kernels) else "unsafe"


# --- one trial ---------------------------------------------------------------------------------------------


def _try(changes: Sequence[_Change], proof: Proof, seconds: float) -> dict[tuple[Edit, ...], bool] | None:
    """Which of some changes of different kernels hold that are made at once; None where that can't be told for each of
    them."""
    edits = [edit for change in changes for edit in change.edits]
    everything = any(change.kernels is None for change in changes)
    owned = {place for change in changes for place in change.kernels or ()}
    names = {kernel.name for kernel in proof.facts.kernels if everything or kernel.place in owned}
    kernels = [kernel for kernel in proof.facts.kernels if kernel.name in names]
    linted = proof.again(edited_texts(edits, proof.text_of), () if everything else tuple(sorted(names)), seconds)
    if linted is None:
        return None
    after, diagnostics = linted
    if not _same_shape(proof.facts, kernels, after):
        return None
    same = Correspondence.of(edits, proof.text_of)
    with_totals = any(t.suggestion and t.suggestion.before for change in changes for t in change.targets)
    worse = {
        old.place
        for old, new in zip(kernels, after.kernels, strict=True)
        if not _costs_no_more(old, new, same, with_totals)
    }
    mildest = max(SEVERITIES.index(target.severity) for change in changes for target in change.targets)
    new = _new_findings(proof.diagnostics, diagnostics, same, SEVERITIES[: mildest + 1])
    owners = {(kernel.name, kernel.instantiation): kernel.place for kernel in kernels}
    worse_places = worse | {owners.get(key, Place("", 0, 0, 0, 0)) for key in new}
    if everything:
        [change] = changes
        return {change.edits: not worse_places and _is_cured(change, diagnostics, same)}
    if worse_places - owned:
        return None
    return {
        change.edits: not (worse_places & (change.kernels or frozenset())) and _is_cured(change, diagnostics, same)
        for change in changes
    }


def _same_shape(before: FileFacts, kernels: Sequence[KernelFacts], after: FileFacts) -> bool:
    """Whether nothing was lost on the way: these kernels, their instantiations and launches are there again."""
    pairs = zip(kernels, after.kernels, strict=False)
    return (
        len(kernels) == len(after.kernels)
        and after.status in ("ok", before.status)
        and len(after.problems) == len(before.problems)
        and len(after.failures) <= len(before.failures)
        and all(_same_kernel(old, new) for old, new in pairs)
    )


def _same_kernel(old: KernelFacts, new: KernelFacts) -> bool:
    launches = zip(old.launches, new.launches, strict=False)
    return (
        (old.name, old.instantiation) == (new.name, new.instantiation)
        and len(old.launches) == len(new.launches)
        and all((a.block, a.grid) == (b.block, b.grid) for a, b in launches)
        and len(new.gaps) <= len(old.gaps)
    )


# --- what accesses cost --------------------------------------------------------------------------------------


class _Cost(Struct):
    """What an access costs under one launch."""

    per_request: float = 0.0
    """The highest mean of the copies that unrolling makes."""
    total: float | None = 0.0
    """None where nobody knows how many requests there are."""
    is_known: bool = True
    is_repeat: bool = False
    """It makes no request, as the compiler uses what another load has brought: what keeps it from that is what orders
    the two, and no matter of how they lie."""


_Quantity = Callable[[AccessResult], float | None]
_QUANTITIES: tuple[_Quantity, ...] = (lambda r: r.sectors_per_request, lambda r: r.wavefronts_per_request)


def _costs_no_more(old: KernelFacts, new: KernelFacts, same: Correspondence, with_totals: bool) -> bool:
    """`with_totals` counts in what the compiler had merged and no longer can: who moves data to make it cheaper has to
    pay for that, too."""
    for quantity in _QUANTITIES:
        before = _costs(old, quantity, same.before, same.line_before)
        after = _costs(new, quantity, same.after, same.line_after)
        if before.keys() != after.keys():
            return False
        if not all(_no_worse(before[key], after[key]) for key in before):
            return False
        if with_totals and not _total_no_worse(before, after):
            return False
    return True


def _total_no_worse(before: Mapping[object, _Cost], after: Mapping[object, _Cost]) -> bool:
    if not all(cost.is_known and cost.total is not None for cost in before.values()):
        return True
    totals = [sum(cost.total or 0.0 for cost in costs.values()) for costs in (before, after)]
    return totals[1] <= totals[0] * (1 + _SAME)


def _costs(
    kernel: KernelFacts,
    quantity: _Quantity,
    spot: Callable[[Place], tuple[str, int, int]],
    line: Callable[[str, int], tuple[str, int]],
) -> dict[object, _Cost]:
    found: dict[object, _Cost] = {}
    for access in kernel.accesses:
        if access.space not in ("global", "shared", "generic"):
            continue
        calls = tuple(line(frame.path, frame.line) for frame in access.inlined_from)
        for result in access.results:
            key = (spot(access.place), calls, access.operation, access.space, access.array, result.launch)
            _add(found.setdefault(key, _Cost()), result, quantity(result))
    return found


def _add(cost: _Cost, result: AccessResult, figure: float | None) -> None:
    if is_repeat(result):
        cost.is_repeat = True
        return
    if result.status == "unreached":
        return
    if result.status not in WITH_FIGURES or is_estimate(result):
        cost.is_known = False
        return
    figure = figure or 0.0
    cost.per_request = max(cost.per_request, figure)
    known = cost.total is not None and result.requests is not None
    cost.total = (cost.total or 0.0) + figure * (result.requests or 0.0) if known else None


def _no_worse(before: _Cost, after: _Cost) -> bool:
    """What was not known before need not be afterwards."""
    if before.is_repeat:
        return True
    if not before.is_known or not after.is_known:
        return not before.is_known
    if before.total is None or after.total is None:
        return after.per_request <= before.per_request * (1 + _SAME)
    return after.total <= before.total * (1 + _SAME)


# --- findings ----------------------------------------------------------------------------------------------


def _identity(diagnostic: Diagnostic, spot: Callable[[Place], tuple[str, int, int]]) -> tuple[object, ...]:
    return diagnostic.code, diagnostic.kernel, diagnostic.instantiation, spot(diagnostic.place)


def _new_findings(
    before: Iterable[Diagnostic], after: Sequence[Diagnostic], same: Correspondence, severities: Collection[Severity]
) -> set[tuple[str, str]]:
    """Kernels and instantiations in which there are findings that were not there before, of some severities."""
    old = Counter(_identity(diagnostic, same.before) for diagnostic in before)
    new = Counter(_identity(diagnostic, same.after) for diagnostic in after)
    worse = [d for d in after if d.severity in severities]
    return {(d.kernel, d.instantiation) for d in worse if new[key := _identity(d, same.after)] > old[key]}


def _is_cured(change: _Change, after: Sequence[Diagnostic], same: Correspondence) -> bool:
    """Whether each of the findings that suggest it is gone or better."""
    left: dict[object, list[Diagnostic]] = {}
    for diagnostic in after:
        left.setdefault(_identity(diagnostic, same.after), []).append(diagnostic)
    for target in change.targets:
        others = left.get(_identity(target, same.before), ())
        if not all(_is_better(other, target) for other in others if _alike(other, target)):
            return False
    return True


def _alike(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether they are about the same launch, as far as that is told."""
    blocks = [{(launch.block, launch.grid) for launch in each.launches} for each in (one, other)]
    return not all(blocks) or bool(blocks[0] & blocks[1])


def _is_better(after: Diagnostic, before: Diagnostic) -> bool:
    pairs = [(after.figures[name], before.figures[name]) for name in before.figures if name in after.figures]
    lower = any(new < old * (1 - _SAME) for new, old in pairs)
    return lower and all(new <= old * (1 + _SAME) for new, old in pairs)
