"""Every fixture: what its comments expect is found, and nothing else.

The rules that are on by default run on each fixture, and the rule after which its folder is named, or its file, for the
examples of the rules' pages.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection, all_rules
from cudalint.report.findings.merging import gather
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.testing import differences

_ROOT = Path(__file__).parent.parent
_ON_COMMENTS = ("bad-annotation", "unused-suppression")
"""Examples of rules about comments, beside which no other comment can stand; the pages' test looks at them."""
_FIXTURES = [
    *sorted(_ROOT.glob("fixtures/*/*.cu")),
    *(path for path in sorted(_ROOT.glob("rules/examples/*.cu")) if path.stem not in _ON_COMMENTS),
]


def _selection(fixture: Path) -> Selection:
    names = (fixture.parent.name, fixture.stem)
    return Selection(tuple(r.code for r in all_rules() if r.on_by_default or r.name in names))


@pytest.mark.parametrize("fixture", _FIXTURES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_fixture(fixture: Path) -> None:
    report = check_file(CheckJob(str(fixture), AnalysisOptions(), _selection(fixture), pictures=False))
    assert isinstance(report, FileReport), report
    found = [diagnostic for diagnostic in gather([report]) if diagnostic.place.path == str(fixture)]
    wrong = differences(fixture.read_text(encoding="utf-8"), found)
    assert not wrong, "\n".join(wrong)
