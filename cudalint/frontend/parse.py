"""From a path to libclang's translation unit, with what the file takes from elsewhere.

No toolkit and no system header is needed: declarations of the CUDA and standard interfaces come with
this package. What is missing all the same costs only what depends on it; it is reported as a
problem, never as a failure.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from clang.cindex import TranslationUnit
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.frontend import clang, cursors, recovery
from cudalint.frontend.attempts import SYSTEM_FOLDERS, Attempt, Setting, Source, never, refused_include
from cudalint.frontend.conditions import conditions_declaring
from cudalint.frontend.diagnoses import Problem, nested_launches
from cudalint.frontend.flags import HEADERS_ROOT, LIBRARIES_ROOT, ParseOptions, is_bundled, system_folders
from cudalint.frontend.inclusions import included_in
from cudalint.frontend.invalid import Sight, with_certainty
from cudalint.frontend.naming import misses_names, misses_names_in_headers, with_names
from cudalint.frontend.preparing import built_macros, parsed_ready, prepared, with_conditions
from cudalint.frontend.python.located import PlaceMap
from cudalint.frontend.reading import SourceError, checked_text, read_source
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.arguments import as_path
from cudalint.system.disk.folders import small_file, without_detours

_CONDITION_ROUNDS: Final = 3
"""What one macro of the build brings in may ask for another one."""

_NEWER: Final = "c++20"
_NEWER_WORDS: Final = frozenset({"concept", "consteval", "constinit", "requires"})
"""Which no older standard has."""

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
    known_types: frozenset[str] = frozenset()
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
    reparse: Callable[[ParsedFile, Mapping[str, bytes]], ParsedFile | None] | None = None
    """See `with_texts`."""

    def with_texts(self, texts: Mapping[str, bytes]) -> ParsedFile | None:
        """Other texts of some files, by their paths, parsed once in the setting in which these were understood; None
        where that takes other settings, or clang finds other problems."""
        return self.reparse(self, texts) if self.reparse is not None else None

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
            text = cursors.text_in(unit, name)
            if text is not None:
                yield self.shown(name), text

    def library_stand_ins(self) -> tuple[str, ...]:
        """The headers of libraries, by the names that the user's files include, that were read as stand-ins."""
        folder = os.path.join(LIBRARIES_ROOT, "")
        found = [
            each.include.name.removeprefix(folder).replace(os.sep, "/")
            for each in self.tu.get_includes()
            if each.include is not None and each.include.name.startswith(folder)
            and each.source is not None and self.is_user(each.source.name)
        ]  # fmt: skip
        return tuple(dict.fromkeys(found))

    def is_bundled(self, path: str) -> bool:
        """Whether a path is one of the headers that come with this package."""
        return path.startswith(os.path.join(self.bundled_root, "")) or is_bundled(path)

    def is_user(self, path: str) -> bool:
        """Whether a path is the linted project's own: no bundled, toolkit or system header."""
        if self.is_bundled(path) or path.startswith(SYSTEM_FOLDERS):
            return False
        return not path.startswith(tuple([os.path.join(folder, "") for folder in self.system_folders]))


def parse_file(
    path: str, options: ParseOptions, source: bytes | None = None, places: PlaceMap | None = None,
    unsaved: Mapping[str, bytes] | None = None, is_over: Callable[[], bool] = never,
) -> ParsedFile:  # fmt: skip
    """Parses a file, or `source` in its place; raises SourceError where that is not possible at all.

    `places` says where the source stands in the file, if that holds more than the source. `unsaved` are the texts of
    other files, by their paths, where those on disk don't count. Once there is no more time (`is_over`), what was
    understood of the file by then is what there is.
    """
    text = checked_text(path, read_source(path) if source is None else source)
    given, path = path, as_path(path)
    others = {other: data for other, data in (unsaved or {}).items() if other != given and disk.is_file(other)}
    file = Source(path, text, options, others, is_over)
    try:
        attempt = _best_attempt(file)
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
        context=attempt.setting.context, nested_launches=launches, stand_ins=attempt.stand_ins(),
        known_types=attempt.known_types(), given=given, source=text,
    )  # fmt: skip
    if places is None:
        file = replace(file, text=attempt.text)
        parsed.again = partial(_again, parsed, file, attempt.setting)
        parsed.reparse = partial(_reparsed, file, attempt, b"")
    return parsed


