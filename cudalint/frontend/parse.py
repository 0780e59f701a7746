"""From a path to libclang's translation unit: flags, include search, problems.

No toolkit and no system header is needed: declarations of the CUDA and standard interfaces come with
this package. What is missing all the same costs only what depends on it; it is reported as a
problem, never as a failure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Literal

from clang.cindex import Diagnostic, TranslationUnit, TranslationUnitLoadError
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.folders import without_detours
from cudalint.frontend import clang, recovery
from cudalint.frontend.dialect import as_clang_takes_it
from cudalint.frontend.guesses import Guess, guess_name, guess_type, guess_within, header_of, macro_on
from cudalint.frontend.precompiled import precompiled
from cudalint.frontend.python.located import PlaceMap

_HEADERS: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "headers")
BUNDLED_ROOT: Final = os.path.join(_HEADERS, "include")
LIBRARIES_ROOT: Final = os.path.join(_HEADERS, "torch")
"""Stand-ins for the headers of PyTorch: for a file that finds no others, since a project may have them itself."""
_PRELUDE: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "prelude.h")
_STREAMS_PRELUDE: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "prelude_streams.h")
_STREAMS: Final = re.compile(rb"<(?:iostream|fstream|sstream|iomanip)>")
_GUESSES: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "guesses.h")
"""A header that exists in memory only."""

_KEEP_GOING: Final = 0x200
"""Without it libclang hides everything that follows the first missing include."""
_PARSE_OPTIONS: Final = _KEEP_GOING | TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD

_FIXED_FLAGS: Final = (
    "-x", "cuda",
    # On Windows `long` would have 4 bytes, and a result must not depend on the machine that lints.
    "--target=x86_64-unknown-linux-gnu",
    # Host code and its launches are parsed all the same.
    "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent",
    "-nostdinc", "-nostdinc++", "-nobuiltininc", "-fbracket-depth=2100",
    "-ferror-limit=0", "-Wno-everything", "-fno-spell-checking", "-fconstexpr-steps=100000",
    # Host functions may be variadic, and device code must not be what forbids it.
    "-Xclang", "-fcuda-allow-variadic-functions",
)  # fmt: skip

_PREPROCESSOR_FLAGS: Final = ("-isystem", "-include", "-idirafter", "-iquote", "-I", "-D", "-U")

_NEWEST_ARCHITECTURE: Final = 90
"""The newest that this libclang knows; later ones are parsed as this one with `__CUDA_ARCH__` redefined."""
_DEFAULT_ARCHITECTURE: Final = 80
_OLD_STANDARDS: Final = frozenset({"98", "03", "0x", "11", "1y", "14", "1z", "17"})

_LINES_READ: Final = 100
"""Behind the declaration of a variable of unknown type, to see what is asked of it."""

_SEARCH_ROUNDS: Final = 4
"""A header that was found may include others from a further folder."""

_GUESS_ROUNDS: Final = 6
"""A declared name may uncover the next one of the same statement."""

_SYSTEM_FOLDERS: Final = ("/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/cuda")
_SYSTEM_MARKERS: Final = ("cuda_runtime_api.h", "stdlib.h", "cstdlib", os.path.join("thrust", "version.h"))
"""A folder with one of these has what the bundled headers declare, with other internals."""

_OF_LIBRARIES: Final = re.compile(r"[/\\](?:ATen|c10)[/\\]")
"""The folders without which no part of PyTorch is there."""

_CONTEXT_SUFFIX: Final = ".context"
_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)', re.MULTILINE)
_NOT_FOUND: Final = re.compile(r"'(.+)' file not found")
_UNDECLARED: Final = re.compile(r"use of undeclared identifier '(\w+)'")
_NO_CLASS: Final = "expected class name"
"""What clang says of a base class that nothing declares."""
_NO_DECLARATION: Final = "a type specifier is required for all declarations"
_NOT_IN_NAMESPACE: Final = re.compile(r"no (?:member|type|template) named '(\w+)' in namespace '([\w:]+)'")
_UNKNOWN_TYPE: Final = re.compile(r"(?:unknown type name|no type named) '(\w+)'")
_SYNTAX: Final = frozenset({"Parse Issue", "Lexical or Preprocessor Issue"})
"""Clang's categories of errors that are there whatever other files declare."""
# Which side a function runs on, and whether a bundled template has a body, are no concern of a linter.
_IGNORED: Final = re.compile(
    r"reference to __(?:host|device|global)__ (?:function|variable) |"
    r"function .* is used but not defined in this translation unit"
)
_UNBALANCED: Final = re.compile(
    r"function definition is not allowed here|extraneous closing brace|expected ('[)}]'|expression$|function body)|"
    r"expected ';' after (struct|class|union|enum)|"
    r"a type specifier is required"
)
_NAMES_A_KERNEL: Final = re.compile(r"reference to __global__ function '.*' in __(?:device|global)__ function")
_NESTED_LAUNCH: Final = "call to __global__ function from __global__ function"
"""clang knows no dynamic parallelism; the launch is lost, the kernel around it is not."""
ProblemKind = Literal["missing-include", "supplied", "guessed", "error"]


