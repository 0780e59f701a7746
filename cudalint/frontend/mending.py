"""Braces, brackets and quotes that are missing in a text, and what to read instead.

Where the last brace of a function is missing, the rest of the file belongs to it for clang: kernels behind it are not
allowed where they stand, and get lost. But a function can't be defined within another one, and a namespace can't
either, so that what comes before such a head must have ended. Where parameters or a string don't end, clang skips all
that follows. This is only asked about files in which clang has found errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct, field

from cudalint.frontend.diagnoses import Error, Problem
from cudalint.regexes import regex
from cudalint.source.brackets import closing, parts_in_angles
from cudalint.source.lexing import blanked
from cudalint.source.lines import Lines

_OPEN_STRING: Final = regex(r'"[^\r\n]*')
_ENDS: Final = regex(r"[{};]")
_SPACE: Final = " \t\r\n\f\v"
_ACCESS: Final = regex(r"\s*(?:public|private|protected)\s*:")
_TEMPLATE: Final = regex(r"\s*template\s*(?=<)")
_SCOPE: Final = regex(r"\s*(?:(?:inline\s+)?namespace\b|extern\s*$)")
"""The name of a language is a literal, and blank."""
_CLASS: Final = regex(r"\s*(?:typedef\s+)?(?:struct|class|union)\b")
_ATTRIBUTE: Final = regex(
    r"\b(?:__align__|alignas|__attribute__|__launch_bounds__|__cluster_dims__|__declspec|decltype|noexcept)\s*(?=\()"
)
_WORDS: Final = regex(r"[\s\w:<>,*&~]+")
_NAME: Final = regex(r"(?:operator\s*[^\s\w]+|[\w:~]+)\s*$")
_BEHIND: Final = regex(r"(?:\s|const|noexcept|volatile|override|final|__\w+|->[\w\s:<>,*&]+)*")
_OF_STATEMENTS: Final = regex(
    r"\b(?:if|for|while|switch|catch|return|else|do|case|default|goto|throw|new|delete|using|sizeof|asm)\b"
)


class Missing(NamedTuple):
    """Something that the text was read as if it were there."""

    line: int
    column: int
    message: str
    error: Error
    last_line: int
    """Of what a brace is taken to enclose; 0 for all else."""


class MendedText(Struct, frozen=True):
    text: bytes
    """What was missing stands right behind what comes before it, so that all lines stay, and the columns of most."""
    missing: tuple[Missing, ...]


class _Open(Struct):
    offset: int
    head: int
    """Where the statement starts that opens it."""
    is_scope: bool
    """Functions may stand in it."""
    is_class: bool
    statements: list[int] = field(default_factory=list)
    """Where those start that stand directly in it."""


def mended(text: bytes, skipped: Sequence[tuple[int, int]], errors: Iterable[Problem]) -> MendedText:
    """Puts in what is missing.

    `skipped` are the pieces, as first and last lines, that preprocessor conditions leave out: with them, braces would
    not match in a good file either.
    """
    missing: list[Missing] = []
    found = text.decode("latin-1")
    found = _applied(found, _in_front(found, _code(found, skipped), errors), missing)
    found = _applied(found, _quotes(_code(found, skipped)), missing)
    found = _applied(found, _brackets(_code(found, skipped)), missing)
    return MendedText(found.encode("latin-1"), tuple(missing))


class _Insertion(NamedTuple):
    offset: int
    text: str
    place: int
    """What the message is about."""
    message: str
    error: Error
    is_brace: bool = False
    """It closes one."""


def _applied(text: str, insertions: Iterable[_Insertion], missing: list[Missing]) -> str:
    parts, end = [], 0
    lines = Lines(text)
    for offset, more, place, message, error, is_brace in sorted(insertions):
        parts += [text[end:offset], more]
        end = offset
        last = lines.position(offset).line if is_brace else 0
        missing.append(Missing(*lines.position(place), message, error, last))
    return "".join([*parts, text[end:]])


def _in_front(text: str, code: str, errors: Iterable[Problem]) -> Iterator[_Insertion]:
    """The brace in front of a function's body, and the bracket in front of a statement's, where clang misses it."""
    lines = Lines(text)
    for error in errors:
        if error.line > len(lines):
            continue  # Clang counts a carriage return by itself as the end of a line too.
        place = lines.offset(error.line, error.column)
        end = len(code[:place].rstrip(_SPACE))
        if error.error == "expected-body" and code[place:].strip():
            message = "no brace opens this function's body; taken as beginning here"
            yield _Insertion(end, "{", place, message, "other")
        elif error.error == "expected-bracket" and error.name == ")" and code[place : place + 1] == "{":
            message = "a bracket is open here; taken as closed before the brace"
            yield _Insertion(end, ")", place, message, "taken-as-closed")
        elif error.error == "open-class" and "}" in code[:place]:
            # The word `__global__` behind it would be taken for a part of it.
            close = code.rindex("}", 0, place)
            yield _Insertion(close + 1, ";", close + 1, error.message, "open-class")
        elif error.error == "no-type-specifier" and code[:end].endswith("__global__"):
            yield _Insertion(end, " void", place, "this kernel has no type; taken as `void`", "other")


def _quotes(code: str) -> Iterator[_Insertion]:
    """The quote that ends a string with its line."""
    for match in _OPEN_STRING.finditer(code):
        message = "nothing closes this string; taken as closed at the end of the line"
        yield _Insertion(match.end(), '"', match.start(), message, "taken-as-closed")


def _brackets(code: str) -> Iterator[_Insertion]:
    """What closes functions and classes."""
    lines = Lines(code)
    for end, head, braces in _misplaced(code):
        closing = "".join("};" if brace.is_class else "}" for brace in reversed(braces))
        message = f"nothing closes this brace; taken as closed before line {lines.position(head).line}"
        yield _Insertion(end, closing, braces[0].offset, message, "taken-as-closed", is_brace=True)


def _code(text: str, skipped: Sequence[tuple[int, int]]) -> str:
    """The text with blanks for comments, literals, directives and what is left out."""
    lines = text.split("\n")
    for first, last in skipped:
        for index in range(first - 1, min(last, len(lines))):
            lines[index] = " " * len(lines[index])
    return blanked("\n".join(lines))


def _misplaced(code: str) -> Iterator[tuple[int, int, list[_Open]]]:
    """The heads that can't stand where they do: where the braces before them should have been closed, where they
    start, and these braces, outermost first."""
    opened: list[_Open] = []
    start = 0
    for match in _ENDS.finditer(code):
        end = match.start()
        text = code[start:end].lstrip(_SPACE)
        begin = end - len(text)
        if match[0] == "{":
            head = _ACCESS.sub("", text)
            wrong = _wrongly_open(opened, head)
            if wrong:
                yield _end_before(code, wrong, begin), begin, wrong
                del opened[-len(wrong) :]
            is_class = not _is_function(head) and _CLASS.match(_without_template(head)) is not None
            _note(opened, begin)
            opened.append(_Open(end, begin, is_class or _SCOPE.match(head) is not None, is_class))
        elif match[0] == ";" and text:
            _note(opened, begin)
        elif match[0] == "}" and opened:
            opened.pop()
        start = match.end()


def _note(opened: list[_Open], statement: int) -> None:
    if opened:
        opened[-1].statements.append(statement)


def _end_before(code: str, wrong: list[_Open], head: int) -> int:
    """The end of what belongs to the braces: declarations in front of the head that are indented as little as the
    function is, belong to the head."""
    margin = _column(code, wrong[0].head)
    inside = wrong[-1].statements
    number = len(inside)
    while number and _column(code, inside[number - 1]) <= margin:
        number -= 1
    first = inside[number] if 0 < number < len(inside) else head
    return len(code[:first].rstrip(_SPACE))


def _column(code: str, offset: int) -> int:
    return offset - code.rfind("\n", 0, offset) - 1


def _wrongly_open(opened: list[_Open], head: str) -> list[_Open]:
    """The innermost braces in which what has this head can't stand."""
    if not opened:
        return []
    if opened[-1].is_class:
        return opened[-1:] if "__global__" in head and _is_function(head) else []
    if opened[-1].is_scope or not (_SCOPE.match(head) or _is_function(head)):
        return []
    first = len(opened)
    while first and not opened[first - 1].is_scope:
        first -= 1
    return opened[first:]


