"""Configuration files: what they may say, which one counts, and what is said of those that can't be used."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from cudalint.options.analysis import KernelSettings
from cudalint.project.config import Config, ConfigError, find_config, load_config
from cudalint.project.config_keys import SETTINGS
from cudalint.project.formats import FORMATS, OUTPUT_FORMATS, Format

_PATH = Path(__file__).parents[2] / "cudalint" / "schemas" / "config.schema.json"
_SCHEMA = Draft7Validator(json.loads(_PATH.read_text(encoding="utf-8")))

_ALL = """
[project]
name = "demo"

[tool.cudalint]
target = "h100"
select = ["CL1", "bank-conflict"]
extend-select = ["CL902"]
fail-on = "info"
format = "json"
output.sarif = "a.sarif"
jobs = 2
severity.CL2 = "error"
ignore = ["CL107"]
exclude = ["third_party/", "!third_party/ours"]
respect-gitignore = false
include-dirs = ["include", "../shared"]
defines = ["N=4", "FAST"]
std = "c++20"
assume = ["K % 4 == 0"]
launches = ["cudalint-launches.json", "tests/recorded.json"]
only-recorded = true

[tool.cudalint.per-file-ignores]
"tests/**" = ["CL1"]

[tool.cudalint.thresholds]
CL201.ways = 4
uncoalesced-access = { factor = 1.5 }

[tool.cudalint.kernels."sgemm*"]
block = "TILE, 8"
grid = ["N / TILE", 4, 2]
shared = 4096
parameters = { M = 64, K = "2 * TILE" }

[tool.cudalint.kernels.reduce]
block = 256

[tool.cudalint.kernels."*"]
parameters.K = 1
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _load(text: str, name: str = "cudalint.toml") -> Config:
    Path(name).write_text(text)
    return load_config(name)


def _error(text: str, name: str = "cudalint.toml") -> str:
    with pytest.raises(ConfigError) as caught:
        _load(text, name)
    return str(caught.value)


def test_everything() -> None:
    config = _load(_ALL, "pyproject.toml")
    assert config.target == "h100"
    assert config.select == ("CL1", "bank-conflict")
    assert (config.extend_select, config.ignore) == (("CL902",), ("CL107",))
    assert (config.exclude, config.respect_gitignore) == (("third_party/", "!third_party/ours"), False)
    assert config.include_dirs == ("include", os.path.join("..", "shared"))
    assert (config.defines, config.std, config.assume) == (("N=4", "FAST"), "c++20", ("K % 4 == 0",))
    assert config.per_file_ignores == (("tests/**", ("CL1",), os.getcwd()),)
    assert config.thresholds == (("CL201", "ways", 4.0), ("uncoalesced-access", "factor", 1.5))
    place = ("pyproject.toml",)
    assert config.kernels == (
        KernelSettings(
            "sgemm*", "dim3(TILE, 8)", "dim3(N / TILE, 4, 2)", "4096", (("M", "64"), ("K", "2 * TILE")), *place, 32
        ),
        KernelSettings("reduce", "256", None, None, (), *place, 38),
        KernelSettings("*", parameters=(("K", "1"),), path="pyproject.toml", line=40),
    )
    assert (config.fail_on, config.format, config.jobs) == ("info", "json", 2)
    assert (config.output, config.severity) == ((("sarif", "a.sarif"),), (("CL2", "error"),))
    assert config.place_of("thresholds", "CL201", "ways") == "pyproject.toml:28"
    assert config.launches == ("cudalint-launches.json", os.path.join("tests", "recorded.json"))
    assert config.only_recorded
    assert config.place_of("std") == "pyproject.toml:19"


def test_the_nearest_file_counts_alone() -> None:
    inner = Path("a/b/c")
    inner.mkdir(parents=True)
    Path("pyproject.toml").write_text("[tool.cudalint]\nstd = 'c++14'")
    Path("a/pyproject.toml").write_text("[project]\nname = 'says nothing about cudalint'")
    found = find_config(str(inner))
    assert found is not None
    assert (found.path, found.std) == ("pyproject.toml", "c++14")
    Path("a/pyproject.toml").write_text("[tool.cudalint]\ntarget = 'h100'")
    found = find_config(str(inner))
    assert found is not None
    assert (found.path, found.std, found.target) == (os.path.join("a", "pyproject.toml"), None, "h100")
    Path("a/cudalint.toml").write_text("")
    found = find_config(str(inner))
    assert found is not None
    assert (found.path, found.target) == (os.path.join("a", "cudalint.toml"), None)


