"""Every fixture: what its comments expect is found, and nothing else.

The rules that are on by default run on each fixture, and the rule after which its folder is named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import differences

from cudalint.engine import CheckJob, check_file
from cudalint.merging import gather
from cudalint.options import AnalysisOptions
from cudalint.registry import Selection, all_rules
from cudalint.results import FileReport

_ROOT = Path(__file__).parent.parent / "fixtures"
_FIXTURES = sorted(_ROOT.glob("*/*.cu"))


def _selection(fixture: Path) -> Selection:
    return Selection(tuple(r.code for r in all_rules() if r.on_by_default or r.name == fixture.parent.name))


@pytest.mark.parametrize("fixture", _FIXTURES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_fixture(fixture: Path) -> None:
    report = check_file(CheckJob(str(fixture), AnalysisOptions(), _selection(fixture), pictures=False))
    assert isinstance(report, FileReport), report
    found = [diagnostic for diagnostic in gather([report]) if diagnostic.place.path == str(fixture)]
    assert differences(fixture.read_text(encoding="utf-8"), found) == []
