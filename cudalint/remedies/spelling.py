"""How code is spelled, as edits of several kinds have to know it: names, what changes them, which of them are free, and
the edit that puts a text in the place of another."""

from __future__ import annotations

import re
from collections.abc import Collection

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.source.code import CodeText

FOR = re.compile(r"\bfor\s*(?=\()")
NAME = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
"""A name that is no member's."""


def changes(name: str, code: str) -> bool:
    """Whether a piece of code assigns to a variable."""
    by_one = r"\+\+|--"
    put = rf"\b{name}\b\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|{by_one})"
    return re.search(rf"{put}|(?:{by_one})\s*{name}\b", code) is not None


def free_name(name: str, source: CodeText, taken: Collection[str] = ()) -> str:
    """A name, with underscores behind it where it is one of the text's or of those that are taken."""
    while name in taken or re.search(rf"\b{name}\b", source.code):
        name += "_"
    return name


def replaced(source: CodeText, path: str, begin: int, end: int, text: str) -> Edit:
    """The edit that puts a text in the place of what stands between two offsets."""
    return Edit(Place(path, *source.position(begin), *source.position(end)), text)
