"""From paths to files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudalint.project.discovery import SourceFile, discover
from cudalint.report.findings.results import Failure


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("main.cu", "k.cuh", "notes.txt", "sub/a.cu", "sub/b.cuh", "sub/.hidden/c.cu", "docs/readme.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _paths(*arguments: str) -> list[str]:
    found = discover(arguments)
    assert not found.failures
    return [file.path for file in found.files]


def test_named_files_are_taken_whatever_they_are_called() -> None:
    assert discover(["notes.txt"]).files == (SourceFile("notes.txt"),)


def test_folders_give_cuda_files_and_optional_headers(project: Path) -> None:
    assert discover(["sub"]).files == (SourceFile("sub/a.cu"), SourceFile("sub/b.cuh", is_optional=True))
    assert _paths(".") == ["k.cuh", "main.cu", "sub/a.cu", "sub/b.cuh"]
    assert _paths("./sub") == ["sub/a.cu", "sub/b.cuh"]
    assert _paths(str(project / "sub")) == [str(project / "sub/a.cu"), str(project / "sub/b.cuh")]


def test_sources_that_others_include_are_optional(project: Path) -> None:
    (project / "main.cu").write_text('#include <cstdio>\n  #  include "sub/a.cu" // its kernels\n#include "main.cu"\n')
    assert discover(["."]).files == (
        SourceFile("k.cuh", is_optional=True),
        SourceFile("main.cu"),
        SourceFile("sub/a.cu", is_optional=True),
        SourceFile("sub/b.cuh", is_optional=True),
    )
    assert SourceFile("sub/a.cu") in discover([".", "sub/a.cu"]).files
    # Nobody in sight includes it.
    assert discover(["sub"]).files[0] == SourceFile("sub/a.cu")


def test_every_file_comes_once_and_naming_wins() -> None:
    assert discover(["sub", "sub/../sub/b.cuh", "sub/a.cu"]).files == (
        SourceFile("sub/a.cu"),
        SourceFile("sub/../sub/b.cuh"),
    )


def test_patterns() -> None:
    assert _paths("*.cu", "s*") == ["main.cu", "sub/a.cu", "sub/b.cuh"]
    assert _paths("**/*.cu") == ["main.cu", "sub/a.cu"]


def test_a_file_whose_name_is_a_pattern(project: Path) -> None:
    (project / "k[1].cu").write_text("")
    assert _paths("k[1].cu") == ["k[1].cu"]


def test_failures(project: Path) -> None:
    (project / "dangling.cu").symlink_to("nowhere")
    found = discover(["none.cu", "docs", "*.cpp", "dangling.cu"])
    assert found.files == ()
    assert found.failures == (
        Failure("none.cu", "no such file or folder"),
        Failure("docs", "no CUDA files (*.cu, *.cuh, or *.py with kernels) in this folder"),
        Failure("*.cpp", "no file matches this pattern"),
        Failure("dangling.cu", "the link leads nowhere"),
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_and_devices_are_no_files(project: Path) -> None:
    """Whoever opens a pipe waits for somebody to write into it; some devices have no end."""
    os.mkfifo(project / "sub/pipe.cu")
    found = discover(["sub/pipe.cu", "/dev/zero", "sub/p*", "sub"])
    message = "no regular file (a pipe or device); `-` reads standard input"
    assert found.failures == tuple(Failure(path, message) for path in ("sub/pipe.cu", "/dev/zero", "sub/pipe.cu"))
    assert [file.path for file in found.files] == ["sub/a.cu", "sub/b.cuh"]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="the shells of this system have no <(command)")
def test_what_a_command_writes_is_read_once() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"// none\n")
    os.close(writer)
    try:
        assert discover([f"/dev/fd/{reader}"]).files == (SourceFile(f"/dev/fd/{reader}", "// none\n"),)
    finally:
        os.close(reader)


def test_links_in_a_circle_end(project: Path) -> None:
    (project / "sub/again").symlink_to(project / "sub")
    assert _paths("sub") == ["sub/a.cu", "sub/b.cuh"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may look everywhere")
def test_a_closed_folder(project: Path) -> None:
    (project / "sub").chmod(0)
    try:
        (failure,) = discover(["sub"]).failures
        assert failure.message.startswith("cannot look into this folder")
    finally:
        (project / "sub").chmod(0o755)
