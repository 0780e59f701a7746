"""One trial of changes: the text with all of them made is measured and linted, and compared with the text before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from cudalint.diagnostics import Diagnostic
from cudalint.facts import FileFacts, KernelFacts, LaunchFacts, Place
from cudalint.fixes.changes import Change, TextOf, are_within_bodies, kernels_of, names
from cudalint.fixes.cost_comparison import SAME, costs_no_more, only_last_blocks_do_less
from cudalint.fixes.edits import Correspondence, MovedLines, edited_texts
from cudalint.fixes.news import identity, new_findings
from cudalint.rulekit import is_repeat
from cudalint.shortfalls import weight

Linted = tuple[FileFacts, Sequence[Diagnostic]]


class Edited(Struct, frozen=True):
    """Texts in place of some of a file's, and what is asked about them."""

    texts: Mapping[str, str]
    """By path."""
    kernels: tuple[str, ...]
    """The names of the kernels to look at; all where there are none."""
    moved: MovedLines | None
    """Where lines are now, if nothing but the bodies of these kernels is new."""
    rewrites: bool
    """Whether accesses are spelled anew."""
    seconds: float
    """How long it may take."""


class Sides(Struct, frozen=True, eq=False):
    """The file before edits, and how to lint it after."""

    facts: FileFacts
    before: Callable[[tuple[str, ...]], Linted]
    """The same facts of the kernels of some names, or all where there are none, with what could not be done, and what
    all rules say about these in the text as it is, whichever of them the user wants to hear, with what is little beside
    the rest of its kernel."""
    after: Callable[[Edited], Linted | None]
    """The same for other texts; None where there is too little time, or no such file."""
    text_of: TextOf


class Trial(Struct, frozen=True, eq=False):
    """What became of the file with some changes made."""

    worse: set[Place]
    """The kernels that cost more or have a finding that is new, by their places before."""
    found: Sequence[Diagnostic]
    same: Correspondence
    broken: frozenset[Place] = frozenset()
    """The kernels that are no longer what they were; of the others nothing is known then."""
    late: frozenset[Place] = frozenset()
    """Those of them for which there was no time."""


def tried_together(changes: Sequence[Change], sides: Sides, seconds: float) -> Trial | None:
    """Makes changes at once and looks at the kernels that they are within, or at all; None where the file is no longer
    what it was, or there is too little time."""
    edits = list(dict.fromkeys(edit for change in changes for edit in change.edits))
    owned = kernels_of(changes, sides.facts)
    of = () if owned is None else tuple(sorted({kernel.name for kernel in owned}))
    kernels = [kernel for kernel in sides.facts.kernels if not of or kernel.name in of]
    moved = MovedLines.of(edits) if are_within_bodies(changes, sides.facts, sides.text_of) else None
    rewrites = any(change.rewrites for change in changes)
    linted = sides.after(Edited(edited_texts(edits, sides.text_of), of, moved, rewrites, seconds))
    if linted is None:
        return None
    facts_before, found_before = sides.before(of)
    after, diagnostics = linted
    if len(kernels) != len(after.kernels):
        return None
    same = Correspondence.of(edits, sides.text_of)
    relaunched = any(change.relaunches for change in changes)
    pairs = list(zip(kernels, after.kernels, strict=True))
    broken = frozenset(old.place for old, new in pairs if not _same_kernel(old, new, relaunched))
    if broken:
        late = frozenset(old.place for old, new in pairs if _is_late(new) and not _is_late(old))
        return Trial(set(), diagnostics, same, broken, late)
    if not _same_shape(facts_before, after):
        return None
    for_order = {kernel.place: _is_for_order(kernel, changes) for kernel in kernels}
    rewritten = {kernel.place: any(c.rewrites for c in _of(kernel, changes)) for kernel in kernels}
    worse = {
        old.place
        for old, new in pairs
        if not costs_no_more(old, new, same, for_order[old.place], rewritten[old.place])
        or (any(c.drops_tail for c in _of(old, changes)) and not only_last_blocks_do_less(old, new, same))
    }
    ordered = [kernel for kernel in kernels if for_order[kernel.place]]
    no_news = (
        _only_order(ordered, same), _lesser(changes), _once_double(found_before, same),
        _outside_before(found_before, changes), _only_compared(kernels, changes),
    )  # fmt: skip
    new = new_findings(found_before, diagnostics, same, lambda d: any(is_none(d) for is_none in no_news))
    owners = {(kernel.name, kernel.instantiation): kernel.place for kernel in kernels}
    worse |= {owners.get(key, Place("", 0, 0, 0, 0)) for key in new}
    return Trial(worse, diagnostics, same)


def _is_for_order(kernel: KernelFacts, changes: Iterable[Change]) -> bool:
    own = _of(kernel, changes)
    return bool(own) and all(change.is_for_order for change in own)


