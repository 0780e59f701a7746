"""Numbers for sizes about which the program states something."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from cudalint.hardware.targets import find_target
from cudalint.scenarios.choosing import for_host_code, for_kernel, for_statements
from cudalint.values.arithmetic import BOOL, F8, I4, I8, U4, U8
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Reason, Uniform
from cudalint.values.numeric import Rows


def _choose_sizes(
    graph: Graph, grid: Sequence[Node] = (), most_blocks: Sequence[int] = (), guards: Sequence[Node] = ()
) -> None:
    graph.valuation = for_kernel(graph, grid, 256, tuple(zip(grid, most_blocks, strict=True)), guards)
    graph.forget_uses()


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


@pytest.mark.parametrize("divisors", [(1024,), (4, 1024), (3, 16)])
def test_parts_of_a_size_are_sizes(divisors: tuple[int, ...]) -> None:
    """`length / 1024` of a generic length of 58 * 1024 would be 58: no length that a program is written for."""
    graph = Graph()
    length = graph.uniform("length", 58 * 1024)
    parts = [graph.binary("/", length, graph.const(divisor), I4) for divisor in divisors]
    _choose_sizes(graph)
    generic = graph.generic(length)
    assert generic >= 58 * 1024 and parts
    assert all(generic % (32 * divisor) == 0 for divisor in divisors)


def _plus(graph: Graph, size: Node, number: int) -> Node:
    return graph.binary("+", size, graph.const(number), I4)


@pytest.mark.parametrize(
    "rounded_up",
    [
        lambda graph, n, tile: graph.binary("/", _plus(graph, graph.binary("+", n, tile, I4), -1), tile, I4),
        lambda graph, n, tile: _plus(graph, graph.binary("/", _plus(graph, n, -1), tile, I4), 1),
    ],
)
def test_quotients_that_are_rounded_up_are_sizes(rounded_up: Callable[[Graph, Node, Node], Node]) -> None:
    """As many rows as there are whole and begun tiles of `n`: more than the one of two sizes that are made up."""
    graph = Graph()
    n, tile = graph.uniform("n", 1024), graph.uniform("tile", 4096)
    rows = rounded_up(graph, n, tile)
    _choose_sizes(graph)
    assert int(Rows.of_one_block(graph, {}).counts((rows,))[0]) == 32


def test_what_is_shared_out_twice_is_a_multiple_of_the_product() -> None:
    """`groups / (nodes * devices) / stages` blocks; 40,960 of each would make none. 32 of each of the three leave
    5 * 2**20 / 2**15 = 160."""
    graph = Graph()
    groups, nodes, devices, stages = (graph.uniform(name, 40960) for name in ("groups", "nodes", "devices", "stages"))
    each = graph.binary("/", groups, graph.binary("*", nodes, devices, I4), I4)
    blocks = graph.binary("/", each, stages, I4)
    _choose_sizes(graph)
    assert [graph.generic(symbol) for symbol in (nodes, devices, stages)] == [32, 32, 32]
    assert Rows.of_one_block(graph, {}).counts((blocks,)) == (160,)


@pytest.mark.parametrize("op", [">>", "/"])
def test_a_number_may_come_before_the_size(op: str) -> None:
    """`(channels >> 3) / heads`: 71,808 channels are 8,976 pieces of eight, and 32 heads would leave 16 of them over,
    which a kernel that counts `pieces / dim` heads takes for one more."""
    graph = Graph()
    channels, heads = graph.uniform("channels", 71_808), graph.uniform("heads", 71_808)
    pieces = graph.binary(op, channels, graph.const(3 if op == ">>" else 8), I4)
    dim = graph.binary("/", pieces, heads, I4)
    _choose_sizes(graph)
    rest = graph.binary("%", pieces, graph.binary("*", dim, heads, I4), I4)
    rows = Rows.of_one_block(graph, {})
    assert int(rows.value(rest)) == 0 and int(rows.value(dim)) > 1


def test_grids_of_generic_sizes_can_be_launched() -> None:
    """23 * 2**20 blocks along z are too many, and so are more than 65,536 together with those along x."""
    graph = Graph()
    planes, rows = graph.uniform("planes", 23 << 20, I8), graph.uniform("rows", 5 << 20, I8)
    _choose_sizes(graph, (rows, graph.one, planes), find_target("a100").max_grid_dimensions)
    sizes = [graph.generic(size) for size in (planes, rows)]
    assert all(size > 0 and size % 32 == 0 for size in sizes)
    assert 1 << 14 < sizes[0] * sizes[1] <= 1 << 16


def test_sizes_stay_multiples_of_what_the_host_code_checks() -> None:
    """Halves of 23 * 2**20 that are multiples of 32 come down to 1472 * 32, which is no multiple of 192."""
    graph = Graph()
    planes = graph.uniform("planes", 23 << 20, I8)
    checked = graph.binary("==", graph.binary("%", planes, graph.const(192, I8), I8), graph.const(0, I8), BOOL)
    _choose_sizes(graph, (graph.one, graph.one, planes), find_target("a100").max_grid_dimensions, (checked,))
    assert 0 < graph.generic(planes) <= 65_535 and graph.generic(planes) % 192 == 0


def test_the_last_block_begins_within_its_type() -> None:
    """`blockIdx.z * width * rows` is an `int`: with 4096 planes of 4096 by 4096 it would be 2**36."""
    graph = Graph()
    width, rows, planes = (graph.uniform(name, 4096) for name in ("width", "rows", "planes"))
    plane = graph.binary("*", graph.convert(graph.block[2], I4), width, I4)
    graph.binary("*", plane, rows, I4)
    _choose_sizes(graph, (graph.one, graph.one, planes), find_target("a100").max_grid_dimensions)
    sizes = [graph.generic(size) for size in (width, rows, planes)]
    assert len(sizes) == 3 and all(size >= 32 for size in sizes)
    assert sizes[0] * sizes[1] * (sizes[2] - 1) < 1 << 31


def test_unsigned_products_fit_into_an_int() -> None:
    """`int total = batch * heads * length` of unsigned sizes: 1024 * 1024 * 4094 is within 2**32, and is -2**21 in an
    `int`, of which no grid can be made."""
    graph = Graph()
    batch, heads, length = (graph.uniform(n, v, U4) for n, v in (("batch", 1024), ("heads", 1024), ("length", 4094)))
    graph.binary("*", graph.binary("*", batch, heads, U4), length, U4)
    _choose_sizes(graph)
    sizes = [graph.generic(size) for size in (batch, heads, length)]
    assert len(sizes) == 3 and 0 < math.prod(sizes) < 1 << 31


def test_many_rows_leave_a_row_its_length() -> None:
    """`blockIdx.x * width` with a block to each of 2**20 rows of 40960 is 2**20 * 40960; 2**15 of them fit, as 2**31 /
    40960 is 52428, and rows are halved as long as there are more of them than a row is long: 2**15 < 40960."""
    graph = Graph()
    width, rows = graph.uniform("width", 40_960), graph.uniform("rows", 1 << 20)
    graph.binary("*", graph.convert(graph.block[0], I4), width, I4)
    _choose_sizes(graph, (rows, graph.one, graph.one), find_target("a100").max_grid_dimensions)
    assert isinstance(rows.payload, Uniform)
    assert (graph.generic(width), graph.generic(rows)) == (40_960, 1 << 15)


def test_an_unsigned_size_may_be_the_largest_number() -> None:
    """`SIZE_MAX` stands for an extent that is only known at run time: as bits, it is -1."""
    graph = Graph()
    size = graph.uniform("size", 1 << 20, U8)
    assert holds(graph, graph.binary("<", graph.const(1 << 20, U8), size, BOOL), {size: (1 << 64) - 1})


@pytest.mark.parametrize(("start", "end"), [(1 << 20, 1 << 10), (1 << 10, 1 << 20)])
def test_ranges_have_their_ends_behind_their_starts(start: int, end: int) -> None:
    """A grid of `(end - start + 7) / 8` blocks has at least one of them, whatever the two were taken for."""
    graph = Graph()
    first, last = graph.uniform("start", start, I8), graph.uniform("end", end, I8)
    length = graph.binary("-", last, first, I8)
    blocks = graph.binary("/", graph.binary("+", length, graph.const(7, I8), I8), graph.const(8, I8), I8)
    _choose_sizes(graph, (blocks, graph.one, graph.one), find_target("a100").max_grid_dimensions)
    assert isinstance(last.payload, Uniform)
    assert graph.generic(last) > graph.generic(first)
    assert graph.generic(first) == start and graph.generic(last) % 32 == 0


def test_an_end_is_behind_its_start_where_the_last_block_is_a_choice() -> None:
    """`length % 8 == 0 ? length / 8 : length / 8 + 1`."""
    graph = Graph()
    first, last = graph.uniform("start", 1 << 20, I8), graph.uniform("end", 1 << 10, I8)
    length, eight = graph.binary("-", last, first, I8), graph.const(8, I8)
    whole = graph.binary("/", length, eight, I8)
    is_whole = graph.binary("==", graph.binary("%", length, eight, I8), graph.const(0, I8), BOOL)
    blocks = graph.select(is_whole, whole, graph.binary("+", whole, graph.const(1, I8), I8))
    _choose_sizes(graph, (blocks, graph.one, graph.one), find_target("a100").max_grid_dimensions)
    assert isinstance(last.payload, Uniform)
    assert graph.generic(last) > graph.generic(first)


def test_what_makes_products_fit_leaves_a_grid_with_blocks() -> None:
    """`(end - start) * start * start` overflows for these. Half of `end` would fit, too: as a negative number."""
    graph = Graph()
    first, last = graph.uniform("start", 1 << 20), graph.uniform("end", (1 << 20) + 4096)
    length = graph.binary("-", last, first, I4)
    product = graph.binary("*", graph.binary("*", length, first, I4), first, I4)
    graph.uses.products[product] = None
    blocks = graph.binary("/", graph.binary("+", length, graph.const(7), I4), graph.const(8), I4)
    _choose_sizes(graph, (blocks, graph.one, graph.one), find_target("a100").max_grid_dimensions)
    assert isinstance(last.payload, Uniform)
    assert graph.generic(last) > graph.generic(first)


def test_sizes_stay_multiples_of_their_tiles() -> None:
    """`elements / columns` rows and `columns / 128` tiles: with what the first takes away, there is a tile left, and
    larger ones have whole tiles."""
    graph = Graph()
    elements, columns = graph.uniform("elements", 1 << 20), graph.uniform("columns", 90112)
    tiles = graph.binary("/", columns, graph.const(128), I4)
    rows = graph.binary("/", elements, columns, I4)
    _choose_sizes(graph)
    assert graph.generic(columns) % 128 == 0
    product = graph.binary("*", columns, graph.binary("*", columns, columns, I4), I4)
    graph.choose(columns, 90112, "use")
    _choose_sizes(graph, (tiles, rows, graph.one), find_target("sm_80").max_grid_dimensions)
    assert product.op == "*" and 0 < graph.generic(columns) < 1291
    assert graph.generic(columns) % 128 == 0


_Spelled = Callable[[Graph, Node, Node], Node]


def _sum(graph: Graph, op: str, a: Node, b: Node | int) -> Node:
    return graph.binary(op, a, b if isinstance(b, Node) else graph.const(b), I4)


def _half(graph: Graph, size: Node) -> Node:
    return _sum(graph, "/", size, 2)


@pytest.mark.parametrize(
    ("spelled", "generic"),
    [
        # d = -size + i, and d <= size
        (lambda g, i, n: g.binary("<=", _sum(g, "+", _sum(g, "-", g.zero, n), i), n, BOOL), 8),
        # !(size < d)
        (lambda g, i, n: g.negate(g.binary("<", n, _sum(g, "-", i, n), BOOL)), 8),
        # at = x - size + i, and at < x + size + 1
        (
            lambda g, i, n: g.binary(
                "<", _sum(g, "+", _sum(g, "-", g.thread[0], n), i), _sum(g, "+", _sum(g, "+", g.thread[0], n), 1), BOOL
            ),
            8,
        ),
        # i < 2 * size + 1
        (lambda g, i, n: g.binary("<", i, _sum(g, "+", _sum(g, "*", n, 2), 1), BOOL), 8),
        # d = -(size / 2) + i, and d <= size / 2: the size is twice that
        (lambda g, i, n: g.binary("<=", _sum(g, "-", i, _half(g, n)), _half(g, n), BOOL), 16),
        # d = -size / 2 + i, and d <= size / 2
        (
            lambda g, i, n: g.binary(
                "<=", _sum(g, "+", _half(g, _sum(g, "-", g.zero, n)), i), _half(g, n), BOOL
            ),
            16,
        ),
    ],
)
def test_windows_reach_a_few_places_to_both_sides(spelled: _Spelled, generic: int) -> None:
    graph = Graph()
    size, counter = graph.uniform("size", 40_960), graph.counter("a loop")
    graph.trips(counter, spelled(graph, counter, size))
    _choose_sizes(graph)
    assert graph.generic(size) == generic


def test_twice_a_size_is_no_window() -> None:
    """`for (i = 0; i < 2 * n; i++)`: complex numbers of a row are as many as there are in a row."""
    graph = Graph()
    size, counter = graph.uniform("size", 40_960), graph.counter("a loop")
    twice = graph.binary("*", size, graph.const(2), I4)
    graph.trips(counter, graph.binary("<", counter, twice, BOOL))
    _choose_sizes(graph)
    assert graph.generic(size) == 40_960


def test_both_sides_of_a_grid_are_those_of_an_image() -> None:
    """20,992 * 22,016 blocks of 256 threads would be 2**36 pixels; 65,536 of them make 2**24."""
    graph = Graph()
    width, height = graph.uniform("width", 41 << 13), graph.uniform("height", 43 << 13)
    grid = [graph.binary("/", size, graph.const(16), I4) for size in (width, height)]
    _choose_sizes(graph, (*grid, graph.one), find_target("a100").max_grid_dimensions)
    sizes = [graph.generic(size) for size in (width, height)]
    assert len(sizes) == 2 and all(size % 512 == 0 for size in sizes)
    assert 1 << 21 < sizes[0] * sizes[1] <= 1 << 24


def test_no_size_asks_for_more_shared_memory_than_there_is() -> None:
    """32 * n * n doubles in 160 KB: n is at most 25, of which no multiple of a warp is left."""
    graph = Graph()
    n = graph.uniform("n", 4096)
    square = graph.binary("*", n, n, U8)
    shared = graph.binary("*", square, graph.const(256), U8)
    graph.valuation = for_kernel(graph, (), 256, [(shared, 160 << 10)], ())
    assert graph.generic(n) == 32


def test_a_window_is_not_sought_in_places_of_data() -> None:
    """`(extent - (size - 1) * table[i * rows]) / stride`: what is moved is as large as `size`, of few places, and how
    long the table is is another matter."""
    graph = Graph()
    extent, size, rows, stride = (graph.uniform(name, 40_960) for name in ("extent", "size", "rows", "stride"))
    place = graph.binary("*", graph.block[0], rows, I4)
    entry = graph.opaque(Reason(True, "it is loaded"), (place,), I4)
    reach = graph.binary("*", graph.binary("-", size, graph.const(1), I4), entry, I4)
    graph.binary("/", graph.binary("-", extent, reach, I4), stride, I4)
    _choose_sizes(graph, (), ())
    assert [graph.generic(each) for each in (size, rows, stride)] == [8, 40_960, 1]


@pytest.mark.parametrize("ends", [(253_952, 237_568), (57_344, 40_960), (40_960, 40_960)])
def test_a_range_has_blocks_whichever_end_comes_first(ends: tuple[int, int]) -> None:
    """`(end - start - 1) / 64 + 1` of an end before the start is below 0, and 2**32 less so much as an extent. As far
    apart as they were, the ends leave that many blocks, and not the few that just are some."""
    graph = Graph()
    start, end = (graph.uniform(name, value) for name, value in zip(("start", "end"), ends, strict=True))
    length = graph.binary("-", graph.binary("-", end, start, I4), graph.const(1), I4)
    blocks = graph.binary("+", graph.binary("/", length, graph.const(64), I4), graph.const(1), I4)
    _choose_sizes(graph, (graph.convert(blocks, U4), graph.one, graph.one), find_target("a100").max_grid_dimensions)
    found = (graph.generic(end) - graph.generic(start) - 1) // 64 + 1
    assert max(1, (ends[0] - ends[1]) // 64) <= found < 1 << 16


def test_a_grid_stays_large_beside_what_it_divides() -> None:
    """`k<<<atoms, all / atoms>>>`: with 29 * 2**20 in all there would be few atoms, of which `all` is a multiple."""
    graph = Graph()
    atoms, all_ = graph.uniform("atoms", 43 * 8192), graph.uniform("all", 29 << 20, I8)
    share = graph.binary("/", all_, atoms, I8)
    graph.valuation = for_host_code(graph, (), (atoms, graph.one, graph.one))
    numbers = graph.generic(all_), graph.generic(atoms)
    assert numbers[1] == 43 * 8192 and numbers[0] % numbers[1] == 0 and numbers[0] >= numbers[1]
    assert share.bits == atoms.bits | all_.bits
