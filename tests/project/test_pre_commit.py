"""The hook, run by pre-commit itself in a repository of somebody else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT, clean_environment, fresh_clone, git, need_package_index
from handmade import TILE_SOURCE

pytest.importorskip("pre_commit", reason="pre-commit comes with the extra `dev`")


def _pre_commit(folder: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", *arguments]
    environment = clean_environment(PRE_COMMIT_HOME=str(home), PRE_COMMIT_COLOR="never")
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A repository with a conflict, the same in an excluded file, a header and a file of another language."""
    folder = tmp_path / "scratch"
    (folder / "third_party").mkdir(parents=True)
    (folder / "tile.cu").write_text(TILE_SOURCE)
    (folder / "header.cuh").write_text(TILE_SOURCE.replace("tile32", "in_header"))
    (folder / "third_party" / "tile.cu").write_text(TILE_SOURCE)
    (folder / "tile.py").write_text("x = 1\n")
    (folder / "cudalint.toml").write_text('exclude = ["third_party/"]\n')
    git(folder, "init", "-q")
    git(folder, "add", ".")
    return folder


def test_the_manifest_is_valid(tmp_path: Path) -> None:
    done = _pre_commit(ROOT, tmp_path, "validate-manifest", ".pre-commit-hooks.yaml")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_repository_that_uses_the_hook(scratch: Path, tmp_path: Path) -> None:
    need_package_index()
    clone = fresh_clone(tmp_path)
    config = f"repos:\n- repo: {clone}\n  rev: {git(clone, 'rev-parse', 'HEAD')}\n  hooks:\n  - id: cudalint\n"
    (scratch / ".pre-commit-config.yaml").write_text(config + "    args: [--format, concise, --select, CL201]\n")
    git(scratch, "add", ".")
    done = _pre_commit(scratch, tmp_path / "home", "run")
    assert done.returncode == 1, done.stdout + done.stderr
    assert [line.split(" ")[0:3:2] for line in done.stdout.splitlines() if "CL" in line] == [
        ["header.cuh:10:26:", "CL201"], ["tile.cu:10:26:", "CL201"]
    ]  # fmt: skip
    for name in ("tile.cu", "header.cuh"):
        (scratch / name).write_text((scratch / name).read_text().replace("[32][32]", "[32][33]"))
    git(scratch, "add", ".")
    done = _pre_commit(scratch, tmp_path / "home", "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cudalint" in done.stdout
    assert "Passed" in done.stdout


def test_try_repo_from_a_clone(scratch: Path, tmp_path: Path) -> None:
    need_package_index()
    clone = fresh_clone(tmp_path)
    done = _pre_commit(scratch, tmp_path / "home", "try-repo", str(clone), "cudalint", "--files", "tile.cu")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "warning[CL201]: 32-way bank conflict on `t`" in done.stdout
    assert "tile32" in done.stdout
    assert "in_header" not in done.stdout
