"""Strides that are one element, in parts of a kernel that are only come to in worlds with larger ones.

That a kernel is executed with a stride of 1 says nothing of what it does behind a condition that does not hold there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.trace import Trace
from cudalint.worlds.choosing import MOST_WORLDS, Search, Space, World, Worlds
from cudalint.worlds.needs import size_of
from cudalint.worlds.reach import MANY_STEPS, Admits, Region, reached, regions_of, with_more
from cudalint.worlds.records import Parameter
from cudalint.worlds.uses import Use, Uses

_MOST_TRIED = 16
"""Worlds that are executed for it."""


class _Lack(NamedTuple):
    """A region that no world comes to in which a stride is one element."""

    region: int
    parameter: Parameter


def with_units(
    worlds: Worlds, space: Space, uses: Uses, found: Sequence[Use], execute: Callable[[Sequence[World]], Trace],
    behind: Callable[[Parameter], Iterable[Any]], admits: Admits, most: int = MOST_WORLDS,
) -> Worlds:  # fmt: skip
    """The worlds with more of them in which strides are one element where accesses are made that depend on them.
    Worlds that are there only to distinguish numbers give way."""
    units = {use.parameter: size_of(use.parameter, found) for use in found if use.kind == "stride"}
    regions, room = regions_of(uses), most - worlds.needed
    if not units or not regions or room <= 0:
        return worlds
    first = execute(worlds.worlds)
    if first.steps >= MANY_STEPS:
        return worlds
    by_world = reached(first, regions)
    lacks = list(_lacks(by_world, _given(worlds.worlds, space, units), units))
    search = Search(space)
    search.leave_out(worlds.broken)
    tried = list(_tried(lacks, worlds.worlds, by_world, regions, units, search, behind, admits))[:_MOST_TRIED]
    if not tried:
        return worlds
    by_world = reached(execute(tried), regions)
    given = _given(tried, space, units)
    shows = np.array([by_world[lack.region] & (given[lack.parameter] == units[lack.parameter]) for lack in lacks])
    chosen: list[World] = []
    left = shows.any(axis=1)
    while left.any() and len(chosen) < room:
        best = int(shows[left].sum(axis=0).argmax())
        chosen.append(tried[best])
        left &= ~shows[:, best]
    return with_more(worlds, chosen, most) if chosen else worlds


def _given(worlds: Sequence[World], space: Space, parameters: Iterable[Parameter]) -> dict[Parameter, Any]:
    """What a kernel is given in some worlds."""
    values = space.parameters({variable: np.array([world[variable] for world in worlds]) for variable in space.tried})
    return {each: np.broadcast_to(values[each], len(worlds)) for each in parameters if each in values}


def _lacks(by_world: Sequence[Any], given: Mapping[Parameter, Any], units: Mapping[Parameter, int]) -> Iterator[_Lack]:
    for number, by in enumerate(by_world):
        if by.any() and not by.all():
            for parameter, values in given.items():
                is_unit = values == units[parameter]
                if is_unit.any() and not is_unit[by].any():
                    yield _Lack(number, parameter)


def _tried(
    lacks: Sequence[_Lack], worlds: Sequence[World], by_world: Sequence[Any], regions: Sequence[Region],
    units: Mapping[Parameter, int], search: Search, behind: Callable[[Parameter], Iterable[Any]], admits: Admits,
) -> Iterator[World]:  # fmt: skip
    """Worlds like one that comes to a region, with a stride of one element."""
    seen = {tuple(world.values()) for world in worlds}
    for lack in lacks:
        base = worlds[int(np.argmax(by_world[lack.region]))]
        changed = [
            {**base, variable: value}
            for variable in behind(lack.parameter)
            for value in search.space.tried.get(variable, ())
            if value != base[variable]
        ]
        if not changed:
            continue
        given = _given(changed, search.space, (lack.parameter,))[lack.parameter]
        numbers = {variable: np.array([world[variable] for world in changed]) for variable in search.space.tried}
        held = search.admitted(numbers) & admits(numbers, regions[lack.region].way)
        for number in np.flatnonzero(held & (given == units[lack.parameter])).tolist()[:1]:
            key = tuple(changed[number].values())
            if key not in seen:
                seen.add(key)
                yield changed[number]
