"""What the rules about races and barriers share: which findings belong together, and how they are told."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from cudalint.diagnostics import Diagnostic, Edit, Related, Suggestion
from cudalint.facts import KernelFacts, Race, RaceEnd
from cudalint.rule import RuleBase
from cudalint.rulekit import frames_related

_VERBS = {"load": "reads", "store": "writes", "atomic": "updates", "async-copy": "copies to"}
_BARE = {"load": "read", "store": "write", "atomic": "update", "async-copy": "copy to"}

_MOST_SIZES = 4
"""In a message."""


def is_worth_telling(race: Race) -> bool:
    """Certain races, and those that are there for most sizes of the problem or for ordinary data."""
    return race.certainty == "certain" or race.size is not None or race.usual


def grouped(races: Iterable[Race]) -> list[list[Race]]:
    """Races that one barrier would end, or that end at the same line, are one finding; between warps come first."""
    groups: dict[object, list[Race]] = {}
    for race in races:
        key: tuple[object, ...] = (race.launch, race.second.place.path, race.second.place.line)
        if _is_lock_step(race) and (race.fix is None or race.fix.call == "__syncwarp"):
            # A warp's reduction without barriers is one matter, however many steps it has.
            key = (race.launch, race.array)
        elif race.fix:
            key = (race.launch, race.fix)
        groups.setdefault(key, []).append(race)
    found = [sorted(group, key=_order) for group in groups.values()]
    return sorted(found, key=lambda group: _order(group[0]))


def _is_lock_step(race: Race) -> bool:
    return race.reach == "warp" and (race.across or not race.one_access)


def is_of_one_warp(group: Sequence[Race]) -> bool:
    """Whether a barrier of the warp would do, as far as it goes: one instruction that stores to one place in several
    lanes is a race whatever the warp does."""
    return all(_is_lock_step(race) for race in group)


def _order(race: Race) -> tuple[object, ...]:
    return race.certainty != "certain", race.reach == "warp", race.second.place, race.first.place


def race_finding(
    rule: RuleBase, kernel: KernelFacts, races: Sequence[Race], suggestion: Suggestion | None
) -> Diagnostic:
    """One finding about a group of races, told by the first of them."""
    race, *others = races
    by_whom = "" if race.by_data else f", by {_who(race.first, race)}"
    other_end = Related(race.first.place, f"the other access{by_whom}")
    launch = kernel.launches[race.launch]
    return rule.finding(
        kernel,
        severity=rule.severity if race.certainty == "certain" else "warning",
        place=race.second.place,
        message=message(race),
        launches=(launch,),
        assumptions=(*launch.assumptions, *((race.reason,) if race.reason else ())),
        figures={"races": float(len(races))},
        related=(
            *((other_end,) if not _is_one_place(race) else ()),
            *frames_related(race.second.inlined_from),
            *(frames_related(race.first.inlined_from) if _is_one_place(race) and not race.one_access else ()),
            *_related(race, others),
        ),
        suggestion=suggestion,
    )


def message(race: Race) -> str:
    """`race on `t[1][0]`: thread (0, 1, 0) reads it while thread (0, 0, 0) may still write it (line 15)`, and for which
    sizes it is that element."""
    given = ", ".join(f"{name} = {value}" for name, value in race.sizes[:_MOST_SIZES])
    return f"{_what_happens(race)}, with {given}" if given else _what_happens(race)


def _what_happens(race: Race) -> str:
    first, second = race.first, race.second
    verb = _BARE[second.operation] if first.operation == second.operation else "update"
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
    same_file = first.place.path == second.place.path
    where = f"line {first.place.line}" if same_file else f"{os.path.basename(first.place.path)}:{first.place.line}"
    other = f"{there} may still {_BARE[first.operation]} it{name} ({where})"
    return f"race on `{race.element}`: {here} {_VERBS[second.operation]} it{when} while {other}"


def _is_one_place(race: Race) -> bool:
    return race.first.place == race.second.place


def _who(end: RaceEnd, race: Race) -> str:
    thread = f"thread {_bare(end.thread)}"
    if race.reach == "grid" or end.block != (0, 0, 0):
        return f"{thread} of block {_bare(end.block)}"
    return thread


def _bare(index: tuple[int, int, int]) -> str:
    """`5` for (5, 0, 0): most blocks have one dimension."""
    x, y, z = index
    return str(x) if y == z == 0 else f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def _related(race: Race, others: Sequence[Race]) -> list[Related]:
    """The other races of a finding, each pair of lines once."""
    known = {(race.array, race.first.place.line, race.second.place.line)}
    found = []
    for other in others:
        key = (other.array, other.first.place.line, other.second.place.line)
        if key not in known:
            known.add(key)
            found.append(Related(other.second.place, message(other)))
    return found


def is_update(race: Race, kernel: KernelFacts) -> bool:
    """Whether threads read the element, and write back what they have made of it."""
    places = {race.first.place, race.second.place}
    spelled = {access.expression for access in kernel.accesses if access.place in places}
    lines = {place.line for place in places}
    here = [a for a in kernel.accesses if a.place.path == race.second.place.path and a.place.line in lines]
    same = {access.operation for access in here if access.expression in spelled}
    of_one_address = race.one_access or not _is_one_place(race)
    return of_one_address and len(lines) == 1 and len(spelled) == 1 and {"load", "store"} <= same


def barrier_suggestion(races: Sequence[Race]) -> Suggestion | None:
    """Where the barrier goes that orders the first of some races, and which of the others it orders as well."""
    race, *others = races
    fix = race.fix
    if fix is None:
        return None
    where = f"before line {fix.place.line}"
    if fix.where == "end":
        where = f"at the end of the loop that begins at line {fix.place.line}"
    also = sorted({other.second.place.line for other in others if other.fix == fix} - {race.second.place.line})
    text = f"put `{fix.call}()` {where}, between the two accesses"
    if also:
        lines = f"{'line' if len(also) == 1 else 'lines'} {', '.join(map(str, also))}"
        text += f"; it ends the {'race' if len(also) == 1 else 'races'} at {lines} too"
    edits = tuple(Edit(insertion.place, insertion.text) for insertion in fix.insertions)
    return Suggestion(text, edits)
