"""Updates of one element (`*count += 1`) by all threads for which loaded data says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cudalint.execute.values import Data
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir.walk import without_casts
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen, is_uniform, spelled
from cudalint.measure.ways import Guard


@heuristic("shared-updates", "counters that all threads increment").otherwise(False)
def is_shared_update(race: Race, deciding: Sequence[Guard], seen: Seen) -> bool:
    """Whether a race is about an element that threads read and write back what they have made of it, all of them the
    same one, each of them where the data that it has loaded fulfils the conditions that decide. Ordinary data lets two
    threads do so: of one that only ever comes alone nobody would add up what it finds."""
    first, second = race.first.site, race.second.site
    if not is_one_element(race) or seen.guards(first) != seen.guards(second):
        return False
    stores = [end for end in (race.first, race.second) if end.site.operation == "store"]
    others = {first.operation, second.operation} - {"store", "load"}
    if not stores or others or not all(_writes_back(end, race, seen) for end in stores):
        return False
    return not any(_picks_one(guard, seen) for guard in deciding)


def is_one_element(race: Race) -> bool:
    """Whether all threads come to the same element, whatever the data."""
    offsets = [end.event.offset for end in (race.first, race.second)]
    if any(isinstance(offset, Data) or not is_uniform(offset) for offset in offsets):
        return False
    return spelled(race.first.site.node) == spelled(race.second.site.node)


@heuristic("shared-extremes", "minima that all threads update").otherwise(False)
def is_shared_extreme(race: Race, deciding: Sequence[Guard], seen: Seen) -> bool:
    """Whether a race is about one element for all threads that those replace by their own data for which it is larger
    or smaller than what stands there: at first, ordinary data is so for many of them."""
    if not is_one_element(race):
        return False
    stores = [end for end in (race.first, race.second) if end.site.operation == "store"]
    return bool(stores) and all(
        any(_stores_what_is_compared(end, guard, race, seen) for guard in deciding) for end in stores
    )


def _stores_what_is_compared(end: RaceEnd, guard: Guard, race: Race, seen: Seen) -> bool:
    """Whether a thread stores the data that a condition has compared with what stood there."""
    compared = guard.condition
    stored = seen.stored(end.site)
    if not isinstance(compared, ir.Binary) or compared.op not in ("<", "<=", ">", ">="):
        return False
    if not isinstance(stored, ir.Assign) or stored.op:
        return False
    for other, mine in ((compared.left, compared.right), (compared.right, compared.left)):
        loads = seen.origins.of(other, guard.stack).loads
        if any(race.allocation in seen.memory_of(*load) for load in loads):
            return _same(mine, stored.value)
    return False


def _same(one: Any, other: Any) -> bool:
    return spelled(without_casts(one)) == spelled(without_casts(other))


def _writes_back(end: RaceEnd, race: Race, seen: Seen) -> bool:
    """Whether what is stored is made of what stood there."""
    value = seen.value_of(end.site)
    return value is not None and any(race.allocation in seen.memory_of(*load) for load in value.loads)


def _picks_one(guard: Guard, seen: Seen) -> bool:
    """Whether a number that was loaded for all threads names the one that comes: `threadIdx.x == leader[0]`."""
    asked = guard.condition
    if not isinstance(asked, ir.Binary) or asked.op != "==":
        return False
    sides = [seen.origins.of(side, guard.stack) for side in (asked.left, asked.right)]
    return all(not each.by_thread for each in sides if each.is_data)
