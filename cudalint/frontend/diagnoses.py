"""What clang says is wrong with a file, as records: nowhere else are its messages read."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from clang.cindex import Diagnostic, TranslationUnit
from msgspec import Struct

from cudalint.frontend.flags import is_bundled
from cudalint.frontend.recovery import CONTEXT_SUFFIX
from cudalint.reasons import ProblemKind
from cudalint.regexes import regex

Error = Literal[
    "undeclared", "unknown-type", "no-type", "not-in-namespace", "no-class", "no-namespace", "no-type-specifier",
    "needs-number", "expected-body", "misplaced-function", "extra-brace", "open-class", "open-string",
    "expected-bracket", "expected-token", "expected-expression", "taken-as-closed", "wrong-type",
    "constructed-shared", "no-template-word", "other",
]  # fmt: skip
"""What is wrong: a name, a type or a member of a namespace that nothing declares, a base class or a namespace likewise;
a declaration without a type; a name without a value where a template or a constant needs one; and what a grammar
misses, or has too much of. `wrong-type` is one of which all names are known, `constructed-shared` a shared variable
whose class has a constructor that does something, which nvcc leaves out with a warning, `no-template-word` a member
that clang takes for a template only behind that word. `taken-as-closed` is no error of clang but one that was mended
before it read the text."""

_NOT_FOUND: Final = regex(r"'(?P<name>.+)' file not found")
_ERRORS: Final[tuple[tuple[Error, re.Pattern[str]], ...]] = (
    ("undeclared", regex(r"use of undeclared identifier '(?P<name>\w+)'")),
    ("unknown-type", regex(r"unknown type name '(?P<name>\w+)'")),
    ("no-type", regex(r"no type named '(?P<name>\w+)'(?: in namespace '(?P<scope>[\w:]+)')?")),
    ("not-in-namespace", regex(r"no (?:member|template) named '(?P<name>\w+)' in namespace '(?P<scope>[\w:]+)'")),
    ("no-class", regex(r"expected class name$")),
    ("no-namespace", regex(r"expected namespace name$")),
    ("no-type-specifier", regex(r"a type specifier is required")),
    (
        "needs-number",
        regex(
            r"no matching function|non-type template argument is not a constant"
            r"|constexpr variable '\w+' must be initialized"
        ),
    ),
    ("expected-body", regex(r"expected function body")),
    ("misplaced-function", regex(r"function definition is not allowed here")),
    ("extra-brace", regex(r"extraneous closing brace")),
    ("open-class", regex(r"expected ';' after (?:struct|class|union|enum)$")),
    ("open-string", regex(r"missing terminating '\"' character")),
    ("expected-expression", regex(r"expected expression$")),
    ("expected-bracket", regex(r"expected '(?P<name>[)}\]])'$")),
    ("expected-token", regex(r"expected '(?P<name>[;)\]}]|>>>)'(?: |$)")),
    ("expected-token", regex(r"expected '(?P<name>\()' after '(?:if|for|while|switch)'")),
    ("expected-token", regex(r"expected '(?P<name>\w+)' in do/while loop")),
    ("wrong-type", regex(r"variable has incomplete type 'void'")),
    (
        "no-template-word",
        regex(r"(?:missing|use) 'template' keyword |reference to overloaded function could not be resolved"),
    ),
    ("constructed-shared", regex(r"initialization is not supported for __shared__ variables")),
)
_SYNTAX: Final = frozenset({"Parse Issue", "Lexical or Preprocessor Issue"})
"""Clang's categories of errors that are there whatever other files declare."""
_OF_PREPROCESSOR: Final = frozenset({"Lexical or Preprocessor Issue", "User-Defined Issue"})
# Which side a function runs on, and whether a bundled template has a body, are no concern of a linter. (nvcc takes the
# sides of a template that is declared for other ones before together; GLM 0.9.9 has such ones.) A function of the host
# that overrides one of a bundled class, where all are for both sides, is none for clang, and neither is one of a class
# that is only declared in part. To clang, `const __restrict__ float x[4]` is the same pointer without that word.
_IGNORED: Final = regex(
    r"reference to __(?:host|device|global)__ (?:function|variable) |"
    r"__(?:host|device)__(?: __device__)? function '.*' cannot overload |"
    r"function .* is used but not defined in this translation unit|"
    r"restrict requires a pointer or reference|"
    r"'.*' marked '(?:override|final)' but does not override any member functions|"
    r"non-virtual member function marked '(?:override|final)' hides virtual member function"
)
_NAMES_A_KERNEL: Final = regex(r"reference to __global__ function '.*' in __(?:device|global)__ function")
_NESTED_LAUNCH: Final = "call to __global__ function from __global__ function"
"""clang knows no dynamic parallelism; the launch is lost, the kernel around it is not."""