class SourceError(Exception):
    """A file that cannot be linted at all: one line that names the file, the place and the reason."""


class ParseOptions(Struct, frozen=True):
    """How a file is to be parsed, as a user or a compilation database says."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    """`NAME` or `NAME=VALUE`."""
    std: str | None = None
    """A language standard such as `c++20`; the bundled headers need C++17, older ones are raised to it."""
    cuda_path: str | None = None
    """A toolkit, whose headers are used for whatever the bundled ones do not have."""
    arch: str = "sm_80"
    extra: tuple[str, ...] = ()
    """Further arguments, passed to clang as they are."""


class Problem(Struct, frozen=True):
    """Something in the source or its set-up that may have cost a part of the result."""

    path: str
    line: int
    column: int
    message: str
    kind: ProblemKind
    is_syntax: bool = False
    """The text is no C++ there, whatever is declared elsewhere."""


class ParsedFile(Struct):
    """A parsed file with what went wrong in it."""

    path: str
    tu: TranslationUnit
    problems: tuple[Problem, ...]
    skipped_ranges: tuple[tuple[int, int], ...]
    """First and last line of the pieces of this file that preprocessor conditions leave out."""
    bundled_root: str = _HEADERS
    system_folders: tuple[str, ...] = ()
    """Folders of a toolkit or of standard headers that the options name."""
    places: PlaceMap | None = None
    """Where the text stands in a file that holds more than CUDA."""
    context: recovery.Context | None = None
    """The start of the file that includes this one, if this is a fragment that was parsed behind it."""
    nested_launches: tuple[Problem, ...] = ()
    """Where kernels launch others, which clang leaves out of the bodies that it hands over."""

    def shown(self, path: str) -> str:
        """A file's path as the user knows it, given clang's: the same for a header whatever file includes it."""
        if path == self.path:
            return path
        if self.context and path == _context_name(self.context):
            return self.includer or path
        return without_detours(path)

    @property
    def includer(self) -> str | None:
        """The path of the file that includes this fragment."""
        if self.context is None:
            return None
        return self.context.path if os.path.isabs(self.path) else os.path.relpath(self.context.path)

    def is_bundled(self, path: str) -> bool:
        """Whether a path is one of the headers that come with this package."""
        return path.startswith(os.path.join(self.bundled_root, ""))

    def is_user(self, path: str) -> bool:
        """Whether a path is the linted project's own: no bundled, toolkit or system header."""
        if self.is_bundled(path) or path.startswith(_SYSTEM_FOLDERS):
            return False
        return not path.startswith(tuple([os.path.join(folder, "") for folder in self.system_folders]))


def parse_file(
    path: str, options: ParseOptions, source: bytes | None = None, places: PlaceMap | None = None
) -> ParsedFile:
    """Parses a file, or `source` in its place; raises SourceError where that is not possible at all.

    `places` says where the source stands in the file, if that holds more than the source.
    """
    text = _checked_text(path, read_source(path) if source is None else source)
    attempt = _Parser(path, text, options).best_attempt()
    ranges = clang.skipped_ranges(attempt.unit, path)
    problems = tuple(_without_followers(attempt.problems))
    launches = _nested_launches(attempt.unit)
    if places is not None:
        problems = tuple(_placed(p, path, places) for p in problems)
        launches = tuple(_placed(p, path, places) for p in launches)
    return ParsedFile(
        path, attempt.unit, problems, ranges, system_folders=_system_folders(options), places=places,
        context=attempt.setting.context, nested_launches=launches,
    )  # fmt: skip


def _context_name(context: recovery.Context) -> str:
    """A name beside the includer, so that its relative includes are found, but not its own: it is cut."""
    return context.path + _CONTEXT_SUFFIX


