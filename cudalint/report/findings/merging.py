"""Makes one list of what several launches, instantiations and files report about the same place."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, HeldBack, Related, Worlds
from cudalint.facts import FindingCost, LaunchFacts
from cudalint.kinds import Kinds
from cudalint.report.findings.results import (
    FileReport,
    KernelSite,
    LaunchLine,
    ShownKernel,
    TriedLaunch,
    worst_first,
)

_ABOUT_THE_ANALYSIS = "CL9"
_ABOUT_ORDER = "CL3"
_ORDER: Kinds = frozenset({"races"})
"""What only findings about the order between threads rest on."""
_Tried = Mapping[tuple[str, str], Sequence[Sequence[TriedLaunch]]]
"""The launches that each instantiation of a kernel was evaluated under, file by file."""
NOTHING_TRIED: _Tried = MappingProxyType({})


def gather(reports: Sequence[FileReport]) -> tuple[Diagnostic, ...]:
    """All findings of a run, each once, in the order of the source, whatever the order of the files was."""
    reports = sorted(reports, key=lambda report: report.path)
    used = {allowed for report in reports for allowed in report.used}
    found: list[Diagnostic] = []
    launched = {site for report in reports for site in report.launched}
    for report in _without_fragments(reports):
        found += _as_launched(report, report.diagnostics, launched)
        found += (diagnostic for allowed, diagnostic in report.unused if allowed not in used)
    whole = {pair for report in reports for pair in report.whole}
    return tuple(sorted(merge(_as_given(found, reports), whole, _tried(reports)), key=_source_order))


def _tried(reports: Iterable[FileReport]) -> _Tried:
    found: dict[tuple[str, str], list[Sequence[TriedLaunch]]] = {}
    for report in reports:
        for instantiation, launches in report.tried.items():
            found.setdefault(instantiation, []).append(launches)
    return found


def gather_suppressed(reports: Sequence[FileReport]) -> tuple[Diagnostic, ...]:
    """All findings of a run that annotations allow, each once, in the order of the source."""
    reports = sorted(reports, key=lambda report: report.path)
    launched = {site for report in reports for site in report.launched}
    found = [d for report in _without_fragments(reports) for d in _as_launched(report, report.suppressed, launched)]
    return tuple(sorted(merge(_as_given(found, reports)), key=_source_order))


def kernels_of(reports: Iterable[FileReport]) -> tuple[ShownKernel, ...]:
    """The kernels of a run, each instantiation once: of those in headers as a file launches them, if one does."""
    found: dict[Hashable, ShownKernel] = {}
    launched = {site for report in reports for site in report.launched}
    for report in sorted(reports, key=lambda report: report.path):
        for kernel in report.kernels:
            facts, path = kernel.facts, os.path.realpath(kernel.facts.place.path)
            is_made_up = all(launch.is_made_up for launch in facts.launches)
            if is_made_up and KernelSite(facts.name, path) in launched and path != os.path.realpath(report.path):
                continue
            key = (path, facts.name_place[1:], facts.instantiation)
            if key not in found or (not is_made_up and all(o.is_made_up for o in found[key].facts.launches)):
                found[key] = kernel
    return tuple(sorted(found.values(), key=lambda kernel: kernel.facts.place))


def _as_launched(
    report: FileReport, diagnostics: Iterable[Diagnostic], launched: Collection[KernelSite]
) -> Iterator[Diagnostic]:
    """Without those of kernels that the file only includes, with a launch made up for them, and that another file of
    the run launches: there they are evaluated as they are used."""
    known = {site.name for site in report.unlaunched if site in launched}
    # Others of the name that the file may have.
    others = {site.name for site in report.launched} | {s.name for s in report.unlaunched if s not in launched}
    for diagnostic in diagnostics:
        is_made_up = all(launch.is_made_up for launch in diagnostic.launches)
        is_another = diagnostic.kernel in others and not diagnostic.launches
        if diagnostic.kernel not in known or not is_made_up or is_another:
            yield diagnostic


def _as_given(found: Iterable[Diagnostic], reports: Iterable[FileReport]) -> Iterator[Diagnostic]:
    """Names the files of the run as the user did: what includes them may have found them under another name, and then
    their findings would seem to be different ones."""
    given = {os.path.realpath(report.path): report.path for report in reports}
    names: dict[str, str] = {}
    for diagnostic in found:
        path = diagnostic.place.path
        if path not in names:
            names[path] = given.get(os.path.realpath(path), path)
        same = names[path] == path
        yield diagnostic if same else replace(diagnostic, place=diagnostic.place._replace(path=names[path]))


def _without_fragments(reports: Sequence[FileReport]) -> list[FileReport]:
    """Leaves out files that don't stand on their own and that another file of the run includes.

    The includer's report covers them, with the declarations and the launches that they lack alone.
    """
    if all(report.status == "ok" for report in reports):
        return list(reports)
    is_covered = covered_by(reports)
    return [report for report in reports if report.status == "ok" or not is_covered(report.path)]


def covered_by(reports: Iterable[FileReport]) -> Callable[[str], bool]:
    """Says of a path whether a file includes it that was understood in full, or else as far as this one's kernels:
    there they have the launches that they lack alone."""
    includers: dict[str, list[FileReport]] = {}
    for report in reports:
        for source in report.sources:
            includers.setdefault(source, []).append(report)

    def is_covered(path: str) -> bool:
        resolved = os.path.realpath(path)
        return any(
            report.status == "ok" or _has_kernels_of(report, resolved) for report in includers.get(resolved, ())
        )

    return is_covered


def _has_kernels_of(report: FileReport, resolved: str) -> bool:
    return any(os.path.realpath(path) == resolved for path in {kernel.path for kernel in report.coverage.kernels})


def joined(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Makes one finding of the parts of each: the first of them, to which the others are related."""
    return [_whole(group) for group in _grouped(diagnostics, _finding_of)]


