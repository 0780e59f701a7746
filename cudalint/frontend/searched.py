"""What a file includes: where libclang will look for it, where it has looked, and what it has read.

libclang opens files itself and says only which it has found. What it would find instead if some further file were there
follows from the names that are included and the folders that are searched: all pairs of them are asked for, which is at
least what it has asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from clang.cindex import TranslationUnit

from cudalint.disk import recorder as disk
from cudalint.disk.arguments import as_path
from cudalint.disk.border import Border
from cudalint.disk.folders import without_detours
from cudalint.disk.regular import read_regular
from cudalint.frontend.flags import HEADERS_ROOT

_NAME: Final = re.compile(
    rb'^[ \t]*#[ \t]*(?:include|include_next|import)\b[^"<\n]*(["<])([^">\n]+)'
    rb'|\b__has_include(?:_next)?[ \t]*\([ \t]*(["<])([^">\n]+)',
    re.MULTILINE,
)
_FOLDER_OPTIONS: Final = ("-isystem", "-idirafter", "-iquote", "-I")
_MOST_FOLLOWED: Final = 2_000
"""Files that are looked into before a parse."""
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
            for each in _included_in(texts[path]) if path in texts else _included_by(path):
                disk.kind_of(os.path.join(os.path.dirname(path), each.name))
                names[each.name] = None
    for folder in folders:
        for name in names:
            disk.kind_of(os.path.join(folder, name))


class IncludeSearch:
    """Looks for what a file includes and what that includes in turn, before clang opens any of it.

    A file of the project, whose text is looked into, may include what is no file: clang would wait for the writer of a
    pipe, and read a device without an end.
    """

    def __init__(self, folders: Sequence[str], border: Border) -> None:
        self._folders = folders
        self._border = border
        self._seen: set[str] = set()
        """The files that were met, without links and detours."""
        self._paths: set[str] = set()
        """As they were called."""
        self.missing: list[str] = []
        """The names that the first file includes and no folder has."""
        self.refused: dict[str, tuple[str, int, str]] = {}
        """What may not be read, by its path as clang has it: which file includes it, in which line, and why not."""

    def follow(self, path: str, text: bytes) -> None:
        """Raises nothing: what can't be read includes nothing."""
        waiting = [(path, _included_in(text))]
        while waiting and len(self._seen) < _MOST_FOLLOWED:
            at, names = waiting.pop()
            for each in names:
                found = self._find(at, each)
                if found is None:
                    if at == path and not each.is_asked_for:
                        self.missing.append(each.name)
                elif self._is_new(found):
                    why = self._problem_of(found)
                    if why is not None:
                        self.refused[found] = (at, each.line, why)
                    elif not found.startswith(_BUNDLED) and self._border.is_own(found):
                        waiting.append((without_detours(found), _included_by(found)))

    def _is_new(self, path: str) -> bool:
        """Whether a file has not been met, by whatever way: with `../` in their names, headers that include each other
        have ever longer ones."""
        if path in self._paths:
            return False
        self._paths.add(path)
        file = path if path.startswith(_BUNDLED) else disk.resolved(path)
        if file in self._seen:
            return False
        self._seen.add(file)
        return True

    def force(self, path: str, names: Iterable[str]) -> None:
        """Looks at what is included in front of the first file."""
        for name in names:
            found = self._find(path, _Included(name, True, 1, True))
            why = None if found is None else self._problem_of(found)
            if found is not None and why is not None:
                self.refused[found] = (path, 1, why)

    def _find(self, at: str, included: _Included) -> str | None:
        folders = (os.path.dirname(at), *self._folders) if included.is_quoted else self._folders
        paths = (os.path.join(as_path(folder or os.curdir), included.name) for folder in folders)
        return next((path for path in paths if disk.kind_of(path) in ("file", "other")), None)

    def _problem_of(self, path: str) -> str | None:
        if disk.kind_of(path) == "other":
            return "it is a pipe or a device"
        problem = None if path.startswith(_BUNDLED) else self._border.problem_of(path)
        return None if problem is None else f"it {problem}"


class _Included(NamedTuple):
    name: str
    is_quoted: bool
    line: int
    is_asked_for: bool
    """Whether it is only asked whether there is such a file."""


@disk.remembered(4096)
def _included_by(path: str) -> tuple[_Included, ...]:
    try:
        return _included_in(read_regular(path))
    except OSError:
        return ()


def _included_in(text: bytes) -> tuple[_Included, ...]:
    found: list[_Included] = []
    line, at = 1, 0
    for match in _NAME.finditer(text):
        line, at = line + text.count(b"\n", at, match.start()), match.start()
        name = match[2] or match[4]
        found.append(_Included(os.fsdecode(name), (match[1] or match[3]) == b'"', line, match[2] is None))
    return tuple(found)


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
