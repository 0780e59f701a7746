"""Whether the program is run as it was executed: races that stand on a grid or a block that nobody gives.

A kernel that goes to `rows[y * length + x]` with threads along x for each element of a row is not launched for rows of
one element; if nothing gives the length, some world has it all the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.lanes import Extents
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.measure.origins import Origins
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen
from cudalint.measure.touches import Site
from cudalint.worlds.intervals import Intervals
from cudalint.worlds.records import Batch, Parameter
from cudalint.worlds.text import text_of


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
    """Blocks beside each other, in a grid that nobody gives, of a kernel that does not distinguish them here."""
    if race.reach != "grid" or launched.has_grid:
        return None
    for end in race.ends:
        guards = (seen.origins_of(guard) for guard in seen.guards(end.site))
        if seen.address(end.site).by_block or any(found.by_block for found in guards):
            return None
    return "it depends on the grid, which no launch in sight gives"


@heuristic("doubt-one-thread", "kernels that are written for one thread").otherwise(None)
def _one_thread(seen: Seen, launched: Launched) -> str | None:
    """A kernel that no launch in sight gives a block, and that never asks for its thread: it may be meant for one."""
    if not launched.block_is_made_up or any(_distinguishes(site, seen) for site in seen.events):
        return None
    return "no launch in sight gives the block, and nothing in the kernel tells its threads apart"


@heuristic("doubt-one-of-a-number", "kernels that take a number for the block").otherwise(None)
def _one_of_a_number(race: Race, seen: Seen, open_: Set[str]) -> str | None:
    """Threads that all do the same if they do anything, as many of them as a number says that nobody gives: with
    `i < n` around it, a kernel that never asks for `i` otherwise is meant for `n = 1`."""
    for end in race.ends:
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


def _distinguishes(site: Site, seen: Seen) -> bool:
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


# --- rows that are shorter than the launch is wide -----------------------------------------------------


def row_lengths(function: ir.Function) -> frozenset[str]:
    """Integers that rows are counted by, and that no thread is compared with: nothing keeps those out that are beyond
    the end of a row."""
    uses = text_of(function).found
    bounds = {use.parameter for use in uses if use.kind in ("loop", "guard") and use.factors == 1}
    return frozenset(use.parameter.name for use in uses if use.kind == "stride" and use.parameter not in bounds)


@heuristic("trace-doubt-short-rows", "grids that are wider than rows").otherwise(False)
def meet_in_short_rows(race: Race, seen: Seen, batch: Batch, free: Set[str]) -> bool:
    """Whether two threads of different rows meet only where these are shorter than the block, or the grid, is wide.
    `free` are numbers that nothing gives, and of which the launch is not made."""
    first, second = (_place(end, batch.block) for end in race.ends)
    if first[0] == second[0] or first[1:] == second[1:]:
        return False
    numbers = among(free, seen.address(race.first.site).numbers | seen.address(race.second.site).numbers)
    return bool(numbers) and all(_is_short(batch, world, numbers, race.reach == "grid") for world in race.worlds)


@heuristic("trace-barriers-short-rows", "grids that are wider than rows").otherwise(False)
def misses_in_short_rows(worlds: Iterable[int], batch: Batch, lengths: Set[str]) -> bool:
    """Whether the worlds in which threads miss a barrier all have such rows, of lengths that the way to it depends on.
    """
    return bool(lengths) and all(_is_short(batch, world, lengths, True) for world in worlds)


def among(free: Set[str], parameters: Set[str]) -> frozenset[str]:
    """Those of some numbers that are parameters, or fields of parameters."""
    return frozenset(name for name in free if name in parameters or name.split(".")[0] in parameters)


def _place(end: RaceEnd, block: Extents) -> tuple[int, ...]:
    """Where a thread is in the grid."""
    return tuple(b * extent + t for b, extent, t in zip(end.block, block, end.thread, strict=True))


def _is_short(batch: Batch, world: int, lengths: Set[str], in_grid: bool) -> bool:
    """Whether a row of one of these lengths is shorter than a launch of several rows is wide."""
    block, grid = batch.block, batch.grid[world]
    rows = math.prod(block[1:]) * (math.prod(grid[1:]) if in_grid else 1)
    if rows == 1:
        return False
    width = block[0] * (grid[0] if in_grid else 1)
    own = batch.numbers[world]
    return any(0 <= own[name] < width for name in lengths if name in own)


# --- indices that wrap around --------------------------------------------------------------------------


_WIDTHS = {"int": 2.0**31, "uint": 2.0**32}
"""Of types of 4 bytes."""


def is_wrapped(race: Race, seen: Seen, batch: Batch) -> bool:
    """Whether a product that goes into the address of one of the two is too large for its type in its block."""
    ends = [
        (end, product) for end in race.ends for product in batch.overflowing
        if seen.goes_into(product, end.site)
    ]  # fmt: skip
    return any(_is_too_large(product, end, race.world, seen, batch) for end, product in ends)


def _is_too_large(product: ir.Binary, end: RaceEnd, world: int, seen: Seen, batch: Batch) -> bool:
    text = text_of(seen.function)
    values = dict(numbers_in(batch, world))
    places = [(float(at), float(at)) for at in end.block]
    grid = [float(extent) for extent in batch.grid[world]]
    intervals = Intervals(text.uses.origins, text.definitions, values, batch.block, grid, places)
    kind = product.type.kind if isinstance(product.type, ir.Scalar) else "int"
    with np.errstate(all="ignore"):
        found = intervals.of(product)
    return found is not None and bool(found[1] >= _WIDTHS.get(kind, _WIDTHS["int"]))


def numbers_in(batch: Batch, world: int) -> Iterator[tuple[Parameter, float]]:
    """What the kernel is given in a world."""
    waiting: list[tuple[Parameter, Any]] = [(Parameter(symbol), value) for symbol, value in batch.arguments.items()]
    while waiting:
        parameter, value = waiting.pop()
        if isinstance(value, Mapping):
            own = [(name, each) for name, each in value.items() if isinstance(name, str)]
            waiting += [(Parameter(parameter.symbol, (*parameter.path, name)), each) for name, each in own]
            continue
        if isinstance(value, (list, tuple)):
            value = value[world]
        if isinstance(value, (int, float)):
            yield parameter, float(value)