class Problem(Struct, frozen=True):
    """Something in the source or its set-up that may have cost a part of the result."""

    path: str
    line: int
    column: int
    message: str
    kind: ProblemKind
    error: Error = "other"
    name: str = ""
    """What it is about: the name that nothing declares, the header, the token that is missing."""
    scope: str = ""
    """The namespace that does not have the name."""
    is_syntax: bool = False
    """The text is no C++ there, whatever is declared elsewhere."""
    is_certain: bool = False
    """No compiler of CUDA takes it, whatever is declared elsewhere and whatever the build defines."""
    stands_alone: bool = False
    """It is certain whatever else is wrong with the file."""
    last_line: int = 0
    """Of the text that a brace is taken to enclose which nothing closes."""
    is_refused: bool = False
    """It is included and may not be read: it is out of the project, or no regular file."""

    @property
    def is_error(self) -> bool:
        """Whether clang could not read the text, and not only what it was given to read it with."""
        return self.kind in ("error", "undeclared", "undeclared-type")


def problems_of(unit: TranslationUnit, *, of_preprocessor: bool = False) -> tuple[Problem, ...]:
    """What is wrong with a unit; only what the preprocessor finds, if that is asked for."""
    found: list[Problem] = []
    name = unit.spelling
    for diagnostic in unit.diagnostics:
        if diagnostic.severity >= Diagnostic.Error:
            message: str = diagnostic.spelling
            if _category(diagnostic) in _OF_PREPROCESSOR if of_preprocessor else not _is_ignored(diagnostic, message):
                found.append(_problem(diagnostic, message, name))
    return tuple(found)


_CATEGORIES: Final[dict[int, str]] = {}
"""Their names by their numbers, as far as they were met: there are few of them, and thousands of diagnostics."""


def _category(diagnostic: Diagnostic) -> str:
    number: int = diagnostic.category_number
    if number not in _CATEGORIES:
        _CATEGORIES[number] = diagnostic.category_name
    return _CATEGORIES[number]


def nested_launches(unit: TranslationUnit) -> tuple[Problem, ...]:
    found = [each for each in unit.diagnostics if _is_nested_launch(each, each.spelling)]
    return tuple([_problem(diagnostic, diagnostic.spelling, unit.spelling) for diagnostic in found])


def _is_ignored(diagnostic: Diagnostic, message: str) -> bool:
    """Whether an error is about something that doesn't matter here, such as a kernel that launches another."""
    return _IGNORED.match(message) is not None or _is_nested_launch(diagnostic, message)


def _is_nested_launch(diagnostic: Diagnostic, message: str) -> bool:
    if _NAMES_A_KERNEL.match(message):
        return True
    return message.startswith("no matching function") and any(
        _NESTED_LAUNCH in note.spelling for note in diagnostic.children
    )


def _problem(diagnostic: Diagnostic, message: str, unit: str) -> Problem:
    """One that clang has no place for, as in what a macro pastes together, stands at the start of the file."""
    location = diagnostic.location
    path = location.file.name if location.file else unit
    line, column = max(1, location.line), max(1, location.column)
    header = _NOT_FOUND.match(message)
    if header is not None:
        return Problem(path, line, column, message, "missing-include", name=header["name"])
    error, name, scope = _error(message)
    kind: ProblemKind = "error"
    if error == "undeclared":
        kind = "undeclared"
    elif error == "unknown-type":
        kind = "undeclared-type"
    is_syntax = _category(diagnostic) in _SYNTAX and error != "no-class"
    # Those of bundled headers are ours, and those of a fragment's includer are listed there.
    is_syntax = is_syntax and not is_bundled(path) and not path.endswith(CONTEXT_SUFFIX)
    return Problem(path, line, column, message, kind, error, name, scope, is_syntax)


@lru_cache(maxsize=4_096)
def _error(message: str) -> tuple[Error, str, str]:
    """What a message says, with the name and the namespace that it names."""
    for error, pattern in _ERRORS:
        match = pattern.match(message)
        if match is not None:
            found = match.groupdict()
            return error, found.get("name") or "", found.get("scope") or ""
    return "other", "", ""
