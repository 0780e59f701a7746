"""Where the text of a new statement goes: before a statement, or at the end of a loop's body.

Places know statements, and texts know braces: a statement in front of a body without braces takes both. Where the text
is not plain (a loop that a macro spells, a statement whose end is not in sight), there is nothing to insert.
"""

from __future__ import annotations

import re
from typing import Literal

from cudalint.facts import Insertion, Place
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.statements import HEAD, LABEL, heads_from, start_of_statement

_PRAGMA = regex(r"^([ \t]*)(?:#[ \t]*pragma\b|_Pragma\b)[^\n]*\n\Z", re.MULTILINE)
"""The line before."""
_LOOP = regex(r"(?:for|while)\s*(?=\()|do\b")
_BODILESS = regex(r"(?:\)|\belse|\bdo)\Z")
"""What stands before the body of a branch or a loop that has no braces."""
_LONGEST_BODILESS = len(" else")
_AHEAD_OF_SEVERAL = ("{", "}", ";", ":")
"""What stands before a statement in braces."""
_NOT_ALONE = regex(r"(?:else|while|case|default)\b|\w+\s*:(?!:)")
"""How a statement begins that something before it or in it belongs to."""
_INDENT = "    "

_Pieces = list[tuple[int, str]]
"""Offsets, and what is inserted there."""


def insertions(text: str, place: Place, where: Literal["before", "end"], statement: str) -> tuple[Insertion, ...]:
    """What to insert for `statement` to stand before the statement at a place, or at the end of the loop there."""
    source = code_text(text)
    begin, end = source.extent(place)
    if not source.code[begin : begin + 1].strip():
        return ()  # It stands in a literal, of a Python program for example.
    find = _before if where == "before" else _at_end
    found = [(source.position(offset), inserted) for offset, inserted in find(source, begin, end, statement)]
    return tuple(Insertion(Place(place.path, *at, *at), inserted) for at, inserted in found)


def before_statement(text: str, place: Place, statement: str) -> tuple[Insertion, ...]:
    """What to insert for `statement` to stand before the whole statement that an expression is in, with the branches
    that it hangs on without braces."""
    source = code_text(text)
    begin, _ = source.extent(place)
    ahead = source.statement_start(begin)
    if not ahead or not source.code[begin : begin + 1].strip():
        return ()
    start = source.skip(ahead)
    if source.code.count("(", 0, ahead) != source.code.count(")", 0, ahead):
        return ()  # Within the head of a loop.
    if _NOT_ALONE.match(source.code, start):
        return ()
    at = source.position(start)
    return insertions(text, Place(place.path, *at, place.end_line, place.end_column), "before", statement)


def within_branches(text: str, place: Place, statement: str) -> tuple[Insertion, ...]:
    """What to insert for `statement` to stand before the innermost statement that an expression is in, behind all heads
    of branches and loops around it; before a branch whose condition it is in."""
    source = code_text(text)
    offset, _ = source.extent(place)
    start = start_of_statement(source, offset)
    if start is None:
        return ()
    for head, behind in heads_from(source, start):
        if behind is None or (offset < behind and head.kind != "if"):
            return ()
        if offset < behind:
            break
        start = source.skip(behind)
    if LABEL.match(source.code, start):
        return ()
    semicolon = source.semicolon(start)
    is_branch = HEAD.match(source.code, start) is not None
    if semicolon is None or (is_branch and not _is_one_of_several(source, start)):
        return ()
    begin, end = source.position(start), source.position(semicolon + 1)
    return insertions(text, Place(place.path, *begin, *end), "before", statement)


def _before(source: CodeText, begin: int, end: int, statement: str) -> _Pieces:
    if _is_one_of_several(source, begin):
        begin = _before_pragmas(source, begin)
        margin = source.margin(begin)
        return [(begin, f"{statement} " if margin is None else f"{statement}{source.line_end}{margin}")]
    behind = _behind(source, end)
    ahead = source.last_before(begin)
    if not _BODILESS.search(source.code[max(0, ahead - _LONGEST_BODILESS) : ahead]) or behind is None:
        return []
    return [(begin, f"{{ {statement} "), (behind, " }")]


def _is_one_of_several(source: CodeText, begin: int) -> bool:
    ahead = source.last_before(begin)
    return source.code[ahead - 1 : ahead] in _AHEAD_OF_SEVERAL


def _before_pragmas(source: CodeText, begin: int) -> int:
    """Where the pragmas of a loop begin, which have to stay with it."""
    start = begin
    while pragma := _PRAGMA.search(source.text, 0, start - len(source.margin(start) or "")):
        start = pragma.start() + len(pragma[1])
    return start


def _behind(source: CodeText, end: int) -> int | None:
    """Behind the semicolon of a statement, which its place need not hold."""
    if source.code[end - 1 : end] in ("}", ";"):
        return end
    following = source.skip(end)
    return following + 1 if source.code[following : following + 1] == ";" else None


def _at_end(source: CodeText, begin: int, end: int, statement: str) -> _Pieces:
    loop = _LOOP.match(source.code, begin)
    if loop is None:
        return []
    is_do = loop[0] == "do"
    header = loop.end() if is_do else source.close(loop.end())
    if header is None:
        return []
    body = source.skip(header)
    if source.code[body : body + 1] == "{":
        closed = source.close(body)
        if closed is None or not (is_do or closed == end):
            return []
        return [_before_brace(source, body, closed - 1, statement)]
    behind = _behind(source, end)
    if is_do or behind is None:
        return []
    return _in_braces(source, begin, header, body, behind, statement)


def _before_brace(source: CodeText, opening: int, brace: int, statement: str) -> tuple[int, str]:
    margin = source.margin(brace)
    if margin is None:
        return brace, f"{statement} "
    more = _deeper(source, source.skip(opening + 1), margin)[len(margin) :]
    return brace, f"{more}{statement}{source.line_end}{margin}"


def _in_braces(source: CodeText, begin: int, header: int, body: int, behind: int, statement: str) -> _Pieces:
    margin = source.margin(begin)
    if margin is None or source.margin(body) is None:
        return [(header, " {"), (behind, f" {statement} }}")]
    lines = f"{source.line_end}{_deeper(source, body, margin)}{statement}{source.line_end}{margin}}}"
    return [(header, " {"), (behind, lines)]


def _deeper(source: CodeText, body: int, margin: str) -> str:
    """The indentation of a body, as its first statement has it."""
    inner = source.margin(body)
    return inner if inner is not None and inner.startswith(margin) and inner != margin else margin + _INDENT
