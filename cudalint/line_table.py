"""The line on which a compiled access stands.

Nsight Compute and cuobjdump give an instruction the line of nvcc's line table. Of a load or a store over several lines
that is where the last name or number of its address begins; calls, macros and `sizeof` count as their first word, what
follows the address (`]`, `.x`, `=`) for nothing. Read from nvdisasm's line tables of some sixty accesses (nvcc 13.0);
tests/test_line_table.py holds them.
"""

from __future__ import annotations

import re

from cudalint.code_text import CodeText, code_text
from cudalint.facts import Place

_MEMBER = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*\s*$")
_WORD = re.compile(r"\w[\w.]*$")
_NAME = re.compile(r"[A-Za-z_]\w*\s*$")
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
            return start + word.start()
        else:
            end -= 1
    return None


def _called(source: CodeText, start: int, end: int) -> int | None:
    """Where the name of the call begins that ends there, if it is one."""
    depth = 0
    for at in range(end - 1, start - 1, -1):
        depth += (source.code[at] in _CLOSING) - (source.code[at] in "([{")
        if not depth:
            name = _NAME.search(source.code[start:at])
            return start + name.start() if name is not None and name[0].strip() not in _NO_CALLS else None
    return None
