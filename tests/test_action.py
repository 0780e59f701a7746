"""The composite action: its form by its schema, its steps by hand, its annotations against golden files."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from checkout import ROOT, fresh_clone, need_package_index
from handmade import TILE_SOURCE
from recorded import write_recording_in
from runner import Runner
from schemas import sarif_schema, schema_of

yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit, which comes with the extra `dev`")

_GOLDEN = Path(__file__).parent / "data" / "action"


def _action() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "action.yml").read_text()))


def test_the_action_follows_its_schema() -> None:
    jsonschema.validate(_action(), schema_of("https://json.schemastore.org/github-action.json"))


def test_actions_of_others_are_pinned() -> None:
    """By commit, with the version beside it, in everything that runs on GitHub's machines."""
    files = [ROOT / "action.yml", ROOT / "ci-templates" / "record.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            if re.search(r"\buses: (?!\./)", line):
                assert re.search(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), f"{file}: {line}"


def test_nothing_that_comes_from_outside_is_put_into_a_script() -> None:
    for step in _action()["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


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
    runner = Runner(workspace, tmp_path / "temp", clone, args="--select CL1,bank-conflict")
    # The repository's own modules are no part of any program.
    for name in ("pip", "click", "json"):
        (workspace / f"{name}.py").write_text("raise SystemExit('hijacked')\n")
    assert runner.run("Identify the program").returncode == 0
    installed = runner.run("Install cudalint")
    assert installed.returncode == 0, installed.stderr
    # Later steps find the program, wherever they run.
    (folder,) = runner.path.read_text().splitlines()
    found_in = {**runner.environment, "PATH": f"{folder}{os.pathsep}{runner.environment['PATH']}"}
    version = subprocess.run(["cudalint", "--version"], env=found_in, cwd=workspace, capture_output=True, check=True)
    assert version.stdout.startswith(b"cudalint")
    done = runner.run("Lint")
    assert (done.returncode, done.stderr) == (1, "")
    _check("annotations.txt", done.stdout)
    _check("summary.md", runner.summary.read_text())
    found = runner.outputs()
    assert [found[name] for name in ("errors", "warnings", "infos", "status", "sarif")] == ["0", "1", "0", "1", ""]
    assert "warning[CL201]" in (Path(found["report"]) / "cudalint.txt").read_text()

    arguments = "--select CL2 --fail-on error -D 'A=1 2' -D \"B=$(touch hacked)\" -D 'C=`touch hacked`;#'"
    options = {"paths": '"tile.cu" \'../other.cu\'', "args": arguments, "sarif": "out.sarif"}
    runner = Runner(workspace, tmp_path / "temp", clone, working_directory="my kernels", **options)
    assert runner.run("Identify the program").returncode == 0
    done = runner.run("Lint")
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(workspace.rglob("hacked"))
    report = workspace / "my kernels" / "out.sarif"
    assert runner.outputs()["sarif"] == str(report)
    document = json.loads(report.read_text())
    jsonschema.validate(document, sarif_schema())
    (result,) = document["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20kernels/tile.cu"


def test_recorded_launches_are_found_or_given(workspace: Path, tmp_path: Path) -> None:
    """The file beside what is linted needs no mention: one that is broken is said. With the program of the checkout."""
    write_recording_in(workspace).write_text("{")
    write_recording_in(workspace / "recorded")
    program = tmp_path / "temp" / "runner" / "cudalint-"
    program.parent.mkdir(parents=True)
    program.symlink_to(ROOT)
    for given, status in (("", "2"), ("none", "1"), ("recorded/cudalint-launches.json", "1"), ("none.json", "2")):
        runner = Runner(workspace, tmp_path / "temp", ROOT, launches=given, args="--select CL201")
        runner.values["steps.program.outputs.key"] = ""
        done = runner.run("Lint")
        assert (runner.outputs()["status"], bool(done.stderr)) == (status, status == "2"), done.stderr


def _steps() -> Any:
    """The module of the action's steps."""
    spec = importlib.util.spec_from_file_location("steps", ROOT / "action" / "steps.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_arguments(tmp_path: Path) -> None:
    steps = _steps()
    given = {"CUDALINT_ARGS": "--select 'CL1'\n-q", "CUDALINT_PATHS": "-x.cu\n'a b.cu'", "GITHUB_BASE_REF": "main"}
    found = steps.arguments(given, tmp_path)
    assert found[-6:] == ["--select", "CL1", "-q", "--", "-x.cu", "a b.cu"]
    assert "--diff=origin/main" not in found
    assert not [word for word in found if "launches" in word]
    recorded = steps.arguments({**given, "CUDALINT_LAUNCHES": "a.json\n'b c.json' --exit-zero"}, tmp_path)
    assert recorded[-9:-6] == ["--launches=a.json", "--launches=b c.json", "--launches=--exit-zero"]
    assert recorded[-6:] == found[-6:]
    assert "--no-launches" in steps.arguments({**given, "CUDALINT_LAUNCHES": " none "}, tmp_path)
    changed = steps.arguments({**given, "CUDALINT_CHANGED_ONLY": "true"}, tmp_path)
    assert "--diff=origin/main" in changed
    assert "--ptxas" not in found
    assert "--ptxas" in steps.arguments({**given, "CUDALINT_PTXAS": "true"}, tmp_path)
    with pytest.raises(steps.InputError, match="`changed-only` has to be true or false"):
        steps.arguments({**given, "CUDALINT_CHANGED_ONLY": "yes"}, tmp_path)
    with pytest.raises(steps.InputError, match="`args` can't be taken apart"):
        steps.arguments({**given, "CUDALINT_ARGS": "'"}, tmp_path)
    for wrong in ("--index-url=http://x", "1.0 evil", "main"):
        with pytest.raises(steps.InputError, match="`version`"):
            steps.install({"CUDALINT_FOLDER": str(tmp_path), "CUDALINT_VERSION": wrong})


def test_the_compiler_is_installed_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a program with it has another name than that of one without."""
    steps = _steps()
    wanted: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        wanted.append(command[-1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(steps.subprocess, "run", run)
    places = {f"CUDALINT_{name}": str(tmp_path / name) for name in ("FOLDER", "BIN")}
    given = {**places, "GITHUB_PATH": str(tmp_path / "path"), "GITHUB_ACTION_PATH": "/action"}
    for more in ({}, {"CUDALINT_PTXAS": "true"}, {"CUDALINT_PTXAS": "true", "CUDALINT_VERSION": "0.1.0"}):
        steps.install({**given, **more})
    assert wanted == ["/action", "/action[ptxas]", "cudalint[ptxas]==0.1.0"]
    keys = []
    for number, more in enumerate(({}, {"CUDALINT_PTXAS": "true"})):
        output = tmp_path / f"output{number}"
        steps.identify({"GITHUB_OUTPUT": str(output), "CUDALINT_VERSION": "0.1.0", **more})
        keys.append(output.read_text().strip())
    assert keys[1] == f"{keys[0]}-ptxas"


def test_later_steps_find_the_program(tmp_path: Path) -> None:
    """Also where it came out of a cache; names of folders are no words of a shell."""
    program = tmp_path / "it's $(HOME) a folder"
    program.symlink_to(ROOT)
    (tmp_path / "path").write_text("")
    _steps().install({
        "CUDALINT_FOLDER": str(program), "CUDALINT_BIN": str(tmp_path / "a bin"), "GITHUB_PATH": str(tmp_path / "path"),
    })  # fmt: skip
    assert (tmp_path / "path").read_text() == f"{tmp_path / 'a bin'}\n"
    script = str(tmp_path / "a bin" / "cudalint")
    done = subprocess.run([script, "explain", "no such rule"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, b"no such rule" in done.stderr) == (2, True)


def test_the_outputs_of_a_run_that_failed(tmp_path: Path) -> None:
    steps = _steps()
    (tmp_path / "torn.json").write_text('{"summary": {"errors": 1')
    assert steps.counts(tmp_path / "torn.json") == steps.counts(tmp_path / "none.json") == {}
    steps.write_outputs(str(tmp_path / "out"), {"sarif": "a\nstatus=0", "status": "2"})
    assert (tmp_path / "out").read_text() == "status=2\n"
