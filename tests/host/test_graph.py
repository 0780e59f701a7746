"""The graph's own arithmetic: what folds, what wraps, what stays one node."""

from __future__ import annotations

import numpy as np
import pytest

from cudalint.host.values.arithmetic import BOOL, F4, I4, I8, U4, U8, Kind, Number
from cudalint.host.values.evaluation import Evaluated
from cudalint.host.values.graph import Graph, conjuncts
from cudalint.host.values.nodes import Node, Reason

U1, I2 = Kind("u", 1), Kind("i", 2)

FOLDED: list[tuple[str, Number, Number, Kind, Number]] = [
    ("+", 2**32 - 1, 2, U4, 1),
    ("-", 0, 1, U4, 2**32 - 1),
    ("-", 0, 1, U8, 2**64 - 1),
    ("*", 2**31, 2, U4, 0),
    ("<<", 3, 31, U4, 2**31),
    ("/", -7, 2, I4, -3),
    ("%", -7, 2, I4, -1),
    ("/", 7, -2, I4, -3),
    ("%", 7, -2, I4, 1),
    (">>", -8, 1, I4, -4),
    ("&", -1, 255, I4, 255),
    ("^", 5, 3, I4, 6),
    ("min", -3, 2, I4, -3),
    ("max", -3, 2, I4, 2),
    ("<", -1, 0, I4, 1),
    (">=", 3, 3, I4, 1),
]


@pytest.mark.parametrize(("op", "a", "b", "kind", "expected"), FOLDED)
def test_constants_fold_as_in_c(op: str, a: Number, b: Number, kind: Kind, expected: Number) -> None:
    graph = Graph()
    node = graph.binary(op, graph.const(a, kind), graph.const(b, kind), kind)
    assert node.is_const and node.value == expected


CASTS: list[tuple[Number, Kind, Kind, Number]] = [
    (-1, I4, U4, 2**32 - 1),
    (2**32 - 1, U4, I4, -1),
    (300, I4, U1, 44),
    (40_000, I4, I2, 40_000 - 65_536),
    (-2.75, F4, I4, -2),
    (2.75, F4, I4, 2),
    (5, I4, BOOL, 1),
    (-1, I4, U8, 2**64 - 1),
]


@pytest.mark.parametrize(("value", "source", "target", "expected"), CASTS)
def test_constants_convert_as_in_c(value: Number, source: Kind, target: Kind, expected: Number) -> None:
    graph = Graph()
    node = graph.convert(graph.const(value, source), target)
    assert node.is_const and node.value == expected


def test_equal_nodes_are_one() -> None:
    graph = Graph()
    x, n = graph.uniform("x", 0, U4), graph.uniform("n", 64)
    assert graph.binary("+", x, n, I4) is graph.binary("+", x, n, I4)
    assert graph.binary("+", x, n, I4) is not graph.binary("+", x, n, U4)
    assert graph.uniform("n", 64) is not n


def test_neutral_operands_leave_no_node() -> None:
    graph = Graph()
    n = graph.uniform("n", 64)
    zero, one = graph.const(0), graph.const(1)
    for op, c in (("+", zero), ("-", zero), ("<<", zero), (">>", zero), ("|", zero), ("*", one), ("/", one)):
        assert graph.binary(op, n, c, I4) is n
    assert graph.binary("*", n, zero, I4) is graph.const(0)
    assert graph.binary("%", n, one, I4) is graph.const(0)
    assert graph.binary("-", n, n, I4) is graph.const(0)


def test_constant_steps_add_up() -> None:
    graph = Graph()
    node = n = graph.uniform("n", 64)
    for step in (4, 7, -11):
        node = graph.binary("+", node, graph.const(step), I4)
    assert node is n


@pytest.mark.parametrize("kind", [I4, U4, I8])
def test_what_is_taken_away_again_leaves_the_rest(kind: Kind) -> None:
    """With numbers that wrap, too: `a + (b - a)` is `b` for all of them."""
    graph = Graph()
    a, b = (graph.convert(graph.uniform(name, 64), kind) for name in "ab")
    total = graph.const(1024, kind)
    assert graph.binary("+", a, graph.binary("-", total, a, kind), kind) is total
    assert graph.binary("+", graph.binary("-", b, a, kind), a, kind) is b
    assert graph.binary("-", graph.binary("+", a, b, kind), a, kind) is b
    assert graph.binary("-", graph.binary("+", a, b, kind), b, kind) is a
    assert graph.binary("-", a, graph.binary("-", a, b, kind), kind) is b
    other = graph.binary("-", graph.binary("-", a, b, kind), a, kind)
    assert not other.is_const and other is not b


def test_substitution_folds() -> None:
    graph = Graph()
    k = graph.counter("loop")
    node = graph.binary("%", graph.binary("*", k, graph.const(6, I8), I8), graph.const(4, I8), I8)
    found = graph.substitute(node, {k: graph.const(3, I8)})
    assert found.is_const and found.value == 2


