"""Macros that only a project's build gives, found in what a file's headers say of them.

A header may end with `#error` unless the build defines a macro, and a name that nothing declares may be declared in a
part of a header that `#ifdef` leaves out. Such macros are tried: whether they help shows in the errors that remain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from cudalint.frontend.diagnoses import Problem
from cudalint.frontend.guesses import header_of
from cudalint.regexes import regex
from cudalint.source.comments import COMMENT
from cudalint.source.conditions import chains
from cudalint.source.lines import Lines

_MOST: Final = 6
"""Macros that are tried at once."""
_MOST_NAMES: Final = 200
_USUAL_SIZE: Final = "32"
"""A multiple of a warp, of which a block may have the square as threads."""
_UNDECLARED: Final = frozenset({"undeclared", "unknown-type", "no-type", "not-in-namespace"})
_WITHOUT_BODY: Final = regex(r"implicit instantiation of undefined template '(?:\w+::)*(\w+)<")
"""The one for these arguments may be among what is left out."""
_DIRECTIVE: Final = regex(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|error)\b[ \t]*(.*?)[ \t]*\Z")
_ASKS: Final = regex(rb"#[ \t]*error\b|\b__VA_ARGS__\b")
_DEFINED: Final = regex(r"defined[ \t]*\(?[ \t]*([A-Za-z]\w*)[ \t]*\)?")
_NAME: Final = regex(r"([A-Za-z]\w*)")
_COMPARED: Final = regex(r"\(?[ \t]*([A-Za-z]\w*)[ \t]*==[ \t]*(\d+)[ \t]*\)?")
_UNLESS: Final = regex(r"![ \t]*defined[ \t]*\(?[ \t]*([A-Za-z]\w*)[ \t]*\)?")
_INCLUDED: Final = regex(r"^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">\n]+)[\">]", re.MULTILINE)
_OF_OTHERS: Final = regex(
    r"HIP|ROCM|SYCL|OPENCL|METAL|MUSA|(?<![A-Z])WIN(?![A-Z])|WINDOWS|MSVC|APPLE|AMD|NO_|DOXYGEN", re.IGNORECASE
)
"""Macros for other compilers, systems and documentation, and those that take something away, unless a project's build
files define them."""


class BuildCondition(Struct, frozen=True):
    """A macro that a file needs and that nothing but its build defines."""

    macro: str
    """Its name, with a value where one is asked for: `WIDTH=64`."""
    needed: str
    """The name that is declared where the macro is defined; nothing where `#error` asks for the macro."""
    path: str
    line: int
    is_dispatch: bool = False
    """The name is that of a macro that otherwise stands for nothing, so that its arguments are lost."""

    def message(self, shown: str) -> str:
        """What is said of it; `shown` is its path as the user knows it."""
        place = f"({shown}:{self.line})"
        if not self.needed:
            return f"`#error` asks for `{self.macro}` {place}: linted with -D {self.macro}"
        if self.is_dispatch:
            return f"`{self.needed}` is empty without `{self.macro}` {place}: linted with -D {self.macro}"
        return f"`{self.needed}` is defined under `{self.macro}` {place}: linted with -D {self.macro}"


def conditions_asked_for(
    problems: Sequence[Problem], files: Iterable[str], text_of: Callable[[str], bytes], built: Mapping[str, str]
) -> tuple[BuildCondition, ...]:
    """The macros that `#error` asks for: with the value that it names, or a usual size where code of these files
    calculates with them. `built` are those that the project's build files define under conditions, by
    their names and as they do it."""
    return _known_to(built, _asked_for(problems, tuple(files), text_of))


def conditions_declaring(
    problems: Sequence[Problem], files: Iterable[str], text_of: Callable[[str], bytes],
    left_out: Callable[[str], Sequence[tuple[int, int]]], built: Mapping[str, str],
) -> tuple[BuildCondition, ...]:  # fmt: skip
    """The macros under which names are declared that are missing.

    `files` are the file's own headers, and `left_out` the lines of the directives that begin and end what conditions
    leave out of each.
    """
    names = _missing(problems)
    declared = [*_declared_under(names, files, text_of, left_out)] if names else []
    return _known_to(built, sorted(declared, key=lambda one: names.index(one.needed)))


def _known_to(built: Mapping[str, str], conditions: Iterable[BuildCondition]) -> tuple[BuildCondition, ...]:
    """Those that a build may define, as the project's does."""
    found: dict[str, BuildCondition] = {}
    for condition in conditions:
        name = condition.macro.partition("=")[0]
        if name in built:
            found.setdefault(name, replace(condition, macro=built[name]))
        elif not _OF_OTHERS.search(name):
            found.setdefault(name, condition)
    return tuple(found.values())[:_MOST]


