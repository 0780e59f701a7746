"""Files of a folder that do no more than to instantiate the same templates with other arguments, one for each set of
them: a few of them, which span all arguments, stand for the others.

A source is of a family if it has no braces of its own, only directives, calls of macros and explicit instantiations.
Those with the same directives, but for numbers in them, and the same calls, but for arguments, are one family.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

from cudalint.regexes import regex
from cudalint.source.comments import COMMENT_IN_BYTES
from cudalint.source.spanning import spanning

_LONGEST: Final = 20_000
_DIRECTIVE: Final = regex(r"[ \t]*#(?:[^\n\\]|\\.|\\\n)*")
_TOKEN: Final = regex(r"[A-Za-z_]\w*|\d\w*|\S")
_DIGITS: Final = regex(r"\d+")
_Row = tuple[str, ...]


def stood_for(texts: Mapping[str, bytes]) -> set[str]:
    """The files that others stand for, of files by their paths."""
    families: dict[object, list[tuple[str, _Row]]] = {}
    for path, text in texts.items():
        read = _read(text)
        if read is not None:
            heads, rows = read
            family = os.path.dirname(path), heads, frozenset(row[0] for row in rows)
            families.setdefault(family, []).extend((path, row) for row in rows)
    found: set[str] = set()
    for members in families.values():
        chosen = {members[number][0] for number in spanning([row for _, row in members])}
        found |= {path for path, _ in members} - chosen
    return found


def _read(text: bytes) -> tuple[str, list[_Row]] | None:
    """The directives of a file without the numbers in them, and its statements: what each calls, the numbers of the
    directives, and its arguments. None where it has code of its own."""
    if len(text) > _LONGEST:
        return None
    plain = COMMENT_IN_BYTES.sub(b" ", text).decode("utf-8", "replace")
    directives = "\n".join(" ".join(each.split()) for each in _DIRECTIVE.findall(plain))
    code = _DIRECTIVE.sub("", plain)
    if "{" in code or "include" not in directives:
        return None
    numbers = _DIGITS.findall(directives)
    rows = [(head, *numbers, *arguments) for head, arguments in _statements(code)]
    if not rows and "define" not in directives:
        return None  # What it includes may be anything.
    return (_DIGITS.sub("#", directives), rows or [("", *numbers)])


def _statements(code: str) -> Iterator[tuple[str, list[str]]]:
    """What stands before the first bracket of each, and the words within brackets. One that is closed may end without
    a semicolon, as calls of macros do."""
    head: list[str] = []
    arguments: list[str] = []
    depth = 0
    for word in _TOKEN.findall(code):
        depth += (word in "(<") - (word in ")>")
        if word == ";" and depth <= 0:
            yield " ".join(head), arguments
            head, arguments = [], []
        elif depth > 0 or word in ")>":
            arguments.append(word)
        elif arguments and arguments[-1] == ")" and (word[0].isalpha() or word[0] == "_"):
            yield " ".join(head), arguments
            head, arguments = [word], []
        else:
            head.append(word)
    if head:
        yield " ".join(head), arguments
