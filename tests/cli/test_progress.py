"""What is seen of a run while it goes on."""

from __future__ import annotations

import io
import sys

import pytest
from handmade import column_read

from cudalint.cli import progress
from cudalint.cli.progress import ProgressBar
from cudalint.report.findings.results import Coverage, FileReport


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _report() -> FileReport:
    return FileReport("tile.cu", "ok", (column_read(),), (), (), (), Coverage(), frozenset())


def test_the_bar_names_what_runs_and_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := _Terminal())
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_BETWEEN", 0.0)
    with ProgressBar(3, quiet=False) as bar:
        assert bar.is_watched
        bar.begun("a\x1b[2J.cu")
        bar.at_kernel("a\x1b[2J.cu", "gemm")
        bar.begun("tile.cu")
        bar.waiting()
        bar.done("tile.cu", _report())
    shown = terminal.getvalue()
    # What has run for the longest time, without the control character of its name.
    assert "a?[2J.cu: gemm" in shown
    assert "0/3" in shown
    assert "1/3" in shown
    assert "tile.cu:10: CL201 32-way bank conflict" in shown


def test_without_a_terminal_it_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", log := io.StringIO())
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with ProgressBar(3, quiet=False) as bar:
        bar.begun("tile.cu")
        bar.waiting()
        assert log.getvalue() == ""
        monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.0)
        bar.done("tile.cu", _report())
        bar.begun("a.cu")
        bar.waiting()
    assert log.getvalue() == "cudalint: 1 of 3 files done\ncudalint: 1 of 3 files done, at a.cu\n"


@pytest.mark.parametrize(("total", "quiet"), [(3, True), (0, False)])
def test_nobody_watches(monkeypatch: pytest.MonkeyPatch, total: int, quiet: bool) -> None:
    monkeypatch.setattr(sys, "stderr", _Terminal())
    assert not ProgressBar(total, quiet).is_watched
