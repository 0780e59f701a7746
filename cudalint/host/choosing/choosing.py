"""Which numbers stand for what is open: one place chooses them, for all that asks for figures.

Reasons are asked in one order (`Basis`). What a user gives comes first, then what a launch needs for its block, what
the program has unless an option says otherwise, what host code has checked, what a size is used as, and what it is
called; all else is large and a multiple of 32 from the start. A reason changes no number that a stronger one has
chosen. The graph is left with the valuation that it has.
"""

from __future__ import annotations

from collections.abc import Iterable

from cudalint.host.choosing.draft import Draft
from cudalint.host.choosing.names import choose_few
from cudalint.host.choosing.sizes import choose_sizes
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Valuation, without_cast


def for_host_code(graph: Graph, guards: Iterable[Node], extents: Iterable[Node] = ()) -> Valuation:
    """Numbers with which host code makes its launches, each under its guards; `extents` are those of their grids."""
    draft = Draft(graph)
    choose_few(draft, _symbols(graph))
    choose_sizes(draft, conditions=guards, blocks={without_cast(extent) for extent in extents})
    return draft.valuation


def _symbols(graph: Graph) -> list[Node]:
    return graph.atoms(graph.uniform_bits, graph.uniform_bits)
