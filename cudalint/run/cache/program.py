"""What tells one program from another: this package, the rules and the libraries that results come from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec

from cudalint import __version__
from cudalint.catalogue import BUILT_IN
from cudalint.registry import rule_packages
from cudalint.system.disk.recorder import digest

_LIBRARIES = ("libclang", "numpy", "networkx", "msgspec")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_VARIABLES = (
    "CUDALINT_WITHOUT", "CUDA_PATH", "CUDA_HOME", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
    "CUDALINT_LIBCLANG",
)  # fmt: skip
"""Of the environment: what the analysis and libclang look at."""


@cache
def fingerprint() -> bytes:
    """Another one for any other program: its files count with their sizes and times."""
    said = [__version__, sys.version, sys.platform, *(f"{name} {_version(name)}" for name in _LIBRARIES)]
    folders = dict.fromkeys((_PACKAGE, *_rule_folders()))
    files = sorted(line for folder in folders for line in _files(folder))
    return digest("\n".join((*said, *files)).encode("utf-8", "surrogateescape"))


def surroundings() -> tuple[str, ...]:
    """Where the program runs: paths are counted from there, and some variables have a say."""
    return (os.getcwd(), *(f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ))


def _version(library: str) -> str:
    """What an installation says of itself, unread: the version is part of that, and takes longer to find in it."""
    try:
        return distribution(library).read_text("METADATA") or version(library)
    except PackageNotFoundError:
        return ""


def _rule_folders() -> Iterator[str]:
    """Of all of a package, since its rules may use what stands beside them. What built-in ones use is this package; in
    a clone, which they stand in, there is much more."""
    for package in rule_packages():
        for name in dict.fromkeys((package, package.partition(".")[0] if package != BUILT_IN else package)):
            spec = find_spec(name)
            if spec is not None:
                yield from spec.submodule_search_locations or ([spec.origin] if spec.origin else [])


def _files(folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except NotADirectoryError:
        yield _stamp(folder)
        return
    except OSError:
        return
    for entry in entries:
        if not entry.is_dir():
            yield _stamp(entry)
        elif not entry.is_symlink() and entry.name != "__pycache__" and not entry.name.startswith("."):
            yield from _files(entry.path)


def _stamp(file: str | os.DirEntry[str]) -> str:
    path = os.fspath(file)
    try:
        status = file.stat() if isinstance(file, os.DirEntry) else os.stat(file)
    except OSError:
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns}"
