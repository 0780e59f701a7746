"""A precompiled form of the prelude, kept in the user's cache folder.

Parsing the prelude costs some 20 ms, loading its precompiled form 1 ms. The cache is only ever an
optimisation: where it cannot be written, the prelude is parsed each time.
"""

from __future__ import annotations

import hashlib
import os
import time
from functools import cache
from typing import Final

from clang.cindex import Diagnostic, TranslationUnit, TranslationUnitLoadError, TranslationUnitSaveError

from cudalint.disk.cache_folder import cache_folder
from cudalint.disk.replacing import replacing
from cudalint.frontend import clang

_KEPT_FOR: Final = 30 * 24 * 3600
"""Seconds."""
_FOR_SERIALIZATION: Final = 0x10
_OPTIONS: Final[int] = TranslationUnit.PARSE_INCOMPLETE | _FOR_SERIALIZATION


@cache
def precompiled(header: str, arguments: tuple[str, ...]) -> str | None:
    """The precompiled form of a bundled header for these arguments, made on first use; None without a cache.

    A changed header, other arguments or another libclang give another file name, so nothing is ever stale.
    """
    folder = cache_folder()
    if folder is None:
        return None
    path = os.path.join(folder, f"prelude-{_fingerprint(header, arguments)}.pch")
    if not os.path.exists(path) and not _build(header, arguments, path):
        return None
    return path


def _fingerprint(header: str, arguments: tuple[str, ...]) -> str:
    """Of everything that the precompiled form depends on. libclang itself rejects one whose headers have
    another time or size, so these are what counts here, not the contents."""
    digest = hashlib.sha256(repr((header, arguments, _OPTIONS, clang.version())).encode())
    for folder, _, names in sorted(os.walk(os.path.dirname(os.path.dirname(header)))):
        for name in sorted(names):
            status = os.stat(os.path.join(folder, name))
            digest.update(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:24]


def _build(header: str, arguments: tuple[str, ...], path: str) -> bool:
    """Writes the precompiled form. Whether it is there then."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        unit = TranslationUnit.from_source(header, list(arguments), None, _OPTIONS, clang.index())
        if any(diagnostic.severity >= Diagnostic.Error for diagnostic in unit.diagnostics):
            return False
        with replacing(path, ".pch") as temporary:
            unit.save(temporary)
        _forget_old(os.path.dirname(path))
    except (OSError, TranslationUnitLoadError, TranslationUnitSaveError):
        return False
    return True


def _forget_old(folder: str) -> None:
    """Removes what earlier versions and other headers have left behind; what is still in use is made again."""
    oldest = time.time() - _KEPT_FOR
    for entry in os.scandir(folder):
        if entry.name.startswith("prelude-") and entry.stat().st_mtime < oldest:
            _remove(entry.path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
