"""What clang can open at all: files that were looked at before, and the folders of installed programs.

However an include is spelled, clang looks for what it names in a file system of its own, made of no more than that
(`-ivfsoverlay`). What is not in it is not there for clang, and so neither opened nor asked for.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from cudalint.regexes import regex

_OPENED: Final = "/proc/self/fd"
_UNPRINTABLE: Final = regex(r'[^ !#-\[\]-~]')
_HEAD: Final = (
    f'{{"version":0,"case-sensitive":"{str(sys.platform == "linux").lower()}","use-external-names":"false",'
    '"redirecting-with":"redirect-only","roots":['
)


def overlay_of(files: Mapping[str, str], folders: Iterable[str]) -> bytes:
    """A file system with files, absolute and by where they lie without links, and with whole folders."""
    by_folder: dict[str, list[tuple[str, str]]] = {}
    for path, real in files.items():
        folder, name = os.path.split(path)
        if name and is_text(path) and is_text(real):
            by_folder.setdefault(folder, []).append((name, real))
    roots = [
        f'{{"type":"directory","name":{_quoted(folder)},"contents":[{",".join(map(_file, names))}]}}'
        for folder, names in by_folder.items()
    ]
    roots += [
        f'{{"type":"directory-remap","name":{_quoted(folder)},"external-contents":{_quoted(folder)}}}'
        for folder in folders
        if is_text(folder)
    ]
    return f"{_HEAD}{','.join(roots)}]}}".encode("ascii")


def _file(entry: tuple[str, str]) -> str:
    name, real = entry
    return f'{{"type":"file","name":{_quoted(name)},"external-contents":{_quoted(real)}}}'


def is_text(path: str) -> bool:
    """Whether a path is UTF-8; in a description of a file system no others can be written."""
    return path.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in path)


def _quoted(text: str) -> str:
    """As YAML has it, in ASCII."""
    return '"' + _UNPRINTABLE.sub(lambda match: f"\\U{ord(match[0]):08x}", text) + '"'


@contextmanager
def readable(data: bytes) -> Iterator[str]:
    """A path that clang can read it from, for as long as the block goes on. Raises OSError."""
    if sys.platform == "linux" and os.path.isdir(_OPENED):
        with open(os.memfd_create("overlay", os.MFD_CLOEXEC), "wb") as file:
            file.write(data)
            file.flush()
            yield f"{_OPENED}/{file.fileno()}"
        return
    handle, path = tempfile.mkstemp(prefix="cudalint-", suffix=".yaml")
    try:
        with open(handle, "wb") as file:
            file.write(data)
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)
