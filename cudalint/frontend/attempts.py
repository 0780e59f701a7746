"""A file as libclang has it, in one setting or another: a setting is what clang is given beyond the file and its
options, and an attempt is what clang makes of the file then.

There are two kinds of attempts. One parses the file. The other only reads it, as a preprocessor does, which tells what
is included, what is not found and what conditions leave out, in a tenth of the time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from clang.cindex import TranslationUnit, TranslationUnitLoadError
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.frontend import clang, cursors, kinds, recovery
from cudalint.frontend.conditions import BuildCondition
from cudalint.frontend.diagnoses import Problem, problems_of
from cudalint.frontend.dialect import as_clang_takes_it, with_constructed_shared, with_template_words
from cudalint.frontend.flags import (
    BUNDLED_ROOT,
    HEADERS_ROOT,
    LIBRARIES_ROOT,
    ParseOptions,
    is_bundled,
    option_flags,
    precompiled_among,
    prelude_flags,
    system_folders,
)
from cudalint.frontend.guesses import Guess
from cudalint.frontend.inclusions import Included
from cudalint.frontend.overlay import overlay_of, readable
from cudalint.frontend.reading import SourceError
from cudalint.frontend.searched import IncludeSearch, note_search
from cudalint.regexes import regex
from cudalint.source.lines import Lines
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.arguments import as_path, paths_in
from cudalint.system.disk.border import Border, border_around
from cudalint.system.disk.folders import small_file, without_detours
from cudalint.system.processes import memory
from cudalint.toolchain.buildfiles.build import BuildMacro

_KEEP_GOING: Final = 0x200
"""Without it libclang hides everything that follows the first missing include."""
_PARSE_OPTIONS: Final = _KEEP_GOING | TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
_READ_OPTIONS: Final = _PARSE_OPTIONS | TranslationUnit.PARSE_SKIP_FUNCTION_BODIES

_WORD: Final = regex(rb"[A-Za-z_]\w*")

_GUESSES: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "guesses.h")
_OPENED: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "opened.h")
"""Headers that exist in memory only."""
_OPEN: Final = b"void _cudalint_read() {\n"
"""All that follows belongs to the body of this function, which clang skips: it is preprocessed and no more."""
_CLOSE: Final = b"\n}\n"

SYSTEM_FOLDERS: Final = ("/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/cuda")


class Setting(Struct, frozen=True):
    """What clang is given beyond the file and the options."""

    folders: tuple[str, ...] = ()
    libraries: bool = False
    """Whether stand-ins for the headers of libraries are found."""
    context: recovery.Context | None = None
    switches: tuple[str, ...] = ()
    """Macros that the file's kernels wait for."""
    conditions: tuple[BuildCondition, ...] = ()
    """Macros that only the build defines, and the file's headers ask for."""
    macros: tuple[BuildMacro, ...] = ()
    """What the project's build files define for the file."""
    defines: tuple[str, ...] = ()
    """What build files define for some file, where names are missing."""
    headers: tuple[str, ...] = ()
    standard: str | None = None
    """Of C++, if the text shows that it needs another one than the options name."""
    guesses: dict[str, Guess] = field(default_factory=dict)
    """For names that nothing declares."""
    respelled: dict[str, bytes] = field(default_factory=dict)
    """Included files of which clang takes the text only as it stands here."""
    refused: tuple[Problem, ...] = ()
    """Includes of what is taken as empty: it is out of the project, or no regular file, and clang would wait for a
    pipe's writer for good."""
    looked_at: tuple[tuple[str, ...], recovery.Context | None] = ((), None)
    """The folders and the context in which such includes were looked for."""


