"""The extension for VS Code: its own tests, which need node and nothing that npm installs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parents[2] / "editors" / "vscode"


def test_its_license_is_that_of_the_project() -> None:
    """The packager asks for one in the extension's folder."""
    assert (_FOLDER / "LICENSE").read_bytes() == (_FOLDER.parents[1] / "LICENSE").read_bytes()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_extension() -> None:
    ran = subprocess.run(["node", "--test"], cwd=_FOLDER, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
