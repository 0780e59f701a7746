"""Accesses to neighbouring elements in successive iterations, which an unrolled loop makes as one wide access.

Read from what nvcc 13.0 makes of some fifty loops over shared arrays (`-O3`, sm_80 and sm_90): a loop is unrolled even
if its length is only known at run time (by 4, with the rest one by one), unless it leaves by data. Its loads of
neighbours become one of 16 bytes where the first one is known to be aligned to that, else of 8, with these exceptions:
bytes stay apart and elements of 2 bytes come by 8 bytes at most, unless the declaration tells the alignment (then by
16); behind a branch in the body nothing is merged; lengths that are even but no multiple of what is merged, beyond
those that are unrolled in full, merge what divides them (of 1022 elements 2); rows (`tile[threadIdx.y][k]`) up to
a limit that is only known at run time come by 8 bytes. Stores are merged like loads.

What else the body does to shared memory keeps them apart (read from thirty more loops): a store keeps loads apart, and
any access keeps stores apart, since the compiler does not exchange them. Only within one dynamic array, whose alignment
it knows early, it tells elements apart that are so far from one another for every thread. Stores stay apart, too, if
the body has a branch, and both do if there is arithmetic in it that takes a jump (`slow_paths.py`).

Where the declaration tells the alignment (dynamic arrays, `__align__(16)`), the compiler proper merges before the
assembler does: then division and roots keep nothing apart, and rows up to an unknown limit come by 16 bytes, unless
there is a shuffle, inline PTX or the like in the body (read from 340 loops; see `straight.py`).

Where nothing is left of a nest of loops (`#pragma unroll` on each), loads of neighbours are also merged if it is one of
the outer loops that walks through them: `frag[j] = tile[(row + j) * K + k]` in a loop over `k`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.codegen.indices import Spot, distance, fixed_indices
from cudalint.codegen.shared_layout import shared_layout
from cudalint.codegen.slow_paths import is_kept_in_place, keeps_apart
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.views import LaunchView
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, BranchEvent, Loop
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.values.arithmetic import I8
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import THREAD_BITS, Node
from cudalint.values.polynomial import linear
from cudalint.values.residues import Residues

_UNROLLED_WALKS = heuristic("unrolled-walks", "PTX of some fifty loops over shared arrays, nvcc 13.0")

WIDTHS = (16, 8, 4, 2)
"""Bytes of one access of a lane, but for single ones, the widest first."""
MAX_FULL = 256
"""Iterations of a loop that is unrolled in full on sm_80; sm_90 stops at about 100."""

_BY_DEFAULT = 4
"""Iterations that become one in a loop whose length is only known at run time."""

_SHORT = 32
"""Iterations up to which an inner loop is unrolled in full without being told."""


class Unrolling(Struct, eq=False):
    """What loops of one execution make of the accesses in them."""

    view: LaunchView
    function: ir.Function
    starts: Mapping[ir.Symbol, int]
    """Where shared variables lie, as far as that is known."""
    bodies: dict[Loop, list[AccessEvent | None]] = field(default_factory=dict)
    """The shared accesses in the bodies of loops, but for loops in these; None where there is a barrier."""
    nests: dict[Loop, list[AccessEvent | None]] = field(default_factory=dict)
    """The same with those in inner loops, for outer loops of which nothing is left."""
    branching: set[Loop] = field(default_factory=set)
    """Those whose bodies have branches."""
    slow: set[Loop] = field(default_factory=set)
    """Those whose bodies have arithmetic that keeps the stores of their iterations apart."""
    jumping: set[Loop] = field(default_factory=set)
    """Those whose bodies have arithmetic that keeps the loads of their iterations apart."""
    interrupted: set[Loop] = field(default_factory=set)
    """Those of whose bodies the compiler proper keeps iterations apart, and only the assembler may merge."""
    _residues: Residues = field(default_factory=Residues)

    @staticmethod
    def of(execution: Execution) -> Unrolling:
        found = Unrolling(execution.view, execution.function, shared_layout(execution))
        for event in execution.events:
            if isinstance(event, (BarrierEvent, AccessEvent, BranchEvent)) and event.context.loops:
                *outer, loop = event.context.loops
                found._note(event, loop, found.bodies)
                for each in outer:
                    if each.is_unrolled:
                        found._note(event, each, found.nests)
        for step in execution.steps:
            if step.loops:
                found._note_arithmetic(step.code, step.loops[-1], execution.capability)
        return found

    def _note_arithmetic(self, code: ir.Stmt | ir.Expr, loop: Loop, capability: tuple[int, int]) -> None:
        apart = keeps_apart(code)
        if apart.loads:
            self.jumping.add(loop)
        if apart.stores:
            self.slow.add(loop)
        if apart.for_compiler or (isinstance(code, ir.Asm) and is_kept_in_place(code, capability)):
            self.interrupted.add(loop)

    def _note(
        self,
        event: BarrierEvent | AccessEvent | BranchEvent,
        loop: Loop,
        bodies: dict[Loop, list[AccessEvent | None]],
    ) -> None:
        if isinstance(event, BranchEvent):
            if self._branches(event, loop):
                self.branching.add(loop)
        elif isinstance(event, AccessEvent):
            if event.operation not in ("load", "store"):
                self.interrupted.add(loop)
            if event.target.space == "shared":
                bodies.setdefault(loop, []).append(event)
        elif not event.implied:
            bodies.setdefault(loop, []).append(None)
        else:
            self.interrupted.add(loop)

    def _branches(self, event: BranchEvent, loop: Loop) -> bool:
        """Whether iterations part there. What is chosen by a condition that is the same in all is chosen before."""
        if event.kind not in ("if", "conditional", "switch") or event.condition.is_const:
            return False
        own = loop.counter.bits | self.view.graph.opaque_bits
        return event.kind != "conditional" or bool(event.condition.bits & own)

    def is_aligned_early(self, event: AccessEvent, offset: Node, width: int) -> bool:
        """Whether the compiler sees that an address is a multiple of `width`, counted from an aligned array."""
        if not self._residues.of(offset).is_multiple_of(width):
            return False
        return self.fixed(event) % width == 0

    def fixed(self, event: AccessEvent) -> int:
        """See `fixed_indices`. Few kernels have accesses for which that is asked."""
        return fixed_indices(self.function).get(Spot.of(event), 1)

    def wide(self, event: AccessEvent) -> AccessEvent:
        """The access as the machine makes it, if it walks through a shared array element by element."""
        if not _UNROLLED_WALKS.is_on:
            return event
        if event.operation not in ("load", "store") or event.target.space != "shared" or event.bytes > 8:
            return event
        if not event.context.loops or event.target.symbol is None:
            return event
        for loop, body in self._walking(event):
            wide = self._walked(event, loop, body)
            if wide is not event:
                return wide
        return event

    def _walking(self, event: AccessEvent) -> Iterator[tuple[Loop, Sequence[AccessEvent | None]]]:
        """The loops over whose iterations an access may be merged, with what else is in them."""
        *outer, loop = event.context.loops
        yield loop, self.bodies.get(loop, ())
        if event.operation == "load":
            for each in reversed(outer):
                if not (vanishes(loop, self.view.graph) and each.is_unrolled):
                    return
                loop, body = each, (*self.bodies.get(each, ()), *self.nests.get(each, ()))
                if None in body:
                    return
                yield each, body

    def is_elsewhere(self, other: AccessEvent, event: AccessEvent) -> bool:
        """Whether the compiler sees at once that two accesses touch different parts of one dynamic shared array."""
        if event.target is not other.target or event.target.bytes is not None:
            return False
        return bool(distance(self.function, other, event))

    def _is_kept_apart(self, event: AccessEvent, body: Sequence[AccessEvent | None]) -> bool:
        """Whether something else in the body stands between the accesses of two iterations."""
        if event.operation == "store":
            own = (event.target, event.offset)
            others = [other for other in body if other is None or (other.target, other.offset) != own]
        else:
            others = [other for other in body if other is not None and other.operation != "load"]
        return any(other is None or not self.is_elsewhere(other, event) for other in others)

    def _walked(self, event: AccessEvent, loop: Loop, body: Sequence[AccessEvent | None]) -> AccessEvent:
        graph = self.view.graph
        if not event.offset.bits & loop.counter.bits or _is_guarded(event, loop, graph):
            return event
        if self._is_kept_apart(event, body):
            return event
        if event.operation == "store" and (loop in self.branching or not self._is_store_of_neighbours(event, loop)):
            return event
        first = graph.substitute(event.offset, {loop.counter: graph.const(0, I8)})
        is_slow = loop in (self.jumping if event.operation == "load" else self.slow)
        is_early = loop not in self.interrupted and self._is_declared(event, first)
        if is_slow and not is_early:
            return event
        most = _widest(event, loop, first, graph, is_early)
        steps = (event.bytes, -event.bytes) if most else ()
        step = next((s for s in steps if _walks(event, loop, first, s, self.view)), None)
        if step is None:
            return event
        # Counted down, the first element is the last of its group.
        ahead = event.bytes if step < 0 else 0
        if not is_early and event.target.symbol is not None:
            ahead += self.starts.get(event.target.symbol, 0)
        for width in WIDTHS:
            if event.bytes < width <= most:
                past = self._past(first, ahead, event.bytes, width)
                if past == 0 or (past is not None and step > 0 and _are_mostly_wide(event, loop, past, width, graph)):
                    group = _group(event, loop, step, width, past, graph)
                    return replace(event, offset=group, bytes=width, iterations=width // event.bytes)
        return event

    def _past(self, first: Node, ahead: int, size: int, width: int) -> int | None:
        """How many elements of `size` bytes behind a multiple of `width` the address of the first iteration is, to
        which `ahead` bytes are added; None where that is not known."""
        graph = self.view.graph
        for past in range(width // size):
            by = ahead - past * size
            start = graph.binary("+", first, graph.const(by, I8), I8) if by else first
            if self._residues.of(start).is_multiple_of(width):
                return past
            if ahead == 0 or ahead % size:
                return None
        return None

    def _is_declared(self, event: AccessEvent, first: Node) -> bool:
        """Whether the declaration and the index tell the compiler proper that iterations begin at an aligned place."""
        if declared_alignment(event.target) < WIDTHS[0]:
            return False
        graph = self.view.graph
        ends = (first, graph.binary("+", first, graph.const(event.bytes, I8), I8))
        return any(self.is_aligned_early(event, end, WIDTHS[0]) for end in ends)

    def _is_store_of_neighbours(self, event: AccessEvent, loop: Loop) -> bool:
        """Whether the compiler sees that the iterations store neighbours: the counter is added (`t | k` does not do),
        and where it has to know the alignment, it does."""
        factors = dict(linear(event.offset)[0])
        if abs(factors.get(loop.counter, 0)) != event.bytes:
            return False
        return bool(event.context.frames) or self.fixed(event) % WIDTHS[0] == 0


def vanishes(loop: Loop, graph: Graph) -> bool:
    """Whether an inner loop is unrolled in full, which short ones are without being told."""
    trips = graph.trips(loop.counter, loop.condition)
    return loop.is_unrolled or (loop.is_counted and trips.is_const and trips.value <= _SHORT)


def _is_guarded(event: AccessEvent, loop: Loop, graph: Graph) -> bool:
    """Whether there is a branch between the loop's head and the access."""
    inner = event.context.loops[event.context.loops.index(loop) :]
    own = [part for each in inner for part in conjuncts(graph, each.condition) if not part.is_const]
    added = event.context.conditions[len(loop.conditions) :]
    return any(all(condition is not part for part in own) for condition in added)


