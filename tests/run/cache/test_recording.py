"""Whatever an analysis asks of the disk is noted, now and by code that is still to be written."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec.msgpack import Encoder

import cudalint
from cudalint.launches.program.neighbours import launchers
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.present import Present

PACKAGE = Path(cudalint.__file__).parent
OF_RUNS = (
    "run/api/", "run/cache/", "run/fixing/", "cli/", "confirm/", "editor/", "report/drawing/", "report/formats/",
)  # fmt: skip
"""What works for a whole run, or is asked anew by each."""
EXCEPTIONS = {
    "__init__.py": "finds this package's own rules",
    "__main__.py": "leaves the current folder out of what is imported",
    "launches/program/changed.py": "of a run", "system/disk/recorder.py": "the recorder",
    "system/disk/regular.py": "notes what it reads",
    "system/disk/present.py": "asks again what was noted",
    "system/disk/border.py": "notes what it refuses; what it does not is read, and tells itself when it changes",
    "frontend/precompiled.py": "asks for the headers of this package",
    "frontend/overlay.py": "writes for clang alone",
    "frontend/compile_commands.py": "asks for the time of a database that it then reads",
    "toolchain/toolkit/nvcc.py": "of `--ptxas`, whose results are not kept",
    "report/findings/baseline.py": "of a run", "project/changes.py": "of a run", "project/config.py": "of a run",
    "project/revisions.py": "of a run",
    "project/config_keys.py": "of a run", "project/config_paths.py": "of a run",
    "project/discovery.py": "of a run",
    "run/runs.py": "of a run", "report/findings/merging.py": "of a run", "report/findings/places.py": "of reports",
    "report/findings/sources.py": "of reports", "project/path_patterns.py": "of a run",
    "project/settings.py": "of a run",
    "system/disk/replacing.py": "of what is written", "system/processes/memory.py": "asks for memory",
    "run/limits.py": "asks for processes", "run/pool.py": "asks for processes",
    "run/tracing.py": "of `trace`",
    "testing.py": "of tests", "hardware/targets.py": "a table of this package",
    "frontend/bundled_macros.py": "headers of this package",
}  # fmt: skip
QUESTIONS = {
    "exists", "isfile", "isdir", "islink", "lexists", "realpath", "getsize", "getmtime", "samefile", "stat", "lstat",
    "listdir", "scandir", "walk", "glob", "iglob", "read_text", "read_bytes", "iterdir", "is_file", "is_dir", "access",
}  # fmt: skip
MEMORIES = {"cache", "lru_cache"}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(OF_RUNS) and name not in EXCEPTIONS:
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def test_nothing_asks_the_disk_but_through_the_recorder() -> None:
    found = []
    for name, tree in _modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                function = node.func
                asks = isinstance(function, ast.Name) and function.id == "open"
                if isinstance(function, ast.Attribute) and function.attr in QUESTIONS:
                    asks = ast.unparse(function.value) in ("os", "os.path", "glob") or "path" in ast.unparse(function)
                    asks = asks and ast.unparse(function.value) != "disk"
                if asks:
                    found.append(f"{name}:{node.lineno}: {ast.unparse(function)}")
    assert found == []


def test_what_is_remembered_of_the_disk_is_noted_for_the_next_one_too() -> None:
    """`functools.lru_cache` would give the second file an answer without what it rests on."""
    found = []
    for name, tree in _modules():
        disk_ = "cudalint.system.disk"
        readers = {disk_, *(f"{disk_}.{module}" for module in ("recorder", "regular", "folders"))}
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        if not imported & readers:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    plain = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if ast.unparse(plain).rpartition(".")[2] in MEMORIES:
                        found.append(f"{name}: {node.name}")
    assert found == []


class _Opened:
    """Every file that Python opens and every folder that it looks into, as the interpreter itself tells."""

    def __init__(self) -> None:
        self.paths: set[str] | None = None
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[object, ...]) -> None:
        if self.paths is not None and event in ("open", "os.listdir", "os.scandir") and isinstance(args[0], str):
            self.paths.add(os.path.abspath(args[0]))


def _told_by_stamps(keys: Iterable[str]) -> Iterator[str]:
    """The files of which the times and sizes are noted."""
    for key in keys:
        folder, asked, *suffixes = key.split("\0")
        if asked == f"{disk.STAMPS}{disk.ALONE}":
            yield from (os.path.join(folder, name) for name in disk.listed(folder, tuple(suffixes)) or ())


@pytest.fixture(scope="module")
def opened() -> _Opened:
    return _Opened()


def test_what_is_opened_is_noted(tmp_path: Path, opened: _Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a file with a header, a Makefile, a neighbour that launches, a `main` above, and a database; twice, as what
    is remembered counts too."""
    project = tmp_path / "project"
    texts = {
        "src/a.cu": '#include "h.h"\n__global__ void f(float *p, int n) { p[threadIdx.x * W] = n; }\n'
        "void go(float *p, int n) { f<<<n, 256>>>(p, n); }\n",
        "src/h.h": "#define W 2\nextern const int width;\n",
        "src/b.cu": "void go(float *, int); const int width = 4;\n",
        "main.cu": "void go(float *p, int n);\nint main(int c, char **v) { float *p = 0; go(p, 8); }\n",
        "src/Makefile": "a: a.cu\n\tnvcc -DX=1 a.cu\nrun: a\n\t./a 100\n",
        "build/compile_commands.json": "[]",
    }
    for name, text in texts.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    monkeypatch.chdir(project)
    job = CheckJob("src/a.cu", AnalysisOptions(), Selection(("ALL",)), pictures=False)
    seen = []
    for _ in range(2):
        opened.paths = set()
        with disk.noting() as noted:
            check_file(job)
        paths, opened.paths = opened.paths, None
        flat = noted.flat()
        known = {*flat.texts, *flat.kinds, *(key.partition("\0")[0] for key in flat.names)}
        absolute = {os.path.abspath(path) for path in (*known, *_told_by_stamps(flat.names))}
        assert {path for path in paths if path.startswith(str(project))} <= absolute
        seen.append(noted)
    texts_noted = {os.path.abspath(path) for path in seen[0].texts}
    assert texts_noted >= {str(project / name) for name in ("src/a.cu", "src/h.h")}
    assert seen[0].texts.keys() == seen[1].texts.keys()
    assert seen[0].kinds == seen[1].kinds
    assert seen[0].names == seen[1].names
    assert seen[0].answers == seen[1].answers
    assert seen[0].behind == seen[1].behind


