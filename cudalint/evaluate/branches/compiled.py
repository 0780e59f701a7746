"""What the compiler makes of a branch: a jump, predicated instructions, or the end of the program.

The limits were read from what `nvcc -O3` (13.0, sm_90) made of 400 conditions in 52 public programs: 40 of the 42 that
guard the rest of a kernel became `@P EXIT`, five in six of the bodies up to the limit no jump, most longer ones a jump.
"""

from __future__ import annotations

from itertools import chain

from cudalint.evaluate.branches.work import WorkMeter
from cudalint.facts import Compiled
from cudalint.interpreter.device.events import BranchEvent

LOOPS = frozenset({"for", "while", "do"})
PREDICATED = 9.0
_TWO_SIDED = 11.0
_SHORT_CIRCUIT = 2.0
"""The right side of `&&` and `||`, which as a rule loads."""


def compiled_form(event: BranchEvent, meter: WorkMeter) -> Compiled:
    """The likely form of one branch in machine code."""
    if event.kind in LOOPS or event.kind == "switch":
        return "branch"
    if _ends_the_kernel(event, meter):
        return "exit"
    if any(side.leaves for side in event.sides) and event.context.loops:
        return "branch"
    limit = _TWO_SIDED if len(event.sides) > 1 else _SHORT_CIRCUIT if event.kind == "conditional" else PREDICATED
    if not meter.fits(chain.from_iterable(side.steps for side in event.sides), limit):
        return "branch"
    depth = len(event.context.loops)
    is_flat = all(len(meter.steps[place].loops) <= depth for side in event.sides for place in side.steps)
    return "predicated" if is_flat else "branch"


def _ends_the_kernel(event: BranchEvent, meter: WorkMeter) -> bool:
    """Whether the lanes of one side have nothing left to do: they return, or the other side is all that follows."""
    if event.kind != "if" or event.context.loops or not event.sides:
        return False
    then = event.sides[0]
    if then.leaves and not event.context.frames and meter.fits(then.steps, PREDICATED):
        return True
    return len(event.sides) == 1 and then.steps.stop == len(meter.steps)
