"""Numbers for sizes, by what a program does with them."""

from __future__ import annotations

from cudalint.host.choosing.choosing import for_host_code
from cudalint.host.values.arithmetic import BOOL, F8, I4, I8, U8
from cudalint.host.values.evaluation import holds
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Reason


def test_the_leaves_of_a_computation_with_shared_parts_are_found_once() -> None:
    """Each step uses the one before twice, so that there are 2**64 ways down to the data."""
    graph = Graph()
    word = graph.opaque(Reason("it is loaded"), (), I4)
    for _ in range(64):
        word = graph.binary("^", word, graph.binary(">>", word, graph.const(1), I4), I4)
    number = graph.convert(word, F8)
    product = graph.binary("*", number, number, F8)
    assert product.payload == Reason("it comes out of a long computation", kind="summary")


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
