"""SQLite exports of Nsight Systems as recorded launches, and files that are none."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from exports import ONE_LINE, read_again

from cudalint.launches.recorded import gathering, nsys_export
from cudalint.launches.recorded.importing import read_export
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import RecordingError

_TEXTS = {1: "_ZN2ns1kIfEEvPT_", 2: "void ns::k<float>(T1 *)", 3: "k", 4: "plain"}
_COLUMNS = (
    "start", "end", "deviceId", "contextId", "streamId", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
    "staticSharedMemory", "dynamicSharedMemory", "shortName", "demangledName", "mangledName", "launchType", "clusterX",
    "clusterY", "clusterZ",
)  # fmt: skip
_FULL = dict(zip(_COLUMNS, (1000, 3500, 0, 1, 7, 16, 2, 1, 128, 1, 1, 512, 1024, 3, 2, 1, 0, 0, 0, 0), strict=True))


def _nsys(path: Path, *rows: dict[str, object], columns: Sequence[str] = _COLUMNS, extra: Sequence[str] = ()) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
    connection.executemany("INSERT INTO StringIds VALUES (?, ?)", _TEXTS.items())
    connection.execute("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT)")
    connection.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200')")
    listed = ", ".join(f'"{name}"' for name in columns)
    connection.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({listed})")
    marks = ", ".join("?" for _ in columns)
    values = [tuple({**_FULL, **row}[name] for name in columns) for row in rows]
    connection.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({marks})", values)
    for statement in extra:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def test_nsys(tmp_path: Path) -> None:
    rows = (
        {"start": 9000, "end": 9500, "streamId": 21},
        {"start": 1000, "end": 3500},
        {"start": 5000, "end": 6500},
        {"start": 7000, "end": 7500, "streamId": 13},
        {"start": 8000, "end": 8100, "launchType": 1, "clusterX": 2, "clusterY": 1, "clusterZ": 1},
        {"start": 500, "end": 600, "shortName": 4, "demangledName": 4, "mangledName": 4, "dynamicSharedMemory": 0},
    )
    found = read_again(_nsys(tmp_path / "anything", *rows))
    grid, block = (16, 2, 1), (128, 1, 1)
    assert found == Recording(
        1,
        (
            RecordedKernel(
                "_ZN2ns1kIfEEvPT_",
                (
                    RecordedLaunch(2, grid, block, 1024, order=1, time_us=2.0),
                    RecordedLaunch(1, grid, block, 1024, stream=1, order=3, time_us=0.5),
                    RecordedLaunch(1, grid, block, 1024, stream=2, order=5, time_us=0.5),
                    RecordedLaunch(1, grid, block, 1024, cluster=(2, 1, 1), cooperative=True, order=4, time_us=0.1),
                ),
                "void ns::k<float>(T1 *)",
            ),
            RecordedKernel("plain", (RecordedLaunch(1, grid, block, 0, order=0, time_us=0.1),)),
        ),
        "NVIDIA H200",
    )


def test_nsys_of_versions_that_have_fewer_columns(tmp_path: Path) -> None:
    left = [name for name in _COLUMNS if name not in ("mangledName", "launchType", "clusterX", "clusterY", "clusterZ")]
    (kernel,) = read_again(_nsys(tmp_path / "a.sqlite", {}, columns=left)).kernels
    assert (kernel.symbol, kernel.name) == ("k", "void ns::k<float>(T1 *)")
    (kernel,) = read_again(_nsys(tmp_path / "b.sqlite", {}, columns=[n for n in left if n != "demangledName"])).kernels
    assert (kernel.symbol, kernel.name) == ("k", "")


@pytest.mark.parametrize(
    "row",
    [
        {"gridX": 0},
        {"gridY": -1},
        {"gridY": 65_536},
        {"gridX": 1 << 31},
        {"blockX": 1025},
        {"blockX": 512, "blockY": 4},
        {"blockZ": 65},
        {"gridX": None},
        {"gridX": "16"},
        {"gridX": 1.5},
        {"gridX": b"\x10"},
        {"dynamicSharedMemory": -1},
        {"dynamicSharedMemory": None},
        {"dynamicSharedMemory": 1 << 40},
        {"start": None},
        {"start": -1},
        {"start": "now"},
        {"end": 999},
        {"end": (1 << 63) - 1},
        {"end": "then"},
        {"clusterX": 3, "clusterY": 0, "clusterZ": 1},
        {"clusterX": 99, "clusterY": 1, "clusterZ": 1},
        {"mangledName": 99, "demangledName": None, "shortName": "x"},
    ],
    ids=str,
)
def test_nsys_rows_that_are_no_launches_are_counted(row: dict[str, object], tmp_path: Path) -> None:
    found = read_again(_nsys(tmp_path / "a.sqlite", row, {}, row))
    assert (found.launches, found.left_out) == (1, 2)


@pytest.mark.parametrize("row", [{"end": None}, {"end": 0}, {"start": 0, "end": 0}], ids=str)
def test_nsys_launches_that_nobody_could_time(row: dict[str, object], tmp_path: Path) -> None:
    (kernel,) = read_again(_nsys(tmp_path / "a.sqlite", row)).kernels
    assert kernel.launches[0].time_us is None
    (kernel,) = read_again(_nsys(tmp_path / "b.sqlite", row, {})).kernels
    assert (kernel.launches[0].count, kernel.launches[0].time_us) == (2, 2.5)


def _kernels_with(*columns: str) -> str:
    return f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({', '.join(columns)})"


_KERNELS = _kernels_with(*_COLUMNS)
_TABLE = f"CREATE TABLE rows ({', '.join(_COLUMNS)})"
_STRINGS = "CREATE TABLE StringIds (id, value)"
_ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ((), "no table CUPTI_ACTIVITY_KIND_KERNEL"),
        ((_TABLE, "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM rows"), "no table CUPTI"),
        ((f"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS {_ENDLESS}",), "no table CUPTI"),
        ((_KERNELS,), "no table StringIds"),
        (
            (_KERNELS, f"CREATE VIEW StringIds AS {_ENDLESS}"),
            "no table StringIds",
        ),
        (("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a)", _STRINGS), "no column start"),
        ((_kernels_with(*_COLUMNS[:12]), _STRINGS), "no column dynamicSharedMemory"),
        ((_kernels_with(*_COLUMNS[:13]), _STRINGS), "no column demangledName"),
        (
            (
                _kernels_with("gridX AS (length(zeroblob(1000000000)))", *(set(_COLUMNS) - {"gridX"})),
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start) VALUES (1)",
                _STRINGS,
            ),
            "can't be read as an export of Nsight Systems",
        ),
    ],
    ids=range(9),
)  # fmt: skip
def test_nsys_with_other_tables(statements: Sequence[str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    connection = sqlite3.connect(path)
    for statement in ("CREATE TABLE other (a)", *statements):
        connection.execute(statement)
    connection.commit()
    connection.close()
    start = time.perf_counter()
    with pytest.raises(RecordingError, match=ONE_LINE) as caught:
        read_export(str(path))
    assert message in str(caught.value)
    assert time.perf_counter() - start < 5


def test_nsys_with_a_table_of_a_module(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    connection = sqlite3.connect(path)
    try:
        connection.execute(f"CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_KERNEL USING fts5({', '.join(_COLUMNS)})")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no such module")
    connection.commit()
    connection.close()
    with pytest.raises(RecordingError, match="no table CUPTI"):
        read_export(str(path))


def test_nsys_triggers_do_nothing_and_nothing_is_written(tmp_path: Path) -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON CUPTI_ACTIVITY_KIND_KERNEL BEGIN DELETE FROM StringIds; END"
    path = _nsys(tmp_path / "a.sqlite", {}, extra=[trigger])
    path.chmod(0o400)
    before = path.read_bytes()
    assert read_again(path).launches == 1
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.sqlite"]


@pytest.mark.parametrize("kept", [16, 17, 100, 1000, 4096, 5000, 9000])
def test_nsys_files_that_end_early(kept: int, tmp_path: Path) -> None:
    path = _nsys(tmp_path / "a.sqlite", *({"gridX": number} for number in range(1, 200)))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(RecordingError, match=ONE_LINE):
        read_export(str(path))


@pytest.mark.parametrize("seed", range(30))
def test_nsys_files_with_broken_bytes(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    path = _nsys(tmp_path / "a.sqlite", *({"gridX": number} for number in range(1, 100)))
    data = bytearray(path.read_bytes())
    for _ in range(20):
        data[source.randrange(16, len(data))] = source.randrange(256)
    path.write_bytes(bytes(data))
    try:
        read_again(path)
    except RecordingError as error:
        assert "\n" not in str(error)


def test_nsys_names_with_broken_letters(tmp_path: Path) -> None:
    broken = "UPDATE StringIds SET value = CAST(x'5f5a316bff' AS TEXT) WHERE id = 1"
    (kernel,) = read_again(_nsys(tmp_path / "a.sqlite", {}, extra=[broken])).kernels
    assert kernel.symbol == "_Z1k\ufffd"
    long = "UPDATE StringIds SET value = hex(zeroblob(20000))"
    assert read_again(_nsys(tmp_path / "b.sqlite", {}, extra=[long])).left_out == 1
    huge = "UPDATE StringIds SET value = hex(zeroblob(2000000))"
    with pytest.raises(RecordingError, match=ONE_LINE):
        read_export(str(_nsys(tmp_path / "c.sqlite", {}, extra=[huge])))


def test_nsys_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _nsys(tmp_path / "a.sqlite", *({"gridX": number} for number in range(1, 51)))
    monkeypatch.setattr(gathering, "MOST_DIFFERENT", 40)
    found = read_again(path)
    assert (found.launches, found.left_out) == (40, 10)
    monkeypatch.setattr(nsys_export, "_MOST_ROWS", 49)
    with pytest.raises(RecordingError, match="more than 49 launches"):
        read_export(str(path))
    monkeypatch.setattr(nsys_export, "_MOST_NAMES", 3)
    with pytest.raises(RecordingError, match="more than 3 names"):
        read_export(str(path))
    monkeypatch.setattr(nsys_export, "_MOST_SECONDS", -1.0)
    monkeypatch.setattr(nsys_export, "_STEPS", 1)
    with pytest.raises(RecordingError, match="interrupted"):
        read_export(str(path))


def test_names_of_files_may_have_anything(tmp_path: Path) -> None:
    path = _nsys(tmp_path / "a.sqlite", {})
    for name in ("a?mode=rwc", "a#b", "a%20b", "a b", "-a", "a.json"):
        other = tmp_path / name
        other.write_bytes(path.read_bytes())
        assert read_again(other).launches == 1
    assert len(os.listdir(tmp_path)) == 7
