"""From the accesses of the source to those of the machine: what the compiler merges and what it leaves out.

The compiler loads a value once while nothing can have changed it, and turns neighbouring accesses of one thread into
one of 8 or 16 bytes where it knows the alignment: fields of an aligned record (float4), and elements of a shared
array, whose alignment it chooses itself. Counters see the machine's accesses, so figures have to be theirs.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint import ir
from cudalint.evaluate.compiler.distances import open_part
from cudalint.evaluate.compiler.hoisting import hoisted
from cudalint.evaluate.compiler.selected import selected
from cudalint.evaluate.compiler.unrolling import Unrolling, is_elsewhere
from cudalint.evaluate.execute.events import AccessEvent, BarrierEvent, Event
from cudalint.evaluate.requests.astray import is_astray
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.situations import mask_of
from cudalint.evaluate.requests.views import LaunchView
from cudalint.evaluate.symbolic.nodes import Node
from cudalint.evaluate.symbolic.polynomial import linear

_WIDTHS = (16, 8, 4, 2)


def machine_accesses(execution: Execution) -> list[AccessEvent]:
    """The access events of one execution as the machine makes them; order and number stay the same."""
    events, volatile = list(execution.events), execution.function.volatile
    restricted = frozenset(p.name for p in execution.function.parameters if p.is_restrict)
    merger = _Merger(execution.view, Unrolling.of(execution), restricted)
    for event in events:
        merger.add(_as_declared(event, volatile))
    merger.close(None)
    graph = execution.view.graph
    return hoisted(selected(merger.accesses, events, graph), events, restricted, graph)


def _as_declared(event: Event, volatile: Set[ir.Span]) -> Event:
    """What is declared `volatile` is read and written as it stands in the source, each time."""
    if not isinstance(event, AccessEvent) or event.context.span not in volatile:
        return event
    return replace(event, is_verbatim=True)


class _Run(Struct):
    """Accesses of one thread to one neighbourhood, in straight-line code."""

    members: list[tuple[int, int]] = field(default_factory=list)
    """Position in the list of accesses, and byte offset from the common base."""
    stored: list[AccessEvent] = field(default_factory=list)
    """Of a run of loads: stores to fields of such records in between."""


class _Merger(Struct, eq=False):
    view: LaunchView
    unrolling: Unrolling
    restricted: frozenset[str]
    """Parameters of the kernel that are declared `__restrict__`."""
    accesses: list[AccessEvent] = field(default_factory=list)
    _loaded: dict[object, AccessEvent] = field(default_factory=dict)
    _runs: dict[tuple[object, ...], _Run] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        if isinstance(event, BarrierEvent) and not event.implied:
            self.close(None)
            self._loaded = {k: e for k, e in self._loaded.items() if self._is_alone(e) and _dominates(e, event)}
        elif isinstance(event, AccessEvent):
            self._access(event)

    def _access(self, event: AccessEvent) -> None:
        if is_astray(event.offset, event.context, self.view.graph):
            self.accesses.append(event)
            return
        if event.operation == "load" and not event.is_verbatim:
            event = self._repeated(event)
        elif event.operation != "load":
            self._loaded = {k: e for k, e in self._loaded.items() if self._outlives(e, event)}
        self._end_conflicting(event)
        if event.is_verbatim:
            self.accesses.append(event)
            return
        self.accesses.append(self.unrolling.wide(event))
        if event.left_out is None and self.accesses[-1] is event:
            self._join(event, len(self.accesses) - 1)

    # loads whose value is still there

    def _outlives(self, load: AccessEvent, store: AccessEvent) -> bool:
        """Whether the compiler knows that a store does not change what was loaded."""
        if load.target is store.target:
            return False
        return load.target.space != store.target.space or self._is_alone(load) or self._is_alone(store)

    def _is_alone(self, event: AccessEvent) -> bool:
        """Whether nothing but the same parameter points to what is accessed."""
        return event.target.symbol is None and event.target.name in self.restricted

    def _repeated(self, event: AccessEvent) -> AccessEvent:
        key = (id(event.target), event.offset.index, event.bytes, tuple(id(x) for x in event.context.loops))
        earlier = self._loaded.get(key)
        if earlier is not None and _dominates(earlier, event):
            if earlier.context.span != event.context.span or earlier.context.frames != event.context.frames:
                line = earlier.context.span.line
                return replace(
                    event, left_out=f"it repeats the load at line {line}, whose value is still in a register"
                )
            return event
        self._loaded[key] = event
        return event

    # neighbouring accesses in straight-line code

    def _end_conflicting(self, event: AccessEvent) -> None:
        """A store ends the runs of loads of its array, and any access to it the runs of stores. In shared memory it is
        the runs of all arrays: the compiler merges what follows one another there (see `unrolling`)."""
        for key in [k for k in self._runs if self._ends(k, event)]:
            self.close(key)

    def _ends(self, key: tuple[object, ...], event: AccessEvent) -> bool:
        run, operation = self._runs[key], key[1]
        last = self.accesses[run.members[-1][0]]
        if {operation, event.operation} == {"load", "store"} and _are_fields_alike(event, last):
            if operation == "store":
                return any(_overlap(event, self.accesses[position]) for position, _ in run.members)
            run.stored.append(event)
            return False
        if last.target.space == event.target.space == "shared" and not is_elsewhere(event, last):
            if operation == event.operation == "load":
                return False
            return operation != event.operation or not self._is_neighbour(event, last)
        return key[0] == id(event.target) and operation != event.operation and "load" in (operation, event.operation)

    @staticmethod
    def _is_neighbour(event: AccessEvent, last: AccessEvent) -> bool:
        if event.target is not last.target:
            return False
        (base, mine), (other, its) = linear(event.offset), linear(last.offset)
        return base == other and abs(mine - its) < _WIDTHS[0]

    def _join(self, event: AccessEvent, position: int) -> None:
        if event.operation not in ("load", "store") or event.bytes >= 16:
            return
        base, constant = linear(event.offset)
        if event.target.space != "shared" or event.target.symbol is None:
            if event.record is None or event.record.align <= event.bytes:
                return
            constant_in_record: object = constant - event.record.offset
        else:
            constant_in_record = None
        context = event.context
        key = (
            id(event.target), event.operation, event.bytes, base, constant_in_record, context.conditions,
            tuple(id(x) for x in context.loops), open_part(self.unrolling.function, context.span),
        )  # fmt: skip
        if key in self._runs and any(_overlap(event, store) for store in self._runs[key].stored):
            self.close(key)
        self._runs.setdefault(key, _Run()).members.append((position, constant))

    def close(self, key: tuple[object, ...] | None) -> None:
        """Merges the neighbours of one run, or of all."""
        keys = list(self._runs) if key is None else [key]
        for done in keys:
            members = self._runs.pop(done).members
            if len(members) > 1:
                self._merge(members)

    def _merge(self, members: Sequence[tuple[int, int]]) -> None:
        by_offset: dict[int, list[int]] = {}
        for position, offset in members:
            by_offset.setdefault(offset, []).append(position)
        size = self.accesses[members[0][0]].bytes
        left = sorted(by_offset)
        while left:
            start = left[0]
            width = next((w for w in _WIDTHS if self._fills(by_offset, start, w, size)), size)
            covered = list(range(start, start + width, size))
            if width > size:
                first = self.accesses[by_offset[start][0]]
                for offset in covered:
                    for position in by_offset.get(offset, ()):
                        old = self.accesses[position]
                        self.accesses[position] = replace(old, offset=first.offset, bytes=width)
            left = [o for o in left if o not in covered]

    def _fills(self, by_offset: dict[int, list[int]], start: int, width: int, size: int) -> bool:
        """Whether the elements from `start` on make up an aligned access of `width` bytes.

        A load may read a gap along: measured, `v.x + v.y + v.z` of a float4 is one load of 16 bytes. Elements of less
        than 4 bytes in shared arrays stay apart, as measured.
        """
        event = self.accesses[by_offset[start][0]]
        wanted = range(start, start + width, size)
        present = sum(offset in by_offset for offset in wanted)
        if present < len(wanted) and (event.operation != "load" or 2 * present <= len(wanted)):
            return False
        if event.target.space == "shared" and size < 4:
            return False
        record = event.record
        if record is not None and record.align >= width and record.offset % width == 0:
            return True
        if event.target.space != "shared":
            return False
        if event.target.bytes is None:
            # The compiler gives dynamic arrays 16 bytes, and must see the rest in the index.
            return self.unrolling.is_aligned_early(event, event.offset, width)
        if not event.context.frames and self.unrolling.fixed(event) % width:
            return False
        return self._aligned(event, event.offset, width)

    def _aligned(self, event: AccessEvent, offset: Node, width: int) -> bool:
        """Whether all lanes' addresses are multiples of `width`."""
        rows = self.view.quick().rows(event.context.loops)
        known = [c for c in event.context.conditions if not c.bits & self.view.graph.opaque_bits and not c.is_const]
        misaligned = rows.full(offset).astype(np.int64) % width != 0
        active = mask_of(rows, known)
        # Sizes under which nobody comes there say nothing about alignment.
        return not bool((misaligned & active).any() if active.any() else misaligned.any())


def _are_fields_alike(a: AccessEvent, b: AccessEvent) -> bool:
    """Whether two accesses are to fields of records of one kind, whose alignment the compiler knows early: it sees then
    that different fields are different memory, whichever the records (`v[i].x += w[j].x; v[i].y += w[j].y`)."""
    mine, other = a.record, b.record
    if mine is None or other is None or (mine.bytes, mine.align) != (other.bytes, other.align):
        return False
    return mine.align > max(a.bytes, b.bytes) or (a.target is b.target and a.target.bytes is None)


def _overlap(a: AccessEvent, b: AccessEvent) -> bool:
    """Whether two fields of such records share bytes; what is no field there may."""
    if a.record is None or b.record is None:
        return True
    start, other = a.record.offset, b.record.offset
    return start < other + b.bytes and other < start + a.bytes


def _dominates(earlier: AccessEvent, later: AccessEvent | BarrierEvent) -> bool:
    """Whether every lane that gets to `later` came through `earlier`."""
    before, now = earlier.context.conditions, later.context.conditions
    return len(before) <= len(now) and all(a is b for a, b in zip(before, now, strict=False))

