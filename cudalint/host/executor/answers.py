"""What an object says of itself through methods whose bodies are out of sight: the same question has one answer.

`check(x.stride(0) % 8 == 0); kernel<<<...>>>(x.stride(0));` is about one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.heuristics import heuristic
from cudalint.host.executor import calls, expressions
from cudalint.host.executor.values import (
    Allocation,
    ArrayValue,
    LocalPlace,
    MemoryPlace,
    Place,
    RecordValue,
    TemporaryPlace,
    Value,
)
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_Key = tuple[object, ...]


class Answers:
    """The answers of objects so far."""

    def __init__(self, ex: Execution) -> None:
        self._ex = ex
        self._known: dict[_Key, tuple[Value, object]] = {}
        """Each with the object that was asked, which is not made once more in its place as long as it is kept."""

    @heuristic("equal-answers", "checks of tensors: the same question has one answer").otherwise(None)
    def of(self, call: ir.Call) -> Value | None:
        """What an unseen method gives; None for what is no method. One that may change its object makes it another."""
        ref, receiver = call.function, call.receiver
        if ref is None or receiver is None:
            return None
        where = expressions.place(self._ex, receiver)
        if not ref.is_const():
            found = calls.unknown_call(self._ex, call, calls.Operands(where))
            self._renew(where, receiver.span)
            return found
        asked = self._object(where, receiver.span)
        arguments = [expressions.evaluate(self._ex, argument) for argument in call.arguments]
        given = calls.Operands(where, arguments)
        if asked is None or not all(isinstance(argument, Node) for argument in arguments):
            return calls.unknown_call(self._ex, call, given)
        kept, identity = asked
        key = (ref.key, identity, *arguments)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = calls.unknown_call(self._ex, call, given), kept
        return known[0]

    def _object(self, where: Place, span: ir.Span) -> tuple[object, _Key] | None:
        """What tells an object in one state from others, behind what has to live on for that."""
        if isinstance(where, MemoryPlace):
            target = where.pointer.target
            key = ("memory", id(target), where.pointer.offset, tuple(self._ex.iterations))
            return (target, key) if isinstance(target, Allocation) else None
        value = where.value if isinstance(where, TemporaryPlace) else expressions.read(self._ex, where, span)
        return (value, ("value", id(value))) if isinstance(value, (RecordValue, ArrayValue)) else None

    def _renew(self, where: Place, span: ir.Span) -> None:
        if isinstance(where, LocalPlace):
            value = expressions.read(self._ex, where, span)
            if isinstance(value, RecordValue):
                expressions.write(self._ex, where, RecordValue(value.type, dict(value.fields)))
