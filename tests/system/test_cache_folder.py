"""A cache folder that is full, that can't be written to, or in which something else lies in the place of an entry: it
costs time and nothing else, and nothing is left behind in it."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cudalint.system.disk.cache_folder import FOLDER_VARIABLE
from cudalint.system.disk.regular import is_kept, read_kept
from cudalint.toolchain.toolkit import nvcc

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts, pipes and limits are Linux's")

_KERNEL = "__global__ void strided(float *p) { p[threadIdx.x * 32] = 1.0f; }\n"
"""Each lane of a warp writes into a sector of its own: CL101."""


def _check(folder: Path, cache: Path, before: Callable[[], None] | None = None) -> tuple[int, bool, str]:
    (folder / "a.cu").write_text(_KERNEL)
    options = ["-j1", "--min-share", "0", "--format", "concise"]
    command = [sys.executable, "-P", "-m", "cudalint", "check", *options, "a.cu"]
    environment = {**os.environ, FOLDER_VARIABLE: str(cache), "CUDALINT_NO_CACHE": "0"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, preexec_fn=before
    )
    return done.returncode, "CL101" in done.stdout, done.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with less room than a precompiled prelude takes, which is 1.5 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount(8) here")
    if done.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_costs_no_file(tmp_path: Path, small_disk: Path) -> None:
    status, is_found, said = _check(tmp_path, small_disk)
    assert (status, is_found) == (1, True)
    assert "crashed" not in said
    assert [path for path in small_disk.rglob("*") if path.suffix in (".pch", ".new") or "temp" in path.name] == []


def test_a_limit_of_the_size_of_files_costs_none(tmp_path: Path) -> None:
    """As a full disk does, it has libclang end the process that writes; it needs no right to mount anything."""
    most = 64 << 10
    cache = tmp_path / "cache"
    status, is_found, said = _check(
        tmp_path, cache, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    )
    assert (status, is_found) == (1, True)
    assert "crashed" not in said
    assert [path.name for path in cache.rglob("*") if path.suffix in (".pch", ".new")] == []
    other = tmp_path / "other"
    other.mkdir()
    _check(other, other / "cache")
    (made,) = (other / "cache").glob("*.pch")
    assert made.stat().st_size > most  # So the limit was one.


def test_a_folder_that_is_none_costs_no_file(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    assert _check(tmp_path, tmp_path / "cache")[:2] == (1, True)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.getcwd()
        os.chdir(path.parent)  # The path of a socket has 107 bytes at most.
        try:
            bound.bind(path.name)
        finally:
            os.chdir(here)


def _of_others(path: Path) -> None:
    path.write_bytes(b"CPCH")
    try:
        os.chown(path, 12345, 12345)
    except PermissionError:
        pytest.skip("only root can give a file away")


def _link(path: Path) -> None:
    target = path.parent.parent / "target"
    target.write_bytes(b"CPCH")
    path.symlink_to(target)


_OTHERS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "socket": _socket,
    "folder": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link": _link,
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "file of another user": _of_others,
}


@pytest.mark.parametrize("kind", _OTHERS)
def test_what_is_no_file_of_the_user_is_no_entry(kind: str, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    path = tmp_path / "cache" / "entry"
    _OTHERS[kind](path)
    assert not is_kept(str(path))
    with pytest.raises(OSError, match=r".+"):
        read_kept(str(path))
    own = tmp_path / "cache" / "own"
    own.write_bytes(b"own")
    assert is_kept(str(own))
    assert read_kept(str(own)) == b"own"


@pytest.mark.parametrize("kind", _OTHERS)
def test_nothing_in_the_place_of_entries_costs_a_file(kind: str, tmp_path: Path) -> None:
    """All that a run has kept, the precompiled prelude and results, replaced by something that can't be read."""
    cache = tmp_path / "cache"
    assert _check(tmp_path, cache)[:2] == (1, True)
    kept = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.suffix for path in kept} >= {".pch", ".result"}
    for path in kept:
        path.unlink()
        _OTHERS[kind](path)
    begin = time.monotonic()
    assert _check(tmp_path, cache)[:2] == (1, True)
    assert time.monotonic() - begin < 15  # What waits is given up after 20 seconds.
    if kind != "folder":
        assert all(is_kept(str(path)) for path in kept)


def test_answers_of_nvcc_are_files_of_the_user(tmp_path: Path) -> None:
    entry = tmp_path / "entry.json"
    (tmp_path / "other.json").write_text(json.dumps({"files": {}, "output": "said"}))
    assert nvcc._kept(str(tmp_path / "other.json")) == "said"
    entry.symlink_to("other.json")
    assert nvcc._kept(str(entry)) is None
