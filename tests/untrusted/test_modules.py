"""Modules that lie in the folder which is linted or opened, under the names of those that are looked for: none is
run, in no process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_MODULES = ("re.py", "struct.py", "signal.py", "msgspec.py", "click.py", "numpy.py")
_WORKER = """
import sys
from cudalint.run import limits, pool

if __name__ == "__main__":
    sys.platform = {platform!r}
    standing = pool.StandingWorker(abs, limits.Limits(workers=1, seconds=60))
    print(standing.answer(-7))
    standing.stop()
"""


@pytest.fixture
def repository(folder: Path) -> Path:
    """The current folder, full of modules."""
    repository = folder / "repository"
    repository.mkdir()
    for name in _MODULES:
        (repository / name).write_text(f"open({str(folder / 'ran')!r}, 'w').close()\n")
    (repository / "a.cu").write_text("__global__ void k(float *p) { p[threadIdx.x * 32] = 1.0f; }\n")
    os.chdir(repository)
    return repository


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_standing_worker_runs_none(platform: str, repository: Path) -> None:
    """By a server of forks, and by processes that are begun anew, as other systems have them."""
    script = repository.parent / "script.py"
    script.write_text(_WORKER.format(platform=platform))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=120)
    assert (done.stdout, (repository.parent / "ran").exists()) == ("7\n", False)


def test_the_language_server_runs_none(repository: Path) -> None:
    pytest.importorskip("pygls", reason="the extra `lsp` is not installed")
    from editor_client import Editor

    script = repository.parent / "cudalint"
    script.write_text('from cudalint.cli import main\nif __name__ == "__main__":\n    main()\n')
    with Editor(program=(str(script),)) as editor:
        path = repository / "a.cu"
        found = editor.diagnostics(editor.open(path, path.read_text()))
    assert "CL101" in [each.get("code") for each in found], found
    assert not (repository.parent / "ran").exists()
