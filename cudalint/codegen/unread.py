"""Shared variables that a kernel stores to and never reads: the compiler drops them with all that is stored there.

Read from the machine code of twelve kernels (nvcc 13.0, sm_86 and sm_90): plain stores to a static shared variable that
nobody reads are gone, in loops and before barriers too. They stay if any part of the variable is read (another field,
another row), if an atomic changes it, whose result may be unused, or if it is `volatile` or dynamic. Where the kernel
does nothing else, its loads are gone as well, and what is left is an exit.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache

from msgspec.structs import replace

from cudalint.codegen.indices import code_of
from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, EscapeEvent, LibraryAccess
from cudalint.ir import nodes as ir
from cudalint.ir import walk

_BARRIER = "__syncthreads"


@heuristic("unread-variables", "SASS of twelve kernels: what nobody reads is not stored").otherwise(frozenset())
@lru_cache(maxsize=1)
def unread(execution: Execution) -> frozenset[ir.Symbol]:
    """The shared variables that the compiler drops. Those whose address goes anywhere are none of them: to a function,
    inline PTX, or another variable."""
    if not execution.complete:
        return frozenset()
    kept: set[ir.Symbol | None] = set()
    stored: set[ir.Symbol] = set()
    for event in execution.events:
        if isinstance(event, (AccessEvent, LibraryAccess, EscapeEvent)) and event.target.symbol is not None:
            is_store = isinstance(event, AccessEvent) and _is_plain_store(event, execution.function)
            (stored if is_store else kept).add(event.target.symbol)
    candidates = frozenset(stored - kept)
    return candidates & _only_stored_to(execution.function) if candidates else frozenset()


def without_unread(accesses: Sequence[AccessEvent], execution: Execution) -> list[AccessEvent]:
    """The accesses, where those that the compiler drops are left out."""
    dropped = unread(execution)
    if not dropped:
        return list(accesses)
    kept = [event for event in accesses if event.target.symbol not in dropped]
    is_empty = not any(map(_has_effect, kept)) and does_nothing_else(execution)
    return [_judged(event, dropped, is_empty) for event in accesses]


def _judged(event: AccessEvent, dropped: Set[ir.Symbol], is_empty: bool) -> AccessEvent:
    if event.target.symbol in dropped:
        name = event.target.name
        return replace(event, left_out=f"nobody reads `{name}`, so the compiler drops what is stored there")
    if is_empty:
        return replace(event, left_out="nothing comes of it: what the kernel stores is read by nobody")
    return event


def _is_plain_store(event: AccessEvent, function: ir.Function) -> bool:
    return event.operation == "store" and not event.is_verbatim and event.context.span not in function.volatile


def _has_effect(event: AccessEvent) -> bool:
    return event.operation != "load" or event.is_verbatim


def does_nothing_else(execution: Execution) -> bool:
    """Whether a kernel calls nothing but barriers, and all that it does is in its accesses."""
    if any(isinstance(event, (EscapeEvent, LibraryAccess)) for event in execution.events):
        return False
    return not any(
        isinstance(node, (ir.Asm, ir.UnknownStmt)) or (isinstance(node, ir.Call) and node.name != _BARRIER)
        for node in code_of(execution.function).nodes
    )


@lru_cache(maxsize=1)
def _only_stored_to(function: ir.Function) -> frozenset[ir.Symbol]:
    """The static shared variables of a kernel's own of which its code names elements, fields or all of them as what it
    assigns to, and in no other way."""
    nodes = code_of(function).nodes
    roots = {id(name) for node in nodes if isinstance(node, ir.Assign) and (name := _root(node)) is not None}
    own = {node.symbol for node in nodes if isinstance(node, ir.Declare)}
    named: set[ir.Symbol] = set()
    otherwise: set[ir.Symbol] = set()
    for node in nodes:
        if isinstance(node, ir.Name) and node.symbol.storage == "shared":
            (named if id(node) in roots else otherwise).add(node.symbol)
    return frozenset((named & own) - otherwise)


def _root(assignment: ir.Assign) -> ir.Name | None:
    """The variable of whose memory a part is assigned to, without a look at what is there."""
    target = assignment.target
    while isinstance(target, ir.Index) or (isinstance(target, ir.Member) and not target.arrow):
        target = walk.without_casts(target.base)
    return target if isinstance(target, ir.Name) and not assignment.op else None
