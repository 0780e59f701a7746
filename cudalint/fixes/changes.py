"""Changes that findings suggest: sets of edits, what each of them is within, and which of them can be tried at once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from cudalint.diagnostics import Diagnostic, Edit
from cudalint.facts import FileFacts, KernelFacts, Place
from cudalint.fixes.edits import fit, overlap
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import body_of
from cudalint.regexes import regex
from cudalint.source.code import code_text

TextOf = Callable[[str], str]


class Change(Struct, eq=False):
    """One distinct set of edits, and the findings that suggest it."""

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
        """What the findings that suggest it differ in from others."""
        return frozenset((*names(target)[:3], target.place) for target in self.targets)

    @property
    def is_for_order(self) -> bool:
        """Whether nothing is to get cheaper by it."""
        return not any(target.suggestion and target.suggestion.before for target in self.targets)


def changes_of(found: Iterable[Diagnostic], facts: FileFacts) -> list[Change]:
    changes: dict[tuple[Edit, ...], Change] = {}
    for diagnostic in found:
        suggestion = diagnostic.suggestion
        if suggestion is None or not suggestion.edits:
            continue
        if suggestion.edits not in changes:
            owners = _named(diagnostic, facts) if suggestion.of_launches else _owners(suggestion.edits, facts)
            changes[suggestion.edits] = Change(suggestion.edits, owners, [])
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


def kernels_of(changes: Sequence[Change], facts: FileFacts) -> list[KernelFacts] | None:
    """The kernels that changes are within; None where some change is elsewhere."""
    owned: set[Place] = set()
    for change in changes:
        if change.kernels is None:
            return None
        owned |= change.kernels
    return [kernel for kernel in facts.kernels if kernel.place in owned]


def are_within_bodies(changes: Iterable[Change], facts: FileFacts, text_of: TextOf) -> bool:
    """Whether nothing is changed but statements of kernels."""
    for change in changes:
        for kernel in kernels_of([change], facts) or ():
            source = code_text(text_of(kernel.place.path))
            try:
                if any(source.extent(edit.place)[0] < body_of(kernel, source) for edit in _within(kernel, change)):
                    return False
            except Obstacle:
                return False
        if change.kernels is None or change.is_of_launches or any(map(_has_directive, change.edits)):
            return False
    return True


_DIRECTIVE = regex(r"^[ \t]*#(?![ \t]*pragma[ \t]+unroll)", re.MULTILINE)


def _has_directive(edit: Edit) -> bool:
    """Whether something is put in that may have a say in more than the body that it is in."""
    return _DIRECTIVE.search(edit.text) is not None


def _within(kernel: KernelFacts, change: Change) -> list[Edit]:
    return [edit for edit in change.edits if _contains(kernel.place, edit.place)]


def may_be_tried(change: Change, facts: FileFacts, text_of: TextOf, all_considered: Callable[[str], bool]) -> bool:
    """Whether all that it may change is seen; `all_considered` as in `Proof`."""
    plain = fit(change.edits, text_of) and not overlap(change.edits)
    return plain and (change.is_of_any_size or _is_whole(change, facts, all_considered))


def _is_whole(change: Change, facts: FileFacts, all_considered: Callable[[str], bool]) -> bool:
    """Whether all instantiations of what is changed were evaluated, and nothing else in sight uses it."""
    paths = {edit.place.path for edit in change.edits} - {facts.path}
    kernels = [k for k in facts.kernels if change.kernels is None or k.place in change.kernels]
    is_complete = not any(gap.kind == "instantiations" for kernel in kernels for gap in kernel.gaps)
    return is_complete and all(map(all_considered, paths))


def applicability(change: Change, facts: FileFacts, all_considered: Callable[[str], bool]) -> str:
    """`safe` only where something in sight launches all that is changed, and all of it was evaluated."""
    if not _is_whole(change, facts, all_considered):
        return "unsafe"
    if any(target.suggestion and target.suggestion.applicability != "safe" for target in change.targets):
        return "unsafe"
    kernels = [k for k in facts.kernels if change.kernels is None or k.place in change.kernels]
    launched = not any(launch.is_made_up for kernel in kernels for launch in kernel.launches)
    return "safe" if launched and facts.status == "ok" and not any(k.gaps for k in kernels) else "unsafe"


def rounds(changes: Iterable[Change]) -> list[list[Change]]:
    """What is tried at once: changes of different kernels, which don't meet, and those of one kernel, or of what stands
    outside of all, that get along."""
    rounds: list[list[Change]] = []
    for change in changes:
        for together in rounds:
            if all(are_of_other_kernels(change, other) or _get_along(change, other) for other in together):
                together.append(change)
                break
        else:
            rounds.append([change])
    return rounds


def are_of_other_kernels(one: Change, other: Change) -> bool:
    return one.kernels is not None and other.kernels is not None and not one.kernels & other.kernels


def _get_along(one: Change, other: Change) -> bool:
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


def _own(change: Change, other: Change) -> list[Place]:
    """What is changed by it alone, and not by another one as well: both may need a header."""
    return [edit.place for edit in change.edits if edit not in other.edits]


def _meet(one: Place, other: Place) -> bool:
    return one.path == other.path and one.line <= other.end_line and other.line <= one.end_line


def names(diagnostic: Diagnostic) -> tuple[str, ...]:
    """What stays the same of a finding wherever it moves."""
    return diagnostic.code, diagnostic.kernel, diagnostic.instantiation, diagnostic.about
