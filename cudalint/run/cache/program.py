"""What tells one program from another: this package, the rules and the libraries that results come from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from cudalint import __version__
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
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _rule_folders() -> Iterator[str]:
    """Of all of a package, since its rules may use what stands beside them."""
    for package in rule_packages():
        for name in (package, package.partition(".")[0]):
            spec = find_spec(name)
            if spec is not None:
                yield from spec.submodule_search_locations or ([spec.origin] if spec.origin else [])


def _files(folder: str) -> Iterator[str]:
    if os.path.isfile(folder):
        yield _stamp(folder)
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        yield from (_stamp(os.path.join(parent, name)) for name in names)


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns}"
