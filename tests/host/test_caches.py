"""What is kept of computed numbers is bounded, and what is computed does not depend on it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from cudalint.host.values import caches, numeric
from cudalint.host.values.arithmetic import I4, I8
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Reason
from cudalint.host.values.numeric import Rows
from cudalint.host.values.threads import Threads

ROWS = 256
THREADS = 256
NUMBERS = ROWS * THREADS * 8
"""Bytes that one value takes."""


def rows_of(graph: Graph) -> Rows:
    blocks = np.stack([np.arange(ROWS), np.zeros(ROWS), np.zeros(ROWS)], axis=1).astype(np.int64)
    return Rows(graph, Threads.of((THREADS, 1, 1)), blocks, np.ones(ROWS), {})


def long_hash(graph: Graph, length: int, salt: int = 0) -> Node:
    """A few words that are mixed over and over, as MD5 does: few numbers are needed at a time."""
    place = graph.binary("+", graph.thread[0], graph.binary("*", graph.block[0], graph.const(THREADS), I4), I4)
    words = [graph.binary("+", place, graph.const(salt + i), I4) for i in range(4)]
    for step in range(length):
        mixed = graph.binary("^", words[0], graph.binary("*", words[1], graph.const(2 * step + 3), I4), I4)
        words = [*words[1:], graph.binary("+", mixed, words[3], I4)]
    return words[-1]


def test_a_long_computation_keeps_only_what_it_needs() -> None:
    graph = Graph()
    node = long_hash(graph, 400)
    assert 1200 * NUMBERS > 12 * caches.MOST_AT_ONCE
    rows = rows_of(graph)
    tracemalloc.start()
    rows.value(node)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < caches.MOST_AT_ONCE + 32 * NUMBERS


def test_all_evaluations_together_keep_no_more_than_the_limit() -> None:
    graph = Graph()
    nodes = [long_hash(graph, 20, salt) for salt in range(12)]
    kept: list[Rows] = []
    tracemalloc.start()
    for node in nodes:
        kept.append(rows_of(graph))
        kept[-1].value(node)
    now = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 12 * 60 * NUMBERS > 3 * caches.MOST_BYTES
    assert now < caches.MOST_BYTES + caches.MOST_AT_ONCE + 32 * NUMBERS


@pytest.mark.parametrize("limit", [1, NUMBERS, 10 * NUMBERS])
def test_numbers_are_the_same_with_little_room(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def computed() -> list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
        graph = Graph()
        counter = graph.counter("k")
        loaded = graph.opaque(Reason(True, "it is loaded"), (long_hash(graph, 20),), I4)
        trips = graph.trips(counter, graph.binary("<", counter, graph.binary("&", loaded, graph.const(7), I4), I8))
        total = graph.binary("+", trips, graph.binary("*", counter, long_hash(graph, 30, 5), I4), I4)
        parent = rows_of(graph)
        inside = parent.at_iteration(counter, 3)
        return [np.asarray(rows.full(node)) for rows, node in ((inside, total), (parent, loaded), (inside, loaded))]

    usual = computed()
    monkeypatch.setattr(numeric, "MOST_AT_ONCE", limit)
    monkeypatch.setattr(caches, "MOST_BYTES", limit)
    for one, other in zip(usual, computed(), strict=True):
        assert np.array_equal(one, other)
