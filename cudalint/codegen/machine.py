"""From the accesses of the source to those of the machine: what the compiler merges and what it leaves out.

The compiler loads a value once while nothing can have changed it, and turns neighbouring accesses of one thread into
one of 8 or 16 bytes where it knows the alignment: fields of an aligned record (float4), and elements of a shared
array, whose alignment it chooses itself. Counters see the machine's accesses, so figures have to be theirs.

Both the compiler proper and the assembler merge, each within what is straight-line code to it (`straight.py`): an
access is as wide as the one or the other makes it. The assembler knows where the static shared variables of a kernel
lie (`shared_layout.py`): it merges accesses to different ones, and only what is aligned there.

Elements of 1 and 2 bytes in shared arrays: read from the machine code of some 700 kernels (nvcc 13.0, sm_80 and sm_90)
with 2 to 16 neighbours of `unsigned char`, `signed char`, `unsigned short`, `short`, `__half` and records of one
`unsigned short`, with and without `__restrict__`, in straight-line code and in loops. The compiler proper, which has to
know the alignment from the declaration, makes accesses of up to 16 bytes of them, as of larger ones. The assembler
leaves bytes apart, and merges elements of 2 bytes to 8 bytes at most. A record of one number is merged like the number.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.codegen.copied_records import without_unused_fields
from cudalint.codegen.indices import distance, open_part
from cudalint.codegen.moved_loads import hoisted
from cudalint.codegen.straight import Straight
from cudalint.codegen.unread import without_unread
from cudalint.codegen.unrolling import WIDTHS, Unrolling, declared_alignment, widest_for_assembler
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, Event, FenceEvent
from cudalint.values.arithmetic import I8
from cudalint.values.nodes import Node
from cudalint.values.polynomial import linear

_REPEATED_LOADS = heuristic(
    "repeated-loads", "counters of cuda-samples: a value is loaded once while nothing can have changed it"
)

_Tool = Literal["compiler", "assembler"]


def machine_accesses(execution: Execution) -> list[AccessEvent]:
    """The access events of one execution as the machine makes them; order and number stay the same."""
    events, volatile = list(execution.events), execution.function.volatile
    restricted = frozenset(p.name for p in execution.function.parameters if p.is_restrict)
    merger = _Merger(execution, Unrolling.of(execution), restricted)
    for place, event in enumerate(events):
        if isinstance(event, AccessEvent) and event.context.span in volatile:
            # It is read and written as it stands in the source, each time.
            event = replace(event, is_verbatim=True)
        merger.add(event, place)
    merger.close(None)
    graph = execution.view.graph
    made = hoisted(merger.accesses, events, restricted, graph)
    return without_unread(without_unused_fields(made, execution), execution)


class _Member(NamedTuple):
    position: int
    """In the list of accesses."""
    constant: int
    """Byte offset from the common base; for the assembler, which knows where shared variables lie, with the start of
    the variable."""
    event: AccessEvent
    """As the source has it."""


class _Run(Struct):
    """Accesses of one thread to one neighbourhood, in straight-line code."""

    members: list[_Member] = field(default_factory=list)
    stored: list[AccessEvent] = field(default_factory=list)
    """Of a run of loads: stores to fields of such records in between."""


class _Merger:
    def __init__(self, execution: Execution, unrolling: Unrolling, restricted: frozenset[str]) -> None:
        self.execution = execution
        self.view = execution.view
        self.unrolling = unrolling
        self.restricted = restricted
        """Parameters of the kernel that are declared `__restrict__`."""
        self.accesses: list[AccessEvent] = []
        self._loaded: dict[object, AccessEvent] = {}
        self._runs: dict[tuple[object, ...], _Run] = {}
        self.starts = unrolling.starts
        """Where shared variables lie, as far as that is known."""

    @cached_property
    def straight(self) -> Straight:
        """Few kernels have accesses for which that is asked."""
        return Straight.of(self.execution)

    def add(self, event: Event, place: int) -> None:
        if isinstance(event, FenceEvent) or (isinstance(event, BarrierEvent) and not event.implied):
            self.close(None)
            self._loaded = {k: e for k, e in self._loaded.items() if self._is_alone(e) and _dominates(e, event)}
        if not isinstance(event, AccessEvent):
            return
        if dependence(event.context, event.offset, self.view.graph).is_astray:
            self.accesses.append(event)
            return
        if event.operation == "load" and not event.is_verbatim:
            event = self._repeated(event)
        elif event.operation != "load":
            self._loaded = {k: e for k, e in self._loaded.items() if self._outlives(e, event)}
            if event.operation == "store" and not event.is_verbatim:
                self._loaded[self._value_of(event)] = event
        self._end_conflicting(event)
        if event.is_verbatim:
            self.accesses.append(event)
            return
        self.accesses.append(self.unrolling.wide(event))
        if event.left_out is None and self.accesses[-1] is event:
            self._join(event, len(self.accesses) - 1, place)

    # loads whose value is still there

    def _outlives(self, load: AccessEvent, store: AccessEvent) -> bool:
        """Whether the compiler knows that a store does not change what was loaded or stored before."""
        if load.target is store.target:
            return self._are_apart(load, store)
        return load.target.space != store.target.space or self._is_alone(load) or self._is_alone(store)

    def _value_of(self, event: AccessEvent) -> Hashable:
        """Equal for accesses of one thread, in one iteration, to bytes that are the same in every launch."""
        loops = tuple(id(loop) for loop in event.context.loops)
        return id(event.target), event.offset.index, event.bytes, loops, open_part(self.unrolling.function, event)

    def _are_apart(self, a: AccessEvent, b: AccessEvent) -> bool:
        """Whether two accesses to one array share no byte, in any launch."""
        between = distance(self.unrolling.function, a, b)
        return between is not None and (between >= a.bytes or -between >= b.bytes)

    def _is_alone(self, event: AccessEvent) -> bool:
        """Whether nothing but the same parameter points to what is accessed."""
        return event.target.symbol is None and event.target.name in self.restricted

    def _repeated(self, event: AccessEvent) -> AccessEvent:
        if not _REPEATED_LOADS.is_on:
            return event
        key = self._value_of(event)
        earlier = self._loaded.get(key)
        if earlier is not None and _dominates(earlier, event):
            if earlier.operation == "store":
                line = earlier.context.span.line
                return replace(event, left_out=f"it takes what line {line} stores, which is still in a register")
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
        """A store ends the runs of loads of its array, and any access to it the runs of stores. For the assembler it is
        the runs of all arrays: it merges what follows one another in shared memory (see `unrolling`)."""
        for key in [k for k in self._runs if self._ends(k, event)]:
            self.close(key)

    def _ends(self, key: tuple[object, ...], event: AccessEvent) -> bool:
        run, operation, tool = self._runs[key], key[1], key[2]
        last = run.members[-1].event
        if {operation, event.operation} == {"load", "store"} and _are_fields_alike(event, last):
            if operation == "store":
                return any(_overlap(event, member.event) for member in run.members)
            run.stored.append(event)
            return False
        is_same = last.target is event.target
        is_anywhere = event.target.space == "generic" or event.target.opaque is not None
        if is_anywhere and tool == "assembler" and event.operation != "load":
            return True
        if last.target.space == event.target.space == "shared" and (is_same or tool == "assembler"):
            if self.unrolling.is_elsewhere(event, last) or operation == event.operation == "load":
                return False
            return operation != event.operation or not self._is_neighbour(event, last)
        return is_same and operation != event.operation and "load" in (operation, event.operation)

    def _is_neighbour(self, event: AccessEvent, last: AccessEvent) -> bool:
        if event.target is not last.target and not self._are_placed(event, last):
            return False
        between = distance(self.unrolling.function, event, last)
        return between is not None and abs(self._start(event) - self._start(last) - between) < WIDTHS[0]

    def _are_placed(self, *events: AccessEvent) -> bool:
        """Whether it is known how far the variables are from one another."""
        return all(event.target.symbol in self.starts for event in events)

    def _start(self, event: AccessEvent) -> int:
        symbol = event.target.symbol
        return self.starts.get(symbol, 0) if symbol is not None else 0

    @heuristic("merged-neighbours", "counters and SASS: neighbours of one thread make one wide access").otherwise(None)
    def _join(self, event: AccessEvent, position: int, place: int) -> None:
        if event.operation not in ("load", "store") or event.bytes >= 16:
            return
        is_array = event.target.space == "shared" and event.target.symbol is not None
        if not is_array and (event.record is None or event.record.align <= event.bytes):
            return
        base, constant = linear(event.offset)
        constant_in_record = None if is_array or event.record is None else constant - event.record.offset
        tools: tuple[_Tool, ...] = ("compiler", "assembler") if is_array else ("compiler",)
        context, straight = event.context, self.straight
        for tool in tools:
            is_first = tool == "compiler"
            stretch = (
                straight.compiler_stretch(place) if is_first else straight.assembler_stretch(place, event.operation)
            )
            is_placed = not is_first and self._are_placed(event)
            start = self._start(event) if is_placed else 0
            common = (
                event.bytes, base, constant_in_record, tuple(id(x) for x in context.loops),
                open_part(self.unrolling.function, event),
            )  # fmt: skip
            whose = None if is_placed else id(event.target)
            key = (whose, event.operation, tool, stretch, context.conditions, *common)
            if not is_first and event.operation == "load":
                # What is loaded on the way to a branch brings along what is loaded in it.
                before = (
                    (whose, event.operation, tool, each, context.conditions[:count], *common)
                    for count in range(len(context.conditions), -1, -1)
                    for each in straight.on_the_way(place)
                )
                key = next((k for k in before if k in self._runs), key)
            if key in self._runs and any(_overlap(event, store) for store in self._runs[key].stored):
                self.close(key)
            self._runs.setdefault(key, _Run()).members.append(_Member(position, constant + start, event))

    def close(self, key: tuple[object, ...] | None) -> None:
        """Merges the neighbours of one run, or of all."""
        keys = list(self._runs) if key is None else [key]
        for done in keys:
            members = self._runs.pop(done).members
            if len(members) > 1:
                self._merge(members, is_early=done[2] == "compiler")

    def _merge(self, members: Sequence[_Member], is_early: bool) -> None:
        by_offset: dict[int, list[_Member]] = {}
        for member in members:
            by_offset.setdefault(member.constant, []).append(member)
        size = members[0].event.bytes
        left = sorted(by_offset)
        while left:
            begin, width = self._widest(by_offset, left[0], size, is_early)
            covered = range(begin, begin + width, size)
            if width > size:
                first = min(m.position for offset in covered for m in by_offset.get(offset, ()))
                for offset in covered:
                    for member in by_offset.get(offset, ()):
                        old = self.accesses[member.position]
                        if old.bytes < width:
                            moved = self._moved(member.event.offset, begin - offset)
                            along = member.position != first
                            self.accesses[member.position] = replace(old, offset=moved, bytes=width, along=along)
            left = [o for o in left if o not in covered]

    def _moved(self, offset: Node, by: int) -> Node:
        graph = self.view.graph
        return graph.binary("+", offset, graph.const(by, I8), I8) if by else offset

    def _widest(
        self, by_offset: dict[int, list[_Member]], first: int, size: int, is_early: bool
    ) -> tuple[int, int]:
        """Where the widest access begins that brings the element at `first`, the first one that is left, and how wide
        it is. The assembler also reads along what stands before it."""
        for width in WIDTHS:
            begins = range(first, first - width, -size) if not is_early else (first,)
            for begin in begins:
                if width > size and self._fills(by_offset, begin, width, size, is_early):
                    return begin, width
        return first, size

    def _fills(self, by_offset: dict[int, list[_Member]], start: int, width: int, size: int, is_early: bool) -> bool:
        """Whether the elements from `start` on make up an aligned access of `width` bytes, for the compiler proper
        (`is_early`) or for the assembler.

        A load may read a gap along: measured, `v.x + v.y + v.z` of a float4 is one load of 16 bytes, and so is any
        three of four neighbours in shared memory (machine code of all choices of seven, nvcc 13.0, sm_80). Of elements
        of less than 4 bytes, the compiler proper reads along only what is behind the others.
        """
        wanted = range(start, start + width, size)
        there = [offset for offset in wanted if offset in by_offset]
        if len(there) < len(wanted) and (
            by_offset[there[0]][0].event.operation != "load" or 2 * len(there) <= len(wanted)
        ):
            return False
        if not _is_first_for_all([member for offset in there for member in by_offset[offset]]):
            return False
        event = by_offset[there[0]][0].event
        before = there[0] - start
        if event.target.space == "shared" and size < 4:
            if is_early and len(there) < len(wanted) and there != list(wanted[: len(there)]):
                return False
            if not is_early and width > widest_for_assembler(size):
                return False
        record = event.record
        if record is not None and record.align >= width and (record.offset - before) % width == 0:
            return True
        if event.target.space != "shared":
            return False
        if is_early or event.target.bytes is None:
            # Alignment that the declaration tells; the rest must be seen in the index.
            return declared_alignment(event.target) >= width and self.unrolling.is_aligned_early(
                event, self._moved(event.offset, -before), width
            )
        is_own = not event.context.frames and not event.context.library
        if is_own and self.unrolling.fixed(event) % width:
            return False
        return self._aligned(event, self._moved(event.offset, self._start(event) - before), width)

    def _aligned(self, event: AccessEvent, offset: Node, width: int) -> bool:
        """Whether all lanes' addresses are multiples of `width`."""
        rows = self.view.quick().rows(event.context.loops)
        misaligned = rows.integers(offset) % width != 0
        active = rows.mask(dependence(event.context, event.offset, self.view.graph).known)
        # Sizes under which nobody comes there say nothing about alignment.
        return not bool((misaligned & active).any() if active.any() else misaligned.any())


