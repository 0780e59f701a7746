"""Pipes, devices and links to them in the place of files: nothing waits for them, and none is read."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudalint.frontend import searched
from cudalint.frontend.inclusions import named_by_macros, perhaps_included_in
from cudalint.frontend.searched import IncludeSearch
from cudalint.run.cache.entries import path_of, read_entry
from cudalint.run.limits import Done, Limits, Lost
from cudalint.run.pool import run_jobs
from cudalint.system.disk.border import border_around
from cudalint.system.disk.regular import LARGEST, read_regular

Check = Callable[..., Any]
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")

_STRIDED = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"
_LIMIT = ("--time-limit", "8")
"""Seconds; whatever waits runs into it, and its test fails for the finding that is missing."""


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: Path(path).symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_read(make: Callable[[str], None], folder: Path) -> None:
    make("special")
    with pytest.raises(OSError, match="no regular file"):
        read_regular("special")


@pytest.mark.parametrize("name", ["size.h", "sub/size.h", "../size.h"])
@pytest.mark.parametrize("spelled", ["a.cu", "./a.cu", "absolute"])
def test_an_included_pipe_is_taken_as_empty(name: str, spelled: str, folder: Path, check: Check) -> None:
    for inside in ("here/sub", "here"):
        (folder / inside).mkdir(exist_ok=True, parents=True)
    os.chdir("here")
    os.mkfifo(name)
    Path("a.cu").write_text(f'#include "{name}"\n{_STRIDED}')
    result = check(*_LIMIT, os.path.abspath("a.cu") if spelled == "absolute" else spelled)
    assert "a.cu:2:37: warning: CL101" in result.out
    assert result.status == 1


def test_headers_that_include_each_other_are_looked_into_once(folder: Path) -> None:
    """Each round through them has a longer name: `a/../b/../a/one.h` is the file that `a/one.h` is."""
    for name, other in (("a/one.h", "b/two.h"), ("b/two.h", "a/one.h")):
        (folder / name).parent.mkdir()
        (folder / name).write_text(f'#include "../{other}"\n#include "pipe.h"\n')
    os.mkfifo("b/pipe.h")
    search = IncludeSearch((), border_around("k.cu"))
    search.follow("k.cu", b'#include "a/one.h"\n')
    assert [(os.path.realpath(path), line) for path, (_, line, _) in search.refused.items()] == [
        (os.path.realpath("b/pipe.h"), 2)
    ]


def test_what_is_not_looked_into_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no end to the headers of a hostile repository, but one to those that are searched."""
    monkeypatch.setattr(searched, "_MOST_FOLLOWED", 5)
    for number in range(9):
        Path(f"{number}.h").write_text(f'#include "{number + 1}.h"\n')
    os.mkfifo("9.h")
    search = IncludeSearch((), border_around("k.cu"))
    search.follow("k.cu", b'#include "0.h"\n')
    assert {path: why for path, (_, _, why) in search.refused.items()} == {"./4.h": "more than 5 files are included"}


def test_an_included_device_is_taken_as_empty(folder: Path, check: Check) -> None:
    (folder / "include").mkdir()
    (folder / "include" / "zero.h").symlink_to("/dev/zero")
    (folder / "a.cu").write_text(f"#include <zero.h>\n{_STRIDED}")
    assert "a.cu:2:37: warning: CL101" in check(*_LIMIT, "-I", "include", "a.cu").out


@pytest.mark.parametrize(
    "name",
    ["other.cu", "kernels.cuh", "compile_commands.json", "Makefile", "CMakeLists.txt", "setup.py", "cudalint.toml",
     "pyproject.toml", ".gitignore", "module.py"],
)  # fmt: skip
def test_no_pipe_beside_a_file_is_opened(name: str, folder: Path, check: Check) -> None:
    os.mkfifo(name)
    (folder / "a.cu").write_text('#include "nowhere.h"\n' + _STRIDED.replace("p[", "q[0] = p["))
    (folder / "b.cu").write_text(_STRIDED)
    result = check(*_LIMIT, ".")
    assert "b.cu:1:37: warning: CL101" in result.out
    assert result.status == 1


def _wait(path: str) -> str:
    with open(path, "rb") as file:
        return file.read().decode()


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="nothing tells how much another process computes")
def test_a_job_that_only_waits_is_given_up(folder: Path) -> None:
    os.mkfifo("pipe")
    (folder / "file").write_text("text")
    limits = Limits(workers=2, seconds=20, idle_seconds=0.4)
    start = time.monotonic()
    outcomes = {outcome.index: outcome for outcome in run_jobs(_wait, ["pipe", "file"], limits)}
    assert outcomes[0] == Lost(0, "given up: it waits, and has computed nothing for 0.4 s")
    assert outcomes[1] == Done(1, "text")
    assert time.monotonic() - start < 10


