"""Where straight-line code ends: what stands before and behind such a place is not merged into one wide access.

Two programs merge. The compiler proper, whose result is PTX, merges what it knows to be aligned (fields of records,
dynamic shared arrays and those declared with an alignment) within a stretch of code without jumps, and nothing across
a shuffle, a vote, an atomic operation or inline PTX. The assembler, whose result is machine code, merges accesses to
shared memory only, and across those. To it, division and the like are jumps (`slow_paths.py`), while branches that it
turns into predicates are none for loads.

Read from the machine code of some 220 kernels of two accesses with something in between, and of 340 loops (nvcc 13.0,
sm_90): loads of `s[2 * t]` and `s[2 * t + 1]` with a shuffle in between are one load of 8 bytes though PTX has two;
with a fence or a loop in between they are two of 4 bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from cudalint.codegen.indices import Code, code_of
from cudalint.codegen.slow_paths import is_kept_in_place, keeps_apart
from cudalint.codegen.unrolling import vanishes
from cudalint.evaluate.branches.compiled import PREDICATED, compiled_form
from cudalint.evaluate.branches.work import WorkMeter, weigh
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import Operation
from cudalint.interpreter.device.events import (
    AccessEvent,
    BarrierEvent,
    BranchEvent,
    CopyEvent,
    Event,
    FenceEvent,
    Loop,
    Step,
)
from cudalint.ir import nodes as ir
from cudalint.ir import walk

_SELECTED = 3.0
"""What a branch may compute, memory aside, and still become a selection of its results."""
_LEAVING = (ir.Return, ir.Break, ir.Continue)
_LOOPS = (ir.For, ir.While, ir.DoWhile)


class Straight(Struct, eq=False):
    """The places in an execution's list of events before which straight-line code ends."""

    for_compiler: list[int] = field(default_factory=list)
    loads: list[int] = field(default_factory=list)
    """For the assembler."""
    stores: list[int] = field(default_factory=list)
    """The same."""
    decided: dict[int, int] = field(default_factory=dict)
    """For the places in branches that the launch decides the innermost one's: to the assembler, loads in it are made by
    some lanes only."""

    @staticmethod
    def of(execution: Execution) -> Straight:
        found = Straight()
        code = code_of(execution.function)
        meter = WorkMeter(execution.view, execution.steps)
        _Reader(execution, found, code, meter, _open_branches(code)).read()
        for places in (found.for_compiler, found.loads, found.stores):
            places.sort()
        return found

    def compiler_stretch(self, place: int) -> int:
        """Which stretch the event at a place is in: those of one number may be merged."""
        return bisect_right(self.for_compiler, place)

    def assembler_stretch(self, place: int, operation: Operation) -> tuple[int, int]:
        ends = self.loads if operation == "load" else self.stores
        return bisect_right(ends, place), self.decided.get(place, -1)

    def on_the_way(self, place: int) -> Iterator[tuple[int, int]]:
        """The assembler's stretch of a load, and that of what lies before the branch around it that the launch
        decides."""
        stretch, decided = self.assembler_stretch(place, "load")
        yield stretch, decided
        if decided >= 0:
            yield stretch, -1

    def end(self, place: int) -> None:
        """Nothing is merged across this place."""
        self.for_compiler.append(place)
        self.end_for_assembler(place)

    def end_for_assembler(self, place: int) -> None:
        self.loads.append(place)
        self.stores.append(place)


