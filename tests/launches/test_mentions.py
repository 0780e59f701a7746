"""Files of a folder are asked for by the words in them, in an index that is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.launches.program import mentions
from cudalint.launches.program.mentions import CALLING, HEADERS, mentioning, words_in
from cudalint.launches.program.neighbours import callers, definers, wrappers
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.present import Present

_TEXTS = {
    "a.cu": "void run() { go(); }",
    "b.cpp": "void run2() { Blur::go(1); }",
    "c.h": "void go();",
    "d.cu": "struct T { void operator()(int); };",
    "e.py": "go()",
}


def _folder(tmp_path: Path, texts: dict[str, str] | None = None) -> str:
    for name, text in (texts or _TEXTS).items():
        (tmp_path / name).write_text(text)
    return str(tmp_path)


def _found(folder: str, suffixes: tuple[str, ...], *texts: str, most: int = 9) -> list[str]:
    asked = [words_in(text.encode()) for text in texts]
    return [Path(path).name for path in mentioning(folder, suffixes, most, asked)]


def test_whole_words_are_found(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    assert _found(folder, CALLING, "go") == ["a.cu", "b.cpp"]
    assert _found(folder, (".cu",), "go") == ["a.cu"]
    assert _found(folder, (*CALLING, *HEADERS), "go") == ["a.cu", "b.cpp", "c.h"]
    assert _found(folder, CALLING, "run") == ["a.cu"]
    assert _found(folder, CALLING, "Blur::go") == ["b.cpp"]
    assert _found(folder, CALLING, "Blur::go", "run") == ["a.cu", "b.cpp"]
    assert _found(folder, CALLING, "operator()") == ["d.cu"]
    assert _found(folder, CALLING, "gone") == []


def test_what_has_no_word_may_be_anywhere(tmp_path: Path) -> None:
    assert _found(_folder(tmp_path), CALLING, "()") == ["a.cu", "b.cpp", "d.cu"]


def test_a_folder_of_too_many_files_has_none(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    assert _found(folder, CALLING, "go", most=2) == []
    assert _found(folder, (".cu",), "go", most=2) == ["a.cu"]


def test_a_file_that_changes_is_seen(tmp_path: Path) -> None:
    """By what a result rests on, and by whoever asks anew."""
    folder = _folder(tmp_path)
    path = str(tmp_path / "k.cu")
    Path(path).write_text("")
    with disk.noting() as seen:
        assert definers(path, "run") == [str(tmp_path / "a.cu")]
    assert Present().agrees_with(seen)
    (tmp_path / "b.cpp").write_text("// nothing is defined here\nvoid other() {}")
    assert Present().agrees_with(seen)
    (tmp_path / "b.cpp").write_text("void run() {}")
    assert not Present().agrees_with(seen)
    disk.forget()
    assert definers(path, "run") == [str(tmp_path / "a.cu"), str(tmp_path / "b.cpp")]
    assert _found(folder, CALLING, "go") == ["a.cu"]


def test_each_file_is_read_once_for_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many files none asks for the text of another that doesn't mention its functions."""
    names = [f"k{number}.cu" for number in range(20)]
    for name in names:
        own = name.removesuffix(".cu")
        text = f"__global__ void {own}(float *a) {{ a[threadIdx.x] = 1; }}\nvoid run_{own}(float *a)"
        (tmp_path / name).write_text(text + f" {{ {own}<<<1, 64>>>(a); }}\n")
    read: list[str] = []

    def noted(path: str) -> bytes:
        read.append(Path(path).name)
        return Path(path).read_bytes()

    monkeypatch.setattr(mentions, "small_file", noted)
    monkeypatch.setattr("cudalint.launches.program.neighbours.small_file", noted)
    for name in names:
        analyse_file(str(tmp_path / name), AnalysisOptions())
    beside = [name for name in read if name in names]
    assert len(beside) <= 2 * len(names)


def test_a_main_is_asked_for_with_the_name(tmp_path: Path) -> None:
    texts = {f"user{number}.cpp": "void f() { fill(); }" for number in range(5)}
    path = str(Path(_folder(tmp_path, {**texts, "k.cu": "", "z.cpp": "int main() { fill(); }"})) / "k.cu")
    assert [Path(each).name for each in callers(path, {"fill"})] == ["z.cpp"]
    assert [Path(each).name for each in wrappers(path, {"fill"})] == ["user0.cpp", "user1.cpp", "user2.cpp"]
