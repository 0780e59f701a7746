"""The group, its help, `explain` and `rules`, and the program as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudalint import __version__
from cudalint.cli.group import _COMMANDS

Run = Callable[..., Any]


def test_version(cudalint: Run) -> None:
    assert cudalint("--version").out == f"cudalint {__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("check",), ("--format", "concise"), ("check", "--format", "concise")])
def test_no_path_is_the_current_folder(
    cudalint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "below").mkdir()
    kernel = "__global__ void k(float* p) { p[threadIdx.x * 2] = 0; }\n"
    (tmp_path / "below" / "a.cu").write_text(kernel, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = cudalint(*arguments)
    assert result.status == 1
    assert "below/a.cu:2:" in result.out


def test_a_folder_without_cuda_is_one_line(cudalint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = cudalint()
    assert result.status == 2
    assert result.err.startswith("cudalint: error: .: no CUDA files")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("command", ["", *_COMMANDS])
def test_help_has_examples(cudalint: Run, command: str) -> None:
    result = cudalint(*filter(None, [command]), "--help")
    assert result.status == 0
    assert "Usage: cudalint" in result.out
    assert command == "rules" or "Example" in result.out


def test_explain(cudalint: Run) -> None:
    by_code, by_name = cudalint("explain", "cl903"), cudalint("explain", "bad-annotation")
    assert by_code.status == 0
    assert by_code.out == by_name.out
    assert by_code.out.startswith("CL903 bad-annotation (warning)\n")
    assert "\nUse instead\n" in by_code.out


def test_explain_takes_parts_of_names(cudalint: Run) -> None:
    assert cudalint("explain", "bad").out.startswith("CL903 bad-annotation (warning)\n")
    assert cudalint("explain", "annotation", "bad").out == cudalint("explain", "CL903").out
    listed = cudalint("explain", "cl90").out.splitlines()
    assert [line.split()[0] for line in listed[:2]] == ["CL901", "CL903"]
    assert listed[-1] == "`cudalint explain CL901` prints the page of one"


def test_explain_unknown_rule(cudalint: Run) -> None:
    for word in ("CL999", "-"):
        result = cudalint("explain", "--", word)
        assert result.status == 2
        assert f"`{word}`" in result.err
        assert result.err.endswith("; `cudalint rules` lists them\n")


def test_rules(cudalint: Run) -> None:
    table = cudalint("rules").out
    assert "CL901  unused-suppression" in table
    listed = json.loads(cudalint("rules", "--format", "json").out)
    assert {rule["code"] for rule in listed} >= {"CL901", "CL903"}
    assert len(table.splitlines()) == len(listed)


def _program(*arguments: str, **settings: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "cudalint", *arguments], **settings)


def test_start_up_is_quick_and_light() -> None:
    """The limit is loose, since tests share their machine; what is imported is not."""
    code = "import sys; from cudalint.cli import run; run(['--version']); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {"numpy", "clang", "rich", "pycparser", "pathspec", "multiprocessing", "tomllib", "difflib", "json"}
    assert not heavy & set(out.split())
    own = {name for name in out.split() if name.startswith("cudalint")}
    assert own == {"cudalint", "cudalint.cli", "cudalint.cli.group", "cudalint.cli.streams"}
    start = time.monotonic()
    _program("--version", stdout=subprocess.DEVNULL).wait()
    assert time.monotonic() - start < 1


def test_what_evaluates_is_loaded_by_workers_only(tmp_path: Path) -> None:
    """numpy would start threads of its own in the process that starts the workers."""
    path = tmp_path / "empty.cu"
    path.touch()
    code = f"import sys; from cudalint.cli import run; run([{str(path)!r}]); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "cudalint.run.runs" in out.split()
    assert not {"numpy", "networkx", "cudalint.run.analysis"} & set(out.split())


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "many.cu"
    path.write_text("// cudalint: nonsense\n" * 2000)
    process = _program(str(path), "--format", "concise", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait()


def test_the_cache_says_where_it_is_and_can_be_emptied(cudalint: Run, tmp_path: Path) -> None:
    folder = tmp_path / "results" / "ab"
    folder.mkdir(parents=True)
    (folder / "cd.result").write_bytes(b"x" * 1_500_000)
    assert cudalint("cache", "info", "--cache-dir", str(tmp_path)).out == f"{folder.parent}: 1 result, 1.5 MB\n"
    assert cudalint("cache", "clear", "--cache-dir", str(tmp_path)).out == "removed 1 result, 1.5 MB\n"
    assert cudalint("cache", "info", "--cache-dir", str(tmp_path)).out == f"{folder.parent}: 0 results, 0.0 MB\n"


@pytest.mark.parametrize("command", ["check", "facts", "diff"])
def test_several_targets_are_answered_with_what_takes_them(cudalint: Run, tile: str, command: str) -> None:
    result = cudalint(command, "--target", "a100,h100", tile)
    assert result.status == 2
    assert "of one GPU: run it once for each of a100 and h100; `cudalint roofline --target a100,h100`" in result.err
    assert result.err.count("\n") == 1
