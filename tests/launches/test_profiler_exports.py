"""Exports of profilers as recorded launches: each format, whatever its file is called, and files that are none."""

from __future__ import annotations

import gzip
import json
import os
import random
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cudalint.launches.recorded import gathering, importing, ncu_export, nsys_export, torch_trace
from cudalint.launches.recorded.files import RecordingError, recording_in, text_of
from cudalint.launches.recorded.importing import read_export
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch, Recording

_LINE = r"\A[^\n]{1,400}\Z"


def _read(path: Path) -> Recording:
    """The launches, which are such as a file may hold."""
    found = read_export(str(path))
    assert recording_in(text_of(found).encode()) == found
    return found


# --- Nsight Systems ------------------------------------------------------------------------------

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
    found = _read(_nsys(tmp_path / "anything", *rows))
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
    (kernel,) = _read(_nsys(tmp_path / "a.sqlite", {}, columns=left)).kernels
    assert (kernel.symbol, kernel.name) == ("k", "void ns::k<float>(T1 *)")
    (kernel,) = _read(_nsys(tmp_path / "b.sqlite", {}, columns=[n for n in left if n != "demangledName"])).kernels
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
    found = _read(_nsys(tmp_path / "a.sqlite", row, {}, row))
    assert (found.launches, found.left_out) == (1, 2)


@pytest.mark.parametrize("row", [{"end": None}, {"end": 0}, {"start": 0, "end": 0}], ids=str)
def test_nsys_launches_that_nobody_could_time(row: dict[str, object], tmp_path: Path) -> None:
    (kernel,) = _read(_nsys(tmp_path / "a.sqlite", row)).kernels
    assert kernel.launches[0].time_us is None
    (kernel,) = _read(_nsys(tmp_path / "b.sqlite", row, {})).kernels
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
    with pytest.raises(RecordingError, match=_LINE) as caught:
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
    assert _read(path).launches == 1
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.sqlite"]


@pytest.mark.parametrize("kept", [16, 17, 100, 1000, 4096, 5000, 9000])
def test_nsys_files_that_end_early(kept: int, tmp_path: Path) -> None:
    path = _nsys(tmp_path / "a.sqlite", *({"gridX": number} for number in range(1, 200)))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(RecordingError, match=_LINE):
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
        _read(path)
    except RecordingError as error:
        assert "\n" not in str(error)


def test_nsys_names_with_broken_letters(tmp_path: Path) -> None:
    broken = "UPDATE StringIds SET value = CAST(x'5f5a316bff' AS TEXT) WHERE id = 1"
    (kernel,) = _read(_nsys(tmp_path / "a.sqlite", {}, extra=[broken])).kernels
    assert kernel.symbol == "_Z1k\ufffd"
    long = "UPDATE StringIds SET value = hex(zeroblob(20000))"
    assert _read(_nsys(tmp_path / "b.sqlite", {}, extra=[long])).left_out == 1
    huge = "UPDATE StringIds SET value = hex(zeroblob(2000000))"
    with pytest.raises(RecordingError, match=_LINE):
        read_export(str(_nsys(tmp_path / "c.sqlite", {}, extra=[huge])))


def test_nsys_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _nsys(tmp_path / "a.sqlite", *({"gridX": number} for number in range(1, 51)))
    monkeypatch.setattr(gathering, "MOST_DIFFERENT", 40)
    found = _read(path)
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
        assert _read(other).launches == 1
    assert len(os.listdir(tmp_path)) == 7


# --- PyTorch -------------------------------------------------------------------------------------

