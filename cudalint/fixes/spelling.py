"""How code is spelled, as edits of several kinds have to know it: names, what changes them, which of them are free, and
the edit that puts a text in the place of another."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from cudalint.diagnostics import Edit
from cudalint.facts import KernelFacts, Place
from cudalint.ir.builtins import BUILTINS
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

TextOf = Callable[[str], str]
"""The text of a file, by its path."""

FOR = regex(r"\bfor\s*(?=\()")
NAME = regex(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
"""A name that is no member's."""


_ASSIGNS = regex(r"\+\+|--|(?<![=!<>])=(?!=)")
_CALLED = regex(r"(\w+)\s*\(")
_PURE = frozenset(name for name, known in BUILTINS.items() if known.computes) | {
    "sizeof", "char", "short", "int", "long", "unsigned", "float", "double", "size_t",
}  # fmt: skip
"""What computes a number from numbers and does nothing else, with what is spelled as a call of it."""


def may_have_effect(code: str) -> bool:
    """Whether an expression must not be evaluated twice: it assigns, or calls something that might."""
    return _ASSIGNS.search(code) is not None or not _PURE.issuperset(_CALLED.findall(code))


def outside_brackets(code: str) -> str:
    """What of an expression stands in no brackets, which says how tightly it binds as a whole."""
    depth, outside = 0, ""
    for letter in code_text(code).code:
        depth += (letter in "([{") - (letter in ")]}")
        outside += letter if depth == 0 and letter not in ")]}" else ""
    return outside


def changes(name: str, code: str) -> bool:
    """Whether a piece of code assigns to a variable."""
    by_one = r"\+\+|--"
    put = rf"\b{name}\b\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|{by_one})"
    return re.search(rf"{put}|(?:{by_one})\s*{name}\b", code) is not None


def free_name(name: str, source: CodeText, taken: Collection[str] = ()) -> str:
    """A name, with underscores behind it where it is one of the text's or of those that are taken."""
    while name in taken or name in source.words:
        name += "_"
    return name


def replaced(source: CodeText, path: str, begin: int, end: int, text: str) -> Edit:
    """The edit that puts a text in the place of what stands between two offsets."""
    return Edit(Place(path, *source.position(begin), *source.position(end)), text)


def number_of(text: str, source: CodeText) -> int | None:
    """The number that a text is, or that it is a name for throughout a file, whatever that is compiled with."""
    if (number := _NUMBER.fullmatch(text)) is not None:
        return int(number[1])
    if not text.isidentifier() or re.search(rf"[<,]\s*(?:\w+\s+)+{text}\b", source.code):
        return None
    macros = list(re.finditer(rf"^[ \t]*#[ \t]*define[ \t]+{text}\b(?!\()[ \t]*([^\n]*)", source.text, re.MULTILINE))
    constants = re.findall(rf"\b(?:const|constexpr)\s+(?:\w+\s+)+{text}\s*=\s*([^;]*);", source.code)
    values = [re.split(r"//|/\*", value)[0].strip() for value in (*(macro[1] for macro in macros), *constants)]
    number = _NUMBER.fullmatch(values[0]) if len(values) == 1 else None
    before = source.text[: macros[0].start()] if macros else ""
    if number is None or len(_OPENS.findall(before)) != len(_CLOSES.findall(before)):
        return None
    return int(number[1])


_NUMBER = regex(r"(\d+)[uUlL]*")
_OPENS = regex(r"^[ \t]*#[ \t]*if", re.MULTILINE)
_CLOSES = regex(r"^[ \t]*#[ \t]*endif\b", re.MULTILINE)


def parameter_names(kernel: KernelFacts, text_of: TextOf) -> list[str]:
    """The names of a kernel's parameters, as its text has them; empty for one that has none."""
    source = code_text(text_of(kernel.name_place.path))
    _, named = source.extent(kernel.name_place)
    opening = source.skip(named)
    closed = source.close(opening) if source.code[opening : opening + 1] == "(" else None
    spans = source.between_commas(opening + 1, closed - 1) if closed is not None else []
    return [(NAME.findall(source.code[a:b].partition("=")[0]) or [""])[-1] for a, b in spans]
