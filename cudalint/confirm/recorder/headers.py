"""Where CUPTI is on this machine: in a toolkit, or in the wheels that come with frameworks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.system.disk.tools import tool

_HEADERS: Final = ("cupti.h", "cuda.h")
_LIBRARY: Final = regex(r"libcupti\.so(?:\.(\d{1,4}))?")
_OF_TOOLKITS: Final = (
    "extras/CUPTI/include", "include", "targets/x86_64-linux/include", "targets/sbsa-linux/include",
    "extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
)  # fmt: skip
"""Folders of a toolkit, in the order in which they are looked through."""
_SYSTEM: Final = ("/usr/local", "/opt")
_MOST_FOLDERS: Final = 1000
"""Of those that a folder has, such are looked at."""


class Cupti(Struct, frozen=True):
    """What it takes to build against CUPTI."""

    folders: tuple[str, ...]
    """With the headers."""
    library: str


def find_cupti() -> Cupti | None:
    """The one of the toolkit that the user names or has in PATH, else of those that the system has, else that of
    wheels."""
    for folders in (*map(_in_toolkit, _toolkits()), *_in_wheels()):
        found = _cupti_of(folders)
        if found is not None:
            return found
    return None


def _cupti_of(folders: Sequence[str]) -> Cupti | None:
    headers = [next((own for own in folders if os.path.isfile(os.path.join(own, name))), None) for name in _HEADERS]
    library = next(filter(None, map(_library_in, folders)), None)
    if None in headers or library is None:
        return None
    with_headers = [own for own in folders if os.path.basename(own) == "include"]
    return Cupti(tuple(with_headers), library)


def _library_in(folder: str) -> str | None:
    """The name without a number where it is there: it leads to the version that belongs to the headers."""
    found = [match for name in _names_in(folder) if (match := _LIBRARY.fullmatch(name))]
    best = min(found, key=lambda match: (match[1] is not None, -int(match[1] or 0)), default=None)
    return os.path.join(folder, best[0]) if best is not None else None


def _toolkits() -> Iterator[str]:
    yield from (home for name in ("CUDA_HOME", "CUDA_PATH") if (home := os.environ.get(name)) and os.path.isabs(home))
    nvcc = tool("nvcc")
    if nvcc is not None:
        yield os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    for folder in _SYSTEM:
        yield os.path.join(folder, "cuda")
        names = [name for name in _names_in(folder) if re.fullmatch(r"cuda-\d{1,4}(\.\d{1,4})?", name)]
        numbers = {name: tuple(map(int, name.removeprefix("cuda-").split("."))) for name in names}
        yield from (os.path.join(folder, name) for name in sorted(names, key=numbers.__getitem__, reverse=True))
    if (conda := os.environ.get("CONDA_PREFIX")) and os.path.isabs(conda):
        yield conda


def _in_toolkit(home: str) -> list[str]:
    return [folder for part in _OF_TOOLKITS if os.path.isdir(folder := os.path.join(home, part))]


def _in_wheels() -> Iterator[list[str]]:
    """For each place where packages are installed, those of NVIDIA; from version 13 on they share a folder."""
    for site in _sites():
        parts = [os.path.join(site, "nvidia", name) for name in _names_in(os.path.join(site, "nvidia"))]
        together = sorted((own for own in parts if re.fullmatch(r"cu\d{1,3}", os.path.basename(own))), reverse=True)
        for home in together:
            yield _in_toolkit(home)
        yield [folder for home in sorted(parts) if home not in together for folder in _in_toolkit(home)]


def _sites() -> Iterator[str]:
    """Where this program's packages are, and those of the environment that it is run in."""
    found = [path for path in sys.path if os.path.isabs(path)]
    homes = [os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX")]
    python = tool("python3")
    if python is not None:
        homes.append(os.path.dirname(os.path.dirname(python)))
    for home in homes:
        if home and os.path.isabs(home):
            versions = (name for name in _names_in(os.path.join(home, "lib")) if name.startswith("python3"))
            found += [os.path.join(home, "lib", name, "site-packages") for name in versions]
    return iter(dict.fromkeys(found))


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))[:_MOST_FOLDERS]
    except OSError:
        return []
