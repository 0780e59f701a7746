"""Which kernel of one version is which of the other, which launch is which, and which findings came and went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from cudalint.cli.comparing.figures import Figures, differ, figures_of
from cudalint.cli.comparing.versions import Version
from cudalint.diagnostics import Diagnostic
from cudalint.facts import Access, Bound, KernelFacts, LaunchFacts
from cudalint.report.findings.places import text_at
from cudalint.report.findings.results import ShownKernel, excess

_T = TypeVar("_T")
_LONGEST = 200
_TOLERANCE = 1.01


class Pair(NamedTuple):
    """A kernel in both versions; None in the one that lacks it."""

    old: ShownKernel | None
    new: ShownKernel | None

    @property
    def either(self) -> ShownKernel:
        found = self.new or self.old
        assert found is not None
        return found


class AccessChange(NamedTuple):
    """An access whose figures differ, or that only one version has."""

    old: Access | None
    new: Access | None
    old_figure: str | None
    new_figure: str | None


class Compared(Struct, frozen=True, eq=False):
    """A launch of a kernel in both versions; None in the one that lacks it."""

    pair: Pair
    old_launch: LaunchFacts | None
    new_launch: LaunchFacts | None
    old: Figures | None
    new: Figures | None
    accesses: tuple[AccessChange, ...] = ()
    appeared: tuple[Diagnostic, ...] = ()
    vanished: tuple[Diagnostic, ...] = ()
    old_findings: tuple[Diagnostic, ...] = ()
    new_findings: tuple[Diagnostic, ...] = ()
    """Findings of the kernel, the same for all of its launches."""
    old_bound: Bound | None = None
    new_bound: Bound | None = None
    """What the launch is bound by, by the time model."""

    @property
    def is_known(self) -> bool:
        """Whether it was evaluated in every version that has it."""
        return self.old != {} and self.new != {}

    @property
    def differs(self) -> bool:
        if self.appeared or self.vanished or self.accesses or self.old is None or self.new is None:
            return True
        return any(differ(self.old.get(name), self.new.get(name)) for name in {**self.old, **self.new})


class Comparison(Struct, frozen=True, eq=False):
    """All of two versions."""

    launches: tuple[Compared, ...]
    appeared: tuple[Diagnostic, ...]
    vanished: tuple[Diagnostic, ...]
    """Findings of no kernel that is compared, as those of host code."""
    unknown: tuple[str, ...] = ()
    """Files that could not be evaluated in one of the versions, as paths from the root on; their kernels are not
    compared."""
    cut: tuple[Pair, ...] = ()
    """Kernels whose evaluation was cut short in one of the versions, which are not compared either."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All kernels, those that are not compared, too."""
        return (*{id(each.pair): each.pair for each in self.launches}.values(), *self.cut)

    def with_same(self, same: Comparison) -> Comparison:
        """With the kernels of files that nothing tells apart, compared with themselves."""
        return replace(self, launches=(*self.launches, *same.launches), cut=(*self.cut, *same.cut))


def compare(old: Version, new: Version, wanted: Callable[[ShownKernel], bool]) -> Comparison:
    unknown = old.unknown | new.unknown
    old, new = _without(old, unknown), _without(new, unknown)
    pairs = list(_pairs(old, new))
    appeared, vanished = _findings(old, new, pairs)
    launches: list[Compared] = []
    cut = [pair for pair in pairs if _is_cut(pair, old, new)]
    for pair in pairs:
        if wanted(pair.either) and pair not in cut:
            found = _Findings(
                tuple(_of(pair.new, appeared)), tuple(_of(pair.old, vanished)),
                tuple(_of(pair.old, old.findings)), tuple(_of(pair.new, new.findings)),
            )  # fmt: skip
            launches += _launches(pair, found)
    told = {id(d) for each in launches for d in (*each.appeared, *each.vanished)}
    untold = [pair for pair in pairs if not wanted(pair.either) or pair in cut]
    names = {each.facts.name for pair in untold for each in pair if each is not None}
    left = [tuple(d for d in found if id(d) not in told and d.kernel not in names) for found in (appeared, vanished)]
    asked = tuple(pair for pair in cut if wanted(pair.either))
    return Comparison(tuple(launches), left[0], left[1], tuple(sorted(unknown)), asked)


