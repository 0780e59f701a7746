"""Where a kernel has the statement whose access is to go through a tile: the branches and the loop around it.

    if (x >= n || y >= n) return;
    for (int j = 0; j < TILE; j += ROWS) {
        int from = (y + j) * n + x;
        out[x * n + y + j] = in[from];
    }

A block with fewer rows than its tile has takes them in the turns of such a loop. Threads that have left would miss the
barrier: they stay, and their condition becomes a guard around all that they would do.
"""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct

from cudalint.fixes.counted_loops import with_pragmas
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import LEAVES, statements
from cudalint.regexes import regex
from cudalint.source.code import CodeText

DECLARATION = regex(
    r"((?:const\s+|unsigned\s+|signed\s+|long\s+|short\s+)*(?:int|unsigned|long|short|size_t|u?int\d+_t|uint|auto))\s+(?=\w+\s*=)"
)
INITIAL = regex(r"\s*([A-Za-z_]\w*)\s*=(?!=)")
CALL = regex(r"\b(?!if\b|sizeof\b|min\b|max\b|int\b|size_t\b)[A-Za-z_]\w*\s*\(")
MEMORY = regex(r"\[|->|\*\s*\(|(?:^|[=(,;])\s*\*\s*\w")
_WAITS = regex(r"\w*sync\w*")
_IF = regex(r"if\s*(?=\()")
_FOR = regex(r"for\s*(?=\()")
_HEAD = regex(
    r"\(\s*(?P<kind>[A-Za-z_][\w\s]*?)\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<first>[^;]+?)\s*;"
    r"\s*(?P=name)\s*<\s*(?P<bound>[^;]+?)\s*;\s*(?P=name)\s*\+=\s*(?P<step>[^;]+?)\s*\)"
)
_NOT_PLAIN = regex(r"(?:for|while|do|switch|if|else|return)\b")
_RETURN = regex(r"\{?\s*return\s*;\s*\}?")
_COMPARISON = regex(r"([^<>=!?&|]+?)\s*(>=|<=|==|!=|>|<)\s*([^<>=!?&|]+)")
_OTHERWISE = {">=": "<", "<=": ">", "==": "!=", "!=": "==", ">": "<=", "<": ">="}


class Turns(Struct, frozen=True):
    """A loop through the rows of a tile, as many at a time as the block has."""

    name: str
    first: str
    bound: str
    step: str
    head: str
    """Its text up to the closing parenthesis, with the line that says how often it is to be unrolled."""


class Initial(Struct, frozen=True):
    """A variable's type, and what it is given where it is declared."""

    type: str
    value: str


class StagedStatement(Struct, frozen=True):
    """A statement at the outermost level of a kernel, and what decides whether and how often it does its work."""

    begin: int
    end: int
    inner: tuple[int, int]
    """The statement with the access, without what is around it."""
    guards: tuple[str, ...]
    turns: Turns | None
    variables: dict[str, Initial]
    """Declared before, at the outermost level and around the access."""
    inside: tuple[tuple[int, int], ...]
    """Declarations around the access."""
    leaves: tuple[tuple[int, int], ...]
    """Statements with which threads leave before, whose conditions are the first of the guards."""
    kept: tuple[int, int]
    """All that threads must not do that left before: from the first statement that does more than to declare an index
    to the end of the kernel. The statement alone where none leaves."""


