"""What is left when a kernel's time is over is listed, not lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import FileFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run import kernel_analysis
from cudalint.run.analysis import analyse_file
from cudalint.system.processes.deadline import NEVER, Deadline

_SOURCE = """
__global__ void scale(float *a)
{
    a[threadIdx.x] = 2 * a[threadIdx.x];
    if (threadIdx.x < 16)
        a[threadIdx.x + 256] = 0;
}
void run(float *a) { scale<<<1, 256>>>(a); }
"""


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> FileFacts:
    """The facts under a share of the file's time."""
    name, share = request.param
    monkeypatch.setattr(kernel_analysis, name, share)
    source = tmp_path / "scale.cu"
    source.write_text(_SOURCE)
    return analyse_file(str(source), AnalysisOptions())


def test_within_takes_the_earlier_end() -> None:
    assert not NEVER.is_over()
    assert not NEVER.within(60).is_over()
    assert NEVER.within(60).within(-1).is_over()
    assert Deadline(0.0).within(60).is_over()


@pytest.mark.parametrize("facts", [("_EXECUTING_SHARE", -1.0)], indirect=True)
def test_an_execution_that_takes_too_long_is_a_gap(facts: FileFacts) -> None:
    """One that is done before anybody looks at the clock took no time."""
    [kernel] = facts.kernels
    assert kernel.accesses or [gap.reason for gap in kernel.gaps] == ["its body takes too long to execute"]


@pytest.mark.parametrize("facts", [("_SHARE", -1.0)], indirect=True)
def test_launches_that_are_left_are_listed(facts: FileFacts) -> None:
    [kernel] = facts.kernels
    assert len(kernel.launches) == 1
    assert kernel.accesses == ()
    assert "it was given up" in kernel.gaps[0].reason
    assert "time limit of 20 s" in facts.failures[0].message
    assert facts.failures[0].severity == "warning"
