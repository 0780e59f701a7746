"""Trials of one execution under several sizes share what is known of equal tables, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cudalint.collect import provider
from cudalint.concurrency.conflicts import Contest, site_pair
from cudalint.concurrency.lanes import Table
from cudalint.concurrency.search import arrays
from cudalint.concurrency.trial import Trial, trial_of
from cudalint.driver.analysis import analyse_file
from cudalint.evaluate.requests.execution import Execution
from cudalint.interpreter.device.events import Touch
from cudalint.options.analysis import AnalysisOptions
from cudalint.values.nodes import Node, Uniform

_SOURCE = """
__global__ void last(int *out, int factor, int other)
{
    __shared__ int s[1];
    s[0] = threadIdx.x * factor;
    s[0] = threadIdx.x * factor + 1;
    __syncthreads();
    out[threadIdx.x + other] = s[0];
}
void run(int *out, int factor, int other) { last<<<1, 64>>>(out, factor, other); }
"""


@pytest.fixture
def execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Execution:
    found: list[Execution] = []

    def noted(execution: Execution) -> Trial:
        found.append(execution)
        return trial_of(execution)

    monkeypatch.setattr(provider, "trial_of", noted)
    source = tmp_path / "last.cu"
    source.write_text(_SOURCE)
    analyse_file(str(source), AnalysisOptions())
    return found[0]


def _size(execution: Execution, name: str) -> Node:
    graph = execution.view.graph
    [found] = {
        symbol
        for event in execution.events
        if isinstance(event, Touch)
        for node in (event.offset, *(event.values or ()))
        for symbol in graph.atoms(node.bits, graph.uniform_bits)
        if isinstance(symbol.payload, Uniform) and symbol.payload.name == name
    }
    return found


def _stores(execution: Execution) -> Sequence[Touch]:
    return next(touches for array, touches in arrays(execution.events, execution.view.graph) if array.name == "s")


def _races(trial: Trial, touches: Sequence[Touch]) -> bool:
    return trial.has_conflict(site_pair(touches[0], touches[0]), touches, 4, "block")


@pytest.mark.parametrize("factors", [(0, 2), (2, 0)])
def test_equal_tables_with_other_values_are_told_apart(execution: Execution, factors: tuple[int, int]) -> None:
    # All threads write the one element: `t * 0` is the same for all of them, `t * 2` is not.
    trial, touches, factor = trial_of(execution), _stores(execution), _size(execution, "factor")
    for number in factors:
        assert _races(trial.under({factor: number}), touches) == (number != 0)


def test_a_size_that_changes_nothing_costs_no_search(execution: Execution, monkeypatch: pytest.MonkeyPatch) -> None:
    trial, touches, other = trial_of(execution), _stores(execution), _size(execution, "other")
    assert trial.conflicts(touches, 4, "block")
    monkeypatch.setattr("cudalint.concurrency.conflicts.Contest.conflicts", None)
    assert _races(trial.under({other: 7}), touches)


def test_a_large_table_is_made_once_for_all_that_is_asked(
    execution: Execution, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial, touches, factor = trial_of(execution), _stores(execution), _size(execution, "factor")
    monkeypatch.setattr("cudalint.concurrency.trial._MOST_KEPT", 0)
    pairs = [conflict.sites for conflict in trial.conflicts(touches, 4, "block")]
    first, second = (site_pair(touch, touch) for touch in touches[:2])
    assert {first, second, first | second} == set(pairs)
    tables: list[object] = []

    def noted(table: Table) -> Contest:
        tables.append(table)
        return Contest(table)

    monkeypatch.setattr("cudalint.concurrency.trial.Contest", noted)
    found = {pair: trial.under({factor: 0}).has_conflict(pair, touches, 4, "block") for pair in pairs}
    # With a factor of 0, each place stores one number; the two store different ones.
    assert found == {first: False, second: False, first | second: True}
    assert len(tables) == 1
