"""One section for each kernel of a run: those with errors first, then those that have most to gain."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from cudalint.diagnostics import Diagnostic
from cudalint.facts import KernelCost, KernelFacts, LaunchCost, LaunchFacts, Place
from cudalint.hardware.cost.by_line import Line, Share, by_line, lines_of
from cudalint.hardware.targets import Target, find_target
from cudalint.numerals import count
from cudalint.report.findings.causes import everything_in
from cudalint.report.findings.places import path_from, project_root
from cudalint.report.findings.results import SEVERITIES, ShownKernel
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import costs, wording
from cudalint.report.formats.html.figures import figures_of
from cudalint.report.formats.html.requests import Pictures, access_view, branch_view
from cudalint.report.formats.html.source import codes_of, prose
from cudalint.report.formats.html.views import Code, LaunchRow, Row, Section, Stake
from cudalint.report.formats.losses import Loss, losses

_MOST_LAUNCHES = 12
_WHOLE, _WHOLE_WITHOUT = 120, 30
"""Lines of a kernel with and without findings that are shown whatever stands in them."""
_OF_A_FINDING = 2.0
"""How much a line with a finding is of interest, where lines without have their share of the traffic."""


class Group(Struct, eq=False):
    """The instantiations of one kernel, with the findings that are about it."""

    kernels: list[ShownKernel] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    """Those that are reported here."""
    parts: list[tuple[Diagnostic, Diagnostic]] = field(default_factory=list)
    """Every single finding about it, with the one that it is reported with, which may stand at another kernel."""
    anchor: str = ""

    @property
    def first(self) -> KernelFacts:
        return self.kernels[0].facts

    @property
    def loss(self) -> Loss | None:
        """What its findings take, in the launch where that is most."""
        found = losses(part for part, _ in self.parts)
        return found[0] if found else None

    def is_about(self, diagnostic: Diagnostic) -> bool:
        return diagnostic.kernel == self.first.name and bool(diagnostic.kernel)

    def has(self, place: Place) -> bool:
        own = self.first.place
        return own.path == place.path and own.line <= place.line <= own.end_line

    def is_launched_as(self, launch: LaunchFacts) -> bool:
        is_seen = launch.path is not None or launch.recorded is not None
        return is_seen and any(launch in kernel.facts.launches for kernel in self.kernels)

    def reported(self) -> list[tuple[Diagnostic, Diagnostic]]:
        """Once each, the findings that are about it, here or at another kernel, with the worst part about it."""
        parts: dict[int, tuple[Diagnostic, Diagnostic]] = {}
        for part, reported in self.parts:
            worst = parts.get(id(reported))
            if worst is None or SEVERITIES.index(part.severity) < SEVERITIES.index(worst[0].severity):
                parts[id(reported)] = (part, reported)
        return list(parts.values())

    @property
    def errors(self) -> int:
        return sum(part.severity == "error" for part, _ in self.reported())

    @property
    def recorded(self) -> float:
        """Microseconds of all its launches that were recorded."""
        return max((launch.recorded_total_us for each in self.kernels for launch in each.facts.launches), default=0.0)

    def shown(self) -> tuple[ShownKernel, LaunchCost | None]:
        """The instantiation and the launch of which all figures are: where its findings take most, or else that takes
        longest, by the time that was recorded if there is one; of those without a known time the first."""
        known = [(kernel, cost) for kernel in self.kernels for cost in kernel.facts.costs or () if cost.time_us]
        lost = self.loss.kernel if self.loss is not None else None
        of_loss = [(kernel, cost) for kernel, cost in known if lost is not None and _is_of(kernel, cost, lost)]
        if known:
            return max(of_loss or known, key=lambda pair: _taken(*pair))
        return self.kernels[0], None


def _taken(kernel: ShownKernel, cost: LaunchCost) -> tuple[float, bool, float]:
    """How long a launch takes: all that were recorded of it, and one as the time model has it, of known sizes first."""
    launches = kernel.facts.launches
    recorded = launches[cost.launch].recorded_total_us if cost.launch < len(launches) else 0.0
    return recorded, not cost.is_nominal, cost.time_us or 0.0


def _is_of(kernel: ShownKernel, cost: LaunchCost, found: KernelCost) -> bool:
    launches = kernel.facts.launches
    return cost.time_us == found.time_us and cost.launch < len(launches) and launches[cost.launch] == found.launch


def groups_of(kernels: Iterable[ShownKernel], findings: Iterable[Diagnostic]) -> tuple[list[Group], list[Diagnostic]]:
    """Kernels with what was found in them, and what is about none of them. Those with errors come first, then those
    with most to gain, then those that take longest."""
    groups: dict[tuple[str, int, str], Group] = {}
    for kernel in kernels:
        place = kernel.facts.name_place
        key = (os.path.realpath(place.path), place.line, kernel.facts.name)
        groups.setdefault(key, Group()).kernels.append(kernel)
    others = []
    for diagnostic in findings:
        chosen = None if diagnostic.is_headline else _chosen(diagnostic, groups.values())
        if chosen is None:
            others.append(diagnostic)
            continue
        chosen.findings.append(diagnostic)
        for part in everything_in([diagnostic]):
            for group in _all_about(part, groups.values()) or [chosen]:
                group.parts.append((part, diagnostic))
    _name(groups.values())
    return sorted(groups.values(), key=_rank), others


def _name(groups: Iterable[Group]) -> None:
    """Gives each an anchor that it has in other reports too: by its file, from the project's root on, and its name."""
    root, taken = project_root(), Counter[str]()
    for group in sorted(groups, key=lambda group: group.first.place):
        slug = _slug(f"{path_from(root, group.first.place.path)} {group.first.name}")
        taken[slug] += 1
        group.anchor = f"k-{slug}" if taken[slug] == 1 else f"k-{slug}-{taken[slug]}"


