"""Rows that are shorter than the launch is wide: worlds of no program, where nothing in sight ties the two together.

A kernel that goes to `rows[y * length + x]` with threads along x for each element of a row is not launched for rows of
one element; if nothing gives the length, some world has it all the same.
"""

from __future__ import annotations

from collections.abc import Set

from cudalint.execute.lanes import Extents
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.measure.branches import MissedBarrier
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen
from cudalint.worlds.records import Batch
from cudalint.worlds.text import text_of


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
    first, second = (_place(end, batch.block) for end in (race.first, race.second))
    if first[0] == second[0] or first[1:] == second[1:]:
        return False
    numbers = among(free, seen.address(race.first.site).numbers | seen.address(race.second.site).numbers)
    return bool(numbers) and all(_is_short(batch, world, numbers, race.reach == "grid") for world in race.worlds)


@heuristic("trace-barriers-short-rows", "grids that are wider than rows").otherwise(False)
def misses_in_short_rows(missed: MissedBarrier, batch: Batch, lengths: Set[str]) -> bool:
    """Whether threads miss a barrier only in worlds with such rows, of lengths that the way to it depends on."""
    return bool(lengths) and all(_is_short(batch, world, lengths, True) for world in missed.worlds)


def among(free: Set[str], parameters: Set[str]) -> frozenset[str]:
    """Those of some numbers that are parameters, or fields of parameters."""
    return frozenset(name for name in free if name in parameters or name.split(".")[0] in parameters)


def _place(end: RaceEnd, block: Extents) -> tuple[int, ...]:
    """Where a thread is in the grid."""
    return tuple(b * extent + t for b, extent, t in zip(end.block, block, end.thread, strict=True))


def _is_short(batch: Batch, world: int, lengths: Set[str], in_grid: bool) -> bool:
    """Whether a row of one of these lengths is shorter than a launch of several rows is wide."""
    block, grid = batch.block, batch.grid[world]
    if block[1] * grid[1] == 1:
        return False
    width = block[0] * (grid[0] if in_grid else 1)
    own = batch.numbers[world]
    return any(0 <= own[name] < width for name in lengths if name in own)
