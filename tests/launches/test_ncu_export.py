"""Tables of Nsight Compute as recorded launches, and files of all kinds that hold none."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from exports import ONE_LINE, read_again, written

from cudalint.launches.recorded import ncu_export
from cudalint.launches.recorded.importing import read_export
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import RecordingError

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
    assert read_again(written(tmp_path, _raw(*rows))) == Recording(
        1,
        (
            RecordedKernel(
                "_Z1kPf",
                (RecordedLaunch(1, grid, block, 49_152, cluster=(2, 1, 1), stream=1, order=1, time_us=1234.0),),
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
    (kernel,) = read_again(written(tmp_path, "\r\n".join([_LONG, *rows]).encode())).kernels
    assert (kernel.symbol, kernel.name) == ("k", "k(float *)")
    grid, block = (16, 1, 1), (128, 1, 1)
    assert kernel.launches == (
        RecordedLaunch(1, grid, block, 0, order=2, time_us=1000.0),
        RecordedLaunch(2, grid, block, 49_152, order=0, time_us=3.0),
    )


def test_ncu_details_as_nsight_compute_2025_prints_them(tmp_path: Path) -> None:
    """Columns of rules come after the metrics, and rows of metrics end before them, in a comma. Two metrics have names
    of columns."""
    rules = '"Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"'
    rows = (
        "==PROF== Connected to process 718 (/app)",
        f"{_LONG},{rules}",
        _long_row(0, "Dynamic Shared Memory Per Block", "byte/block", "1,024") + ",",
        _long_row(0, "Duration", "us", "2.53") + ",",
        _long_row(0, "Block Size", "", "128") + ",",
        _long_row(0, "Grid Size", "", "16") + ",",
        _long_row(0, "", "", "") + ',"A rule","OPT","words, and more","local","12.5"',
    )
    (kernel,) = read_again(written(tmp_path, "\n".join(rows).encode())).kernels
    assert kernel.launches == (RecordedLaunch(1, (16, 1, 1), (128, 1, 1), 1024, order=0, time_us=2.53),)


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
    (kernel,) = read_again(written(tmp_path, f"{_LONG}\n{row}\n".encode())).kernels
    assert kernel.launches[0].shared == size


def test_ncu_with_metrics_for_sizes(tmp_path: Path) -> None:
    """Tables of some versions have no columns for sizes, or have none filled."""
    sizes = ",".join(f'"launch__{what}_dim_{axis}"' for what in ("grid", "block") for axis in "xyz")
    head = f'"ID","Kernel Name","launch__shared_mem_per_block_dynamic",{sizes}'
    data = f'{head}\n"","","byte/block","","","","","",""\n"0","k","0","1,600","2","1","128","1","1"\n'
    (kernel,) = read_again(written(tmp_path, data.encode())).kernels
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
    found = read_again(written(tmp_path, _raw(_raw_row(0), row)))
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
    with pytest.raises(RecordingError, match=ONE_LINE) as caught:
        read_export(str(written(tmp_path, data)))
    assert message in str(caught.value)
    assert time.perf_counter() - start < 5


def test_ncu_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ncu_export, "_MOST_ROWS", 10)
    with pytest.raises(RecordingError, match="more than 10 rows"):
        read_export(str(written(tmp_path, _raw(*(_raw_row(number) for number in range(20))))))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are files elsewhere")
def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "none", Path("/dev/zero")):
        with pytest.raises(OSError, match=r"\S"):
            read_export(str(path))
