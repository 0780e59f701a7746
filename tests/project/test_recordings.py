"""Files of recorded launches: which counts for a source, and what is said of those that can't be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recorded import NAME, recording_text, write_recording_in

from cudalint.launches.recorded.files import LARGEST
from cudalint.project.discovery import SourceFile
from cudalint.project.settings import CommandLine, FileSettings, Settings
from cudalint.report.findings.results import Failure
from cudalint.run.runs import configure
from cudalint.system.disk import recorder as disk

_SOURCE = "src/deep/a.cu"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a source two folders below its root; the current folder is the root."""
    disk.forget()
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    (root / _SOURCE).write_text("__global__ void k(float *p, int n) { p[threadIdx.x * n] = 1; }\n")
    monkeypatch.chdir(root)
    return root


def _of(path: str = _SOURCE, command_line: CommandLine | None = None) -> FileSettings:
    return Settings(command_line or CommandLine()).of(path)


def _recordings(path: str = _SOURCE, command_line: CommandLine | None = None) -> tuple[str, ...]:
    known = _of(path, command_line)
    assert known.unusable == ()
    return known.options.recordings


def test_the_nearest_counts_alone(project: Path) -> None:
    assert _recordings() == ()
    write_recording_in(project)
    assert _recordings() == (NAME,)
    assert _recordings("b.cu") == (NAME,)
    write_recording_in(project / "src")
    assert _recordings() == (f"src/{NAME}",)
    assert _recordings("b.cu") == (NAME,)
    write_recording_in(project / "src" / "deep")
    assert _recordings() == (f"src/deep/{NAME}",)
    (project / "src" / "deep" / NAME).unlink()
    # A folder of that name is none.
    (project / "src" / "deep" / NAME).mkdir()
    assert _recordings() == (f"src/{NAME}",)


def test_none_is_looked_for_above_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_recording_in(project.parent)
    assert _recordings() == ()
    monkeypatch.chdir(project / "src")
    write_recording_in(project)
    assert _recordings("deep/a.cu") == (str(project / NAME),)


def test_the_one_beside_the_configuration(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no repository is in sight, a configuration may stand above the current folder."""
    (project / ".git").rmdir()
    (project / "cudalint.toml").write_text("")
    write_recording_in(project)
    monkeypatch.chdir(project / "src")
    assert _recordings("deep/a.cu") == (str(project / NAME),)
    assert _recordings("deep/a.cu", CommandLine(use_config=False)) == ()
    write_recording_in(project / "src")
    assert _recordings("deep/a.cu") == (NAME,)


def test_what_a_configuration_names_takes_the_place_of_what_is_found(project: Path) -> None:
    write_recording_in(project)
    for name in ("one", "two"):
        write_recording_in(project / "recorded" / name)
    (project / "src" / "cudalint.toml").write_text(
        f'launches = ["../recorded/one/{NAME}", "../recorded/two/{NAME}"]\nonly-recorded = true\n'
    )
    assert _recordings() == (f"recorded/one/{NAME}", f"recorded/two/{NAME}")
    assert _of().options.only_recorded
    assert _recordings("b.cu") == (NAME,)
    assert not _of("b.cu").options.only_recorded
    (project / "src" / "deep" / "cudalint.toml").write_text('extend = "../cudalint.toml"\nonly-recorded = false\n')
    assert _recordings() == (f"recorded/one/{NAME}", f"recorded/two/{NAME}")
    assert not _of().options.only_recorded
    (project / "src" / "deep" / "cudalint.toml").write_text("launches = []\n")
    assert _recordings() == ()


def test_the_command_line_goes_before_the_configuration(project: Path) -> None:
    write_recording_in(project)
    own = str(write_recording_in(project / "own"))
    (project / "cudalint.toml").write_text(f'launches = ["{NAME}"]\nonly-recorded = true\n')
    assert _recordings(command_line=CommandLine(launches=(own, own))) == (own,)
    assert _recordings(command_line=CommandLine(launches=())) == ()
    assert not _of(command_line=CommandLine(only_recorded=False)).options.only_recorded
    assert _of(command_line=CommandLine(only_recorded=True, use_config=False)).options.only_recorded


_BROKEN = {
    "empty": (b"", "it holds no recorded launches: "),
    "torn": (recording_text().encode()[:-3], "it holds no recorded launches: "),
    "binary": (b"\x7fELF\0\xff" * 100, "it holds no recorded launches: "),
    "of another form": (b'{"version": 1, "kernels": 3}', "it holds no recorded launches: "),
    "of another version": (b'{"version": 77}', "its version is 77"),
    "without launches": (b'{"version": 1, "kernels": []}', "it holds no recorded launches"),
    "nested": (b"[" * 100_000, "it holds no recorded launches: "),
    "huge": (b" " * (LARGEST + 1), "it has more than 32 MiB"),
}


@pytest.mark.parametrize(("data", "reason"), _BROKEN.values(), ids=_BROKEN.keys())
def test_one_that_cannot_be_used_costs_nothing_else(project: Path, data: bytes, reason: str) -> None:
    (project / NAME).write_bytes(data)
    good = write_recording_in(project / "good").relative_to(project)
    (project / "src" / "cudalint.toml").write_text(f'launches = ["../{NAME}", "../{good}"]')
    files = [SourceFile(path) for path in (_SOURCE, "src/b.cu", "c.cu")]
    configured, failures = configure(files, Settings(CommandLine()))
    assert [each.options.recordings for each in configured] == [(str(good),), (str(good),), ()]
    (failure,) = failures
    assert failure.path == NAME
    assert failure.message.startswith(reason)
    assert "\n" not in failure.message


def test_who_names_what_is_not_there(project: Path) -> None:
    (project / "cudalint.toml").write_text('target = "h100"\nlaunches = ["none.json"]')
    reason = "cannot read it: No such file or directory (cudalint.toml:2 names it)"
    assert configure([SourceFile(_SOURCE)], Settings(CommandLine()))[1] == [Failure("none.json", reason)]


def test_links_that_leave_the_project_are_not_followed(project: Path, tmp_path: Path) -> None:
    outside = write_recording_in(tmp_path / "outside")
    (project / NAME).symlink_to(outside)
    known = _of()
    assert known.options.recordings == ()
    assert known.unusable == ((NAME, "cannot read it: it leads out of the project"),)
    (project / NAME).unlink()
    (project / NAME).symlink_to("kept.json")
    assert _recordings() == ()
    (project / "kept.json").write_text(recording_text())
    assert _recordings() == (NAME,)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes by name")
def test_nobody_waits_for_a_pipe(project: Path) -> None:
    os.mkfifo(project / NAME)
    assert _of().unusable == ((NAME, "cannot read it: no regular file (a pipe or device)"),)


def test_each_file_is_read_once_in_a_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("cudalint.project.recordings.check_recording", read.append)
    write_recording_in(project)
    settings = Settings(CommandLine())
    for path in (_SOURCE, "src/b.cu", "c.cu", _SOURCE):
        assert settings.of(path).options.recordings == (NAME,)
    assert read == [NAME]