class Attempt(Struct, frozen=True):
    """What clang makes of a file in a setting."""

    path: str
    setting: Setting
    unit: TranslationUnit
    problems: tuple[Problem, ...]
    text: bytes
    """What was parsed, before any other words for what clang does not take."""

    @property
    def errors(self) -> int:
        """How many errors are in the file itself; those elsewhere don't concern its kernels."""
        return sum(problem.path == self.path and problem.is_error for problem in self.problems)

    @property
    def all_errors(self) -> int:
        """How many are in the file and in its own headers, whose templates may be its kernels."""
        return sum(problem.is_error for problem in self.problems)

    @property
    def counted(self) -> tuple[int, int]:
        """Errors in the file itself count first."""
        return self.errors, self.all_errors

    def better_of(self, other: Attempt) -> Attempt:
        """The other one, if it has fewer errors in the file itself."""
        return other if other.errors < self.errors else self

    def included(self) -> Iterator[str]:
        """The paths of the headers that were found."""
        for inclusion in self.unit.get_includes():
            if inclusion.include is not None:
                yield inclusion.include.name

    def read(self, path: str) -> bytes:
        """The text of an included file as clang has it."""
        return cursors.text_in(cursors.from_bindings(self.unit.cursor).unit, path) or b""

    def own_files(self) -> list[str]:
        """The file and the headers of its project."""
        included = self.included()
        headers = [path for path in included if not path.startswith(SYSTEM_FOLDERS) and not is_bundled(path)]
        return list(dict.fromkeys((self.path, *headers)))

    def left_out(self, path: str) -> tuple[tuple[int, int], ...]:
        """The lines of the directives around what conditions leave out of a file."""
        return clang.skipped_ranges(self.unit, path)

    def declared(self) -> frozenset[str]:
        """The names that the file and the headers of its project declare, and the macros that there are; not those that
        were made up, or that clang has made of something that it did not understand."""
        outer = cursors.children_of_kinds(cursors.from_bindings(self.unit.cursor), kinds.NAMING)
        own = [each for each in outer if cursors.spelling(each) not in self.setting.guesses]
        found = (each for cursor in own for each in (cursor, *cursors.descendants(cursor, kinds.NAMING)))
        names = set(map(cursors.spelling, found))
        lines: dict[str, Lines[bytes]] = {self.path: Lines(self.text)}
        for problem in self.problems:
            is_of_declaration = problem.error in ("no-type-specifier", "wrong-type", "other")
            if is_of_declaration and problem.path in lines:
                word = _WORD.match(lines[problem.path].behind(problem.line, problem.column))
                names.discard(word[0].decode() if word else "")
        return frozenset(names)

    def stand_ins(self) -> dict[str, int | str]:
        """The names that were given a number, or a type."""
        return {name: guess.value for name, guess in self.setting.guesses.items() if guess.value is not None}

    def known_types(self) -> frozenset[str]:
        """The undeclared types whose names say what they are (`uint8`)."""
        return frozenset(name for name, guess in self.setting.guesses.items() if guess.is_known)


class _Learned(Struct):
    """What attempts at a file have shown about others to come."""

    crashes: bool = False
    """libclang crashes behind a precompiled header."""
    in_vain: set[tuple[str, bytes]] = field(default_factory=set)
    """Files with other words in them that made nothing better."""
    allowed: dict[str, str] = field(default_factory=dict)
    """What clang may open beside installed headers: absolute paths, and where they lead."""
    overlay: tuple[int, bytes] = (-1, b"")
    """How many that were when it was last written down, and what was written."""


def never() -> bool:
    return False