def test_a_larger_question_is_noted_by_its_answer(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("f<<<1, 32>>>();")
    (tmp_path / "b.cu").write_text("")
    with disk.noting() as noted:
        assert launchers(str(tmp_path / "b.cu"), {"f"}) == [str(tmp_path / "a.cu")]
    assert str(tmp_path / "a.cu") not in noted.texts
    asked = next(each for each, answer in noted.answers.items() if b"f" in each)
    (tmp_path / "c.cu").write_text("g<<<1, 32>>>();")
    disk.forget()
    assert disk.answer_now(asked) == noted.answers[asked]
    (tmp_path / "c.cu").write_text("f<<<1, 32>>>();")
    disk.forget()
    assert disk.answer_now(asked) != noted.answers[asked]


@pytest.mark.parametrize(
    "name", ["os:getcwd", "cudalint.cli:run", "cudalint.launches.program.neighbours:launchers", "x", "a:b"]
)
def test_an_entry_has_nothing_called_that_is_no_question(name: str) -> None:
    assert disk.answer_now(Encoder().encode((name, []))) is None


def test_times_and_sizes_of_a_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("a.cu", "below/b.cu"):
        (tmp_path / name).write_text("one")
    with disk.noting() as seen, disk.by_stamps(str(tmp_path), (".cu",), disk.ALONE):
        pass
    (tmp_path / "below" / "b.cu").write_text("two")
    assert Present().agrees_with(seen)
    (tmp_path / "a.cu").write_text("two")
    assert not Present().agrees_with(seen)


def test_times_and_sizes_stand_for_texts(tmp_path: Path) -> None:
    """What is read of a project as a whole is asked again when a file below changes, comes or goes."""
    (tmp_path / "a.cu").write_text("one")

    def noted() -> disk.Seen:
        with disk.noting() as seen, disk.by_stamps(str(tmp_path), (".cu",), 10):
            (tmp_path / "a.cu").read_text()
        return seen

    first = noted()
    assert not first.texts
    assert noted().names == first.names
    assert Present().agrees_with(first)
    (tmp_path / "a.cu").write_text("two")
    assert noted().names != first.names
    assert not Present().agrees_with(first)
    (tmp_path / "a.cu").write_text("one")
    assert Present().agrees_with(first)
    (tmp_path / "b.cu").write_text("")
    assert not Present().agrees_with(first)