def _finding_of(diagnostic: Diagnostic) -> Hashable:
    d = diagnostic
    return (d.code, d.kernel, d.instantiation, d.part_of) if d.part_of else id(d)


def _whole(parts: Sequence[Diagnostic]) -> Diagnostic:
    if len(parts) == 1:
        return parts[0]
    first, *others = parts
    related = {first.place: None, **{r.place: r for r in first.related}}
    for other in others:
        for place in (Related(other.place, other.message), *other.related):
            related.setdefault(place.place, place)
    figures = {name: sum(part.figures.get(name, 0.0) for part in parts) for name in first.figures}
    return replace(
        _under_all_launches(parts),
        severity=next(worst_first(parts)).severity,
        figures=figures,
        related=tuple(place for place in related.values() if place is not None),
    )


def merge(
    diagnostics: Iterable[Diagnostic], whole: Collection[tuple[str, str]] = (), tried: _Tried = NOTHING_TRIED,
) -> list[Diagnostic]:  # fmt: skip
    """Makes one finding of those that differ only by launch or instantiation. `whole` are kernels with those of their
    instantiations that were evaluated in full: it says of which of them it is not so. `tried` are the launches that
    kernels and instantiations were evaluated under.

    Where they agree in their message, it names all launches. Where the figures differ, or what they take for granted,
    it is the worst one and has the others as its variants.
    """
    instantiations: dict[str, list[str]] = {}
    for kernel, instantiation in sorted(whole):
        instantiations.setdefault(kernel, []).append(instantiation)
    return [_beside_others(group, instantiations, tried) for group in _grouped(diagnostics, _subject)]


def _beside_others(
    group: Sequence[Diagnostic], instantiations: Mapping[str, Sequence[str]], tried: _Tried
) -> Diagnostic:
    """One finding of a group, with the instantiations of its kernel in which there is none of it. One that stands at a
    launch is about what is launched there; one in a kernel's code is about all launches of that."""
    merged = _with_variants(group)
    if merged.code.startswith(_ABOUT_THE_ANALYSIS) or not merged.kernel:
        return merged
    counts = _Counts(_lines_of(group), merged.code.startswith(_ABOUT_ORDER), tried)
    others = tuple(o for o in _others(group, instantiations) if not counts.lines or counts.of(merged.kernel, o))
    held = list(_held_in(group))
    partly = sum(counts.is_part(launch.in_part) for launch in held)
    own = sum(counts.of(merged.kernel, each) for each in {d.instantiation for d in group})
    return replace(merged, not_in=others, worlds=Worlds(len(held), max(len(held), len(others) + own + partly)))


class _Counts(NamedTuple):
    """Counts the launches in which a finding might have been."""

    lines: Collection[LaunchLine]
    """Where it stands, if that is a launch."""
    is_about_order: bool
    tried: _Tried

    def of(self, kernel: str, instantiation: str) -> int:
        """Those of an instantiation that were looked at in full, in the file that has most of them."""
        files = self.tried.get((kernel, instantiation))
        if files is None:
            return 1
        return max(sum(not self.is_part(each.in_part) and self._is_here(each) for each in own) for own in files)

    def is_part(self, missing: Kinds) -> bool:
        """Whether something that it rests on may be missing under a launch."""
        return bool(missing if self.is_about_order else missing - _ORDER)

    def _is_here(self, launch: TriedLaunch) -> bool:
        return not self.lines or not launch.at.isdisjoint(self.lines)


def _lines_of(group: Sequence[Diagnostic]) -> frozenset[LaunchLine]:
    """The launch that findings stand at; nothing of those that stand in a kernel."""
    place = group[0].place
    lines = {(launch.path, launch.line) for d in group for launch in d.launches if launch.line == place.line}
    here = os.path.realpath(place.path) if lines else ""
    return frozenset((path, line) for path, line in lines if path is not None and os.path.realpath(path) == here)