_ERRORS = [
    ("selekt = ['CL1']", "`selekt` is not a setting; did you mean `select`? (line 1)"),
    ("target = 'v9000'", "`target` names no GPU: unknown target 'v9000'"),
    ("\ntarget = 80", "`target` has to be a string, and is a number (line 2)"),
    ("select = 'CL1'", "`select` has to be a list of strings, and is a string (line 1)"),
    ("select = []", "`select` is empty; without it, the rules run that are on by default (line 1)"),
    ("ignore = ['CL1', 7]", "`ignore` has to be a list of strings, and one of them is a number (line 1)"),
    ("ignore = ['XX']", "`ignore` names no rule: no rule's code or name fits `XX`"),
    ("respect-gitignore = 1", "`respect-gitignore` has to be true or false, and is a number (line 1)"),
    ("exclude = ['!']", "`exclude` has the pattern `!`, which means nothing"),
    ("defines = ['4=5']", "`defines` has `4=5`, which has not the form NAME or NAME=VALUE (line 1)"),
    ("std = 'c99'", "`std` names no C++ standard; write one such as `c++17` (line 1)"),
    ("assume = ['K + 1']", "`assume` can't be used: `K + 1` is not a condition"),
    ("per-file-ignores = ['CL1']", "`per-file-ignores` has to be a table, and is a list (line 1)"),
    ("[thresholds.CL201]\nway = 3", "`thresholds.CL201.way` is no threshold: CL201 has no threshold `way`; did"),
    ("[thresholds.CL201]\nways = 'x'", "`thresholds.CL201.ways` has to be a number, and is a string (line 2)"),
    ("[thresholds.CL201]\nways = -1", "`thresholds.CL201.ways` has to be a number that is not negative (line 2)"),
    ("[thresholds.CL201]\nways = nan", "`thresholds.CL201.ways` has to be a number that is not negative (line 2)"),
    ("[thresholds.CL999]\nways = 3", "`thresholds.CL999.ways` is no threshold: no rule is called `CL999`"),
    ("[kernels.'k*']\nblok = 3", "`kernels.\"k*\".blok` is not a setting; did you mean `block`? (line 2)"),
    ("[kernels.k]\nblock = 32.5", "`kernels.k.block` is 32.5 in x, and has to be a whole number (line 2)"),
    ("[kernels.k]\nblock = 0", "`kernels.k.block` is 0 in x, and has to be at least 1 (line 2)"),
    ("[kernels.k]\nblock = [1, -1]", "`kernels.k.block` is -1 in y, and has to be at least 1 (line 2)"),
    ("[kernels.k]\nblock = 32.5", "`kernels.k.block` is 32.5 in x, and has to be a whole number (line 2)"),
    ("[kernels.k]\nblock = 1\nshared = [1, 2]", "`kernels.k.shared` has 2 numbers, and there is at most 1"),
    ("block = 32", "`block` is not a setting; it belongs to the kernels that it is for: [kernels"),
    ("show = true", "`show` is not a setting; it is an option of the command line, `--show` (line 1)"),
    ("fail-on = 'never'", "`fail-on` is `never`, and has to be one of error, warning, info (line 1)"),
    ("[severity]\nCL2 = 'off'", "`severity.CL2` is `off`, and has to be one of error, warning, info (line 2)"),
    ("severity = { XX = 'info' }", "`severity.XX` names no rule: no rule's code or name fits `XX`"),
    ("jobs = 1.5", "`jobs` has to be a whole number that is at least 1 (line 1)"),
    ("format = 'xml'", "`format` is `xml`, and has to be one of text, concise, json, "),
    ("[output]\nsarrif = 'a'", "`output.sarrif` is no format; did you mean `sarif`? (line 2)"),
    ("output.sarif = 'a.txt'", "`output.sarif` has to end in .sarif or .json, as files of that format do: a.txt"),
    ("output = { json = 'a.json', gitlab = './a.json' }", "`output.gitlab` names the file of another report"),
    ("output.sarif = '../a.sarif'", "`output.sarif` leads out of the repository"),
    ("output.json = '.git/hooks/a.json'", "`output.json` leads into what is hidden"),
    ("baseline = '/etc/passwd'", "`baseline` leads out of the repository: /etc/passwd (line 1)"),
    ("launches = ['/etc/passwd']", "`launches` leads out of the repository: /etc/passwd (line 1)"),
    ("launches = ['a.json', '../../b.json']", "`launches` leads out of the repository: ../../b.json (line 1)"),
    ("launches = 'a.json'", "`launches` has to be a list of strings, and is a string (line 1)"),
    ("only-recorded = 'yes'", "`only-recorded` has to be true or false, and is a string (line 1)"),
    ("extend = '../../none.toml'", "`extend` leads out of the repository: ../../none.toml (line 1)"),
    ("extend = 'none.toml'", "`extend` names no file: none.toml (line 1)"),
    ("extend = 'cudalint.toml'", "`extend` comes back to a file that it started from: cudalint.toml (line 1)"),
    ("[tool.cudalint]\nstd = 'c++17'", "`tool` is not a setting; in cudalint.toml all keys stand without `tool."),
    ("[kernels.k]\nblock = [1, 1, 1, 1]", "`kernels.k.block` has 4 numbers, and there are at most 3 (line 2)"),
    ("[kernels.k]\nblock = []", "`kernels.k.block` is empty (line 2)"),
    ("[kernels.k]\nblock = 'a b'", "`kernels.k.block` can't be used: `a b` is not a C expression (line 2)"),
    ("[kernels.k]\nblock = true", "`kernels.k.block` has to be a number or a C expression in a string, and is"),
    ("[kernels.k]\ngrid = 2", "`kernels.k` gives a launch without a `block` (line 1)"),
    ("kernels.k = 3", "`kernels.k` has to be a table, and is a number (line 1)"),
    ("a = [", "not valid TOML: "),
    ("a = 1\na = 2\n", "not valid TOML: Cannot overwrite a value (at line 2, column 6)"),
]


