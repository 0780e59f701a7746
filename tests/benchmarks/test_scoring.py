"""The definitions by which predictions are scored."""

from __future__ import annotations

from typing import Any

import pytest
from scoring import Totals, measured_lines, plain_name, predictions, score_lines, totals


def _program(space: str, *instructions: tuple[int, float, float]) -> dict[str, Any]:
    """A program with one line, whose instructions have requests, figure and ideal."""
    names = ("requests", "per_request", "ideal_per_request")
    rows = [dict(zip(names, instruction, strict=True)) for instruction in instructions]
    line = {"space": space, "file": "a.cu", "line": 7, "instructions": rows}
    return {"kernels": [{"kernel": "void k<(int)3>(float *)", "block": [32, 1, 1], "lines": [line]}]}


def _facts(space: str, *results: dict[str, Any], source: str = "launch-site", line: int = 7) -> dict[str, Any]:
    launch = {"block": [32, 1, 1], "source": source}
    given = [{"launch": 0, "status": "exact", **result} for result in results]
    access = {"path": "src/a.cu", "line": line, "space": space, "results": given}
    return {"files": [{"kernels": [{"name": "k", "launches": [launch], "accesses": [access]}]}]}


def _sectors(value: float, ideal: float = 4.0, **more: Any) -> dict[str, Any]:
    return {"sectors_per_request": value, "ideal_sectors": ideal, **more}


def _totals(program: dict[str, Any], facts: dict[str, Any], space: str = "global") -> Totals:
    found = totals([score_lines(measured_lines(program), predictions(facts))], space)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("k", "k"),
        ("void ns::f<(int)3>(float *)", "f"),
        ("(anonymous namespace)::g(int)", "g"),
        ("void h<a::b<int>, 3>(a::b<int> *)", "h"),
    ],
)
def test_plain_name(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_within_five_percent_is_exact() -> None:
    assert _totals(_program("global", (10, 4.0, 4.0)), _facts("global", _sectors(4.19))).exact == 1
    assert _totals(_program("global", (10, 4.0, 4.0)), _facts("global", _sectors(4.3))).exact == 0


def test_each_measured_value_needs_a_prediction_and_the_other_way_round() -> None:
    two = _program("global", (10, 4.0, 4.0), (10, 32.0, 4.0))
    assert _totals(two, _facts("global", _sectors(4), _sectors(32))).exact == 1
    assert _totals(two, _facts("global", _sectors(4))).exact == 0
    one = _program("global", (10, 4.0, 4.0))
    assert _totals(one, _facts("global", _sectors(4), _sectors(32))).exact == 0


def test_a_predicated_access_fits_by_its_fraction() -> None:
    program = _program("global", (80, 0.5, 0.5))
    assert _totals(program, _facts("global", _sectors(4, active_request_fraction=0.125))).exact == 1


def test_shared_figures_are_compared_over_their_ideal() -> None:
    program = _program("shared", (10, 16.0, 4.0))
    facts = _facts("shared", {"wavefronts_per_request": 4.0, "ideal_wavefronts": 1.0})
    assert _totals(program, facts, "shared").exact == 1


def test_flags_count_as_hits_misses_and_false_alarms() -> None:
    bad, good = _program("global", (10, 32.0, 4.0)), _program("global", (10, 4.0, 4.0))
    assert _totals(bad, _facts("global", _sectors(32))).hits == 1
    assert _totals(bad, _facts("global", _sectors(4))).misses == 1
    assert _totals(good, _facts("global", _sectors(32))).false_alarms == 1


def test_nothing_predicted_is_not_covered() -> None:
    program = _program("global", (10, 32.0, 4.0))
    found = _totals(program, _facts("global", {"status": "data-dependent", "reason": "loaded"}))
    assert (found.covered, found.exact, found.misses) == (0, 0, 1)
    assert _totals(program, _facts("global", _sectors(32), line=8)).covered == 0


def test_only_a_visible_launch_is_held_to_the_block() -> None:
    program = _program("global", (10, 4.0, 4.0))
    program["kernels"][0]["block"] = [64, 1, 1]
    assert _totals(program, _facts("global", _sectors(4))).covered == 0
    assert _totals(program, _facts("global", _sectors(4), source="default")).covered == 1


def test_averages_are_by_program() -> None:
    right, wrong = _program("global", (10, 4.0, 4.0)), _program("global", (10, 8.0, 4.0))
    wrong["kernels"] = [wrong["kernels"][0], {**wrong["kernels"][0], "kernel": "other"}]
    facts = list(predictions(_facts("global", _sectors(4))))
    scores = [score_lines(measured_lines(program), facts) for program in (right, wrong)]
    found = totals(scores, "global")
    assert found is not None
    assert found.exact == 0.5
    assert found.exact_by_line == pytest.approx(1 / 3)


def test_a_space_without_lines_has_no_averages() -> None:
    assert totals([score_lines(measured_lines(_program("global", (1, 4.0, 4.0))), [])], "shared") is None
