"""From a path to libclang's translation unit: flags, include search, problems.

No toolkit and no system header is needed: declarations of the CUDA and standard interfaces come with
this package. What is missing all the same costs only what depends on it; it is reported as a
problem, never as a failure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from clang.cindex import Diagnostic, TranslationUnit, TranslationUnitLoadError

from cudalint.frontend import clang

BUNDLED_ROOT: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "headers", "include")
_PRELUDE: Final = os.path.join(BUNDLED_ROOT, "_cudalint", "prelude.h")
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
    "-nostdinc", "-nostdinc++", "-nobuiltininc",
    "-ferror-limit=0", "-Wno-everything", "-fno-spell-checking", "-fconstexpr-steps=100000",
    # Host functions such as printf-like helpers are variadic, and device code must not be what forbids it.
    "-Xclang", "-fcuda-allow-variadic-functions",
)  # fmt: skip

_NEWEST_ARCHITECTURE: Final = 90
"""The newest that this libclang knows; later ones are parsed as this one with `__CUDA_ARCH__` redefined."""
_DEFAULT_ARCHITECTURE: Final = 80
_OLD_STANDARDS: Final = frozenset({"98", "03", "0x", "11", "1y", "14", "1z", "17"})

_FOLDER_LEVELS: Final = 4
"""A file's own folder and three above it are searched for includes that are not found."""
_FOLDER_NAMES: Final = ("", "include", "inc", "common", "Common", "src", "utils", "util", os.path.join("common", "inc"))
_SEARCH_ROUNDS: Final = 4
"""A found header may include others from a further folder."""

_SYSTEM_FOLDERS: Final = ("/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/cuda")

_NOT_FOUND: Final = re.compile(r"'(.+)' file not found")
_UNDECLARED: Final = re.compile(r"use of undeclared identifier '(\w+)'")
_UNKNOWN_TYPE: Final = re.compile(r"(?:unknown type name|no type named) '(\w+)'")
# Which side a function runs on, and whether a bundled template has a body, are no concern of a linter.
_IGNORED: Final = re.compile(
    r"reference to __(?:host|device|global)__ (?:function|variable) |"
    r"function .* is used but not defined in this translation unit"
)
_FLOATING_NAME: Final = re.compile(r"real|float|double|fp|val|scalar", re.IGNORECASE)

ProblemKind = Literal["missing-include", "guessed", "error"]


class SourceError(Exception):
    """A file that cannot be linted at all: one line that names the file, the place and the reason."""


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """How a file is to be parsed, as a user or a compilation database says."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    """`NAME` or `NAME=VALUE`."""
    std: str | None = None
    """A language standard such as `c++20`; the bundled headers need C++17, older ones are raised to it."""
    cuda_path: str | None = None
    """A toolkit whose headers are used for whatever the bundled ones do not have."""
    arch: str = "sm_80"
    extra: tuple[str, ...] = ()
    """Further arguments, passed to clang as they are."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the source or its set-up that may have cost a part of the result."""

    path: str
    line: int
    column: int
    message: str
    kind: ProblemKind


@dataclass(slots=True)
class ParsedFile:
    """A parsed file with what went wrong in it."""

    path: str
    tu: TranslationUnit
    problems: tuple[Problem, ...]
    skipped_ranges: tuple[tuple[int, int], ...]
    """First and last line of the pieces of this file that preprocessor conditions leave out."""
    bundled_root: str = BUNDLED_ROOT
    cuda_path: str | None = None

    def is_bundled(self, path: str) -> bool:
        """Whether a path is one of the headers that come with this package."""
        return path.startswith(self.bundled_root)

    def is_user(self, path: str) -> bool:
        """Whether a path is the linted project's own: no bundled, toolkit or system header."""
        if self.is_bundled(path) or path.startswith(_SYSTEM_FOLDERS):
            return False
        return self.cuda_path is None or not os.path.abspath(path).startswith(os.path.abspath(self.cuda_path) + os.sep)


def parse_file(path: str, options: ParseOptions, source: bytes | None = None) -> ParsedFile:
    """Parses a file, or `source` in its place; raises SourceError where that is not possible at all."""
    text = _checked_text(path, _read(path) if source is None else source)
    unit, folders = _parse_with_search(path, text, options)
    problems = _problems(unit)
    guesses = _guess_declarations(problems, path, text)
    if guesses:
        second = _parse(path, text, options, folders, "\n".join(guesses.values()))
        remaining = _problems(second)
        if len(remaining) < len(problems):
            unit, problems = second, (*remaining, *_guess_problems(problems, guesses))
    return ParsedFile(path, unit, problems, clang.skipped_ranges(unit, path), cuda_path=options.cuda_path)


# --- source text ---------------------------------------------------------------------------------


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise SourceError(f"{path}: cannot read it: {error.strerror or error}") from error


