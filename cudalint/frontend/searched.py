"""What a file includes: where libclang will look for it, where it has looked, and what it has read.

libclang opens files itself and says only which it has found. What it would find instead if some further file were there
follows from the names that are included and the folders that are searched: all pairs of them are asked for, which is at
least what it has asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from clang.cindex import TranslationUnit

from cudalint.frontend import inclusions
from cudalint.frontend.conditions import may_ask_for_macros
from cudalint.frontend.flags import HEADERS_ROOT
from cudalint.frontend.inclusions import Included
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.arguments import as_path
from cudalint.system.disk.border import Border
from cudalint.system.disk.folders import without_detours
from cudalint.system.disk.regular import LARGEST, is_too_large, read_regular

_FOLDER_OPTIONS: Final = ("-isystem", "-idirafter", "-iquote", "-I")
_MOST_FOLLOWED: Final = 10_000
"""Files that are looked into before a parse; further ones are not read."""
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
            for each in inclusions.included_in(texts[path]) if path in texts else _text_of(path).included:
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
        self._looked_at: set[str] = set()
        """As they were called: those of which it is known whether they may be opened."""
        self._missing: list[str] = []
        """The names that the first file includes and no folder has."""
        self._within: list[str] = []
        self._asked_for: set[str] = set()
        """The names that something asks for (`__has_include`)."""
        self.may_ask = False
        """Whether something may ask for macros: with `#error`, or where macros make code of what they are given."""
        self.allowed: dict[str, str] = {}
        """What may be opened: the absolute path as clang makes it, and where that leads."""
        self.refused: dict[str, tuple[str, int, str]] = {}
        """What may not be read, by its path as clang has it: which file includes it, in which line, and why not."""

    def follow(self, path: str, text: bytes, macros: Iterable[str] = ()) -> None:
        """Raises nothing: what can't be read includes nothing. `macros` are those that options define."""
        waiting = [(path, _looked_into(text))]
        texts: dict[str, _Text] = {}
        while waiting and len(self._seen) < _MOST_FOLLOWED:
            at, here = waiting.pop()
            for each in (*here.included, *here.perhaps):
                places = self._places(at, each)
                found = next(iter(places), None)
                for place in places:
                    self._allow(place)
                if not each.is_needed:
                    self._asked_for.add(each.name)
                if found is None:
                    if each.is_needed:
                        (self._missing if at == path else self._within).append(each.name)
                elif not self._refuses(found, at, each.line) and found not in self._paths:
                    self._paths.add(found)
                    problem = self._problem_of(found)
                    if problem is not None and each in here.included:
                        self.refused[found] = (at, each.line, f"it {problem}")
                    elif problem is None and self._is_new(found) and self._is_own(found):
                        waiting.append((without_detours(found), _text_of(found)))
            texts[at] = here
            self.may_ask = self.may_ask or here.may_ask
        for at, _ in waiting:
            # What it includes was not looked at, so clang must not look either.
            self.refused.setdefault(at, (path, 1, f"more than {_MOST_FOLLOWED} files are included"))
        computed = [at for at, here in texts.items() if here.is_computed]
        if computed:
            named = [*inclusions.own_words(macros), *inclusions.named_by_macros(text)]
            named += (name for at in texts if at != path for name in _named_by(at))
            for name in list(dict.fromkeys(named))[:_MOST_FOLLOWED]:
                for at in computed:
                    for place in self._places(at, Included(name, True, 1)):
                        if not self._refuses(place, at, 1):
                            self._allow(place)

    @property
    def misses_something(self) -> bool:
        """Whether anything is included that no folder has, whatever conditions there are, but for what the project's
        headers ask for first."""
        return bool(self._missing) or not self._asked_for.issuperset(self._within)

    def _refuses(self, path: str, at: str, line: int) -> bool:
        """Whether a path leads to what is no file, or too large. As all that may not be read, it is refused by each of
        its names: clang opens a path that it has not met before it sees which file it is."""
        why = _special(path)
        if why is not None:
            self.refused.setdefault(path, (at, line, why))
        return why is not None

    def _is_new(self, path: str) -> bool:
        """Whether a file has not been met, by whatever way: with `../` in their names, headers that include each other
        have ever longer ones."""
        file = path if path.startswith(_BUNDLED) else disk.resolved(path)
        if file in self._seen:
            return False
        self._seen.add(file)
        return True

    def _is_own(self, path: str) -> bool:
        return not path.startswith(_BUNDLED) and self._border.is_own(path)

    def force(self, path: str, names: Iterable[str]) -> None:
        """Looks at what is included in front of the first file, which is searched for from the current folder on."""
        for name in names:
            self.meet(path, 1, os.path.join(os.curdir, "options"), Included(name, True, 1))

    def meet(self, path: str, line: int, at: str, included: Included) -> bool:
        """Looks at what a line is seen to include, and at what that includes in turn. Whether anything was there, to be
        read or not, that was not met before."""
        known = len(self.allowed) + len(self.refused)
        for found in self._places(at, included):
            if not self._refuses(found, path, line):
                problem = self._problem_of(found)
                if problem is not None:
                    self.refused.setdefault(found, (path, line, f"it {problem}"))
                    continue
                self._allow(found)
                if self._is_own(found):
                    further = IncludeSearch(self._folders, self._border)
                    further.follow(found, _bytes_of(found))
                    self.refused = further.refused | self.refused
                    self.allowed |= further.allowed
        return len(self.allowed) + len(self.refused) > known

    def _allow(self, path: str) -> None:
        """A path that leads nowhere else than a project's file may."""
        if path.startswith(_BUNDLED) or path in self._looked_at:
            return
        self._looked_at.add(path)
        if _special(path) is None and self._border.problem_of(path) is None:
            self.allowed.setdefault(os.path.abspath(path), disk.resolved(path))

    def _places(self, at: str, included: Included) -> list[str]:
        """Where something of that name is, in the order in which it is looked for."""
        return [path for path in self._candidates(at, included) if disk.kind_of(path) in ("file", "other")]

    def _candidates(self, at: str, included: Included) -> Iterator[str]:
        folders = (os.path.dirname(at), *self._folders) if included.is_quoted else self._folders
        return (os.path.join(as_path(folder or os.curdir), included.name) for folder in folders)

    def _problem_of(self, path: str) -> str | None:
        return None if path.startswith(_BUNDLED) else self._border.problem_of(path)


