"""Whether the program is run as it was executed: races that stand on a grid or a block that nobody gives."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import numpy as np

from cudalint.execute.lanes import Extents
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.measure.origins import Origins
from cudalint.measure.races import Race
from cudalint.measure.seen import Seen
from cudalint.measure.short_rows import meet_in_short_rows
from cudalint.measure.touches import Site
from cudalint.worlds.records import Batch


class Launched(NamedTuple):
    """What is known of a launch."""

    block: Extents
    has_grid: bool
    """Whether somebody gives the grid."""
    block_is_made_up: bool
    open: Set[str]
    """Numbers that nobody gives, by name."""
    free: Set[str] = frozenset()
    """Those of them of which neither the grid nor the block is made."""


def doubt_about_launch(race: Race, seen: Seen, launched: Launched, batch: Batch) -> str | None:
    """Why a race may be none of the launches that the program makes."""
    if meet_in_short_rows(race, seen, batch, launched.free):
        return "it is there only for rows that are shorter than the launch is wide"
    return (
        _grid(race, seen, launched) or _one_thread(seen, launched) or _one_of_a_number(race, seen, launched.open)
    )  # fmt: skip


@heuristic("doubt-grid", "grids that nobody gave").otherwise(None)
def _grid(race: Race, seen: Seen, launched: Launched) -> str | None:
    """Blocks beside each other, in a grid that nobody gives, of a kernel that does not tell them apart here."""
    if race.reach != "grid" or launched.has_grid:
        return None
    for end in (race.first, race.second):
        guards = (seen.origins_of(guard) for guard in seen.guards(end.site))
        if seen.address(end.site).by_block or any(found.by_block for found in guards):
            return None
    return "it depends on the grid, which no launch in sight gives"


@heuristic("doubt-one-thread", "kernels that are written for one thread").otherwise(None)
def _one_thread(seen: Seen, launched: Launched) -> str | None:
    """A kernel that no launch in sight gives a block, and that never asks for its thread: it may be meant for one."""
    if not launched.block_is_made_up or any(_tells_apart(site, seen) for site in seen.events):
        return None
    return "no launch in sight gives the block, and nothing in the kernel tells its threads apart"


@heuristic("doubt-one-of-a-number", "kernels that take a number for the block").otherwise(None)
def _one_of_a_number(race: Race, seen: Seen, open_: Set[str]) -> str | None:
    """Threads that all do the same if they do anything, as many of them as a number says that nobody gives: with
    `i < n` around it, a kernel that never asks for `i` otherwise is meant for `n = 1`."""
    for end in (race.first, race.second):
        if not any(_is_bound(guard.condition, seen.origins_of(guard), open_) for guard in seen.guards(end.site)):
            return None
    for site, events in seen.events.items():
        if any(_is_placed(event) for event in events) or _stores_its_own(site, seen):
            return None
        for guard in seen.guards(site):
            found = seen.origins_of(guard)
            if (found.by_thread or found.by_block) and not _is_bound(guard.condition, found, open_):
                return None
    return "the threads do the same, as many as a number says that may be 1"


def _is_bound(condition: object, found: Origins, open_: Set[str]) -> bool:
    """Whether a condition compares the number of a thread with a size that nobody gives."""
    is_compared = isinstance(condition, ir.Binary) and condition.op in ("<", "<=", ">", ">=")
    return is_compared and found.by_thread and not found.is_data and not found.numbers.isdisjoint(open_)


def _tells_apart(site: Site, seen: Seen) -> bool:
    """Whether which thread it is decides who comes, where to, or what is stored."""
    if any(seen.origins_of(guard).by_thread for guard in seen.guards(site)):
        return True
    return seen.address(site).by_thread or any(map(_is_placed, seen.events[site])) or _stores_its_own(site, seen)


def _is_placed(event: AccessEvent) -> bool:
    offset = event.offset
    return not isinstance(offset, Data) and isinstance(offset, np.ndarray) and offset.size > 1


def _stores_its_own(site: Site, seen: Seen) -> bool:
    """Whether which thread it is decides what is stored."""
    if site.operation == "load":
        return False
    value = seen.value_of(site)
    if value is not None:
        return value.by_thread or value.by_block
    return any(isinstance(event.value, np.ndarray) for event in seen.events[site])
