"""Functions that read and write memory: loads and stores with a hint, atomics, `memcpy`, `memset`, random numbers.

Source: CUDA C++ Programming Guide, "Atomic Functions", "Load Functions Using Cache Hints".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cudalint.execute.cells import copied
from cudalint.execute.drawn import loaded_number
from cudalint.execute.library.common import Handler, arguments_of, is_number, opaque
from cudalint.execute.memory import Allocation, as_type, plain, plus
from cudalint.execute.operators import combine
from cudalint.execute.program import Evaluate, Program
from cudalint.execute.values import ATOMIC, COMPUTED, LOADED, UNKNOWN, Data, Pointer, Value, is_common
from cudalint.facts import Operation
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import Builtin

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine
    from cudalint.execute.trace import AccessEvent

_MOST_PIECES: Final = 64
"""Accesses that a copy of bytes is taken for; of longer ones only the beginning is."""
_WIDTHS: Final = (16, 8, 4, 2, 1)


def _pointee(argument: ir.Expr) -> ir.Type:
    return ir.pointee(ir.referent(argument.type))


def _load(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    pointer, type_ = program.value(e.arguments[0]), _pointee(e.arguments[0])

    def call(m: Machine) -> Value:
        at = pointer(m)
        return m.memory.load(at.allocation, at.offset, type_, e) if type(at) is Pointer else opaque(type_, LOADED)

    return call


def _store(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    pointer, value = (program.value(argument) for argument in e.arguments[:2])
    type_ = _pointee(e.arguments[0])

    def call(m: Machine) -> Value:
        at, new = pointer(m), value(m)
        if type(at) is Pointer:
            m.memory.store(at.allocation, at.offset, as_type(new, type_), type_, e)
        return UNKNOWN

    return call


# --- atomics ---------------------------------------------------------------------------------------------------

_OPERATORS: Final[Mapping[str, str]] = {
    "Add": "+", "Sub": "-", "And": "&", "Or": "|", "Xor": "^", "add": "+", "sub": "-", "and": "&", "or": "|",
    "xor": "^",
}  # fmt: skip


def _atomic(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """What was there before: the operations of the lanes come one after the other, in an order that nobody knows."""
    pointer, *others = arguments_of(program, e)
    type_ = _pointee(e.arguments[0])
    name = e.name.removesuffix("_block").removesuffix("_system")
    for prefix in ("__nv_atomic_", "fetch_", "gpuAtomic", "atomic"):
        name = name.removeprefix(prefix)
    operation, is_named = name, e.name.endswith("_block")
    is_scoped = e.name.startswith("__nv_atomic_")
    pointed = walk.without_casts(e.arguments[0])
    element = pointed.operand if isinstance(pointed, ir.Unary) and pointed.op == "&" else None

    def call(m: Machine) -> Value:
        at, values = pointer(m), [other(m) for other in others]
        if type(at) is not Pointer:
            return opaque(ir.referent(e.type), ATOMIC)
        if at.allocation.space == "local":
            return _on_local(m, at, operation, values, type_, e)
        before = len(m.trace.accesses)
        if element in m.subscripts:
            # It is the call that touches what the address names.
            m.subscripts[e] = m.subscripts[element]
        m.access(at.allocation, at.offset, type_, "atomic", e, values[0] if values else None)
        if is_named or (is_scoped and type(values[-1]) is int and values[-1] <= _SCOPE_BLOCK):
            m.trace.accesses[before:] = [each._replace(is_of_block=True) for each in m.trace.accesses[before:]]
        if operation in ("Add", "add") and values and len(m.trace.accesses) > before:
            counted = _counted(m, m.trace.accesses[-1], values[0], type_)
            if counted is not None:
                return counted
        return opaque(ir.referent(e.type), ATOMIC)

    return call


def _counted(m: Machine, made: AccessEvent, amount: Value, type_: ir.Type) -> Value | None:
    """What lanes of a warp find that add one amount to one counter: the numbers that follow one another from a start
    that nobody knows, in the order of the lanes, as hardware does it."""
    mask: Any = m.mask
    is_whole = isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint")
    if not is_whole or not is_common(made.offset) or type(amount) is not int:
        return None
    start = loaded_number(made.allocation.name, made.offset, type_, made, True)
    by_warp = mask.reshape(len(mask), -1, WARP_LANES)
    before = (np.cumsum(by_warp, axis=2) - by_warp).reshape(mask.shape)
    steps = np.where(mask, before * amount, 0)
    return combine(m, "+", start, steps, type_, type_) if steps.any() else start


_SCOPE_BLOCK: Final = 1
"""__NV_THREAD_SCOPE_BLOCK, the last argument; a thread's own scope is 0."""


