"""What a runner of GitHub's does with a composite action, as far as its shell steps go."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from checkout import clean_environment

yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit, which comes with the extra `dev`")

_EXPRESSION = re.compile(r"\$\{\{ ((?:inputs|steps|runner)\.[\w.-]+) \}\}")


class Runner:
    """What a runner does with a composite action of shell steps: inputs, variables, files, outputs."""

    def __init__(self, workspace: Path, temp: Path, action: Path, **inputs: str) -> None:
        self._action = yaml.safe_load((action / "action.yml").read_text())
        self.values = {f"inputs.{name}": str(given["default"]) for name, given in self._action["inputs"].items()}
        self.values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        self.values["steps.python.outputs.python-path"] = sys.executable
        self.values["runner.temp"] = str(temp / "runner")
        self.workspace, self.summary, self.output = workspace, temp / "summary.md", temp / "output"
        self.path = temp / "path"
        temp.mkdir(exist_ok=True)
        for file in (self.summary, self.output, self.path):
            file.write_text("")
        self.environment = clean_environment(
            GITHUB_ACTIONS="true", CI="true", GITHUB_WORKSPACE=str(workspace), GITHUB_STEP_SUMMARY=str(self.summary),
            GITHUB_OUTPUT=str(self.output), GITHUB_PATH=str(self.path), GITHUB_ACTION_PATH=str(action),
            GITHUB_BASE_REF="",
            # What it depends on is there already.
            PIP_NO_DEPS="1", PIP_NO_COMPILE="1",
        )  # fmt: skip

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self.values[match[1]], text)

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        (found,) = (s for s in self._action["runs"]["steps"] if s.get("name") == name)
        given: Mapping[str, str] = found.get("env", {})
        environment = self.environment | {name: self._filled(value) for name, value in given.items()}
        folder = self.workspace / self._filled(found.get("working-directory", "."))
        # `shell: bash` is spelled out in docs.github.com, "Workflow syntax".
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self._filled(found["run"])]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        for line in self.output.read_text().splitlines():
            key, _, value = line.partition("=")
            self.values[f"steps.{found.get('id')}.outputs.{key}"] = value
        return done

    def outputs(self) -> dict[str, str]:
        """Those that the action has, by what its steps said."""
        given = {name: _EXPRESSION.fullmatch(each["value"]) for name, each in self._action["outputs"].items()}
        return {name: self.values.get(match[1], "") for name, match in given.items() if match}
