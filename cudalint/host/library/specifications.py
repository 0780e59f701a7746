"""What a program states about itself: assertions, the compiler's assumptions, and the preconditions of verifiers.

A statement about arguments and sizes narrows what they may be; one about the thread narrows which threads go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cudalint.host.choosing.choosing import for_statements
from cudalint.host.executor import expressions
from cudalint.host.executor.values import LocalPlace, Value
from cudalint.host.values.arithmetic import BOOL, kind_of
from cudalint.host.values.assumptions import holds
from cudalint.host.values.nodes import BLOCK_BITS, THREAD_BITS, Node
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.executor import Executor

Handler = Callable[..., Any]


def _assume(ex: Executor, call: ir.Call) -> Value:
    """Its condition holds from here on. Looking at memory in it is no access of the kernel."""
    conditions = [expressions.condition(ex, argument) for argument in call.arguments[:1]]
    for condition in conditions:
        assume(ex, condition)
    return ex.graph.zero


def assume(ex: Executor, condition: Node) -> None:
    """Lets the condition hold for all values that are tried later; what cannot be evaluated is left alone."""
    if condition.is_const or condition.bits & ex.graph.opaque_bits:
        return
    if condition.bits & (THREAD_BITS | BLOCK_BITS):
        ex.state.assume(condition)
    elif condition not in ex.assumed and not any(
        atom.op in ("loop", "placeholder") for atom in ex.graph.atoms(condition.bits, ~0)
    ):
        ex.assumed.append(condition)
        # Those before were settled when they came. What found no values for one then, would not find any now.
        if not holds(ex.graph, condition, {}):
            ex.graph.valuation = for_statements(ex.graph, ex.assumed)


def _refuted(ex: Executor, call: ir.Call) -> Value:
    """What a failed `assert` comes to: the kernel ends, so whoever goes on met the condition."""
    if ex.state.conditions:
        failed = ex.state.conditions[-1]
        if not failed.bits & THREAD_BITS:
            assume(ex, ex.graph.negate(failed))
    ex.state.dead = True
    return ex.graph.zero


def _uniform(ex: Executor, call: ir.Call) -> Value:
    """`__uniform_int(x)`: all threads see one number, which nothing else is known about."""
    where = expressions.place(ex, call.arguments[0])
    value = expressions.number(ex, call.arguments[0])
    if isinstance(where, LocalPlace) and value.bits & ex.graph.opaque_bits and isinstance(where.type, ir.Scalar):
        # Small and different numbers, so that a distance between two of them lies within a block.
        number = ex.graph.uniform_bits.bit_count()
        symbol = ex.graph.uniform(where.symbol.name, number % 64, kind_of(where.type), is_arbitrary=True)
        expressions.write(ex, where, symbol, call.span)
    return ex.graph.one


def _implies(ex: Executor, call: ir.Call) -> Value:
    premise, conclusion = (expressions.condition(ex, argument) for argument in call.arguments[:2])
    return ex.graph.binary("||", ex.graph.negate(premise), conclusion, BOOL)


def _holds(ex: Executor, call: ir.Call) -> Value:
    """A statement that is checked elsewhere and says nothing about values."""
    return ex.graph.one


SPECIFICATIONS: Mapping[str, Handler] = {
    "assumed": _assume, "uniform": _uniform, "implies": _implies, "refuted": _refuted, "stated": _holds,
}  # fmt: skip
"""Handlers by effect."""
