"""Which accesses of a thread may become parts of one: those of one run, which nothing separates.

Two programs merge. The compiler proper, whose result is PTX, merges what the declaration says to be aligned, and
nothing across a shuffle, an atomic operation or inline PTX. The assembler merges accesses to shared memory only, but
across those; to it, division and the like are jumps, while short branches are none for loads. Neither exchanges loads
and stores, unless it sees that they are to different memory: the compiler proper does of fields of aligned records, and
both do of elements of one dynamic array (machine code of some 220 kernels of two accesses with something in between,
nvcc 13.0, sm_90).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from cudalint.facts import Operation
from cudalint.ir import nodes as ir
from cudalint.measure.places import Within

_WIDEST = 16
Kind = Literal["compiler", "loads", "stores"]
"""Who merges what: the compiler proper, and the assembler."""
ALL: tuple[Kind, ...] = ("compiler", "loads", "stores")


class Spot(NamedTuple):
    """Where an access goes."""

    allocation: Any
    memory: Any
    """What may be the same memory, as far as the compiler knows."""
    is_shared: bool
    address: Any
    constant: int
    bytes: int
    record: Within | None

    @property
    def is_dynamic(self) -> bool:
        symbol = self.allocation.symbol
        return symbol is not None and symbol.storage == "dynamic-shared"


class Run:
    """Accesses that may be parts of one."""

    __slots__ = ("number", "spots", "stored")

    def __init__(self, number: int) -> None:
        self.number = number
        self.spots: list[Spot] = []
        self.stored: list[Spot] = []
        """Of loads: stores to fields of such records in between."""


Runs = tuple[Run | None, Run | None]
"""That of the compiler proper, and that of the assembler."""


class Straight:
    """The runs of what is walked, in its order."""

    def __init__(self, starts: Mapping[ir.Symbol, int]) -> None:
        self._starts = starts
        self.numbers: dict[Kind, int] = dict.fromkeys(ALL, 0)
        """Of the stretches of straight-line code."""
        self._last = 0
        self._open: dict[tuple[str, str, Any], Run] = {}
        self.log: list[tuple[Any, ...]] = []
        """What was done: see `repeats`."""

    def end(self, *kinds: Kind) -> None:
        """Nothing of these is merged across this place."""
        self._last += 1
        self.numbers |= dict.fromkeys(kinds, self._last)
        self.log.append(kinds)

    def join(self, operation: Operation, spot: Spot) -> Runs:
        """The runs that an access goes on with, or begins."""
        found = self._join(operation, spot)
        self.log.append((operation, spot, found))
        return found

    def repeats(self, since: int) -> Iterator[Runs]:
        """The runs since a length of the log in which accesses would go on if the same were done once more."""
        for done in self.log[since:]:
            if done and isinstance(done[-1], tuple):
                operation, spot, before = done
                now = self._join(operation, spot)
                yield tuple(a if a is b else None for a, b in zip(before, now, strict=True))  # type: ignore[misc]
            else:
                self._last += 1
                self.numbers |= dict.fromkeys(done, self._last)

    def _join(self, operation: Operation, spot: Spot) -> Runs:
        if operation not in ("load", "store"):
            self._last += 1
            self.numbers["compiler"] = self._last
            for key in [key for key, run in self._open.items() if run.spots[-1].memory is spot.memory]:
                del self._open[key]
            return None, None
        compiler = self._of("compiler", operation, spot.memory, spot, self.numbers["compiler"])
        if not spot.is_shared:
            return compiler, None
        return compiler, self._of("assembler", operation, None, spot, self.numbers[f"{operation}s"])  # type: ignore[index]

    def _of(self, tool: str, operation: str, memory: Any, spot: Spot, number: int) -> Run:
        other = tool, "store" if operation == "load" else "load", memory
        run = self._open.get(other)
        if run is not None and self._ends(run, operation, spot):
            del self._open[other]
        mine = tool, operation, memory
        run = self._open.get(mine)
        if run is not None and run.number == number and not self._is_separate(run, operation, spot):
            run.spots.append(spot)
            return run
        run = self._open[mine] = Run(number)
        run.spots.append(spot)
        return run

    def _ends(self, run: Run, operation: str, spot: Spot) -> bool:
        """Whether a run of loads ends by a store, or one of stores by a load."""
        last = run.spots[-1]
        if _are_like_fields(spot, last):
            if operation == "load":
                return any(_overlap(spot, each) for each in run.spots)
            run.stored.append(spot)
            return False
        return not _is_elsewhere(spot, last)

    def _is_separate(self, run: Run, operation: str, spot: Spot) -> bool:
        """Whether an access is none of a run of its own kind: a store to shared memory that is far from the last, and
        a load of what was stored in between."""
        if operation == "load":
            return any(_overlap(spot, each) for each in run.stored)
        last = run.spots[-1]
        return spot.is_shared and not _is_elsewhere(spot, last) and not self._is_near(spot, last)

    def _is_near(self, spot: Spot, last: Spot) -> bool:
        if spot.address is not last.address and spot.address != last.address:
            return False
        return abs(self._place(spot) - self._place(last)) < _WIDEST

    def _place(self, spot: Spot) -> int:
        return spot.constant + self._starts.get(spot.allocation.symbol, id(spot.allocation))


def _is_elsewhere(one: Spot, other: Spot) -> bool:
    """Whether the compiler sees that two accesses touch different elements of one dynamic shared array."""
    if one.allocation is not other.allocation or not one.is_dynamic:
        return False
    return (one.address is other.address or one.address == other.address) and one.constant != other.constant


def _are_like_fields(one: Spot, other: Spot) -> bool:
    """Whether two accesses are to fields of records of one kind, whose alignment the compiler knows early: it sees then
    that different fields are different memory, whichever the records (`v[i].x += w[j].x; v[i].y += w[j].y`)."""
    mine, its = one.record, other.record
    if mine is None or its is None or (mine.type.bytes, mine.align) != (its.type.bytes, its.align):
        return False
    return mine.align > max(one.bytes, other.bytes) or (one.allocation is other.allocation and one.is_dynamic)


def _overlap(one: Spot, other: Spot) -> bool:
    """Whether two fields of such records share bytes; what is no field there may."""
    mine, its = one.record, other.record
    if mine is None or its is None or mine.offset is None or its.offset is None:
        return True
    return mine.offset < its.offset + other.bytes and its.offset < mine.offset + one.bytes