def _slug(words: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", words).strip("-")


def _chosen(diagnostic: Diagnostic, groups: Collection[Group]) -> Group | None:
    """The kernel that a finding is about; for one that names none, the kernel around its place."""
    about = [group for group in groups if group.is_about(diagnostic)]
    around = [group for group in about or groups if group.has(diagnostic.place)]
    # Several files may have kernels of one name, and what is found in a function that they call stands at its place.
    calling = [group for group in about if any(group.has(related.place) for related in diagnostic.related)]
    launched = [group for group in about if any(map(group.is_launched_as, diagnostic.launches))]
    of_file = [group for group in about if group.first.place.path == diagnostic.place.path]
    return next(iter(around or calling or launched or of_file or about), None)


def _all_about(diagnostic: Diagnostic, groups: Collection[Group]) -> list[Group]:
    """The kernel that a finding is about, and others of its name that have it too: a finding in a function that they
    call is one for all of them, and names the launches of each."""
    first = _chosen(diagnostic, groups)
    launches = [launch for each in (diagnostic, *diagnostic.variants) for launch in each.launches]
    others = [
        group
        for group in groups
        if group is not first and group.is_about(diagnostic) and any(map(group.is_launched_as, launches))
    ]
    return others if first is None else [first, *others]


def _rank(group: Group) -> tuple[bool, tuple[float, ...], str, int]:
    loss, (_, cost) = group.loss, group.shown()
    time = cost.time_us if cost is not None and not cost.is_nominal else None
    place = group.first.place
    weight = loss.weight if loss else (0.0, 0.0, 0.0)
    taken, findings = (group.recorded, time or 0.0), len(group.findings)
    least = tuple(-part for part in (*weight, *taken, findings))
    return not group.errors, least, place.path, place.line


def section_of(group: Group, sources: SourceLines, pictures: Pictures) -> Section:
    pictures.begin_kernel()
    shown, cost = group.shown()
    reported = group.reported()
    kernel, target = shown.facts, find_target(shown.target)
    index = cost.launch if cost is not None else 0
    launch = kernel.launches[index] if index < len(kernel.launches) else None
    shares = by_line(kernel, cost, target) if cost is not None else {}
    loss = group.loss
    occupancy = kernel.occupancy_of(index)
    whole = _WHOLE if group.parts else _WHOLE_WITHOUT
    codes = codes_of(kernel.place, _wanted(group, kernel, index, shares), shares, sources, group.anchor, whole)
    if launch is not None:
        _place_branches(codes, kernel, index, launch.block, pictures)
    _place_accesses(codes, kernel, index, shares, pictures)
    return Section(
        anchor=group.anchor,
        name=kernel.name,
        instantiation=kernel.instantiation,
        path=kernel.place.path,
        line=kernel.name_place.line,
        lead=prose(_lead(cost, launch, loss, target)),
        time=_time(cost, launch),
        microseconds=cost.time_us or 0.0 if cost is not None and not cost.is_nominal else 0.0,
        is_nominal=cost is not None and cost.is_nominal,
        bound=costs.NAMES.get(cost.bound, "") if cost is not None else "",
        saved=loss.saved if loss is not None and not loss.kernel.is_nominal else 0.0,
        gain=loss.brings if loss is not None else "",
        assumptions=tuple(map(prose, _assumptions(cost, launch))),
        figures=tuple(figures_of(cost, occupancy, launch, target, pictures)),
        codes=codes,
        launches=tuple(_launches(group)),
        gaps=tuple(_gaps(group)),
        findings=len(reported),
        errors=group.errors,
        recorded=group.recorded,
        stakes=tuple(_stakes(group, cost)),
    )


def _stakes(group: Group, cost: LaunchCost | None) -> Iterator[Stake]:
    """Of errors the one that is there in most of what was evaluated, and what findings take together."""
    errors = [part for part, _ in group.reported() if part.severity == "error"]
    if errors:
        worst = max(errors, key=lambda part: part.worlds.held / max(1, part.worlds.tried))
        held, tried = worst.worlds
        words = worst.name + (f" in {held} of {count(tried, 'launch', 'launches')}" if tried > 1 else "")
        yield Stake("error", min(1.0, held / max(1, tried)), words)
    loss = group.loss
    if loss is not None and cost is not None and cost.time_us:
        yield Stake("waste", min(1.0, loss.saved / cost.time_us), loss.brings)


def _lead(cost: LaunchCost | None, launch: LaunchFacts | None, loss: Loss | None, target: Target) -> str:
    """`About 4.2 ms on a100, bound by shared memory; 4.35 ms as recorded, for block 16x16, grid 64x64 (...).`"""
    where = f"for {wording.launch_phrase(launch)}" if launch is not None else "no launch was evaluated"
    recorded = costs.recorded(launch) if launch is not None else ""
    beside = f"; {recorded}" if recorded else ""
    if cost is None or not cost.time_us:
        return f"How long it takes is not known{beside}, {where}."
    if cost.is_nominal:
        bound = costs.bound_by(cost.bound)
        text = f"{bound[:1].upper()}{bound[1:]} on {target.name}; {costs.how_long(cost)}{beside}, {where}."
        return f"{text} Without its findings: {loss.brings}." if loss is not None else text
    sizes = costs.for_sizes(loss.kernel) if loss is not None else f" for {', '.join(cost.sizes)}" if cost.sizes else ""
    takes = f"{costs.duration(cost.time_us)}{sizes}"
    text = f"About {takes} on {target.name}, {costs.bound_by(cost.bound)}{beside}, {where}."
    return f"{text} Without its findings: {loss.brings}." if loss is not None else text


def _time(cost: LaunchCost | None, launch: LaunchFacts | None) -> str:
    """What the time model has and what was recorded, as far as there are such; empty where nothing is known."""
    time = cost.time_us if cost is not None and not cost.is_nominal else None
    return costs.times(time, launch) if launch is not None else costs.duration(time) if time else ""


def _assumptions(cost: LaunchCost | None, launch: LaunchFacts | None) -> Iterator[str]:
    if launch is not None:
        yield from launch.assumptions
    if cost is not None:
        yield from (text for text in cost.assumptions if launch is None or text not in launch.assumptions)
        if cost.reason:
            yield cost.reason


def _wanted(group: Group, kernel: KernelFacts, launch: int, shares: Mapping[Line, Share]) -> dict[Line, float]:
    """The lines of interest, with how much."""
    wanted = {line: share.traffic + share.time for line, share in shares.items()}
    for access in kernel.accesses:
        if any(result.launch == launch and result.status != "unreached" for result in access.results):
            for line in lines_of(access):
                wanted.setdefault(line, 0.0)
    for branch in kernel.branches or ():
        if any(result.launch == launch and result.divergence is not None for result in branch.results):
            wanted.setdefault((branch.place.path, branch.place.line), 0.0)
    for part, reported in group.parts:
        related = (each.place for each in part.related) if part is reported else ()
        for place in (part.place, *related):
            line = (place.path, place.line)
            wanted[line] = wanted.get(line, 0.0) + _OF_A_FINDING
    return wanted


def _place_branches(
    codes: Sequence[Code], kernel: KernelFacts, launch: int, block: tuple[int, int, int], pictures: Pictures
) -> None:
    """Puts the branches that split warps below their lines."""
    rows = rows_by_line(codes)
    for branch in kernel.branches or ():
        row = rows.get((branch.place.path, branch.place.line))
        for result in branch.results:
            found = result.divergence if result.launch == launch else None
            if row is not None and found is not None and len(found.ways) >= math.prod(block):
                row.accesses.append(branch_view(branch, result, block, pictures))


def _place_accesses(
    codes: Sequence[Code], kernel: KernelFacts, launch: int, shares: Mapping[Line, Share], pictures: Pictures
) -> None:
    """Puts the accesses of a launch below their lines; those with most traffic have their pictures first."""
    rows = rows_by_line(codes)
    nothing = Share(0.0, 0.0)
    for access in sorted(kernel.accesses, key=lambda a: -shares.get((a.place.path, a.place.line), nothing).traffic):
        row = rows.get((access.place.path, access.place.line))
        for result in access.results:
            if row is not None and result.launch == launch and result.status != "unreached":
                view = access_view(access, result, pictures)
                if view not in row.accesses:
                    row.accesses.append(view)


def rows_by_line(codes: Iterable[Code]) -> dict[Line, Row]:
    return {(code.path, row.number): row for code in codes for row in code.rows if row.number}


def _launches(group: Group) -> Iterator[LaunchRow]:
    """All launches of all instantiations, where there are several, those first that take longest."""
    found = []
    for shown in group.kernels:
        times = {cost.launch: cost for cost in shown.facts.costs or ()}
        for index, launch in enumerate(shown.facts.launches):
            cost = times.get(index)
            time = cost.time_us if cost is not None and not cost.is_nominal else None
            bound = costs.NAMES.get(cost.bound, "") if cost is not None else ""
            words = costs.times(time, launch) or "not known"
            row = LaunchRow(shown.facts.instantiation, wording.launch_phrase(launch), words, bound)
            found.append(((launch.recorded_total_us, time or 0.0), row))
    if len(found) < 2:
        return
    found.sort(key=lambda pair: pair[0], reverse=True)
    rows = list(dict.fromkeys(row for _, row in found))
    yield from rows[:_MOST_LAUNCHES]
    if len(rows) > _MOST_LAUNCHES:
        yield LaunchRow(f"and {count(len(rows) - _MOST_LAUNCHES, 'more')}", "", "", "")


def _gaps(group: Group) -> Iterator[str]:
    seen = dict.fromkeys(
        f"{gap.path}:{gap.line}: {gap.reason}" + (f" ({gap.remedy})" if gap.remedy else "")
        for shown in group.kernels
        for gap in shown.facts.gaps
    )
    yield from list(seen)[:_MOST_LAUNCHES]
