"""Command lines in this process, with real workers, in a folder that somebody else has filled."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cudalint.cli import run


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


Check = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("GIT", "CI_PROJECT_DIR"))]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def check(capfd: pytest.CaptureFixture[str]) -> Check:
    def call(*arguments: str) -> Result:
        status = run(["check", "-j1", "--quiet", "--format", "concise", "--min-share", "0", *arguments])
        captured = capfd.readouterr()
        return Result(status, captured.out, captured.err)

    return call
