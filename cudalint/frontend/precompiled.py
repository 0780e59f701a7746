"""A precompiled form of the prelude, kept in the user's cache folder.

Parsing the prelude costs some 20 ms, loading its precompiled form 1 ms. The cache is only ever an
optimisation: where it cannot be written, the prelude is parsed each time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from typing import Final

from clang.cindex import TranslationUnit

from cudalint.frontend import clang, precompiling
from cudalint.system.disk.cache_folder import cache_folder
from cudalint.system.disk.regular import is_kept

_KEPT_FOR: Final = 30 * 24 * 3600
"""Seconds."""
_SECONDS: Final = 20.0
"""After which it is no longer waited for: it takes a tenth of one, and on a busy machine some more."""
_PREFIX: Final = "prelude-"
_FOR_SERIALIZATION: Final = 0x10
_OPTIONS: Final[int] = TranslationUnit.PARSE_INCOMPLETE | _FOR_SERIALIZATION


def precompiled(header: str, arguments: tuple[str, ...]) -> str | None:
    """The precompiled form of a bundled header for these arguments, made on first use; None without a cache.

    A changed header, other arguments or another libclang give another file name, so nothing is ever stale. libclang
    opens the file by its path and waits for what is none, so it is looked at each time.
    """
    folder = cache_folder()
    if folder is None:
        return None
    path = os.path.join(folder, f"{_PREFIX}{_fingerprint(header, arguments)}.pch")
    return path if is_kept(path) or (_made(header, arguments, path) and is_kept(path)) else None


@cache
def _fingerprint(header: str, arguments: tuple[str, ...]) -> str:
    """Of everything that the precompiled form depends on. libclang itself rejects one whose headers have
    another time or size, so these are what counts here, not the contents."""
    digest = sha256(repr((header, arguments, _OPTIONS, clang.version())).encode())
    for folder, _, names in sorted(os.walk(os.path.dirname(os.path.dirname(header)))):
        for name in sorted(names):
            status = os.stat(os.path.join(folder, name))
            digest.update(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:24]


@cache
def _made(header: str, arguments: tuple[str, ...], path: str) -> bool:
    """Has the precompiled form written, which is tried once. Whether it is there then.

    libclang ends its process where a disk is full, so that is another one, in a folder of its own: whatever it leaves
    there goes with the folder.
    """
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_PREFIX, suffix=".new", dir=folder) as inside:
            made = os.path.join(inside, "made.pch")
            if not _is_written(precompiling.Order(sys.path, header, arguments, _OPTIONS, made), inside):
                return False
            os.replace(made, path)
        _forget_old(folder)
    except OSError:
        return False
    return True


def _is_written(order: precompiling.Order, folder: str) -> bool:
    # Our own Python and our own file, without a look at the environment or at the current folder.
    command = [sys.executable, "-I", "-S", precompiling.__file__]
    try:
        done = subprocess.run(  # noqa: S603
            command, input=json.dumps(order).encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=folder, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _forget_old(folder: str) -> None:
    """Removes what earlier versions and other headers have left behind, and processes that were ended; what is still
    in use is made again."""
    oldest = time.time() - _KEPT_FOR
    for entry in os.scandir(folder):
        with suppress(OSError):
            if entry.name.startswith(_PREFIX) and entry.stat(follow_symlinks=False).st_mtime < oldest:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)
