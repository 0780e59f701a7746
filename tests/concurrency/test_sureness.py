"""What is looked at to tell how sure a race is, and what need not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.concurrency import certainty, search
from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.doubts import sizes
from cudalint.concurrency.doubts.doubt import Doubt
from cudalint.driver.analysis import analyse_file
from cudalint.facts import Race
from cudalint.options.analysis import AnalysisOptions

_WITHOUT_A_LAUNCH = """
__global__ void count(const int *data, int *out)
{
    __shared__ int one[1];
    __shared__ int many[1024];
    one[0] = threadIdx.x;
    many[data[threadIdx.x] & 1023] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = one[0] + many[threadIdx.x + 1];
}
"""
_SIZED = """
__global__ void spread(int *out, int n)
{
    __shared__ int s[1024];
    if (threadIdx.x < n)
        s[(threadIdx.x * n) & 1023] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
void run(int *out, int n) { spread<<<1, 256>>>(out, n); }
"""


def _races(tmp_path: Path, text: str) -> tuple[Race, ...]:
    source = tmp_path / "kernel.cu"
    source.write_text(text)
    [kernel] = analyse_file(str(source), AnalysisOptions()).kernels
    assert kernel.races is not None
    return kernel.races


def test_other_blocks_are_tried_for_certain_races_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def noted(conflict: Conflict, *others: object) -> Doubt | None:
        trial = others[0]
        asked.append((conflict.first.target.name, id(trial.tree())))  # type: ignore[attr-defined]
        return certainty.doubt_about(conflict, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(search, "doubt_about", noted)
    races = _races(tmp_path, _WITHOUT_A_LAUNCH)
    assert {race.array: race.certainty for race in races} == {"one": "certain", "many": "possible"}
    first = asked[0][1]
    assert {name for name, tree in asked if tree == first} == {"one", "many"}
    assert {name for name, tree in asked if tree != first} == {"one"}


def test_sizes_are_tried_until_it_is_clear_what_to_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are at most seven other sizes for `n`; a race that two of them do without is none of usual sizes, as more
    than one in four do."""
    tried: list[object] = []

    def gone(conflict: Conflict, trial: object, *others: object) -> bool:
        tried.append(trial)
        return False

    monkeypatch.setattr(sizes, "is_there_again", gone)
    [race] = _races(tmp_path, _SIZED)
    assert race.reason is not None
    assert race.reason.startswith("it depends on `n`: not for n = ")
    assert (race.certainty, race.size) == ("possible", None)
    assert len(tried) == 2
