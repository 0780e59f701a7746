"""Loads on both sides of `c ? a : b` that the compiler makes one of, at the address that it selects.

Read from what nvcc 13.0 makes of some thirty kernels (PTX for sm_80 and sm_90, -O3): where both sides do the same with
what they load (`c ? s[i - 1] : s[i + 1]`, `c ? 2 * s[i] : 2 * s[j]`), the loads become one behind the branch, of which
only the choice of the address is left. Sides that load other types, from another space, or do something else with it
(`c ? s[i] : -s[j]`) stay apart. So do records (`c ? v[i] : v[j]` of `float4`), unless nothing is done but to copy them,
outside of any branch; that exception is not made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudalint.interpreter.device.events import AccessEvent, BranchEvent, Event, SelectionEvent
from cudalint.ir import nodes as ir
from cudalint.ir.walk import walk

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

_Slots = list[tuple[AccessEvent, ...]]
"""What a side loads, in order: each load, or those of which one was made already."""
_KEPT = frozenset({"-", "+", "~", "!"})


def note_selection(ex: Executor, expr: ir.Conditional, start: int, middle: int) -> None:
    """Leaves an event where both sides of a conditional expression load alike. The events of its sides begin at `start`
    and at `middle`."""
    events = ex.memory.events
    if start == middle or middle == len(events) or not _are_alike(expr.then, expr.otherwise):
        return
    then, otherwise = _slots(events[start:middle]), _slots(events[middle:])
    if then and otherwise and len(then) == len(otherwise):
        pairs = zip(then, otherwise, strict=True)
        events.append(SelectionEvent(ex.context(expr.span), tuple((*a, *b) for a, b in pairs)))


def _slots(events: Sequence[Event]) -> _Slots | None:
    """None where a side does more than to load."""
    slots: _Slots = []
    for event in events:
        if isinstance(event, SelectionEvent):
            selected = {id(load) for slot in event.slots for load in slot}
            slots = [slot for slot in slots if id(slot[0]) not in selected]
            slots += event.slots
        elif isinstance(event, AccessEvent) and event.operation == "load":
            slots.append((event,))
        elif not (isinstance(event, BranchEvent) and event.kind == "conditional"):
            return None
    return slots


def _are_alike(one: ir.Expr, other: ir.Expr) -> bool:
    """Whether the same is done with what two expressions load."""
    a, b = _without_choices(one), _without_choices(other)
    if a is None or b is None:
        return False
    if _is_load(a) or _is_load(b):
        return _is_load(a) and _is_load(b) and a.type == b.type and not isinstance(a.type, ir.RecordType)
    if isinstance(a, ir.Cast) and isinstance(b, ir.Cast):
        return a.type == b.type and a.operand.type == b.operand.type and _are_alike(a.operand, b.operand)
    if isinstance(a, ir.Unary) and isinstance(b, ir.Unary):
        return a.op == b.op and a.op in _KEPT and _are_alike(a.operand, b.operand)
    if isinstance(a, ir.Binary) and isinstance(b, ir.Binary) and a.op == b.op and a.op not in ("&&", "||"):
        return _are_alike(a.left, b.left) and _are_alike(a.right, b.right)
    return _is_at_hand(a) and _is_at_hand(b)


def _without_choices(expr: ir.Expr) -> ir.Expr | None:
    """One side of a choice whose sides are alike stands for both; None where they are not."""
    while isinstance(expr, ir.Conditional):
        if not _are_alike(expr.then, expr.otherwise):
            return None
        expr = expr.then
    return expr


def _is_load(expr: ir.Expr) -> bool:
    while isinstance(expr, ir.Member) and not expr.arrow:
        expr = expr.base
    return isinstance(expr, (ir.Index, ir.Member)) or (isinstance(expr, ir.Unary) and expr.op == "*")


def _is_at_hand(expr: ir.Expr) -> bool:
    """Whether nothing is loaded for it and nothing called."""
    return not any(isinstance(node, (ir.Call, ir.Construct)) or _is_load(node) for node in walk(expr))
