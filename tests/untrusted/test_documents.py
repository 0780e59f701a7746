"""TOML and JSON of a repository: small texts that would take any time or memory are refused before they are parsed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudalint.system.disk.documents import DocumentError, json_of, toml_of
from cudalint.toolchain.buildfiles.pyproject import cmake_variables

Check = Callable[..., Any]

_KERNEL = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"
_HEAVY_TOML = {
    "dotted key": "a." * 30_000 + "b = 1",
    "dotted key in a table": "x = 1\n[t]\ny = {" + "a . " * 30_000 + "b = 1}",
    "header": "[" + '"a".' * 30_000 + "b]",
    "header of a list": "[[" + "'a'\t.\t" * 30_000 + "b]]",
    "many dotted keys": "\n".join(f"k{number}." + "a." * 900 + "b = 1" for number in range(500)),
    "lists": "x = " + "[" * 100_000,
    "tables": "x = " + "{a = " * 100_000,
    "digits": "jobs = " + "1" * 400,
    "more digits": "jobs = " + "1" * 100_000,
    "hexadecimal digits": "jobs = 0x" + "f" * 100_000,
    "size": "#" * (2 << 20),
}
_HEAVY_JSON = {
    "lists": "[" * 1_000_000,
    "objects": '{"a":' * 1_000_000,
    "values": "[" + "[]," * 3_000_000 + "0]",
    "digits": "[" + "1" * 400 + "]",
    "more digits": "[" + "1" * 100_000 + "]",
    "infinite": "[1e999]",
    "no number": "[NaN]",
}


@pytest.mark.parametrize("kind", _HEAVY_TOML)
def test_toml_is_bounded(kind: str, tmp_path: Path) -> None:
    begin = time.process_time()
    with pytest.raises(DocumentError):
        toml_of(_HEAVY_TOML[kind])
    (tmp_path / "pyproject.toml").write_text(_HEAVY_TOML[kind])
    assert cmake_variables(str(tmp_path)) == {}
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("kind", _HEAVY_JSON)
def test_json_is_bounded(kind: str) -> None:
    begin = time.process_time()
    with pytest.raises(DocumentError):
        json_of(_HEAVY_JSON[kind].encode())
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000, "a " * 500_000, "a." * 500_000, ("a." * 30 + "\n") * 10_000, '"' * 100_000, "'" * 100_000,
        '"""' + '\\"' * 100_000, "'''" + "''" * 100_000, '"\n' * 100_000, " . " * 100_000,
    ],
)  # fmt: skip
def test_looking_for_long_keys_takes_no_time(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(DocumentError):
        toml_of(text)
    assert time.process_time() - begin < 5


def test_what_is_no_key_may_have_dots() -> None:
    long = "a." * 100
    text = f"""# {long}
one = "{long}" # {long}
two = '{long}'
three = \"\"\"
{long} = 1
{long}\"\"\"
four = '''
{long}'''
five = [{"1.5, " * 100}]
six = "\\"{long}"
a."b.c.d".e = 1
"""
    assert toml_of(text) == tomllib.loads(text)
    assert json_of(json.dumps([long, 2**63, -(2**63), 1.5]).encode()) == [long, 2**63, -(2**63), 1.5]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
@pytest.mark.parametrize("name", ["cudalint.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", ["dotted key", "header", "many dotted keys"])
def test_a_heavy_configuration_takes_little_memory(kind: str, name: str, tmp_path: Path) -> None:
    import resource

    (tmp_path / "a.cu").write_text(_KERNEL)
    (tmp_path / name).write_text("[tool.cudalint]\n" * (name != "cudalint.toml") + _HEAVY_TOML[kind])
    command = [sys.executable, "-P", "-m", "cudalint", "check", "-j1", "a.cu"]
    most = 1 << 30
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False, timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (most, most)),
    )  # fmt: skip
    line = 1 + (name != "cudalint.toml")
    assert (done.returncode, done.stderr) == (
        2, f"cudalint: error: {name}: not valid TOML: a key has more than 32 parts (line {line})\n"
    )  # fmt: skip


@pytest.mark.parametrize("kind", [*_HEAVY_JSON])
def test_a_heavy_database_or_baseline_costs_no_more_than_itself(kind: str, folder: Path, check: Check) -> None:
    (folder / "a.cu").write_text(_KERNEL)
    (folder / "compile_commands.json").write_text(_HEAVY_JSON[kind])
    result = check("a.cu")
    assert ("CL101" in result.out, "compile_commands.json: not a JSON file: " in result.err) == (True, True)
    assert "internal error" not in result.err
    (folder / "compile_commands.json").rename(folder / "baseline.json")
    result = check("--baseline", "baseline.json", "a.cu")
    assert (result.status, "baseline.json: not a baseline: " in result.err) == (2, True)
