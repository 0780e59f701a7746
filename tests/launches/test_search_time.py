"""A file that takes long to look into costs its neighbours' launches no time, and is looked into once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudalint.facts import FileFacts
from cudalint.frontend.parse import ParsedFile, parse_file
from cudalint.launches.program import search_time
from cudalint.launches.program.search_time import SearchTime
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file
from cudalint.system.processes.deadline import Deadline

_HEAVY = """
__global__ void launched_there(float *a);
__global__ void too(float *a);
__global__ void launched_here(float *a);
void all(float *a, int n) { if (n) launched_there<<<1, 64>>>(a); too<<<1, 64>>>(a); launched_here<<<1, 64>>>(a); }
"""


def _kernel(name: str) -> str:
    return f"__global__ void {name}(float *a) {{ a[threadIdx.x] = 1; }}\n"


def _work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    search_time._too_long.clear()
    yield
    search_time._too_long.clear()


def test_the_clock_of_a_file_stands_still_while_others_are_looked_into() -> None:
    search = SearchTime(60.0)
    own = Deadline(time.process_time() + 0.05, search.pause)
    other = Deadline(own.processor)
    with search.looking_into("heavy.cu", b"", own) as until:
        _work(0.06)
        assert not until.is_over()
        # What it leads to is part of the same search.
        with search.looking_into("further.cu", b"", until) as same:
            assert same == until
    assert other.is_over()
    assert not own.is_over()
    _work(0.06)
    assert own.is_over()
    assert not search.is_cut


def test_a_heavy_file_is_looked_into_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_into: list[str] = []

    def slow(path: str, *arguments: object, **others: object) -> ParsedFile:
        looked_into.append(Path(path).name)
        _work(0.25)
        return parse_file(path, *arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr("cudalint.launches.program.other_files.parse_file", slow)
    # Of 20 s.
    monkeypatch.setattr(search_time, "_SHARE", 0.01)
    (tmp_path / "heavy.cu").write_text(_HEAVY)

    def facts_of(name: str, text: str) -> FileFacts:
        path = tmp_path / name
        path.write_text(text)
        return analyse_file(str(path), AnalysisOptions())

    first = facts_of("a.cu", _kernel("launched_there"))
    assert looked_into == ["heavy.cu"]
    second = facts_of("b.cu", _kernel("too"))
    third = facts_of("c.cu", _kernel("launched_here") + "void run(float *a) { launched_here<<<1, 32>>>(a); }\n")
    assert looked_into == ["heavy.cu"]
    for facts in (first, second):
        # A launch that is known from the text will do.
        assert all("not all launches" in each.message for each in facts.failures)
        assert all(each.severity == "warning" for each in facts.failures)
        assert bool(facts.failures) == all(launch.is_made_up for launch in facts.kernels[0].launches)
    # Its own launch is known.
    assert third.failures == ()
    assert [launch.block for launch in third.kernels[0].launches] == [(32, 1, 1)]
    (tmp_path / "heavy.cu").write_text(_HEAVY.replace("64", "96"))
    facts_of("d.cu", _kernel("too"))
    assert looked_into == ["heavy.cu", "heavy.cu"]
