"""Axes of launches along which every block, or every thread, does the same, since the kernel reads no index there.

Both is asked: what the code of the kernel and of all that it calls names, and what its addresses, conditions and stored
numbers depend on. What cannot be seen may read anything, and blocks that meet in atomics or wait for each other may
share out their work in another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, ClassVar, get_args

from msgspec import field
from msgspec.structs import replace

from cudalint.collect.needs import functions_of
from cudalint.collect.provider import Provider, Run
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import KernelFacts, Place
from cudalint.facts.axes import Axis, UnreadAxis
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import (
    AccessEvent,
    BarrierEvent,
    BranchEvent,
    EscapeEvent,
    Event,
    FenceEvent,
    LibraryAccess,
    LocalIndexEvent,
)
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import builtin
from cudalint.kinds import Kind
from cudalint.measure.axes import read_in
from cudalint.values.nodes import Node, bits_of

_AXES: tuple[Axis, ...] = get_args(Axis)
_OF_GRID = ("blockIdx", "gridDim")
_OF_BLOCK = ("threadIdx", "blockDim")
_MOST_FUNCTIONS = 500
"""Functions that are looked through for one kernel."""
_Read = frozenset[tuple[str, str]]
"""Names of built-in variables with the axes that are read of them."""


class UnreadAxisCollector(Provider, eq=False):
    kind: ClassVar[Kind] = "axes"
    _read: list[_Read | None] = field(default_factory=list)
    """What the kernel's code reads, once that was asked; None where it is not all in sight."""
    _found: list[UnreadAxis] = field(default_factory=list)

    def add(self, run: Run) -> None:
        execution = run.execution
        grid, block = execution.launch.grid, execution.launch.block
        if max(*grid, *block[1:]) == 1 or not execution.complete or execution.unseen or not run.subject.is_whole:
            return
        if not self._read:
            self._read.append(_read_by(execution.function))
        read, bits, store = self._read[0], _bits(execution), _store(run)
        if read is None or bits is None or store is None:
            return
        graph = execution.view.graph
        for position, axis in enumerate(_AXES):
            names = {name for name, own in read if own == axis}
            if grid[position] > 1 and not names & {*_OF_GRID} and not bits & graph.block[position].bits:
                self._note(execution, axis, grid[position], store)
            # The lanes of a warp may do together what none of them reads its index for.
            whole = position and not prod(block[:position]) % WARP_LANES
            if whole and block[position] > 1 and not names & {*_OF_BLOCK} and not bits & graph.thread[position].bits:
                self._note(execution, axis, block[position], store, of_block=True)

    def _note(
        self, execution: Execution, axis: Axis, extent: int, store: AccessEvent, of_block: bool = False
    ) -> None:
        place, view = Place(*store.context.span), execution.view
        self._found.append(
            UnreadAxis(view.index, axis, extent, of_block, place, store.target.name, view.assumptions)
        )

    def put_into(self, facts: KernelFacts) -> KernelFacts:
        return replace(facts, axes=tuple(self._found))


# --- what the code names ------------------------------------------------------------------------------------


def _read_by(kernel: ir.Function) -> _Read | None:
    """What a kernel and the functions that it calls read of built-in variables; None where that may be anything."""
    found: set[tuple[str, str]] = set()
    pending, seen = [kernel], set[str]()
    while pending:
        function = pending.pop()
        nodes = [*walk.nodes_in(function), *_of_initializers(function)]
        own = read_in(nodes)
        if own is None:
            return None
        found |= own
        for ref in (ref for node in nodes if isinstance(node, _WITH_FUNCTIONS) for ref in functions_of(node)):
            if ref.key in seen:
                continue
            seen.add(ref.key)
            called = ref.load()
            if len(seen) > _MOST_FUNCTIONS or (called is None and not _is_known(ref.name)):
                return None
            if called is not None:
                pending.append(called)
    return frozenset(found)


_WITH_FUNCTIONS = (ir.Call, ir.Construct, ir.Lambda, ir.FunctionName)


def _of_initializers(function: ir.Function) -> Iterator[Any]:
    for _, initializer in function.member_initializers:
        yield from walk.walk(initializer)


def _is_known(name: str) -> bool:
    """Whether the interpreter, or the time model, knows what a function of the library does."""
    known = builtin(name)
    return bool(known.effect or known.work or known.single or known.double) or name.startswith(("operator", "make_"))


# --- what it depends on -------------------------------------------------------------------------------------


def _store(run: Run) -> AccessEvent | None:
    """The first store to global memory: a kernel without one does something else than to compute."""
    stores = (event for event in run.execution.events if isinstance(event, AccessEvent))
    return next((e for e in stores if e.operation == "store" and e.target.space == "global"), None)


def _bits(execution: Execution) -> int | None:
    """The leaves on which depends what its threads do; None where that is not known, or where they meet."""
    found = 0
    for event in execution.events:
        own = _of_event(event)
        if own is None:
            return None
        found |= bits_of((*own, *event.context.deciding))
    for step in execution.steps:
        found |= bits_of((*step.conditions, *(loop.condition for loop in step.loops)))
    return found


def _of_event(event: Event) -> Sequence[Node] | None:
    match event:
        case AccessEvent() | LibraryAccess():
            if event.operation == "atomic" or (event.operation == "store" and event.values is None):
                return None
            return event.offset, *(event.values or ())
        case BarrierEvent():
            is_met = event.scope == "grid" or event.votes or event.collective is not None
            return None if is_met else ()
        case FenceEvent() | EscapeEvent():
            return None
        case LocalIndexEvent():
            return (event.index,)
        case BranchEvent():
            return (event.condition,)
        case _:
            return ()