class _Reader(Struct, eq=False):
    execution: Execution
    straight: Straight
    code: Code
    meter: WorkMeter
    open_branches: Mapping[ir.Span, ir.If | ir.Conditional | ir.Switch]
    """Those of which the compiler does not know which way they go, though the launch may decide it."""

    def read(self) -> None:
        for place, event in enumerate(self.execution.events):
            self._event(place, event)
        self._read_steps()

    def _event(self, place: int, event: Event) -> None:
        match event:
            case BarrierEvent(implied=True):
                self.straight.for_compiler.append(place)
            case BarrierEvent() | FenceEvent():
                self.straight.end(place)
            case CopyEvent(leaves=None):
                self.straight.for_compiler.append(place)
                self.straight.stores.append(place)
            case CopyEvent():
                self.straight.end(place)
            case AccessEvent(operation=operation) if operation not in ("load", "store"):
                self.straight.for_compiler.append(place)
            case BranchEvent(kind="if" | "conditional" | "switch"):
                if not event.condition.is_const or event.context.span in self.open_branches:
                    self._branch(place, event)

    # branches

    def _branch(self, place: int, event: BranchEvent) -> None:
        unreached = self._unreached(event)
        ends = [self._position(side.steps.stop) for side in event.sides if side.steps]
        if unreached is not None:
            ends.append(self._end_of_unreached(place, event))
        last = max((place + 1, *ends))
        if self._is_selection(event, self.execution.events[place + 1 : last], unreached):
            return
        places = [place, *ends]
        if event.condition.is_const:
            self.straight.decided |= dict.fromkeys(range(place + 1, last), place)
        self.straight.for_compiler += places
        self.straight.stores += places
        is_long = unreached is not None and weigh(unreached) > PREDICATED
        if is_long or (event.sides and compiled_form(event, self.meter) == "branch"):
            # What is loaded at its beginning may still be loaded before it.
            self.straight.loads += ends

    def _unreached(self, event: BranchEvent) -> ir.Stmt | None:
        """The side of an `if` that no lane takes under this launch, and of which there are no steps."""
        node = self.open_branches.get(event.context.span)
        if not event.condition.is_const or not isinstance(node, ir.If):
            return None
        return node.otherwise if event.condition.value else node.then

    def _end_of_unreached(self, place: int, event: BranchEvent) -> int:
        """The place behind what is listed of a side that no lane takes: it follows the branch, or the side that is
        taken."""
        events, depth = self.execution.events, len(event.context.conditions)
        end = max((place + 1, *(self._position(side.steps.stop) for side in event.sides if side.steps)))
        false = self.execution.view.graph.false
        while end < len(events) and events[end].context.conditions[depth : depth + 1] == (false,):
            end += 1
        return end

    def _is_selection(self, event: BranchEvent, inside: Sequence[Event], unreached: ir.Stmt | None) -> bool:
        """Whether both sides are computed, and one result is taken."""
        if any(side.leaves for side in event.sides):
            return False
        if not all(isinstance(each, BranchEvent) for each in inside):
            return False
        if unreached is not None and not _is_little(unreached):
            return False
        return all(self.meter.fits(side.steps, _SELECTED) for side in event.sides)

    def _position(self, step: int) -> int:
        """The place of the first event of a step, or behind all."""
        steps = self.execution.steps
        return steps[step].position if step < len(steps) else len(self.execution.events)

    # steps

    def _read_steps(self) -> None:
        counted = _Counted(self.code)
        around: tuple[Loop, ...] = ()
        for number, step in enumerate(self.execution.steps):
            if any(not vanishes(loop, self.execution.view.graph) for loop in _changed(around, step.loops)):
                self.straight.end(step.position)
            around = step.loops
            if counted.turns(step):
                self.straight.end(step.position)
            self._arithmetic(step, self._position(number + 1))

    def _arithmetic(self, step: Step, end: int) -> None:
        if isinstance(step.code, ir.Asm):
            if is_kept_in_place(step.code, self.execution.capability):
                self.straight.for_compiler += (step.position, end)
            return
        apart = keeps_apart(step.code)
        if not apart.stores:
            return
        # A statement computes from what it loads, and stores what it has computed.
        own = range(step.position, end)
        place = next((place for place in own if self._is_store(place)), end)
        self.straight.stores.append(place)
        if apart.loads:
            self.straight.loads.append(place)
        if apart.for_compiler:
            self.straight.for_compiler.append(place)

    def _is_store(self, place: int) -> bool:
        event = self.execution.events[place]
        return isinstance(event, AccessEvent) and event.operation == "store"


def _changed(before: tuple[Loop, ...], now: tuple[Loop, ...]) -> Iterator[Loop]:
    """The loops that are left or entered."""
    same = 0
    while same < min(len(before), len(now)) and before[same] is now[same]:
        same += 1
    yield from before[same:]
    yield from now[same:]


def _is_little(statement: ir.Stmt) -> bool:
    """Whether a statement goes nowhere else and computes little."""
    return not any(isinstance(node, _LEAVING) for node in walk.walk(statement)) and weigh(statement) <= _SELECTED


def _open_branches(code: Code) -> Mapping[ir.Span, ir.If | ir.Conditional | ir.Switch]:
    return {
        node.span: node
        for node in code.nodes
        if isinstance(node, (ir.If, ir.Conditional, ir.Switch)) and _rests_on_open(node.condition, code)
    }


def _rests_on_open(condition: object, code: Code) -> bool:
    return any(isinstance(node, ir.Name) and node.symbol in code.open for node in walk.walk(condition))


class _Counted:
    """Loops whose length the launch decides and that are executed iteration by iteration: to the compiler, each of
    these is a stretch of its own."""

    def __init__(self, code: Code) -> None:
        self._loops: dict[int, frozenset[int]] = {}
        self._known = frozenset(map(id, code.nodes))
        self._inside: frozenset[int] | None = None
        for node in code.nodes:
            if isinstance(node, _LOOPS) and node.condition is not None and _rests_on_open(node.condition, code):
                self._loops[id(node.body)] = frozenset(map(id, walk.walk(node)))

    def turns(self, step: Step) -> bool:
        """Whether an iteration begins with a step, or the last one is over."""
        around = self._loops.get(id(step.code))
        if around is not None:
            self._inside = around
            return True
        if self._inside is None or id(step.code) in self._inside or id(step.code) not in self._known:
            return False
        self._inside = None
        return True