def _is_function(head: str) -> bool:
    """Whether the text before a brace is the head of a function's definition: words, a name, parameters."""
    open_ = _parameters(head)
    close = closing(head, open_, "()") if open_ >= 0 else None
    return close is not None and _BEHIND.fullmatch(head, close) is not None


def _parameters(head: str) -> int:
    """Where the parameters of a function's head open; -1 where it is none."""
    head = _without_template(_without_attributes(head))
    open_ = head.find("(")
    name = _NAME.search(head, 0, open_) if open_ > 0 else None
    if name is None or _OF_STATEMENTS.search(head, 0, open_):
        return -1
    before = head[: name.start()]
    return open_ if before.strip() and _WORDS.fullmatch(before) else -1


def _without_attributes(head: str) -> str:
    """With blanks in their place."""
    match = _ATTRIBUTE.search(head)
    while match is not None:
        head = _blank(head, match.start(), closing(head, match.end(), "()") or len(head))
        match = _ATTRIBUTE.search(head)
    return head


def _without_template(head: str) -> str:
    """With blanks in the place of `template <...>`."""
    match = _TEMPLATE.match(head)
    while match is not None:
        head = _blank(head, 0, parts_in_angles(head, match.end())[1] or len(head))
        match = _TEMPLATE.match(head)
    return head


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
