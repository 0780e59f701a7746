"""From a path to libclang's translation unit: the search for includes, and for what else the file takes from elsewhere.

No toolkit and no system header is needed: declarations of the CUDA and standard interfaces come with
this package. What is missing all the same costs only what depends on it; it is reported as a
problem, never as a failure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from clang.cindex import TranslationUnit, TranslationUnitLoadError
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.buildfiles.build import BuildMacro
from cudalint.buildfiles.reading import build_of
from cudalint.disk import recorder as disk
from cudalint.disk.arguments import as_path, paths_in
from cudalint.disk.border import Border, border_around
from cudalint.disk.folders import small_file, without_detours
from cudalint.frontend import clang, cursors, recovery
from cudalint.frontend.conditions import BuildCondition, conditions_for, dispatches_left_out
from cudalint.frontend.diagnoses import Problem, nested_launches, problems_of
from cudalint.frontend.dialect import as_clang_takes_it, with_constructed_shared, with_template_words
from cudalint.frontend.dispatches import is_dispatch
from cudalint.frontend.flags import (
    BUNDLED_ROOT,
    HEADERS_ROOT,
    LIBRARIES_ROOT,
    ParseOptions,
    option_flags,
    prelude_flags,
    system_folders,
)
from cudalint.frontend.foresight import foreseen
from cudalint.frontend.guesses import Guess, header_of
from cudalint.frontend.inclusions import included_in
from cudalint.frontend.invalid import Sight, with_certainty
from cudalint.frontend.problems import missing_headers, missing_names, numbers_needed
from cudalint.frontend.python.located import PlaceMap
from cudalint.frontend.reading import SourceError, checked_text, read_source
from cudalint.frontend.searched import IncludeSearch, note_search
from cudalint.processes import memory

_KEEP_GOING: Final = 0x200
"""Without it libclang hides everything that follows the first missing include."""
_PARSE_OPTIONS: Final = _KEEP_GOING | TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD

_SWITCH_ROUNDS: Final = 3
"""One macro may stand within another one."""
_CONDITION_ROUNDS: Final = 3
"""What one macro of the build brings in may ask for another one."""
_SEARCH_ROUNDS: Final = 4
"""A header that was found may include others from a further folder."""

_GUESSES: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "guesses.h")
"""A header that exists in memory only."""

_GUESS_ROUNDS: Final = 6
"""A declared name may uncover the next one of the same statement."""

_SYSTEM_FOLDERS: Final = ("/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/cuda")
_OF_LIBRARIES: Final = re.compile(r"[/\\](?:ATen|c10|opencv2)[/\\]")
"""The folders without which no part of PyTorch or OpenCV is there."""

_NEWER: Final = "c++20"
_NEWER_WORDS: Final = frozenset({"concept", "consteval", "constinit", "requires"})
"""Which no older standard has."""

_NOT_DECLARED: Final = frozenset({"undeclared", "unknown-type", "no-type", "not-in-namespace"})
_UNBALANCED: Final = frozenset(
    {
        "misplaced-function", "extra-brace", "expected-expression", "expected-body", "open-class", "no-type-specifier",
        "expected-bracket", "expected-token",
    }
)  # fmt: skip
"""Errors that may come of a brace, a bracket or a quote that is missing."""


class ParsedFile(Struct):
    """A parsed file with what went wrong in it."""

    path: str
    """As clang has it."""
    tu: TranslationUnit
    problems: tuple[Problem, ...]
    skipped_ranges: tuple[tuple[int, int], ...]
    """First and last line of the pieces of this file that preprocessor conditions leave out."""
    bundled_root: str = HEADERS_ROOT
    system_folders: tuple[str, ...] = ()
    """Folders of a toolkit or of standard headers that the options name."""
    places: PlaceMap | None = None
    """Where the text stands in a file that holds more than CUDA."""
    context: recovery.Context | None = None
    """The start of the file that includes this one, if this is a fragment that was parsed behind it."""
    nested_launches: tuple[Problem, ...] = ()
    """Where kernels launch others, which clang leaves out of the bodies that it hands over."""
    stand_ins: dict[str, int | str] = field(default_factory=dict)
    """Numbers and types that were made up for names that nothing declares."""
    told: frozenset[str] = frozenset()
    """Of types that nothing declares, those of which the name says how they are laid out."""
    given: str | None = None
    """The path as the user knows it."""
    instances: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """The arguments of what was made of templates that nothing instantiates, and the names of those that nothing says,
    by the USRs of references to them."""
    source: bytes = b""
    """The text, as it was read."""
    again: Callable[[Sequence[str]], tuple[ParsedFile, frozenset[int]]] | None = None
    """Parses the same in the same way, with more lines behind it, and tells which of these have errors, or what clang
    makes for them; None where that can't be had."""

    def shown(self, path: str) -> str:
        """A file's path as the user knows it, given clang's: the same for a header whatever file includes it."""
        known = self.as_given(self.path)
        if path == self.path:
            return known
        if self.context and path == self.context.name:
            return self.includer or path
        here = os.path.join(os.curdir, "")
        if path.startswith(here) and not known.startswith(here):
            # It was found in the folder where the user is.
            path = path.removeprefix(here)
        path = without_detours(path)
        if self.context and os.path.isabs(path) and not os.path.isabs(self.path):
            # The includer, which has an absolute path, includes it.
            return os.path.relpath(path)
        return path

    def as_given(self, path: str) -> str:
        """The file's own path as the user knows it, and any other one as clang has it."""
        return self.given if self.given is not None and path == self.path else path

    @property
    def includer(self) -> str | None:
        """The path of the file that includes this fragment."""
        if self.context is None:
            return None
        return self.context.path if os.path.isabs(self.path) else os.path.relpath(self.context.path)

    def included_before(self) -> frozenset[str]:
        """The headers that only the file includes behind whose start this fragment was parsed."""
        if self.context is None:
            return frozenset()
        included = [each.include.name for each in self.tu.get_includes() if each.include is not None]
        own = {self.path}
        waiting = [self.source]
        while waiting:
            # One that was read before is not read again, so that clang says nothing of it.
            names = {os.path.basename(each.name) for each in included_in(waiting.pop())}
            new = {path for path in included if os.path.basename(path) in names} - own
            own |= new
            waiting += [small_file(path) for path in new if self.is_user(path)]
        return frozenset(self.shown(path) for path in included if path not in own)

    def left_out(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """What conditions leave out of this file and of the user's headers, by path, where that is anything."""
        found = {self.shown(self.path): self.skipped_ranges}
        for inclusion in self.tu.get_includes():
            path = inclusion.include.name if inclusion.include is not None else ""
            if path and self.is_user(path):
                found.setdefault(self.shown(path), clang.skipped_ranges(self.tu, path))
        return {path: ranges for path, ranges in found.items() if ranges}

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """The user's files with their paths as they are shown: this one, and those that it includes."""
        included = (inclusion.include for inclusion in self.tu.get_includes())
        names = [file.name for file in included if file is not None and self.is_user(file.name)]
        unit = cursors.from_bindings(self.tu.cursor).unit
        for name in dict.fromkeys([self.path, *names]):
            handle = cursors.file_named(unit, name)
            if handle:
                yield self.shown(name), cursors.file_contents(unit, handle)

    def is_bundled(self, path: str) -> bool:
        """Whether a path is one of the headers that come with this package."""
        return path.startswith(os.path.join(self.bundled_root, ""))

    def is_user(self, path: str) -> bool:
        """Whether a path is the linted project's own: no bundled, toolkit or system header."""
        if self.is_bundled(path) or path.startswith(_SYSTEM_FOLDERS):
            return False
        return not path.startswith(tuple([os.path.join(folder, "") for folder in self.system_folders]))


def _never() -> bool:
    return False


def parse_file(
    path: str, options: ParseOptions, source: bytes | None = None, places: PlaceMap | None = None,
    unsaved: Mapping[str, bytes] | None = None, is_over: Callable[[], bool] = _never,
) -> ParsedFile:  # fmt: skip
    """Parses a file, or `source` in its place; raises SourceError where that is not possible at all.

    `places` says where the source stands in the file, if that holds more than the source. `unsaved` are the texts of
    other files, by their paths, where those on disk don't count. Once there is no more time (`is_over`), what was
    understood of the file by then is what there is.
    """
    text = checked_text(path, read_source(path) if source is None else source)
    given, path = path, as_path(path)
    others = {other: data for other, data in (unsaved or {}).items() if other != given and disk.is_file(other)}
    parser = _Parser(path, text, options, others, is_over=is_over)
    try:
        attempt = parser.best_attempt()
    except UnicodeEncodeError as error:
        what = "its name" if error.object == path else f"`{ascii(error.object)[1:-1]}`"
        raise SourceError(f"{given}: {what} is not UTF-8, as clang needs it") from error
    ranges = clang.skipped_ranges(attempt.unit, path)
    problems = (*_without_followers(attempt.problems), *attempt.setting.refused)
    problems = (*problems, *_taken_as_defined(path, attempt.setting), *_left_out_of_options(path, options))
    if problems:
        problems = with_certainty(problems, _sight(path, text, attempt, ranges, places))
    launches = nested_launches(attempt.unit)
    if places is not None:
        problems = tuple(_placed(p, path, places) for p in problems)
        launches = tuple(_placed(p, path, places) for p in launches)
    parsed = ParsedFile(
        path, attempt.unit, problems, ranges, system_folders=system_folders(options), places=places,
        context=attempt.setting.context, nested_launches=launches, stand_ins=attempt.stand_ins(), told=attempt.told(),
        given=given,
        source=text,
    )  # fmt: skip
    if places is None:
        parsed.again = partial(_again, parsed, replace(parser, text=attempt.text), attempt.setting)
    return parsed


def _again(
    parsed: ParsedFile, parser: _Parser, setting: _Setting, lines: Sequence[str]
) -> tuple[ParsedFile, frozenset[int]]:
    more = ("\n" + "\n".join(lines) + "\n").encode()
    respelled = {path: data + more for path, data in setting.respelled.items() if path == parsed.path}
    setting = replace(setting, respelled={**setting.respelled, **respelled})
    attempt = replace(parser, text=parser.text + more)._attempt(setting)
    first = parser.text.count(b"\n") + 2
    failed = frozenset(line - first for line in clang.lines_with_errors(attempt.unit, parsed.path) if line >= first)
    known = {(problem.path, problem.line, problem.message) for problem in parsed.problems}
    last = parsed.source.count(b"\n") + 1
    added = [
        problem
        for problem in attempt.problems
        # What is behind the text is of the lines that were added.
        if (problem.path, problem.line, problem.message) not in known
        and (problem.path != parsed.path or (problem.line or 0) <= last)
    ]
    return replace(parsed, tu=attempt.unit, problems=(*parsed.problems, *added), again=None), failed


def _sight(
    path: str, text: bytes, attempt: _Attempt, ranges: Sequence[tuple[int, int]], places: PlaceMap | None
) -> Sight:
    setting = attempt.setting
    as_built = not setting.switches and (places is not None or recovery.includer_context(path) is None)
    is_written = places.is_written if places is not None else None
    return Sight(path, text.decode(errors="replace"), ranges, frozenset(_included(attempt)), as_built, is_written)


def _without_followers(problems: Sequence[Problem]) -> Iterator[Problem]:
    """The problems, of which those that follow from a missing name on their line are no syntax errors, and neither are
    those of a file that uses a namespace that nothing declares: any word in it may be the name of a template."""
    others = {(p.path, p.line) for p in problems if not p.is_syntax and p.error != "wrong-type"}
    unknown = {problem.path for problem in problems if problem.error == "no-namespace"}
    for problem in problems:
        follows = problem.is_syntax and ((problem.path, problem.line) in others or problem.path in unknown)
        yield replace(problem, is_syntax=False) if follows else problem


def _is_unbalanced(problem: Problem) -> bool:
    is_closing = problem.error not in ("expected-bracket", "expected-token") or problem.name in (")", "}")
    return problem.error in _UNBALANCED and is_closing


def _taken_as_defined(path: str, setting: _Setting) -> Iterator[Problem]:
    for name in setting.switches:
        text = f"linted with -D {name}, without which it has no kernels"
        yield Problem(path, 1, 1, text, "defined", name=name)
    for condition in setting.conditions:
        here = os.path.join(os.curdir, "")
        text = condition.message(without_detours(condition.path).removeprefix("" if path.startswith(here) else here))
        yield Problem(path, 1, 1, text, "defined", name=condition.macro)


def _left_out_of_options(path: str, options: ParseOptions) -> Iterator[Problem]:
    return (_refused(path, 1, each, "its options name it, and it leads out of the project") for each in options.refused)


def _placed(problem: Problem, path: str, places: PlaceMap) -> Problem:
    if problem.path != path:
        return problem
    line, column = places.position(problem.line, problem.column)
    return replace(problem, line=line, column=column)


class _Setting(Struct, frozen=True):
    """What a parse is given beyond the file and the options."""

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


class _Attempt(Struct, frozen=True):
    setting: _Setting
    unit: TranslationUnit
    problems: tuple[Problem, ...]
    text: bytes
    """What was parsed, before any other words for what clang does not take."""

    def stand_ins(self) -> dict[str, int | str]:
        """The names that were given a number, or a type."""
        return {name: guess.value for name, guess in self.setting.guesses.items() if guess.value is not None}

    def told(self) -> frozenset[str]:
        """The names of types that say what they are."""
        return frozenset(name for name, guess in self.setting.guesses.items() if guess.is_told)


class _Crashes(Struct):
    """What libclang has crashed on in some parse of a file."""

    behind_precompiled: bool = False
    """Whatever stands behind a precompiled header."""


class _Parser(Struct, frozen=True):
    """Parses one file, again with more context for as long as names or includes are missing."""

    path: str
    text: bytes
    options: ParseOptions
    others: Mapping[str, bytes] = field(default_factory=dict)
    """The texts of included files that are not those on disk."""
    crashes: _Crashes = field(default_factory=_Crashes)
    is_over: Callable[[], bool] = _never
    """Whether the file is not parsed any further."""

    @property
    def border(self) -> Border:
        """What the file may include: what is of its project, and what the user names."""
        options = self.options
        named = (*options.users, *((options.cuda_path,) if options.cuda_path else ()))
        return border_around(self.path).and_also(HEADERS_ROOT, *named)

    def best_attempt(self) -> _Attempt:
        setting = self._foreseen()
        first = self._further(self._foreseeing(setting) or self._attempt(setting))
        if setting.macros and self._errors(first) and not self.is_over():
            # What they choose may need what isn't here.
            first = self._better(first, self._further(self._attempt(replace(setting, macros=()))))
        return self._mended(first) or self._completed(first)

    def _foreseeing(self, setting: _Setting) -> _Attempt | None:
        """The file with what its headers will need as well; None where they need nothing more, or something else than
        was foreseen."""
        known = (BUNDLED_ROOT, *self.options.include_dirs, *system_folders(self.options))
        more = foreseen(self.path, self.text, known, setting.folders, self.border, self._folders_with, _is_of_libraries)
        # What the build has to say of a macro may be more than that it is there.
        build = (*setting.macros, *build_of(self.path).possible)
        defined = {*self._said(), *(macro.name for macro in build)}
        more = replace(more, demands=tuple(each for each in more.demands if each.condition.macro not in defined))
        if not (more.folders or more.libraries or more.demands):
            return None
        given = replace(
            setting, folders=(*setting.folders, *more.folders), libraries=setting.libraries or more.libraries,
            defines=(*setting.defines, *more.macros),
        )  # fmt: skip
        attempt = self._attempt(given)
        included = list(_included(attempt))
        used, conditions = more.used(included), more.conditions(included, _left_out_of(attempt))
        if used is None or conditions is None:
            return None
        needed = replace(
            setting, folders=(*setting.folders, *used.folders), libraries=setting.libraries or used.libraries
        )
        if self._errors(attempt) and any(condition.is_dispatch for condition in conditions):
            # Cases that are there now may cost the file more than they are worth.
            without = self._attempt(needed)
            if self._errors(without) < self._errors(attempt):
                return without
        as_found = replace(
            attempt.setting, folders=needed.folders, libraries=needed.libraries, conditions=conditions,
            defines=setting.defines,
        )  # fmt: skip
        return replace(attempt, setting=as_found)

    def _further(self, attempt: _Attempt) -> _Attempt:
        """With what it turns out to need."""
        return self._by(
            attempt, self._with_folders, self._with_libraries, self._with_switches, self._with_standard,
            self._with_conditions,
        )  # fmt: skip

    def _completed(self, best: _Attempt) -> _Attempt:
        if not any(self._missing_names(best)):
            return self._by(best, self._with_headers) if any(self._missing_in_headers(best)) else best
        return self._by(best, self._with_context, self._with_defines, self._with_headers, self._with_guesses)

    def _by(self, attempt: _Attempt, *steps: Callable[[_Attempt], _Attempt]) -> _Attempt:
        """What one step after the other makes of it, for as long as there is time."""
        for step in steps:
            if self.is_over():
                break
            attempt = step(attempt)
        return attempt

    def _mended(self, attempt: _Attempt) -> _Attempt | None:
        """Reads what braces, brackets or quotes are missing as if they were there, where that helps, and notes each as
        a problem."""
        own = [problem for problem in attempt.problems if problem.path == self.path]
        if not any(_is_unbalanced(problem) for problem in own):
            return None
        from cudalint.frontend import mending  # Its expressions take a while to compile, and few files are broken.

        found = mending.mended(self.text, clang.skipped_ranges(attempt.unit, self.path), own)
        parser = replace(self, text=found.text)
        again = parser._attempt(attempt.setting) if found.missing else attempt
        if parser._progress(again) <= self._progress(attempt):
            return None
        best = parser._mended(again) or parser._completed(again)
        notes = [
            Problem(self.path, m.line, m.column, m.message, "error", m.error, is_syntax=True) for m in found.missing
        ]
        return replace(best, problems=(*notes, *best.problems))

    def _attempt(self, setting: _Setting) -> _Attempt:
        setting = self._looked_over(setting)
        unit = self._parse(setting)
        attempt = _Attempt(setting, unit, problems_of(unit), self.text)
        outside = dict(self._outside(attempt))
        if outside:
            # A macro has named it, or a header further on.
            known, refused = setting.respelled, (*setting.refused, *outside.values())
            return self._attempt(replace(setting, respelled={**known, **dict.fromkeys(outside, b"")}, refused=refused))
        # Headers are read by clang itself: what nvcc takes and clang does not shows in the errors that it makes.
        failed = {p.path for p in attempt.problems if p.is_syntax} - {self.path, *setting.respelled}
        respelled = dict(_respelled(sorted(failed), self._text_of))
        if respelled:
            return self._attempt(replace(setting, respelled={**setting.respelled, **respelled}))
        return self._with_other_words(attempt)

    def _looked_over(self, setting: _Setting) -> _Setting:
        """With what is found in its folders only, or included by its context, and may not be read."""
        looks_at = (setting.folders, setting.context)
        if setting.looked_at == looks_at:
            return setting
        search = self._search(setting.folders)
        search.follow(self.path, self.text, (*self.options.defines, *self.options.extra))
        if setting.context is not None:
            search.follow(self.path, setting.context.text)
        found = {path: _refused(at, line, path, why) for path, (at, line, why) in search.refused.items()}
        new = {path: problem for path, problem in found.items() if path not in setting.respelled}
        respelled, refused = {**setting.respelled, **dict.fromkeys(new, b"")}, (*setting.refused, *new.values())
        return replace(setting, looked_at=looks_at, respelled=respelled, refused=refused)

    def _search(self, folders: Sequence[str] = ()) -> IncludeSearch:
        known = (BUNDLED_ROOT, *self.options.include_dirs, *system_folders(self.options))
        return IncludeSearch((*known, *folders), self.border)

    def _outside(self, attempt: _Attempt) -> Iterator[tuple[str, Problem]]:
        """What was included although it may not be read."""
        border = self.border
        for inclusion in attempt.unit.get_includes():
            path = inclusion.include.name if inclusion.include is not None else HEADERS_ROOT
            if not path.startswith((HEADERS_ROOT, *_SYSTEM_FOLDERS)) and path not in attempt.setting.respelled:
                problem = border.problem_of(path)
                if problem is not None and disk.exists(path):
                    place = inclusion.location
                    name = place.file.name if place.file is not None else self.path
                    yield path, _refused(name, place.line, path, f"it {problem}")

    def _with_other_words(self, attempt: _Attempt) -> _Attempt:
        """Calls the members of dependent types templates where clang asks for that and nvcc does not, and shared
        variables by another word where clang refuses to have them constructed."""
        lines: dict[str, set[int]] = {}
        shared: dict[str, set[tuple[int, int]]] = {}
        for problem in attempt.problems:
            if problem.is_error and not problem.path.startswith(HEADERS_ROOT):
                lines.setdefault(problem.path, set()).add(problem.line)
                if problem.error == "constructed-shared":
                    shared.setdefault(problem.path, set()).add((problem.line, problem.column))
        known = attempt.setting.respelled
        texts = {path: known.get(path) or self._own_text_of(path) for path in lines}
        others = {
            path: with_template_words(with_constructed_shared(text, shared.get(path, ())), lines[path])
            for path, text in texts.items()
        }
        changed = {path: text for path, text in others.items() if text != texts[path]}
        if not changed:
            return attempt
        other = self._attempt(replace(attempt.setting, respelled={**known, **changed}))
        return other if self._all_errors(other) < self._all_errors(attempt) else attempt

    def _parse(self, setting: _Setting) -> TranslationUnit:
        try:
            if not self.crashes.behind_precompiled:
                try:
                    return self._unit(setting)
                except TranslationUnitLoadError:
                    if memory.is_exhausted():
                        raise
                # On `delete` in C++20, for example. What does that to a file once does it in each parse.
                self.crashes.behind_precompiled = True
            return self._unit(setting, plain=True)
        except TranslationUnitLoadError as error:
            if memory.is_exhausted():
                raise SourceError(f"{self.path}: libclang could not parse it: {memory.out_of_memory()}") from error
            raise SourceError(f"{self.path}: libclang could not parse it") from error

    def _unit(self, setting: _Setting, *, plain: bool = False) -> TranslationUnit:
        """Raises: TranslationUnitLoadError. `plain`: without anything precompiled."""
        options = replace(self.options, std=setting.standard or self.options.std)
        arguments = [*prelude_flags(options, self.text, plain=plain), *option_flags(options)]
        own = setting.respelled.get(self.path, self.text)
        unsaved: list[tuple[str, bytes]] = [(self.path, own), *self._included(setting)]
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
        unit = TranslationUnit.from_source(self.path, arguments, unsaved, _PARSE_OPTIONS, clang.index())
        note_search(unit, arguments, unsaved)
        return unit

    def _included(self, setting: _Setting) -> Iterator[tuple[str, bytes]]:
        """What is read in place of included files on disk; clang tells files apart and not their paths."""
        yield from ((path, data) for path, data in setting.respelled.items() if path != self.path)
        done = {disk.resolved(path) for path in setting.respelled}
        yield from ((as_path(path), data) for path, data in self.others.items() if disk.resolved(path) not in done)

    def _text_of(self, path: str) -> bytes:
        same = (data for other, data in self.others.items() if disk.resolved(other) == disk.resolved(path))
        data = next(same, None)
        return small_file(path) if data is None else data

    def _with_standard(self, attempt: _Attempt) -> _Attempt:
        """Takes the text as C++20 where it has words of that and nothing says which standard it is written in."""
        newer = next((p for p in attempt.problems if p.name in _NEWER_WORDS and p.is_error), None)
        if newer is None or self.options.std is not None:
            return attempt
        setting = replace(attempt.setting, standard=_NEWER)
        other = self._with_libraries(self._with_folders(self._attempt(setting)))
        if self._all_errors(other) >= self._all_errors(attempt):
            return attempt
        text = f"`{newer.name}` is C++20: linted with --std {_NEWER}"
        note = replace(newer, message=text, kind="supplied", error="other", name=_NEWER)
        return replace(other, problems=(*other.problems, note))

    def _with_switches(self, attempt: _Attempt) -> _Attempt:
        """Defines the macros without which the file has none of its kernels."""
        for _ in range(_SWITCH_ROUNDS):
            names = recovery.switches(self.text, clang.skipped_ranges(attempt.unit, self.path))
            if not names:
                break
            setting = replace(attempt.setting, switches=(*attempt.setting.switches, *names))
            attempt = self._with_libraries(self._with_folders(self._attempt(setting)))
        return attempt

    def _with_conditions(self, attempt: _Attempt) -> _Attempt:
        """Defines the macros of the build that headers ask for, where that helps, and those without which a dispatch
        has no cases, where that does no harm."""
        dispatches = dispatches_left_out(self._own_files(attempt), self._own_text_of, _left_out_of(attempt))
        attempt = self._with_asked(attempt, dispatches) or attempt
        for _ in range(_CONDITION_ROUNDS):
            if self.is_over() or not any(problem.is_error for problem in attempt.problems):
                break
            # What the file itself leaves out is what its build may choose; a header that it can't do without is not.
            files = [path for path in self._own_files(attempt) if path != self.path]
            built = {macro.name: macro.definition for macro in build_of(self.path).possible}
            asked = conditions_for(attempt.problems, files, self._own_text_of, _left_out_of(attempt), built)
            other = self._with_asked(attempt, asked)
            if other is None or self._all_errors(other) >= self._all_errors(attempt):
                break
            attempt = other
        return attempt

    def _with_asked(self, attempt: _Attempt, conditions: Sequence[BuildCondition]) -> _Attempt | None:
        """The file with further macros; None where there are none, or they cost something of the file itself."""
        known = {*self._said(), *(macro.name for macro in attempt.setting.macros)}
        asked = tuple([condition for condition in conditions if condition.macro.partition("=")[0] not in known])
        if not asked:
            return None
        setting = replace(attempt.setting, conditions=(*attempt.setting.conditions, *asked))
        other = self._with_libraries(self._with_folders(self._attempt(setting)))
        return other if self._errors(other) <= self._errors(attempt) else None

    def _own_files(self, attempt: _Attempt) -> list[str]:
        """The file and the headers of its project."""
        headers = [path for path in _included(attempt) if not path.startswith((HEADERS_ROOT, *_SYSTEM_FOLDERS))]
        return list(dict.fromkeys((self.path, *headers)))

    def _own_text_of(self, path: str) -> bytes:
        return self.text if path == self.path else self._text_of(path)

    def _with_folders(self, attempt: _Attempt) -> _Attempt:
        """Adds folders around the file for as long as that finds includes that were not found."""
        for _ in range(_SEARCH_ROUNDS):
            folders = self._missing_folders(attempt)
            if not folders:
                break
            setting = replace(attempt.setting, folders=attempt.setting.folders + folders)
            attempt = self._attempt(setting)
        return attempt

    def _foreseen(self) -> _Setting:
        """What the file's own includes will need, which saves the parse that finds them missing."""
        search = self._search()
        search.force(self.path, paths_in(self.options.extra))
        search.follow(self.path, self.text, (*self.options.defines, *self.options.extra))
        refused = {path: _refused(at, line, path, why) for path, (at, line, why) in search.refused.items()}
        missing = search.missing
        folders = self._folders_with(missing)
        left = [name for name in missing if not any(disk.is_file(os.path.join(f, name)) for f in folders)]
        return _Setting(
            folders, any(map(_is_of_libraries, left)), macros=tuple(self._macros()),
            respelled=dict.fromkeys(refused, b""), refused=tuple(refused.values()),
        )  # fmt: skip

    def _macros(self) -> Iterator[BuildMacro]:
        """What build files define, but for what the options define or take back themselves."""
        said = self._said()
        return (macro for macro in build_of(self.path).macros if macro.name not in said)

    def _said(self) -> set[str]:
        """The macros that the options define or take back."""
        said = {define.partition("=")[0] for define in self.options.defines}
        return said | {word[2:].partition("=")[0] for word in self.options.extra if word.startswith(("-D", "-U"))}

    def _missing_folders(self, attempt: _Attempt) -> tuple[str, ...]:
        known = attempt.setting.folders
        return tuple([f for f in self._folders_with(missing_headers(attempt.problems)) if f not in known])

    def _folders_with(self, names: Iterable[str]) -> tuple[str, ...]:
        """Folders near the file in which included names exist."""
        found = [recovery.folder_with(self.path, name) for name in dict.fromkeys(names)]
        border = self.border
        return tuple(dict.fromkeys([each for each in found if each and border.problem_of(each) is None]))

    def _with_libraries(self, attempt: _Attempt) -> _Attempt:
        """Takes stand-ins for the headers of a library of which the file finds none. Where it finds some, those are
        the library's own, and what they declare must not be declared twice."""
        if any(_OF_LIBRARIES.search(path) and not path.startswith(LIBRARIES_ROOT) for path in _included(attempt)):
            setting = attempt.setting
            return self._attempt(replace(setting, libraries=False)) if setting.libraries else attempt
        missing = [p for p in attempt.problems if p.kind == "missing-include" and _is_of_libraries(p.name)]
        if not missing:
            return attempt
        respelled = dict(attempt.setting.respelled)
        for problem in missing:
            # Of a submodule that isn't there: `extern/library/include/library/types.h`.
            text = respelled.get(problem.path) or self._own_text_of(problem.path)
            header = _header_of_library(problem.name)
            if header != problem.name:
                respelled[problem.path] = text.replace(problem.name.encode(), header.encode())
        other = self._attempt(replace(attempt.setting, libraries=True, respelled=respelled))
        return other if self._errors(other) <= self._errors(attempt) else attempt

    def _with_context(self, attempt: _Attempt) -> _Attempt:
        """Takes the file as the fragment of another one, where that helps."""
        context = recovery.includer_context(self.path)
        if context is None:
            return attempt
        return self._better(attempt, self._with_folders(self._attempt(replace(attempt.setting, context=context))))

    def _with_defines(self, attempt: _Attempt) -> _Attempt:
        """Takes the macros that a Makefile beside the file defines, where that helps."""
        known = {macro.definition for macro in attempt.setting.macros}
        defines = tuple(define for define in recovery.build_defines(self.path) if define not in known)
        if not defines or not any(self._missing_names(attempt)):
            return attempt
        return self._better(attempt, self._attempt(replace(attempt.setting, defines=defines)))

    def _with_headers(self, attempt: _Attempt) -> _Attempt:
        """Includes the headers that well-known names belong to, where that helps, and notes each as a problem."""
        named = [(name, problem) for name, (problem, _) in self._missing_names(attempt)]
        problems = {header_of(name): problem for name, problem in (*self._missing_in_headers(attempt), *named)}
        headers = tuple(header for header in problems if header is not None)
        if not headers:
            return attempt
        libraries = any(_is_of_libraries(header) for header in headers) or attempt.setting.libraries
        setting = replace(attempt.setting, headers=headers, libraries=libraries)
        better = self._attempt(setting)
        if (self._errors(better), self._all_errors(better)) >= (self._errors(attempt), self._all_errors(attempt)):
            return attempt
        notes = [
            replace(problem, message=f"`{header}` is not included; taken as if it were", kind="supplied", name=header)
            for header, problem in problems.items()
            if header is not None and not header.startswith("_cudalint")
        ]
        return replace(better, problems=(*better.problems, *notes))

    def _with_guesses(self, attempt: _Attempt) -> _Attempt:
        """Declares the names that are still missing, where that helps, and notes each as a problem."""
        places: dict[str, Problem] = {}
        # What the code that a dispatch is given lacks shows only once it is read.
        plain, opened = attempt, False
        useless: set[str] = set()
        for _ in range(_GUESS_ROUNDS):
            every = {name: found for name, found in self._missing_names(attempt) if name not in useless}
            if not every or self.is_over():
                break
            # What follows from an unknown namespace comes out right when that is known.
            names = {name: found for name, found in every.items() if "::" in name} or every
            # So does what stands in the code that a dispatch is given.
            dispatches = {name: found for name, found in names.items() if is_dispatch(found[1])}
            names = dispatches or names
            guesses = {name: guess for name, (_, guess) in names.items()}
            setting = replace(attempt.setting, guesses={**attempt.setting.guesses, **guesses})
            other = self._with_numbers(self._attempt(setting))
            # Where clang knows more it may find as much that is wrong.
            is_told = any(guess.is_told for guess in guesses.values())
            before, now = self._counted(attempt), self._counted(other)
            if not dispatches and (now > before or (now == before and not is_told)):
                if len(names) == len(every):
                    break
                useless |= names.keys()
                continue
            if not dispatches and not opened:
                plain = other
            opened = opened or bool(dispatches)
            attempt = other
            places |= {name: problem for name, (problem, _) in names.items()}
        if self._errors(attempt) > self._errors(plain):
            attempt = plain
        guesses = attempt.setting.guesses
        notes = [
            replace(place, message=guesses[name].note(name), kind="guessed", is_syntax=False, name=name)
            for name, place in places.items()
            if name in guesses
        ]
        return replace(attempt, problems=(*attempt.problems, *notes))

    def _with_numbers(self, attempt: _Attempt) -> _Attempt:
        """Gives the guessed names numbers that need them."""
        needed = dict(numbers_needed(self.path, self.text, attempt.problems, attempt.setting.guesses))
        if not needed:
            return attempt
        setting = replace(attempt.setting, guesses={**attempt.setting.guesses, **needed})
        return self._better(attempt, self._attempt(setting))

    def _missing_names(self, attempt: _Attempt) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
        return missing_names(self.path, self.text, attempt.problems, attempt.setting.guesses)

    def _missing_in_headers(self, attempt: _Attempt) -> Iterator[tuple[str, Problem]]:
        """The well-known names that the project's headers use and nothing declares: another header would have included
        theirs."""
        own = set(self._own_files(attempt)) - {self.path}
        for problem in attempt.problems:
            name = f"{problem.scope}::{problem.name}" if problem.scope else problem.name
            if problem.path in own and problem.error in _NOT_DECLARED and header_of(name) is not None:
                yield name, problem

    def _better(self, old: _Attempt, new: _Attempt) -> _Attempt:
        return new if self._errors(new) < self._errors(old) else old

    def _progress(self, attempt: _Attempt) -> tuple[int, tuple[int, int]]:
        """More for fewer errors; one error may hide another one further on."""
        places = [(p.line, p.column) for p in attempt.problems if p.path == self.path and p.is_error]
        return -len(places), min(places, default=(0, 0))

    def _counted(self, attempt: _Attempt) -> tuple[int, int]:
        return self._errors(attempt), self._all_errors(attempt)

    def _errors(self, attempt: _Attempt) -> int:
        """How many errors are in the file itself; those elsewhere don't concern its kernels."""
        return sum(problem.path == self.path and problem.is_error for problem in attempt.problems)

    def _all_errors(self, attempt: _Attempt) -> int:
        """How many are in the file and in its own headers, whose templates may be its kernels."""
        return sum(problem.is_error for problem in attempt.problems)


def _refused(at: str, line: int, path: str, why: str) -> Problem:
    name = f"{without_detours(path)} ({why})"
    message = f"'{name}' is not read, and taken as empty"
    return Problem(at, line, 1, message, "missing-include", name=name, is_refused=True)


def _respelled(paths: Iterable[str], text_of: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Those of the files that clang takes otherwise spelled, with the text that it takes."""
    for path in paths:
        text = text_of(path)
        respelled = as_clang_takes_it(text)
        if respelled != text:
            yield path, respelled


def _left_out_of(attempt: _Attempt) -> Callable[[str], Sequence[tuple[int, int]]]:
    return lambda path: clang.skipped_ranges(attempt.unit, path)


def _is_of_libraries(name: str) -> bool:
    """Whether there is a stand-in for a header of a library."""
    return disk.is_file(os.path.join(LIBRARIES_ROOT, _header_of_library(name)))


def _header_of_library(name: str) -> str:
    """What a library calls a header of its own, whose path leads through the folder that it is kept in."""
    return name.rpartition("/include/")[2]


def _included(attempt: _Attempt) -> Iterator[str]:
    """The paths of the headers that were found."""
    for inclusion in attempt.unit.get_includes():
        if inclusion.include is not None:
            yield inclusion.include.name
