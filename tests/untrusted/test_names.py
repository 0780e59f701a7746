"""Repositories whose files, folders and build files are named and filled to be taken for options of a compiler."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudalint.frontend.flags import ParseOptions, option_flags
from cudalint.system.disk.arguments import as_path, harmless
from cudalint.toolchain.toolkit import nvcc
from cudalint.toolchain.toolkit.nvcc import Compilation, compiled_usage
from cudalint.toolchain.toolkit.usage import UsageError

Check = Callable[..., Any]

_STRIDED = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"
"""Each lane of a warp writes into a sector of its own: CL101."""


@pytest.mark.parametrize("name", ["--config=.", "@evil.cu", "-MD", "-load=x.so"])
def test_a_folder_named_like_an_option_is_a_folder(name: str, folder: Path, check: Check) -> None:
    """What clang would take for options, further ones are read from: `-MF` writes a file of their choice."""
    (folder / name).mkdir()
    (folder / name / "evil.cu").write_text(_STRIDED)
    (folder / "evil.cu").write_text('-MD -MF written -MT "command;" ok.cu\n')
    (folder / "ok.cu").write_text(_STRIDED)
    found = check(".").out
    assert not (folder / "written").exists()
    assert f"{name}/evil.cu:1:37: warning: CL101" in found
    assert "ok.cu:1:37: warning: CL101" in found


@pytest.mark.parametrize("name", ["-MD.cu", "@ok.cu", "--config=x.cu", "-include.cu"])
def test_a_file_named_like_an_option_is_linted_as_any_other(name: str, folder: Path, check: Check) -> None:
    (folder / name).write_text('#include "-size.h"\n' + _STRIDED.replace("32", "SIZE"))
    (folder / "-size.h").write_text("#define SIZE 32\n")
    assert f"{name}:2:37: warning: CL101" in check("--", name).out


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a.cu", "a.cu"), ("/a.cu", "/a.cu"), ("../a.cu", "../a.cu"), ("-a", "./-a"), ("@a", "./@a"), ("+a", "./+a")],
)
def test_paths_are_no_options(path: str, expected: str) -> None:
    assert as_path(path) == expected


def test_only_known_options_are_passed_on() -> None:
    written = ["-MD", "-MF", "x", "-ox", "-o", "x", "-load", "x.so", "-fplugin=x.so", "--config=x", "@x", "-Xclang",
               "-load", "-Xclang", "x.so", "-ivfsoverlay", "x", "-fmodules-cache-path=x", "-include-pch", "x",
               "-ccbin", "x", "-serialize-diagnostics", "x", "--", "x", "-I"]  # fmt: skip
    kept = ["-Ia", "-isystem", "b", "-DNAME=1", "-UOTHER", "-include", "-MD"]
    expected = ["-I", "a", "-isystem", "b", "-DNAME=1", "-UOTHER", "-include", "./-MD"]
    assert list(harmless(written)) == []
    assert list(harmless([*kept, *written])) == expected
    assert list(option_flags(ParseOptions(extra=(*kept, *written)))) == expected


def test_a_compilation_database_can_name_no_file_to_write(folder: Path, check: Check) -> None:
    (folder / "a.cu").write_text(_STRIDED.replace("32", "SIZE"))
    options = "-DSIZE=32 -MD -MF written -Xclang -serialize-diagnostic-file -Xclang written -o written"
    forwarded = "-Xcompiler -MD,-MF,written -include -MFwritten"
    entry = {"directory": str(folder), "file": "a.cu", "command": f"nvcc {options} {forwarded} -c a.cu"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    assert "a.cu:1:37: warning: CL101" in check("a.cu").out
    assert not (folder / "written").exists()


@pytest.mark.parametrize("value", ["$(touch written)", "`touch written`", '\\";touch written;\\"', "1\ntouch written"])
def test_nvcc_is_given_nothing_that_a_shell_would_run(
    value: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nvcc runs its compilers through a shell, their arguments between double quotes."""
    monkeypatch.setenv("CUDALINT_CACHE_DIR", str(folder / "cache"))
    (folder / "a.cu").write_text(_STRIDED)
    monkeypatch.setattr(nvcc, "find_nvcc", lambda cuda_path: __file__)
    monkeypatch.setattr(nvcc, "_run", lambda command: pytest.fail("it was run"))
    for compilation in (
        Compilation("a.cu", "sm_80", defines=(f"X={value}",)),
        Compilation("a.cu", "sm_80", include_dirs=(value,)),
        Compilation("a.cu", "sm_80", extra=("-include", value)),
        Compilation(f"{value}.cu", "sm_80"),
    ):
        with pytest.raises(UsageError, match="is not for nvcc, which hands it to a shell"):
            compiled_usage(compilation)