def _on_local(m: Machine, at: Pointer, operation: str, values: list[Value], type_: ir.Type, e: ir.Call) -> Value:
    """On a thread's own variable an atomic is an operation like any other."""
    old = m.memory.load(at.allocation, at.offset, type_, e)
    new: Value = UNKNOWN
    if operation in _OPERATORS and values:
        new = combine(m, _OPERATORS[operation], old, as_type(values[0], type_), type_, type_)
    elif operation in ("Exch", "exchange", "exchange_n", "store_n") and values:
        new = as_type(values[0], type_)
    elif operation in ("load", "load_n"):
        return old
    m.memory.store(at.allocation, at.offset, new, type_, e)
    return old


def _nv_atomic(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """An atomic that may have an argument for where its result goes; the address comes first, order and scope last.
    Those of a warp that only look in one place find one number there."""
    atomic, is_load = _atomic(program, e, builtin), "_load" in e.name
    results = [
        (program.value(argument), _pointee(argument))
        for argument in e.arguments[1:]
        if isinstance(argument.type, ir.PointerType) and not argument.type.reference
    ]

    def call(m: Machine) -> Value:
        before = len(m.trace.accesses)
        found = atomic(m)
        made = m.trace.accesses[-1] if is_load and len(m.trace.accesses) > before else None
        if made is not None and not is_common(made.offset):
            made = None

        def result_of(type_: ir.Type) -> Value:
            if made is None:
                return opaque(type_, ATOMIC)
            return loaded_number(made.allocation.name, made.offset, type_, made, True)

        for result, type_ in results:
            at = result(m)
            if type(at) is Pointer and at.allocation.space == "local":
                m.memory.store(at.allocation, at.offset, result_of(type_), type_, e)
        return found if made is None else result_of(ir.referent(e.type))

    return call


# --- bytes -----------------------------------------------------------------------------------------------------


def piece(type_: ir.Type, size: int) -> int:
    """The widest access by which bytes are copied that are aligned as a type is."""
    width = type_.align if isinstance(type_, ir.RecordType) else type_.bytes
    return next(each for each in _WIDTHS if size % each == 0 and (width % each == 0 if width else each == 1))


def bare_type(argument: ir.Expr) -> ir.Type:
    """What a pointer leads to, before it turned into a `void*`."""
    type_ = walk.without_casts(argument).type
    if isinstance(type_, ir.ArrayType):
        return type_.element
    found = ir.pointee(ir.referent(type_))
    return found.element if isinstance(found, ir.ArrayType) else found


def touch(m: Machine, at: Value, size: Value, type_: ir.Type, operation: Operation, e: ir.Call) -> None:
    """The accesses that a copy of bytes comes to; one of a size that is not known, or not the same for all lanes, to
    the first."""
    if type(at) is not Pointer or at.allocation.space == "local" or m.mask is None or at.allocation.is_null:
        return
    width = piece(type_, size) if type(size) is int else piece(type_, type_.bytes or 1)
    number = min(size // width, _MOST_PIECES) if type(size) is int else 1
    m.whole = ir.ArrayType(ir.OpaqueType("?", width), None, size if type(size) is int else width)
    for place in range(number):
        m.access(at.allocation, plus(at.offset, place * width), ir.OpaqueType("?", width), operation, e)
    m.whole = None


def _copy(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`memcpy(target, source, bytes)`."""
    target, source, size = (program.value(argument) for argument in e.arguments[:3])
    types = bare_type(e.arguments[0]), bare_type(e.arguments[1])
    narrower = min(types, key=lambda type_: piece(type_, 16))

    def call(m: Machine) -> Value:
        to, origin, number = target(m), source(m), plain(size(m))
        touch(m, origin, number, narrower, "load", e)
        touch(m, to, number, narrower, "store", e)
        copied(m, to, origin, number)
        return to

    return call


def _copy_range(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`std::copy(first, last, target)`, for pointers."""
    first, last, target = (program.value(argument) for argument in e.arguments[:3])
    type_ = bare_type(e.arguments[0])

    def call(m: Machine) -> Value:
        begin, end, to = first(m), last(m), target(m)
        if type(begin) is not Pointer or type(end) is not Pointer or type(to) is not Pointer:
            return UNKNOWN
        size = plain(plus(end.offset, -begin.offset)) if is_number(begin.offset) else COMPUTED
        if begin.allocation is not end.allocation:
            return UNKNOWN
        touch(m, begin, size, type_, "load", e)
        touch(m, to, size, type_, "store", e)
        copied(m, to, begin, size)
        return Pointer(to.allocation, plus(to.offset, size), to.pointee)

    return call


def _fill(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`memset(target, byte, bytes)`."""
    target, content, size = (program.value(argument) for argument in e.arguments[:3])
    type_ = bare_type(e.arguments[0])

    def call(m: Machine) -> Value:
        to, byte, number = target(m), content(m), plain(size(m))
        touch(m, to, number, type_, "store", e)
        if type(to) is not Pointer or type(plain(to.offset)) is not int:
            return to
        is_plain = type(byte) is int and type(number) is int
        for offset, leaf in m.memory.leaves_within(to, number if type(number) is int else None):
            value = _of_bytes(byte, leaf) if is_plain else UNKNOWN
            m.memory.store(to.allocation, offset, value, leaf, e)
        return to

    return call


def _of_bytes(byte: int, leaf: ir.Type) -> Value:
    """What a variable is of which each byte is the same."""
    if byte and not (isinstance(leaf, ir.Scalar) and leaf.kind in ("int", "uint", "bool")):
        return UNKNOWN
    return as_type(int.from_bytes(bytes([byte & 0xFF]) * leaf.bytes, "little"), leaf)


def _random(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """A generator of curand's: drawn numbers are as good as loaded ones. It advances its state; what else is pointed to
    (direction vectors, a distribution) is only read. Its accesses get no figures."""
    arguments = arguments_of(program, e)
    # `curand_init` takes the state last, all others take it first.
    state = len(arguments) - 1 if e.name == "curand_init" else 0

    def call(m: Machine) -> Value:
        for number, argument in enumerate(arguments):
            at = argument(m)
            if type(at) is not Pointer:
                continue
            if at.allocation.space == "local":
                m.memory.forget(at.allocation)
                continue
            if number != state or e.name != "curand_init":
                m.touch(at, "load", e)
            if number == state and not _is_of_a_block(at, m):
                m.touch(at, "store", e)
        return opaque(ir.referent(e.type), _RANDOM)

    return call


_RANDOM: Final = Data("loaded", "it is a random number")
_MTGP32_THREADS: Final = 256
"""cuRAND Library, Device API, Bit Generation with the MTGP32 generator: at most so many threads draw from one state."""


def _is_of_a_block(at: Pointer, m: Machine) -> bool:
    """Whether a state is made for all threads of a block to draw from."""
    name = at.pointee.name if isinstance(at.pointee, (ir.RecordType, ir.OpaqueType)) else ""
    return "mtgp32" in name.lower() and m.lanes.threads <= _MTGP32_THREADS


def _allocated(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`malloc(bytes)`: memory of the heap is global memory."""
    arguments = arguments_of(program, e)

    def call(m: Machine) -> Value:
        for argument in arguments:
            argument(m)
        return Pointer(Allocation(e.name, "global"), 0, ir.pointee(e.type))

    return call


def _space(program: Program, e: ir.Call, builtin: Builtin) -> Evaluate:
    """`__isShared(pointer)` and the like."""
    pointer = program.value(e.arguments[0])

    def call(m: Machine) -> Value:
        at = pointer(m)
        return int(at.allocation.space == builtin.operand) if type(at) is Pointer else COMPUTED

    return call


HANDLERS: Mapping[str, Handler] = {
    "load": _load, "store": _store, "atomic": _atomic, "nv-atomic": _nv_atomic, "copied-bytes": _copy,
    "copied-range": _copy_range, "filled": _fill, "random": _random, "space": _space,
    "allocated": _allocated,
}  # fmt: skip
