"""Statements in a text: where the one begins that an expression is in, what it hangs on, and the block around it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.source.code import CodeText

HEAD = regex(r"(?:(if|for|while|switch)\s*(?:constexpr\s*)?(?=\()|(?:else|do)\b)")
"""What a statement hangs on; with what kind, where a condition follows."""
LABEL = regex(r"(?:case|default)\b|\w+\s*:(?!:)")


class Head(Struct, frozen=True):
    """A branch or a loop that a statement hangs on."""

    kind: str
    begin: int
    condition: str = ""
    """What is in the parentheses."""


class Statement(Struct, frozen=True):
    """An innermost statement."""

    begin: int
    end: int
    """Behind its semicolon."""
    heads: tuple[Head, ...] = ()
    """What it hangs on without braces, the outermost first."""

    @property
    def whole(self) -> int:
        """Where the outermost of its heads begins, or it itself."""
        return self.heads[0].begin if self.heads else self.begin


def heads_from(source: CodeText, start: int) -> Iterator[tuple[Head, int | None]]:
    """The branches and loops that a statement begins with, the outermost first, each with the offset behind it; None
    behind the last one where its condition does not end."""
    while (found := HEAD.match(source.code, start)) is not None:
        closed = source.close(found.end()) if found[1] else found.end()
        condition = source.text[found.end() + 1 : closed - 1] if found[1] and closed is not None else ""
        yield Head(found[1] or found[0], start, condition), closed
        if closed is None:
            return
        start = source.skip(closed)


def statement_at(source: CodeText, offset: int) -> Statement | None:
    """The innermost statement that an expression is in; None in a condition, or where it has no end in sight."""
    heads: list[Head] = []
    start = start_of_statement(source, offset)
    if start is None:
        return None
    for head, behind in heads_from(source, start):
        if behind is None or offset < behind:
            return None
        heads.append(head)
        start = source.skip(behind)
    semicolon = source.semicolon(start) if not LABEL.match(source.code, start) else None
    return None if semicolon is None else Statement(start, semicolon + 1, tuple(heads))


def start_of_statement(source: CodeText, offset: int) -> int | None:
    """Where the outermost statement begins that an offset of its block is in; None in the head of a loop."""
    depth = 0
    for at in range(offset - 1, -1, -1):
        letter = source.code[at]
        depth = max(0, depth + (letter in ")]") - (letter in "(["))
        if letter in "{}" or (letter == ";" and depth == 0):
            in_head = source.code.count("(", 0, at) != source.code.count(")", 0, at)
            return None if in_head else source.skip(at + 1)
    return None


def block_around(source: CodeText, offset: int) -> tuple[int, int] | None:
    """The offsets of the brace that opens the block around an offset, and behind the one that closes it."""
    depth = 0
    for at in range(offset - 1, -1, -1):
        depth += (source.code[at] == "}") - (source.code[at] == "{")
        if depth < 0:
            closed = source.close(at)
            return None if closed is None else (at, closed)
    return None


def has_other_side(source: CodeText, end: int) -> bool:
    """Whether an `else` follows what ends at an offset."""
    return source.code.startswith("else", source.skip(end))


def head_of_block(source: CodeText, opening: int) -> Head | None:
    """The branch or loop whose body a block is, by the brace that opens it."""
    start = start_of_statement(source, opening)
    found: Head | None = None
    for head, behind in heads_from(source, start) if start is not None else ():
        if behind is None or head.begin >= opening:
            break
        found, start = head, source.skip(behind)
    return found if start == opening else None