def declared_alignment(target: Allocation) -> int:
    """Of a shared array, as the compiler proper knows it: dynamic ones begin at a multiple of 16 bytes."""
    if target.symbol is None:
        return 0
    return max(target.symbol.align, WIDTHS[0] if target.bytes is None else 0)


def widest_for_assembler(size: int) -> int:
    """The widest access that the assembler makes of elements of so many bytes."""
    return {1: 1, 2: 8}.get(size, WIDTHS[0])


def _widest(event: AccessEvent, loop: Loop, first: Node, graph: Graph, is_early: bool) -> int:
    """The widest load that the length of the loop allows; 0 if the loop is not unrolled."""
    trips = graph.trips(loop.counter, loop.condition)
    widest = WIDTHS[0] if is_early else widest_for_assembler(event.bytes)
    if trips.is_const and loop.is_counted:
        length = int(trips.value)
        if length > MAX_FULL and length % 2 == 0:
            widest = min(widest, (length & -length) * event.bytes)
        return next((width for width in WIDTHS if width <= min(widest, length * event.bytes)), 0)
    if trips.bits & (graph.opaque_bits | THREAD_BITS):
        return 0
    widest = min(widest, _BY_DEFAULT * event.bytes)
    return min(widest, 8) if first.bits & THREAD_BITS and not is_early else widest


