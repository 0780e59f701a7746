"""A baseline of real files, from the command line: quiet after lines have moved, and one kernel's harm is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import run

_ROOT = Path(__file__).parents[2]
_INSIDE = "A[row * n + t * TILE + tx]"
_BEYOND = "A[(row * n + t * TILE + tx) / 2 * 16]"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    shutil.copytree(_ROOT / "examples", "src")
    for rule in ("bank-conflict", "uncoalesced-access", "launch-limit"):
        shutil.copytree(_ROOT / "fixtures" / rule, Path("src", rule))
    return tmp_path


def _new(capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capfd.readouterr()
    run(["src", "--no-config", "--select", "ALL", "--baseline", "known.json", "--format", "json"])
    return list(json.loads(capfd.readouterr().out)["diagnostics"])


def test_only_what_got_worse_is_reported(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["src", "--no-config", "--select", "ALL", "--write-baseline", "known.json", "--include-errors"]) == 0
    assert len(json.loads(Path("known.json").read_text())["findings"]) > 20
    assert _new(capfd) == []

    for number, path in enumerate(sorted(Path("src").rglob("*.cu"))):
        path.write_text("// moved\n" * (number % 5 + 1) + path.read_text().replace("\n}\n", "\n}\n\n\n"))
    assert _new(capfd) == []

    matmul = Path("src", "matmul.cu")
    assert matmul.read_text().count(_INSIDE) == 2
    matmul.write_text(matmul.read_text().replace(_INSIDE, _BEYOND, 1))
    new = _new(capfd)
    assert "CL107" in {d["code"] for d in new}
    assert {(d["kernel"], d["path"]) for d in new} == {("plain", "src/matmul.cu")}
