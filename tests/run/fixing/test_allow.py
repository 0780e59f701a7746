"""`--add-allow`: comments that allow findings, where a comment can do that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cudalint.cli import run
from cudalint.diagnostics import Diagnostic, Edit
from cudalint.facts import Place
from cudalint.options.analysis import AnalysisOptions
from cudalint.options.annotations import read_annotations
from cudalint.project.discovery import SourceFile
from cudalint.project.settings import FileSettings
from cudalint.report.findings.results import Coverage, Failure, FileReport
from cudalint.run.fixing.allowing import allow, comment_above, problem_of_reason
from cudalint.run.fixing.writing import Grounds
from cudalint.run.runs import Configured, result_of


class _Marks:
    """Lints as the real one does, but finds the lines that say BAD, by what the files on disk are now."""

    def reports(self, configured: Sequence[Configured]) -> tuple[list[FileReport], list[Failure]]:
        return [self._report(each.file.path) for each in configured], []

    def _report(self, path: str) -> FileReport:
        text = Path(path).read_text()
        allowed = {a.target_line for a in read_annotations(text).annotations}
        lines = [n for n, line in enumerate(text.splitlines(), 1) if "BAD" in line and n not in allowed]
        # What stands on a line of its own is seen when the first one is allowed.
        places = (Place(path, line, 1, line, 4) for line in lines[:1])
        found = (Diagnostic("CL201", "bank-conflict", "warning", place, "message", "", "") for place in places)
        return FileReport(path, "ok", tuple(found), (), (), (), Coverage(), {})


def _after(text: str, line: int) -> str | None:
    edit = comment_above("k.cu", text, line, ("bank-conflict", "CL101"), "measured (twice): fine")
    return None if edit is None else edit.text


def test_a_comment_speaks_of_the_line_below() -> None:
    comment = "// cudalint: allow(bank-conflict, CL101) -- measured (twice): fine"
    assert _after("int a;\n\tb = c[i];\r\nd();\n", 2) == f"\t{comment}\r\n"
    assert _after("// cudalint: allow(CL301) -- so\nx();\n", 2) == f"{comment}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("#define A x \\\n    y\n", 2),
        ("s = R\"(a\nb)\"; x();\n", 2),
        ("/* a\n b */ x();\n", 2),
        ("#pragma unroll\nx();\n", 1),
        ("x();\n", 9),
    ],
)  # fmt: skip
def test_where_no_comment_can_stand(text: str, line: int) -> None:
    assert _after(text, line) is None


def test_reasons() -> None:
    assert problem_of_reason("runs once -- at the start (rarely)") is None
    for reason in ("", "  ", "two\nlines", "ends so \\", "\x1b[31m"):
        assert problem_of_reason(reason)


def test_what_is_written(tmp_path: Path) -> None:
    names = ("a.cu", "read_only.cu", "python.py")
    for name in names:
        (tmp_path / name).write_text("x();\n  BAD\nBAD\n")
    (tmp_path / "read_only.cu").chmod(0o444)
    paths = [str(tmp_path / name) for name in names]
    told: list[Edit] = []
    allowed = allow(
        [Configured(SourceFile(path), FileSettings(AnalysisOptions())) for path in paths],
        _Marks(),  # type: ignore[arg-type]
        "so ",
        Grounds.of(paths, paths, lambda path, is_folder: False),
        lambda reports, failures: result_of(reports, failures, "a100"),
        told.extend,
    )
    comment = "// cudalint: allow(bank-conflict) -- so\n"
    assert (tmp_path / "a.cu").read_text() == f"x();\n  {comment}  BAD\n{comment}BAD\n"
    assert (allowed.lines, [edit.place.line for edit in told]) == (2, [2, 4])
    assert {failure.path: failure.message for failure in allowed.refused} == {
        paths[1]: "read-only, so it is not written to",
        paths[2]: "kernels in Python have their comments written by hand",
    }
    assert [d.place.path for d in allowed.result.diagnostics] == sorted(paths[1:])


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in ([" "], ["x", "--fix"], ["x", "--write-baseline", "b.json"], ["x", "-"]):
        assert run(["k.cu", "--add-allow", *wrong]) == 2
    assert capfd.readouterr().err.count("error: ") == 4
