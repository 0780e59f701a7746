"""Which of the launches of a kernel are evaluated, and what is said of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from cudalint.facts import LaunchFacts, LeftOutLaunches
from cudalint.ir import nodes as ir
from cudalint.launches.configuration import Configuration
from cudalint.launches.shape import Shapes
from cudalint.source.spanning import spanning

MAX_LAUNCHES = 8
"""Different launches of one instantiation that are evaluated."""
_MAX_TWINS = 16
_Site = tuple[str | None, int | None]
_Key = TypeVar("_Key")


class Chosen(Struct, frozen=True):
    configurations: list[Configuration]
    left_out: tuple[LeftOutLaunches, ...]
    last: tuple[tuple[int, Configuration], ...] = ()
    """For configurations, by their positions, the last launch that differs from it by arguments only."""
    between: frozenset[int] = frozenset()
    """Positions of those whose blocks and grids are between those of others at the same site."""


def distinct(configurations: Iterable[Configuration], unfollowed: Collection[ir.Span]) -> Chosen:
    """Launches under which the kernel behaves differently. Of launches at one site that differ only by the numbers and
    arrays that they pass (a host loop) the first stands for all, and the last is looked at as well. `unfollowed` are
    the launches of loops that make more than are known."""
    found: dict[object, Configuration] = {}
    grids: dict[object, object] = {}
    last: dict[object, Configuration] = {}
    keys: dict[_Site, set[object]] = {}
    same_keys: dict[object, object] = {}
    shapes = Shapes()
    for configuration in configurations:
        site = _site(configuration)
        key = same_keys.setdefault((site, shapes.of(configuration)), configuration.key())
        keys.setdefault(site, set()).add(key)
        grid = (site, configuration.block, tuple(n.index for n in configuration.grid), configuration.absent())
        if grid in grids:
            last[grids[grid]] = configuration
            if configuration.key() == grids[grid]:
                # What one caller checks, another one that comes to the same launch may not.
                found[grids[grid]] = _with_twin(found[grids[grid]], configuration)
            continue
        grids[grid] = key
        same = found.get(key)
        found[key] = configuration if same is None else _with_twin(same, configuration)
    chosen = _some_of_each_site(found)
    going_on = {(span.path, span.line) for span in unfollowed}
    left_out = {site: len(own - chosen.keys()) for site, own in keys.items()}
    others = (LeftOutLaunches(*site, number, site in going_on) for site, number in left_out.items() if number)
    ends = ((i, last[key]) for i, key in enumerate(chosen) if key in last and last[key].key() not in found)
    last_ones = tuple(ends)[: max(0, MAX_LAUNCHES - len(chosen))]
    return Chosen(list(chosen.values()), tuple(others), last_ones, _between(list(chosen.values())))


def still_left_out(
    left_out: Iterable[LeftOutLaunches], evaluated: Iterable[LaunchFacts], unevaluated: Iterable[Configuration] = ()
) -> Iterator[LeftOutLaunches]:
    """What is left out once some of it was evaluated after all, and some of the others was not."""
    sites = Counter((launch.path, launch.line) for launch in evaluated)
    more = Counter(map(_site, unevaluated))
    known = {(each.path, each.line): each for each in left_out}
    for each in {**{site: LeftOutLaunches(*site, 0) for site in more}, **known}.values():
        launches = each.launches - sites[each.path, each.line] + more[each.path, each.line]
        if launches:
            yield replace(each, launches=launches)


def _some_of_each_site(found: Mapping[object, Configuration]) -> dict[object, Configuration]:
    """As many as are evaluated: the first of each site before its last, and this one before those between."""
    ranks: dict[object, int] = {}
    for keys in _by_site(found.items()):
        ordered = [keys[0], *keys[-1:], *keys[1:-1]] if len(keys) > 1 else keys
        ranks |= {key: rank for rank, key in enumerate(ordered)}
    kept = set(sorted(found, key=lambda key: ranks[key])[:MAX_LAUNCHES])
    return {key: configuration for key, configuration in found.items() if key in kept}


def _between(configurations: Sequence[Configuration]) -> frozenset[int]:
    span = {
        numbers[place]
        for numbers in _by_site(enumerate(configurations))
        for place in spanning([_told_apart_by(configurations[number]) for number in numbers])
    }
    return frozenset(range(len(configurations))) - span


def _by_site(configurations: Iterable[tuple[_Key, Configuration]]) -> Collection[list[_Key]]:
    """What launches go by, those of one site together."""
    sites: dict[_Site, list[_Key]] = {}
    for key, configuration in configurations:
        sites.setdefault(_site(configuration), []).append(key)
    return sites.values()


def _told_apart_by(configuration: Configuration) -> list[str]:
    grid = [str(int(extent.value)) if extent.is_const else "" for extent in configuration.grid]
    return [*map(str, configuration.block), *grid, repr(configuration.absent())]


def _site(configuration: Configuration) -> _Site:
    return configuration.path, configuration.line


def _with_twin(configuration: Configuration, same: Configuration) -> Configuration:
    """Keeps the place of a launch that another one stands for, and only what holds at both."""
    common = tuple(guard for guard in configuration.guards if guard in same.guards)
    ways = tuple(dict.fromkeys((*configuration.ways, *same.ways)))[:_MAX_TWINS]
    configuration = replace(configuration, guards=common, ways=ways)
    twin = same.site
    if twin is None or len(configuration.twins) >= _MAX_TWINS:
        return configuration
    places = {site.place for site in (configuration.site, *configuration.twins) if site is not None}
    return configuration if twin.place in places else replace(configuration, twins=(*configuration.twins, twin))
