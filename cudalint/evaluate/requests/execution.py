"""One execution of a kernel under one launch: what the facts of every kind are collected from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from cudalint.evaluate.requests.views import LaunchView
from cudalint.facts import LaunchFacts
from cudalint.interpreter.device.events import Computation, Event, Step, UnseenCall
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.processes.deadline import NEVER, Deadline
from cudalint.values.nodes import Node


class Execution(Struct, frozen=True, eq=False):
    function: ir.Function
    launch: LaunchFacts
    view: LaunchView
    """Evaluates nodes under this launch; `view.index` is the launch's place among the kernel's launches."""
    events: Sequence[Event]
    """Accesses, barriers and branches in the order in which the program comes to them."""
    steps: Sequence[Step]
    """All code that was executed, in the same order."""
    complete: bool
    """False where the execution was given up: there may be events that are not listed."""
    variables: Mapping[ir.Symbol, Allocation]
    """The shared, constant and device variables that it met."""
    alive: tuple[Node, ...] = ()
    """The conditions under which a thread gets to the end of the kernel: it has not returned before."""
    deadline: Deadline = NEVER
    """What of it has not been evaluated by then is listed."""
    dynamic_shared: int | None = None
    """Bytes of dynamic shared memory, where a launch in sight gives a number."""
    capability: tuple[int, int] = (8, 0)
    """The compute capability of the GPU that it is compiled for."""
    unseen: tuple[UnseenCall, ...] = ()
    """Functions of the user's that it calls and that are not understood: there may be barriers in them."""
    computations: Sequence[Computation] = ()
    """Its operations, where costs are asked for."""