def test_a_pipe_that_a_header_includes_is_taken_as_empty(folder: Path, check: Check) -> None:
    os.mkfifo("pipe.h")
    (folder / "header.h").write_text('#include "pipe.h"\n')
    (folder / "a.cu").write_text(f'#include "header.h"\n{_STRIDED}')
    assert "a.cu:2:37: warning: CL101" in check(*_LIMIT, "a.cu").out


@pytest.mark.parametrize(
    "spelled",
    [
        '%:include "pipe.h"', '# /* a */ include /* b\n */ "pipe.h"', '#inc\\\nlude "pipe.h"',
        '#include \\\n"pi\\\npe.h"', '/* a\n */ #include "pipe.h"', '\ufeff#include "pipe.h"',
        '#pragma GCC dependency "pipe.h"',
        '#define NAME "pipe.h"\n#include NAME', '#define NAME(x) x\n#include NAME("pipe.h")',
        '#define STRING(x) #x\n#define INDIRECT(x) STRING(x)\n#define NAME pipe.h\n#include INDIRECT(NAME)',
        '#if __has_include("pipe.h")\n#include "./pipe.h"\n#endif', '#inc\\\nlude "header.h"',
    ],
)  # fmt: skip
def test_however_a_pipe_is_included(spelled: str, folder: Path, check: Check) -> None:
    """The language has many ways to say so (its phases of translation, digraphs, macros)."""
    os.mkfifo("pipe.h")
    (folder / "header.h").write_text('#include "pipe.h"\n')
    (folder / "a.cu").write_text(f"{spelled}\n{_STRIDED}", encoding="utf-8")
    result = check(*_LIMIT, "a.cu")
    assert ("warning: CL101" in result.out, result.status, result.err) == (True, 1, "")


def test_a_macro_of_a_database_names_no_pipe(folder: Path, check: Check) -> None:
    os.mkfifo("pipe.h")
    entry = {"directory": str(folder), "file": "a.cu", "arguments": ["nvcc", '-DNAME="pipe.h"', "-c", "a.cu"]}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    (folder / "a.cu").write_text(f"#include NAME\n{_STRIDED}")
    assert "warning: CL101" in check(*_LIMIT, "a.cu").out


def test_a_header_that_is_huge_is_taken_as_empty(folder: Path, check: Check) -> None:
    with open("huge.h", "wb") as file:
        file.truncate(LARGEST + 1)
    (folder / "a.cu").write_text(f'#include "huge.h"\n{_STRIDED}')
    assert "warning: CL101" in check(*_LIMIT, "a.cu").out


def test_looking_for_what_is_included_takes_no_time() -> None:
    begin = time.process_time()
    pieces = (b"#/*", b"#/**/", b'#include "', b"#\\\n", b"/**/", b"#define a(")
    for text in (b"#" + piece * 50_000 for piece in pieces):
        perhaps_included_in(text)
        tuple(named_by_macros(text))
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: Path(path).symlink_to("/dev/zero")])
def test_a_baseline_that_is_no_file_is_not_read(make: Callable[[str], None], folder: Path, check: Check) -> None:
    make("baseline.json")
    (folder / "a.cu").write_text(_STRIDED)
    result = check("--baseline", "baseline.json", "a.cu")
    assert (result.status, "baseline.json: cannot be read: no regular file" in result.err) == (2, True)


def test_a_baseline_that_is_huge_is_not_read(folder: Path, check: Check) -> None:
    with open("baseline.json", "wb") as file:
        file.truncate(LARGEST + 1)
    (folder / "a.cu").write_text(_STRIDED)
    result = check("--baseline", "baseline.json", "a.cu")
    assert (result.status, "baseline.json: cannot be read: larger than" in result.err) == (2, True)


def test_a_configuration_has_no_report_written_into_a_pipe(folder: Path, check: Check) -> None:
    os.mkfifo("report.html")
    (folder / "cudalint.toml").write_text('output.html = "report.html"\n')
    (folder / "a.cu").write_text(_STRIDED)
    result = check("a.cu")
    assert (result.status, "is there and no regular file" in result.err) == (2, True)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: Path(path).symlink_to("/dev/zero")])
def test_an_entry_of_the_cache_that_is_no_file_is_none(make: Callable[[str], None], folder: Path) -> None:
    path = path_of(str(folder), b"key")
    Path(path).parent.mkdir()
    make(path)
    assert read_entry(str(folder), b"key") is None
