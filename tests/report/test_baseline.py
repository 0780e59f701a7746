"""Baselines: what is known stays quiet wherever it moves, what is new or worse is reported, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from handmade import column_read, strided_load
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Place
from cudalint.report.findings.baseline import BaselineError, Comparison, compare, load_baseline, write_baseline
from cudalint.report.findings.places import path_from
from cudalint.report.findings.sources import SourceLines

FILE = "known.json"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path_from.cache_clear()


def _finding(line: int, ways: float = 4, path: str = "a.cu", code: str = "CL201", **changes: object) -> Diagnostic:
    known = replace(
        column_read(path) if code == "CL201" else strided_load(path),
        place=Place(path, line, 1, line, 100),
        message=f"{ways}-way bank conflict",
        figures={"wavefronts_per_request": float(ways), "ideal_wavefronts": 1.0},
    )
    return replace(known, **changes)


def _sources(*lines: str, path: str = "a.cu") -> SourceLines:
    return SourceLines({path: "\n".join(lines)})


def _compare(diagnostics: Sequence[Diagnostic], sources: SourceLines) -> Comparison:
    return compare(load_baseline(FILE), diagnostics, sources, FILE, ["a.cu", "b.cu"])


def _counted(found: Comparison) -> tuple[tuple[Diagnostic, ...], int, int]:
    return found.new, len(found.known), found.gone


def test_moved_lines_are_known() -> None:
    write_baseline(FILE, [_finding(1), _finding(2)], _sources("a[i] = 0;", "b[i] = 0;"))
    moved = _sources("", "  b[ i ] = 0;", "// more", "a[i]=0;")
    assert _counted(_compare([_finding(2), _finding(4)], moved)) == ((), 2, 0)


def test_what_is_held_back_is_still_there() -> None:
    sources = _sources("a[i] = 0;", "b[i] = 0;")
    write_baseline(FILE, [_finding(1), _finding(2)], sources)
    found = compare(load_baseline(FILE), [_finding(1)], sources, FILE, ["a.cu"], minor=[_finding(2)])
    assert _counted(found) == ((), 1, 0)
    assert [each.place.line for each in found.known] == [1]


def test_each_entry_stands_for_one_finding() -> None:
    write_baseline(FILE, [_finding(1)], _sources("a[i] = 0;"))
    twice = [_finding(1), _finding(2)]
    new, known, gone = _counted(_compare(twice, _sources("a[i] = 0;", "a[i] = 0;")))
    assert (len(new), known, gone) == (1, 1, 0)


def test_worse_figures_are_new() -> None:
    write_baseline(FILE, [_finding(1, 4), _finding(2, 8)], _sources("a[i] = 0;", "b[i] = 0;"))
    worse = _finding(1, 5)
    assert _counted(_compare([worse, _finding(2, 7)], _sources("a[i] = 0;", "b[i] = 0;"))) == ((worse,), 1, 1)
    error = _finding(2, 8, severity="error")
    assert _counted(_compare([_finding(1, 4.01), error], _sources("a[i] = 0;", "b[i] = 0;"))) == ((error,), 1, 1)


def test_of_equal_texts_the_worst_is_matched_first() -> None:
    same = _sources("a[i] = 0;", "a[i] = 0;", "a[i] = 0;")
    write_baseline(FILE, [_finding(1, 2), _finding(2, 8)], same)
    assert _compare([_finding(1, 2), _finding(2, 8)], same).new == ()
    assert _compare([_finding(1, 8), _finding(2, 2)], same).new == ()
    three = [_finding(1, 2), _finding(2, 3), _finding(3, 8)]
    assert _compare(three, same).new == (three[1],)


def test_an_edit_that_leaves_the_message_is_known() -> None:
    write_baseline(FILE, [_finding(1)], _sources("a[i] = 0;"))
    assert _counted(_compare([_finding(1)], _sources("a[j] = 0;"))) == ((), 1, 0)
    other_kernel = _finding(1, kernel="other")
    assert _compare([other_kernel], _sources("a[j] = 0;")).new == (other_kernel,)
    assert _compare([_finding(1, code="CL101")], _sources("a[i] = 0;")).known == ()


def test_a_renamed_file_is_known() -> None:
    write_baseline(FILE, [_finding(1)], _sources("a[i] = 0;"))
    renamed = _finding(1, path="b.cu")
    assert _counted(_compare([renamed], _sources("a[i] = 0;", path="b.cu"))) == ((), 1, 0)
    assert _counted(_compare([renamed], _sources("a[j] = 0;", path="b.cu"))) == ((renamed,), 0, 1)


def test_entries_are_gone_only_where_files_were_linted() -> None:
    write_baseline(FILE, [_finding(1), _finding(1, path="c.cu")], _sources("a[i] = 0;"))
    assert _counted(_compare([], _sources())) == ((), 0, 1)


def test_paths_count_from_the_baselines_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub").mkdir()
    write_baseline(FILE, [_finding(1, path="sub/a.cu")], _sources("a[i] = 0;", path="sub/a.cu"))
    monkeypatch.chdir("sub")
    found = compare(load_baseline("../known.json"), [_finding(1)], _sources("a[i] = 0;"), "../known.json", ["a.cu"])
    assert _counted(found) == ((), 1, 0)
    assert [each.place.line for each in found.known] == [1]


def test_the_file_is_the_same_for_the_same_findings() -> None:
    findings = [_finding(line, ways) for line in (1, 2, 3) for ways in (2, 4)]
    sources = _sources("c[i]", "a[i]", "b[i]")
    write_baseline(FILE, findings, sources)
    text = Path(FILE).read_text()
    write_baseline(FILE, reversed(findings), sources)
    assert Path(FILE).read_text() == text
    assert len(text.splitlines()) == len(findings) + 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a baseline: Expecting value"),
        ("[1]", "not a baseline; `--write-baseline FILE` makes one"),
        ('{"tool": "cudalint", "schema": 99}', "a baseline of another version"),
        ('{"tool": "cudalint", "schema": 1}', "an entry lacks a value"),
        ('{"tool": "cudalint", "schema": 1, "findings": [{"path": "a"}]}', "an entry lacks a value"),
        ('{"tool": "cudalint", "schema": 1, "findings": [7]}', "an entry lacks a value"),
        ("[" * 100_000, "not a baseline: "),
        ("\udcff\udcfe\x00", "not a baseline: "),
    ],
)
def test_what_is_no_baseline(text: str, message: str) -> None:
    Path(FILE).write_text(text, errors="surrogateescape")
    with pytest.raises(BaselineError, match=r"known.json: ") as caught:
        load_baseline(FILE)
    assert message in str(caught.value)


def test_files_that_cannot_be() -> None:
    with pytest.raises(BaselineError, match=r"no such file; `--write-baseline none.json` makes it"):
        load_baseline("none.json")
    with pytest.raises(BaselineError, match="cannot be read: Is a directory"):
        load_baseline(".")
    with pytest.raises(BaselineError, match="cannot be written: No such file or directory"):
        write_baseline("none/known.json", [], SourceLines())


_KNOWN = st.lists(st.tuples(st.sampled_from(["a[i]", "a[j]", "b[i]"]), st.integers(2, 32)), min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(known=_KNOWN, shifts=st.lists(st.integers(0, 3), min_size=8, max_size=8), which=st.integers(0, 7))
def test_whatever_moves_only_what_got_worse_is_new(
    known: list[tuple[str, int]], shifts: list[int], which: int
) -> None:
    write_baseline(FILE, [_finding(n, w) for n, (_, w) in enumerate(known, 1)], _sources(*(text for text, _ in known)))
    lines: list[str] = []
    places: list[int] = []
    for (text, _), shift in zip(known, shifts, strict=False):
        lines += [""] * shift + [f" {text} "]
        places.append(len(lines))
    sources = _sources(*lines)
    moved = [_finding(place, ways) for place, (_, ways) in zip(places, known, strict=True)]
    assert _counted(_compare(moved, sources)) == ((), len(known), 0)
    worst = max(ways for _, ways in known)
    changed = which % len(known)
    moved[changed] = _finding(places[changed], worst + 1)
    assert _compare(moved, sources).new == (moved[changed],)
