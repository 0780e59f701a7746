"""Statements of a kernel that all of its threads come to: those at its outermost level, as long as none has left."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.facts import KernelFacts
from cudalint.fixes.obstacles import Obstacle
from cudalint.regexes import regex
from cudalint.source.code import CodeText

LEAVES = regex(r"\b(?:return|goto|break|continue)\b")
"""What may keep threads from the statements behind it."""


def body_of(kernel: KernelFacts, source: CodeText) -> int:
    """Behind the brace that opens the kernel. Raises an `Obstacle` where there is none."""
    begin, end = source.extent(kernel.name_place)
    closed = source.close(source.skip(end))
    opening = source.code.find("{", closed or begin)
    if closed is None or opening < 0:
        raise Obstacle(f"`{kernel.name}` is spelled by a macro")
    return opening + 1


def statements(source: CodeText, begin: int) -> Iterator[tuple[int, int]]:
    """The statements of a block from its beginning to its closing brace."""
    at = source.skip(begin)
    while at < len(source.code) and source.code[at] != "}":
        end = _end(source, at)
        if end is None:
            return
        yield at, end
        at = source.skip(end)


def _end(source: CodeText, begin: int) -> int | None:
    """Behind a statement: its semicolon, or the brace that closes it."""
    at, depth = begin, 0
    while at < len(source.code):
        letter = source.code[at]
        if letter == "{" and depth == 0 and source.code[:at].rstrip()[-1:] not in ("=", ","):
            return source.close(at)
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return None
        if letter == ";" and depth == 0:
            return at + 1
        at += 1
    return None
