"""Which numbers stand for what is open: one place chooses them, for all that asks for figures.

Reasons are asked in one order (`Basis`). What a user gives or states comes first, then what a launch needs for its
block, what the program has unless an option says otherwise, what host code has checked, what the kernel has limits for,
what a size is used as, and what it is called; all else is large and a multiple of 32 from the start. A reason changes
no number that a stronger one has chosen. Each function returns a valuation and leaves the graph with the one that it
has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from cudalint.scenarios.draft import Draft
from cudalint.scenarios.limits import choose_limits
from cudalint.scenarios.names import choose_few
from cudalint.scenarios.options import choose_options
from cudalint.scenarios.sizes import choose_sizes
from cudalint.scenarios.statements import choose_stated
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, without_cast
from cudalint.values.valuation import Valuation


def for_statements(graph: Graph, statements: Iterable[Node]) -> Valuation:
    """Numbers for which statements about the program hold."""
    draft = Draft(graph)
    choose_stated(draft, statements)
    return draft.valuation


def for_host_code(graph: Graph, guards: Iterable[Node], extents: Iterable[Node] = ()) -> Valuation:
    """Numbers with which host code makes its launches, each under its guards; `extents` are those of their grids."""
    draft = Draft(graph)
    choose_few(draft, _symbols(graph))
    choose_sizes(draft, conditions=guards, blocks={without_cast(extent) for extent in extents})
    return draft.valuation


def for_kernel(
    graph: Graph, grid: Sequence[Node], threads: int, most: Sequence[tuple[Node, int]], guards: Sequence[Node]
) -> Valuation:
    """Numbers with which a kernel that was executed does what it is for, in a launch that succeeds: `most` is what the
    device takes of what the launch asks for, `threads` how many a block has."""
    draft = Draft(graph)
    choose_few(draft, _symbols(graph))
    choose_sizes(draft, grid, most, guards, threads, {without_cast(extent) for extent in grid})
    choose_options(draft, grid)
    return draft.valuation


def for_limits(
    graph: Graph, alive: Iterable[Node], reached: Collection[Node], guards: Iterable[Node]
) -> tuple[Valuation, tuple[Node, ...]]:
    """Numbers for which a kernel goes on to its end, and the conditions on them."""
    draft = Draft(graph)
    limits = choose_limits(draft, alive, reached, guards)
    return draft.valuation, limits


def _symbols(graph: Graph) -> list[Node]:
    return graph.atoms(graph.uniform_bits, graph.uniform_bits)
