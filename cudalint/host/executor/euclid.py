"""Euclid's algorithm in host code, known by what one iteration does and not by a name: `while (b) { t = a % b; a = b;
b = t; }` leaves the greatest common divisor, by which programs choose the width of their vectors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from cudalint.host.executor import choices
from cudalint.host.executor.joins import is_plain
from cudalint.host.executor.loop_parts import LoopParts
from cudalint.host.executor.values import Place, Value
from cudalint.host.values.arithmetic import BOOL, kind_of
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_MOST_VARIABLES = 3
"""The two numbers, and one that holds the remainder for a moment."""


def divide(ex: Execution, parts: LoopParts) -> bool:
    """Executes a loop in that form; whether it is one. Nothing has changed otherwise."""
    graph = ex.graph
    changed = [symbol for symbol in ex.changed_in(parts) if symbol in ex.state.variables]
    start = {symbol: number for symbol in changed if (number := _whole(ex, symbol)) is not None}
    if parts.test_last or not 2 <= len(start) == len(changed) <= _MOST_VARIABLES:
        return False
    # A number that was widened is the narrower one still: the loop counts in its variables' types.
    now = {symbol: graph.placeholder(kind_of(symbol.type)) for symbol in start}
    turn = choices.one_turn(ex, parts, now)
    if turn is None:
        return False
    test, after = turn
    for a, b in itertools.permutations(start, 2):
        rest = graph.binary("%", now[a], now[b], now[a].kind)
        if after.get(a) is now[b] and after.get(b) is rest and _asks_for(test, now[b], ex):
            reason = Reason(f"after the loop at line {parts.span.line}", parts.span, kind="iteration")
            left = {symbol: ex.memory.unknown(symbol.type, reason, (), symbol.name) for symbol in changed}
            left[a] = graph.binary("gcd", start[a], start[b], now[a].kind)
            left[b] = graph.const(0, now[b].kind)
            ex.state.variables = {**ex.state.variables, **left}
            return True
    return False


def divide_again(
    ex: Execution, function: ir.Function, bind_: Callable[[ir.Function], Mapping[ir.Symbol, Value | Place]]
) -> Node | None:
    """What a function gives where it calls itself in that form, `return b == 0 ? a : f(b, a % b);`. None for any other
    recursion."""
    if len(function.parameters) != 2 or not all(symbol in ex.state.variables for symbol in function.parameters):
        return None
    first, second = (_whole(ex, symbol) for symbol in function.parameters)
    if first is None or second is None:
        return None
    graph, kind, arguments = ex.graph, kind_of(function.parameters[0].type), bind_(function)
    steps = [arguments.get(symbol) for symbol in function.parameters]
    is_end = graph.binary("==", second, graph.const(0, second.kind), BOOL)
    goes_on = (graph.negate(is_end), graph.truth(second))
    is_asked = any(condition in goes_on for condition in ex.state.guards)
    gives_first = any(isinstance(end, ir.Name) and end.symbol is function.parameters[0] for end in _ends(function))
    if steps != [second, graph.binary("%", first, second, kind)] or not is_asked or not gives_first:
        return None
    return graph.binary("gcd", first, second, kind)


def _ends(function: ir.Function) -> Iterator[ir.Expr]:
    """What a function may give."""
    for node in walk.nodes_in(function):
        if isinstance(node, st.Return) and node.value is not None:
            yield walk.without_casts(node.value)
        elif isinstance(node, ir.Conditional):
            yield from (walk.without_casts(node.then), walk.without_casts(node.otherwise))


def _whole(ex: Execution, symbol: ir.Symbol) -> Node | None:
    """The number that an integer holds, if it is made of sizes."""
    value = ex.state.variables[symbol]
    if not isinstance(value, Node) or not isinstance(symbol.type, ir.Scalar) or not is_plain(ex.graph, value):
        return None
    return value if {kind_of(symbol.type).code, value.kind.code} <= {"i", "u"} else None


def _asks_for(test: Node, divisor: Node, ex: Execution) -> bool:
    """Whether a loop goes on as long as there is a divisor: `b`, `b != 0`, `b > 0`."""
    zero = ex.graph.const(0, divisor.kind)
    return test in (ex.graph.truth(divisor), ex.graph.binary("<", zero, divisor, BOOL))
