"""Where libclang has looked for what a file includes, and what it has read.

libclang opens files itself and says only which it has found. What it would find instead if some further file were there
follows from the names that are included and the folders that are searched: all pairs of them are asked for, which is at
least what it has asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from clang.cindex import TranslationUnit

from cudalint.frontend.flags import HEADERS_ROOT
from cudalint.program import disk
from cudalint.program.regular import read_regular

_NAME: Final = re.compile(
    rb'^[ \t]*#[ \t]*(?:include|include_next|import)\b[^"<\n]*["<]([^">\n]+)'
    rb'|\b__has_include(?:_next)?[ \t]*\([ \t]*["<]([^">\n]+)',
    re.MULTILINE,
)
_FOLDER_OPTIONS: Final = ("-isystem", "-idirafter", "-iquote", "-I")
_BUNDLED: Final = os.path.join(HEADERS_ROOT, "")


def note_search(unit: TranslationUnit, arguments: Sequence[str], unsaved: Iterable[tuple[str, bytes]]) -> None:
    """Notes every file that was read for a unit, and every path where another one would have been found before it."""
    if not disk.is_noting():
        return
    texts = dict(unsaved)
    found = [each.include.name for each in unit.get_includes() if each.include is not None]
    own = [path for path in dict.fromkeys(found) if not path.startswith(_BUNDLED)]
    folders = dict.fromkeys(_folders(arguments))
    names = dict.fromkeys((*_below(found), *_forced(arguments), *_from(folders, own)))
    for name in _forced(arguments):
        disk.kind_of(name)
    for path in (*texts, *(path for path in own if path not in texts)):
        if not path.startswith(_BUNDLED):
            for name in _names_in(texts[path] if path in texts else _read(path)):
                disk.kind_of(os.path.join(os.path.dirname(path), name))
                names[name] = None
    for folder in folders:
        for name in names:
            disk.kind_of(os.path.join(folder, name))


def _read(path: str) -> bytes:
    with suppress(OSError):
        return read_regular(path)
    return b""


def _names_in(text: bytes) -> Iterator[str]:
    for match in _NAME.finditer(text):
        yield os.fsdecode(match[1] or match[2])


def _from(folders: Iterable[str], found: Iterable[str]) -> Iterator[str]:
    """What was found as it is called from a folder on: a macro may have named it."""
    starts = [os.path.join(folder, "") for folder in folders]
    for path in found:
        yield from (path.removeprefix(start) for start in starts if path.startswith(start))


def _below(found: Iterable[str]) -> Iterator[str]:
    """The names of the bundled headers that were read."""
    for path in found:
        if path.startswith(_BUNDLED):
            yield path.removeprefix(_BUNDLED).partition(os.sep)[2]


def _folders(arguments: Iterable[str]) -> Iterator[str]:
    """The folders that are searched, but for those of this package."""
    for option, value in _valued(arguments, _FOLDER_OPTIONS):
        if option and not os.path.join(value, "").startswith(_BUNDLED):
            yield value


def _forced(arguments: Iterable[str]) -> Iterator[str]:
    for _, value in _valued(arguments, ("-include",)):
        if not value.startswith(_BUNDLED):
            yield value


def _valued(arguments: Iterable[str], options: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The options among the arguments, each with its value, which may follow it at once or as the next one."""
    rest = iter(arguments)
    for argument in rest:
        option = next((option for option in options if argument.startswith(option)), None)
        if option is None or argument.startswith("-include-pch"):
            continue
        yield option, argument.removeprefix(option) or next(rest, "")
