"""What is known where an analysis stands: values of variables, memory that was released, work not waited for."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable

from msgspec import Struct, field

from cudalint.facts import Place
from cudalint.host.memory.pointers import LED_TO, Allocation, Key, Stream, Value, joined
from cudalint.ir import nodes as ir

_CHANGES = itertools.count(1)
"""Numbers of changes, by which what was read before one is another number than what is read after it."""


class Pending(Struct, frozen=True, eq=False):
    """Work that was handed to the device, and that the host has not waited for."""

    by: str
    """The kernel or function."""
    place: Place
    stream: Stream | None
    """None for one that is not known."""
    writes: frozenset[Allocation]
    reads: frozenset[Allocation]
    is_copy: bool = False


class Released(Struct, frozen=True):
    """How and where memory was released."""

    by: str
    place: Place
    turn: int = 0
    """In which iteration, counted through all loops: a macro may spell a call twice, of which one is executed."""


class State(Struct):
    """What holds on all ways that lead to a place."""

    values: dict[Key, Value] = field(default_factory=dict)
    changes: dict[object, int] = field(default_factory=dict)
    """By variable: which change of it was the last that nothing is known of."""
    elsewhere: int = 0
    """Which call was the last that may have changed variables which outlive functions."""
    made: set[Allocation] = field(default_factory=set)
    """The allocations that were made on some way here."""
    released: dict[Allocation, Released] = field(default_factory=dict)
    """Those of them that were released on every way on which they were made."""
    pending: tuple[Pending, ...] = ()
    """What was handed to the device on every way here."""
    ordered: frozenset[Pending] = frozenset()
    """That of it for which other streams may have waited."""
    dead: bool = False
    """Nothing comes here."""

    def fork(self) -> State:
        """A copy that goes another way."""
        return State(
            dict(self.values), dict(self.changes), self.elsewhere, set(self.made), dict(self.released), self.pending,
            self.ordered, self.dead,
        )  # fmt: skip

    def get(self, key: Key) -> Value:
        return self.values.get(key)

    def set(self, key: Key, value: Value) -> None:
        """Gives a variable a value; None for one that is not known."""
        self._drop(key)
        if value is None:
            self.changes[key[0]] = next(_CHANGES)
        else:
            self.values[key] = value

    def forget(self, key: Key) -> None:
        """Nothing is known any more of a variable and all of its parts."""
        self.set(key, None)

    def forget_outside(self) -> None:
        """Nothing is known any more of what others may have changed."""
        for key in [key for key in self.values if _outlives(key)]:
            del self.values[key]
        self.elsewhere = next(_CHANGES)

    def age(self, key: Key) -> Hashable:
        """What says when a variable of which nothing is known was last changed."""
        return (key, self.changes.get(key[0], 0), self.elsewhere if _outlives(key) else 0)

    def _drop(self, key: Key) -> None:
        length = len(key)
        for known in [known for known in self.values if known[:length] == key]:
            del self.values[known]


def _outlives(key: Key) -> bool:
    variable = key[0]
    return LED_TO in key or (isinstance(variable, ir.Symbol) and variable.storage not in ("local", "parameter"))


def either(states: Iterable[State]) -> State:
    """What holds after any of some ways; dead where none of them comes to its end."""
    alive = [state for state in states if not state.dead]
    if not alive:
        return State(dead=True)
    result = alive[0].fork()
    for other in alive[1:]:
        _join(result, other)
    return result


def _join(mine: State, other: State) -> None:
    changed: dict[object, None] = {}
    values: dict[Key, Value] = {}
    for key in mine.values.keys() | other.values.keys():
        both = joined(mine.values.get(key), other.values.get(key))
        if both is not None:
            values[key] = both
        else:
            changed[key[0]] = None
    changed |= dict.fromkeys(
        variable
        for variable in mine.changes.keys() | other.changes.keys()
        if mine.changes.get(variable) != other.changes.get(variable)
    )
    mine.values = values
    mine.changes = {**other.changes, **mine.changes, **{variable: next(_CHANGES) for variable in changed}}
    mine.elsewhere = mine.elsewhere if mine.elsewhere == other.elsewhere else next(_CHANGES)
    released = {**other.released, **mine.released}
    mine.released = {
        allocation: release
        for allocation, release in released.items()
        if all(allocation in each.released or allocation not in each.made for each in (mine, other))
    }
    mine.made |= other.made
    theirs = set(other.pending)
    mine.pending = tuple(each for each in mine.pending if each in theirs)
    mine.ordered |= other.ordered
