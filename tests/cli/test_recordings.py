"""Recorded launches on the command line: what names them, and what is said of those that are of no use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edit_note import without_edit_note
from handmade import TILE_SOURCE
from recorded import NAME, write_recording_in

from cudalint.run.runs import Lint

Run = Callable[..., Any]
_ALONE = ("-j", "1")
"""Two files are too few for processes of their own, which take seconds to start."""


@pytest.fixture
def tree(project: Path) -> Path:
    """A repository with two sources."""
    (project / ".git").mkdir()
    for folder in ("own", "other"):
        (project / folder).mkdir()
        (project / folder / "t.cu").write_text(TILE_SOURCE)
    return project


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Which recordings went to the analysis of each file, and whether they alone count."""
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    original = Lint.job

    def job(lint: Lint, each: Any) -> Any:
        made = original(lint, each)
        found[made.path] = made.options.recordings, made.options.only_recorded
        return made

    monkeypatch.setattr(Lint, "job", job)
    return found


def test_jobs_carry_them(cudalint: Run, tree: Path, given: dict[str, tuple[tuple[str, ...], bool]]) -> None:
    assert without_edit_note(cudalint(".", *_ALONE).err) == ""
    assert given == {"own/t.cu": ((), False), "other/t.cu": ((), False)}
    write_recording_in(tree)
    write_recording_in(tree / "own")
    assert without_edit_note(cudalint(".", *_ALONE, "--only-recorded").err) == ""
    assert given == {"own/t.cu": ((f"own/{NAME}",), True), "other/t.cu": ((NAME,), True)}
    assert without_edit_note(cudalint(".", *_ALONE, "--no-launches").err) == ""
    assert given == {"own/t.cu": ((), False), "other/t.cu": ((), False)}
    both = ("--launches", NAME, "--launches", f"own/{NAME}")
    assert without_edit_note(cudalint(".", *_ALONE, *both).err) == ""
    assert set(given.values()) == {((NAME, f"own/{NAME}"), False)}


@pytest.mark.parametrize("command", ["check", "facts", "roofline", "what-if", "confirm", "trace", "config"])
def test_a_bad_one_that_is_named_is_one_line(cudalint: Run, tree: Path, command: str) -> None:
    (tree / "bad.json").write_text("{}")
    result = cudalint(command, "own/t.cu:10" if command == "trace" else "own/t.cu", "--launches", "bad.json")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert "--launches': bad.json: it holds no recorded launches" in result.err


@pytest.mark.parametrize("command", ["check", "facts"])
def test_a_bad_one_that_is_found_is_one_line_and_everything_is_done(cudalint: Run, tree: Path, command: str) -> None:
    (tree / NAME).write_text("{")
    result = cudalint(command, ".", *_ALONE)
    (line,) = without_edit_note(result.err).splitlines()
    assert line.startswith(f"cudalint: error: {NAME}: it holds no recorded launches: ")
    assert result.status == 2
    for path in ("own/t.cu", "other/t.cu"):
        assert path in result.out
    assert NAME not in cudalint(command, ".", *_ALONE, "--no-launches").err


def test_recorded_launches_alone_where_there_are_none(cudalint: Run, tree: Path) -> None:
    wanted = "cudalint: warning: only recorded launches are wanted, and there are none for "
    assert without_edit_note(cudalint(".", *_ALONE, "--only-recorded").err).startswith(wanted)
    write_recording_in(tree / "own")
    (line,) = without_edit_note(cudalint(".", *_ALONE, "--only-recorded").err).splitlines()
    assert line == f"{wanted}other/t.cu; `cudalint record` makes them"
    assert without_edit_note(cudalint("own", "--only-recorded").err) == ""


def test_config_says_where_they_come_from(cudalint: Run, tree: Path) -> None:
    def rows(*arguments: str) -> dict[str, tuple[object, str]]:
        document = json.loads(cudalint("config", "own", "--format", "json", *arguments).out)
        named = [row for row in document["settings"] if row["key"] in ("launches", "only-recorded")]
        return {row["key"]: (row["value"], row["origin"]) for row in named}

    assert rows() == {"launches": ([], "default"), "only-recorded": (False, "default")}
    write_recording_in(tree)
    assert rows()["launches"] == ([NAME], "found above the files")
    assert rows("--no-launches")["launches"] == ([], "command line")
    assert rows("--launches", NAME, "--only-recorded") == {
        "launches": ([NAME], "command line"),
        "only-recorded": (True, "command line"),
    }
    (tree / "cudalint.toml").write_text(f'only-recorded = true\nlaunches = ["{NAME}"]')
    assert rows() == {"launches": ([NAME], "cudalint.toml:2"), "only-recorded": (True, "cudalint.toml:1")}
    (tree / NAME).write_text("")
    value, origin = rows()["launches"]
    assert value == []
    assert origin.startswith(f"not used: {NAME}: it holds no recorded launches: ")