def _are_fields_alike(a: AccessEvent, b: AccessEvent) -> bool:
    """Whether two accesses are to fields of records of one kind, whose alignment the compiler knows early: it sees then
    that different fields are different memory, whichever the records (`v[i].x += w[j].x; v[i].y += w[j].y`)."""
    mine, other = a.record, b.record
    if mine is None or other is None or (mine.bytes, mine.align) != (other.bytes, other.align):
        return False
    return mine.align > max(a.bytes, b.bytes) or (a.target is b.target and a.target.bytes is None)


def _is_first_for_all(members: Sequence[_Member]) -> bool:
    """Whether the lanes of all accesses make the first one. (Loads of two branches are two, whatever comes later.)"""
    first = min(members, key=lambda member: member.position).event
    return all(_dominates(first, member.event) for member in members)


def _overlap(a: AccessEvent, b: AccessEvent) -> bool:
    """Whether two fields of such records share bytes; what is no field there may."""
    if a.record is None or b.record is None:
        return True
    start, other = a.record.offset, b.record.offset
    return start < other + b.bytes and other < start + a.bytes


def _dominates(earlier: AccessEvent, later: AccessEvent | BarrierEvent | FenceEvent) -> bool:
    """Whether every lane that gets to `later` came through `earlier`."""
    before, now = earlier.context.conditions, later.context.conditions
    return len(before) <= len(now) and all(a is b for a, b in zip(before, now, strict=False))
