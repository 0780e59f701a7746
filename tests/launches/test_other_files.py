"""The other files of a program are parsed once a process, and results are what they are without that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.msgpack import decode, encode

from cudalint.facts import FileFacts
from cudalint.frontend.parse import ParsedFile, parse_file
from cudalint.frontend.parse_options import Parsing
from cudalint.launches.program import other_files
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file
from cudalint.system.disk import recorder as disk

_FIRST = """
#include "api.h"
__global__ void first(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = 1; }
void run_first(float *a, int n) { first<<<n / 128, 128>>>(a, n); }
"""
_SECOND = _FIRST.replace("first", "second")
_HEADER = """
#define ROWS 512
void run_first(float *a, int n);
void run_second(float *a, int n);
"""
_MAIN = """
#include "api.h"
extern const int columns;
void both(float *a, int n) { run_first(a, n * columns); run_second(a, n); }
int main() { both(0, ROWS); }
"""
_NAMES = ("first.cu", "second.cu")


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """However much memory the tests before have left this process with."""
    monkeypatch.setattr(other_files, "_MOST_HELD", 1 << 20)
    other_files.forget()
    yield
    other_files.forget()


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the other files that were parsed."""
    names: list[str] = []

    def noted(path: str, *arguments: object, **others: object) -> ParsedFile:
        names.append(Path(path).name)
        return parse_file(path, *arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(other_files, "parse_file", noted)
    return names


def _program(folder: Path) -> None:
    texts = {"first.cu": _FIRST, "second.cu": _SECOND, "api.h": _HEADER, "main.cpp": _MAIN}
    texts["sizes.cpp"] = "extern const int columns; const int columns = 2;\n"
    for name, text in texts.items():
        (folder / name).write_text(text)


def _facts(folder: Path, name: str, options: AnalysisOptions | None = None) -> FileFacts:
    return analyse_file(str(folder / name), options or AnalysisOptions())


def _grids(facts: FileFacts) -> list[tuple[int, int, int] | None]:
    return [launch.grid for launch in facts.kernels[0].launches]


def _written(facts: FileFacts) -> object:
    return decode(encode(facts, enc_hook=repr))


def test_a_file_is_parsed_once_for_all_others(tmp_path: Path, parsed: list[str]) -> None:
    _program(tmp_path)
    assert _grids(_facts(tmp_path, "first.cu")) == [(8, 1, 1)]
    assert _grids(_facts(tmp_path, "second.cu")) == [(4, 1, 1)]
    assert [parsed.count(name) for name in ("main.cpp", "sizes.cpp")] == [1, 1]


def test_the_order_of_files_changes_nothing(tmp_path: Path) -> None:
    _program(tmp_path)
    alone = []
    for name in _NAMES:
        other_files.forget()
        alone.append(_written(_facts(tmp_path, name)))
    for names in (_NAMES, _NAMES[::-1]):
        other_files.forget()
        found = {name: _written(_facts(tmp_path, name)) for name in names}
        assert [found[name] for name in _NAMES] == alone


def test_other_options_are_another_parse(tmp_path: Path, parsed: list[str]) -> None:
    _program(tmp_path)
    main = _MAIN.replace("both(0, ROWS)", "both(0, SIZE)")
    (tmp_path / "main.cpp").write_text(main)
    for size, grid in ((1024, 8), (2048, 16)):
        options = AnalysisOptions(defines=(f"SIZE={size}",))
        assert _grids(_facts(tmp_path, "second.cu", options)) == [(grid, 1, 1)]
    assert parsed.count("main.cpp") == 2


@pytest.mark.parametrize(
    ("name", "before", "after", "grids"),
    [
        ("main.cpp", "(a, n * columns)", "(a, n * columns * 2)", [16, 4]),
        ("api.h", "ROWS 512", "ROWS 1024", [16, 8]),
        ("sizes.cpp", "columns = 2", "columns = 3", [12, 4]),
    ],
)
def test_a_file_that_has_changed_is_seen(
    tmp_path: Path, name: str, before: str, after: str, grids: list[int]
) -> None:
    """Its own text, that of a header, and that of a file which defines a constant."""
    _program(tmp_path)
    for each in _NAMES:
        _facts(tmp_path, each)
    text = (tmp_path / name).read_text()
    (tmp_path / name).write_text(text.replace(before, after))
    disk.forget()
    assert [_grids(_facts(tmp_path, each)) for each in _NAMES] == [[(grid, 1, 1)] for grid in grids]


def test_a_header_that_was_looked_for_in_vain_is_seen(tmp_path: Path) -> None:
    """`<size.h>` is looked for in the first folder, too."""
    near, far = tmp_path / "near", tmp_path / "far"
    for folder, size in ((near, None), (far, 512)):
        folder.mkdir()
        if size is not None:
            (folder / "size.h").write_text(f"#define SIZE {size}\n")
    _program(tmp_path)
    (tmp_path / "main.cpp").write_text("#include <size.h>\n" + _MAIN.replace("ROWS", "SIZE"))
    options = AnalysisOptions(include_dirs=(str(near), str(far)))
    assert _grids(_facts(tmp_path, "second.cu", options)) == [(4, 1, 1)]
    (near / "size.h").write_text("#define SIZE 256\n")
    disk.forget()
    assert _grids(_facts(tmp_path, "second.cu", options)) == [(2, 1, 1)]


def test_who_is_given_a_kept_one_has_asked_what_it_rests_on(tmp_path: Path) -> None:
    _program(tmp_path)
    seen = []
    for name in _NAMES:
        with disk.noting() as noted:
            _facts(tmp_path, name)
        seen.append(noted.flat())
    for name in ("api.h", "main.cpp", "sizes.cpp"):
        path = str(tmp_path / name)
        assert all(path in {text.replace("/./", "/") for text in each.texts} for each in seen), name


def test_what_time_has_cut_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path)

    def cut(*arguments: object, **others: object) -> ParsedFile:
        disk.note_clock()
        return parse_file(*arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(other_files, "parse_file", cut)
    assert _grids(_facts(tmp_path, "second.cu")) == [(4, 1, 1)]
    assert not other_files._kept


def test_few_are_kept(tmp_path: Path) -> None:
    _program(tmp_path)
    for number in range(12):
        name = f"user{number}.cu"
        (tmp_path / name).write_text(f"void user{number}() {{}}\n")
        assert other_files.other_file(str(tmp_path / name), None, Parsing()) is not None
    assert 0 < len(other_files._kept) < 12
    assert [Path(key.path).name for key in other_files._kept][-1] == "user11.cu"


def test_an_analysis_that_breaks_off_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[str]
) -> None:
    _program(tmp_path)
    _facts(tmp_path, "first.cu")

    def fails(*arguments: object) -> None:
        raise RecursionError

    with monkeypatch.context() as patch, pytest.raises(RecursionError):
        patch.setattr("cudalint.run.analysis.host_facts", fails)
        _facts(tmp_path, "second.cu")
    assert parsed.count("main.cpp") == 1
    _facts(tmp_path, "second.cu")
    assert parsed.count("main.cpp") == 2