def test_a_conjunction_is_taken_apart() -> None:
    graph = Graph()
    x = graph.uniform("x", 0)
    a, b, c = (graph.binary("<", x, graph.const(v), BOOL) for v in (3, 4, 5))
    either = graph.binary("||", b, c, BOOL)
    whole = graph.binary("&&", a, graph.negate(either), BOOL)
    assert conjuncts(graph, whole) == [a, graph.negate(b), graph.negate(c)]


def test_opaque_values_of_equal_arguments_are_equal() -> None:
    graph = Graph()
    reason = Reason("it is loaded")
    x = graph.uniform("x", 0, U4)
    assert graph.opaque(reason, (x,), I4) is graph.opaque(reason, (x,), I4)
    half = graph.opaque(reason, (graph.binary("/", x, graph.const(2), I4),), I4)
    assert half is not graph.opaque(reason, (x,), I4)
    first, second = (Evaluated(graph, {x: number}).first(half) for number in (4, 5))
    assert first == second != Evaluated(graph, {x: 6}).first(half)


# --- numbers ---------------------------------------------------------------------------------------


def _values(graph: Graph, node: Node, symbol: Node) -> list[Number]:
    return Evaluated(graph, {symbol: np.arange(32)}).each(node)


def test_unsigned_numbers_wrap_in_every_world() -> None:
    graph = Graph()
    x = graph.uniform("x", 0, U4)
    assert _values(graph, graph.binary("-", x, graph.const(1, U4), U4), x)[:2] == [2**32 - 1, 0]


def test_trips_are_counted_world_by_world() -> None:
    graph = Graph()
    k, x = graph.counter("loop"), graph.uniform("x", 0, U4)
    step = graph.binary("*", k, graph.const(3, I8), I8)
    trips = graph.trips(k, graph.binary("<", step, graph.convert(x, I8), BOOL))
    assert _values(graph, trips, x) == [-(-t // 3) for t in range(32)]


def test_trips_without_a_closed_form_are_searched() -> None:
    """`while ((1 << k) < x * x * x) ++k;`, and a loop that goes round more often than it is looked at one by one."""
    graph = Graph()
    k, x = graph.counter("loop"), graph.uniform("x", 0, U4)
    cube = graph.binary("*", graph.binary("*", x, x, U4), x, U4)
    doubled = graph.binary("<<", graph.const(1, I8), k, I8)
    squared = graph.binary("*", k, k, I8)
    assert _values(graph, graph.trips(k, graph.binary("<", doubled, cube, BOOL)), x) == [
        max(0, t**3 - 1).bit_length() for t in range(32)
    ]
    assert _values(graph, graph.trips(k, graph.binary("<", squared, cube, BOOL)), x) == [
        next(k for k in range(1000) if k * k >= t**3) for t in range(32)
    ]


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (1, 1), (10, 4), (100_000, 17)])
def test_trips_of_a_doubling_counter(limit: int, expected: int) -> None:
    graph = Graph()
    k = graph.counter("loop")
    doubled = graph.binary("<<", graph.const(1, I8), k, I8)
    trips = graph.trips(k, graph.binary("<", doubled, graph.const(limit + 0 if limit != 1 else 2, I8), BOOL))
    assert trips.is_const and trips.value == expected


def test_opaque_values_share_one_bit_and_are_still_told_apart() -> None:
    graph = Graph()
    x = graph.uniform("x", 0, U4)
    values = [graph.opaque(Reason(f"load {i}"), (x,), F4) for i in range(100)]
    assert len({value.bits for value in values}) == 1
    assert len(set(values)) == 100
    bound = graph.substitute(graph.binary("+", values[3], values[4], F4), {values[3]: graph.const(1.0, F4)})
    assert bound is graph.binary("+", graph.const(1.0, F4), values[4], F4)


def test_a_summary_of_values_that_share_their_parts_is_made_at_once() -> None:
    """Walked along every path, forty values that each use the one before twice would take 2^40 steps."""
    graph = Graph()
    value = graph.opaque(Reason("load"), (graph.uniform("x", 0, U4),), I4)
    for step in range(40):
        value = graph.binary("^", value, graph.binary("*", value, graph.const(2 * step + 3), I4), I4)
    total = graph.convert(value, F4)
    for step in range(100):
        total = graph.binary("*", total, graph.const(step + 0.5, F4), F4)
    assert total.bits & graph.opaque_bits


def test_values_of_the_same_leaves_share_the_set_of_them() -> None:
    graph = Graph()
    # After so many, a set takes hundreds of bytes.
    leaves = [graph.uniform(f"n{i}", 1) for i in range(2000)]
    product = graph.binary("*", leaves[0], leaves[-1], I4)
    total = graph.binary("+", leaves[0], leaves[-1], I4)
    assert product is not total
    assert product.bits is total.bits
