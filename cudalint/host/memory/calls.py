"""Calls: of the runtime and the C library, of functions in sight, and of all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cudalint.host.memory import runtime
from cudalint.host.memory.frames import Frame
from cudalint.host.memory.places import COUNT, Memory, as_pointer, count_of, elements_of, is_vector
from cudalint.host.memory.pointers import Address, Value, joined
from cudalint.host.memory.state import State, either
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.memory.analysis import Analysis

_DEEPEST = 6
"""Calls in one another."""
_ENDING: Final = frozenset({"exit", "abort", "_exit", "_Exit", "quick_exit", "terminate", "__assert_fail"})
_READING: Final = frozenset({
    "size", "data", "begin", "end", "cbegin", "cend", "operator[]", "at", "front", "back", "empty", "capacity",
})  # fmt: skip
"""Methods of a vector that leave it as long as it is."""
_QUIET: Final = frozenset({
    "printf", "fprintf", "puts", "putchar", "fputs", "fflush", "sprintf", "snprintf", "operator<<", "endl", "flush",
    "rand", "srand", "drand48", "time", "clock", "now", "sqrt", "sqrtf", "fabs", "fabsf", "abs", "min", "max", "pow",
    "powf", "exp", "log", "sin", "cos", "ceil", "floor", "atoi", "atof", "strcmp", "gettimeofday",
})  # fmt: skip
"""Functions of libraries that neither wait for the device nor keep what they are given."""


def call(an: Analysis, expr: ir.Call) -> Value:
    """What a call gives, and what it does."""
    ref = expr.function
    if ref is None or not ref.is_user:
        handler = runtime.FUNCTIONS.get(expr.name) if expr.receiver is None else None
        if handler is not None:
            found: Value = handler(an, expr)
            return found
        if expr.receiver is not None and is_vector(ir.referent(expr.receiver.type)):
            return _of_vector(an, expr)
    if expr.name in _ENDING or (ref is not None and ref.never_returns()):
        for argument in expr.arguments:
            an.value(argument)
        an.state = State(dead=True)
        return None
    if ref is not None and ref.is_user and ref.kind == "host" and not expr.is_virtual:
        body = ref.load()
        is_deep = len(an.frames) >= _DEEPEST or any(frame.function is body for frame in an.frames)
        if body is not None and not is_deep and not body.is_template_pattern:
            return _inlined(an, expr, body)
    return _unknown(an, expr)


def constructed(an: Analysis, expr: ir.Construct) -> Value:
    """An object is made, which may keep what it is given."""
    for argument in expr.arguments:
        found = an.value(argument)
        if isinstance(found, Address):
            an.state.forget(found.key)
        elif expr.constructor is not None and expr.constructor.is_user:
            _handed_on(an, found)
    return None


def _inlined(an: Analysis, expr: ir.Call, function: ir.Function) -> Value:
    this: Value = None
    if expr.receiver is not None:
        is_pointer = isinstance(expr.receiver.type, ir.PointerType) and not expr.receiver.type.reference
        where = None if is_pointer else an.place(expr.receiver)
        this = an.value(expr.receiver) if is_pointer else Address(where) if isinstance(where, tuple) else None
    given: list[tuple[ir.Symbol, Value]] = []
    for position, argument in enumerate(expr.arguments):
        symbol = function.parameters[position] if position < len(function.parameters) else None
        if symbol is not None and ir.is_reference(symbol.type):
            where = an.place(argument)
            refers: Value = Address(where) if isinstance(where, tuple) else None
            given.append((symbol, where.pointer if isinstance(where, Memory) else refers))
        else:
            found = an.value(argument)
            if symbol is not None:
                is_part = isinstance(symbol.type, (ir.RecordType, ir.OpaqueType))
                given.append((symbol, None if is_part else found))
    if an.state.dead:
        return None
    for symbol in function.parameters[len(expr.arguments) :]:
        an.state.forget((symbol,))
    for symbol, found in given:
        an.state.set((symbol,), found)
    if function.this is not None:
        an.state.set((function.this,), this)
    frame = Frame(function)
    an.frames.append(frame)
    an.execute(function.body)
    an.frames.pop()
    results = [found for state, found in frame.returns if not state.dead]
    reaches_end = not an.state.dead
    an.state = either((an.state, *(state for state, _ in frame.returns)))
    if reaches_end or not results:
        return None
    result = results[0]
    for other in results[1:]:
        result = joined(result, other)
    return result


def _of_vector(an: Analysis, expr: ir.Call) -> Value:
    receiver = expr.receiver
    assert receiver is not None
    if expr.name == "operator[]" or expr.name in ("at", "front", "back"):
        return an.read(an.place(expr), expr)
    given = [an.value(argument) for argument in expr.arguments]
    where = an.place(receiver)
    if expr.name == "data":
        return elements_of(an, receiver)
    if not isinstance(where, tuple):
        return None
    if expr.name == "size":
        return count_of(an, where)
    if expr.name not in _READING:
        an.state.forget(where)
        if expr.name == "resize" and given and given[0] is not None:
            an.state.set((*where, COUNT), given[0])
    return None


def _unknown(an: Analysis, expr: ir.Call) -> Value:
    """A function that is not in sight: what it can reach may change, be waited for, or be pinned."""
    is_user = expr.function is None or expr.function.is_user
    if expr.callee is not None:
        an.value(expr.callee)
    if expr.receiver is not None:
        where = an.place(expr.receiver)
        if isinstance(where, tuple) and expr.name != "operator<<":
            an.state.forget(where)
    outputs = expr.function.outputs() if expr.function is not None else frozenset()
    for position, argument in enumerate(expr.arguments):
        if position in outputs:
            where = an.place(argument)
            if isinstance(where, tuple):
                an.state.forget(where)
            continue
        found = an.value(argument)
        if isinstance(found, Address):
            an.state.forget(found.key)
        if is_user:
            _handed_on(an, found)
    if expr.name not in _QUIET:
        an.state.pending = ()
        if is_user:
            an.state.forget_outside()
    type_ = expr.type
    is_number = isinstance(type_, ir.Scalar) and type_.kind in ("int", "uint")
    return an.numbers.fresh(f"{expr.name}()") if is_number else None


def _handed_on(an: Analysis, found: Value) -> None:
    pointer = as_pointer(an, found)
    if pointer is not None:
        an.handed_on |= pointer.targets