class Source(Struct, frozen=True):
    """A file with all that any attempt at it needs."""

    path: str
    text: bytes
    options: ParseOptions
    others: Mapping[str, bytes] = field(default_factory=dict)
    """The texts of included files that are not those on disk."""
    is_over: Callable[[], bool] = never
    """Whether the file is not parsed any further."""
    learned: _Learned = field(default_factory=_Learned)

    @property
    def border(self) -> Border:
        """What the file may include: what is of its project, and what the user names."""
        return border_around(self.path).and_also(HEADERS_ROOT, *self._users)

    def macros_said(self) -> set[str]:
        """The macros that the options define or take back."""
        said = {define.partition("=")[0] for define in self.options.defines}
        return said | {word[2:].partition("=")[0] for word in self.options.extra if word.startswith(("-D", "-U"))}

    def text_of(self, path: str) -> bytes:
        """The text of the file, or of one that it includes."""
        if path == self.path:
            return self.text
        same = (data for other, data in self.others.items() if disk.resolved(other) == disk.resolved(path))
        data = next(same, None)
        return small_file(path) if data is None else data

    @property
    def _users(self) -> tuple[str, ...]:
        return (*self.options.users, *((self.options.cuda_path,) if self.options.cuda_path else ()))

    def search(self, folders: Sequence[str] = ()) -> IncludeSearch:
        known = (BUNDLED_ROOT, *self.options.include_dirs, *system_folders(self.options))
        return IncludeSearch((*known, *folders, *paths_in(self.options.extra)), self.border)

    def allow(self, search: IncludeSearch) -> None:
        """Has clang see what a search has found and may be read."""
        self.learned.allowed.update(search.allowed)

    def overlay(self) -> bytes:
        """All that clang can open for this file."""
        allowed = self.learned.allowed
        if self.learned.overlay[0] != len(allowed):
            folders = border_around(self.path).whole_folders(self._users)
            own = {os.path.abspath(self.path): disk.resolved(self.path)}
            self.learned.overlay = len(allowed), overlay_of({**own, **allowed}, (*folders, HEADERS_ROOT))
        return self.learned.overlay[1]

    def by(self, attempt: Attempt, *steps: Callable[[Source, Attempt], Attempt]) -> Attempt:
        """What one step after the other makes of an attempt, for as long as there is time."""
        for step in steps:
            if self.is_over():
                break
            attempt = step(self, attempt)
        return attempt

    def read(self, setting: Setting) -> Attempt:
        """What the preprocessor makes of the file; of the problems those that it finds. Raises: SourceError."""
        setting = self._looked_over(setting)
        unit = self._loaded(setting, is_read=True)
        attempt = Attempt(self.path, setting, unit, problems_of(unit, of_preprocessor=True), self.text)
        further = self._with_unmet(attempt)
        return attempt if further is None else self.read(further)

    def parse(self, setting: Setting) -> Attempt:
        """What clang makes of the file, its text otherwise spelled where that is what clang wants. Raises:
        SourceError."""
        setting = self._looked_over(setting)
        unit = self._loaded(setting)
        attempt = Attempt(self.path, setting, unit, problems_of(unit), self.text)
        further = self._with_unmet(attempt)
        return self._otherwise_spelled(attempt) if further is None else self.parse(further)

    def _looked_over(self, setting: Setting) -> Setting:
        """With what is found in its folders only, or included by its context, and may not be read."""
        looks_at = (setting.folders, setting.context)
        if setting.looked_at == looks_at:
            return setting
        search = self.search(setting.folders)
        search.follow(self.path, self.text, (*self.options.defines, *self.options.extra))
        if setting.context is not None:
            search.follow(self.path, setting.context.text)
        return replace(self._refusing(setting, search), looked_at=looks_at)

    def _refusing(self, setting: Setting, search: IncludeSearch) -> Setting:
        """With what a search has found and may not be read taken as empty; the rest can be opened from now on."""
        self.allow(search)
        found = refused_by(search)
        new = {path: problem for path, problem in found.items() if path not in setting.respelled}
        respelled, refused = {**setting.respelled, **dict.fromkeys(new, b"")}, (*setting.refused, *new.values())
        return replace(setting, respelled=respelled, refused=refused)

    def _with_unmet(self, attempt: Attempt) -> Setting | None:
        """With what clang did not find since nobody had seen that it is included: a macro has named it, or a header
        further on. None where that is nothing."""
        setting, search = attempt.setting, self.search(attempt.setting.folders)
        search.allowed.update(self.learned.allowed)
        missing = [problem for problem in attempt.problems if problem.kind == "missing-include"]
        names = dict.fromkeys((problem.path, problem.line, problem.name) for problem in missing)
        unmet = [search.meet(path, line, path, Included(name, True, line)) for path, line, name in names]
        if not any(unmet):
            return None
        other = self._refusing(setting, search)
        is_new = len(other.respelled) > len(setting.respelled) or self.learned.overlay[0] != len(self.learned.allowed)
        return other if is_new else None

    def _otherwise_spelled(self, attempt: Attempt) -> Attempt:
        """With what nvcc takes and clang does not spelled otherwise, which shows in the errors that clang makes of it:
        headers, which clang reads itself, and words that are wrong in some places only."""
        known = attempt.setting.respelled
        failed = {p.path for p in attempt.problems if p.is_syntax} - {self.path, *known}
        headers = dict(_respelled(sorted(failed), self.text_of))
        words = dict(self._with_other_words(attempt, {**known, **headers}))
        if not words:
            return self.parse(_spelled(attempt.setting, headers)) if headers else attempt
        other = self.parse(_spelled(attempt.setting, {**headers, **words}))
        if other.all_errors < attempt.all_errors:
            return other
        self.learned.in_vain.update(words.items())
        return self.parse(_spelled(attempt.setting, headers)) if headers else attempt

    def _with_other_words(self, attempt: Attempt, respelled: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
        """Files in which members of dependent types are called templates where clang asks for that and nvcc does not,
        and shared variables by another word where clang refuses to have them constructed."""
        lines: dict[str, set[int]] = {}
        shared: dict[str, set[tuple[int, int]]] = {}
        for problem in attempt.problems:
            if problem.is_error and not is_bundled(problem.path):
                if problem.error == "constructed-shared":
                    shared.setdefault(problem.path, set()).add((problem.line, problem.column))
                elif problem.error == "no-template-word":
                    lines.setdefault(problem.path, set()).add(problem.line)
        for path in dict.fromkeys((*lines, *shared)):
            text = respelled.get(path) or self.text_of(path)
            other = with_constructed_shared(text, shared.get(path, ()))
            other = with_template_words(other, lines.get(path, ()))
            if other != text and (path, other) not in self.learned.in_vain:
                yield path, other

    def _loaded(self, setting: Setting, *, is_read: bool = False) -> TranslationUnit:
        try:
            if not self.learned.crashes:
                try:
                    return self._unit(setting, is_read=is_read)
                except TranslationUnitLoadError:
                    if memory.is_exhausted():
                        raise
                # What does that to a file once does it in each parse.
                self.learned.crashes = True
            return self._unit(setting, is_read=is_read, plain=True)
        except TranslationUnitLoadError as error:
            if memory.is_exhausted():
                raise SourceError(f"{self.path}: libclang could not parse it: {memory.out_of_memory()}") from error
            raise SourceError(f"{self.path}: libclang could not parse it") from error

    def _unit(self, setting: Setting, *, is_read: bool, plain: bool = False) -> TranslationUnit:
        """Raises: TranslationUnitLoadError. `plain`: without anything precompiled."""
        options = replace(self.options, std=setting.standard or self.options.std)
        arguments = prelude_flags(options, self.text, plain=plain)
        self.learned.allowed.update({path: path for path in precompiled_among(arguments)})
        own = setting.respelled.get(self.path, self.text)
        unsaved: list[tuple[str, bytes]] = [(self.path, own + _CLOSE if is_read else own), *self._replaced(setting)]
        if is_read:
            arguments += ["-include", _OPENED]
            unsaved.append((_OPENED, _OPEN))
        arguments += option_flags(options)
        if setting.guesses:
            arguments += ["-include", _GUESSES]
            text = "\n".join([guess.declaration for guess in setting.guesses.values()])
            unsaved.append((_GUESSES, text.encode()))
        if setting.context:
            name = setting.context.name
            arguments += ["-include", name]
            unsaved.append((name, setting.context.text))
        macros = [macro.definition for macro in setting.macros]
        asked = [condition.macro for condition in setting.conditions]
        arguments += [f"-D{define}" for define in (*macros, *setting.switches, *asked, *setting.defines)]
        for header in setting.headers:
            bundled = os.path.join(BUNDLED_ROOT, header)
            arguments += ["-include", bundled if disk.is_file(bundled) else as_path(header)]
        # Guessed folders stand behind the bundled headers: `#include <complex.h>` must not find a project's file of
        # that name. So do a toolkit's: the prelude and the real headers would declare everything twice.
        libraries = (LIBRARIES_ROOT,) if setting.libraries else ()
        for folder in (BUNDLED_ROOT, *system_folders(self.options), *setting.folders, *libraries):
            arguments += ["-idirafter", as_path(folder)]
        wanted = _READ_OPTIONS if is_read else _PARSE_OPTIONS
        try:
            with readable(self.overlay()) as overlay:
                given = [*arguments, "-ivfsoverlay", overlay]
                unit = TranslationUnit.from_source(self.path, given, unsaved, wanted, clang.index())
        except OSError as error:
            raise SourceError(f"{self.path}: libclang could not parse it: {error.strerror}") from error
        note_search(unit, arguments, unsaved)
        return unit

    def _replaced(self, setting: Setting) -> Iterator[tuple[str, bytes]]:
        """What is read in place of included files on disk; clang identifies files, not paths."""
        yield from ((path, data) for path, data in setting.respelled.items() if path != self.path)
        done = {disk.resolved(path) for path in setting.respelled}
        yield from ((as_path(path), data) for path, data in self.others.items() if disk.resolved(path) not in done)


def refused_by(search: IncludeSearch) -> dict[str, Problem]:
    """What a search found and may not be read, by path."""
    return {path: refused_include(at, line, path, why) for path, (at, line, why) in search.refused.items()}


def refused_include(at: str, line: int, path: str, why: str) -> Problem:
    name = f"{without_detours(path)} ({why})"
    message = f"'{name}' is not read, and taken as empty"
    return Problem(at, line, 1, message, "missing-include", name=name, is_refused=True)


def _spelled(setting: Setting, texts: Mapping[str, bytes]) -> Setting:
    return replace(setting, respelled={**setting.respelled, **texts})


def _respelled(paths: Iterable[str], text_of: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Those of the files that clang takes otherwise spelled, with the text that it takes."""
    for path in paths:
        text = text_of(path)
        respelled = as_clang_takes_it(text)
        if respelled != text:
            yield path, respelled