def statement_around(opening: int, offset: int, source: CodeText) -> StagedStatement | None:
    """The statement that an offset is in; None where more is around it than plain branches and one loop. Raises an
    `Obstacle` where threads leave before it that would have to do something else."""
    variables: dict[str, Initial] = {}
    leaves: list[tuple[int, int]] = []
    guards: list[str] = []
    kept = None
    for begin, end in statements(source, opening):
        if begin <= offset < end:
            break
        declares = variables_of(source, begin, end)
        if LEAVES.search(source.code, begin, end):
            if kept is not None:
                raise Obstacle(f"threads leave at line {source.position(begin)[0]}, when they have done something")
            guards.append(_stays(source, begin, end))
            leaves.append((begin, end))
        elif leaves and kept is None and not (declares and _only_computes(declares)):
            kept = begin
        variables |= declares
    else:
        return None
    following = source.skip(end)
    if re.match(r"else\b", source.code[following : following + 5]):
        return None
    inside: list[tuple[int, int]] = []
    turns, at, last = None, begin, end
    while True:
        branch, loop = _IF.match(source.code, at), _FOR.match(source.code, at)
        opens = (branch or loop).end() if branch or loop else None  # type: ignore[union-attr]
        closed = source.close(opens) if opens is not None else None
        if opens is not None and closed is None:
            return None
        if closed is not None and branch is not None:
            guards.append(source.text[branch.end() + 1 : closed - 1].strip())
            at = source.skip(closed)
        elif closed is not None and loop is not None:
            head = _HEAD.fullmatch(source.code, loop.end(), closed)
            if head is None or turns is not None:
                return None
            first = with_pragmas(source, at)
            begin = min(begin, first)
            turns = Turns(head["name"], head["first"], head["bound"], head["step"], source.text[first:closed])
            at = source.skip(closed)
        elif source.code[at] == "{":
            *before, only = list(statements(source, at + 1)) or [(at, at)]
            declared = [variables_of(source, *each) for each in before]
            if not only[0] <= offset < only[1] or not all(each and _only_computes(each) for each in declared):
                return None
            inside += before
            for each in declared:
                variables |= each
            at, last = only
        else:
            break
    plain = source.code[at:last]
    if "{" in plain or _NOT_PLAIN.match(plain):
        return None
    first = begin if kept is None else kept
    whole = (first, _end_of_all(source, first)) if leaves else (begin, end)
    return StagedStatement(
        begin, end, (at, last), tuple(guards), turns, variables, tuple(inside), tuple(leaves), whole
    )


def _end_of_all(source: CodeText, begin: int) -> int:
    """Behind the last statement of a block, from an offset on. Raises an `Obstacle` where threads leave or wait for one
    another there."""
    *_, (_, end) = statements(source, begin)
    if (found := LEAVES.search(source.code, begin, end) or _WAITS.search(source.code, begin, end)) is not None:
        raise Obstacle(f"line {source.position(found.start())[0]} is for the threads that have not left before")
    return end


def variables_of(source: CodeText, begin: int, end: int) -> dict[str, Initial]:
    """The integers that a statement declares and gives a value."""
    declared = DECLARATION.match(source.code, begin, end)
    if declared is None:
        return {}
    borders = [declared.end() - 1, *source.find(",", declared.end(), end - 1), end - 1]
    found: dict[str, Initial] = {}
    for a, b in pairwise(borders):
        initial = INITIAL.match(source.code, a + 1, b)
        if initial is not None:
            found[initial[1]] = Initial(declared[1], source.text[initial.end() : b].strip())
    return found


def _only_computes(variables: dict[str, Initial]) -> bool:
    """Whether any thread may be given these values."""
    return not any(MEMORY.search(each.value) or CALL.search(each.value) for each in variables.values())


def _stays(source: CodeText, begin: int, end: int) -> str:
    """The condition under which threads don't leave at a statement."""
    branch = _IF.match(source.code, begin)
    closed = source.close(branch.end()) if branch is not None else None
    if branch is None or closed is None or not _RETURN.fullmatch(source.code[source.skip(closed) : end]):
        line = source.position(begin)[0]
        raise Obstacle(f"threads may leave at line {line}, and would miss the barrier")
    text = source.text[branch.end() + 1 : closed - 1].strip()
    parts = [part.strip() for part in text.split("||")]
    compared = [_COMPARISON.fullmatch(part) for part in parts]
    if "&&" in text or not all(_is_closed(part) for part in parts):
        return f"!({text})"
    return " && ".join(
        f"{each[1]} {_OTHERWISE[each[2]]} {each[3]}" if each is not None else f"!({part})"
        for part, each in zip(parts, compared, strict=True)
    )


def _is_closed(text: str) -> bool:
    return text.count("(") == text.count(")") and not text.startswith(")")
