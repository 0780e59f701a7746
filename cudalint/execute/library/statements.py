"""What a program states about itself, and what ends it.

A statement about arguments and sizes is for those who choose worlds; one about the thread narrows which threads go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cudalint.execute.library.common import Handler, arguments_of
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import UNKNOWN, Data, Pointer, Value, truth
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import Builtin

if TYPE_CHECKING:
    from cudalint.execute.lanes import Mask
    from cudalint.execute.machine import Machine


def _end(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__trap`, a failed `assert`, and what never returns."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        if m.mask is not None:
            end(m, m.mask)
        return UNKNOWN

    return call


def end(m: Machine, leaving: Mask) -> None:
    """Some of the active lanes are done with the kernel; under a condition that data decides, none surely is."""
    if m.data:
        return
    mask = m.mask
    m.ended = leaving if m.ended is None else m.ended | leaving
    left = mask & ~leaving if mask is not None else None
    m.mask = left if left is not None and left.any() else None


def _assumed(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """Lanes for which it doesn't hold don't come here, and worlds in which it doesn't are none, unless there would be
    no world left. Looking at memory in it is no access of the kernel."""
    condition = program.value(e.arguments[0]) if e.arguments else None

    def call(m: Machine) -> Value:
        if condition is None or m.mask is None:
            return UNKNOWN
        noted = len(m.trace.accesses)
        holds = truth(condition(m))
        del m.trace.accesses[noted:]
        if type(holds) is np.ndarray:
            within, without = m.split(holds)
            if without is not None and (within is not None or holds.shape[1] > 1):
                end(m, without)
        return UNKNOWN

    return call


def _stated(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """A statement that is checked elsewhere and says nothing about values."""
    return lambda m: 1


def _implies(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    premise, conclusion = (program.value(argument) for argument in e.arguments[:2])

    def call(m: Machine) -> Value:
        first, second = truth(premise(m)), truth(conclusion(m))
        if isinstance(first, Data) or isinstance(second, Data):
            return first if isinstance(first, Data) else second
        return np.logical_or(np.logical_not(first), second) if np.ndarray in (type(first), type(second)) else (
            not first or second
        )

    return call


def _first_argument(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """Functions that hand their argument through: conversions between address spaces, `__builtin_expect`."""
    if e.name != "addressof":
        return program.value(e.arguments[0])
    place = program.place(e.arguments[0])

    def address(m: Machine) -> Value:
        allocation, offset, type_ = place(m)
        return Pointer(allocation, offset, type_) if allocation.space != "nowhere" else UNKNOWN

    return address


def _aligned(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__builtin_assume_aligned(pointer, n)`: the offset is rounded down to what the program promises that it is."""
    pointer, *others = arguments_of(program, e)

    def call(m: Machine) -> Value:
        at, promised = pointer(m), [other(m) for other in others]
        if type(at) is not Pointer or isinstance(at.offset, Data) or len(promised) != 1 or type(promised[0]) is not int:
            return at
        width = promised[0]
        if width <= 0 or width & (width - 1):
            return at
        return Pointer(at.allocation, at.offset & -width, at.pointee)

    return call


def _nothing(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        return UNKNOWN

    return call


HANDLERS: Mapping[str, Handler] = {
    "end": _end, "refuted": _end, "assumed": _assumed, "stated": _stated, "uniform": _stated, "implies": _implies,
    "first-argument": _first_argument, "assumed-alignment": _aligned, "stride": _first_argument, "nothing": _nothing,
}  # fmt: skip