_ARGUMENTS = {"device": 1, "context": 1, "stream": 7, "grid": [4, 1, 1], "block": [64, 2, 1], "shared memory": 2048}
_KERNEL = {
    "ph": "X", "cat": "kernel", "name": "void ns::k<float>(float*)", "ts": 100.5, "dur": 2.25, "args": _ARGUMENTS,
}  # fmt: skip
_DEVICES = [{"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 1}, {"id": 1, "name": "NVIDIA H200"}]


def _trace(*events: Any, **more: object) -> bytes:
    return json.dumps({"schemaVersion": 1, "deviceProperties": _DEVICES, **more, "traceEvents": events}).encode()


def _event(**changes: object) -> dict[str, object]:
    arguments = {**_ARGUMENTS, **{name: changes.pop(name) for name in list(changes) if name in _ARGUMENTS}}
    return {**_KERNEL, "args": arguments, **changes}


def _written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "export"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("is_packed", [False, True])
def test_torch(is_packed: bool, tmp_path: Path) -> None:
    other = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "aten::add",
        "ts": 1,
        "dur": 1,
        "pid": 1,
        "tid": "t",
        "args": {"a": []},
    }
    metadata = {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}}
    events = (
        metadata,
        other,
        _event(ts=103.0, dur=0.75),
        _event(),
        _event(cat="Kernel", ts=90, dur=3, stream=20, name="_Z1kPf"),
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "ts": 0, "dur": 1, "args": {"stream": 7}},
        _event(ts=200, name="plain", **{"shared memory": 0}),
    )
    data = _trace(*events)
    found = _read(_written(tmp_path, gzip.compress(data) if is_packed else data))
    grid, block = (4, 1, 1), (64, 2, 1)
    assert found == Recording(
        1,
        (
            RecordedKernel(
                "_Z1kPf", (RecordedLaunch(1, grid, block, 2048, stream=1, order=0, time_us=3.0, has_static=True),)
            ),
            RecordedKernel(
                "k",
                (RecordedLaunch(2, grid, block, 2048, order=1, time_us=1.5, has_static=True),),
                "void ns::k<float>(float*)",
            ),
            # Without any, there is none of either kind.
            RecordedKernel("plain", (RecordedLaunch(1, grid, block, 0, order=3, time_us=2.25),)),
        ),
        "NVIDIA H200",
    )


def test_torch_events_alone(tmp_path: Path) -> None:
    assert _read(_written(tmp_path, json.dumps([_KERNEL]).encode())).launches == 1
    assert _read(_written(tmp_path, b"\xef\xbb\xbf" + _trace(_KERNEL))).launches == 1
    assert _read(_written(tmp_path, _trace(_KERNEL).decode().encode("utf-16"))).launches == 1


@pytest.mark.parametrize(
    "event",
    [
        _event(grid=[0, 1, 1]),
        _event(grid=[-1, 1, 1]),
        _event(grid=[1, 1]),
        _event(grid=[1, 1, 1, 1]),
        _event(grid=[1.5, 1, 1]),
        _event(grid=[10**30, 1, 1]),
        _event(grid="4"),
        _event(block=[2048, 1, 1]),
        _event(block=None),
        _event(**{"shared memory": -4}),
        _event(**{"shared memory": None}),
        _event(**{"shared memory": "many"}),
        _event(dur=-1),
        _event(dur="1"),
        _event(dur=1e300),
        _event(ts=None),
        _event(ts=-5),
        _event(name=""),
        _event(name=None),
        _event(args=[]),
        _event(args={}),
        _event(args=None),
        {"cat": "kernel"},
    ],
    ids=range(23),
)
def test_torch_events_that_are_no_launches_are_counted(event: dict[str, object], tmp_path: Path) -> None:
    found = _read(_written(tmp_path, _trace(event, _KERNEL)))
    assert (found.launches, found.left_out) == (1, 1)


def test_torch_kernels_without_a_time(tmp_path: Path) -> None:
    (kernel,) = _read(_written(tmp_path, _trace(_event(dur=None)))).kernels
    assert kernel.launches[0].time_us is None


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"{}",
        b"[]",
        b"[1]",
        b'{"traceEvents": 1}',
        b'{"traceEvents": null}',
        b'{"traceEvents": []}',
        b'{"traceEvents": [{"cat": 1}]}',
        b'{"traceEvents": [{"cat": "kernel", "name": "\\ud800", "ts": 1, "args": {}}]}',
        b'{"traceEvents": [' + b"[" * 1_000_000,
        b'{"traceEvents": [{"args": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}]}",
        b'{"traceEvents": [{"args": ' + b'{"a":' * 300_000,
        b'{"a": ' * 300_000,
        _trace(_KERNEL)[:-40],
        _trace({"cat": "cpu_op", "name": "aten::add"}),
        b'{"version": 1, "kernels": []}',
        b'{"traceEvents": [{"name": "\xff"}]}',
    ],
    ids=range(17),
)
def test_json_that_is_no_trace_is_refused_in_a_line(data: bytes, tmp_path: Path) -> None:
    for packed in (data, gzip.compress(data)):
        with pytest.raises(RecordingError, match=_LINE):
            _read(_written(tmp_path, packed))


def test_torch_with_odd_devices(tmp_path: Path) -> None:
    for devices in ([], {}, [1], [{"id": "a"}], [{"id": 2, "name": "other"}], None):
        assert _read(_written(tmp_path, _trace(_KERNEL, deviceProperties=devices))).device == ""


def test_torch_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = _trace(*[_KERNEL] * 40)
    monkeypatch.setattr(torch_trace, "_MOST_OBJECTS", 82)
    with pytest.raises(RecordingError, match="more than 82 objects"):
        read_export(str(_written(tmp_path, data)))
    monkeypatch.setattr(importing, "_LARGEST", 1 << 20)
    for large in (b"[" + b" " * (1 << 20), gzip.compress(b" " * (1 << 22))):
        with pytest.raises(RecordingError, match="more than 1 MiB"):
            read_export(str(_written(tmp_path, large)))


