"""Templates for other people's pipelines: their form, and what they run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from checkout import ROOT, clean_environment
from handmade import TILE_SOURCE
from recorded import NAME, recording_text, write_recording_in
from schemas import schema_of

from cudalint import __version__

yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit, which comes with the extra `dev`")


def test_the_job_for_gitlab(tmp_path: Path) -> None:
    """Its script, with the installed program in the place of the one that it installs."""
    job = yaml.safe_load((ROOT / "ci-templates" / "gitlab.yml").read_text())["cudalint"]
    assert job["variables"]["CUDALINT_VERSION"] == __version__
    for name in ("my kernels", "more"):
        (tmp_path / name).mkdir()
        # No copy of the other, which would be told with it.
        (tmp_path / name / "tile.cu").write_text(TILE_SOURCE.replace("tile", f"tile_{name.split()[-1]}"))
    (script,) = job["script"]
    program = f"{shlex.quote(sys.executable)} -m cudalint"
    environment = clean_environment(
        CI_PROJECT_DIR=str(tmp_path), CUDALINT_PATHS="my kernels\nmore\n", CUDALINT_ARGS="--fail-on\nerror\n",
        CUDALINT_NO_CACHE="1",
    )  # fmt: skip
    command = ["sh", "-ec", script.replace("/tmp/cudalint/bin/cudalint", program)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for report in job["artifacts"]["reports"].values():
        text = (tmp_path / report).read_text()
        assert "my kernels/tile.cu" in text
        assert "more/tile.cu" in text


def _git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_recorded_launches_are_proposed(tmp_path: Path) -> None:
    """The last step of the workflow, with a double of GitHub's program: once for new launches, not for known ones."""
    text = (ROOT / "ci-templates" / "record.yml").read_text()
    assert f'CUDALINT_VERSION: "{__version__}"' in text
    step = yaml.safe_load(text)["jobs"]["propose"]["steps"][-1]
    remote, clone, told = tmp_path / "remote", tmp_path / "clone", tmp_path / "told"
    _git(tmp_path, "init", "--quiet", "--bare", str(remote))
    _git(tmp_path, "clone", "--quiet", str(remote), str(clone))
    _git(clone, "commit", "--quiet", "--allow-empty", "-m", "first")
    (tmp_path / "gh").write_text('#!/bin/sh\necho "$1 $2" >> "$TOLD"\nif [ "$2" = list ]; then echo "$OPEN"; fi\n')
    (tmp_path / "gh").chmod(0o755)

    def propose(open_ones: int) -> list[str]:
        told.write_text("")
        path = f"{tmp_path}:{os.environ['PATH']}"
        environment = clean_environment(PATH=path, TOLD=str(told), OPEN=str(open_ones))
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=clone, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return told.read_text().splitlines()

    assert propose(0) == []
    write_recording_in(clone)
    assert propose(0) == ["auth setup-git", "pr list", "pr create"]
    assert _git(remote, "show", f"recorded-launches:{NAME}") == recording_text()
    assert propose(0) == []
    _git(clone, "switch", "--quiet", "-")
    _git(clone, "branch", "--quiet", "-D", "recorded-launches")
    write_recording_in(clone, 128)
    assert propose(1) == ["auth setup-git", "pr list"]
    assert _git(remote, "show", f"recorded-launches:{NAME}") == recording_text(128)


def test_the_image_copies_what_is_there() -> None:
    """Docker itself runs where the project is released, and not in tests."""
    text = (ROOT / "ci-templates" / "Dockerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE) for word in line.split()]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert copied
    for path in copied:
        assert (ROOT / path).exists(), path
        assert f"!{path}" in ignored


def _script(name: str) -> str:
    """What a template for a team runs, with the installed program in the place of the one that it installs."""
    document = yaml.safe_load((ROOT / "ci-templates" / f"team-{name}.yml").read_text())
    program = f"{shlex.quote(sys.executable)} -m cudalint"
    if name == "gitlab":
        assert document[".cudalint"]["variables"]["CUDALINT_VERSION"] == __version__
        (script,) = document[".cudalint"]["script"]
        return str(script.replace("/tmp/cudalint/bin/cudalint", program))
    steps = {step.get("name"): step for step in document["jobs"]["cudalint"]["steps"]}
    assert steps["Install cudalint"]["env"]["CUDALINT_VERSION"] == __version__
    return str(steps["Lint"]["run"].replace('"$RUNNER_TEMP/cudalint/bin/cudalint"', program))


@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_a_team_with_old_code(name: str, tmp_path: Path) -> None:
    """What is there is known and in the history, and what is new fails the job."""
    environment = clean_environment(CI_PROJECT_DIR=str(tmp_path), CUDALINT_CACHE_DIR=str(tmp_path / ".cache"))

    def done(script: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-eo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    (tmp_path / "old.cu").write_text(TILE_SOURCE)
    # What a lead does who is told by the template that errors stay.
    template = (ROOT / "ci-templates" / f"team-{name}.yml").read_text()
    assert "cudalint check . --write-baseline cudalint-baseline.json --include-errors" in template
    assert done(f"{shlex.quote(sys.executable)} -m cudalint init").returncode == 0
    first = done(_script(name))
    assert first.returncode == 0, first.stdout + first.stderr
    (tmp_path / "new.cu").write_text(TILE_SOURCE.replace("tile", "newer").replace("32", "64"))
    assert done(_script(name)).returncode == 1
    entries = [json.loads(line) for line in (tmp_path / "cudalint-history.jsonl").read_text().splitlines()]
    assert [bool(entry["rules"]) for entry in entries] == [False, True]
    assert all(entry["known"] for entry in entries)
    assert "known from the baseline" in (tmp_path / "cudalint.html").read_text()


_FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("path", _FORMS, ids=lambda path: path.name)
def test_forms_of_issues(path: Path) -> None:
    known = "config" if path.stem == "config" else "forms"
    schema = schema_of(f"https://json.schemastore.org/github-issue-{known}.json")
    jsonschema.validate(yaml.safe_load(path.read_text()), schema)


_WORKFLOWS = [
    *sorted((ROOT / ".github" / "workflows").glob("*.yml")),
    *(ROOT / "ci-templates" / f"{name}.yml" for name in ("record", "team-github")),
]


@pytest.mark.parametrize("path", _WORKFLOWS, ids=lambda path: path.name)
def test_workflows(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    # Whoever changes one says what it may do.
    assert workflow["permissions"] in ({}, {"contents": "read"})
    for job in workflow["jobs"].values():
        job.get("permissions", {}).pop("attestations", None)  # Younger than this copy of the schema.
    schema = schema_of("https://json.schemastore.org/github-workflow.json")
    jsonschema.validate({"on": workflow.pop(True), **workflow}, schema)
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        for step in job.get("steps", ()):
            assert "${{" not in step.get("run", ""), step
