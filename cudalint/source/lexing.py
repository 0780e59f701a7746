"""The one lexer of C++ texts: which pieces are comments and literals, without being fooled by raw strings, digit
separators and quotes in comments. It takes any text, in time that grows with its length only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cudalint.regexes import regex

DIRECTIVE: Final = regex(r"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
"""Of the preprocessor, with the lines that continue it; in a text without comments."""
_FREE: Final = r"(?:(?<=(?<!\w)MARK)|(?<=(?<!\w)[uUL]MARK)|(?<=(?<!\w)u8MARK))"
"""Behind a mark with no word in front of it but the prefix of a literal: in `1'000` and `PAR"("` there is another."""
_TOKEN: Final = regex(
    r"""
    [/"'] (?:
      (?<=/) (?P<comment> /(?:[^\\\n]|\\(?:\r?\n)?)* | \*.*?(?:\*/|\Z) )
    | RAW (?P<delimiter>[^()\\\s]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z)
    | (?<=") (?:[^"\\\n]|\\.)*+ (?:"|(?P<unfinished>))
    | CHARACTER (?:[^'\\\n]|\\.){0,100}+'
    )""".replace("RAW", _FREE.replace("MARK", 'R"')).replace("CHARACTER", _FREE.replace("MARK", "'")),
    re.VERBOSE | re.DOTALL | re.ASCII,
)
"""It begins with the three letters that matter, which the engine of regular expressions skips to. Characters are short,
so that a line of quotes that close nothing takes no more than its length."""
_LETTER: Final = regex(r"[^\r\n]")


def comments_in(text: str) -> Iterator[re.Match[str]]:
    """The comments, with their delimiters; one that nothing closes reaches to the end."""
    return (match for match in _TOKEN.finditer(text) if match["comment"] is not None)


def blanked(text: str, *, directives: bool = True) -> str:
    """The text with spaces in the place of comments, of literals that are closed, and of directives, if that is asked
    for. Line ends and offsets stay."""
    code = _TOKEN.sub(_blank_of_token, text)
    return DIRECTIVE.sub(blank, code) if directives and "#" in code else code


def blank(match: re.Match[str]) -> str:
    """Spaces in the place of a match."""
    return _LETTER.sub(" ", match[0])


def _blank_of_token(match: re.Match[str]) -> str:
    return match[0] if match["unfinished"] is not None else blank(match)
