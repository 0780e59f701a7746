"""Every fixture: what its comments expect is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.testing import differences_in

_ROOT = Path(__file__).parent.parent
_FIXTURES = [*sorted(_ROOT.glob("fixtures/*/*.cu")), *sorted(_ROOT.glob("acme_rules/examples/*.cu"))]


@pytest.mark.parametrize("fixture", _FIXTURES, ids=lambda path: path.parent.name + "/" + path.name)
def test_fixture(fixture: Path) -> None:
    rule = fixture.stem if fixture.parent.name == "examples" else fixture.parent.name
    assert differences_in(fixture, [rule]) == []