@pytest.mark.parametrize(("text", "message"), _ERRORS)
def test_errors_name_file_key_and_line(text: str, message: str) -> None:
    assert _error(text).startswith(f"cudalint.toml: {message}")


def test_a_configuration_on_top_of_another(tmp_path: Path) -> None:
    Path("kernels").mkdir()
    Path("kernels/cudalint.toml").write_text(
        "extend = '../shared.toml'\nignore = ['CL1']\n[thresholds.CL201]\nways = 8\n[kernels.k]\nblock = 64\n"
    )
    Path("shared.toml").write_text(
        "ignore = ['CL9']\nexclude = ['old/']\ninclude-dirs = ['include']\nfail-on = 'error'\n"
        "baseline = 'known.json'\noutput.sarif = 'out/a.sarif'\nseverity.CL2 = 'info'\n"
        "thresholds.CL201.ways = 4\nper-file-ignores = { 'old/**' = ['CL2'] }\n[kernels.'*']\nblock = 32\n"
    )
    config = find_config("kernels")
    assert config is not None
    assert (config.ignore, config.fail_on, config.baseline) == (("CL1",), "error", "known.json")
    assert config.output == (("sarif", os.path.join("out", "a.sarif")),)
    assert (config.include_dirs, config.severity) == (("include",), (("CL2", "info"),))
    assert [kernel.pattern for kernel in config.kernels] == ["k", "*"]
    assert config.thresholds == (("CL201", "ways", 4.0), ("CL201", "ways", 8.0))
    # Patterns count from the folder of the file that has them.
    assert config.folder_of("exclude") == config.per_file_ignores[0].folder == str(tmp_path)
    assert config.place_of("ignore") == os.path.join("kernels", "cudalint.toml") + ":2"
    assert config.place_of("fail-on") == "shared.toml:4"
    Path("shared.toml").write_text("extend = 'kernels/cudalint.toml'")
    with pytest.raises(ConfigError, match=r"shared.toml: `extend` comes back to a file that it started from"):
        find_config("kernels")


