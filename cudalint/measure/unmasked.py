"""Warp functions of old, without a mask of the lanes that take part: `__shfl`, `__any`."""

from __future__ import annotations

from typing import Any

from cudalint.execute.trace import Stack
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import builtin
from cudalint.ir.walk import nodes_in

_EFFECTS = ("shuffle", "unmasked-vote")


def unmasked_calls(function: ir.Function) -> list[tuple[Any, Stack]]:
    """Those of a kernel and of what it calls, each once, with the calls that lead there."""
    found: list[tuple[Any, Stack]] = []
    seen = {id(function)}
    pending: list[tuple[ir.Function, Stack]] = [(function, ())]
    while pending:
        current, stack = pending.pop()
        for node in nodes_in(current):
            if not isinstance(node, (ir.Call, ir.Construct)):
                continue
            reference = node.function if isinstance(node, ir.Call) else node.constructor
            body = reference.load() if reference is not None else None
            if body is None and isinstance(node, ir.Call) and builtin(node.name).effect in _EFFECTS:
                found.append((node, stack))
            elif body is not None and id(body) not in seen and reference is not None and reference.is_user:
                seen.add(id(body))
                pending.append((body, (node, *stack)))
    return found
