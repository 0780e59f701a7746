"""What a text may include, however that is spelled: before clang opens any of it.

Names are looked for twice. As they are mostly written, at the begin of a line, they tell what a file needs. And once
more in all ways that the language has for the same, lines that go on, comments between the words, other spellings of
`#`, `#pragma GCC dependency`, names that macros put together: these tell too much rather than too little, and serve to
see what must not be opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from cudalint.regexes import regex

_WRITTEN: Final = regex(
    rb'^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*(?:include|include_next|import)\b[^"<\n]*(["<])([^">\n]+)'
    rb'|\b__has_include(?:_next)?[ \t]*\([ \t]*(["<])([^">\n]+)',
    re.MULTILINE,
)
_SPLICE: Final = regex(rb"(?:\\|\?\?/)[ \t\f\v]*(?:\r\n|\n|\r)")
"""Where a line goes on: the language's second phase of translation, behind its first, the trigraphs."""
_BLANK: Final = rb"(?:[ \t\f\v\0]++|/\*(?:[^*]|\*(?!/)){0,500}+\*/)*+"
"""Blanks and comments. The limit has a text of nothing but begun comments take no more than its length."""
_ANY: Final = regex(
    rb"(?:\#|%:|\?\?=)" + _BLANK + rb"(?:include_next|include|import|embed)\b" + _BLANK + rb"(?P<named>[^\n\r]*)"
    rb"|\b(?:__has_include(?:_next)?|__has_embed|dependency)\b(?P<asked>[^\n\r]*)"
)
_DEFINED: Final = regex(
    rb"(?:\#|%:|\?\?=)" + _BLANK + rb"define\b" + _BLANK + rb"\w+(?:\([^()\n\r]*\))?(?P<body>[^\n\r]*)"
)
_QUOTED: Final = regex(rb'"([^"\n]+)"?|<([^>\n]+)>?|\(([^()"<\n]+)')
"""What a piece of a line may name: within quotes, or, where a macro makes a string of its argument, without."""
_MOST: Final = 4_096
"""Bytes of a path."""


class Included(NamedTuple):
    name: str
    is_quoted: bool
    line: int
    is_needed: bool = True
    """Whether it is included in so many words, and not only asked for, or perhaps named."""


def included_in(text: bytes) -> Iterator[Included]:
    """What stands there as it is mostly written."""
    line, at = 1, 0
    for match in _WRITTEN.finditer(text):
        line, at = line + text.count(b"\n", at, match.start()), match.start()
        name = match[2] or match[4]
        yield Included(os.fsdecode(name), (match[1] or match[3]) == b'"', line, match[2] is not None)


def perhaps_included_in(text: bytes) -> tuple[tuple[Included, ...], bool]:
    """All that may be included or asked for, whatever it looks like, and whether macros have a say in it."""
    text = _unspliced(text)
    found: list[Included] = []
    line, at, is_computed = 1, 0, False
    for match in _ANY.finditer(text):
        line, at = line + text.count(b"\n", at, match.start()), match.start()
        named = match["named"]
        is_computed = is_computed or (named if named is not None else match["asked"].lstrip(b" \t("))[:1] not in b'"<'
        found += (Included(name, True, line, False) for name in _names_in(named or match["asked"] or b""))
    return tuple(found), is_computed


def named_by_macros(text: bytes) -> Iterator[str]:
    """What the macros of a text may put together, by themselves, to a name."""
    for match in _DEFINED.finditer(_unspliced(text)):
        yield from names_in_macro(match["body"])


def names_in_macro(body: bytes) -> Iterator[str]:
    yield from _names_in(body)
    whole = body.strip()
    if 0 < len(whole) <= _MOST:
        yield os.fsdecode(whole)


def own_words(arguments: Iterable[str]) -> Iterator[str]:
    """The same for macros of a command line."""
    for argument in arguments:
        yield from names_in_macro(os.fsencode(argument.partition("=")[2]))


def _names_in(piece: bytes) -> Iterator[str]:
    for match in _QUOTED.finditer(piece):
        name = (match[1] or match[2] or match[3]).strip().rstrip(b"\\")
        if 0 < len(name) <= _MOST:
            yield os.fsdecode(name)


def _unspliced(text: bytes) -> bytes:
    return _SPLICE.sub(b"", text) if b"\\" in text or b"??/" in text else text
