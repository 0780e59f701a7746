"""Long kernels take no more than in proportion to their length: ways, comparisons and trials don't go pair by pair."""

from __future__ import annotations

import random

import networkx as nx
import pytest

from cudalint.concurrency.conflicts import Contest
from cudalint.driver.analysis import analyse_file
from cudalint.driver.kernel_analysis import KernelAnalysis
from cudalint.facts import Race
from cudalint.measure.control_flow import BasicBlocks
from cudalint.options.analysis import AnalysisOptions


def _races(body: list[str]) -> tuple[Race, ...]:
    lines = ["__global__ void k(float *out) {", "__shared__ float s[1024]; int t = threadIdx.x; float v = out[t];"]
    source = "\n".join([*lines, *body, "out[t] = v; }", "int main() { k<<<1, 256>>>(0); }"])
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    assert kernel.races is not None
    return kernel.races


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


def test_an_access_is_compared_with_few_of_many_that_it_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 70 stores of a float to the same 256 elements, one further on each, meets all others."""
    compared: list[int] = []
    original = Contest._pairs

    def counted(self: Contest, *arguments: object) -> object:
        pairs = list(original(self, *arguments))  # type: ignore[arg-type]
        compared.append(len(pairs))
        return iter(pairs)

    monkeypatch.setattr(Contest, "_pairs", counted)
    races = _races([f"s[t + {k}] = v + {k};" for k in range(70)])
    # All pairs would be 2,415.
    assert max(compared) == sum(min(number, 32) for number in range(70))
    # The first meets none before it; all others are told.
    assert len({race.second.place.line for race in races}) == 70 - 1


def test_many_missing_barriers_are_tried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    executions: list[object] = []
    original = KernelAnalysis.again

    def counted(self: KernelAnalysis, *arguments: object, **named: object) -> object:
        executions.append(arguments)
        return original(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(KernelAnalysis, "again", counted)
    several = 12
    body = [line for k in range(several) for line in (f"s[t] = v + {k};", "v += s[255 - t];", "__syncthreads();")]
    races = _races(body)
    fixes = {race.fix.place.line for race in races if race.fix is not None}
    # One in front of each load: 2 lines stand before the body, which has 3 for each.
    assert fixes == {4 + 3 * k for k in range(several)}
    # One by one takes two for each.
    assert len(executions) < several


def test_barriers_that_not_all_come_to_are_left_to_trials_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[object] = []
    monkeypatch.setattr("cudalint.collect.races.RaceCollector.note_fix", lambda *arguments: noted.append(arguments))
    body = [line for k in range(3) for line in (f"s[t] = v + {k};", "v += s[255 - t];", "__syncthreads();")]
    races = _races([*body, "if (t < 128) { s[t] = 1;", "v += s[127 - t]; }"])
    assert not noted
    assert {race.fix.place.line for race in races if race.fix is not None} == {4, 7, 10}