def _again(
    parsed: ParsedFile, file: Source, setting: Setting, lines: Sequence[str]
) -> tuple[ParsedFile, frozenset[int]]:
    more = ("\n" + "\n".join(lines) + "\n").encode()
    respelled = {path: data + more for path, data in setting.respelled.items() if path == parsed.path}
    setting = replace(setting, respelled={**setting.respelled, **respelled})
    attempt = replace(file, text=file.text + more).parse(setting)
    first = file.text.count(b"\n") + 2
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
    reparse = partial(_reparsed, file, attempt, more)
    return replace(parsed, tu=attempt.unit, problems=(*parsed.problems, *added), again=None, reparse=reparse), failed


def _reparsed(
    file: Source, before: Attempt, more: bytes, parsed: ParsedFile, texts: Mapping[str, bytes]
) -> ParsedFile | None:
    """`more` is what stands behind the text."""
    setting = before.setting
    if {disk.resolved(path) for path in texts} & {disk.resolved(path) for path in setting.respelled}:
        return None
    own = next((data for path, data in texts.items() if path == parsed.given), None)
    text = file.text if own is None else checked_text(parsed.path, own)
    others = {**file.others, **{path: data for path, data in texts.items() if path != parsed.given}}
    attempt = replace(file, text=text + more, others=others).parse(setting)
    if attempt.setting != setting or _kinds(attempt.problems) != _kinds(before.problems):
        return None
    return replace(
        parsed, tu=attempt.unit, skipped_ranges=clang.skipped_ranges(attempt.unit, parsed.path),
        nested_launches=nested_launches(attempt.unit), source=text, again=None, reparse=None,
    )  # fmt: skip


def _kinds(problems: Iterable[Problem]) -> Counter[tuple[str, str]]:
    """Problems wherever they are in their files."""
    return Counter((problem.path, problem.message) for problem in problems)


def _sight(
    path: str, text: bytes, attempt: Attempt, ranges: Sequence[tuple[int, int]], places: PlaceMap | None
) -> Sight:
    setting = attempt.setting
    as_built = not setting.switches and (places is not None or recovery.includer_context(path) is None)
    is_written = places.is_written if places is not None else None
    shown = text.decode(errors="replace")
    included = frozenset(attempt.included())
    return Sight(path, shown, ranges, included, attempt.read, attempt.declared, as_built, is_written)


def _without_followers(problems: Sequence[Problem]) -> Iterator[Problem]:
    """The problems, of which those that follow from a missing name on their line are no syntax errors, and neither are
    those of a file that uses a namespace that nothing declares: any word in it may be the name of a template."""
    others = {(p.path, p.line) for p in problems if not p.is_syntax and p.error != "wrong-type"}
    unknown = {problem.path for problem in problems if problem.error == "no-namespace"}
    for problem in problems:
        # A brace that nothing closes is about the lines that it encloses.
        is_on_a_line = not problem.last_line and (problem.path, problem.line) in others
        follows = problem.is_syntax and (is_on_a_line or problem.path in unknown)
        yield replace(problem, is_syntax=False) if follows else problem


def _is_unbalanced(problem: Problem) -> bool:
    is_closing = problem.error not in ("expected-bracket", "expected-token") or problem.name in (")", "}")
    return problem.error in _UNBALANCED and is_closing


def _taken_as_defined(path: str, setting: Setting) -> Iterator[Problem]:
    for name in setting.switches:
        text = f"linted with -D {name}, without which it has no kernels"
        yield Problem(path, 1, 1, text, "defined", name=name)
    for condition in setting.conditions:
        here = os.path.join(os.curdir, "")
        text = condition.message(without_detours(condition.path).removeprefix("" if path.startswith(here) else here))
        yield Problem(path, 1, 1, text, "defined", name=condition.macro)


def _left_out_of_options(path: str, options: ParseOptions) -> Iterator[Problem]:
    why = "its options name it, and it leads out of the project"
    return (refused_include(path, 1, each, why) for each in options.refused)


