"""GitHub's workflow commands, GitLab's report and JUnit's, each read back by the rules of whoever takes it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from handmade import column_read, strided_load
from msgspec.structs import replace

from cudalint.facts import FindingCost
from cudalint.report.findings.places import path_from, project_root
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import github, gitlab, junit
from cudalint.report.formats.presentation import Presentation

STRANGE = "sub, dir/100%: a é.cu"
_COMMAND = re.compile(r"::(\w+) ([^:]*)::(.*)")


def _unescaped(text: str) -> str:
    """As the runner does (actions/runner, `ActionCommand`): `%25` comes last."""
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def _read_command(line: str) -> tuple[str, dict[str, str], str]:
    match = _COMMAND.fullmatch(line)
    assert match is not None, line
    pairs = (pair.split("=", 1) for pair in match[2].split(","))
    return match[1], {key: _unescaped(value) for key, value in pairs}, _unescaped(match[3])


def test_workflow_commands(awkward: CheckResult, sources: SourceLines) -> None:
    *lines, summary = github.render(awkward, sources, Presentation())
    assert not any("\n" in line or "\r" in line for line in lines)
    failed, worst, first, _, info = map(_read_command, lines)
    assert failed == ("error", {"file": "none, at all.cu", "title": "not linted"}, "no such\nfile")
    assert worst[:2] == ("error", {"file": STRANGE, "line": "4", "endLine": "5", "title": "CL201 bank-conflict"})
    assert first[0] == "warning"
    assert first[1] == {
        "file": STRANGE, "line": "3", "endLine": "3", "col": "18", "endColumn": "22",
        "title": "CL101 uncoalesced-access",
    }  # fmt: skip
    assert first[2].startswith("50%: a | b <c>\\x0d\n& `d`, ::e\\x07\nkernel: tile32, for block 32x32, grid 8x8 (la")
    assert info[0] == "notice"
    assert summary.startswith("Found 1 error, 2 warnings and 1 info in 1 kernel")
    assert list(github.render(awkward, sources, Presentation(quiet=True))) == lines


def test_the_summary_is_a_table(awkward: CheckResult) -> None:
    text = github.step_summary(awkward)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(awkward.diagnostics)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {6}
    assert "50%: a &#124; b &#60;c&#62; &#38; `d`" in text
    assert "- **none, at all.cu**: no such file" in text


def test_the_summary_ranks_kernels() -> None:
    """Those first that would gain most, then those with the worst findings."""
    slow = FindingCost(share=0.5, speedup=2.0, limiter="dram")
    findings = (
        replace(column_read(), kernel="mild", severity="info"),
        replace(column_read(), kernel="bad", severity="error"),
        replace(strided_load(), kernel="bad"),
        replace(strided_load(), kernel="slow|er", cost=slow),
    )
    lines = github.step_summary(CheckResult("a100", findings)).splitlines()
    rows = [line for line in lines if line.startswith(("| `", "| <code>"))]
    assert rows[:3] == [
        "| <code>slow&#124;er</code> | 0 | 1 | 0 | CL101 uncoalesced-access | 2x |",
        "| `bad` | 1 | 1 | 0 | CL201 bank-conflict |  |",
        "| `mild` | 0 | 0 | 1 | CL201 bank-conflict |  |",
    ]


def test_a_summary_stays_under_githubs_limit() -> None:
    result = CheckResult("a100", (replace(column_read(), message="x" * 1000),) * 2000)
    text = github.step_summary(result)
    assert len(text.encode()) <= 1024 * 1024
    shown = text.count("x" * 1000)
    assert text.endswith(f"\n{2000 - shown} more findings are left out.\n")


def test_gitlab(awkward: CheckResult, sources: SourceLines) -> None:
    """The fields that docs.gitlab.com names: five are required, fingerprints are unique, paths have no `./`."""
    entries = json.loads("\n".join(gitlab.render(awkward, sources, Presentation())))
    assert len(entries) == 4
    assert len({entry["fingerprint"] for entry in entries}) == 4
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert isinstance(entry["location"]["lines"]["begin"], int)
        assert not entry["location"]["path"].startswith("./")
    assert entries[0]["location"] == {"path": STRANGE, "lines": {"begin": 3, "end": 3}}


def test_junit(awkward: CheckResult) -> None:
    junitparser = pytest.importorskip("junitparser", reason="junitparser comes with the extra `dev`")
    suites = junitparser.JUnitXml.fromstring("\n".join(junit.render(awkward, SourceLines(), Presentation())).encode())
    counts = {suite.name: (suite.tests, suite.failures, suite.errors) for suite in suites}
    assert counts == {
        "/elsewhere/b.cu": (1, 0, 0), "clean.cu": (1, 0, 0), STRANGE: (3, 3, 0), "none, at all.cu": (1, 0, 1)
    }  # fmt: skip
    assert (suites.tests, suites.failures, suites.errors) == (6, 3, 1)
    suites.update_statistics()
    assert (suites.tests, suites.failures, suites.errors) == (6, 3, 1)
    failures = [result for suite in suites for case in suite for result in case.result]
    messages = [str(failure.message) for failure in failures]
    assert "50%: a | b <c>\\x0d\n& `d`, ::e\ufffd" in messages


def test_junit_follows_what_fails_a_run(awkward: CheckResult) -> None:
    text = "\n".join(junit.render(awkward, SourceLines(), Presentation(fail_on="error")))
    assert text.count("<failure ") == 1
    assert "\n".join(junit.render(awkward, SourceLines(), Presentation(fail_on="info"))).count("<failure ") == 4


def test_paths_count_from_the_projects_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "work" / "kernels"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert project_root() == str(inner)
    (tmp_path / ".git").mkdir()
    assert project_root() == str(tmp_path)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "work"))
    assert project_root() == str(tmp_path / "work")
    path_from.cache_clear()
    assert path_from(project_root(), "a.cu") == "kernels/a.cu"
    assert path_from(project_root(), "../b.cu") == "b.cu"
    assert path_from(project_root(), "../../c.cu") == (tmp_path / "c.cu").as_posix()
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert project_root() == str(tmp_path)


def test_what_looks_escaped_is_read_as_it_was_written() -> None:
    """Without `%25`, a runner would make a new line of it."""
    result = CheckResult("a100", (replace(column_read(), message="printf(\"%0A%2C\") of 100%25"),))
    command = _read_command(next(iter(github.render(result, SourceLines({}), Presentation()))))
    assert command[2].startswith('printf("%0A%2C") of 100%25\n')
