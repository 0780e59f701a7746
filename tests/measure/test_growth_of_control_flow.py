"""Long kernels take no more than in proportion to their length: ways, comparisons and trials don't go pair by pair."""

from __future__ import annotations

import random

import networkx as nx

from cudalint.measure.control_flow import BasicBlocks


def test_ways_are_those_that_dominators_give_node_by_node() -> None:
    numbers = random.Random(1)
    for _ in range(60):
        size = numbers.randint(2, 12)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(size))
        graph.add_edges_from((node, node + 1) for node in range(size - 1) if numbers.random() < 0.85)
        graph.add_edges_from((numbers.randrange(size), numbers.randrange(size)) for _ in range(numbers.randint(0, 4)))
        straight = BasicBlocks(graph)
        for start in graph:
            behind = graph.copy()
            behind.add_edges_from(("root", after) for after in graph.successors(start))
            behind.add_node("root")
            dominators = nx.immediate_dominators(behind, "root")
            for end in graph:
                chain, node = [], dominators.get(end)
                while node not in (None, "root"):
                    chain.append(node)
                    node = dominators[node]
                assert straight.between(start, end) == chain[::-1], (list(graph.edges), start, end)
