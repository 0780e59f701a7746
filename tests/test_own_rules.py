"""Rules of other packages, and what `cudalint new-rule` writes: installed, run, and tested by their own tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT, clean_environment, fresh_clone, need_package_index

from cudalint import registry
from cudalint.cli import run
from cudalint.cli.authoring.scaffold import Project, ScaffoldError, check_rule, files_of, project_in
from cudalint.facts import FileFacts, KernelFacts
from cudalint.hardware.targets import find_target
from cudalint.options.analysis import AnalysisOptions
from cudalint.rule import RuleContext
from cudalint.run.file_facts import analyse

_PACKAGE = ROOT / "examples" / "rules-of-your-own"


def _program(*arguments: str, path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """cudalint in a process of its own, to which a folder of installed packages is added."""
    command = [sys.executable, *arguments]
    environment = clean_environment(PYTHONPATH=os.pathsep.join([str(path), str(ROOT)]), NO_COLOR="1")
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _as_installed(project: Path, package: str) -> None:
    """What pip would leave beside the package: the metadata that name its entry point."""
    metadata = project / f"{package}-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text(f"[cudalint.rules]\n{package} = {package}\n")


def test_the_example_package_is_installed_and_runs(tmp_path: Path) -> None:
    need_package_index()
    target, copy = tmp_path / "target", tmp_path / "copy"
    # pip builds in the folder itself and would leave its files there.
    subprocess.run(["cp", "-r", str(_PACKAGE), str(copy)], check=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(copy)]
    subprocess.run(pip, check=True, env=clean_environment())
    listed = _program("-m", "cudalint", "rules", "--format", "json", path=target, folder=tmp_path)
    assert {"ACME101", "CL201"} <= {rule["code"] for rule in json.loads(listed.stdout)}
    source = _PACKAGE / "acme_rules" / "examples" / "no-launch-bounds.cu"
    found = _program("-m", "cudalint", str(source), "--format", "concise", path=target, folder=tmp_path)
    assert f"{source}:1:17: info: ACME101 blocks have 256 threads" in found.stdout
    explained = _program("-m", "cudalint", "explain", "no-launch-bounds", path=target, folder=tmp_path)
    assert "info[ACME101]: blocks have 256 threads" in explained.stdout
    options = ("--ignore", "ACME", "--format", "concise")
    assert _program("-m", "cudalint", str(source), *options, path=target, folder=tmp_path).stdout == ""


def test_the_example_package_keeps_its_own_word(tmp_path: Path) -> None:
    """Its tests pass, and its page is up to date."""
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", str(_PACKAGE), str(copy)], check=True)
    _as_installed(copy, "acme_rules")
    tested = _program("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", path=copy, folder=copy)
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout
    for selection in ((), ("--select", "ACME101")):
        pages = _program("-m", "cudalint", "pages", "--check", *selection, path=copy, folder=copy)
        assert (pages.returncode, pages.stdout) == (0, "")
    assert "2 files written" in _program("-m", "cudalint", "pages", "new", path=copy, folder=copy).stdout
    assert not list((copy / "new").glob("CL*"))


def test_a_new_package(tmp_path: Path) -> None:
    written = _program("-m", "cudalint", "new-rule", "XY101", "wide-request", "xy", path=tmp_path, folder=tmp_path)
    assert written.returncode == 0, written.stderr
    project = tmp_path / "xy"
    assert all((tmp_path / line).is_file() for line in written.stdout.splitlines()[:-1])
    assert "**" not in (project / "docs" / "rules" / "XY101-wide-request.md").read_text()
    again = _program("-m", "cudalint", "new-rule", "XY102", "other", "xy", path=tmp_path, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    _as_installed(project, "xy")
    tested = _program("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", path=project, folder=project)
    assert "4 passed" in tested.stdout, tested.stdout
    fixture = project / "fixtures" / "other" / "cases.cu"
    fixture.write_text(fixture.read_text().replace("// expect:", "// not expected:"))
    tested = _program("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", path=project, folder=project)
    assert "1 failed" in tested.stdout
    listed = _program("-m", "cudalint", "rules", path=project, folder=project).stdout
    assert "XY101  wide-request" in listed
    typed = _program("-m", "mypy", "--strict", "--no-incremental", "-p", "xy", path=project, folder=project)
    assert typed.returncode == 0, typed.stdout


def test_a_new_rule_of_this_repository(tmp_path: Path) -> None:
    clone = fresh_clone(tmp_path)
    # Where setuptools maps the folder when it installs.
    (clone / "cudalint" / "rules").symlink_to(clone / "rules", target_is_directory=True)

    def program(*arguments: str) -> subprocess.CompletedProcess[str]:
        return _program("-m", "cudalint", *arguments, path=clone, folder=clone)

    written = program("new-rule", "CL199", "wide-request")
    assert written.returncode == 0, written.stderr
    assert "CL199  wide-request" in program("rules").stdout
    assert "info[CL199]: 16 sectors" in program("explain", "CL199").stdout
    fixture = "fixtures/wide-request/cases.cu"
    found = program(fixture, "--select", "CL199", "--format", "concise").stdout.splitlines()
    assert [line.split()[0] for line in found] == [f"{fixture}:7:16:"]
    assert "[CL199](CL199-wide-request.md)" in (clone / "docs" / "rules" / "README.md").read_text()
    assert program("new-rule", "CL199", "wide-request").returncode == 2


def test_the_rule_of_the_page() -> None:
    """docs/own-rules.md: it finds bytes that lanes load side by side, and leaves wider and scattered ones."""
    page = (ROOT / "docs" / "own-rules.md").read_text(encoding="utf-8")
    look, rule = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    source = """
        __global__ void k(const unsigned char *in, const float *wide, float *out) {
            int i = blockIdx.x * 256 + threadIdx.x;
            out[i] = in[i] + wide[i] + in[64 * i];
        }
        void go(const unsigned char *in, const float *wide, float *out) { k<<<8, 256>>>(in, wide, out); }
    """
    options = AnalysisOptions(unsaved=(("a.cu", source),))
    facts = analyse("a.cu", options)
    assert isinstance(facts, FileFacts)
    names: dict[str, Any] = {"__name__": "acme"}
    exec(compile(rule, "rule", "exec"), names)
    found = list(names["ByteLoads"]().check(facts.kernels[0], RuleContext(facts, find_target("a100"))))
    assert [(finding.place.line, finding.message) for finding in found] == [(4, "each lane loads one byte of `in`")]
    assert "cudalint.facts(" in look


def test_what_rules_of_others_import_is_promised() -> None:
    """The modules that the scaffold, the example and the page import are those that docs/stability.md names."""
    texts = [
        *dict(files_of("XY101", "a-rule", Project("x", "x", "x", is_own=False, is_new=True))).values(),
        *(path.read_text(encoding="utf-8") for path in _PACKAGE.rglob("*.py")),
        (ROOT / "docs" / "own-rules.md").read_text(encoding="utf-8"),
    ]
    modules = {name for text in texts for name in re.findall(r"^from (cudalint\.[\w.]+) import", text, re.MULTILINE)}
    assert {"cudalint.rulekit", "cudalint.hardware.targets"} <= modules
    promised = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    assert [module for module in modules if f"`{module}`" not in promised] == []


def test_every_field_of_a_kernel_is_on_the_page() -> None:
    page = (ROOT / "docs" / "own-rules.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {field for field in KernelFacts.__struct_fields__ if field not in listed} == set()


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("xy1", "a", "no code"),
        ("XY101", "Wide_Request", "no name"),
        ("CL201", "a-name", "there is a rule CL201, bank-conflict"),
        ("XY101", "bank-conflict", "there is a rule CL201, bank-conflict"),
    ],
)
def test_rules_that_cannot_be(code: str, name: str, message: str) -> None:
    with pytest.raises(ScaffoldError, match=message):
        check_rule(code, name)


def test_folders_that_are_no_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(ScaffoldError, match="no such file, and the folder is not empty"):
        project_in(str(tmp_path))
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    with pytest.raises(ScaffoldError, match="names no package of rules; add"):
        project_in(str(tmp_path))
    (tmp_path / "pyproject.toml").write_text("[project\n")
    with pytest.raises(ScaffoldError, match="cannot be read"):
        project_in(str(tmp_path))
    assert run(["new-rule", "XY101", "a-rule", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run(["new-rule", "CL199", "a-rule", str(tmp_path / "new")]) == 2
    assert not (tmp_path / "new").exists()


def test_a_package_below_src(tmp_path: Path) -> None:
    (tmp_path / "src" / "xy_rules").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        f"[project]\nname = 'x'\n[project.entry-points.\"{registry.ENTRY_POINT_GROUP}\"]\nxy = 'xy_rules'\n"
    )
    project = project_in(str(tmp_path))
    assert (project.package, project.package_folder) == ("xy_rules", os.path.join("src", "xy_rules"))
    assert project.import_root == str(tmp_path / "src")
