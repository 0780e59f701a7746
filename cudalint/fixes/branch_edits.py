"""The edit that ends a branch before a barrier, which all threads then come to, and begins it again behind.

    if (i < n) {                    if (i < n) {
        s[t] = in[i];                   s[t] = in[i];
        __syncthreads();            }
        out[i] = s[255 - t];        __syncthreads();
    }                               if (i < n) {
                                        out[i] = s[255 - t];
                                    }
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import NAME, changes, may_have_effect, replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.statements import (
    Head,
    block_around,
    has_other_side,
    head_of_block,
    start_of_statement,
    statement_at,
)

_DECLARED = regex(r"[;{}]\s*(?:const\s+|auto\s+|[A-Za-z_][\w:]*(?:<[^;{}]*>)?[\s*&]+)+([A-Za-z_]\w*)\s*[=;,\[({]")

_OF_MEMORY = regex(r"\[|->|(?:\A|[(,=<>!&|?:+-])\s*\*")


def hoisted_barrier(barrier: Place, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """The edit for a barrier that is a statement in the block of a branch, or of branches in one another. Raises an
    `Obstacle` where a branch does more than to have such a block, or something in it lives on both sides."""
    source = code_text(text_of(barrier.path))
    begin, _ = source.extent(barrier)
    statement = statement_at(source, begin)
    if statement is None or statement.begin != begin:
        raise Obstacle("the barrier is no statement of its own")
    if statement.heads:
        if any(head.kind != "if" for head in statement.heads) or has_other_side(source, statement.end):
            raise Obstacle("the barrier hangs on a loop, or on a branch with another side")
        return (replaced(source, barrier.path, statement.whole, statement.begin, ""),)
    heads, closed = _branches_around(source, begin)
    if not heads:
        raise Obstacle("the barrier is in no branch whose block could end before it")
    before = source.code[heads[-1][1] : begin]
    behind = source.code[statement.end : closed]
    for head, opening in heads:
        _require_same(head, source.code[opening:begin])
    for name in _DECLARED.findall("{" + before[1:]):
        if re.search(rf"\b{name}\b", behind):
            raise Obstacle(f"`{name}` lives on both sides of the barrier")
    return (_ended_and_begun_again(source, barrier.path, (begin, statement.end), heads),)


def _branches_around(source: CodeText, begin: int) -> tuple[list[tuple[Head, int]], int]:
    """The branches that a statement is in, the innermost first, with the brace of each, and where the last one ends."""
    found: list[tuple[Head, int]] = []
    end = at = begin
    while (block := block_around(source, at)) is not None:
        head = head_of_block(source, block[0])
        if head is None or head.kind != "if":
            break
        if start_of_statement(source, head.begin) != head.begin or has_other_side(source, block[1]):
            raise Obstacle(f"the branch at line {source.position(head.begin)[0]} has another side")
        found.append((head, block[0]))
        at, end = head.begin, block[1]
    return found, end


def _require_same(head: Head, before: str) -> None:
    """Raises an `Obstacle` where a condition may be another one behind the barrier."""
    if may_have_effect(head.condition):
        raise Obstacle(f"`{head.condition}` can't be asked twice")
    if _OF_MEMORY.search(head.condition):
        raise Obstacle(f"other threads may change `{head.condition}` before it is asked again")
    for name in NAME.findall(head.condition):
        if changes(name, before):
            raise Obstacle(f"`{name}` changes before the barrier")


def _ended_and_begun_again(
    source: CodeText, path: str, extent: tuple[int, int], heads: list[tuple[Head, int]]
) -> Edit:
    begin, end = extent
    call = source.text[begin:end]
    margins = [source.margin(head.begin) for head, _ in heads]
    own = source.margin(begin)
    if own is None or any(margin is None for margin in margins):
        ends = " ".join("}" for _ in heads)
        begins = " ".join(f"if ({head.condition}) {{" for head, _ in reversed(heads))
        return replaced(source, path, begin, end, f"{ends} {call} {begins}")
    lines = [f"{margin}}}" for margin in margins]
    lines.append(f"{margins[-1]}{call}")
    lines += [f"{source.margin(head.begin)}if ({head.condition}) {{" for head, _ in reversed(heads)]
    return replaced(source, path, begin - len(own), end, source.line_end.join(lines))
