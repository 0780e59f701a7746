"""Which reason for a number is the stronger one."""

from __future__ import annotations

import pytest

from cudalint.host.choosing.choosing import for_host_code
from cudalint.host.values.arithmetic import I4
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Basis


@pytest.mark.parametrize(("basis", "expected"), [("given", 992), ("program", 992), ("use", 1024), ("default", 1024)])
def test_what_is_given_is_not_rounded_for_what_it_is_used_as(basis: Basis, expected: int) -> None:
    """`n / 32` makes a size of parts: 1024 is the next multiple of 32 * 32 beyond 992."""
    graph = Graph()
    n = graph.uniform("n", 992)
    graph.choose(n, 992, basis)
    graph.binary("/", n, graph.const(32), I4)
    assert for_host_code(graph, ()).of(n).value == expected


def test_choosing_leaves_the_graph_as_it_is() -> None:
    """What is chosen stands in the valuation that is returned, with its reason."""
    graph = Graph()
    n = graph.uniform("num_heads", 40_960)
    chosen = for_host_code(graph, ()).of(n)
    assert (chosen.value, chosen.basis) == (32, "name")
    assert graph.generic(n) == 40_960
