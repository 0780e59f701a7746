"""Chrome traces of PyTorch's profiler (Kineto).

What it calls the shared memory of a launch is the dynamic memory and what the kernel has itself; the trace does not say
how much of it is which.
"""

from __future__ import annotations

from typing import Final

import msgspec

from cudalint.launches.recorded.gathering import Gathered, Made
from cudalint.launches.recorded.records import Recording
from cudalint.launches.recorded.texts import RecordingError

_KERNEL: Final = "kernel"
_MOST_OBJECTS: Final = 8_000_000
"""Braces in the text, so that no more records are made of it than memory has room for."""
_NS_PER_US: Final = 1000
_LONGEST_US: Final = 1e15


class _Arguments(msgspec.Struct):
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    shared: int | None = msgspec.field(default=None, name="shared memory")
    device: int | None = None
    context: int | None = None
    stream: int | None = None


class _Event(msgspec.Struct):
    cat: str | None = None
    name: str | None = None
    ts: float | str | None = None
    dur: float | str | None = None
    args: msgspec.Raw = msgspec.Raw(b"{}")


class _Device(msgspec.Struct):
    id: int | None = None
    name: str = ""


class _Trace(msgspec.Struct):
    events: list[_Event] | None = msgspec.field(default=None, name="traceEvents")
    devices: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"[]"), name="deviceProperties")


def read_torch(data: bytes) -> Recording:
    """The kernels of a trace. Raises RecordingError."""
    if data.count(b"{") > _MOST_OBJECTS:
        raise RecordingError(f"it has more than {_MOST_OBJECTS} objects: record a shorter part")
    try:
        if data.lstrip()[:1] == b"[":
            trace = _Trace(msgspec.json.decode(data, type=list[_Event]))
        else:
            trace = msgspec.json.decode(data, type=_Trace)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"it is no trace of PyTorch's profiler: {error}") from error
    if trace.events is None:
        raise RecordingError("it is no trace of PyTorch's profiler: it has no `traceEvents`")
    gathered, used = Gathered(), set[int | None]()
    has_kernels = False
    for event in trace.events:
        if event.cat is not None and event.cat.lower() == _KERNEL:
            has_kernels = True
            _add(gathered, event, used)
    if not has_kernels:
        raise RecordingError("it has no kernels: record with `ProfilerActivity.CUDA`")
    return gathered.recording(device.name for device in _devices(trace.devices) if device.id in used)


def _add(gathered: Gathered, event: _Event, used: set[int | None]) -> None:
    try:
        own = msgspec.json.decode(event.args, type=_Arguments)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        gathered.left_out += 1
        return
    used.add(own.device)
    stream = (own.device, own.context, own.stream)
    made = Made("", event.name or "", own.grid, own.block, own.shared, stream, has_static=True)
    gathered.add(gathered.slot(made), _nanoseconds(event.ts), None if event.dur is None else _nanoseconds(event.dur))


def _nanoseconds(us: float | str | None) -> int:
    """-1 for what is no time."""
    return round(us * _NS_PER_US) if isinstance(us, float | int) and 0 <= us <= _LONGEST_US * _NS_PER_US else -1


def _devices(data: msgspec.Raw) -> list[_Device]:
    try:
        return msgspec.json.decode(data, type=list[_Device])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
