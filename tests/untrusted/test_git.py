"""`--diff` in a repository that came with its `.git`: nothing that its configuration names is run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Check = Callable[..., Any]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")

_STRIDED = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"
_HOOKS = ("post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit")
_KEYS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.alternateRefsCommand", "diff.external",
    "diff.own.command", "diff.own.textconv", "filter.own.clean", "filter.own.smudge", "filter.own.process",
    "filter.with.dots.clean", "pager.diff", "alias.diff", "alias.rev-parse", "gpg.program", "credential.helper",
)  # fmt: skip


def _git(*arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(folder: Path) -> Path:
    """With two changed files, and a program that leaves a mark wherever git may run one."""
    _git("init", "-q")
    for name in ("a.cu", "b.cu"):
        (folder / name).write_text("// empty\n")
    _git("add", ".")
    _git("commit", "-qm", "first")
    program = folder / "program.sh"
    program.write_text(f"#!/bin/sh\necho $0 >> {folder / 'mark'}\ncat\n")
    program.chmod(0o755)
    (folder / "hooks").mkdir()
    for hook in _HOOKS:
        (folder / "hooks" / hook).symlink_to(program)
    for key in _KEYS:
        _git("config", key, str(program))
    _git("config", "filter.own.required", "true")
    _git("config", "core.hooksPath", str(folder / "hooks"))
    (folder / ".gitattributes").write_text("a.cu diff=own filter=own\nb.cu diff=own filter=with.dots\n")
    # Of two shapes, so that their findings are not told as one.
    for name, text in (("a.cu", _STRIDED), ("b.cu", _STRIDED.replace("threadIdx.x * 32", "32 * threadIdx.x"))):
        (folder / name).write_text("// empty\n" + text)
    return folder


def test_the_repository_is_armed(repository: Path) -> None:
    """Without this the other test would hold for any program."""
    subprocess.run(["git", "diff"], capture_output=True, check=False, timeout=60)
    assert (repository / "mark").exists()


def test_nothing_that_the_configuration_names_is_run(repository: Path, check: Check) -> None:
    result = check("--diff", "HEAD", "a.cu", "b.cu")
    assert not (repository / "mark").exists()
    assert "a.cu:2:37: warning: CL101" in result.out
    assert "b.cu:2:37: warning: CL101" in result.out


def test_what_a_partial_clone_lacks_is_not_fetched(repository: Path, check: Check) -> None:
    """The first version of the file is gone, and the remote that could give it again is a program."""
    for key in _KEYS:
        _git("config", "--unset", key)
    _git("config", "--unset", "filter.own.required")
    (repository / "program.sh").write_text(f"#!/bin/sh\necho $0 >> {repository / 'mark'}\nexit 1\n")
    blob = subprocess.run(["git", "rev-parse", "HEAD:a.cu"], capture_output=True, text=True, check=True).stdout.strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    _git("config", "core.repositoryFormatVersion", "1")
    _git("config", "extensions.partialClone", "far")
    _git("config", "remote.far.promisor", "true")
    _git("config", "remote.far.url", f"ext::{repository / 'program.sh'}")
    _git("config", "protocol.ext.allow", "always")
    subprocess.run(["git", "cat-file", "-p", blob], capture_output=True, check=False, timeout=60)
    assert (repository / "mark").exists()
    (repository / "mark").unlink()
    result = check("--diff", "HEAD", "a.cu")
    assert not (repository / "mark").exists()
    assert result.status == 2


def test_a_filter_with_a_name_that_no_option_can_take_is_refused(repository: Path, check: Check) -> None:
    _git("config", "filter.x=y.clean", str(repository / "program.sh"))
    (repository / ".gitattributes").write_text("a.cu filter=x=y\n")
    result = check("--diff", "HEAD", "a.cu")
    assert not (repository / "mark").exists()
    assert (result.status, "strange name" in result.err) == (2, True)
