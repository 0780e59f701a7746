"""Findings that are hard to write down: strange paths, texts and columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from handmade import column_read, file_facts, place, strided_load
from msgspec.structs import replace

from cudalint.diagnostics import Edit, Justification, Related, Suggestion
from cudalint.facts import Place
from cudalint.report.findings.places import path_from
from cudalint.report.findings.results import CheckResult, Failure, coverage_of
from cudalint.report.findings.sources import SourceLines

STRANGE = "sub, dir/100%: a é.cu"
_LINES = ("__global__ void k()", "{", "/* é𝄞 */ a[i] = b[i];", "  t[x]", "   [y] = 1;", "}")


@pytest.fixture
def awkward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CheckResult:
    """A result whose files are in the current folder, which is the root of a project."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    path_from.cache_clear()
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub, dir").mkdir()
    (tmp_path / STRANGE).write_text("\n".join(_LINES))
    first = replace(
        strided_load(STRANGE),
        # `b[i]`, after an `é` of two bytes and a clef of four, which is two UTF-16 code units.
        place=place(3, 21, 25, STRANGE),
        message="50%: a | b <c>\r\n& `d`, ::e\x07",
        related=(Related(place(1, 17, 18, STRANGE), "the kernel"), Related(place(1, 1, 2, "gone.cuh"), "elsewhere")),
        suggestion=Suggestion("two files", (Edit(place(3, 23, 24, STRANGE), "j"), Edit(place(1, 1, 1, "a.cu"), "x"))),
    )
    over_two_lines = replace(column_read(STRANGE), place=Place(STRANGE, 4, 3, 5, 7), severity="error", suggestion=None)
    info = replace(column_read("/elsewhere/b.cu"), severity="info", related=(), suggestion=None)
    allowed = replace(column_read(STRANGE), justification=Justification(place(5, 5, 9, STRANGE), 'measured: "fine"'))
    return CheckResult(
        "a100",
        (first, first, over_two_lines, info),
        (Failure("none, at all.cu", "no such\nfile"),),
        3,
        coverage_of(file_facts()),
        (allowed,),
        (STRANGE, "clean.cu"),
    )


@pytest.fixture
def sources() -> SourceLines:
    return SourceLines()
