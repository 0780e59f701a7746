"""Parts of expressions that are evaluated on a condition: what they check holds only where they are.

`values.numel() ? values.data_ptr<float>() : nullptr` says nothing about the type of no values. Where a side ends the
program, the other one is left: `n % 4 == 0 ? (void)0 : __assert_fail(...)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.executor import operators
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.values import Value
    from cudalint.host.runtime.execution import HostExecutor


def conditional_value(ex: HostExecutor, expr: ir.Conditional) -> Value:
    guards, before = ex.guards, len(ex.state.conditions)
    value = operators.conditional_value(ex, expr)
    ex.guards = (*guards, *ex.state.conditions[before:])
    return value


def binary_value(ex: HostExecutor, expr: ir.Binary) -> Value:
    guards, before = ex.guards, len(ex.state.conditions)
    value = operators.binary_value(ex, expr)
    if expr.op in ("&&", "||"):
        ex.guards = (*guards, *ex.state.conditions[before:])
    return value
