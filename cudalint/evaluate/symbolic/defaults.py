"""Numbers that a program has unless an option says otherwise, where something was made of what they are then."""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.evaluate.symbolic.arithmetic import BOOL
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.nodes import Node, Uniform, render

NOT_DECLARED = "nothing declares it"
"""What says a number that was made up for a missing name."""


def kept(graph: Graph, symbols: Iterable[Node]) -> tuple[Node, ...]:
    """The conditions that no option changes these numbers."""
    return tuple(graph.binary("==", symbol, graph.const(_value(symbol), symbol.kind), BOOL) for symbol in symbols)


def stated(symbol: Node, name: str | None = None) -> str:
    """That a number is what it is if no option says otherwise, as an assumption: `n == 1024`, or, where that is how
    the program is run, `n == 1024 (Makefile:12)`."""
    assert isinstance(symbol.payload, Uniform)
    where = f" ({symbol.payload.source})" if symbol.payload.source else ""
    return f"{name or render(symbol)} == {_value(symbol)}{where}"


def _value(symbol: Node) -> int | float:
    assert isinstance(symbol.payload, Uniform)
    return symbol.payload.generic
