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
from collections.abc import Callable, Sequence
from typing import NamedTuple

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
    branches = _branches_around(source, begin)
    if not branches:
        raise Obstacle("the barrier is in no branch whose block could end before it")
    before = source.code[branches[-1].opening : begin]
    behind = source.code[statement.end : branches[-1].closed]
    for branch in branches:
        _require_same(branch.head, source.code[branch.opening : begin])
    for name in _DECLARED.findall("{" + before[1:]):
        if re.search(rf"\b{name}\b", behind):
            raise Obstacle(f"`{name}` lives on both sides of the barrier")
    return (_ended_and_begun_again(source, barrier.path, (begin, statement.end), branches),)


class _Branch(NamedTuple):
    head: Head
    opening: int
    """Its brace."""
    closed: int
    """Behind the brace that closes it."""


def _branches_around(source: CodeText, begin: int) -> list[_Branch]:
    """The branches that a statement is in, the innermost first."""
    found: list[_Branch] = []
    at = begin
    while (block := block_around(source, at)) is not None:
        head = head_of_block(source, block[0])
        if head is None or head.kind != "if":
            break
        if start_of_statement(source, head.begin) != head.begin or has_other_side(source, block[1]):
            raise Obstacle(f"the branch at line {source.position(head.begin)[0]} has another side")
        found.append(_Branch(head, *block))
        at = head.begin
    return found


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
    source: CodeText, path: str, extent: tuple[int, int], branches: Sequence[_Branch]
) -> Edit:
    """Branches in which nothing comes before the barrier don't begin before it, and those in which nothing comes behind
    it don't begin again."""
    (begin, end), first, last = extent, 0, 0
    call = source.text[begin:end]
    while first < len(branches) and not source.text[branches[first].opening + 1 : begin].strip():
        begin, first = branches[first].head.begin, first + 1
    while last < len(branches) and not source.code[end : branches[last].closed - 1].strip():
        comment = source.text[end : branches[last].closed - 1].strip()
        if "\n" in comment:
            break
        call = f"{call}  {comment}".rstrip()
        end, last = branches[last].closed, last + 1
    ended, begun = [each.head for each in branches[first:]], [each.head for each in reversed(branches[last:])]
    margins = {head: source.margin(head.begin) for head in (*ended, *begun)}
    own, outer = source.margin(begin), source.margin(branches[-1].head.begin)
    if own is None or outer is None or None in margins.values():
        ends = ["}" for _ in ended]
        begins = [f"if ({head.condition}) {{" for head in begun]
        space = source.line_end if "//" in call else " "
        return replaced(source, path, begin, end, space.join((*ends, call, *begins)))
    lines = [f"{margins[head]}}}" for head in ended]
    lines.append(f"{outer}{call}")
    lines += [f"{margins[head]}if ({head.condition}) {{" for head in begun]
    return replaced(source, path, begin - len(own), end, source.line_end.join(lines))
