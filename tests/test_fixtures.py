"""Every fixture: what its comments expect is found, and nothing else, and its accesses have the figures that stand
beside them.

The rules that are on by default run on each fixture, and the rule after which its folder is named, or its file, for the
examples of the rules' pages. Edits are not tried here (`tests/run/fixing/test_edited_fixtures.py`).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from expected_facts import expected_facts, facts_differences

from cudalint.facts import FileFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection, all_rules
from cudalint.report.findings.merging import gather
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import report_on
from cudalint.run.job import CheckJob
from cudalint.testing import differences

_ROOT = Path(__file__).parent.parent
_ON_COMMENTS = ("bad-annotation", "unused-suppression")
"""Examples of rules about comments, beside which no other comment can stand; the pages' test looks at them."""
_FIXTURES = [
    *sorted(_ROOT.glob("fixtures/*/*.cu")),
    *(path for path in sorted(_ROOT.glob("rules/examples/*.cu")) if path.stem not in _ON_COMMENTS),
]
_WITH_FIGURES = [path for path in _FIXTURES if "facts:" in path.read_text(encoding="utf-8")]
_CASES = [
    pytest.param(path, of, id=f"{path.relative_to(_ROOT)}{of}")
    for path in _FIXTURES
    for of in ("", "-figures")
    if not of or path in _WITH_FIGURES
]


@lru_cache(maxsize=1)
def _facts(fixture: Path) -> FileFacts:
    """One analysis for both tests of a fixture, which come one after the other."""
    facts = analyse(str(fixture), AnalysisOptions())
    assert isinstance(facts, FileFacts), facts
    return facts


def _selection(fixture: Path) -> Selection:
    names = (fixture.parent.name, fixture.stem)
    return Selection(tuple(r.code for r in all_rules() if r.on_by_default or r.name in names))


@pytest.mark.parametrize(("fixture", "of"), _CASES)
def test_fixture(fixture: Path, of: str) -> None:
    text, facts = fixture.read_text(encoding="utf-8"), _facts(fixture)
    if of == "-figures":
        wrong = facts_differences(text, facts)
    else:
        job = CheckJob(str(fixture), AnalysisOptions(), _selection(fixture), pictures=False, tries_edits=False)
        found = gather([report_on(facts, job)])
        wrong = differences(text, [diagnostic for diagnostic in found if diagnostic.place.path == str(fixture)])
    assert not wrong, "\n".join(wrong)


def test_there_are_enough_figures() -> None:
    expectations = [fact for path in _WITH_FIGURES for fact in expected_facts(path.read_text(encoding="utf-8"))]
    assert sum(len(expected.items) for expected in expectations) >= 60


def test_a_slip_in_a_figure_is_no_silent_pass() -> None:
    with pytest.raises(ValueError, match="as a fact"):
        list(expected_facts("a; // facts: global load 32"))


def test_a_figure_that_is_not_there_is_missing() -> None:
    nothing = FileFacts("a.cu", "ok")
    assert facts_differences("a; // facts: global load 4/4", nothing) == ["missing, line 1: global load 4/4"]
