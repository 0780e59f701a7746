"""The composite action: its form by its schema, its steps by hand, its annotations against golden files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from checkout import ROOT, clean_environment, fresh_clone, need_package_index
from handmade import TILE_SOURCE
from schemas import sarif_schema, schema_of

yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit, which comes with the extra `dev`")

_GOLDEN = Path(__file__).parent / "data" / "action"
_EXPRESSION = re.compile(r"\$\{\{ (inputs|steps)\.([\w.-]+) \}\}")


def _action() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "action.yml").read_text()))


def test_the_action_follows_its_schema() -> None:
    jsonschema.validate(_action(), schema_of("https://json.schemastore.org/github-action.json"))


class _Runner:
    """What a runner does with a composite action of shell steps: inputs, variables, files."""

    def __init__(self, workspace: Path, temp: Path, action: Path, **inputs: str) -> None:
        self._action = yaml.safe_load((action / "action.yml").read_text())
        self._values = {f"inputs.{name}": str(given["default"]) for name, given in self._action["inputs"].items()}
        self._values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        self._values["steps.python.outputs.python-path"] = sys.executable
        self.workspace, self.summary, self.output = workspace, temp / "summary.md", temp / "output"
        temp.mkdir(exist_ok=True)
        for file in (self.summary, self.output):
            file.write_text("")
        self._environment = clean_environment(
            GITHUB_ACTIONS="true", CI="true", GITHUB_WORKSPACE=str(workspace), GITHUB_STEP_SUMMARY=str(self.summary),
            GITHUB_OUTPUT=str(self.output), GITHUB_ACTION_PATH=str(action), RUNNER_TEMP=str(temp / "runner"),
        )  # fmt: skip

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self._values[f"{match[1]}.{match[2]}"], text)

    def run(self, step: str) -> subprocess.CompletedProcess[str]:
        (found,) = (s for s in self._action["runs"]["steps"] if s.get("name") == step)
        given: Mapping[str, str] = found.get("env", {})
        environment = self._environment | {name: self._filled(value) for name, value in given.items()}
        folder = self.workspace / self._filled(found.get("working-directory", "."))
        # `shell: bash` is spelled out in docs.github.com, "Workflow syntax".
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self._filled(found["run"])]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "my kernels").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "my kernels" / "tile.cu").write_text(TILE_SOURCE)
    (folder / "other.cu").write_text(TILE_SOURCE.replace("[x][y]", "[y][x]"))
    return folder


def _check(name: str, text: str) -> None:
    golden = _GOLDEN / name
    if os.environ.get("CUDALINT_UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_the_steps(workspace: Path, tmp_path: Path) -> None:
    need_package_index()
    clone = fresh_clone(tmp_path)
    runner = _Runner(workspace, tmp_path / "temp", clone, args="--select CL1,bank-conflict")
    installed = runner.run("Install cudalint")
    assert installed.returncode == 0, installed.stderr
    done = runner.run("Lint")
    assert (done.returncode, done.stderr) == (1, "")
    _check("annotations.txt", done.stdout)
    _check("summary.md", runner.summary.read_text())
    assert runner.output.read_text() == ""

    arguments = "--select CL2 --fail-on error -D 'A=1 2'"
    options = {"paths": '"tile.cu" \'../other.cu\'', "args": arguments, "sarif": "out.sarif"}
    runner = _Runner(workspace, tmp_path / "temp", clone, working_directory="my kernels", **options)
    done = runner.run("Lint")
    assert (done.returncode, done.stderr) == (0, "")
    report = workspace / "my kernels" / "out.sarif"
    assert runner.output.read_text() == f"sarif={report}\n"
    document = json.loads(report.read_text())
    jsonschema.validate(document, sarif_schema())
    (result,) = document["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20kernels/tile.cu"

    runner = _Runner(workspace, tmp_path / "temp", clone, paths="none.cu")
    done = runner.run("Lint")
    assert done.returncode == 2
    assert done.stdout.startswith("::error file=none.cu,title=not linted::no such file or folder\n")