def _placed(problem: Problem, path: str, places: PlaceMap) -> Problem:
    if problem.path != path:
        return problem
    line, column = places.position(problem.line, problem.column)
    return replace(problem, line=line, column=column)


def _best_attempt(file: Source) -> Attempt:
    attempt = file.by(prepared(file), _with_standard, _with_declaring_conditions)
    return _mended(file, attempt) or _with_what_is_missing(file, attempt)


def _with_what_is_missing(file: Source, attempt: Attempt) -> Attempt:
    if misses_names(attempt):
        return file.by(attempt, _with_context, _with_defines, with_names)
    return file.by(attempt, with_names) if misses_names_in_headers(attempt) else attempt


def _with_standard(file: Source, attempt: Attempt) -> Attempt:
    """Takes the text as C++20 where it has words of that and nothing says which standard it is written in."""
    newer = next((p for p in attempt.problems if p.name in _NEWER_WORDS and p.is_error), None)
    if newer is None or file.options.std is not None:
        return attempt
    other = parsed_ready(file, replace(attempt.setting, standard=_NEWER))
    if other.all_errors >= attempt.all_errors:
        return attempt
    text = f"`{newer.name}` is C++20: linted with --std {_NEWER}"
    note = replace(newer, message=text, kind="supplied", error="other", name=_NEWER)
    return replace(other, problems=(*other.problems, note))


def _with_declaring_conditions(file: Source, attempt: Attempt) -> Attempt:
    """Defines the macros of the build under which headers declare names that are missing, where that helps."""
    built = built_macros(file)
    for _ in range(_CONDITION_ROUNDS):
        if file.is_over() or not any(problem.is_error for problem in attempt.problems):
            break
        # What the file itself leaves out is what its build may choose; a header that it can't do without is not.
        headers = [path for path in attempt.own_files() if path != file.path]
        asked = conditions_declaring(attempt.problems, headers, file.text_of, attempt.left_out, built)
        setting = with_conditions(file, attempt, asked)
        other = file.parse(setting) if setting is not None else attempt
        if other.errors > attempt.errors or other.all_errors >= attempt.all_errors:
            break
        attempt = other
    return attempt


def _with_context(file: Source, attempt: Attempt) -> Attempt:
    """Takes the file as the fragment of another one, where that helps."""
    context = recovery.includer_context(file.path)
    if context is None:
        return attempt
    return attempt.better_of(parsed_ready(file, replace(attempt.setting, context=context)))


def _with_defines(file: Source, attempt: Attempt) -> Attempt:
    """Takes the macros that a Makefile beside the file defines, where that helps."""
    known = {macro.definition for macro in attempt.setting.macros}
    defines = tuple(define for define in recovery.build_defines(file.path) if define not in known)
    if not defines or not misses_names(attempt):
        return attempt
    return attempt.better_of(file.parse(replace(attempt.setting, defines=defines)))


def _mended(file: Source, attempt: Attempt) -> Attempt | None:
    """Reads what braces, brackets or quotes are missing as if they were there, where that helps, and notes each as
    a problem."""
    own = [problem for problem in attempt.problems if problem.path == file.path]
    if not any(_is_unbalanced(problem) for problem in own):
        return None
    from cudalint.frontend import mending  # Its expressions take a while to compile, and few files are broken.

    found = mending.mended(file.text, attempt.left_out(file.path), own)
    file = replace(file, text=found.text)
    again = file.parse(attempt.setting) if found.missing else attempt
    if _progress(again) <= _progress(attempt):
        return None
    best = _mended(file, again) or _with_what_is_missing(file, again)
    notes = [
        Problem(file.path, m.line, m.column, m.message, "error", m.error, is_syntax=True, last_line=m.last_line)
        for m in found.missing
    ]
    return replace(best, problems=(*notes, *best.problems))


def _progress(attempt: Attempt) -> tuple[int, tuple[int, int]]:
    """More for fewer errors of the grammar; one error may hide another one further on, and names that nothing
    declares."""
    own = (problem for problem in attempt.problems if problem.path == attempt.path and problem.is_error)
    places = [(problem.line, problem.column) for problem in own if problem.is_syntax or _is_unbalanced(problem)]
    return -len(places), min(places, default=(0, 0))