def may_ask_for_macros(text: bytes) -> bool:
    """Whether a text may have an `#error`, or a dispatch."""
    return _ASKS.search(text) is not None


def dispatches_left_out(
    files: Iterable[str], text_of: Callable[[str], bytes], left_out: Callable[[str], Sequence[tuple[int, int]]]
) -> tuple[BuildCondition, ...]:
    """The macros without which cases of a dispatch are empty: `#ifdef WITH_HALF` around a `#define` with a `case` that
    calls what the macro is given, and behind `#else` the same name with no text. Code that is reached through it alone
    is there for nobody then, and no build leaves all of it out."""
    found: dict[str, BuildCondition] = {}
    for path in files:
        ranges = left_out(path)
        for condition in _dispatches(path, _lines_of(text_of(path)), ranges) if ranges else ():
            found.setdefault(condition.macro, condition)
    return tuple(found.values())[:_MOST]


_CASE: Final = regex(
    r"#[ \t]*define[ \t]+(\w+)\([^)\n]*\.\.\.\)(?:[^\n]*\\\r?\n)*?[^\n]*\bcase\b(?:[^\n]*\\\r?\n)*?[^\n]*\b__VA_ARGS__"
)
_LINES_OF_ELSE: Final = 8


def _dispatches(path: str, lines: Lines[str], ranges: Iterable[tuple[int, int]]) -> Iterator[BuildCondition]:
    for first, last in ranges:
        macro = _macro_of(lines.line(first))
        if macro is None or _OF_OTHERS.search(macro):
            continue
        case = _CASE.search(lines.between(first + 1, last - 1))
        behind = lines.between(last, last + _LINES_OF_ELSE)
        if case and re.search(rf"#[ \t]*define[ \t]+{case[1]}\([^)\n]*\)[ \t\r]*$", behind, re.MULTILINE):
            yield BuildCondition(macro, case[1], path, first, is_dispatch=True)


def _missing(problems: Sequence[Problem]) -> list[str]:
    names: dict[str, None] = {}
    for problem in problems:
        without_body = _WITHOUT_BODY.match(problem.message)
        name = without_body[1] if without_body else problem.name if problem.error in _UNDECLARED else ""
        if name:
            names[name] = None
    return list(names)[:_MOST_NAMES]


def _lines_of(text: bytes) -> Lines[str]:
    return Lines(text.decode(errors="replace"))


def _asked_for(
    problems: Sequence[Problem], files: Sequence[str], text_of: Callable[[str], bytes]
) -> Iterator[BuildCondition]:
    """The macros without which a header is an error."""
    for problem in problems:
        if problem.kind != "error" or problem.error != "other":
            continue
        lines = _lines_of(text_of(problem.path))
        directive = _DIRECTIVE.match(lines.line(problem.line))
        if directive is None or directive[1] != "error":
            continue
        macro = _expected(lines, problem.line)
        if macro is not None:
            value = _value_in(directive[2], macro)
            if value is None and "=" not in macro and any(_is_number(text_of(path), macro) for path in files):
                value = _USUAL_SIZE
            macro = macro if value is None else f"{macro}={value}"
            yield BuildCondition(macro, "", problem.path, problem.line)


def _value_in(text: str, macro: str) -> str | None:
    """The number that an error gives as an example: `define TILE, e.g. -DTILE=64`."""
    match = re.search(rf"\b(?:D)?{re.escape(macro)}\s*=\s*(\d+)\b", text)
    return match[1] if match is not None else None


def _is_number(text: bytes, macro: str) -> bool:
    """Whether code calculates with a macro, or has it for an extent."""
    name = re.escape(macro.encode())
    used = re.compile(rb"[-+*/%\[]\s*" + name + rb"\b|\b" + name + rb"\s*[-+*/%\]]")
    return any(used.search(line) for line in text.split(b"\n") if macro.encode() in line and b"#" not in line)


