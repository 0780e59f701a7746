"""Sizes that are few by what they are called."""

from __future__ import annotations

import pytest

from cudalint.host.choosing.choosing import for_host_code
from cudalint.host.values.arithmetic import BOOL, I4
from cudalint.host.values.graph import Graph

_LARGE = 40_960


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("num_heads", 32), ("head_num", 32), ("n_heads", 32), ("heads", 32), ("numHeads", 32), ("batch_size", 32),
        ("batch", 32), ("beam_width", 32), ("num_layers", 32), ("param.head_num", 32), ("max_batch_size", 32),
        ("head_dim", 64), ("size_per_head", 64), ("headDim", 64),
        # What belongs to all heads together, the place of one, the width of a layer, and a distance.
        ("total_head_count", _LARGE), ("head", _LARGE), ("layer_size", _LARGE), ("batch_stride", _LARGE),
        ("tokens_per_batch", _LARGE), ("num_tokens", _LARGE), ("n", _LARGE), ("header_size", _LARGE),
    ],
)  # fmt: skip
def test_a_name_says_that_a_size_is_small(name: str, expected: int) -> None:
    graph = Graph()
    size = graph.uniform(name, _LARGE)
    assert for_host_code(graph, ()).of(size).value == expected


def test_two_of_them_differ() -> None:
    """Equal sizes would hide that they are others."""
    graph = Graph()
    batch, heads = graph.uniform("batch", _LARGE), graph.uniform("heads", _LARGE)
    chosen = for_host_code(graph, ())
    assert [chosen.of(batch).value, chosen.of(heads).value] == [32, 64]


def test_a_name_is_the_weakest_reason() -> None:
    """A batch that is a number by a statement stays that number, and `hidden` is shared among the heads."""
    graph = Graph()
    batch = graph.uniform("batch", _LARGE)
    graph.choose(batch, 1000, "annotation")
    hidden, heads = graph.uniform("hidden", _LARGE), graph.uniform("heads", _LARGE)
    graph.binary("/", hidden, heads, I4)
    guard = graph.binary("==", graph.binary("%", hidden, heads, I4), graph.const(0), BOOL)
    chosen = for_host_code(graph, (guard,))
    assert chosen.of(batch).value == 1000
    assert chosen.of(hidden).value % (32 * int(chosen.of(heads).value)) == 0
