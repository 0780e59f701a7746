"""Files of recorded launches: written the same in any order, read whole or refused in a line."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from cudalint.launches.recorded import files, texts
from cudalint.launches.recorded.files import read_recording
from cudalint.launches.recorded.records import VERSION, RecordedKernel, RecordedLaunch, Recording
from cudalint.launches.recorded.texts import RecordingError, recording_in, text_of

_LAUNCHES = (
    RecordedLaunch(3, (16, 1, 1), (128, 1, 1), 0, ("p0+0/4096", 7), order=0, time_us=2.5),
    RecordedLaunch(1, (16, 1, 1), (128, 1, 1), 0, ("p0+0/4096", 12)),
    RecordedLaunch(1, (16, 1, 1), (128, 1, 1), 0, ("p?", 12), cluster=(2, 1, 1), cooperative=True),
    RecordedLaunch(2, (16, 1, 1), (32, 8, 1), 1024, stream=2, has_static=True),
    RecordedLaunch(2, (16, 1, 1), (32, 8, 1), 1024, stream=2, time_us=1.0),
)
_RECORDING = Recording(
    VERSION,
    (
        RecordedKernel("_Z1kPfi", _LAUNCHES, "k(float*, int)", (8, 4)),
        RecordedKernel("plain", _LAUNCHES[3:]),
        RecordedKernel("plain", _LAUNCHES[3:4], "", (8,)),
        RecordedKernel("h:0123", ()),
    ),
    "NVIDIA H200",
    5,
)


def _shuffled(recording: Recording, seed: int) -> Recording:
    source = random.Random(seed)
    kernels = [
        msgspec.structs.replace(kernel, launches=tuple(source.sample(kernel.launches, len(kernel.launches))))
        for kernel in recording.kernels
    ]
    source.shuffle(kernels)
    return msgspec.structs.replace(recording, kernels=tuple(kernels))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = str(tmp_path / "launches.json")
    Path(path).write_text(text_of(_RECORDING), encoding="utf-8")
    found = read_recording(path)
    assert text_of(found) == text_of(_RECORDING)
    assert sorted(found.kernels, key=str) == sorted(
        (
            msgspec.structs.replace(kernel, launches=own.launches)
            for kernel in _RECORDING.kernels
            for own in found.kernels
            if (own.symbol, own.parameters) == (kernel.symbol, kernel.parameters)
        ),
        key=str,
    )
    assert {kernel.symbol: set(kernel.launches) for kernel in found.kernels if kernel.parameters} == {
        "_Z1kPfi": set(_LAUNCHES),
        "plain": set(_LAUNCHES[3:4]),
    }
    assert (found.device, found.left_out, found.launches) == ("NVIDIA H200", 5, 8)


@pytest.mark.parametrize("seed", range(20))
def test_the_text_is_the_same_in_any_order(seed: int) -> None:
    assert text_of(_shuffled(_RECORDING, seed)) == text_of(_RECORDING)


def test_the_text_has_a_line_for_each_launch() -> None:
    text = text_of(Recording(VERSION, (RecordedKernel("k", _LAUNCHES[:2], parameters=(8, 4)),)))
    assert text == (
        '{\n  "version": 1,\n  "kernels": [\n    {"symbol": "k", "parameters": [8,4], "launches": [\n'
        '      {"count":3,"grid":[16,1,1],"block":[128,1,1],"arguments":["p0+0/4096",7],"order":0,"time_us":2.5},\n'
        '      {"count":1,"grid":[16,1,1],"block":[128,1,1],"arguments":["p0+0/4096",12]}\n    ]}\n  ]\n}\n'
    )
    assert text_of(Recording(VERSION)) == '{\n  "version": 1,\n  "kernels": []\n}\n'


def _with(kernels: str) -> bytes:
    return f'{{"version": 1, "kernels": [{kernels}]}}'.encode()


def _with_launch(launch: str, parameters: str = "null") -> bytes:
    return _with(f'{{"symbol": "k", "parameters": {parameters}, "launches": [{launch}]}}')


_SIZES = '"count": 1, "grid": [1, 1, 1], "block": [1, 1, 1]'


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 100,
        b"\xff\xfe{}",
        b"SQLite format 3\0",
        b"null",
        b"[]",
        b"{}",
        b'{"version": "1"}',
        b'{"version": 1, "version": 2}',
        b'{"version": 2}',
        b'{"version": 1, "kernels": [',
        b'{"version": 1, "more": 1}',
        b'{"version": 1} {"version": 1}',
        b'{"version": 1, "left_out": -1}',
        b'{"version": 1, "device": "\xff"}',
        b'{"version": 1, "device": "' + b"x" * 20_001 + b'"}',
        b"[" * 1_000_000,
        b'{"version": 1, "kernels": ' + b"[" * 1_000_000,
        b'{"a":' * 300_000,
        _with('{"symbol": "k"}'),
        _with_launch('{"count": 1}'),
        _with_launch('{"count": 0, "grid": [1, 1, 1], "block": [1, 1, 1]}'),
        _with_launch('{"count": 1e99, "grid": [1, 1, 1], "block": [1, 1, 1]}'),
        _with_launch('{"count": 1, "grid": [0, 1, 1], "block": [1, 1, 1]}'),
        _with_launch('{"count": 1, "grid": [1, 1], "block": [1, 1, 1]}'),
        _with_launch('{"count": 1, "grid": [4294967296, 1, 1], "block": [1, 1, 1]}'),
        _with_launch(f'{{{_SIZES}, "shared": -1}}'),
        _with_launch(f'{{{_SIZES}, "time_us": NaN}}'),
        _with_launch(f'{{{_SIZES}, "time_us": 1e400}}'),
        _with_launch(f'{{{_SIZES}, "time_us": -1}}'),
        _with_launch(f'{{{_SIZES}, "arguments": [1]}}'),
        _with_launch(f'{{{_SIZES}, "arguments": [1]}}', "[4, 4]"),
        _with_launch(f'{{{_SIZES}, "arguments": [256]}}', "[1]"),
        _with_launch(f'{{{_SIZES}, "arguments": [-1]}}', "[4]"),
        _with_launch(f'{{{_SIZES}, "arguments": [36893488147419103232]}}', "[8]"),
        _with_launch(f'{{{_SIZES}, "arguments": ["p0+0/4"]}}', "[4]"),
        _with_launch(f'{{{_SIZES}, "arguments": ["x00\\n"]}}', "[1]"),
        _with_launch(f'{{{_SIZES}, "arguments": []}}', "[65537]"),
    ],
    ids=range(38),
)
def test_what_is_no_recording_is_refused_in_a_line(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "launches.json"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"\A[^\n]{1,300}\Z"):
        read_recording(str(path))


def test_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "launches.json"
    monkeypatch.setattr(files, "LARGEST", 1 << 20)
    path.write_bytes(b'{"version": 1}'.ljust(1 << 20))
    assert read_recording(str(path)) == Recording(1)
    path.write_bytes(b'{"version": 1}'.ljust((1 << 20) + 1))
    with pytest.raises(RecordingError, match="it has more than 1 MiB"):
        read_recording(str(path))


def test_a_file_may_have_so_many_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_MOST_LAUNCHES", 2)
    launch = f"{{{_SIZES}}}"
    assert recording_in(_with_launch(f"{launch}, {launch}")).launches == 2
    with pytest.raises(RecordingError, match="more than 2 launches"):
        recording_in(_with_launch(f"{launch}, {launch}, {launch}"))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are files elsewhere")
def test_pipes_and_folders_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "none"):
        with pytest.raises(OSError, match=r"\S"):
            read_recording(str(path))


def test_reading_and_writing_import_no_front_end() -> None:
    """A recorder writes such files in programs of others."""
    code = "import sys, cudalint.launches.recorded.files; print(*(name for name in sys.modules if 'clang' in name))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_dynamic_memory_is_told_from_what_a_kernel_has_itself() -> None:
    alone = RecordedLaunch(1, (1, 1, 1), (32, 1, 1), 1024)
    together = msgspec.structs.replace(alone, has_static=True)
    assert (alone.dynamic(256), together.dynamic(256), together.dynamic(1024), together.dynamic(2048)) == (
        1024, 768, 0, 0,
    )  # fmt: skip


def test_weights() -> None:
    launch = RecordedLaunch(3, (4, 2, 1), (32, 2, 1))
    assert (launch.threads, launch.blocks, launch.weight) == (64, 8, 3 * 64 * 8)
    assert msgspec.structs.replace(launch, time_us=2.5).weight == 7.5
