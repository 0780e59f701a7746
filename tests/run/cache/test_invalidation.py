"""A kept result is used while all that it rests on is as it was, and at no other time."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from recorded import NAME

from cudalint.cli import run
from cudalint.run import runs as driver
from cudalint.run.cache import program
from cudalint.run.file_analysis import FileAnalysis
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.cache_folder import FOLDER_VARIABLE
from cudalint.system.processes.time_limit import OutOfTime

KERNEL = """
#include "size.h"
__global__ void column(float *out, const float *in) {
    __shared__ float tile[SIZE][SIZE];
    tile[threadIdx.x][threadIdx.y] = in[threadIdx.y * SIZE + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * SIZE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""
LAUNCH = "int main() { float *a = 0, *b = 0; column<<<64, dim3(32, 32)>>>(a, b); }\n"


class Linter:
    """Runs the program, and tells what it printed and how many files it had to analyse for that."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._analysed = 0
        original = driver.run_all

        def counted(function: Callable[..., object], jobs: Sequence[object], *rest: object) -> object:
            self._analysed += len(jobs)
            return original(function, jobs, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(driver, "run_all", counted)

    def __call__(self, *arguments: str) -> tuple[str, int]:
        time.sleep(0.03)  # A file that changes while it is analysed is not kept.
        self._analysed = 0
        disk.forget()
        run([*arguments, "--format", "json"])
        return self._capsys.readouterr().out, self._analysed


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Linter:
    """In a project with one kernel; the cache folder is outside of it."""
    monkeypatch.delenv("CUDALINT_NO_CACHE")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / ".git").mkdir()
    monkeypatch.chdir(project)
    Path("src/a.cu").write_text(KERNEL + LAUNCH)
    Path("src/size.h").write_text("#define SIZE 32\n")
    return Linter(capsys, monkeypatch)


def test_what_has_not_changed_is_not_analysed_again(lint: Linter) -> None:
    first = lint("src")
    assert first[1] == 1
    assert "CL201" in first[0]
    assert lint("src") == (first[0], 0)


@pytest.mark.parametrize(("error", "analysed"), [(ValueError("unforeseen"), 0), (MemoryError(), 1)])
def test_what_could_not_be_done_is_remembered_but_for_want_of_memory(
    lint: Linter, monkeypatch: pytest.MonkeyPatch, error: Exception, analysed: int
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(FileAnalysis, "_kernel", fail)
    first = lint("src")
    assert "is not evaluated" in first[0]
    assert lint("src") == (first[0], analysed)


def test_that_time_ran_out_is_remembered(lint: Linter, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        raise OutOfTime

    monkeypatch.setattr("cudalint.run.file_analysis.HostCode", endless)
    first = lint("src")
    assert "too short" in first[0]
    assert lint("src") == (first[0], 0)
    assert lint("src", "--time-limit", "30")[1] == 1


def test_a_file_with_new_times_and_the_same_text_is_not_analysed_again(lint: Linter) -> None:
    lint("src")
    os.utime("src/a.cu")
    os.utime("src/size.h", (1_000_000_000, 1_000_000_000))
    assert lint("src")[1] == 0


def _new_text(path: str, text: str) -> Callable[[], None]:
    def change() -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)

    return change


def _same_size_and_time() -> None:
    status = os.stat("src/size.h")
    Path("src/size.h").write_text("#define SIZE 16\n")
    os.utime("src/size.h", ns=(status.st_atime_ns, status.st_mtime_ns))


def _another_file_by_that_name() -> None:
    Path("src/other.h").write_text("#define SIZE 16\n")
    os.replace("src/other.h", "src/size.h")


def _no_header() -> None:
    os.unlink("src/size.h")


CHANGES = {
    "the file": _new_text("src/a.cu", KERNEL.replace("[SIZE][SIZE]", "[SIZE][SIZE + 1]") + LAUNCH),
    "a header": _new_text("src/size.h", "#define SIZE 16\n"),
    "a header of the same size and time": _same_size_and_time,
    "a header that took another's place": _another_file_by_that_name,
    "a header that is gone": _no_header,
    "a Makefile": _new_text("src/Makefile", "a: a.cu\n\tnvcc -DSIZE=16 a.cu -o a\n"),
    "a CMakeLists.txt": _new_text("src/CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES 90)\n"),
    "a configuration": _new_text("cudalint.toml", "target = 'h100'\n"),
    "a configuration of a rule": _new_text("cudalint.toml", "ignore = ['CL201']\n"),
    "a compilation database": _new_text(
        "build/compile_commands.json", '[{"directory": "../src", "file": "a.cu", "command": "nvcc -DOTHER a.cu"}]'
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_seen(lint: Linter, change: Callable[[], None]) -> None:
    lint("src/a.cu")
    assert lint("src/a.cu")[1] == 0
    change()
    found, analysed = lint("src/a.cu")
    assert analysed == 1
    assert found == lint("src/a.cu", "--no-cache")[0]
    assert lint("src/a.cu") == (found, 0)


def test_recorded_launches(lint: Linter) -> None:
    """One that appears, one that says something else, one nearer by, one that is broken, and one that is gone."""
    Path("src/a.cu").write_text(KERNEL)
    before, _ = lint("src/a.cu")
    states = [
        _new_text(NAME, _recorded(64)),
        _new_text(NAME, _recorded(128)),
        _new_text(f"src/{NAME}", _recorded(256)),
        _new_text(f"src/{NAME}", _recorded(512)),
    ]
    seen = {before}
    for change in states:
        change()
        found, analysed = lint("src/a.cu")
        assert analysed == 1
        assert found not in seen
        seen.add(found)
        assert found == lint("src/a.cu", "--no-cache")[0]
        assert lint("src/a.cu") == (found, 0)
    assert lint("src/a.cu", "--no-launches") == (before, 0)
    Path(f"src/{NAME}").write_text("{")
    broken, _ = lint("src/a.cu")
    assert broken == lint("src/a.cu", "--no-cache")[0]
    assert "holds no recorded launches" in broken
    os.unlink(f"src/{NAME}")
    beside, analysed = lint("src/a.cu")
    assert analysed == 0
    assert beside == lint("src/a.cu", "--no-cache")[0]
    os.unlink(NAME)
    assert lint("src/a.cu") == (before, 0)


def test_recorded_launches_of_a_kernel_that_files_share(lint: Linter) -> None:
    """What is kept of it for all of them is of the same recording."""
    Path("src/k.cuh").write_text(KERNEL)
    for name in ("a", "b"):
        Path(f"src/{name}.cu").write_text('#include "k.cuh"\n')
    Path(NAME).write_text(_recorded(64))
    before, _ = lint("src")
    Path(NAME).write_text(_recorded(128))
    after, analysed = lint("src")
    assert analysed == 2
    assert after != before
    assert after == lint("src", "--no-cache")[0]


def _recorded(blocks: int) -> str:
    launch = {"count": 3, "grid": [blocks, 1, 1], "block": [32, 32, 1], "arguments": ["p0+0/4194304", "p1+0/4194304"]}
    kernel = {"symbol": "_Z6columnPfPKf", "parameters": [8, 8], "launches": [launch]}
    return json.dumps({"version": 1, "kernels": [kernel]})


def test_a_file_beside_it_that_launches_its_kernel(lint: Linter) -> None:
    Path("src/a.cu").write_text(KERNEL)
    before, _ = lint("src/a.cu")
    assert lint("src/a.cu")[1] == 0
    Path("src/b.cu").write_text("__global__ void column(float *, const float *);\n" + LAUNCH)
    after, analysed = lint("src/a.cu")
    assert analysed == 1
    assert after != before
    assert lint("src/a.cu") == (after, 0)
    os.unlink("src/b.cu")
    assert lint("src/a.cu") == (before, 1)


CALLER = "void go(float *out, const float *in, int n);\nint main() { float *a = 0, *b = 0; go(a, b, 32); }\n"


@pytest.fixture
def program_of_two(lint: Linter) -> Linter:
    """A kernel whose launcher is called by the `main` of another file, with a header that nobody finds."""
    launcher = "void go(float *out, const float *in, int n) { column<<<64, dim3(n, n)>>>(out, in); }\n"
    Path("src/a.cu").write_text('#include "lost.h"\n' + KERNEL + launcher)
    Path("src/main.cu").write_text(CALLER)
    Path("src/Makefile").write_text("main: a.cu main.cu\n\tnvcc a.cu main.cu -o main\n")
    Path("CMakeLists.txt").write_text("include_directories(elsewhere)\n")
    os.makedirs("docs")
    Path("src/sums.cu").write_text("__global__ void sum(float *out) { out[threadIdx.x] = 1; }\n")
    return lint


def test_what_has_no_say_of_all_that_was_looked_at(program_of_two: Linter) -> None:
    lint = program_of_two
    before, _ = lint("src/a.cu")
    assert lint("src/a.cu")[1] == 0
    os.makedirs("empty")
    _append("src/main.cu", "// done\n")
    Path("src/main.cu").write_text(Path("src/main.cu").read_text().replace("{ float", "{ /* two */ float", 1))
    Path("src/main.cu").write_text(Path("src/main.cu").read_text().replace("/* two */ ", "", 1))
    _append("src/sums.cu", "int main() { sum<<<1, 32>>>(0); }\n")
    _append("src/Makefile", "# done\nclean:\n\trm -f main\n")
    _append("CMakeLists.txt", "# done\n")
    Path("src/max.cu").write_text("__global__ void most(float *out) { out[threadIdx.x] = 1; }\n")
    Path("docs/other.h").write_text("")
    assert lint("src/a.cu") == (before, 0)


def _append(path: str, text: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


@pytest.mark.parametrize(
    "change",
    [
        _new_text("src/main.cu", CALLER.replace("32", "16")), _new_text("src/late.cu", CALLER.replace("32", "16")),
        _new_text("src/main.cu", CALLER + "// cudalint: assume(1 > 0)\n"),
        _new_text("CMakeLists.txt", "include_directories(elsewhere)\nadd_definitions(-DSIZE=16)\n"),
        _new_text("docs/lost.h", "#define LOST\n"), _new_text("docs/more/lost.h", "#define LOST\n"),
        lambda: os.unlink("src/main.cu"),
    ],
    ids=["a call", "another call", "a statement", "a macro", "a header beside", "a header far off", "no call"],
)  # fmt: skip
def test_what_has_a_say_of_all_that_was_looked_at(program_of_two: Linter, change: Callable[[], None]) -> None:
    lint = program_of_two
    lint("src/a.cu")
    change()
    found, analysed = lint("src/a.cu")
    assert analysed == 1
    assert found == lint("src/a.cu", "--no-cache")[0]


def test_a_header_with_a_kernel_that_became_a_link(lint: Linter) -> None:
    os.rename("src/a.cu", "src/a.h")
    Path("src/b.cu").write_text('#include "a.h"\n')
    lint("src/b.cu")
    assert lint("src/b.cu")[1] == 0
    os.rename("src/a.h", "elsewhere.h")
    os.symlink("../elsewhere.h", "src/a.h")
    os.rename("src/size.h", "size.h")
    found, analysed = lint("src/b.cu")
    assert analysed == 1
    assert found == lint("src/b.cu", "--no-cache")[0]


@pytest.mark.parametrize("place", ["first", "second"])
def test_a_header_that_is_found_before_the_other_one(lint: Linter, place: str) -> None:
    Path("src/a.cu").write_text(KERNEL.replace('"size.h"', "<size.h>") + LAUNCH)
    os.makedirs("first")
    os.makedirs("second")
    os.makedirs("third")
    os.rename("src/size.h", "third/size.h")
    folders = ("-I", "first", "-I", "second", "-I", "third")
    before, _ = lint("src/a.cu", *folders)
    assert lint("src/a.cu", *folders)[1] == 0
    Path(place, "size.h").write_text("#define SIZE 8\n")
    after, analysed = lint("src/a.cu", *folders)
    assert analysed == 1
    assert after != before
    assert after == lint("src/a.cu", *folders, "--no-cache")[0]


def test_a_header_that_hides_one_of_the_standard_library(lint: Linter) -> None:
    Path("src/a.cu").write_text("#include <cstdio>\n" + KERNEL + LAUNCH)
    os.makedirs("include")
    lint("src/a.cu", "-I", "include")
    assert lint("src/a.cu", "-I", "include")[1] == 0
    Path("include/cstdio").write_text("")
    assert lint("src/a.cu", "-I", "include")[1] == 1


def test_a_header_that_was_not_there(lint: Linter) -> None:
    Path("src/a.cu").write_text('#include "missing/more.h"\n' + KERNEL + LAUNCH)
    lint("src/a.cu")
    assert lint("src/a.cu")[1] == 0
    os.makedirs("include/missing")
    Path("include/missing/more.h").write_text("")
    assert lint("src/a.cu")[1] == 1


def test_a_header_that_the_source_asks_for_by_a_condition(lint: Linter) -> None:
    Path("src/a.cu").write_text('#if __has_include("own.h")\n#define OWN\n#endif\n' + KERNEL + LAUNCH)
    lint("src/a.cu")
    assert lint("src/a.cu")[1] == 0
    Path("src/own.h").write_text("")
    assert lint("src/a.cu")[1] == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--target", "h100"), ("--select", "ALL"), ("--threshold", "bank-conflict.ways=4"), ("-D", "X"), ("-I", "."),
        ("--block", "64", "--force-launch"), ("--race-scope", "block"), ("--time-limit", "30"), ("--assume", "1 > 0"),
    ],
    ids="".join,
)  # fmt: skip
def test_other_options_are_another_question(lint: Linter, options: tuple[str, ...]) -> None:
    lint("src/a.cu")
    found, analysed = lint("src/a.cu", *options)
    assert analysed == 1
    assert lint("src/a.cu", *options) == (found, 0)
    assert lint("src/a.cu")[1] == 0


def test_another_program_uses_nothing_of_this_one(lint: Linter, monkeypatch: pytest.MonkeyPatch) -> None:
    lint("src/a.cu")
    program.fingerprint.cache_clear()
    monkeypatch.setattr(program, "__version__", "0.0.0")
    assert lint("src/a.cu")[1] == 1
    program.fingerprint.cache_clear()


def test_the_program_is_told_by_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module.py").write_text("x = 1\n")
    monkeypatch.setattr(program, "_PACKAGE", str(tmp_path))
    before = program.fingerprint.__wrapped__()
    os.utime(tmp_path / "module.py", (1_000_000_000, 1_000_000_000))
    assert program.fingerprint.__wrapped__() != before


@pytest.mark.parametrize(("name", "value"), [("CUDALINT_WITHOUT", "run-commands"), ("CUDALINT_WITHOUT", "traces")])
def test_a_variable_that_changes_the_analysis_makes_another_question(
    lint: Linter, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    lint("src/a.cu")
    monkeypatch.setenv(name, value)
    assert lint("src/a.cu")[1] == 1


def test_one_file_of_several(lint: Linter) -> None:
    os.makedirs("other")
    Path("other/c.cu").write_text(KERNEL.replace('"size.h"', "<cstdio>").replace("SIZE", "32"))
    assert lint("src", "other")[1] == 2
    Path("src/size.h").write_text("#define SIZE 64\n")
    assert lint("src", "other")[1] == 1


def test_what_failed_is_tried_again(lint: Linter) -> None:
    Path("src/a.cu").write_bytes(b"\0")
    assert lint("src/a.cu")[1] == 1
    assert lint("src/a.cu")[1] == 1


def test_a_text_from_standard_input_is_not_kept(lint: Linter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "in").write_text(KERNEL + LAUNCH)
    for _ in range(2):
        with open(tmp_path / "in", encoding="utf-8") as file:
            monkeypatch.setattr("sys.stdin", file)
            assert lint("-")[1] == 1
