"""Compilation databases: where they are found, and how commands become parse options."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cudalint.frontend.compile_commands import (
    DatabaseError,
    find_compile_commands,
    load_compile_commands,
    options_from_arguments,
)
from cudalint.frontend.flags import ParseOptions
from cudalint.system.disk.border import Border


def translate(command: str, folder: str = "/project/build") -> ParseOptions:
    return options_from_arguments(["nvcc", *command.split()], folder, Border((os.sep,)))


def test_include_folders_in_all_spellings() -> None:
    options = translate("-I../a -I b --include-path=c,d --include-path /e -c k.cu")
    assert options.include_dirs == (
        "/project/a",
        "/project/build/b",
        "/project/build/c",
        "/project/build/d",
        "/e",
    )


def test_system_folders_come_last() -> None:
    options = translate("-isystem inc --system-include=/s -I/a -isystem=/t")
    assert options.include_dirs == ("/a", "/project/build/inc", "/s", "/t")


def test_macros() -> None:
    options = translate("-DA -D B=2 --define-macro=C=f(1,2),E -UF --undefine-macro G")
    assert options.defines == ("A", "B=2", "C=f(1,2)", "E")
    assert options.extra == ("-UF", "-UG")


@pytest.mark.parametrize("command", ["-std=c++20", "--std=c++20", "--std c++20", "-std c++20"])
def test_standards(command: str) -> None:
    assert translate(command).std == "c++20"


@pytest.mark.parametrize("command", ["-std=c11", "--std=c++29", "-std=c++17 -std=gnu11"])
def test_standards_that_mean_nothing_here_are_passed_over(command: str) -> None:
    assert translate(command).std in (None, "c++17")


@pytest.mark.parametrize(
    ("command", "arch"),
    [
        ("-arch=sm_86", "sm_86"),
        ("-arch sm_90a", "sm_90a"),
        ("--gpu-architecture=compute_75", "sm_75"),
        ("-gencode arch=compute_80,code=sm_80", "sm_80"),
        ("-gencode=arch=compute_70,code=[sm_70,compute_70] --generate-code arch=compute_90,code=sm_90", "sm_90"),
        ("--generate-code=arch=compute_100a,code=[sm_100a] -gencode arch=compute_80,code=sm_80", "sm_100a"),
        ("--cuda-gpu-arch=sm_70", "sm_70"),
        ("-arch=native", ParseOptions().arch),
        ("-c k.cu", ParseOptions().arch),
    ],
)
def test_architectures(command: str, arch: str) -> None:
    assert translate(command).arch == arch


def test_options_for_the_host_compiler() -> None:
    options = translate("-Xcompiler -fopenmp,-DHOST=1,-I/h -Xcompiler=-Wall --compiler-options -DMORE")
    assert options.defines == ("HOST=1", "MORE")
    assert options.include_dirs == ("/h",)


def test_forced_includes(tmp_path: Path) -> None:
    (tmp_path / "config.h").touch()
    options = translate("-include config.h --pre-include=elsewhere.h", str(tmp_path))
    assert options.extra == ("-include", str(tmp_path / "config.h"), "-include", "elsewhere.h")


def test_values_of_other_options_are_no_options() -> None:
    options = translate("-o -Iout -Xptxas -DNO -maxrregcount 32 -O3 --use_fast_math -lineinfo -DYES -x cu k.cu")
    assert options == ParseOptions(defines=("YES",))


def test_response_files(tmp_path: Path) -> None:
    (tmp_path / "outer.rsp").write_text("-DOUTER @inner.rsp @outer.rsp # a comment\n")
    (tmp_path / "inner.rsp").write_text('"-DINNER=two words"\n')
    options = translate("@outer.rsp --options-file missing.rsp,inner.rsp", str(tmp_path))
    assert options.defines[:2] == ("OUTER", "INNER=two words")
    assert set(options.defines) == {"OUTER", "INNER=two words"}


def test_a_database_is_found_in_parents_and_build_folders(tmp_path: Path) -> None:
    (tmp_path / "project" / "build").mkdir(parents=True)
    (tmp_path / "project" / "src" / "deep").mkdir(parents=True)
    database = tmp_path / "project" / "build" / "compile_commands.json"
    database.write_text("[]")
    assert find_compile_commands(str(tmp_path / "project" / "src" / "deep" / "k.cu")) == str(database)


def test_options_for_a_file(tmp_path: Path) -> None:
    source = tmp_path / "src" / "k.cu"
    source.parent.mkdir()
    entries = [
        {"directory": "build", "file": "../src/k.cu", "command": "nvcc -DQUOTED='\"a b\"' -I../include -c ../src/k.cu"},
        {"directory": "build", "file": "../src/k.cu", "arguments": ["nvcc", "-DSECOND"]},
        {"directory": str(tmp_path), "file": "src/other.cu", "arguments": ["nvcc", "-DLIST", "src/other.cu"]},
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    database = load_compile_commands(str(tmp_path))
    options = database.options_for(str(source))
    assert options == ParseOptions(include_dirs=(str(tmp_path / "include"),), defines=('QUOTED="a b"',))
    other = database.options_for(str(tmp_path / "src" / "other.cu"))
    assert other is not None
    assert other.defines == ("LIST",)
    assert database.options_for(str(tmp_path / "none.cu")) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "cannot read it"),
        ("{", "not a JSON file"),
        ("{}", "a list of entries was expected"),
        ("[{}]", "entry 1 is no compile command"),
        ('[{"directory": "/", "file": "k.cu", "command": "nvcc \\"open"}]', "entry 1 is no compile command"),
        ('["k.cu"]', "entry 1 is no compile command"),
    ],
)
def test_a_broken_database_is_refused(text: str | None, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DatabaseError, match=reason):
        load_compile_commands(str(path)).options_for("/k.cu")


def test_a_database_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    for number, name in enumerate(("A", "B")):
        path.write_text(json.dumps([{"directory": ".", "file": "k.cu", "arguments": ["nvcc", f"-D{name}"]}]))
        os.utime(path, ns=(number, number))
        options = load_compile_commands(str(path)).options_for(str(tmp_path / "k.cu"))
        assert options is not None
        assert options.defines == (name,)