@pytest.mark.parametrize("cut", [1, 5, 9])
def test_packed_files_that_end_early(cut: int, tmp_path: Path) -> None:
    packed = gzip.compress(_trace(_KERNEL))
    for data in (packed[:-cut], packed[:20], packed[:2], packed[:12] + b"\xff" * 50):
        with pytest.raises(RecordingError, match=_LINE):
            read_export(str(_written(tmp_path, data)))


# --- Nsight Compute ------------------------------------------------------------------------------

_HEAD = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size"'
_METRICS = (
    "device__attribute_display_name", "gpu__time_duration.sum", "launch__cluster_dim_x", "launch__cluster_dim_y",
    "launch__cluster_dim_z", "launch__shared_mem_per_block_dynamic",
)  # fmt: skip
_RAW = ",".join([_HEAD, '"Device","CC"', *(f'"{name}"' for name in _METRICS)])
_UNITS = '"","","","","","","","","","","","","us","","","","Kbyte/block"'


def _raw(*rows: str, units: str = _UNITS, head: str = _RAW) -> bytes:
    return "\n".join(["==PROF== Connected to process 7", head, units, *rows, "==PROF== Disconnected", ""]).encode()


def _raw_row(
    number: int, name: str = "void ns::k<float>(T1 *)", stream: str = "7", block: str = "(128, 1, 1)",
    grid: str = "(16, 1, 1)", time: str = "2.50", cluster: str = '"0","0","0"', shared: str = "1.024000",
) -> str:  # fmt: skip
    return (
        f'"{number}","7","app","host","{name}","1","{stream}","{block}","{grid}","0","9.0","NVIDIA H200","{time}",'
        f'{cluster},"{shared}"'
    )


def test_ncu_raw(tmp_path: Path) -> None:
    rows = (
        _raw_row(0),
        _raw_row(1, name="_Z1kPf", stream="13", time="1,234.50", cluster='"2","1","1"', shared="49.152000"),
        "what the program prints",
        _raw_row(2, time="3.50"),
        _raw_row(3, name="k", shared="0"),
    )
    grid, block = (16, 1, 1), (128, 1, 1)
    assert _read(_written(tmp_path, _raw(*rows))) == Recording(
        1,
        (
            RecordedKernel(
                "_Z1kPf",
                (RecordedLaunch(1, grid, block, 49_152, cluster=(2, 1, 1), stream=1, order=1, time_us=1234.5),),
            ),
            RecordedKernel("k", (RecordedLaunch(1, grid, block, 0, order=3, time_us=2.5),)),
            RecordedKernel(
                "k", (RecordedLaunch(2, grid, block, 1024, order=0, time_us=3.0),), "void ns::k<float>(T1 *)"
            ),
        ),
        "NVIDIA H200",
    )


_LONG = f'{_HEAD},"Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'


def _long_row(number: int, metric: str, unit: str, value: str, grid: str = "(16, 1, 1)") -> str:
    launch = f'"{number}","7","app","host","k(float *)","1","7","(128, 1, 1)","{grid}","0","9.0"'
    return f'{launch},"Section","{metric}","{unit}","{value}"'


def test_ncu_details(tmp_path: Path) -> None:
    rows = (
        _long_row(0, "Duration", "us", "2.50"),
        _long_row(0, "Dynamic Shared Memory Per Block", "Kbyte/block", "49.15"),
        _long_row(0, "", "", ""),
        _long_row(1, "gpu__time_duration.sum", "nsecond", "3,500"),
        _long_row(1, "launch__shared_mem_per_block_dynamic", "byte/block", "49,152"),
        _long_row(2, "Duration", "ms", "1"),
        _long_row(2, "Dynamic Shared Memory Per Block", "byte/block", "0"),
    )
    (kernel,) = _read(_written(tmp_path, "\r\n".join([_LONG, *rows]).encode())).kernels
    assert (kernel.symbol, kernel.name) == ("k", "k(float *)")
    grid, block = (16, 1, 1), (128, 1, 1)
    assert kernel.launches == (
        RecordedLaunch(1, grid, block, 0, order=2, time_us=1000.0),
        RecordedLaunch(2, grid, block, 49_152, order=0, time_us=3.0),
    )


