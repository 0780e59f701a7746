"""What the rules about races and barriers share: which findings belong together, and how they are reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from cudalint.diagnostics import Diagnostic, Edit, Related, Suggestion
from cudalint.facts import Access, AccessResult, Benign, KernelFacts, LaunchFacts, Race, RaceEnd
from cudalint.hardware.requests import WARP_LANES
from cudalint.numerals import count, thread
from cudalint.rule import RuleBase
from cudalint.rulekit import frames_related, in_kernel

VERBS = {"load": "reads", "store": "writes", "atomic": "updates", "async-copy": "copies to"}
BARE_VERBS = {"load": "read", "store": "write", "atomic": "update", "async-copy": "copy to"}

_SAME: Final[dict[Benign, str]] = {
    "same-value": "every thread stores the same value",
    "unused-read": "nobody uses what is read",
    "same-branch": "whoever comes first makes all stores",
}

Line = tuple[str, int]
"""With its path."""

_MOST_SIZES = 4
_MOST_LINES = 6
"""In a message."""


def reportable(kernel: KernelFacts) -> list[Race]:
    """The races in shared memory that rules tell of, but for reads of what an asynchronous copy has not written yet:
    no barrier waits for copies (CL309)."""
    early = {(found.copied_at, found.place) for found in kernel.early_reads}
    return [
        race for race in kernel.races or ()
        if race.space == "shared" and race.is_reportable
        and (race.first.place, race.second.place) not in early and (race.second.place, race.first.place) not in early
    ]  # fmt: skip


def grouped(races: Iterable[Race]) -> list[list[Race]]:
    """Races that lack one barrier, or end at the same line, belong together; between warps come first."""
    groups: dict[object, list[Race]] = {}
    for race in races:
        key: tuple[object, ...] = (race.launch, race.second.place.path, race.second.place.line)
        if race.fence_before is not None:
            key = (race.launch, "fence", race.fence_before)
        elif race.lack is not None:
            key = ("barrier", race.lack)
        elif race.is_lock_step:
            # A warp's reduction without barriers is one matter, however many steps it has.
            key = (race.launch, race.array)
        groups.setdefault(key, []).append(race)
    found = [sorted(group, key=_order) for group in groups.values()]
    return sorted(found, key=lambda group: _order(group[0]))


def is_of_one_warp(group: Sequence[Race]) -> bool:
    return all(race.is_lock_step for race in group)


def _order(race: Race) -> tuple[object, ...]:
    is_minor = race.certainty != "certain", race.benign is not None
    return *is_minor, race.reach == "warp", race.second.place, race.first.place


def race_findings(
    rule: RuleBase, kernel: KernelFacts, races: Sequence[Race], remedy: Callable[[Sequence[Race]], Suggestion | None]
) -> Iterator[Diagnostic]:
    """A finding about a group of races, in parts: one for each array, since who allows the races on one may not know of
    those on another. `remedy` is given the races with those of the part first."""
    by_array: dict[str, list[Race]] = {}
    for race in races:
        by_array.setdefault(race.array, []).append(race)
    lack = races[0].lack
    for part in by_array.values():
        others = [race for race in races if race.array != part[0].array]
        part_of = f"barrier {lack}" if others and lack is not None else ""
        yield race_finding(rule, kernel, part, remedy([*part, *others]), part_of)


def race_finding(
    rule: RuleBase, kernel: KernelFacts, races: Sequence[Race], suggestion: Suggestion | None, part_of: str = ""
) -> Diagnostic:
    """One finding about a group of races, reported with the first of them."""
    race, *others = races
    which = f" of `{race.element}`" if part_of else ""
    by_whom = "" if race.by_data else f", by {_who(race.first, race)}"
    other_end = Related(race.first.place, f"the other access{which}{by_whom}")
    first = dict.fromkeys(race.launch for race in races)
    others_too = dict.fromkeys(index for race in races for index in race.also_in)
    launches = tuple(kernel.launches[index] for index in (first | others_too))
    return rule.finding(
        kernel,
        severity=rule.severity if race.certainty == "certain" and race.benign is None else "warning",
        place=race.second.place if race.fence_before is None else race.fence_before,
        message=message(race),
        launches=launches,
        assumptions=(*launches[0].assumptions, *((race.reason,) if race.reason else ())),
        figures={"races": float(len(races)), "arrays": float(len({race.array for race in races}))},
        related=(
            *((other_end,) if not _is_one_place(race) else ()),
            *((Related(race.second.place, "what comes too early"),) if race.fence_before is not None else ()),
            *frames_related(race.second.inlined_from),
            *(frames_related(race.first.inlined_from) if _is_one_place(race) and not race.one_access else ()),
            *_related(race, others),
        ),
        suggestion=suggestion,
        causes=tuple(_causes(race, kernel)),
        part_of=part_of,
    )


def _causes(race: Race, kernel: KernelFacts) -> Iterator[str]:
    """The barrier that is missing, which several kernels may call for; what threads that all do the same to one element
    of global memory, step by step, have in common at each step; a kernel's exchange within warps through one array,
    whatever types and lines its instances come by."""
    if race.fix is not None:
        place = race.fix.place
        yield f"{race.fix.call} {race.fix.where} {place.path}:{place.line}:{place.column}"
    elif race.is_lock_step:
        yield in_kernel(kernel, f"lanes of a warp exchange through {race.array}")
    elif is_by_all(race, kernel):
        yield in_kernel(kernel, f"all threads store to {race.array}")
    if race.space != "shared" and not race.by_data:
        ends = [(end.thread, end.block) for end in (race.first, race.second)]
        yield in_kernel(kernel, f"{race.element}: {sorted(ends)}")


def message(race: Race) -> str:
    """`race on `t[1][0]`: thread (0, 1, 0) reads it while thread (0, 0, 0) may still write it (line 15)`, and for which
    sizes it is that element."""
    given = ", ".join(f"{name} = {value}" for name, value in race.sizes[:_MOST_SIZES])
    text = f"{_what_happens(race)}, with {given}" if given else _what_happens(race)
    return f"{text}; benign by value: {_SAME[race.benign]}" if race.benign is not None else text


def _what_happens(race: Race) -> str:
    first, second = race.first, race.second
    verb = BARE_VERBS[second.operation] if first.operation == second.operation else "update"
    if race.fence_before is not None:
        there = "one thread" if race.by_data else _who(first, race)
        return (
            f"race on `{race.element}`: {there} {VERBS[first.operation]} it"
            f" ({spot((first.place.path, first.place.line), race)}), and no memory fence stands between that and this"
            f" atomic, by which the last block knows that it may {BARE_VERBS[second.operation]} it"
            f" ({spot((second.place.path, second.place.line), race)})"
        )
    if _is_one_place(race) and race.by_data:
        return f"race on `{race.element}`: threads that come to one element all {verb} it, and nothing orders them"
    here, there = ("one thread", "another") if race.by_data else (_who(second, race), _who(first, race))
    if race.one_access and not race.across and second.operation != "load":
        both = f"{here} and {there} both {verb} it"
        in_block = second.operation == "atomic"
        why = "by atomics that are such within a block only" if in_block else "and nothing orders them"
        return f"race on `{race.element}`: {both}, {why}"
    # Which iterations blocks are in at one time is nobody's business.
    when = " in the next iteration" if race.across and race.reach != "grid" else ""
    name = f" as `{first.array}`" if first.array != second.array else ""
    where = spot((first.place.path, first.place.line), race)
    other = f"{there} may still {BARE_VERBS[first.operation]} it{name} ({where})"
    return f"race on `{race.element}`: {here} {VERBS[second.operation]} it{when} while {other}"


def _is_one_place(race: Race) -> bool:
    return race.first.place == race.second.place


def _who(end: RaceEnd, race: Race) -> str:
    """Of two blocks both are named."""
    return thread(end.thread, end.block, always=race.reach == "grid")


def _related(race: Race, others: Sequence[Race]) -> Iterator[Related]:
    """The accesses of the other races of a finding, each line once."""
    known = {_line(race.first), _line(race.second)}
    for other in others:
        if _line(other.second) not in known:
            known |= {_line(other.first), _line(other.second)}
            yield Related(other.second.place, message(other))
    for other in others:
        if _line(other.first) not in known:
            known.add(_line(other.first))
            yield Related(other.first.place, _from_first(other))


def _line(end: RaceEnd) -> Line:
    return end.place.path, end.place.line


def _from_first(race: Race) -> str:
    """The message for a reader who stands at the first access."""
    who = "one thread" if race.by_data else _who(race.first, race)
    return f"race on `{race.element}`: {who} {VERBS[race.first.operation]} it, too"


def is_update(race: Race, kernel: KernelFacts) -> bool:
    """Whether threads read the element, and write back what they have made of it."""
    places = {race.first.place, race.second.place}
    spelled = {access.expression for access in kernel.accesses if access.place in places}
    lines = {place.line for place in places}
    here = [a for a in kernel.accesses if a.place.path == race.second.place.path and a.place.line in lines]
    same = {access.operation for access in here if access.expression in spelled}
    of_one_address = race.one_access or not _is_one_place(race)
    return of_one_address and len(lines) == 1 and len(spelled) == 1 and {"load", "store"} <= same


ONE_THREAD = "let one thread of the block do it (`if (threadIdx.x == 0)`) if it is meant once for all of them"


WHICH = "which threads are to update it, each or one for all, is not known"


def may_be_meant_once(race: Race, kernel: KernelFacts) -> bool:
    """Whether all threads of a block change one element, and nothing on the line is each thread's own: `*counter += 1`
    may be meant once for a block, `*sum += in[i]` is not."""
    if race.by_data or race.reach == "grid":
        return False
    place = race.second.place
    here = [a for a in kernel.accesses if (a.place.path, a.place.line) == (place.path, place.line)]
    return _are_one_for_all(here, race, kernel)


def is_by_all(race: Race, kernel: KernelFacts) -> bool:
    """Whether both ends are stores of all threads of the block to one element: `mean[0] = …` in a helper that each of
    them calls, with `mean` in shared memory."""
    if race.space != "shared" or race.by_data or race.first.place == race.second.place:
        return False
    stores = [a for a in kernel.accesses if a.operation == "store" and a.array == race.array]
    places = (race.first.place, race.second.place)
    return all(_are_one_for_all([a for a in stores if a.place == place], race, kernel) for place in places)


def _are_one_for_all(accesses: Iterable[Access], race: Race, kernel: KernelFacts) -> bool:
    """Whether some accesses are made at all in the launch that a race is about, each by all threads at one address."""
    results = [result for access in accesses for result in access.results if result.launch == race.launch]
    return bool(results) and all(_is_one_for_all(result, kernel.launches[race.launch]) for result in results)


def _is_one_for_all(result: AccessResult, launch: LaunchFacts) -> bool:
    strides = result.strides
    if strides is None:
        return False
    axes = zip((strides.x, strides.y, strides.z), launch.block, strict=True)
    stays = all(step == 0 for step, extent in axes if extent > 1)
    return stays and result.active_lanes == WARP_LANES and result.active_request_fraction == 1.0


def barrier_suggestion(races: Sequence[Race]) -> Suggestion | None:
    """Where the barrier goes that orders the first of some races, and which of the others it orders as well."""
    race, *others = races
    fix = race.fix
    if fix is None:
        return None
    place = spot((fix.place.path, fix.place.line), race)
    where = f"before {place}"
    if fix.where == "end":
        where = f"at the end of the loop that begins at {place}"
    text = f"put `{fix.call}()` {where}, between the two accesses"
    also = other_lines(race, (other for other in others if other.fix == fix))
    if also:
        text += f"; it ends the {'race' if len(also) == 1 else 'races'} at {listed(also)} too"
    edits = tuple(Edit(insertion.place, insertion.text) for insertion in fix.insertions)
    return Suggestion(text, edits, applicability="safe" if edits else "display")


def lines_of_ends(race: Race) -> tuple[Line, Line]:
    """Where the two accesses are made, or called, in the innermost function that both belong to."""
    first, second = (
        [(end.place.path, end.place.line), *((frame.path, frame.line) for frame in end.inlined_from)]
        for end in (race.first, race.second)
    )
    while len(first) > 1 and len(second) > 1 and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    return first[-1], second[-1]


def spot(line: Line, race: Race) -> str:
    """A line as a finding about a race names it."""
    return f"line {line[1]}" if line[0] == race.second.place.path else _far(line)


def spots(lines: tuple[Line, Line], race: Race) -> str:
    """`lines 8 and 9`."""
    if all(path == race.second.place.path for path, _ in lines):
        return f"lines {lines[0][1]} and {lines[1][1]}"
    return " and ".join(spot(line, race) for line in lines)


def _far(line: Line) -> str:
    return f"{os.path.basename(line[0])}:{line[1]}"


def other_lines(race: Race, others: Iterable[Race]) -> list[str]:
    """Where other races end than one."""
    here = race.second.place
    places = sorted({(p.path != here.path, p.path, p.line) for p in (other.second.place for other in others)})
    lines = [_far((path, line)) if is_far else str(line) for is_far, path, line in places]
    return [line for line in lines if line != str(here.line)]


def listed(lines: Sequence[str]) -> str:
    """`line 30`, `lines 23, 24 and 25`, and how many more there are."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    more = len(lines) - _MOST_LINES
    shown = ", ".join(lines[:_MOST_LINES])
    return f"lines {shown} and {count(more, 'more line')}" if more > 0 else f"lines {shown}"
