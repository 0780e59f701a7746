"""Configuration files and exclusions on the command line, and `cudalint config`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edit_note import without_edit_note
from handmade import TILE_SOURCE

Run = Callable[..., Any]


def _codes(result: Any) -> list[tuple[str, str]]:
    """With those that are told together, as the files are copies of one another."""
    found = json.loads(result.out)["diagnostics"]
    return sorted((each["path"], d["code"]) for d in found for each in (d, *d["also"]))


@pytest.fixture
def tree(project: Path) -> Path:
    """Three folders with a file each."""
    for folder in ("own", "own/legacy", "third_party"):
        (project / folder).mkdir()
        (project / folder / "t.cu").write_text(TILE_SOURCE)
    return project


def test_each_file_follows_its_nearest_configuration(cudalint: Run, tree: Path) -> None:
    (tree / "cudalint.toml").write_text('ignore = ["CL201"]\nextend-select = ["CL101"]')
    (tree / "own" / "legacy" / "cudalint.toml").write_text("")
    assert _codes(cudalint("--format", "json", ".")) == [
        ("own/legacy/t.cu", "CL201"),
        ("own/t.cu", "CL101"),
        ("third_party/t.cu", "CL101"),
    ]


def test_the_command_line_goes_before_the_configuration(cudalint: Run, tree: Path) -> None:
    (tree / "cudalint.toml").write_text('ignore = ["CL201"]\ntarget = "h100"')
    run = ("--format", "json", "own/t.cu")
    assert _codes(cudalint(*run)) == []
    assert json.loads(cudalint(*run).out)["target"] == "h100"
    assert json.loads(cudalint(*run, "--target", "a100").out)["target"] == "a100"
    assert _codes(cudalint(*run, "--select", "CL201")) == [("own/t.cu", "CL201")]
    assert _codes(cudalint(*run, "--extend-select", "CL2")) == [("own/t.cu", "CL201")]
    assert _codes(cudalint(*run, "--no-config")) == [("own/t.cu", "CL201")]
    (tree / "other.toml").write_text('select = ["CL1"]')
    assert _codes(cudalint(*run, "--config", "other.toml")) == [("own/t.cu", "CL101")]


def test_the_report_is_configured_too(cudalint: Run, tree: Path) -> None:
    """By the nearest configuration of the folder that all paths are in, whatever the current folder is."""
    (tree / ".git").mkdir()
    (tree / "cudalint.toml").write_text(
        'fail-on = "error"\nformat = "concise"\nbaseline = "known.json"\n[output]\njson = "out.json"\n'
    )
    (tree / "own" / "legacy" / "cudalint.toml").write_text('extend = "../../cudalint.toml"\nseverity.CL2 = "error"\n')
    missing = cudalint("own/t.cu")
    assert missing.status == 2
    assert "known.json: no such file; `--write-baseline known.json` makes it" in missing.err
    assert cudalint("own/t.cu", "--write-baseline", "known.json").status == 0
    assert "1 finding known from the baseline" in cudalint("own/t.cu", "--format", "text").out
    shown = cudalint("own/t.cu", "--no-baseline")
    assert (shown.status, shown.out.splitlines()[0].split()[::2][:2]) == (0, ["own/t.cu:10:26:", "CL201"])
    assert [d["severity"] for d in json.loads((tree / "out.json").read_text())["diagnostics"]] == ["warning"]
    assert cudalint("own/t.cu", "--no-baseline", "--fail-on", "warning").status == 1
    worse = cudalint("own/legacy/*.cu")
    assert (worse.status, json.loads((tree / "out.json").read_text())["diagnostics"][0]["severity"]) == (1, "error")
    assert cudalint("own/legacy", "--exit-zero").status == 0
    assert cudalint("own/legacy", "nowhere.cu", "--exit-zero").status == 2
    assert "contradict" in cudalint("own", "--baseline", "known.json", "--no-baseline").err


def test_a_configuration_of_the_run_that_cannot_be_used(cudalint: Run, tree: Path) -> None:
    """Files that another one counts for are linted all the same."""
    (tree / "cudalint.toml").write_text("jobs = 0")
    for folder in ("own", "third_party"):
        (tree / folder / "cudalint.toml").write_text("")
    result = cudalint("own", "third_party", "--format", "json")
    assert (result.status, result.err.count("`jobs` has to be a whole number")) == (2, 1)
    assert [path for path, _ in _codes(result)] == ["own/legacy/t.cu", "own/t.cu", "third_party/t.cu"]


def test_per_file_ignores(cudalint: Run, tree: Path) -> None:
    (tree / "cudalint.toml").write_text('[per-file-ignores]\n"own/legacy/**" = ["CL2"]\n"*.cuh" = ["all"]')
    assert _codes(cudalint("--format", "json", "own")) == [("own/t.cu", "CL201")]


def test_exclusions(cudalint: Run, tree: Path) -> None:
    (tree / "cudalint.toml").write_text('exclude = ["third_party/"]')
    assert _codes(cudalint("--format", "json", ".", "--exclude", "legacy")) == [("own/t.cu", "CL201")]
    named = ("--format", "json", "third_party/t.cu")
    assert _codes(cudalint(*named)) == [("third_party/t.cu", "CL201")]
    assert _codes(cudalint(*named, "--force-exclude")) == []
    result = cudalint("third_party", "--exclude", "t.cu")
    assert result.status == 2
    assert "no CUDA files (*.cu, *.cuh, or *.py with kernels) in this folder that are not excluded" in result.err


def test_gitignore_is_honoured(cudalint: Run, tree: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".gitignore").write_text("third_party\nlegacy/\n")
    assert _codes(cudalint("--format", "json", ".")) == [("own/t.cu", "CL201")]
    assert len(_codes(cudalint("--format", "json", ".", "--no-gitignore"))) == 3
    (tree / "cudalint.toml").write_text("respect-gitignore = false")
    assert len(_codes(cudalint("--format", "json", "."))) == 3
    assert len(_codes(cudalint("--format", "json", ".", "--gitignore"))) == 1


def test_a_broken_configuration_costs_its_own_files_only(cudalint: Run, tree: Path) -> None:
    (tree / "own" / "cudalint.toml").write_text("target = 1")
    result = cudalint("--format", "json", ".")
    assert result.status == 2
    assert _codes(result) == [("third_party/t.cu", "CL201")]
    expected = "cudalint: error: own/cudalint.toml: `target` has to be a string, and is a number (line 1)\n"
    assert result.err == expected
    assert cudalint("facts", "own").err == expected
    assert cudalint("config", "own").err == expected
    assert cudalint("own", "--config", "own/cudalint.toml").err == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["--config", "x", "--no-config"], "--config and --no-config contradict each other"),
        (["--block", "0"], "`0` is not one to three positive numbers such as 32,8,1"),
        (["--block", "1,2,3,4"], "`1,2,3,4` is not one to three positive numbers"),
        (["--block", "1", "--grid", "1,5000000000"], "a grid of 1,5000000000 is not possible: it is 5000000000 in y"),
        (["--grid", "4"], "--grid needs --block"),
        (["--shared", "4"], "--shared needs --block"),
        (["--threshold", "CL201=3"], "`CL201=3` has not the form RULE.NAME=VALUE, such as bank-conflict.ways=4"),
        (["--threshold", "CL201.ways=x"], "`CL201.ways=x` has not the form RULE.NAME=VALUE"),
        (["--exclude", "!"], "the pattern `!` means nothing"),
        (["--launches", "none.json"], "none.json: cannot read it: No such file or directory"),
        (["--launches", "third_party/t.cu"], "third_party/t.cu: it holds no recorded launches: "),
        (["--no-launches", "--only-recorded"], "--only-recorded and --no-launches contradict each other"),
        (["-std", "c99"], "`c99` names no C++ standard; write one such as c++17"),
        (["--compile-commands", "none"], "none: cannot read it: No such file or directory"),
        (["--compile-commands", "third_party/t.cu"], "third_party/t.cu: not a JSON file: "),
        (["--select", "bank-conflct"], "no rule's code or name fits `bank-conflct`; did you mean `bank-conflict`?"),
    ],
)
def test_bad_options(cudalint: Run, tree: Path, arguments: list[str], message: str) -> None:
    result = cudalint("own", *arguments)
    assert result.status == 2
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert message in result.err


def test_config_says_where_each_value_comes_from(cudalint: Run, tree: Path) -> None:
    (tree / "pyproject.toml").write_text(
        "[tool.cudalint]\ntarget = 'h100'\nignore = ['CL1']\ndefines = ['A']\n"
        "[tool.cudalint.kernels.'k*']\nblock = 64\n"
    )
    result = cudalint("config", "own", "-D", "B", "--std", "c++20", "--format", "json")
    assert result.status == 0
    document = json.loads(result.out)
    assert (document["path"], document["config"]) == ("own", "pyproject.toml")
    rows = [(row["key"], row["value"], row["origin"]) for row in document["settings"]]
    for expected in (
        ("target", "h100", "pyproject.toml:2"),
        ("select", [], "default"),
        ("ignore", ["CL1"], "pyproject.toml:3"),
        ("defines", ["A"], "pyproject.toml:4"),
        ("defines", ["B"], "command line"),
        ("std", "c++20", "command line"),
        ('kernels."k*".block', "64", "pyproject.toml:6"),
        ("respect-gitignore", True, "default"),
        ("fail-on", "warning", "default"),
        ("compile-commands", None, "default"),
    ):
        assert expected in rows


def test_config_as_a_table(cudalint: Run, tree: Path) -> None:
    result = cudalint("config", "--ignore", "CL9")
    assert result.status == 0
    assert result.out.startswith(".: no configuration file\n\ntarget ")
    assert re.search(r"^ignore +CL9 +command line$", result.out, re.MULTILINE)
    assert cudalint("config", "nowhere").err == "cudalint: error: nowhere: no such file or folder\n"


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -c t.cu", "h100"),
        ("nvcc -arch=sm_35 -c t.cu", "a100"),
        ("nvcc -c t.cu", "a100"),
    ],
)
def test_the_target_is_what_the_file_is_compiled_for(cudalint: Run, tree: Path, command: str, target: str) -> None:
    entry = {"directory": str(tree / "own"), "file": "t.cu", "command": command}
    (tree / "build").mkdir()
    (tree / "build" / "compile_commands.json").write_text(json.dumps([entry]))
    result = cudalint("--format", "json", "own/t.cu")
    assert json.loads(result.out)["target"] == target
    assert json.loads(cudalint("facts", "--format", "json", "own/t.cu").out)["target"] == target
    assert json.loads(cudalint("--format", "json", "own/t.cu", "--target", "l4").out)["target"] == "l4"
    settings = json.loads(cudalint("config", "own/t.cu", "--format", "json").out)["settings"]
    row = next(row for row in settings if row["key"] == "target")
    assert row["value"] == target
    assert (row["origin"] == "default") == (target == "a100")
    (tree / "cudalint.toml").write_text('target = "l4"')
    assert json.loads(cudalint("--format", "json", "own/t.cu").out)["target"] == "l4"


def test_config_says_what_the_compilation_database_is_good_for(cudalint: Run, tree: Path) -> None:
    def origin(path: str, *arguments: str) -> tuple[str | None, str]:
        document = json.loads(cudalint("config", path, "--format", "json", *arguments).out)
        (row,) = [row for row in document["settings"] if row["key"] == "compile-commands"]
        return row["value"], row["origin"]

    database = tree / "compile_commands.json"
    source = next(tree.rglob("*.cu")).relative_to(tree)
    other = tree / "other.cu"
    other.touch()
    database.write_text(json.dumps([{"directory": str(tree), "file": str(source), "command": "nvcc x"}]))
    assert origin(str(source)) == (str(database), "found above the files")
    assert origin("other.cu") == (str(database), "found above the files; it has no entry for other.cu")
    assert origin(str(source), "--compile-commands", str(tree)) == (str(tree), "command line")
    database.write_text("{")
    value, reason = origin(str(source))
    assert value is None
    assert reason.startswith(f"not used: {database}: not a JSON file: ")


@pytest.mark.parametrize("options", ["-maxrregcount=40", "--maxrregcount 40", "-Xptxas -v,-maxrregcount=40"])
def test_the_registers_are_what_the_compile_command_leaves(cudalint: Run, tree: Path, options: str) -> None:
    entry = {"directory": str(tree / "own"), "file": "t.cu", "command": f"nvcc {options} -DA -c t.cu"}
    (tree / "compile_commands.json").write_text(json.dumps([entry]))

    def registers(*arguments: str) -> list[tuple[int, str]]:
        settings = json.loads(cudalint("config", "own/t.cu", "--format", "json", *arguments).out)["settings"]
        return [(row["value"], row["origin"]) for row in settings if row["key"] == "maxrregcount"]

    assert registers() == [(40, "its compile command")]
    assert registers("--maxrregcount", "32") == [(32, "command line")]
    entry["command"] = "nvcc -maxrregcount $(REGISTERS) -c t.cu"
    (tree / "compile_commands.json").write_text(json.dumps([entry]))
    assert registers() == []


def test_a_database_that_is_of_no_use_is_said(cudalint: Run, tree: Path) -> None:
    database = tree / "compile_commands.json"
    entry = {"directory": str(tree / "own"), "file": "t.cu", "command": "nvcc -c t.cu"}
    database.write_text(json.dumps([entry]))
    none = f"cudalint: warning: {database}: no entry for own/legacy/t.cu and 1 more; read without the options of a "
    for command in ("check", "facts"):
        assert without_edit_note(cudalint(command, "own/t.cu").err) == ""
        assert without_edit_note(cudalint(command, ".").err) == f"{none}compile command\n"
        assert none in cudalint(command, ".", "--compile-commands", str(database)).err
    database.write_text("{")
    result = cudalint(".")
    assert result.status == 1
    err = without_edit_note(result.err)
    assert err.startswith(f"cudalint: warning: {database}: not a JSON file: ")
    assert err.endswith("; files are read without it\n")
    assert err.count("\n") == 1


def test_folders_of_a_configuration_that_are_not_there(cudalint: Run, tree: Path) -> None:
    (tree / "own" / "cudalint.toml").write_text('target = "h100"\ninclude-dirs = [".", "none"]\n')
    for command in ("check", "facts"):
        (line,) = without_edit_note(cudalint(command, ".").err).splitlines()
        assert line.startswith("cudalint: warning: own/cudalint.toml:2: `include-dirs` names ")
        assert line.endswith("own/none: no such folder")