@pytest.mark.parametrize(
    ("text", "unit", "size"),
    [
        # Thousands of bytes with two decimals.
        ("1.02", "Kbyte/block", 1024),
        ("2.05", "Kbyte/block", 2048),
        ("16.38", "Kbyte/block", 16_384),
        ("34.82", "Kbyte/block", 34_816),
        ("49.15", "Kbyte/block", 49_152),
        ("101.38", "Kbyte/block", 101_376),
        ("232.45", "Kbyte/block", 232_448),
        ("4.10", "Kbyte/block", 4096),
        ("34.816000", "Kbyte/block", 34_816),
        ("512", "byte/block", 512),
        ("36", "byte/block", 36),
        ("0", "byte/block", 0),
        ("0.00", "byte/block", 0),
        ("1,040", "byte", 1040),
    ],
)
def test_ncu_memory_in_rounded_units(text: str, unit: str, size: int, tmp_path: Path) -> None:
    row = _long_row(0, "Dynamic Shared Memory Per Block", unit, text)
    (kernel,) = _read(_written(tmp_path, f"{_LONG}\n{row}\n".encode())).kernels
    assert kernel.launches[0].shared == size


def test_ncu_with_metrics_for_sizes(tmp_path: Path) -> None:
    """Tables of some versions have no columns for sizes, or have none filled."""
    sizes = ",".join(f'"launch__{what}_dim_{axis}"' for what in ("grid", "block") for axis in "xyz")
    head = f'"ID","Kernel Name","launch__shared_mem_per_block_dynamic",{sizes}'
    data = f'{head}\n"","","byte/block","","","","","",""\n"0","k","0","1,600","2","1","128","1","1"\n'
    (kernel,) = _read(_written(tmp_path, data.encode())).kernels
    assert kernel.launches == (RecordedLaunch(1, (1600, 2, 1), (128, 1, 1), order=0),)


@pytest.mark.parametrize(
    "row",
    [
        _raw_row(1, grid="(0, 1, 1)"),
        _raw_row(1, grid="(16, 1)"),
        _raw_row(1, grid=""),
        _raw_row(1, grid="(-1, 1, 1)"),
        _raw_row(1, grid="(99999999999, 1, 1)"),
        _raw_row(1, block="(2048, 1, 1)"),
        _raw_row(1, time="n/a"),
        _raw_row(1, time="-1"),
        _raw_row(1, time="nan"),
        _raw_row(1, time="9" * 18),
        _raw_row(1, shared="n/a"),
        _raw_row(1, shared=""),
        _raw_row(1, shared="9" * 17),
        _raw_row(1, name=""),
        _raw_row(1, cluster='"99","1","1"'),
        _raw_row(1)[:-40],
    ],
    ids=range(16),
)
def test_ncu_rows_that_are_no_launches_are_counted(row: str, tmp_path: Path) -> None:
    found = _read(_written(tmp_path, _raw(_raw_row(0), row)))
    assert (found.launches, found.left_out) == (1, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (_raw(), "no launches"),
        (_RAW.encode(), "no launches"),
        (_LONG.encode(), "no launches"),
        (f"{_LONG}\n{_long_row(0, 'Duration', 'us', '1')}".encode(), "add launch__shared_mem_per_block_dynamic"),
        (_raw('"0","' + "x" * 200_000), "can't be read as a table"),
        (_RAW.encode() + b',"x"' * 30_000, "more than 20000 columns"),
        (b"ID,x\n", "no export that cudalint reads"),
        (b"", "no export that cudalint reads"),
        (b"Kernel Name\n", "no export that cudalint reads"),
        (b"\x7fELF" + b"\0" * 5000, "no export that cudalint reads"),
        (b"\0" * 5000, "no export that cudalint reads"),
        (b"x" * 5_000_000, "no export that cudalint reads"),
        (b'"ID",' * 1_000_000, "no export that cudalint reads"),
        (b"NVR\0\x12\0\0\0", "export it with `ncu --import <report> --page raw --csv"),
        (b"%PDF-1.4\n", "no export that cudalint reads"),
    ],
    ids=range(15),
)
def test_tables_and_files_that_hold_no_launches(data: bytes, message: str, tmp_path: Path) -> None:
    start = time.perf_counter()
    with pytest.raises(RecordingError, match=_LINE) as caught:
        read_export(str(_written(tmp_path, data)))
    assert message in str(caught.value)
    assert time.perf_counter() - start < 5


def test_ncu_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ncu_export, "_MOST_ROWS", 10)
    with pytest.raises(RecordingError, match="more than 10 rows"):
        read_export(str(_written(tmp_path, _raw(*(_raw_row(number) for number in range(20))))))


# --- all of them ---------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are files elsewhere")
def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "none", Path("/dev/zero")):
        with pytest.raises(OSError, match=r"\S"):
            read_export(str(path))