def _of(kernel: KernelFacts, changes: Iterable[Change]) -> list[Change]:
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


_OF_COSTS = ("CL101", "CL201")
"""The rules about what the requests of an access cost."""
_OF_ORDER = ("CL303", "CL109")
"""Those about what order costs: spare barriers, and atomics that meet."""


def _only_order(ordered: Iterable[KernelFacts], same: Correspondence) -> Callable[[Diagnostic], bool]:
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


def _only_compared(kernels: Iterable[KernelFacts], changes: Iterable[Change]) -> Callable[[Diagnostic], bool]:
    """Whether a finding in kernels that get a guard is that an index is narrower than the size with which the guard
    compares it: it was before, and nothing in the kernel told of that size."""
    guards = [change for change in changes if change.drops_tail]
    names = {(kernel.name, kernel.instantiation) for kernel in kernels if _of(kernel, guards)}
    return lambda diagnostic: diagnostic.code == "CL111" and (diagnostic.kernel, diagnostic.instantiation) in names


def _lesser(changes: Iterable[Change]) -> Callable[[Diagnostic], bool]:
    """Whether a finding is what is left of one that accesses are spelled anew for: a row that is loaded in vectors is
    still a row of a thread's own."""
    targets = [target for change in changes if change.rewrites for target in change.targets]

    def is_less(diagnostic: Diagnostic) -> bool:
        return any(names(diagnostic) == names(target) and _is_lesser(diagnostic, target) for target in targets)

    return is_less


_OF_BOUNDS = ("CL106", "CL107")
"""Those about accesses that leave their array."""


def _outside_before(before: Iterable[Diagnostic], changes: Iterable[Change]) -> Callable[[Diagnostic], bool]:
    """Whether accesses that are spelled anew leave an array that the kernel left before: they are the same accesses."""
    told = {names(each) for each in before if each.code in _OF_BOUNDS and each.about}
    rewrites = any(change.rewrites for change in changes)
    return lambda diagnostic: rewrites and diagnostic.code in _OF_BOUNDS and names(diagnostic) in told


def _once_double(before: Iterable[Diagnostic], same: Correspondence) -> Callable[[Diagnostic], bool]:
    """Whether a finding is about what floats take where doubles took more, of which another finding told."""
    told = {same.before(diagnostic.place) for diagnostic in before if diagnostic.code == "CL602"}
    return lambda diagnostic: diagnostic.code == "CL603" and same.after(diagnostic.place) in told


def _is_lesser(diagnostic: Diagnostic, target: Diagnostic) -> bool:
    """Whether an access that was spelled anew, and may move more at once, takes less beyond what its bytes need."""
    return target.code in _OF_COSTS and _wasted(diagnostic) < _wasted(target) * (1 - SAME)


def _wasted(diagnostic: Diagnostic) -> float:
    """By how many times an access takes more than its bytes need."""
    figures = diagnostic.figures
    if "sectors_per_request" in figures:
        return figures["sectors_per_request"] / figures["ideal_sectors"]
    return figures["conflict_ways"]


def is_cured(change: Change, after: Sequence[Diagnostic], same: Correspondence) -> bool:
    """Whether the findings that suggest it are gone or better: each of them, or some if all are about costs, which the
    others share with the rest of the kernel then."""
    change.stays = _left(change, after, same)
    if len(change.stays) == len(change.targets):
        return False
    return not change.stays or all(target.code in _OF_COSTS for target in change.targets)


def _left(change: Change, after: Sequence[Diagnostic], same: Correspondence) -> list[Diagnostic]:
    """The findings that suggest it and are neither gone nor better."""
    left: dict[object, list[Diagnostic]] = {}
    for diagnostic in after:
        left.setdefault(identity(diagnostic, same.after), []).append(diagnostic)
    stays: list[Diagnostic] = []
    for target in change.targets:
        others = left.get(identity(target, same.before), ())
        same_launch = [other for other in others if _are_of_one_launch(other, target)]
        if not all(_is_better(o, target) or (change.rewrites and _is_lesser(o, target)) for o in same_launch):
            stays.append(target)
    return stays


def _are_of_one_launch(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether they are about the same launch, as far as they say."""
    if other.suggestion is not None and other.suggestion.relaunches:
        return True
    blocks = [{(launch.block, launch.grid) for launch in each.launches} for each in (one, other)]
    return not all(blocks) or bool(blocks[0] & blocks[1])


def _is_better(after: Diagnostic, before: Diagnostic) -> bool:
    pairs = [(after.figures[name], before.figures[name]) for name in before.figures if name in after.figures]
    lower = any(new < old * (1 - SAME) for new, old in pairs)
    return lower and all(new <= old * (1 + SAME) for new, old in pairs)
