"""Whether all that a kernel does is known: its accesses, its barriers and arithmetic, and nothing besides.

What else a barrier orders is not followed: reads and writes of surfaces, fetches of textures whose memory a store may
change, output, memory that is allocated, and whatever a function does of which nothing is known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from cudalint.ir import nodes as ir
from cudalint.ir.builtins import OF_NUMBERS, builtin
from cudalint.ir.walk import nodes_in
from cudalint.measure.executed import Executed

_UNFOLLOWED = (ir.Asm, ir.New, ir.Launch, ir.UnknownExpr, ir.UnknownStmt)


def has_other_effects(executed: Executed) -> bool:
    """Whether a kernel does something that its events don't tell, or that others than its block take notice of: by an
    atomic blocks talk to each other, and by what is volatile."""
    volatile = executed.function.volatile
    for event in executed.trace.accesses:
        if (event.operation == "atomic" and event.allocation.space != "shared") or event.node.span in volatile:
            return True
    return _does_more(executed.function)


def functions_in(function: ir.Function) -> Iterator[ir.Function]:
    """A kernel and the user's functions that it calls, each once."""
    seen = {id(function)}
    pending = [function]
    while pending:
        current = pending.pop()
        yield current
        for node in nodes_in(current):
            callee = _callee(node)
            body = callee.load() if callee is not None and callee.is_user else None
            if body is not None and id(body) not in seen:
                seen.add(id(body))
                pending.append(body)


def _callee(node: object) -> ir.FunctionRef | None:
    if isinstance(node, ir.Call):
        return node.function
    return node.constructor if isinstance(node, ir.Construct) else None


def _does_more(function: ir.Function) -> bool:
    seen: set[str] = set()
    pending = [function]
    while pending:
        current = pending.pop()
        if current.launches_kernels:
            return True
        for node in nodes_in(current):
            if isinstance(node, _UNFOLLOWED):
                return True
            if not isinstance(node, (ir.Call, ir.Construct)):
                continue
            callee = _callee(node)
            if callee is not None and callee.key in seen:
                continue
            body = None if callee is None or _is_virtual(node) else callee.load()
            if body is not None and callee is not None:
                seen.add(callee.key)
                if callee.is_user or not _is_followed(node):
                    pending.append(body)
            elif not _is_followed(node):
                return True
    return False


def _is_virtual(node: ir.Call | ir.Construct) -> bool:
    return isinstance(node, ir.Call) and node.is_virtual


def _is_followed(node: ir.Call | ir.Construct) -> bool:
    """Whether the function is one of CUDA's of which all is known; what copies a class, where nobody says how, does
    nothing else."""
    callee = _callee(node)
    if callee is None:
        return isinstance(node, ir.Construct) or builtin(node.name).is_followed
    if callee.is_user:
        return False
    known = builtin(callee.name)
    return known.is_followed or (not known.effect and os.path.basename(callee.span.path) in OF_NUMBERS)
