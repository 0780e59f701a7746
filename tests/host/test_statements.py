"""The sizes that stated conditions leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.host.choosing.choosing import for_statements
from cudalint.host.values.arithmetic import BOOL, I4
from cudalint.host.values.assumptions import holds
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file


def _names(graph: Graph) -> tuple[Node, Node]:
    return graph.uniform("n", 4096, I4), graph.uniform("m", 1024, I4)


def _sum(graph: Graph, m: Node, factor: int, more: int) -> Node:
    return graph.binary("+", graph.binary("*", m, graph.const(factor), I4), graph.const(more), I4)


def test_an_equation_of_two_names_takes_one_of_them() -> None:
    graph = Graph()
    n, m = _names(graph)
    relation = graph.binary("==", n, _sum(graph, m, 1, 37), BOOL)
    graph.valuation = for_statements(graph, [relation])
    assert holds(graph, relation, {})


@pytest.mark.parametrize("swaps", [False, True])
def test_what_leaves_no_choice_comes_first(swaps: bool) -> None:
    """With m at 100, n = 3 * m + 7 is 307."""
    graph = Graph()
    n, m = _names(graph)
    stated = [
        graph.binary("==", n, _sum(graph, m, 3, 7), BOOL),
        graph.binary("==", m, graph.const(100), BOOL),
    ]
    graph.valuation = for_statements(graph, stated[::-1] if swaps else stated)
    assert (graph.generic(n), graph.generic(m)) == (307, 100)


def test_an_equation_without_a_whole_solution_changes_nothing() -> None:
    """No whole number doubled is 2 * m + 1."""
    graph = Graph()
    n, m = _names(graph)
    doubled = graph.binary("*", n, graph.const(2), I4)
    graph.valuation = for_statements(graph, [graph.binary("==", doubled, _sum(graph, m, 2, 1), BOOL)])
    assert (graph.generic(n), graph.generic(m)) == (4096, 1024)


def test_stores_that_no_sizes_were_found_for_are_named(tmp_path: Path) -> None:
    """They are reached only where n * m == 5183, which is 71 times 73: no small numbers, nor those of the source."""
    path = tmp_path / "k.cu"
    path.write_text(
        """
        __global__ void k(int *out, int n, int m) {
            __shared__ int s[256];
            s[threadIdx.x] = 0;
            __syncthreads();
            if (n * m == 5183 && n > 1 && m > 1)
                s[threadIdx.x / 2] = threadIdx.x;
            __syncthreads();
            out[threadIdx.x] = s[threadIdx.x];
        }
        void run(int *out, int n, int m) { k<<<1, 256>>>(out, n, m); }
        """,
        encoding="utf-8",
    )
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert not [race for race in kernel.races or () if race.certainty == "certain"]
    assert any("no sizes were found that lead there" in gap.reason for gap in kernel.gaps)


def test_a_range_of_one_number() -> None:
    """185 <= n < 186 is 185."""
    graph = Graph()
    n, _ = _names(graph)
    least, most = graph.binary("<=", graph.const(185), n, BOOL), graph.binary("<", n, graph.const(186), BOOL)
    graph.valuation = for_statements(graph, [least, most])
    assert graph.generic(n) == 185


def test_a_size_that_leads_to_an_access_is_the_one_that_its_figure_is_for(tmp_path: Path) -> None:
    """No ordinary size is below 1000. From 8 on, lanes are 32 bytes apart, which are as many sectors as lanes; one is
    the only size with which nothing is wasted."""
    path = tmp_path / "k.cu"
    path.write_text(
        """
        __global__ void k(float *a, int n) {
            if (n < 1000) a[threadIdx.x * n] = 0;
        }
        void run(float *a, int n) { k<<<1, 256>>>(a, n); }
        """,
        encoding="utf-8",
    )
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    ((result,),) = (access.results for access in kernel.accesses)
    assert (result.sectors_per_request, result.condition) == (32, "n > 1")
