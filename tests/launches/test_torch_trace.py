"""Traces of PyTorch's profiler as recorded launches, and files that are none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from exports import ONE_LINE, read_again, written

from cudalint.launches.recorded import importing, torch_trace
from cudalint.launches.recorded.importing import read_export
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import RecordingError

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
    found = read_again(written(tmp_path, gzip.compress(data) if is_packed else data))
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
    assert read_again(written(tmp_path, json.dumps([_KERNEL]).encode())).launches == 1
    assert read_again(written(tmp_path, b"\xef\xbb\xbf" + _trace(_KERNEL))).launches == 1
    assert read_again(written(tmp_path, _trace(_KERNEL).decode().encode("utf-16"))).launches == 1


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
    found = read_again(written(tmp_path, _trace(event, _KERNEL)))
    assert (found.launches, found.left_out) == (1, 1)


def test_torch_kernels_without_a_time(tmp_path: Path) -> None:
    (kernel,) = read_again(written(tmp_path, _trace(_event(dur=None)))).kernels
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
        with pytest.raises(RecordingError, match=ONE_LINE):
            read_again(written(tmp_path, packed))


def test_torch_with_odd_devices(tmp_path: Path) -> None:
    for devices in ([], {}, [1], [{"id": "a"}], [{"id": 2, "name": "other"}], None):
        assert read_again(written(tmp_path, _trace(_KERNEL, deviceProperties=devices))).device == ""


def test_torch_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = _trace(*[_KERNEL] * 40)
    monkeypatch.setattr(torch_trace, "_MOST_OBJECTS", 82)
    with pytest.raises(RecordingError, match="more than 82 objects"):
        read_export(str(written(tmp_path, data)))
    monkeypatch.setattr(importing, "_LARGEST", 1 << 20)
    for large in (b"[" + b" " * (1 << 20), gzip.compress(b" " * (1 << 22))):
        with pytest.raises(RecordingError, match="more than 1 MiB"):
            read_export(str(written(tmp_path, large)))


@pytest.mark.parametrize("cut", [1, 5, 9])
def test_packed_files_that_end_early(cut: int, tmp_path: Path) -> None:
    packed = gzip.compress(_trace(_KERNEL))
    for data in (packed[:-cut], packed[:20], packed[:2], packed[:12] + b"\xff" * 50):
        with pytest.raises(RecordingError, match=ONE_LINE):
            read_export(str(written(tmp_path, data)))
