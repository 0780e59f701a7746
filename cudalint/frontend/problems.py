"""What clang says is wrong with a file, and which names and headers it misses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from clang.cindex import Diagnostic, TranslationUnit
from msgspec import Struct
from msgspec.structs import replace

from cudalint.frontend.flags import HEADERS_ROOT
from cudalint.frontend.guesses import Guess, guess_name, guess_type, guess_within, header_of, macro_on, with_number
from cudalint.frontend.recovery import CONTEXT_SUFFIX

_NOT_FOUND: Final = re.compile(r"'(.+)' file not found")
_UNDECLARED: Final = re.compile(r"use of undeclared identifier '(\w+)'")
NO_CLASS: Final = "expected class name"
"""What clang says of a base class that nothing declares."""
NO_NAMESPACE: Final = "expected namespace name"
"""What it says of `using namespace` where nothing declares that."""
_NO_DECLARATION: Final = "a type specifier is required for all declarations"
_NOT_IN_NAMESPACE: Final = re.compile(r"no (?:member|type|template) named '(\w+)' in namespace '([\w:]+)'")
_UNKNOWN_TYPE: Final = re.compile(r"(?:unknown type name|no type named) '(\w+)'")
_NEEDS_NUMBER: Final = re.compile(
    r"no matching function|non-type template argument is not a constant|constexpr variable '\w+' must be initialized"
)
"""What clang says of a name without a value among the arguments of a template, or of a constant on the way there."""
_END_OF_ARGUMENTS: Final = re.compile(rb"<<<|>\s*\(|;")
"""What follows them."""
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_SYNTAX: Final = frozenset({"Parse Issue", "Lexical or Preprocessor Issue"})
"""Clang's categories of errors that are there whatever other files declare."""
# Which side a function runs on, and whether a bundled template has a body, are no concern of a linter. (nvcc takes the
# sides of a template that is declared for other ones before together; GLM 0.9.9 has such ones.)
_IGNORED: Final = re.compile(
    r"reference to __(?:host|device|global)__ (?:function|variable) |"
    r"__(?:host|device)__(?: __device__)? function '.*' cannot overload |"
    r"function .* is used but not defined in this translation unit"
)
_NAMES_A_KERNEL: Final = re.compile(r"reference to __global__ function '.*' in __(?:device|global)__ function")
_NESTED_LAUNCH: Final = "call to __global__ function from __global__ function"
"""clang knows no dynamic parallelism; the launch is lost, the kernel around it is not."""
_LINES_READ: Final = 100
"""Behind the declaration of a variable of unknown type, to see what is asked of it."""

ProblemKind = Literal["missing-include", "supplied", "guessed", "error"]


class Problem(Struct, frozen=True):
    """Something in the source or its set-up that may have cost a part of the result."""

    path: str
    line: int
    column: int
    message: str
    kind: ProblemKind
    is_syntax: bool = False
    """The text is no C++ there, whatever is declared elsewhere."""
    name: str = ""
    """What was made up for that nothing declares."""
    is_certain: bool = False
    """No compiler of CUDA takes it, whatever is declared elsewhere and whatever the build defines."""


def problems_of(unit: TranslationUnit) -> tuple[Problem, ...]:
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


def nested_launches(unit: TranslationUnit) -> tuple[Problem, ...]:
    return tuple([_problem(diagnostic) for diagnostic in unit.diagnostics if _is_nested_launch(diagnostic)])


def _problem(diagnostic: Diagnostic) -> Problem:
    location = diagnostic.location
    message: str = diagnostic.spelling
    kind: ProblemKind = "missing-include" if _NOT_FOUND.match(message) else "error"
    name = location.file.name if location.file else ""
    is_syntax = kind == "error" and diagnostic.category_name in _SYNTAX and message != NO_CLASS
    # Those of bundled headers are ours, and those of a fragment's includer are listed there.
    is_syntax = is_syntax and not name.startswith(HEADERS_ROOT) and not name.endswith(CONTEXT_SUFFIX)
    return Problem(name, location.line, location.column, message, kind, is_syntax)


def missing_headers(problems: Sequence[Problem]) -> tuple[str, ...]:
    missing = [match[1] for problem in problems if (match := _NOT_FOUND.match(problem.message))]
    return tuple(dict.fromkeys(missing))


def missing_names(path: str, text: bytes, problems: Sequence[Problem]) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
    """The names that a file uses and nothing declares, with their first use and a guess."""
    seen: set[str] = set()
    lines = text.split(b"\n")
    for problem in problems:
        if problem.path != path:
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
            found = re.match(rb"\w+", _behind(lines, problem))
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
            rest = _behind(lines, problem)[len(match[1]) :]
            guess = guess_name(match[1], rest)
        yield match[1], (problem, guess)


def numbers_needed(
    path: str, text: bytes, problems: Sequence[Problem], guesses: Mapping[str, Guess]
) -> Iterator[tuple[str, Guess]]:
    """The guessed names that stand where a template must have a number, with guesses that have one."""
    lines = text.split(b"\n")
    found: set[str] = set()
    for problem in problems:
        if problem.path == path and _NEEDS_NUMBER.match(problem.message):
            rest = b"\n".join([_behind(lines, problem), *lines[problem.line :][:_LINES_READ]])
            found.update(word.decode() for word in _WORD.findall(_END_OF_ARGUMENTS.split(rest, 1)[0]))
    for name, guess in guesses.items():
        other = with_number(name, guess) if name in found else None
        if other is not None:
            yield name, other


def _behind(lines: Sequence[bytes], problem: Problem) -> bytes:
    """The rest of the line from a problem's place on; nothing where that lies outside of the text: clang counts a
    carriage return by itself as the end of a line too."""
    return lines[problem.line - 1][max(0, problem.column - 1) :] if 0 < problem.line <= len(lines) else b""


def _in_namespace(problem: Problem, lines: Sequence[bytes]) -> tuple[str, Guess] | None:
    """The name that a namespace is used for and does not have, and a guess; None where the error is another one."""
    last = problem.line + _LINES_READ
    rest = b"\n".join([_behind(lines, problem), *lines[problem.line : last]])
    match = _NOT_IN_NAMESPACE.match(problem.message)
    if match is not None:
        return guess_within((match[2],), b"::" + rest)
    match = _UNDECLARED.match(problem.message)
    rest = rest.removeprefix(match[1].encode()).lstrip() if match is not None else b""
    return guess_within((match[1],), rest) if match is not None and rest.startswith(b"::") else None


def _macros_near(lines: Sequence[bytes], problem: Problem) -> Iterator[tuple[str, tuple[Problem, Guess]]]:
    """What can only be a macro on the line of an error, or on the one before it."""
    above = range(min(problem.line - 1, len(lines)), 0, -1)
    before = next((number for number in above if lines[number - 1].strip()), 0)
    for number in (before, problem.line):
        found = macro_on(lines[number - 1]) if 0 < number <= len(lines) else None
        if found is not None:
            column = lines[number - 1].index(found[0].encode()) + 1
            yield found[0], (replace(problem, line=number, column=column), found[1])
