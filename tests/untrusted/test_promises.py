"""Repositories with traps of every kind at once: nothing is run or written, and all that they say is data."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudalint.cli import run
from cudalint.project import changes

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))  # Behind everything else.

import documents

from cudalint.project.formats import FORMATS

Check = Callable[..., Any]
_STRIDED = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"
_BUILDS = {
    "Makefile": "X := $(shell touch ran)\nY != touch ran\ninclude ran.mk\nran.mk:\n\ttouch ran\na: a.cu\n\ttouch ran\n",
    "CMakeLists.txt": 'execute_process(COMMAND touch ran)\nfile(WRITE ran "x")\nadd_executable(a a.cu)\n',
    "setup.py": "open('ran', 'w')\nfrom setuptools import setup\nsetup()\n",
    "kernels.py": (
        "open('ran', 'w')\nimport cupy\n"
        "k = cupy.RawKernel('__global__ void k(int *p) { p[threadIdx.x * 8] = 1; }', 'k')\n"
    ),
    "conftest.py": "open('ran', 'w')\n",
    "sitecustomize.py": "open('ran', 'w')\n",
    "compile_commands.json": '[{"directory": ".", "file": "a.cu", "command": "sh -c \'touch ran\' $(touch ran) a.cu"}]',
}
_SAYINGS = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "a\rb",
    "::error::pwn",
    "##[error]x",
    "##vso[task.x]",
    "##teamcity[x",
    "\u202egnp",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:x)",
    "`x`",
    "]]>",
    "&lt;",
    "\u2028x",
    "\x7f\x85",
    "%0A::error::x",
    "'\"><b>",
    "\U000e0041",
    "![i](http:x)",
    "a\r::error::b",
    "\u2066x\u200by\ufeffz",
    "\x9b31m",
    "\U000110bdx",
    "\\##[x",
]


@pytest.fixture
def repository(folder: Path) -> Path:
    (folder / ".git").mkdir()
    (folder / "a.cu").write_text(_STRIDED)
    return folder


def test_nothing_of_a_build_is_run(repository: Path, check: Check) -> None:
    for name, text in _BUILDS.items():
        (repository / name).write_text(text)
    before = sorted(os.listdir(repository))
    assert "a.cu:1:37: warning: CL101" in check(".").out
    assert sorted(os.listdir(repository)) == before


@pytest.mark.parametrize(
    "setting",
    [
        '[output]\njson = "../out.json"', '[output]\njson = "link/out.json"', '[output]\njson = "out.link"',
        '[output]\nhtml = ".git/hooks/post-checkout"', '[output]\nhtml = ".hidden/a.html"',
        '[output]\ntext = "setup.py"',
        'baseline = "../known.json"', 'extend = "../other.toml"', 'cache-dir = "cache"', 'rules = ["evil"]',
    ],
)  # fmt: skip
def test_a_configuration_has_nothing_written_or_read_outside(setting: str, repository: Path, check: Check) -> None:
    (repository / "sub").mkdir()
    (repository / "sub" / ".git").mkdir()
    (repository / "sub" / "a.cu").write_text(_STRIDED)
    (repository / "sub" / "link").symlink_to("..")
    (repository / "sub" / "out.link").symlink_to("../out.json")
    (repository / "sub" / "cudalint.toml").write_text(setting + "\n")
    (repository / "other.toml").write_text('select = ["ALL"]\n')
    before = sorted(str(path) for path in repository.rglob("*"))
    result = check("sub")
    assert (result.status, result.err.startswith("cudalint: error: sub/cudalint.toml: ")) == (2, True)
    assert sorted(str(path) for path in repository.rglob("*")) == before


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_git_that_waits_is_ended(name: str, folder: Path, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.cu").write_text(_STRIDED)
    for arguments in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", *arguments], check=True, capture_output=True)
    (folder / "a.cu").write_text(_STRIDED + "\n")
    os.mkfifo(folder / name)
    monkeypatch.setattr(changes, "_SECONDS", 1.0)
    result = check("--diff", "HEAD", "--no-gitignore", "a.cu")
    assert (result.status, "takes longer than 1 seconds" in result.err) == (2, True)


def test_what_a_repository_says_is_data_in_every_report(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In names of files, includes, macros, annotations, comments, messages and literals, of several kernels."""
    names = []
    for number, saying in enumerate(_SAYINGS):
        quoted = saying.replace('"', "'")
        names.append(f"{saying.replace('/', '_')}.cu")
        (repository / names[-1]).write_text(
            f'#include "{quoted}.h"\n#warning {saying}\n// cudalint: assume({saying})\n// cudalint: ignore[{saying}]\n'
            f'#line 40 "{quoted}"\n__global__ void kernel{number}(float *p) {{ // {saying}\n'
            f'    p[threadIdx.x * {number + 2}] = 1; /* {saying} */ undeclared("{quoted}");\n}}\n'
        )
    outputs = [word for each in FORMATS for word in ("--output", f"{each}={each}.report")]
    assert run(["check", "-j1", "--select", "ALL", "--min-share", "0", "--show", *outputs, "--", *names]) in (1, 2)
    captured = capfd.readouterr()
    assert [*documents.of_lines(captured.out), *documents.of_lines(captured.err)] == []
    for format_ in FORMATS:
        assert list(documents.problems(format_, repository / f"{format_}.report", str(repository))) == []
