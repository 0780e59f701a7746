"""The functions of CUDA and its C library: what a call of one does, by its effect in `ir/builtins.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cudalint.execute.expressions import INT, combine
from cudalint.execute.memory import as_type, uninitialised
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import UNKNOWN, Data, Pointer, Value
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import BUILTINS, Builtin

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine

Handler = Callable[[Program, ir.Call, Builtin], Evaluate]


def effect_of(program: Program, e: ir.Call) -> Evaluate | None:
    """What a call of a function of the library does; None for one that is called like any other."""
    builtin = BUILTINS.get(e.name)
    if builtin is None or (e.function is not None and e.function.is_user):
        return None
    handler = _HANDLERS.get(builtin.effect)
    if handler is not None:
        return handler(program, e, builtin)
    if e.function is not None and e.function.load() is not None:
        return None
    return _unknown(program, e, builtin)


def _unknown(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """Of a function whose value nobody follows, the arguments are evaluated."""
    arguments = [program.value(argument) for argument in e.arguments]

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        return uninitialised(e.type) if isinstance(e.type, ir.RecordType) else UNKNOWN

    return call


def _barrier(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    arguments = [program.value(argument) for argument in e.arguments]

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        m.barrier(e, "syncthreads")
        return UNKNOWN

    return call


def _warp_barrier(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    named = program.value(e.arguments[0]) if e.arguments else None

    def call(m: Machine) -> Value:
        m.barrier(e, "syncwarp", named(m) if named is not None else None)
        return UNKNOWN

    return call


def _memory(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__ldg` and the like, `__stcs` and the like, and atomics."""
    pointer, *others = [program.value(argument) for argument in e.arguments]
    type_ = ir.pointee(ir.referent(e.arguments[0].type))
    effect = builtin.effect

    def call(m: Machine) -> Value:
        at, values = pointer(m), [other(m) for other in others]
        if type(at) is not Pointer:
            return UNKNOWN
        if effect == "load":
            return m.memory.load(at.allocation, at.offset, type_, e)
        if effect == "store":
            m.memory.store(at.allocation, at.offset, values[0] if values else UNKNOWN, type_, e)
        elif at.allocation.space == "local":
            m.memory.store(at.allocation, at.offset, UNKNOWN, type_, e)
        else:
            m.access(at.allocation, at.offset, type_, "atomic", e, values[0] if values else None)
        return UNKNOWN

    return call


def _extremum(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    arguments = [program.value(argument) for argument in e.arguments]
    type_, is_least = ir.referent(e.type), "min" in e.name

    def call(m: Machine) -> Value:
        found = [as_type(argument(m), type_) for argument in arguments]
        if len(found) != 2 or not isinstance(type_, ir.Scalar) or any(_is_no_number(value) for value in found):
            return UNKNOWN
        m.watch("min" if is_least else "max", found[0], found[1])
        if np.ndarray in map(type, found):
            return (np.minimum if is_least else np.maximum)(*found)
        return min(found) if is_least else max(found)

    return call


def _absolute(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    argument, type_ = program.value(e.arguments[0]), ir.referent(e.type)

    def call(m: Machine) -> Value:
        value = argument(m)
        if _is_no_number(value):
            return UNKNOWN
        m.watch("<", value, 0)
        return as_type(abs(value), type_)

    return call


def _first_argument(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    return program.value(e.arguments[0])


def _operator(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    left, right = (program.value(argument) for argument in e.arguments[:2])
    type_ = ir.referent(e.type)
    return lambda m: combine(m, builtin.operand, left(m), right(m), type_, type_)


def _fused(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    factor, other, added = (program.value(argument) for argument in e.arguments[:3])
    type_ = ir.referent(e.type)

    def call(m: Machine) -> Value:
        product = combine(m, "*", factor(m), other(m), type_, type_)
        return combine(m, "+", product, added(m), type_, type_)

    return call


def _bits(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    argument = program.value(e.arguments[0])
    width = 64 if e.name.endswith("ll") else 32
    count = {"ones": _ones, "leading-zeros": _leading_zeros, "first-set": _first_set}.get(builtin.operand)

    def call(m: Machine) -> Value:
        value = argument(m)
        if count is None or _is_no_number(value):
            return UNKNOWN
        m.watch("same", value, 0)
        if type(value) is not np.ndarray:
            return count(int(value) & ((1 << width) - 1), width)
        low = value.astype(np.uint64) & np.uint64((1 << width) - 1)
        return np.vectorize(lambda each: count(int(each), width), otypes=[np.int32])(low)

    return call


def _ones(value: int, width: int) -> int:
    return value.bit_count()


def _leading_zeros(value: int, width: int) -> int:
    return width - value.bit_length()


def _first_set(value: int, width: int) -> int:
    return (value & -value).bit_length()


def _end(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__trap`, `exit` and what never returns."""

    def call(m: Machine) -> Value:
        if m.data == 0 and m.mask is not None:
            m.ended = m.mask if m.ended is None else m.ended | m.mask
            m.mask = None
        return UNKNOWN

    return call


def _is_no_number(value: Value) -> bool:
    return isinstance(value, Data) or type(value) not in (int, bool, float, np.ndarray)


_HANDLERS: dict[str, Handler] = {
    "barrier": _barrier,
    "warp-barrier": _warp_barrier,
    "load": _memory,
    "store": _memory,
    "atomic": _memory,
    "extremum": _extremum,
    "absolute": _absolute,
    "first-argument": _first_argument,
    "assumed-alignment": _first_argument,
    "stride": _first_argument,
    "operator": _operator,
    "fused": _fused,
    "bits": _bits,
    "end": _end,
}
__all__ = ["INT", "effect_of"]
