"""Functions of host code that say by their result whether something is wrong, as the checks of logging libraries do:
`if (auto why = differ(n % 4, 0)) Fatal() << *why;`."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.host.executor.values import (
    PLACES,
    Allocation,
    Choice,
    Place,
    Pointer,
    RecordValue,
    Text,
    Value,
    join,
)
from cudalint.host.values.arithmetic import BOOL
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir

_MOST_RETURNS = 4
Results = Sequence[tuple[Node, Value | Place | None]]
"""What a function returns, each with the condition under which it does."""


def outcome(graph: Graph, results: Results, usual: Value | Place) -> Value | Place | None:
    """The result of a function that tells by it whether something is wrong: a null pointer or a message, or one of
    these or a flag in a structure, whose other parts are the `usual` ones. None for functions that do nothing of the
    kind."""
    conditions = [condition for condition, _ in results[:-1]]
    if not 2 <= len(results) <= _MOST_RETURNS or any(each.bits & ~graph.uniform_bits for each in conditions):
        return None
    *earlier, (_, result) = results
    for condition, other in reversed(earlier):
        result = _verdict(graph, condition, other, result)
        if result is None:
            return None
    return None if result is None else _beside(result, usual)


def is_refusal(value: object) -> bool:
    """Whether a result says that there is none: a structure of sizes of which one is negative."""
    if not isinstance(value, RecordValue):
        return False
    numbers = (part for part in value.fields.values() if isinstance(part, Node) and part.is_const)
    return any(number.value < 0 for number in numbers)


def _verdict(graph: Graph, condition: Node, a: Value | Place | None, b: Value | Place | None) -> Value | None:
    """What says whether something is wrong, of two results of which the condition chooses the first; None where nothing
    does."""
    if a is None or b is None or isinstance(a, PLACES) or isinstance(b, PLACES) or a is b:
        return None
    if isinstance(a, RecordValue) and isinstance(b, RecordValue):
        parts = {name: _verdict(graph, condition, a.fields.get(name), part) for name, part in b.fields.items()}
        found = {name: part for name, part in parts.items() if part is not None}
        return RecordValue(b.type, found) if found else None
    if isinstance(a, Node) and isinstance(b, Node):
        return graph.select(condition, a, b) if _is_flag(a) and _is_flag(b) else None
    is_verdict = (_is_null(a) or _is_null(b)) and _is_null_or_message(a) and _is_null_or_message(b)
    return join(graph, condition, a, b) if is_verdict else None


def _is_flag(node: Node) -> bool:
    return node.kind == BOOL and (node.is_const or node.op in ("select", "!"))


def _is_null(value: Value) -> bool:
    return isinstance(value, Pointer) and isinstance(value.target, Allocation) and value.target.is_null


def _is_null_or_message(value: Value) -> bool:
    """Whether a pointer leads to no numbers: where arrays are, null says that there was no room for one."""
    if isinstance(value, Choice):
        return _is_null_or_message(value.a) and _is_null_or_message(value.b)
    if isinstance(value, Text) or _is_null(value):
        return True
    pointee = value.pointee if isinstance(value, Pointer) else None
    is_letter = isinstance(pointee, ir.Scalar) and pointee.bytes == 1
    return is_letter or isinstance(pointee, (ir.RecordType, ir.OpaqueType))


def _beside(verdict: Value | Place, usual: Value | Place) -> Value | Place:
    """A verdict with the other parts of a structure."""
    if not isinstance(verdict, RecordValue) or not isinstance(usual, RecordValue):
        return verdict
    fields = dict(usual.fields)
    for name, part in verdict.fields.items():
        value = _beside(part, fields[name]) if name in fields else part
        assert not isinstance(value, PLACES)
        fields[name] = value
    return RecordValue(usual.type, fields)
