"""Numbers for sizes about which the program states something."""

from __future__ import annotations

from cudalint.host.choosing.choosing import for_host_code, for_statements
from cudalint.host.values.arithmetic import BOOL, F8, I4, I8, U8
from cudalint.host.values.assumptions import holds
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Reason


def test_a_condition_that_nothing_fulfils_is_no_obstacle_to_the_others() -> None:
    """A square is never 7, and n, which is 1024, can still become less than 100."""
    graph = Graph()
    n, m = graph.uniform("n", 1024), graph.uniform("m", 1024)
    never = graph.binary("==", graph.binary("*", m, m, I4), graph.const(7), BOOL)
    small = graph.binary("<", n, graph.const(100), BOOL)
    graph.valuation = for_statements(graph, (never, small))
    assert holds(graph, small, {}) and not holds(graph, never, {})


def test_what_holds_stays_so() -> None:
    """Of the numbers below 100, n has to be a multiple of 8 then; m, of which nothing is said, stays."""
    graph = Graph()
    n, m = graph.uniform("n", 1024), graph.uniform("m", 1024)
    whole = graph.binary("==", graph.binary("%", n, graph.const(8), I4), graph.const(0), BOOL)
    small = graph.binary("<", n, graph.const(30), BOOL)
    graph.valuation = for_statements(graph, (whole, small))
    assert holds(graph, whole, {}) and holds(graph, small, {})
    assert graph.generic(m) == 1024


def test_the_leaves_of_a_computation_with_shared_parts_are_found_once() -> None:
    """Each step uses the one before twice, so that there are 2**64 ways down to the data."""
    graph = Graph()
    word = graph.opaque(Reason(True, "it is loaded"), (), I4)
    for _ in range(64):
        word = graph.binary("^", word, graph.binary(">>", word, graph.const(1), I4), I4)
    number = graph.convert(word, F8)
    product = graph.binary("*", number, number, F8)
    assert product.payload == Reason(True, "it comes out of a long computation", kind="summary")


def test_an_unsigned_size_may_be_the_largest_number() -> None:
    """`SIZE_MAX` stands for an extent that is only known at run time: as bits, it is -1."""
    graph = Graph()
    size = graph.uniform("size", 1 << 20, U8)
    assert holds(graph, graph.binary("<", graph.const(1 << 20, U8), size, BOOL), {size: (1 << 64) - 1})


def test_a_grid_stays_large_beside_what_it_divides() -> None:
    """`k<<<atoms, all / atoms>>>`: with 29 * 2**20 in all there would be few atoms, of which `all` is a multiple."""
    graph = Graph()
    atoms, all_ = graph.uniform("atoms", 43 * 8192), graph.uniform("all", 29 << 20, I8)
    share = graph.binary("/", all_, atoms, I8)
    graph.valuation = for_host_code(graph, (), (atoms, graph.one, graph.one))
    numbers = graph.generic(all_), graph.generic(atoms)
    assert numbers[1] == 43 * 8192 and numbers[0] % numbers[1] == 0 and numbers[0] >= numbers[1]
    assert share.bits == atoms.bits | all_.bits
