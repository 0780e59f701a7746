"""The solver's numbers against the graph's own arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudalint.analysis import analyse_file
from cudalint.evaluate.symbolic.arithmetic import BOOL, I4, I8, U4
from cudalint.evaluate.symbolic.assumptions import holds, settle
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.nodes import Node
from cudalint.evaluate.symbolic.solver import solve
from cudalint.options import AnalysisOptions

pytest.importorskip("z3", reason="z3 is the optional extra `smt`")


def _names(graph: Graph) -> tuple[Node, Node]:
    return graph.uniform("n", 4096, I4), graph.uniform("m", 1024, I4)


def test_other_names_keep_their_numbers() -> None:
    """n == 3 * m leaves m at 1024, so n is 3072."""
    graph = Graph()
    n, m = _names(graph)
    relation = graph.binary("==", n, graph.binary("*", m, graph.const(3), I4), BOOL)
    found = solve([relation], [m, n])
    assert found == {m: 1024, n: 3072}


def test_a_product_has_its_factors() -> None:
    """5183 is 71 times 73, and nothing else."""
    graph = Graph()
    n, m = _names(graph)
    product = graph.binary("==", graph.binary("*", n, m, I4), graph.const(5183), BOOL)
    between = [graph.binary("<", graph.const(1), x, BOOL) for x in (n, m)]
    small = [graph.binary("<", x, graph.const(5183), BOOL) for x in (n, m)]
    found = solve([product, *between, *small], [n, m])
    assert found is not None
    assert sorted(found.values()) == [71, 73]


def test_what_contradicts_itself_has_no_numbers() -> None:
    graph = Graph()
    n, m = _names(graph)
    assert solve([graph.binary("<", n, m, BOOL), graph.binary("<", m, n, BOOL)], [n, m]) is None


def test_floating_point_is_left_alone() -> None:
    graph = Graph()
    n, _ = _names(graph)
    root = graph.function("sqrt", n, graph.const(1.0).kind)
    assert solve([graph.binary("<", root, n, BOOL)], [n]) is None


def test_assumptions_between_names_settle_both() -> None:
    graph = Graph()
    n, m = _names(graph)
    relation = graph.binary("==", n, graph.binary("+", m, graph.const(37), I4), BOOL)
    settle(graph, [relation])
    assert holds(graph, relation, {})


_OPERATORS = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "min", "max")
_KINDS = (I4, U4, I8)
_steps = st.lists(
    st.tuples(st.sampled_from(_OPERATORS), st.sampled_from(_KINDS), st.integers(-40, 70), st.booleans()),
    min_size=1,
    max_size=4,
)


@settings(max_examples=300, deadline=None)
@given(steps=_steps, n=st.integers(-(2**31), 2**31 - 1), m=st.integers(0, 2**32 - 1))
def test_terms_have_the_numbers_of_nodes(steps: list[tuple[str, object, int, bool]], n: int, m: int) -> None:
    """With n and m fixed, the only number that an expression can be equal to is the one that the graph gives it."""
    graph = Graph()
    x, y = graph.uniform("x", 64, I4), graph.uniform("y", 64, U4)
    node = x
    for op, kind, number, swaps in steps:
        other = graph.convert(y, kind) if number > 60 else graph.const(number, kind)  # type: ignore[arg-type]
        a, b = graph.convert(node, kind), other  # type: ignore[arg-type]
        if op in ("<<", ">>"):
            b = graph.const(abs(number) % 32, kind)  # type: ignore[arg-type]
        elif swaps:
            a, b = b, a
        node = graph.binary(op, a, b, kind)  # type: ignore[arg-type]
    bound = {x: graph.const(n, I4), y: graph.const(m, U4)}
    value = graph.substitute(node, bound)
    fixed = [graph.binary("==", atom, number, BOOL) for atom, number in bound.items()]
    equal = graph.binary("==", node, value, BOOL)
    assert solve([*fixed, equal], [x, y]) == {x: n, y: m}
    assert solve([*fixed, graph.negate(equal)], [x, y]) is None


def test_a_race_behind_a_relation_is_found(tmp_path: Path) -> None:
    """The stores are reached only where n * m == 5183; small numbers and those of the source don't do."""
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
    for _ in range(8):
        # The same answer, whatever was asked before.
        (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
        assert [race.array for race in kernel.races or ()] == ["s"]
