"""How long loops are of which nothing in sight says that.

A loop over a size that nothing gives is as long as that size is taken to be, if the size makes the grid as well: a
kernel with a thread for each of `n` bodies goes through all `n` of them. Sizes that loops alone have are taken for a
few hundred, and for fewer within other such loops: a thread takes some thousands of turns in all, and of loops in one
another the inner ones are short. One that goes on by the grid's size has one turn if that is unknown, too: somebody
launches as many blocks as there is work for. Where only data ends a loop, it is a short one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from cudalint.execute.trace import Executions, Site, Stack, Trace
from cudalint.execute.values import Data
from cudalint.ir import nodes as ir
from cudalint.measure.distinct import executions_in
from cudalint.measure.requests import AccessSite, site_of
from cudalint.measure.work.counts import Laid
from cudalint.measure.work.graph import Test
from cudalint.measure.work.nests import LOOPS, Nests, computed_in
from cudalint.worlds.open_sizes import OpenSizes

_NOMINAL = 256
_SHORTER = 16
"""Times that a loop is shorter than the one around it."""
_FEWEST = 4
"""Of a loop within others, and of one that data ends."""
_MOST_TURNS = 1 << 36
"""Of all threads, through a loop over a size that makes their grid: a million of them through 65,536 of something."""

Key = frozenset[Any]
"""Loops with the same one are of one length: the numbers that end them or, where data alone do, the loop."""


class Length(Struct, frozen=True):
    """What loops of one length are taken for."""

    span: ir.Span
    """Of the first of them."""
    turns: float

    @property
    def assumption(self) -> str:
        turns = round(self.turns)
        return f"a loop at line {self.span.line} has {turns} iteration{'s' if turns != 1 else ''}"


class Lengths:
    """Of the loops of one world of an execution. `threads` are those of the grid."""

    def __init__(
        self, trace: Trace, laid: Laid, open_: OpenSizes, threads: float, world: int = 0
    ) -> None:
        self._trace, self._executions, self._world, self._threads = trace, trace.executions, world, threads
        self.nests = Nests(trace.executions)
        self._grid = _all(open_.grid)
        by_data = {(each.node, each.stack) for each in trace.left_out if each.reason == "turns by data"}
        self._keys: dict[Site, Key] = {}
        self._dealt_out: set[Site] = set()
        for site in (site for site in trace.executions if isinstance(site.statement, LOOPS)):
            test = laid.tests.get(site, Test(frozenset(), frozenset()))
            names = _all(open_.of(name) for name in test.parameters)
            if names:
                self._keys[site] = names
                steps = _all(open_.of(name) for name in test.steps if name.startswith("gridDim."))
                if steps and not self._grid.issuperset(names):
                    self._dealt_out.add(site)
            elif (site.statement, site.stack) in by_data and site.library is None:
                self._keys[site] = frozenset((id(site.statement),))
        self._depths: dict[Key, int] = {}
        for site in self._keys:
            nest = [self._keys[loop] for loop in (*self._around(site), site) if loop in self._keys]
            for depth, key in enumerate(nest):
                self._depths[key] = max(depth, self._depths.get(key, 0))
        self.found: dict[Key, Length] = {}
        """Of all loops that are not as long as the program says."""
        self._shares = {site: self._share(site, key) for site, key in self._keys.items()}

    def _around(self, site: Site) -> tuple[Site, ...]:
        return self.nests.around(site.library or site.statement, site.stack)

    def turns(self, loop: Site) -> float:
        """Of a loop each time that it is come to, on average."""
        return self._trips(loop) * self._shares.get(loop, 1.0)

    def _trips(self, loop: Site) -> float:
        """The same, of those that were executed."""
        assert isinstance(loop.statement, LOOPS)
        body, own = self._executions.get(loop._replace(statement=loop.statement.body)), self._executions[loop]
        lanes = own.counts[1, self._world]
        return float(body.counts[1, self._world] / lanes) if body is not None and lanes else 0.0

    def _share(self, site: Site, key: Key) -> float:
        """Which part of its evaluated iterations a loop is taken to have."""
        trips = self._trips(site)
        turns = 1.0 if site in self._dealt_out else self._most(key)
        if all(type(name) is str for name in key):
            turns = min(trips, turns)
        self.found.setdefault(key, Length(site.statement.span, turns))
        return turns / trips if trips else 1.0

    def _most(self, key: Key) -> float:
        """How many turns a loop is taken for at most."""
        if not all(type(name) is str for name in key):
            return float(_FEWEST)
        if self._grid.issuperset(key):
            return max(float(_NOMINAL), _MOST_TURNS / self._threads)
        return max(float(_FEWEST), _NOMINAL / float(_SHORTER ** self._depths.get(key, 0)))

    def share(self, node: Any, stack: Stack) -> float:
        """Which part of what was executed of a place is counted."""
        if not self._shares:
            return 1.0
        return math.prod(self._shares.get(loop, 1.0) for loop in self.nests.around(node, stack))

    def numbers(self, node: Any, stack: Stack) -> frozenset[int]:
        """The lengths on which it rests how often a place is executed, by their numbers."""
        order = list(self.found)
        around = self.nests.around(node, stack)
        return frozenset(order.index(self._keys[loop]) for loop in around if loop in self._keys)

    def taken_for(self) -> frozenset[int]:
        """The lengths that may be any, by their numbers: all but those of loops that the grid deals out."""
        order = list(self.found)
        keys = {key for site, key in self._keys.items() if site not in self._dealt_out}
        return frozenset(order.index(key) for key in keys)

    @property
    def sizes(self) -> frozenset[str]:
        """Names of sizes that loops are not taken for as long as."""
        keys = (self._keys[site] for site, share in self._shares.items() if share != 1.0)
        return _all(frozenset(name for name in key if type(name) is str) for key in keys)

    def accesses(self) -> Iterable[tuple[Any, Stack]]:
        """In loops of these lengths."""
        return dict.fromkeys((event.node, event.stack) for event in self._trace.accesses) if self._shares else ()

    def places(self) -> Iterator[tuple[Any, Stack]]:
        """What findings may be about in loops of these lengths: statements, what they compute, accesses, barriers."""
        if not self._shares:
            return
        for site in self._executions:
            if site.library is None:
                yield from ((node, site.stack) for node in computed_in(site.statement))
        yield from self.accesses()
        yield from dict.fromkeys((event.node, event.stack) for event in self._trace.barriers)

    def counted(self) -> Mapping[Site, Executions]:
        """The executions of all statements, with loops of these lengths."""
        if not self._shares:
            return self._executions
        return {
            site: replace(own, counts=own.counts * self.share(site.library or site.statement, site.stack))
            for site, own in self._executions.items()
        }


def _all(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


# --- requests of each access ---------------------------------------------------------------------------


class Requests(Struct):
    """Of one access, in one world."""

    number: float = 0.0
    """By warps, with loops as long as they are taken for."""
    by_data: bool = False
    """Data decides where some of them go."""


def requests_of(trace: Trace, lengths: Lengths, world: int = 0) -> dict[AccessSite, Requests]:
    """Of all accesses that are reached."""
    found: dict[AccessSite, Requests] = {}
    counted: dict[tuple[int, int], float] = {}
    for event in trace.accesses:
        key = id(event.mask), id(event.weight)
        number = counted.get(key)
        if number is None:
            number = counted[key] = executions_in(world, event.mask, event.weight, trace.lanes)
        own = found.setdefault(site_of(event), Requests())
        own.number += number
        own.by_data |= isinstance(event.offset, Data)
    for site, own in found.items():
        own.number *= lengths.share(site.node, site.stack)
    return {site: own for site, own in found.items() if own.number}
