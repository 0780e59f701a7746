"""Fixtures whose fixes are written down: beside `NAME.cu` stands `NAME.patch`, what `--fix --unsafe-fixes` makes of it.

What is in a patch was compiled with nvcc (`nvcc -c -arch=sm_80`) when it was written.
"""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from cudalint.cli import run

_FIXTURES = Path(__file__).parents[3] / "fixtures"


def _fix(path: Path, code: str) -> str:
    run(("check", str(path), "--no-cache", "--no-config", "--all", "--select", code, "--fix", "--unsafe-fixes", "-q"))
    return path.read_text(encoding="utf-8")


_PATCHES = sorted(_FIXTURES.glob("*/*.patch"))


@pytest.mark.parametrize("patch", _PATCHES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_fixes_are_those_written_down_and_all_at_once(patch: Path, tmp_path: Path) -> None:
    before = patch.with_suffix(".cu").read_text(encoding="utf-8")
    code = patch.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    (tmp_path / ".git").mkdir()
    copy = tmp_path / patch.with_suffix(".cu").name
    copy.write_text(before, encoding="utf-8")
    after = _fix(copy, code)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=1)
    assert "\n".join((f"# {code}", *lines)) + "\n" == patch.read_text(encoding="utf-8")
    assert _fix(copy, code) == after