def _is_cut(pair: Pair, old: Version, new: Version) -> bool:
    sides = ((old, pair.old), (new, pair.new))
    keys = {(side.key_of(each.facts.place.path), each.facts.name) for side, each in sides if each is not None}
    return not keys.isdisjoint(old.cut | new.cut)


def _without(version: Version, files: Collection[str]) -> Version:
    """Without what is in some files."""
    if not files:
        return version
    return replace(
        version,
        kernels=tuple(each for each in version.kernels if version.key_of(each.facts.place.path) not in files),
        findings=tuple(each for each in version.findings if version.key_of(each.place.path) not in files),
    )


class _Findings(NamedTuple):
    """Of one kernel, in the order of the fields of `Compared`."""

    appeared: tuple[Diagnostic, ...]
    vanished: tuple[Diagnostic, ...]
    old: tuple[Diagnostic, ...]
    new: tuple[Diagnostic, ...]


def _of(kernel: ShownKernel | None, findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Those of a kernel, but for what its instantiation is left out of."""
    if kernel is not None:
        facts = kernel.facts
        yield from (d for d in findings if d.kernel == facts.name and facts.instantiation not in d.not_in)


def _matched(
    old: Sequence[_T], new: Sequence[_T], old_key: Callable[[_T], Hashable], new_key: Callable[[_T], Hashable]
) -> Iterator[tuple[int, int]]:
    """Positions of those with the same key, in their order."""
    by_key: dict[Hashable, list[int]] = {}
    for position, each in enumerate(old):
        by_key.setdefault(old_key(each), []).append(position)
    for position, each in enumerate(new):
        waiting = by_key.get(new_key(each))
        if waiting:
            yield waiting.pop(0), position


def _together(
    old: Sequence[_T], new: Sequence[_T], keys: Iterable[tuple[Callable[[_T], Hashable], Callable[[_T], Hashable]]]
) -> Iterator[tuple[_T | None, _T | None]]:
    """Those of both sides with the same key, for one pair of keys after the other; in the order of the new side, with
    what only the old one has at the end."""
    partners: dict[int, int] = {}
    for old_key, new_key in keys:
        left_old = [n for n in range(len(old)) if n not in partners.values()]
        left_new = [n for n in range(len(new)) if n not in partners]
        found = _matched([old[n] for n in left_old], [new[n] for n in left_new], old_key, new_key)
        partners |= {left_new[theirs]: left_old[own] for own, theirs in found}
    yield from ((old[partners[n]] if n in partners else None, each) for n, each in enumerate(new))
    taken = set(partners.values())
    yield from ((each, None) for n, each in enumerate(old) if n not in taken)


def _pairs(old: Version, new: Version) -> Iterator[Pair]:
    """By file and instantiation; then by file and name, wherever it went, and the only ones that are left of a file."""

    def in_file(version: Version) -> Callable[[ShownKernel], Hashable]:
        return lambda kernel: (version.key_of(kernel.facts.place.path), kernel.facts.instantiation)

    def named(version: Version) -> Callable[[ShownKernel], Hashable]:
        return lambda kernel: (version.key_of(kernel.facts.place.path), kernel.facts.name)

    def moved(kernel: ShownKernel) -> Hashable:
        return kernel.facts.instantiation

    keys = [(in_file(old), in_file(new)), (named(old), named(new)), (moved, moved)]
    found = [Pair(*each) for each in _together(old.kernels, new.kernels, keys)]
    gone = [each.old for each in found if each.old is not None and each.new is None]
    fresh = [each.new for each in found if each.new is not None and each.old is None]
    gone_in = Counter(old.key_of(kernel.facts.place.path) for kernel in gone)
    fresh_in = Counter(new.key_of(kernel.facts.place.path) for kernel in fresh)
    renamed = {
        id(theirs): own
        for own in gone
        for theirs in fresh
        if (key := old.key_of(own.facts.place.path)) == new.key_of(theirs.facts.place.path)
        and gone_in[key] == fresh_in[key] == 1
    }
    taken = {id(own) for own in renamed.values()}
    for pair in found:
        if pair.new is not None and id(pair.new) in renamed:
            yield Pair(renamed[id(pair.new)], pair.new)
        elif pair.new is not None or id(pair.old) not in taken:
            yield pair


def _launches(pair: Pair, findings: _Findings) -> Iterator[Compared]:
    """By what is launched; what is left in the order of the source."""
    if pair.old and pair.new and bool(pair.old.facts.launches) != bool(pair.new.facts.launches):
        # It was not come to in one of them, which is no launch that is gone.
        yield from (_unknown_beside(pair, number, findings) for number, _ in enumerate(_known(pair).facts.launches))
        return
    old = list(enumerate(pair.old.facts.launches)) if pair.old else []
    new = list(enumerate(pair.new.facts.launches)) if pair.new else []

    def shape(launch: tuple[int, LaunchFacts]) -> Hashable:
        return launch[1].block, launch[1].grid, tuple(sorted(launch[1].parameters.items()))

    def extents(launch: tuple[int, LaunchFacts]) -> Hashable:
        return launch[1].block, launch[1].grid

    def source(launch: tuple[int, LaunchFacts]) -> Hashable:
        return launch[1].source

    for own, theirs in _together(old, new, [(key, key) for key in (shape, extents, source)]):
        before = figures_of(pair.old.facts, own[0]) if pair.old and own else None
        after = figures_of(pair.new.facts, theirs[0]) if pair.new and theirs else None
        accesses: tuple[AccessChange, ...] = ()
        if pair.old and own and pair.new and theirs:
            accesses = tuple(_accesses(pair.old.facts, own[0], pair.new.facts, theirs[0]))
        yield Compared(
            pair, own[1] if own else None, theirs[1] if theirs else None, before, after, accesses, *findings,
            _bound(pair.old, own), _bound(pair.new, theirs),
        )  # fmt: skip


def _bound(kernel: ShownKernel | None, launch: tuple[int, LaunchFacts] | None) -> Bound | None:
    cost = kernel.facts.cost_of(launch[0]) if kernel is not None and launch is not None else None
    return cost.bound if cost is not None and cost.bound != "unknown" else None


def _known(pair: Pair) -> ShownKernel:
    return pair.old if pair.old and pair.old.facts.launches else pair.either


def _unknown_beside(pair: Pair, launch: int, findings: _Findings) -> Compared:
    """A launch of a kernel of which the other version knows nothing."""
    facts = _known(pair).facts
    figures = figures_of(facts, launch)
    is_old = pair.old is not None and facts is pair.old.facts
    old, new = (figures, {}) if is_old else ({}, figures)
    return Compared(pair, facts.launches[launch], facts.launches[launch], old, new, (), *findings)


def _accesses(old: KernelFacts, old_launch: int, new: KernelFacts, new_launch: int) -> Iterator[AccessChange]:
    def spelled(access: Access) -> Hashable:
        return access.space, access.operation, access.array, "".join(access.expression.split())

    def array(access: Access) -> Hashable:
        return access.space, access.operation, access.array

    keys = [(key, key) for key in (spelled, array)]
    for own, theirs in _together(old.accesses, new.accesses, keys):
        before = _figure(own, old_launch) if own else None
        after = _figure(theirs, new_launch) if theirs else None
        if before != after:
            yield AccessChange(own, theirs, before, after)


def _figure(access: Access, launch: int) -> str | None:
    """`4 sectors per request`."""
    result = next((each for each in access.results if each.launch == launch), None)
    return access.per_request(result).text if result is not None else None


def _findings(
    old: Version, new: Version, pairs: Sequence[Pair]
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Those that came and those that went. One that got worse did both."""
    names = {pair.old.facts.name: pair.new.facts.name for pair in pairs if pair.old and pair.new}

    def text(version: Version, renames: Mapping[str, str]) -> Callable[[Diagnostic], Hashable]:
        def key(diagnostic: Diagnostic) -> Hashable:
            kernel = renames.get(diagnostic.kernel, diagnostic.kernel)
            return diagnostic.code, kernel, text_at(diagnostic.place, version.sources)[:_LONGEST]

        return key

    def message(renames: Mapping[str, str]) -> Callable[[Diagnostic], Hashable]:
        return lambda diagnostic: (
            diagnostic.code, renames.get(diagnostic.kernel, diagnostic.kernel), diagnostic.message
        )  # fmt: skip

    keys = [(text(old, names), text(new, {})), (message(names), message({}))]
    appeared: list[Diagnostic] = []
    vanished: list[Diagnostic] = []
    for own, theirs in _together(old.findings, new.findings, keys):
        if own is not None and theirs is not None:
            before, after = excess(own), excess(theirs)
            if max(before, after) <= _TOLERANCE * min(before, after):
                continue
        vanished += [own] if own is not None else []
        appeared += [theirs] if theirs is not None else []
    return tuple(appeared), tuple(vanished)
