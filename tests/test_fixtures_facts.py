"""The figures that fixtures state beside their accesses: measured ones, and others with their arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest
from expected_facts import expected_facts, facts_differences

from cudalint.facts import FileFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_ROOT = Path(__file__).parent.parent / "fixtures"
_FIXTURES = [path for path in sorted(_ROOT.glob("*/*.cu")) if "facts:" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("fixture", _FIXTURES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_facts(fixture: Path) -> None:
    facts = analyse_file(str(fixture), AnalysisOptions())
    assert facts_differences(fixture.read_text(encoding="utf-8"), facts) == []


def test_there_are_enough() -> None:
    expectations = [fact for path in _FIXTURES for fact in expected_facts(path.read_text(encoding="utf-8"))]
    assert sum(len(expected.items) for expected in expectations) >= 60


def test_a_slip_is_no_silent_pass() -> None:
    with pytest.raises(ValueError, match="as a fact"):
        list(expected_facts("a; // facts: global load 32"))


def test_what_is_not_there_is_missing() -> None:
    nothing = FileFacts("a.cu", "ok")
    assert facts_differences("a; // facts: global load 4/4", nothing) == ["missing, line 1: global load 4/4"]
