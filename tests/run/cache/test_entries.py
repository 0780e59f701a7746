"""Entries come out as they went in; damaged and foreign ones are none; the folder stays within its bounds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from handmade import column_read, place, strided_load
from msgspec.structs import replace

from cudalint.report.findings.results import Coverage, FileReport
from cudalint.run.cache.entries import clear, forget_old, path_of, read_entry, size_of, write_entry
from cudalint.system.disk.recorder import Seen, Text

KEY = bytes(range(16))
REPORT = FileReport(
    path="a.cu", status="ok", diagnostics=(column_read("a.cu"), strided_load("a.h")), suppressed=(), unused=(), used=(),
    coverage=Coverage(kernels=frozenset({place(1, 2, 3), place(4, 5, 6)})), sources={"/a.h": "a.h", "/b.h": "b.h"},
)  # fmt: skip
SEEN = Seen({"a.h": "none"}, {"a.cu": Text(b"digest")}, {"": b"names"}, {"a.cu": "/a.cu"})


def test_a_report_comes_out_as_it_went_in(tmp_path: Path) -> None:
    assert write_entry(str(tmp_path), KEY, SEEN, REPORT)
    kept = read_entry(str(tmp_path), KEY)
    assert kept is not None
    assert kept.seen == SEEN
    report = kept.report()
    assert report is not None
    plain = [replace(diagnostic, picture=None) for diagnostic in REPORT.diagnostics]
    assert repr([replace(diagnostic, picture=None) for diagnostic in report.diagnostics]) == repr(plain)
    assert replace(report, diagnostics=()) == replace(REPORT, diagnostics=())
    before, after = REPORT.diagnostics[0].picture, report.diagnostics[0].picture
    assert before is not None
    assert after is not None
    assert np.array_equal(before.sample.addresses, after.sample.addresses)
    assert before.sample.addresses.dtype == after.sample.addresses.dtype
    assert before.sample.mask.shape == after.sample.mask.shape


def test_what_would_come_out_otherwise_is_not_kept(tmp_path: Path) -> None:
    # A whole number where floats are declared reads back as a float, and would be printed as one.
    changed = replace(REPORT, diagnostics=(replace(column_read(), figures={"ways": 32}),))
    assert not write_entry(str(tmp_path), KEY, SEEN, changed)
    assert read_entry(str(tmp_path), KEY) is None


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("damage", [_cut, _flipped, lambda data: b"", lambda data: b"\x80\x04N.", lambda data: b"{}"])
def test_a_damaged_entry_is_none(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    write_entry(str(tmp_path), KEY, SEEN, REPORT)
    path = Path(path_of(str(tmp_path), KEY))
    path.write_bytes(damage(path.read_bytes()))
    assert read_entry(str(tmp_path), KEY) is None


def test_an_entry_under_a_wrong_name_is_none(tmp_path: Path) -> None:
    write_entry(str(tmp_path), KEY, SEEN, REPORT)
    other = b"\xff" * 16
    os.makedirs(os.path.dirname(path_of(str(tmp_path), other)))
    os.rename(path_of(str(tmp_path), KEY), path_of(str(tmp_path), other))
    assert read_entry(str(tmp_path), other) is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not write_entry(str(tmp_path / "file"), KEY, SEEN, REPORT)
    assert size_of(str(tmp_path / "file")) == (0, 0)
    forget_old(str(tmp_path / "file"))
    assert not write_entry("/proc/nothing/there", KEY, SEEN, REPORT)


def test_a_full_disk_leaves_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not write_entry(str(tmp_path), KEY, SEEN, REPORT)
    assert [name for _, _, names in os.walk(tmp_path) for name in names] == []


def _write_often(folder: str) -> None:
    for _ in range(50):
        write_entry(folder, KEY, SEEN, REPORT)


def test_two_processes_may_write_the_same_entry(tmp_path: Path) -> None:
    context = get_context("fork")
    writers = [context.Process(target=_write_often, args=(str(tmp_path),)) for _ in range(2)]
    write_entry(str(tmp_path), KEY, SEEN, REPORT)
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert read_entry(str(tmp_path), KEY) is not None
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert size_of(str(tmp_path)).entries == 1


def _aged(folder: Path, number: int, days: float) -> str:
    key = bytes([number]) * 16
    write_entry(str(folder), key, SEEN, REPORT)
    path = path_of(str(folder), key)
    os.utime(path, (time.time() - days * 86400,) * 2)
    return path


def test_what_was_of_no_use_for_a_month_goes(tmp_path: Path) -> None:
    old, recent = _aged(tmp_path, 1, 40), _aged(tmp_path, 2, 20)
    forget_old(str(tmp_path))
    assert (os.path.exists(old), os.path.exists(recent)) == (False, True)


def test_the_oldest_go_first_where_there_are_too_many(tmp_path: Path) -> None:
    paths = [_aged(tmp_path, number, days=number) for number in range(1, 6)]
    size = os.path.getsize(paths[0])
    forget_old(str(tmp_path), most=3 * size)
    assert [os.path.exists(path) for path in paths] == [True, True, True, False, False]


def test_an_entry_that_is_of_use_gets_no_older(tmp_path: Path) -> None:
    path = _aged(tmp_path, 1, 20)
    assert read_entry(str(tmp_path), bytes([1]) * 16) is not None
    assert os.path.getmtime(path) > time.time() - 60


@pytest.mark.parametrize(("days", "counts"), [(0.9, True), (1.1, False)])
def test_an_entry_for_which_time_ran_out_counts_for_a_day(tmp_path: Path, days: float, counts: bool) -> None:
    path = path_of(str(tmp_path), KEY)
    assert write_entry(str(tmp_path), KEY, replace(SEEN, is_timed=True), REPORT)
    os.utime(path, (time.time() - days * 86400,) * 2)
    assert (read_entry(str(tmp_path), KEY) is not None) is counts


def test_nothing_else_is_cleared(tmp_path: Path) -> None:
    write_entry(str(tmp_path), KEY, SEEN, REPORT)
    others = [tmp_path / "notes.txt", tmp_path / "00" / "mine.txt"]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_text("")
    assert clear(str(tmp_path)).entries == 1
    assert size_of(str(tmp_path)) == (0, 0)
    assert all(other.exists() for other in others)