def _held_in(group: Iterable[Diagnostic]) -> Iterator[LaunchFacts]:
    """The launches of instantiations in which some findings hold under no condition."""
    found: dict[str, list[LaunchFacts]] = {}
    for diagnostic in group:
        own = found.setdefault(diagnostic.instantiation, [])
        if not diagnostic.condition:
            own += (launch for launch in diagnostic.launches if launch not in own)
    return chain.from_iterable(found.values())


def _others(group: Sequence[Diagnostic], instantiations: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The instantiations of the kernel of some findings that none of them is about."""
    own = {diagnostic.instantiation for diagnostic in group}
    return tuple(each for each in instantiations.get(group[0].kernel, ()) if each not in own)


def _subject(diagnostic: Diagnostic) -> Hashable:
    """What a finding is about. Those that belong to no kernel, but to an annotation, have no variants."""
    own = "" if diagnostic.kernel else diagnostic.message
    return diagnostic.code, diagnostic.place, diagnostic.kernel, own


def _with_variants(group: Sequence[Diagnostic]) -> Diagnostic:
    alike = (alike for equal in _grouped(group, lambda d: d.message) for alike in _with_like_assumptions(equal))
    by_excess = worst_first([_under_all_launches(each) for each in alike])
    worst, *others = sorted(by_excess, key=lambda d: (bool(d.condition), -_part_of_program(d)))
    if not others:
        return worst
    return replace(worst, variants=tuple(others), held_back=_reason_of_all((worst, *others)))


def _part_of_program(diagnostic: Diagnostic) -> float:
    """What it takes of the time of a program that was recorded; 0 where that is not known."""
    return (diagnostic.cost.program_share or 0.0) if diagnostic.cost is not None else 0.0


def _with_like_assumptions(group: Sequence[Diagnostic]) -> Iterable[list[Diagnostic]]:
    """Parts a group so that within each part all that is taken for granted is so under one of its launches: `n == 8`
    for one and `n >= 1024` for another are no assumptions of one finding."""
    parts: list[tuple[set[str], list[Diagnostic]]] = []
    for diagnostic in sorted(group, key=lambda d: -len(_taken_for_granted(d))):
        own = _taken_for_granted(diagnostic)
        part = next((members for most, members in parts if own <= most), None)
        if part is None:
            parts.append((own, [diagnostic]))
        else:
            part.append(diagnostic)
    order = {id(diagnostic): position for position, diagnostic in enumerate(group)}
    return sorted(
        (sorted(members, key=lambda d: order[id(d)]) for _, members in parts), key=lambda part: order[id(part[0])]
    )


def _taken_for_granted(diagnostic: Diagnostic) -> set[str]:
    own = set(diagnostic.assumptions)
    return own.union(*(launch.assumptions for launch in diagnostic.launches))


def _under_all_launches(group: Sequence[Diagnostic]) -> Diagnostic:
    first = group[0]
    if len(group) == 1:
        return first
    launches: list[LaunchFacts] = []
    for diagnostic in group:
        launches += (launch for launch in diagnostic.launches if launch not in launches)
    assumptions = dict.fromkeys(assumption for d in group for assumption in d.assumptions)
    return replace(
        first, launches=tuple(launches), assumptions=tuple(assumptions), cost=_most(group),
        held_back=_reason_of_all(group), condition=first.condition if all(d.condition for d in group) else "",
        separated_by=first.separated_by if all(d.separated_by for d in group) else "",
    )  # fmt: skip


def _reason_of_all(group: Sequence[Diagnostic]) -> HeldBack | None:
    """Why some findings are held back as one, if each of them is: what holds back the first of them. What nothing is
    known of the cost in one launch is shown, unless there are others that tell."""
    costed = [d for d in group if d.cost is None or d.cost.share is not None] or group
    return costed[0].held_back if all(d.held_back for d in costed) else None


def _most(group: Sequence[Diagnostic]) -> FindingCost | None:
    """What the costliest of some findings costs."""
    costs = [d.cost for d in group if d.cost is not None]
    known = [cost for cost in costs if cost.share is not None] or costs
    return max(known, key=lambda cost: cost.weight, default=None)


def _grouped(diagnostics: Iterable[Diagnostic], key: Callable[[Diagnostic], Hashable]) -> Iterable[list[Diagnostic]]:
    """Those with the same key together, in the order in which keys first appear."""
    groups: dict[Hashable, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        groups.setdefault(key(diagnostic), []).append(diagnostic)
    return groups.values()


def _source_order(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
    place = diagnostic.place
    return place.path, place.line, place.column, diagnostic.code, diagnostic.message
