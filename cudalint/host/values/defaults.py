"""Numbers that a program has unless an option says otherwise, where something was made of what they are then."""

from __future__ import annotations

from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, render

NOT_DECLARED = "nothing declares it"
"""What says a number that was made up for a missing name."""


def stated(graph: Graph, symbol: Node, name: str | None = None) -> str:
    """That a number is what it is if no option says otherwise, as an assumption: `n == 1024`, or, where that is how
    the program is run, `n == 1024 (Makefile:12)`."""
    choice = graph.choice(symbol)
    where = f" ({choice.place})" if choice.place and choice.is_default else ""
    return f"{name or render(symbol)} == {choice.value}{where}"
