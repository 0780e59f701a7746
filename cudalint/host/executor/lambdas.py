"""Lambdas that launch kernels and are passed to something that is not followed: a list of tests, a thread pool."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cudalint.heuristics import heuristic
from cudalint.host.executor.calls import with_captured
from cudalint.host.executor.inlining import inline
from cudalint.host.executor.objects import lambda_value
from cudalint.host.executor.values import Closure, Value
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution


def noted(ex: Execution, expr: ir.Lambda) -> Value:
    """A lambda, which is remembered until something calls it if it launches a kernel."""
    closure = lambda_value(ex, expr)
    if isinstance(closure, Closure) and expr.function.has_launch():
        ex.waiting.setdefault(expr.function.key, (closure, expr.span, ex.state.guards))
    return closure


@heuristic("waiting-lambdas", "lists of tests and thread pools of host code").otherwise(None)
def call_waiting(ex: Execution) -> None:
    """Calls those that nothing has called, at the end of the block in which they are made: what they capture by
    reference is there no longer. Nothing stays of it but the launches."""
    for key, (closure, span, guards) in ex.waiting.items():
        if key in ex.found.executed:
            continue
        with ex.on_trial():
            ex.state.dead, ex.state.guards = False, guards
            call = partial(inline, ex, closure.function, lambda f: ex.unknown_parameters(f.parameters), span)
            with_captured(ex, closure, closure.function, call)