def _without_followers(problems: Sequence[Problem]) -> Iterator[Problem]:
    """The problems, of which those that follow from a missing name on their line are no syntax errors."""
    others = {(problem.path, problem.line) for problem in problems if not problem.is_syntax}
    for problem in problems:
        follows = problem.is_syntax and (problem.path, problem.line) in others
        yield replace(problem, is_syntax=False) if follows else problem


def _placed(problem: Problem, path: str, places: PlaceMap) -> Problem:
    if problem.path != path:
        return problem
    line, column = places.position(problem.line, problem.column)
    return replace(problem, line=line, column=column)


# --- source text ---------------------------------------------------------------------------------


def read_source(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise SourceError(f"{path}: cannot read it: {error.strerror or error}") from error


_ASCII_ONLY: Final = bytes(range(128)) + b"_" * 128


def _checked_text(path: str, source: bytes) -> bytes:
    """The source as clang takes it; where it is not UTF-8, bytes beyond ASCII become `_`: columns stay the same,
    and names are names."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(f"{path}:1:1: UTF-16 text; save the file as UTF-8")
    nul = source.find(b"\0")
    if nul >= 0:
        line = source.count(b"\n", 0, nul) + 1
        column = nul - source.rfind(b"\n", 0, nul)
        raise SourceError(f"{path}:{line}:{column}: not a text file (it has a NUL byte here)")
    source = as_clang_takes_it(source)
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return source.translate(_ASCII_ONLY)
    return source


# --- attempts --------------------------------------------------------------------------------------


class _Setting(Struct, frozen=True):
    """What a parse is given beyond the file and the options."""

    folders: tuple[str, ...] = ()
    libraries: bool = False
    """Whether stand-ins for the headers of libraries are found."""
    context: recovery.Context | None = None
    defines: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    guesses: dict[str, Guess] = field(default_factory=dict)
    """For names that nothing declares."""


class _Attempt(Struct, frozen=True):
    setting: _Setting
    unit: TranslationUnit
    problems: tuple[Problem, ...]


class _Parser(Struct, frozen=True):
    """Parses one file, again with more context for as long as names or includes are missing."""

    path: str
    text: bytes
    options: ParseOptions

    def best_attempt(self) -> _Attempt:
        first = self._with_libraries(self._with_folders(self._attempt(self._foreseen())))
        return self._mended(first) or self._completed(first)

    def _completed(self, best: _Attempt) -> _Attempt:
        if not any(self._missing_names(best)):
            return best
        return self._with_guesses(self._with_headers(self._with_defines(self._with_context(best))))

    def _mended(self, attempt: _Attempt) -> _Attempt | None:
        """Reads what braces, brackets or quotes are missing as if they were there, where that helps, and notes each as
        a problem."""
        own = [problem for problem in attempt.problems if problem.path == self.path]
        if not any(_UNBALANCED.match(problem.message) for problem in own):
            return None
        from cudalint.frontend import mending  # Its expressions take a while to compile, and few files are broken.

        expected = [mending.Expected(p.line, p.column, p.message) for p in own]
        found = mending.mended(self.text, clang.skipped_ranges(attempt.unit, self.path), expected)
        parser = replace(self, text=found.text)
        again = parser._attempt(attempt.setting) if found.missing else attempt
        if parser._progress(again) <= self._progress(attempt):
            return None
        best = parser._mended(again) or parser._completed(again)
        notes = [Problem(self.path, *place, "error", is_syntax=True) for place in found.missing]
        return replace(best, problems=(*notes, *best.problems))

    def _attempt(self, setting: _Setting) -> _Attempt:
        unit = self._parse(setting)
        return _Attempt(setting, unit, _problems(unit))

    def _parse(self, setting: _Setting) -> TranslationUnit:
        arguments = [*_prelude_flags(self.options, self.text), *_option_flags(self.options)]
        unsaved: list[tuple[str, bytes]] = [(self.path, self.text)]
        if setting.guesses:
            arguments += ["-include", _GUESSES]
            text = "\n".join([guess.declaration for guess in setting.guesses.values()])
            unsaved.append((_GUESSES, text.encode()))
        if setting.context:
            name = _context_name(setting.context)
            arguments += ["-include", name]
            unsaved.append((name, setting.context.text))
        arguments += [f"-D{define}" for define in setting.defines]
        for header in setting.headers:
            bundled = os.path.join(BUNDLED_ROOT, header)
            arguments += ["-include", bundled if os.path.isfile(bundled) else header]
        # Guessed folders stand behind the bundled headers: `#include <complex.h>` must not find a project's file of
        # that name. So do a toolkit's: the prelude and the real headers would declare everything twice.
        libraries = (LIBRARIES_ROOT,) if setting.libraries else ()
        for folder in (BUNDLED_ROOT, *_system_folders(self.options), *setting.folders, *libraries):
            arguments += ["-idirafter", folder]
        try:
            return TranslationUnit.from_source(self.path, arguments, unsaved, _PARSE_OPTIONS, clang.index())
        except TranslationUnitLoadError as error:
            raise SourceError(f"{self.path}: libclang could not parse it") from error

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
        known = (BUNDLED_ROOT, *self.options.include_dirs, *_system_folders(self.options))
        beside = os.path.dirname(self.path)
        missing: list[str] = []
        for match in _INCLUDE.finditer(self.text):
            name, folders = os.fsdecode(match[2]), (beside, *known) if match[1] == b'"' else known
            if not any(os.path.isfile(os.path.join(folder, name)) for folder in folders):
                missing.append(name)
        folders = self._folders_with(missing)
        left = [name for name in missing if not any(os.path.isfile(os.path.join(f, name)) for f in folders)]
        return _Setting(folders, libraries=any(map(_is_of_libraries, left)))

    def _missing_folders(self, attempt: _Attempt) -> tuple[str, ...]:
        known = attempt.setting.folders
        return tuple([f for f in self._folders_with(_missing_headers(attempt)) if f not in known])

    def _folders_with(self, names: Iterable[str]) -> tuple[str, ...]:
        """Folders near the file in which included names exist."""
        found = [recovery.folder_with(self.path, name) for name in dict.fromkeys(names)]
        return tuple(dict.fromkeys([folder for folder in found if folder]))

    def _with_libraries(self, attempt: _Attempt) -> _Attempt:
        """Takes stand-ins for the headers of a library of which the file finds none. Where it finds some, those are
        the library's own, and what they declare must not be declared twice."""
        if any(_OF_LIBRARIES.search(path) and not path.startswith(LIBRARIES_ROOT) for path in _included(attempt)):
            setting = attempt.setting
            return self._attempt(replace(setting, libraries=False)) if setting.libraries else attempt
        if not any(map(_is_of_libraries, _missing_headers(attempt))):
            return attempt
        other = self._attempt(replace(attempt.setting, libraries=True))
        return other if self._errors(other) <= self._errors(attempt) else attempt

    def _with_context(self, attempt: _Attempt) -> _Attempt:
        """Takes the file as the fragment of another one, where that helps."""
        context = recovery.includer_context(self.path)
        if context is None:
            return attempt
        return self._better(attempt, self._with_folders(self._attempt(replace(attempt.setting, context=context))))

    def _with_defines(self, attempt: _Attempt) -> _Attempt:
        """Takes the macros that a Makefile beside the file defines, where that helps."""
        defines = recovery.build_defines(self.path)
        if not defines or not any(self._missing_names(attempt)):
            return attempt
        return self._better(attempt, self._attempt(replace(attempt.setting, defines=defines)))

    def _with_headers(self, attempt: _Attempt) -> _Attempt:
        """Includes the headers that well-known names belong to, where that helps, and notes each as a problem."""
        problems = {header_of(name): problem for name, (problem, _) in self._missing_names(attempt)}
        headers = tuple(header for header in problems if header is not None)
        if not headers:
            return attempt
        libraries = any(_is_of_libraries(header) for header in headers) or attempt.setting.libraries
        setting = replace(attempt.setting, headers=headers, libraries=libraries)
        better = self._better(attempt, self._attempt(setting))
        if better is attempt:
            return attempt
        notes = [
            replace(problem, message=f"`{header}` is not included; taken as if it were", kind="supplied")
            for header, problem in problems.items()
            if header is not None and not header.startswith("_cudalint")
        ]
        return replace(better, problems=(*better.problems, *notes))

    def _with_guesses(self, attempt: _Attempt) -> _Attempt:
        """Declares the names that are still missing, where that helps, and notes each as a problem."""
        notes: dict[str, Problem] = {}
        for _ in range(_GUESS_ROUNDS):
            names = dict(self._missing_names(attempt))
            if not names:
                break
            # What follows from an unknown namespace comes out right when that is known.
            names = {name: found for name, found in names.items() if "::" in name} or names
            guesses = {name: guess for name, (_, guess) in names.items()}
            setting = replace(attempt.setting, guesses={**attempt.setting.guesses, **guesses})
            better = self._better(attempt, self._attempt(setting))
            if better is attempt:
                break
            attempt = better
            for name, (problem, guess) in names.items():
                message = f"nothing declares '{name}'; taken as {guess.meaning}"
                notes[name] = replace(problem, message=message, kind="guessed", is_syntax=False)
        return replace(attempt, problems=(*attempt.problems, *notes.values()))

    def _better(self, old: _Attempt, new: _Attempt) -> _Attempt:
        return new if self._errors(new) < self._errors(old) else old

    def _progress(self, attempt: _Attempt) -> tuple[int, tuple[int, int]]:
        """More for fewer errors; one error may hide another one further on."""
        places = [(p.line, p.column) for p in attempt.problems if p.path == self.path and p.kind == "error"]
        return -len(places), min(places, default=(0, 0))

    def _errors(self, attempt: _Attempt) -> int:
        """How many errors are in the file itself; those elsewhere don't concern its kernels."""
        return sum(problem.path == self.path and problem.kind == "error" for problem in attempt.problems)

    def _missing_names(self, attempt: _Attempt) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
        """The names that the file uses and nothing declares, with their first use and a guess."""
        seen: set[str] = set()
        lines = self.text.split(b"\n")
        for problem in attempt.problems:
            if problem.path != self.path:
                continue
            match = _UNKNOWN_TYPE.match(problem.message) or _UNDECLARED.match(problem.message)
            if problem.is_syntax or (match is not None and match.re is _UNKNOWN_TYPE):
                macros = dict(_macros_near(lines, problem))
                yield from [(name, macro) for name, macro in macros.items() if name not in seen]
                seen.update(macros)
                if any(place.line == problem.line for place, _ in macros.values()):
                    continue
            if problem.message == _NO_DECLARATION:
                # A macro that a well-known header defines, in the place of a declaration.
                found = re.match(rb"\w+", lines[problem.line - 1][problem.column - 1 :])
                name = found[0].decode() if found else ""
                if header_of(name) is not None:
                    yield name, (problem, guess_name(name, b""))
                continue
            within = _in_namespace(problem, lines)
            if within is not None:
                if within[0] not in seen:
                    yield within[0], (problem, within[1])
                seen.add(within[0])
                continue
            if match is None or match[1] in seen:
                continue
            seen.add(match[1])
            if match.re is _UNKNOWN_TYPE:
                guess = guess_type(match[1])
            else:
                rest = lines[problem.line - 1][problem.column - 1 + len(match[1]) :]
                guess = guess_name(match[1], rest)
            yield match[1], (problem, guess)


def _in_namespace(problem: Problem, lines: Sequence[bytes]) -> tuple[str, Guess] | None:
    """The name that a namespace is used for and does not have, and a guess; None where the error is another one."""
    last = problem.line + _LINES_READ
    rest = b"\n".join([lines[problem.line - 1][problem.column - 1 :], *lines[problem.line : last]])
    match = _NOT_IN_NAMESPACE.match(problem.message)
    if match is not None:
        return guess_within((match[2],), b"::" + rest)
    match = _UNDECLARED.match(problem.message)
    rest = rest.removeprefix(match[1].encode()).lstrip() if match is not None else b""
    return guess_within((match[1],), rest) if match is not None and rest.startswith(b"::") else None


def _missing_headers(attempt: _Attempt) -> tuple[str, ...]:
    missing = [match[1] for problem in attempt.problems if (match := _NOT_FOUND.match(problem.message))]
    return tuple(dict.fromkeys(missing))


def _is_of_libraries(name: str) -> bool:
    """Whether there is a stand-in for a header of a library."""
    return os.path.isfile(os.path.join(LIBRARIES_ROOT, name))


def _included(attempt: _Attempt) -> Iterator[str]:
    """The paths of the headers that were found."""
    for inclusion in attempt.unit.get_includes():
        if inclusion.include is not None:
            yield inclusion.include.name


def _macros_near(lines: Sequence[bytes], problem: Problem) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
    """What can only be a macro on the line of an error, or on the one before it."""
    before = next((number for number in range(problem.line - 1, 0, -1) if lines[number - 1].strip()), 0)
    for number in (before, problem.line):
        found = macro_on(lines[number - 1]) if 0 < number <= len(lines) else None
        if found is not None:
            column = lines[number - 1].index(found[0].encode()) + 1
            yield found[0], (replace(problem, line=number, column=column), found[1])


# --- flags -------------------------------------------------------------------------------------------


def _prelude_flags(options: ParseOptions, text: bytes) -> list[str]:
    """The flags that every parse has, and the prelude in its precompiled form where that is possible."""
    basic = (*_FIXED_FLAGS, _standard_flag(options.std), *_architecture_flags(options.arch))
    header = None
    if _fits_precompiled(options.extra):
        header = precompiled(_STREAMS_PRELUDE if _STREAMS.search(text) else _PRELUDE, basic)
    return [*basic, "-include-pch", header] if header else [*basic, "-include", _PRELUDE]


def _fits_precompiled(extra: tuple[str, ...]) -> bool:
    """Whether further arguments leave the language as it is; clang rejects a precompiled header otherwise."""
    return all(not argument.startswith("-") or argument.startswith(_PREPROCESSOR_FLAGS) for argument in extra)


def _option_flags(options: ParseOptions) -> Iterator[str]:
    for define in options.defines:
        yield f"-D{define}"
    for folder in options.include_dirs:
        if not _has_system_headers(folder):
            yield f"-I{folder}"
    yield from options.extra


def _system_folders(options: ParseOptions) -> tuple[str, ...]:
    """The named folders that have headers of a toolkit or of the standard libraries."""
    folders = [folder for folder in options.include_dirs if _has_system_headers(folder)]
    if options.cuda_path:
        folders.append(os.path.join(options.cuda_path, "include"))
    return tuple(folders)


@cache
def _has_system_headers(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, marker)) for marker in _SYSTEM_MARKERS)


