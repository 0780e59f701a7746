"""Reports in several formats, into files, and on GitHub's runners."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from handmade import TILE_SOURCE

from cudalint.project.formats import FORMATS

Run = Callable[..., Any]

_ALLOWED = TILE_SOURCE.replace("[y];\n}", "[y];  // cudalint: allow(bank-conflict) -- measured: hidden\n}")


def test_several_reports_at_once(cudalint: Run, tile: str, project: Path) -> None:
    arguments = [part for name in FORMATS for part in ("--output", f"{name}=out.{name}")]
    result = cudalint(tile, "--format", "concise", *arguments)
    assert (result.status, result.err) == (1, "")
    written = {name: (project / f"out.{name}").read_text() for name in FORMATS}
    assert written["concise"] == result.out
    assert written["json"] == cudalint(tile, "--format", "json").out
    assert written["sarif"] == cudalint(tile, "--format", "sarif").out
    assert written["text"].startswith("warning[CL201]")
    assert "\x1b" not in cudalint(tile, "--color", "--output", "text=out.text").err + (project / "out.text").read_text()
    assert written["github"].startswith("::warning file=tile.cu,line=10")
    assert json.loads(written["gitlab"])[0]["check_name"] == "bank-conflict"
    assert written["junit"].startswith("<?xml")


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("out.json", "`out.json` has not the form FORMAT=FILE, such as sarif=cudalint.sarif"),
        ("xml=out.xml", f"`xml` is no format; there are {', '.join(FORMATS)}, patch"),
        ("json=none/out.json", "`none/out.json`: the folder does not exist"),
        ("json=.", "`.` is a folder"),
        ("json=-", "`json=-`: what is printed is up to --format; a report needs a file"),
    ],
)
def test_outputs_that_cannot_be(cudalint: Run, tile: str, output: str, message: str) -> None:
    result = cudalint(tile, "--output", output)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_a_file_takes_one_report(cudalint: Run, tile: str, project: Path) -> None:
    result = cudalint(tile, "--output", "json=out", "--output", "sarif=./out")
    assert (result.status, result.out) == (2, "")
    assert "`out` is named for more than one report" in result.err
    assert not (project / "out").exists()


def test_on_githubs_runners(cudalint: Run, tile: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "summary.md"))
    (project / "summary.md").write_text("before\n")
    result = cudalint(tile)
    assert result.status == 1
    assert result.out.startswith("::warning file=tile.cu,line=10,endLine=10,col=26,endColumn=33,title=CL201")
    summary = (project / "summary.md").read_text()
    assert summary.startswith("before\n### cudalint\n\nFound 1 warning")
    assert "| warning | CL201 bank-conflict | tile.cu:10 | `tile32` |" in summary
    assert cudalint(tile, "--format", "text").out.startswith("warning[CL201]")
    assert (project / "summary.md").read_text() == summary
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "none" / "summary.md"))
    assert "GITHUB_STEP_SUMMARY cannot be written" in cudalint(tile).err


def test_suppressed_findings_are_in_sarif_only(cudalint: Run, project: Path) -> None:
    (project / "tile.cu").write_text(_ALLOWED)
    result = cudalint("tile.cu", "--format", "sarif")
    assert result.status == 0
    (found,) = json.loads(result.out)["runs"][0]["results"]
    (suppression,) = found["suppressions"]
    assert suppression["justification"] == "measured: hidden"
    assert suppression["location"]["physicalLocation"]["region"]["startLine"] == 10
    assert "No findings" in cudalint("tile.cu").out
    assert json.loads(cudalint("tile.cu", "--format", "gitlab").out) == []


def test_statistics(cudalint: Run, tile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = cudalint(tile, "--statistics", "--select", "CL1,CL2")
    assert result.status == 1
    assert result.out == (
        "1  CL201  bank-conflict       in 1 kernel of 1 file\n"
        "1  CL101  uncoalesced-access  in 1 kernel of 1 file\n\n"
        "Found 2 warnings in 1 kernel for a100 (1 of 2 accesses evaluated); "
        "CL101 most often, `cudalint explain CL101`\n"
    )
    assert cudalint(tile, "--statistics", "--format", "sarif").status == 2
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert cudalint(tile, "--statistics", "--select", "CL1,CL2").out == result.out


@pytest.mark.parametrize("option", [["--output", "sarif=./tile.cu"], ["--write-baseline", "tile.cu"]])
def test_no_report_is_written_over_a_source(cudalint: Run, tile: str, project: Path, option: list[str]) -> None:
    text = (project / tile).read_text()
    for named in (tile, "."):
        result = cudalint(named, *option)
        assert (result.status, result.out) == (2, "")
        assert result.err.endswith("tile.cu is linted; name another file for what is to be written\n")
        assert (project / tile).read_text() == text


def test_a_report_that_cannot_be_written_costs_no_other(
    cudalint: Run, tile: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project))
    result = cudalint(tile, "--output", "json=/dev/full", "--output", "junit=report.xml")
    assert result.status == 2
    assert result.out.startswith("::warning file=tile.cu,")
    assert (project / "report.xml").read_text().startswith("<?xml")
    assert result.err == (
        "cudalint: error: /dev/full: cannot be written: No space left on device\n"
        f"cudalint: error: {project}: GITHUB_STEP_SUMMARY cannot be written: Is a directory\n"
    )


def test_hooks_leave_the_reports_of_the_whole_project_alone(cudalint: Run, tile: str, project: Path) -> None:
    (project / "cudalint.toml").write_text('[output]\njson = "out.json"\n')
    assert cudalint(tile, "--force-exclude").status == 1
    assert not (project / "out.json").exists()
    assert cudalint(tile, "--force-exclude", "--output", "json=named.json").status == 1
    assert (project / "named.json").exists()
    assert cudalint(tile).status == 1
    assert (project / "out.json").exists()