class _Text(NamedTuple):
    """What a text has to say of others."""

    included: tuple[Included, ...] = ()
    perhaps: tuple[Included, ...] = ()
    is_computed: bool = False
    """Whether macros make a name that is included."""
    may_ask: bool = False
    """Whether it may ask for macros."""


@disk.remembered(4096)
def _text_of(path: str) -> _Text:
    try:
        return _looked_into(read_regular(path))
    except OSError:
        return _Text()


def _bytes_of(path: str) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""


@disk.remembered(4096)
def _named_by(path: str) -> tuple[str, ...]:
    try:
        return tuple(inclusions.named_by_macros(read_regular(path)))
    except OSError:
        return ()


def _looked_into(text: bytes) -> _Text:
    included = tuple(inclusions.included_in(text))
    perhaps, is_computed = inclusions.perhaps_included_in(text)
    known = {each.name for each in included}
    perhaps = tuple(each for each in perhaps if each.name not in known)
    return _Text(included, perhaps, is_computed, may_ask_for_macros(text))


def _special(path: str) -> str | None:
    """Why no file is read whatever project it is of."""
    if disk.kind_of(path) == "other":
        return "it is a pipe or a device"
    if path.startswith(_BUNDLED) or not is_too_large(path):
        return None
    return f"it is larger than {LARGEST >> 20} MB"


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