def _walks(event: AccessEvent, loop: Loop, first: Node, step: int, view: LaunchView) -> bool:
    """Whether each iteration moves the address by one element."""
    graph, counter = view.graph, loop.counter
    expected = graph.binary("+", first, graph.binary("*", counter, graph.const(step, I8), I8), I8)
    if expected is event.offset:
        return True
    rows = view.quick().rows(event.context.loops)
    return bool(np.array_equal(rows.full(expected), rows.full(event.offset)))


def _are_mostly_wide(event: AccessEvent, loop: Loop, past: int, width: int, graph: Graph) -> bool:
    """Whether most elements of a loop that begins `past` elements behind a multiple of `width` come by accesses of that
    width: loads of more than half of it do, and stores of all of it. Where a loop is not unrolled in full, none do."""
    trips = graph.trips(loop.counter, loop.condition)
    length = int(trips.value) if trips.is_const and loop.is_counted else 0
    if length > MAX_FULL:
        return False
    count = width // event.bytes
    least = count // 2 + 1 if event.operation == "load" else count
    head = min(count - past, length)
    whole, tail = divmod(length - head, count)
    wide = whole * count + sum(part for part in (head, tail) if part >= least)
    return 2 * wide > length


def _group(event: AccessEvent, loop: Loop, step: int, width: int, past: int, graph: Graph) -> Node:
    """The address of the wide load that brings the element of some iteration; the first one is `past` elements behind
    the beginning of such a load."""
    count = width // event.bytes
    place = graph.binary("+", loop.counter, graph.const(past, I8), I8) if past else loop.counter
    within = graph.binary("%", place, graph.const(count, I8), I8)
    if step < 0:
        within = graph.binary("-", graph.const(count - 1, I8), within, I8)
    back = graph.binary("*", within, graph.const(event.bytes, I8), I8)
    return graph.binary("-", event.offset, back, I8)
