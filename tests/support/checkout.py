"""The repository as a fresh clone has it, for tests of what other programs make of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[2]
_PARTS = (
    "cudalint", "rules", "pyproject.toml", "setup.py", "README.md", "LICENSE", "action.yml", "action",
    ".pre-commit-hooks.yaml", "examples",
)  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=clean_environment()).stdout.strip()


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without what git hooks, test runners and continuous integration have put there."""
    gone = ("GIT_", "GITHUB_", "CI_", "PYTEST_", "PRE_COMMIT", "VIRTUAL_ENV", "CUDALINT_", "PYTHONPATH", "COLUMNS")
    return {name: value for name, value in os.environ.items() if not name.startswith(gone)} | more


def fresh_clone(folder: Path) -> Path:
    """A work tree of what ships, with a commit of its own: tests also run where there is no git history."""
    clone = folder / "cudalint"
    clone.mkdir()
    for part in _PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, clone / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, clone / part)
    git(clone, "init", "-q")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "all of it")
    return clone


@cache
def package_index_is_in_reach() -> bool:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--retries", "0", "-d", folder]
        return subprocess.run([*command, "setuptools>=68"], capture_output=True, check=False).returncode == 0


def need_package_index() -> None:
    """Skips a test that installs packages where there is no network."""
    if not package_index_is_in_reach():
        pytest.skip("pip reaches no package index")