def _expected(lines: Lines[str], number: int) -> str | None:
    """The macro that the innermost condition around a line wants to be defined for the line not to be there."""
    around = [
        (chain, position)
        for chain in chains(list(lines))
        for position, branch in enumerate(chain)
        if branch.first < number < branch.last
    ]
    if not around:
        return None
    chain, position = around[-1]
    is_other = chain[position].word == "else"
    return _macro_against(chain[0].word, chain[0].condition, is_other) if is_other or not position else None


def _macro_against(word: str, text: str, is_other: bool) -> str | None:
    """The macro that turns a condition round; `is_other`: what is to be left out is what stands behind `#else`."""
    value = _COMPARED.fullmatch(text) if is_other and word == "if" else None
    if value is not None:
        # The first of the values that there is something for.
        return f"{value[1]}={value[2]}"
    if is_other:
        match = _NAME.match(text) if word == "ifdef" else _DEFINED.match(text) if word == "if" else None
    else:
        match = _NAME.match(text) if word == "ifndef" else _UNLESS.fullmatch(text) if word == "if" else None
    return match[1] if match is not None else None


def _declared_under(
    names: Collection[str], files: Iterable[str], text_of: Callable[[str], bytes],
    left_out: Callable[[str], Sequence[tuple[int, int]]],
) -> Iterator[BuildCondition]:  # fmt: skip
    """The macros under which names are declared that nothing else declares."""
    word = re.compile(r"(?<![\w.\"])(?:" + "|".join(map(re.escape, names)) + r")(?![\w\"])")
    headers = {header: name for name in names if (header := header_of(name)) is not None}
    for path in files:
        ranges = left_out(path)
        lines = _lines_of(text_of(path) if ranges else b"")
        for first, last in ranges:
            macro = _macro_of(lines.line(first))
            if macro is not None:
                inside = COMMENT.sub(_blank, lines.between(first + 1, last - 1))
                yield from _in_part(BuildCondition(macro, "", path, first), inside, word, headers)


def _in_part(
    under: BuildCondition, inside: str, word: re.Pattern[str], headers: Mapping[str, str]
) -> Iterator[BuildCondition]:
    """Where names are declared in a part that is left out, or their headers included."""
    for match in _INCLUDED.finditer(inside):
        if match[1] in headers:
            line = under.line + 1 + inside.count("\n", 0, match.start())
            yield BuildCondition(under.macro, headers[match[1]], under.path, line)
    for match in word.finditer(inside):
        if _declares(inside, match):
            line = under.line + 1 + inside.count("\n", 0, match.start())
            yield BuildCondition(under.macro, match[0], under.path, line)


_BEFORE: Final = regex(
    r"(?:#[ \t]*define[ \t]+|\b(?:struct|class|enum|union|using)[ \t]+(?:class[ \t]+)?|\w[\w<>,: ]*[\s*&]+)\Z"
)
_NO_TYPE: Final = regex(r"\b(?:return|case|goto|else|new|delete|throw|#[ \t]*undef|#[ \t]*if\w*)[ \t]*\Z")


def _declares(inside: str, match: re.Match[str]) -> bool:
    """Whether what stands in front of a name may declare it for others: a type, or a word that begins a declaration,
    but no parameter's."""
    begin = max(inside.rfind(mark, 0, match.start()) for mark in "\n;{}(")
    before = inside[begin + 1 : match.start()]
    if inside[begin : begin + 1] == "(" or before.count("<") > before.count(">"):
        return False
    return _BEFORE.search(before) is not None and _NO_TYPE.search(before) is None


def _macro_of(line: str) -> str | None:
    """The macro that a condition asks for by itself."""
    directive = _DIRECTIVE.match(COMMENT.sub(" ", line).rstrip("\r"))
    if directive is None:
        return None
    word, text = directive[1], directive[2]
    match = _NAME.fullmatch(text) if word in ("ifdef", "if") else None
    match = match or (_DEFINED.fullmatch(text) if word == "if" else None)
    return match[1] if match is not None else None


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")
