"""Which findings are shown: the five lines of `findings/showing.py`, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from handmade import column_read, strided_load
from msgspec.structs import replace

from cudalint.cli import run
from cudalint.diagnostics import Diagnostic, Worlds
from cudalint.facts import Bound, FindingCost
from cudalint.report.findings.requirements import requirements
from cudalint.report.findings.showing import certainty_of, marked, with_worlds


def _costing(
    diagnostic: Diagnostic, share: float | None, traffic: float | None, limiter: Bound = "dram"
) -> Diagnostic:
    return replace(diagnostic, cost=FindingCost(share, None, limiter, traffic_share=traffic))


@pytest.mark.parametrize(
    ("share", "traffic", "held"),
    [
        (0.1, 0.1, None), (0.099, 0.199, "small"), (0.9, 0.099, "small"), (0.0, 0.9, "small"), (0.1, None, None),
        (None, 0.2, None), (None, 0.199, "unknown"), (None, None, "unknown"),
    ],
)  # fmt: skip
def test_waste_takes_a_tenth_of_time_and_traffic(share: float | None, traffic: float | None, held: str | None) -> None:
    """Where the time is not known, a fifth of the traffic."""
    assert marked(_costing(strided_load(), share, traffic), 0.1).held_back == held
    assert marked(_costing(strided_load(), share, traffic), 0.0).held_back is None


def test_where_a_kernel_waits_a_fifth_of_the_traffic_is_enough() -> None:
    """On an H200, mandelbrot's reversed axes are 63% of the traffic and 11% of the samples, and the model has the
    kernel wait for other results. A diagonal that is read once before 128 divisions is 70%, and no time."""
    assert marked(_costing(strided_load(), 0.0, 0.5, "latency"), 0.1).held_back is None
    assert marked(_costing(strided_load(), 0.0, 0.19, "latency"), 0.1).held_back == "small"
    assert marked(_costing(strided_load(), 0.0, 0.7, "fp32"), 0.1).held_back == "small"


@pytest.mark.parametrize(("share", "traffic", "held"), [(0.0, 0.2, None), (0.05, 0.19, "small"), (0.1, 0.1, None)])
def test_of_bank_conflicts_a_fifth_of_the_traffic_is_enough(share: float, traffic: float, held: str | None) -> None:
    assert marked(_costing(column_read(), share, traffic), 0.1).held_back == held


@pytest.mark.parametrize("ways", [4, 32])
@pytest.mark.parametrize(("traffic", "held"), [(0.2, None), (0.19, "small")])
def test_how_many_ways_a_conflict_has_decides_nothing(ways: int, traffic: float, held: str | None) -> None:
    """What it takes of the traffic of its kernel has them in it."""
    figures = {"wavefronts_per_request": float(ways), "ideal_wavefronts": 1.0, "ways": float(ways)}
    conflict = _costing(replace(column_read(), figures=figures), 0.0, traffic)
    assert marked(conflict, 0.1).held_back == held


def test_waste_without_traffic_takes_its_share_of_the_time() -> None:
    """Idle lanes are a part of what a kernel's warps execute: a fifth of that, where no time is known."""
    idle = replace(strided_load(), figures={"idle_fraction": 0.2})
    assert [marked(_costing(idle, share, None), 0.1).held_back for share in (0.1, 0.09, None)] == [None, "small", None]
    fewer = replace(idle, figures={"idle_fraction": 0.19})
    assert marked(_costing(fewer, None, None), 0.1).held_back == "unknown"


def test_errors_and_what_is_no_waste_are_shown() -> None:
    assert marked(replace(column_read(), severity="error", cost=FindingCost(0.0, None, "dram")), 0.1).held_back is None
    assert marked(replace(column_read(), cost=None), 0.1).held_back is None


@pytest.mark.parametrize(
    ("held", "tried", "of_waste", "of_errors"),
    [(4, 4, "certain", "certain"), (2, 4, "likely", "likely"), (1, 4, "conditional", "likely")],
)
def test_most_launches_are_enough_for_waste_and_one_for_errors(
    held: int, tried: int, of_waste: str, of_errors: str
) -> None:
    found = replace(_costing(strided_load(), 0.5, 0.5), worlds=Worlds(held, tried))
    error = replace(found, severity="error")
    assert (certainty_of(found), certainty_of(error)) == (of_waste, of_errors)
    assert with_worlds(found, 0.1).held_back == ("few" if of_waste == "conditional" else None)
    assert with_worlds(error, 0.1).held_back is None


def test_what_an_open_number_decides_is_a_requirement() -> None:
    found = marked(replace(_costing(strided_load(), 0.5, 0.5), condition="incx > 1"), 0.1)
    aligned = marked(replace(found, code="CL102", condition="k % 4 == 0", severity="error"), 0.1)
    assert (found.held_back, aligned.held_back) == ("conditional", "conditional")
    (one,) = requirements([found, aligned])
    assert one.text == f"{found.name} at line {found.place.line} if `incx > 1`; needs `k % 4 == 0` for 1 access"


def test_sizes_for_which_a_launch_fails_are_an_example() -> None:
    found = marked(replace(strided_load(), condition="n == 1", is_example=True), 0.1)
    (one,) = requirements([found])
    assert one.text == f"{found.name} at line {found.place.line}, for example if `n == 1`"


_SOURCE = """\
__global__ void scaled(const float *x, float *y, int n, int incx) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * incx];
}
__global__ void strided(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * 4];
}
void run(const float *x, float *y, int n, int incx) {
    scaled<<<(n + 255) / 256, 256>>>(x, y, n, incx);
    strided<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """A stride that an argument brings may be 1; one of 4 is 4: 16 sectors for a warp's 32 floats, where 4 would do."""
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(_SOURCE)

    def told(*options: str) -> dict[str, Any]:
        run(["check", "--no-cache", "--format", "json", *options, "a.cu"])
        document: dict[str, Any] = json.loads(capfd.readouterr().out)
        return document

    usual = told()
    assert [(d["line"], d["certainty"], d["condition"]) for d in usual["diagnostics"]] == [(7, "certain", None)]
    [required] = usual["requirements"]
    assert (required["kernel"], required["findings"][0]["condition"]) == ("scaled", "incx > 1")
    assert usual["summary"]["requirements"] == 1
    everything = told("--all")
    assert {d["line"]: d["certainty"] for d in everything["diagnostics"]} == {3: "conditional", 7: "certain"}
    run(["check", "--no-cache", "a.cu"])
    assert "a.cu: `scaled` uncoalesced-access at line 3 if `incx > 1`" in capfd.readouterr().out