def test_what_a_link_leads_to_counts(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    outside.mkdir()
    (tmp_path / "repository" / "reports").symlink_to(outside)
    with pytest.raises(ConfigError, match="leads out of the repository"):
        _load("output.json = 'reports/a.json'", "repository/cudalint.toml")


def test_errors_in_a_shared_file_name_the_table() -> None:
    text = "[tool.other]\nselekt = 1\n[tool.cudalint]\nselekt = 1"
    assert _error(text, "pyproject.toml") == (
        "pyproject.toml: `tool.cudalint.selekt` is not a setting; did you mean `select`? (line 4)"
    )
    assert _error("tool.cudalint = 4", "pyproject.toml") == (
        "pyproject.toml: `tool.cudalint` has to be a table, and is a number (line 1)"
    )
    assert _error("", "pyproject.toml") == "pyproject.toml: there is no table [tool.cudalint] in it"


def test_files_that_cannot_be_read() -> None:
    Path("cudalint.toml").write_bytes(b"target = '\xff'")
    with pytest.raises(ConfigError, match=r"cudalint.toml: not UTF-8 text \(byte 10\)"):
        find_config(os.curdir)
    with pytest.raises(ConfigError, match=r"none.toml: cannot be read: No such file or directory"):
        load_config("none.toml")
    with pytest.raises(ConfigError, match=r"^\.: cannot be read: Is a directory"):
        load_config(os.curdir)
    assert "not valid TOML" in _error("a = " + "[" * 100_000)


_VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-2, 3000).map(str), st.sampled_from(["'x'", "''", "nan", "1979-05-27"])).map(
        lambda value: str(value).lower()
    ),
    lambda inner: st.lists(inner, max_size=3).map(lambda values: f"[{', '.join(values)}]")
    | st.dictionaries(st.sampled_from(["block", "CL201", "ways", "parameters"]), inner, max_size=2).map(
        lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
    ),
    max_leaves=4,
)


_KEYS = (
    "target", "select", "thresholds", "kernels", "exclude", "std", "per-file-ignores", "output", "severity", "jobs",
    "extend",
)  # fmt: skip


@given(st.sampled_from(_KEYS), _VALUES)
def test_any_value_is_taken_or_refused_with_its_key(key: str, value: str) -> None:
    text = f"{key} = {value}"
    try:
        _load(text)
    except ConfigError as error:
        assert f"`{key}" in str(error)
        assert str(error).endswith("(line 1)")
    else:
        # Editors must not mark what is fine.
        assert _SCHEMA.is_valid(tomllib.loads(text)), text


_OF_MEANING = re.compile(
    "names no |no threshold|means nothing|can't be used|whole number|has to be at least|leads |comes back"
    "|another report|not valid TOML|is -?[0-9.]+ in"
)
"""Refusals of values that are of the right form, of which a schema knows nothing."""


def test_the_schema_says_what_the_reader_says() -> None:
    assert set(_SCHEMA.schema["properties"]) == set(SETTINGS)
    assert _SCHEMA.is_valid(tomllib.loads(_ALL)["tool"]["cudalint"])
    for text, message in _ERRORS:
        # JSON has no `nan`.
        if not _OF_MEANING.search(message) and "nan" not in text:
            assert not _SCHEMA.is_valid(tomllib.loads(text)), text
    for settings in _SCHEMA.schema["properties"].values():
        assert settings["description"].endswith(".")


def test_the_schema_has_the_form_of_schemastore() -> None:
    """Draft 7 under the address that it will have, with a description of everything."""
    schema = _SCHEMA.schema
    Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["$id"] == "https://json.schemastore.org/cudalint.json"


def test_the_schema_knows_the_formats() -> None:
    """`CUDALINT_UPDATE_GOLDEN=1` writes them into it."""
    assert get_args(Format) == FORMATS
    schema = json.loads(_PATH.read_text(encoding="utf-8"))
    files = {
        name: {
            "type": "string",
            "pattern": f"({'|'.join(map(re.escape, entry.endings))})\\s*$",
            "description": f"The file of the report as {name}.",
        }
        for name, entry in OUTPUT_FORMATS.items()
    }
    schema["properties"]["format"]["enum"] = list(FORMATS)
    schema["properties"]["output"]["properties"] = files
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("CUDALINT_UPDATE_GOLDEN"):
        _PATH.write_text(text, encoding="utf-8")
    assert _PATH.read_text(encoding="utf-8") == text
