"""Statements taken out of a source text."""

from __future__ import annotations

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.spelling import replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text


def deletion(text: str, place: Place) -> tuple[Edit, ...]:
    """What takes out the call at a place, with its line if nothing else is on it, and the comment that is about it;
    nothing where the call is not a statement of a block, such as the body of an `if` or a part of an expression."""
    source = code_text(text)
    begin, end = source.extent(place)
    semicolon = source.skip(end)
    if not source.code[begin:end].strip() or source.code[semicolon : semicolon + 1] != ";":
        return ()
    is_one_of_several = 0 < source.statement_start(begin) == source.last_before(begin)
    if not is_one_of_several or _is_behind_directive(source.text, begin) or source.is_in_parentheses(begin):
        return ()  # A semicolon before may be one of a loop's head.
    end = semicolon + 1
    margin = source.margin(begin)
    line_end = source.text.find("\n", end)
    if margin is not None and line_end >= 0 and not _without_comments(source.text[end:line_end]).strip():
        begin, end = begin - len(margin), line_end + 1
        if not source.text[end:].partition("\n")[0].strip(" \t\r}"):
            begin = _with_lines_above(source, begin)
    return (replaced(source, place.path, begin, end, ""),)


_COMMENT = regex(r"//(?!.*\\\s*\Z).*\Z|/\*.*?\*/")


def _without_comments(rest: str) -> str:
    """What is left of the rest of a line without the comments that end on it, which are about what is before them."""
    return _COMMENT.sub("", rest)


def _with_lines_above(source: CodeText, begin: int) -> int:
    """Where the comment begins whose last line is above a line: it is about that line, if nothing follows for which it
    could be a heading. What is said to a program (`cudalint:`) stays."""
    start = begin
    while start:
        line_start = source.text.rfind("\n", 0, start - 1) + 1
        line = source.text[line_start:start].strip()
        if not line.startswith("//") or "cudalint:" in line or line.endswith("\\"):
            break
        start = line_start
    return start


def _is_behind_directive(text: str, begin: int) -> bool:
    """Whether the last line above an offset that is not blank is a directive."""
    end = begin
    while end and text[end - 1].isspace():
        end -= 1
    start = text.rfind("\n", 0, end) + 1
    return "\n" in text[end:begin] and text[start:end].lstrip(" \t").startswith("#")
