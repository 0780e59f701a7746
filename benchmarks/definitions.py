"""Finds the definitions of kernels in the text of a source: a count that owes nothing to the front end's tree.

It knows comments, strings, directives and the pieces that preprocessor conditions leave out; nothing of macros and
headers. A kernel that a macro writes is therefore not expected to be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_NOT_CODE = re.compile(
    r"""
    //(?:[^\\\n]|\\.)*
  | /\*.*?(?:\*/|\Z)
  | R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"
  | "(?:[^"\\\n]|\\.)*"
  | (?<![\w])'(?:[^'\\\n]|\\.)+'
  | ^[ \t]*\#(?:[^\\\n]|\\.)*                                  # a directive, with the lines that continue it
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_KERNEL = re.compile(r"\b__global__\b")
_DECIDING = re.compile(r"[(){};]")


class Definition(NamedTuple):
    line: int
    column: int
    """Of the word `__global__`; both start at 1, columns count bytes."""


def kernel_definitions(source: str, skipped: Sequence[tuple[int, int]]) -> Iterator[Definition]:
    """The definitions that stand in the text outside of `skipped`, whose pieces are first and last lines."""
    code = _NOT_CODE.sub(_blank, source)
    for match in _KERNEL.finditer(code):
        line = code.count("\n", 0, match.start()) + 1
        if any(first <= line <= last for first, last in skipped) or not _has_body(code, match.end()):
            continue
        before = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
        yield Definition(line, len(before.encode("utf-8", "surrogateescape")) + 1)


def _blank(match: re.Match[str]) -> str:
    """As many blanks, so that places stay."""
    return re.sub(r"[^\n]", " ", match[0])


def _has_body(code: str, start: int) -> bool:
    """Whether the declaration that goes on here opens a brace outside of its parentheses before it ends."""
    depth = 0
    for match in _DECIDING.finditer(code, start):
        match match[0]:
            case "(":
                depth += 1
            case ")":
                depth -= 1
            case "{" if depth == 0:
                return True
            case ";" if depth == 0:
                return False
    return False
