"""The machine that executes a kernel: accesses, barriers, branches and calls become events of its trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.absent import Absent, defined, undefined_in
from cudalint.execute.budget import MOST_BRANCHES, Limits, TooMuch
from cudalint.execute.cells import Memory
from cudalint.execute.contents import note_store
from cudalint.execute.drawn import loaded_number
from cudalint.execute.memory import ASTRAY, LITERAL, NULL, Allocation, Varies, as_type, joined, loaded, pieces, plus
from cudalint.execute.trace import (
    AccessEvent,
    BarrierEvent,
    BarrierPart,
    BarrierScope,
    BranchEvent,
    CallEvent,
    ClusterStep,
    CopyEvent,
    DistributedEvent,
    FenceEvent,
    Gap,
    Trace,
    Undecided,
    UndefinedEvent,
)
from cudalint.execute.values import UNKNOWN, Aggregate, Data, InPart, Pointer, Value, is_common, leaves
from cudalint.facts import BarrierKind, Operation
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.reasons import Problem, ReasonKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudalint.execute.lanes import Lanes, Mask
    from cudalint.execute.program import Program

from cudalint.execute.execution import Execution, Frame

_SCALARS = (ir.Scalar, ir.PointerType, ir.OpaqueType)
"""What one instruction loads or stores."""
_MOST_LEAVES = 64
"""Of a record that is loaded as a whole, of which each is a value of its own."""

_AFTER_JUMP = Data("unknown", "which threads come there after a `goto` is not followed")
_UNSPELLED: tuple[tuple[Any, ...], int] = ((), 0)


_PARTLY = frozenset({Absent, InPart})
"""Values that may be undefined in some lanes."""


class Machine(Execution):
    """Executes what a program compiles to: statements change its mask, and leave events in its trace."""

    def __init__(self, lanes: Lanes, program: Program, limits: Limits | None = None, in_full: bool = False) -> None:
        super().__init__(lanes, program, limits, in_full)
        self.memory = Memory(self)
        self.mapped: dict[Allocation, Allocation] = {}
        """Of what stands for the shared memory of other blocks: the block's own."""

    # --- events ------------------------------------------------------------------------------------

    def access(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any, value: Value = None,
    ) -> Value:  # fmt: skip
        """Notes an access of the active lanes; gives what a load finds."""
        if self.mask is None or to.space == "nowhere" or (to.is_null and not self._is_there(to)):
            if self.mask is not None and to.space == "nowhere" and to is not LITERAL:
                self.trace.astray[node] = operation != "load" or self.trace.astray.get(node, False)
                if to is ASTRAY:
                    self._note_pieces(self._astray(), offset, type_, operation, node, value)
            return loaded(type_, to.name) if operation != "store" else UNKNOWN
        if type(value) in _PARTLY and operation != "load":
            value = self._stored(value, node)
        if self.is_lost:
            offset = _AFTER_JUMP
        if to.space == "cluster":
            event = self._event(to, offset, type_.bytes, operation, node, None)
            self.trace.distributed.append(DistributedEvent(event, self.mapped[to], len(self.trace.accesses)))
            self.trace.steps += self.budget.unit
            return loaded(type_, to.name) if operation != "store" else UNKNOWN
        if to.parts:
            return self._several(to, offset, type_, operation, node, value)
        if operation != "load" and to in self.pointed:
            self.pointed[to] += 1
        if to.space == "shared":
            found = self._shared(to, offset, type_, operation, value)
            if found is not None:
                self.note(to, offset, type_.bytes, operation, node, value)
                return found
        self._note_pieces(to, offset, type_, operation, node, value)
        if operation != "load":
            return UNKNOWN
        if isinstance(type_, ir.PointerType):
            return Pointer(self._behind(to, offset), 0, type_.pointee)
        found = loaded(type_, to.name)
        if not isinstance(found, (Aggregate, Data)) or not self.trace.accesses:
            return found
        made = self.trace.accesses[-1]
        is_one = operation == "load" and to.space != "local" and is_common(offset)
        if isinstance(found, Data):
            return loaded_number(to.name, offset, type_, made, is_one)
        if len(found.cells) <= _MOST_LEAVES:
            for own, leaf in leaves(type_):
                found.cells[own] = loaded_number(to.name, plus(offset, own), leaf, made, is_one)
        return found

    def _stored(self, value: Value, node: Any) -> Value:
        """A value without what is undefined of it, which is noted where active lanes store it."""
        part = undefined_in(value)
        if part is not None and self.mask is not None and (part.lanes & self.mask).any():
            lanes = part.lanes & self.mask
            self.trace.undefined.append(
                UndefinedEvent(self.library or node, self.stack, lanes, part.shuffle, self.data)
            )
        return defined(value)

    def _note_pieces(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any, value: Value
    ) -> None:
        if isinstance(type_, _SCALARS):
            self.note(to, offset, type_.bytes, operation, node, value)
        else:
            for own, bytes_ in pieces(type_):
                self.note(to, plus(offset, own), bytes_, operation, node, value)

    def _astray(self) -> Allocation:
        """Memory that pointers lead to of which nothing is known: other memory for each thread, for all that is known.
        """
        found = self.allocations.get(ASTRAY)
        if found is None:
            found = self.allocations[ASTRAY] = Allocation(ASTRAY.name, "global")
            found.varies = "thread"
        return found

    def _is_there(self, to: Allocation) -> bool:
        """Whether a launch that passes a null pointer can't mean it: lanes use it, whatever data says and whichever
        world it is. What else uses it is a way that the launch doesn't go."""
        if to in self.meant:
            return True
        mask = self.mask
        if to is NULL or to.space == "nowhere" or self.data or mask is None:
            return False
        if not mask.reshape(self.lanes.worlds, -1).any(axis=1).all():
            return False
        self.meant.add(to)
        return True

    def _behind(self, to: Allocation, offset: Any) -> Allocation:
        """What pointers lead to that are loaded: the same for all that look in one place, as long as nothing is stored
        there."""
        where: object = None
        varies: Varies = "thread"
        if type(offset) is np.ndarray and offset.size > 1:
            where, varies = hash((offset.shape, offset.tobytes())), "thread" if offset.shape[1] > 1 else "block"
        elif not isinstance(offset, Data):
            where, varies = int(offset), ""
        key = "behind", to, where, self.pointed.setdefault(to, 0)
        found = self.allocations.get(key) if where is not None else None
        if found is None:
            found = self.allocations[key] = Allocation(f"*{to.name}", "global")
            found.varies = max(varies, to.varies)
        return found

    def _several(
        self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any, value: Value
    ) -> Value:
        """An access to several pieces of memory, to each by its lanes."""
        mask, found, data = self.mask, None, self.data
        if to.is_open:
            self.open_scope()
        else:
            self.chosen = to
        for part, (lanes, base) in to.parts.items():
            self.mask, _ = self.split(lanes)
            if self.mask is not None:
                own = self.access(part, plus(base, offset), type_, operation, node, value)
                found = own if found is None else joined(lanes, own, found)
            self.mask = mask
        self.chosen = None
        self.close_scopes(data)
        if to.is_open and operation == "load":
            return loaded(type_, to.name)
        return found if found is not None else UNKNOWN

    def _shared(self, to: Allocation, offset: Any, type_: ir.Type, operation: Operation, value: Value) -> Value:
        """Keeps track of integers in shared memory; what a load finds of them, or None."""
        if operation == "load":
            return to.contents.load(self, offset, type_) if to.contents is not None else None
        note_store(self, to, offset, type_, value if operation == "store" else UNKNOWN)
        return None

    def forget_contents(self, step: int) -> None:
        """Of arrays in shared memory to which something was stored since a step of the execution: where turns that come
        after it are left out, nobody knows what these store."""
        for contents in self.contents:
            if contents.touched >= step:
                contents.forget()

    def note(
        self, to: Allocation, offset: Any, bytes_: int, operation: Operation, node: Any, value: Value = None
    ) -> None:
        mask, weight = self.mask, self.weight
        assert mask is not None
        if not self.in_full:
            site = self.library or node, self.stack, (to.space, bytes_)
            weight = self.budget.weight_of(site, mask, weight, offset)
            if weight is None:
                return
        self.trace.steps += self.budget.unit
        self.budget.take(offset, mask, value)
        event = self._event(to, offset, bytes_, operation, node, value)
        self.trace.accesses.append(event if weight is self.weight else event._replace(weight=weight))

    def touch(self, at: Pointer, operation: Operation, node: Any) -> None:
        """Notes that a function of a library touches what a pointer leads to."""
        to = at.allocation
        if self.mask is None or to.is_null or to.space in ("local", "nowhere"):
            return
        parts = [(part, plus(base, at.offset)) for part, (_, base) in to.parts.items()] or [(to, at.offset)]
        for part, offset in parts:
            event = self._event(part, offset, at.pointee.bytes or 1, operation, node, None)
            self.trace.touched.append((len(self.trace.accesses), event))

    def overrun(self, of: Allocation, offset: Any, type_: ir.Type, operation: Operation, node: Any) -> None:
        """Notes an access of active lanes that leaves a local variable."""
        if self.mask is not None and not self.is_lost:
            self.trace.overruns.append(self._event(of, offset, type_.bytes, operation, node, None))

    def stay(self, node: Any) -> None:
        """Notes in which worlds active lanes access a local array and stay in it, where there are several."""
        if self.mask is None or self.lanes.worlds == 1:
            return
        known = self.trace.insides.get((node, self.stack))
        if known is None:
            known = self.trace.insides[node, self.stack] = np.zeros(self.lanes.worlds, bool)
        elif known.all():
            return
        known |= self.mask.any(axis=1).reshape(self.lanes.worlds, self.lanes.blocks).any(axis=1)

    def _event(
        self, to: Allocation, offset: Any, bytes_: int, operation: Operation, node: Any, value: Value
    ) -> AccessEvent:
        mask = self.mask
        assert mask is not None
        return AccessEvent(
            self.library or node, operation, bytes_, to, offset, mask, self.weight, self.interval, self.stack,
            self.data, value, self.warp_interval, self.grid_interval, self.guard, self.passed,
            sum(self._divergent) + self.is_left_by_data,
            *self.subscripts.get(node, _UNSPELLED), False, self.whole or (node if self.library else None), self.chosen,
            self.frames[-1].function.name if self.library else "",
            self.is_parted_outside or not self.is_left_together or any(self._divergent),
        )  # fmt: skip

    def barrier(
        self, node: Any, kind: BarrierKind, scope: BarrierScope = "block", part: BarrierPart = "whole",
        is_implied: bool = False, named: Value = None,
    ) -> None:  # fmt: skip
        """A barrier for the active lanes: their next interval begins, in the block, the grid or the warp. One of a warp
        may name lanes by their bits; by default it names the warp."""
        mask = self.mask
        assert mask is not None
        if kind == "syncwarp":
            scope = "warp"
        if scope == "warp" and type(named) is np.ndarray:
            for each in np.unique(np.broadcast_to(named, mask.shape)[mask]).tolist():
                self.mask = mask & (named == each)
                self.barrier(node, kind, scope, part, is_implied, each)
            self.mask = mask
            return
        expected, partial = self._waited_for(mask, named if scope == "warp" else None)
        self.budget.take(mask, expected, partial)
        self.trace.barriers.append(
            BarrierEvent(
                self.library or node, kind, mask, self.weight, self.interval, self.stack, self.data,
                self.warp_interval, expected, partial, len(self.trace.accesses), scope, part, is_implied, named, node,
            )
        )  # fmt: skip
        if scope == "warp":
            if not is_implied:
                whole = mask if partial is None else mask & ~partial
                self.warp_interval = self._passed(self.warp_interval, whole)
        elif part != "arrive":
            self.interval = self._passed(self.interval, mask)
            if kind == "grid":
                self.grid_interval = self._passed(self.grid_interval, mask)

    def _passed(self, count: Any, mask: Mask) -> Any:
        return count + 1 if mask is self.full else count + mask.astype(np.int32)

    def _live_lanes(self) -> Mask:
        """Those that have not returned from the kernel; one object as long as they are the same."""
        gone = self.frames[0].returned, self.ended
        if self._live is None or any(old is not new for old, new in zip(self._live[0], gone, strict=True)):
            live = self.full
            for away in gone:
                live = live if away is None else live & ~away
            self._live = gone, live
        return self._live[1]

    def _waited_for(self, mask: Mask, named: Any) -> tuple[Mask | None, Mask | None]:
        """The lanes that a barrier waits for, and those of its own that are ordered with a part of their warp only."""
        live = self._live_lanes()
        if named is None:
            return live, None
        if type(named) is int:
            bits = (named >> np.arange(WARP_LANES)) & 1 != 0
            if bits.all():
                return live, None
            expected = live & np.tile(bits, self.lanes.warps)
        else:
            expected = mask
        left_out = self.lanes.by_warp(live & ~expected).any(axis=2, keepdims=True)
        partial = mask & np.broadcast_to(left_out, self.lanes.by_warp(mask).shape).reshape(mask.shape)
        return (expected if type(named) is int else None), (partial if partial.any() else None)

    def copies(self, node: Any, kept: int | None) -> None:
        """A step of asynchronous copies."""
        if self.mask is not None:
            before = len(self.trace.accesses)
            own = self.library or node
            self.trace.copies.append(CopyEvent(own, kept, self.mask, self.interval, self.stack, before))

    def in_other_block(self, at: Pointer) -> Pointer:
        """Where a place of the block's shared memory is in another block of its cluster."""
        own = at.allocation
        if own.space != "shared" or own.parts:
            return Pointer(ASTRAY, at.offset, at.pointee)
        found = self.allocations.get(("cluster", own))
        if found is None:
            found = self.allocations["cluster", own] = Allocation(own.name, "cluster", own.type)
            self.mapped[found] = own
        return Pointer(found, at.offset, at.pointee)

    def cluster_step(self, node: Any, part: BarrierPart) -> None:
        """A barrier that the blocks of a cluster have in common, or one of its halves."""
        if self.mask is not None:
            own, trace = self.library or node, self.trace
            before = len(trace.accesses), len(trace.distributed)
            trace.cluster_steps.append(ClusterStep(own, self.mask, part, *before))

    def fence(self, node: Any) -> None:
        if self.mask is not None:
            before = len(self.trace.accesses)
            self.trace.fences.append(FenceEvent(node, self.mask, self.interval, self.stack, before))

    def branch(
        self, node: Any, mask: Mask, taken: Mask | None, turn: int = 0, cases: list[Mask | None] | None = None
    ) -> None:
        none = np.zeros((1, 1), bool) if taken is None else taken
        weight = self.weight
        if not self.in_full:
            weight = self.budget.weight_of((node, self.stack, None), mask, weight, mask, MOST_BRANCHES)
            if weight is None:
                return
        self.trace.steps += self.budget.unit
        self.budget.take(mask, taken)
        self.trace.branches.append(
            BranchEvent(node, mask, none, weight, self.stack, self.data, turn, self.library, cases)
        )

    def agreed(self, node: Any) -> None:
        """Notes a branch that all lanes of all worlds take the same way."""
        if self.library is None:
            self.trace.agreed[node, self.stack] = None

    def undecided(self, node: Any, condition: Data) -> None:
        """Notes a branch that data decides."""
        if self.library is None and self.mask is not None:
            key = node, self.stack
            before = self.trace.undecided.get(key)
            if before is None or (before.condition.is_common and not condition.is_common):
                self.trace.undecided[key] = Undecided(condition, self.mask)

    def gap(self, span: ir.Span, reason: str, kind: ReasonKind = "other", problem: Problem | None = None) -> None:
        """Notes something that is passed over."""
        gap, gaps = Gap(span, reason, kind, problem), self.trace.gaps
        gaps[gap] = gaps.get(gap, 0) + 1

    def unread(self, span: ir.Span, reason: str, kind: ReasonKind = "other") -> None:
        """Notes a call of which nothing is known."""
        gap, gaps = Gap(span, reason, kind), self.trace.unread
        gaps[gap] = gaps.get(gap, 0) + 1

    def call(
        self, node: Any, name: str, is_users: bool, pointers: Iterable[Pointer] = (), is_in_part: bool = False
    ) -> None:
        """Notes a call of the active lanes that is not followed."""
        if self.mask is not None:
            self.trace.calls.append(
                CallEvent(
                    self.library or node, name, self.mask, self.weight, self.interval, self.stack, self.data,
                    self.warp_interval, self.grid_interval, len(self.trace.accesses), is_users, tuple(pointers),
                    is_in_part,
                )
            )  # fmt: skip

    def note_arguments(self, values: Iterable[Value]) -> None:
        """Notes what a function that is not followed is given, pointers among it."""

    # --- a kernel ----------------------------------------------------------------------------------

    def run(
        self, function: ir.Function, arguments: dict[ir.Symbol, Value], axioms: Sequence[ir.Function] = ()
    ) -> Trace:
        """Executes a kernel. Arguments are values, one for each world where it is a list, or, of parameters that are
        records, dictionaries of their fields' values by name, of arrays by number; those that are missing are data, and
        pointers lead to allocations of their own. `axioms` are executed before it: what a file states about all of its
        kernels."""
        # Those of a template that nothing instantiates, too, where a user gives them.
        given = [symbol for symbol in arguments if symbol not in function.parameters]
        for parameter in (*function.parameters, *given):
            variable = Allocation(parameter.name, "local", parameter.type, self.full)
            self._fill(variable, 0, parameter.type, arguments.get(parameter), parameter.name)
            self.environment[parameter] = variable
        self.frames.append(Frame(function, 0))
        with np.errstate(all="ignore"):
            try:
                for each in (*axioms, function):
                    self.program.statement(each.body)(self)
            except TooMuch as reason:
                self.trace.cut = str(reason)
            except RecursionError:
                self.trace.cut = "its body is nested too deeply"
            except MemoryError:
                self.trace.cut = "its body takes too much memory"
        # Nothing is executed behind this, and nobody collects cycles.
        del self.memory.machine
        return self.trace

    def _fill(self, variable: Allocation, offset: int, type_: ir.Type, value: Value, name: str) -> None:
        if isinstance(type_, ir.RecordType):
            for field in type_.fields:
                own = value.get(field.name) if type(value) is dict else None
                self._fill(variable, offset + field.offset, field.type, own, f"{name}.{field.name}")
        elif isinstance(type_, ir.ArrayType):
            for number in range(min(type_.count or 0, _MOST_ELEMENTS)):
                own = value.get(number) if type(value) is dict else None
                self._fill(variable, offset + number * type_.element.bytes, type_.element, own, name)
        elif isinstance(type_, ir.PointerType):
            made = value if type(value) is Pointer else Pointer(Allocation(name, "global"), 0, type_.pointee)
            moved: Any = made.offset
            if isinstance(moved, (list, tuple)):
                moved = self.lanes.by_world(moved, np.int64)
            variable.cells[offset] = Pointer(made.allocation, moved, type_.pointee)
        elif value is None:
            variable.cells[offset] = Data("unknown", name, is_common=True)
        elif isinstance(value, (list, tuple)):
            variable.cells[offset] = as_type(self.lanes.by_world(value, np.asarray(value).dtype), type_)
        else:
            variable.cells[offset] = as_type(value, type_)


_MOST_ELEMENTS = 64
