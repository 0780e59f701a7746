"""The line on which a compiled access stands.

Nsight Compute and cuobjdump give an instruction the line of nvcc's line table. Of a load or a store over several lines
that is where the last name or number of its address begins; calls, macros and `sizeof` count as their first word, what
follows the address (`]`, `.x`, `=`) for nothing, and what the compiler's front end folds (`2 * (3 + 1)`, anything times
zero) as where that begins. Read from nvdisasm's line tables of some seventy accesses (nvcc 13.0);
tests/toolchain/test_line_table.py holds them.
"""

from __future__ import annotations

import re

from cudalint.facts import Place
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_MEMBER = regex(r"(?:\.|->)\s*[A-Za-z_]\w*\s*$")
_WORD = regex(r"\w[\w.]*$")
_NAME = regex(r"[A-Za-z_]\w*\s*$")
_NUMBER = regex(r"\d[\w.]*$")
_ZERO = regex(r"0+[uUlL]*$")
_OPERATOR = regex(r"(?P<operator>[-+*/%]|<<|>>)\s*$")
_UNARY = ("-", "+")
_BINDING_FIRST = ("*", "/", "%")
_NO_CALLS = frozenset({"asm", "volatile", "__asm__", "__volatile__"})
_CLOSING = ")]}"


def compiled_at(text: str, place: Place) -> tuple[int, int]:
    """Line and column of the word with which the compiler notes an access."""
    if place.line == place.end_line:
        return place.line, place.column
    source = code_text(text)
    start, end = source.extent(place)
    found = _last_word(source, start, end)
    return source.position(found) if found is not None else (place.line, place.column)


def _last_word(source: CodeText, start: int, end: int) -> int | None:
    """Where the last operand of the address begins."""
    while end > start:
        piece = source.code[start:end].rstrip()
        end = start + len(piece)
        member, word = _MEMBER.search(piece), _WORD.search(piece)
        if piece.endswith(")"):
            name = _called(source, start, end)
            if name is not None:
                return name
            end -= 1
        elif member is not None and member.start():
            end = start + member.start()
        elif word is not None:
            return _folded(source, start, start + word.start(), end)
        else:
            end -= 1
    return None


def _folded(source: CodeText, start: int, at: int, end: int) -> int:
    """Where the constant begins that the word from `at` to `end` is folded into."""
    word = source.code[at:end]
    while _NUMBER.match(word):
        before = source.code[start:at].rstrip()
        operator, opened = _OPERATOR.search(before), before[:-1]
        if before.endswith("(") and not _NAME.search(opened):
            at = start + len(opened)
            continue
        left = _WORD.search(before[: operator.start()].rstrip()) if operator is not None else None
        if operator is None or not _is_folded(word, operator["operator"], before, left):
            break
        at = start + (left.start() if left is not None else operator.start())
    return at


def _is_folded(word: str, operator: str, before: str, left: re.Match[str] | None) -> bool:
    """Whether the front end computes what an operator makes of a number and of what is left of it."""
    if left is None:
        return operator in _UNARY and before[:-1].rstrip()[-1:] not in _CLOSING
    if not _NUMBER.match(left[0]):
        return operator == "*" and _ZERO.match(word) is not None
    return operator in _BINDING_FIRST or before[: left.start()].rstrip().endswith("(")


def _called(source: CodeText, start: int, end: int) -> int | None:
    """Where the name of the call begins that ends there, if it is one."""
    depth = 0
    for at in range(end - 1, start - 1, -1):
        depth += (source.code[at] in _CLOSING) - (source.code[at] in "([{")
        if not depth:
            name = _NAME.search(source.code[start:at])
            return start + name.start() if name is not None and name[0].strip() not in _NO_CALLS else None
    return None