def _checked_text(path: str, source: bytes) -> bytes:
    """The source as clang takes it; bytes that are not UTF-8 become `?`, so that columns stay the same."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(f"{path}:1:1: UTF-16 text; save the file as UTF-8")
    nul = source.find(b"\0")
    if nul >= 0:
        line = source.count(b"\n", 0, nul) + 1
        column = nul - source.rfind(b"\n", 0, nul)
        raise SourceError(f"{path}:{line}:{column}: not a text file (it has a NUL byte here)")
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return source.translate(_ASCII_ONLY)
    return source


_ASCII_ONLY: Final = bytes(range(128)) + b"?" * 128

# --- the parse -------------------------------------------------------------------------------------


def _parse(path: str, text: bytes, options: ParseOptions, folders: Iterable[str], guesses: str = "") -> TranslationUnit:
    arguments = [*_FIXED_FLAGS, *_option_flags(options), "-include", _PRELUDE]
    unsaved: list[tuple[str, bytes]] = [(path, text)]
    if guesses:
        arguments += ["-include", _GUESSES]
        unsaved.append((_GUESSES, guesses.encode()))
    # Behind every folder that the user named, and the guessed folders behind our own: `#include <complex.h>`
    # must not find a project's file of that name.
    arguments += ["-idirafter", BUNDLED_ROOT]
    if options.cuda_path:
        arguments += ["-idirafter", os.path.join(options.cuda_path, "include")]
    for folder in folders:
        arguments += ["-idirafter", folder]
    try:
        return TranslationUnit.from_source(path, arguments, unsaved, _PARSE_OPTIONS, clang.index())
    except TranslationUnitLoadError as error:
        raise SourceError(f"{path}: libclang could not parse it") from error


def _option_flags(options: ParseOptions) -> Iterator[str]:
    yield _standard_flag(options.std)
    yield from _architecture_flags(options.arch)
    for define in options.defines:
        yield f"-D{define}"
    for folder in options.include_dirs:
        yield f"-I{folder}"
    yield from options.extra


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


# --- includes that are not found ---------------------------------------------------------------------


def _parse_with_search(path: str, text: bytes, options: ParseOptions) -> tuple[TranslationUnit, tuple[str, ...]]:
    """Parses, adding folders around the file for as long as that finds includes that were not found."""
    folders: tuple[str, ...] = ()
    unit = _parse(path, text, options, folders)
    for _ in range(_SEARCH_ROUNDS):
        missing = [match[1] for d in unit.diagnostics if (match := _NOT_FOUND.match(d.spelling))]
        more = tuple(dict.fromkeys(f for name in missing if (f := _folder_with(path, name)) and f not in folders))
        if not more:
            break
        folders += more
        unit = _parse(path, text, options, folders)
    return unit, folders


def _folder_with(path: str, name: str) -> str | None:
    """A folder near a file in which an included name exists."""
    base = os.path.dirname(os.path.abspath(path))
    for _ in range(_FOLDER_LEVELS):
        for sub in _FOLDER_NAMES:
            folder = os.path.join(base, sub) if sub else base
            if os.path.isfile(os.path.join(folder, name)):
                return folder
        base = os.path.dirname(base)
    return None


# --- problems ------------------------------------------------------------------------------------------


def _problems(unit: TranslationUnit) -> tuple[Problem, ...]:
    return tuple(
        _problem(diagnostic)
        for diagnostic in unit.diagnostics
        if diagnostic.severity >= Diagnostic.Error and not _IGNORED.match(diagnostic.spelling)
    )


def _problem(diagnostic: Diagnostic) -> Problem:
    location = diagnostic.location
    message: str = diagnostic.spelling
    kind: ProblemKind = "missing-include" if _NOT_FOUND.match(message) else "error"
    name = location.file.name if location.file else ""
    return Problem(name, location.line, location.column, message, kind)


# --- names that nothing declares -----------------------------------------------------------------------


def _guess_declarations(problems: Iterable[Problem], path: str, text: bytes) -> dict[str, str]:
    """Declarations for names that a missing header would have declared, by name.

    They keep the statements that use the names in the tree. A variable stays without a value, so nothing
    is computed from a guess.
    """
    if b"__global__" not in text:
        return {}
    lines = text.split(b"\n")
    guesses: dict[str, str] = {}
    for problem in problems:
        if problem.path != path:
            continue
        if match := _UNKNOWN_TYPE.match(problem.message):
            guesses.setdefault(match[1], _guessed_type(match[1]))
        elif match := _UNDECLARED.match(problem.message):
            rest = lines[problem.line - 1][problem.column - 1 + len(match[1]) :]
            guesses.setdefault(match[1], _guessed_name(match[1], rest))
    return guesses


def _guessed_type(name: str) -> str:
    return f"typedef {'float' if _FLOATING_NAME.search(name) else 'int'} {name};"


def _guessed_name(name: str, rest: bytes) -> str:
    """A function where a parenthesis follows the name, else a number that nothing is known of."""
    if rest.lstrip().startswith(b"("):
        return f"template <class T, class... A> __host__ __device__ T {name}(T, A...); __host__ __device__ int {name}();"
    return f"extern __device__ const int {name};"


def _guess_problems(problems: Iterable[Problem], guesses: dict[str, str]) -> Iterator[Problem]:
    """One note for each guessed name, at its first use."""
    noted: set[str] = set()
    for problem in problems:
        match = _UNKNOWN_TYPE.match(problem.message) or _UNDECLARED.match(problem.message)
        if match and match[1] in guesses and match[1] not in noted:
            noted.add(match[1])
            message = f"nothing declares '{match[1]}'; taken as `{guesses[match[1]]}`"
            yield Problem(problem.path, problem.line, problem.column, message, "guessed")
