"""Whether all that a kernel does is known: its accesses, its barriers and arithmetic, and nothing besides.

What else a barrier orders is not followed: reads and writes of surfaces, fetches of textures whose memory a store may
change, output, memory that is allocated, and whatever a function does of which nothing is known.
"""

from __future__ import annotations

import os

from cudalint.evaluate.requests.execution import Execution
from cudalint.interpreter.device.events import AccessEvent
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import OF_NUMBERS, builtin
from cudalint.ir.walk import nodes_in

_UNFOLLOWED = (ir.Asm, ir.New, ir.Launch, ir.UnknownExpr, ir.UnknownStmt)


def has_other_effects(execution: Execution) -> bool:
    """Whether a kernel does something that its events don't tell, or that others than its block take notice of."""
    return any(_is_seen_outside(event, execution) for event in execution.events if isinstance(event, AccessEvent)) or (
        _does_more(execution.function)
    )


def _is_seen_outside(event: AccessEvent, execution: Execution) -> bool:
    """Whether other blocks, or the host, may wait for an access: by an atomic blocks talk to each other, and by what is
    volatile."""
    is_for_all = event.operation == "atomic" and event.target.space != "shared"
    return is_for_all or event.is_verbatim or event.context.span in execution.function.volatile


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
            callee = node.function if isinstance(node, ir.Call) else node.constructor
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
    callee = node.function if isinstance(node, ir.Call) else node.constructor
    if callee is None:
        return isinstance(node, ir.Construct) or builtin(node.name).is_followed
    if callee.is_user:
        return False
    known = builtin(callee.name)
    return known.is_followed or (not known.effect and os.path.basename(callee.span.path) in OF_NUMBERS)