def _standard_flag(std: str | None) -> str:
    version = (std or "17").removeprefix("gnu++").removeprefix("c++")
    return "-std=c++17" if version in _OLD_STANDARDS else f"-std=c++{version}"


def _architecture_flags(arch: str) -> tuple[str, ...]:
    """The flags for a name such as `sm_86`, `compute_90a` or `100`."""
    match = re.search(r"(\d+)([a-z]?)$", arch)
    number = int(match[1]) if match else _DEFAULT_ARCHITECTURE
    if number > _NEWEST_ARCHITECTURE:
        return ("--cuda-gpu-arch=sm_90a", "-U__CUDA_ARCH__", f"-D__CUDA_ARCH__={number * 10}")
    suffix = "a" if match and number == _NEWEST_ARCHITECTURE and match[2] == "a" else ""
    return (f"--cuda-gpu-arch=sm_{number}{suffix}",)


# --- problems ------------------------------------------------------------------------------------------


def _problems(unit: TranslationUnit) -> tuple[Problem, ...]:
    return tuple(
        [
            _problem(diagnostic)
            for diagnostic in unit.diagnostics
            if diagnostic.severity >= Diagnostic.Error and not _is_ignored(diagnostic)
        ]
    )


def _is_ignored(diagnostic: Diagnostic) -> bool:
    """Whether an error is about something that doesn't matter here, such as a kernel that launches another."""
    if _IGNORED.match(diagnostic.spelling):
        return True
    return _is_nested_launch(diagnostic)


def _is_nested_launch(diagnostic: Diagnostic) -> bool:
    if _NAMES_A_KERNEL.match(diagnostic.spelling):
        return True
    return diagnostic.spelling.startswith("no matching function") and any(
        _NESTED_LAUNCH in note.spelling for note in diagnostic.children
    )


def _nested_launches(unit: TranslationUnit) -> tuple[Problem, ...]:
    return tuple([_problem(diagnostic) for diagnostic in unit.diagnostics if _is_nested_launch(diagnostic)])


def _problem(diagnostic: Diagnostic) -> Problem:
    location = diagnostic.location
    message: str = diagnostic.spelling
    kind: ProblemKind = "missing-include" if _NOT_FOUND.match(message) else "error"
    name = location.file.name if location.file else ""
    is_syntax = kind == "error" and diagnostic.category_name in _SYNTAX and message != _NO_CLASS
    # Those of bundled headers are ours, and those of a fragment's includer are listed there.
    is_syntax = is_syntax and not name.startswith(_HEADERS) and not name.endswith(_CONTEXT_SUFFIX)
    return Problem(name, location.line, location.column, message, kind, is_syntax)
