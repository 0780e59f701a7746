"""Statements taken out of a source text."""

from __future__ import annotations

import re

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.remedies.spelling import replaced
from cudalint.source.code import code_text

_DIRECTIVE_ABOVE = re.compile(r"(?:^|\n)[ \t]*#[^\n]*\n\s*\Z")


def deletion(text: str, place: Place) -> tuple[Edit, ...]:
    """What takes out the call at a place, with its line if nothing else is on it; nothing where the call is not a
    statement of a block, such as the body of an `if` or a part of an expression."""
    source = code_text(text)
    begin, end = source.extent(place)
    ahead = source.code[:begin]
    semicolon = source.skip(end)
    if not source.code[begin:end].strip() or source.code[semicolon : semicolon + 1] != ";":
        return ()
    is_one_of_several = 0 < source.statement_start(begin) == source.last_before(begin)
    if not is_one_of_several or _DIRECTIVE_ABOVE.search(source.text[:begin]) or _in_parentheses(ahead):
        return ()
    end = semicolon + 1
    margin = source.margin(begin)
    line_end = source.text.find("\n", end)
    if margin is not None and line_end >= 0 and not source.text[end:line_end].strip():
        begin, end = begin - len(margin), line_end + 1
    return (replaced(source, place.path, begin, end, ""),)


def _in_parentheses(ahead: str) -> bool:
    """Whether a semicolon before is one of a loop's head."""
    depth = 0
    for letter in reversed(ahead):
        depth += (letter == "(") - (letter == ")")
        if depth > 0 or letter in "{}":
            return depth > 0
    return False
