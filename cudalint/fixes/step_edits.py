"""The edit that puts barriers between the steps in which threads exchange values through shared memory.

    s[i] += s[i + 16];    becomes    {
                                         const auto step = s[i] + s[i + 16];
                                         __syncwarp();
                                         s[i] = step;
                                         __syncwarp();
                                     }

in one line. The last barrier is there for the next step, which reads what this one stores. A barrier stands where all
come to it: behind a branch that threads part at, whose condition is then asked again for what follows the barrier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Branch, Place, Race, RaceEnd
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import free_name, may_have_effect, outside_brackets, replaced
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.statements import (
    HEAD,
    Head,
    Statement,
    block_around,
    has_other_side,
    head_of_block,
    start_of_statement,
    statement_at,
)

_ASSIGNMENT = regex(r"(?<![=!<>+\-*/%&|^])(<<|>>|[-+*/%&|^])?=(?!=)")
_OPERATOR = regex(r"[-+*/%&|^<>=?,:]")
_NAME = regex(r"\s*([A-Za-z_]\w*)\s*")

Key = tuple[str, int]
"""A statement, by its path and where it begins."""


class _Step(Struct):
    """What is to be done about one statement."""

    path: str
    source: CodeText
    statement: Statement
    is_before: bool = False
    is_behind: bool = False
    others: list[RaceEnd] = []
    """What is to be ordered against it: a loop that has none of it is passed before, or begun behind."""
    is_split: bool = False
    """Whether what it reads and what it stores have to be parted."""


def step_edits(
    races: Iterable[Race], branches: Iterable[Branch], text_of: Callable[[str], str], call: str = "__syncwarp"
) -> tuple[Edit, ...]:
    """The edits that order all of some races. Raises an `Obstacle` where one is not spelled as a step."""
    steps: dict[Key, _Step] = {}
    parting = _parting(branches, text_of, {"uniform"} if call == "__syncthreads" else {"uniform", "warp-uniform"})
    edits: dict[Place, Edit] = {}
    for race in races:
        if (asked := _asked_first(race, parting, f"{call}();", text_of)) is not None:
            edits[asked.place] = asked
            continue
        first, second = _step(race.first, steps, text_of), _step(race.second, steps, text_of)
        if first is second or (_stores(race.second) and _is_in(race.first, second)):
            _require(_stores(race.second) or _stores(race.first), second)
            second.is_split = True
        elif _stores(race.first):
            first.is_behind = True
            first.others.append(race.second)
        else:
            second.is_before = True
            second.others.append(race.first)
    if call == "__syncthreads" and not edits and not any(step.is_split for step in steps.values()):
        raise Obstacle("no single barrier orders the two, or none where all threads come to it")
    for step in steps.values():
        for edit in _edits(step, parting, f"{call}();"):
            known = edits.get(edit.place)
            if known is not None and known.text.strip() != edit.text.strip():
                raise Obstacle(f"several barriers meet at line {edit.place.line}")
            edits[edit.place] = edit
    return tuple(edits[place] for place in sorted(edits))


def _asked_first(
    race: Race, parting: frozenset[Key], barrier: str, text_of: Callable[[str], str]
) -> Edit | None:
    """The edit for a branch that stores what its own condition reads: all ask, all wait, and then those store for whom
    it holds. None where a race is none of that kind."""
    load, store = race.first, race.second
    if load.operation == "store":
        load, store = store, load
    path = load.place.path
    if load.operation != "load" or not _stores(store) or store.place.path != path or race.across:
        return None
    source = code_text(text_of(path))
    offset, _ = source.extent(load.place)
    begin = start_of_statement(source, offset)
    head = HEAD.match(source.code, begin) if begin is not None else None
    closed = source.close(head.end()) if head is not None and head[1] == "if" else None
    if begin is None or head is None or closed is None or not begin < offset < closed:
        return None
    body = source.skip(closed)
    end = source.close(body) if source.code[body] == "{" else source.semicolon(body)
    margin = source.margin(begin)
    if end is None or margin is None or not body <= source.extent(store.place)[0] < end:
        return None
    at = begin
    while (block := block_around(source, at)) is not None and (around := head_of_block(source, block[0])) is not None:
        if (path, around.begin) in parting:
            return None
        at = around.begin
    name = free_name("holds", source)
    condition = source.text[head.end() + 1 : closed - 1].strip()
    lines = f"const bool {name} = {condition};", barrier, f"if ({name})"
    return replaced(source, path, begin, closed, f"{source.line_end}{margin}".join(lines))


def _stores(end: RaceEnd) -> bool:
    return end.operation == "store"


def _require(holds: bool, step: _Step) -> None:
    if not holds:
        raise Obstacle(f"line {step.source.position(step.statement.begin)[0]} is no plain step")


def _step(end: RaceEnd, steps: dict[Key, _Step], text_of: Callable[[str], str]) -> _Step:
    source = code_text(text_of(end.place.path))
    offset, _ = source.extent(end.place)
    statement = statement_at(source, offset) if source.code[offset : offset + 1].strip() else None
    if statement is None:
        raise Obstacle(f"line {end.place.line} is no statement of its own")
    key = end.place.path, statement.begin
    return steps.setdefault(key, _Step(end.place.path, source, statement))


def _is_in(end: RaceEnd, step: _Step) -> bool:
    """Whether an access is made by a function that a statement calls."""
    lines = _lines(step.source, step.statement.begin, step.statement.end)
    return any(frame.path == step.path and frame.line in lines for frame in end.inlined_from)


def _lines(source: CodeText, begin: int, end: int) -> range:
    return range(source.position(begin)[0], source.position(end - 1)[0] + 1)


def _parting(
    branches: Iterable[Branch], text_of: Callable[[str], str], together: Collection[str]
) -> frozenset[tuple[str, int]]:
    """The branches at which threads part that a barrier waits for, by their paths and offsets."""
    return frozenset(
        (branch.place.path, code_text(text_of(branch.place.path)).extent(branch.place)[0])
        for branch in branches
        if any(result.verdict not in together for result in branch.results)
    )


# --- one statement -------------------------------------------------------------------------------------------


def _edits(step: _Step, parting: frozenset[Key], barrier: str) -> Sequence[Edit]:
    if step.is_split:
        return [_split(step, parting, barrier)]
    found = []
    begin, end, braced = _where_all_come(step, parting)
    source, path = step.source, step.path
    if braced:
        inner = f"{barrier} " * step.is_before + source.text[begin:end] + f" {barrier}" * step.is_behind
        return [replaced(source, path, begin, end, f"{{ {inner} }}")] if step.is_before or step.is_behind else []
    margin = source.margin(begin)
    between = " " if margin is None else f"{source.line_end}{margin}"
    if step.is_before:
        found.append(replaced(source, path, begin, begin, f"{barrier}{between}"))
    if step.is_behind:
        found.append(replaced(source, path, end, end, f"{between}{barrier}"))
    return found


def _where_all_come(step: _Step, parting: frozenset[Key]) -> tuple[int, int, bool]:
    """The extent of a statement, or of what stands around it, that all threads come to, behind or before loops that
    are not about the others; and whether it needs braces."""
    source, statement = step.source, step.statement
    begin, end, braced = statement.begin, statement.end, bool(statement.heads)
    for head in reversed(statement.heads):
        if (step.path, head.begin) in parting or _is_separate(step, head, end):
            begin, braced = head.begin, head is not statement.heads[0]
    while (block := block_around(source, begin)) is not None:
        around = head_of_block(source, block[0])
        if around is None or not ((step.path, around.begin) in parting or _is_separate(step, around, block[1])):
            break
        begin, end, braced = around.begin, block[1], False
        if start_of_statement(source, begin) != begin:
            raise Obstacle(f"line {source.position(begin)[0]} is no branch of its own")
    if begin != statement.begin and has_other_side(source, end):
        raise Obstacle(f"the branch at line {source.position(begin)[0]} has another side")
    return begin, end, braced


def _is_separate(step: _Step, head: Head, end: int) -> bool:
    """Whether this is a loop in which nothing else is that has to be ordered against the statement."""
    lines = _lines(step.source, head.begin, end)
    places = [(e.place.path, e.place.line) for e in step.others]
    places += [(frame.path, frame.line) for e in step.others for frame in e.inlined_from]
    return head.kind in ("for", "while") and not any(path == step.path and line in lines for path, line in places)


def _split(step: _Step, parting: frozenset[Key], barrier: str) -> Edit:
    source, statement = step.source, step.statement
    begin, end = statement.begin, statement.end
    condition = ""
    if statement.heads and (step.path, statement.heads[-1].begin) in parting:
        condition, begin = statement.heads[-1].condition, statement.heads[-1].begin
        if has_other_side(source, end):
            raise Obstacle(f"the branch at line {source.position(begin)[0]} has another side")
    alone = _block_of_its_own(source, statement)
    if alone is not None and not condition:
        around = head_of_block(source, alone[0])
        if around is not None and around.kind == "if" and (step.path, around.begin) in parting:
            if start_of_statement(source, around.begin) != around.begin or has_other_side(source, alone[1]):
                raise Obstacle(f"the branch at line {source.position(begin)[0]} has another side")
            condition, begin, end, alone = around.condition, around.begin, alone[1], None
    text = _parted(step, condition, barrier)
    return replaced(source, step.path, begin, end, text if alone is not None and not condition else f"{{ {text} }}")


def _block_of_its_own(source: CodeText, statement: Statement) -> tuple[int, int] | None:
    """The block in which a statement is the only one."""
    block = block_around(source, statement.whole)
    if block is None or source.skip(block[0] + 1) != statement.whole or source.skip(statement.end) != block[1] - 1:
        return None
    return block


def _parted(step: _Step, condition: str, barrier: str) -> str:
    """A statement as what it reads, a barrier, what it stores, and another barrier if something behind it asks for one.
    """
    source, statement = step.source, step.statement
    code = source.code[statement.begin : statement.end - 1]
    text = source.text[statement.begin : statement.end - 1]
    put = _ASSIGNMENT.search(code)
    if put is None or "{" in code:
        raise Obstacle(f"line {source.position(statement.begin)[0]} is no plain step")
    target, value = text[: put.start()].strip(), text[put.end() :].strip()
    if may_have_effect(target) or not re.match(r"[\w*(\[]", target) or re.match(r"\w[\w:<>]*[\s*&]+\w", target):
        raise Obstacle(f"line {source.position(statement.begin)[0]} is no plain step")
    if condition and may_have_effect(condition):
        raise Obstacle(f"`{condition}` can't be asked twice")
    guard = f"if ({condition}) " if condition else ""
    held = _held(value)
    last = f" {barrier}" * step.is_behind
    if held is not None and not put[1] and not re.search(rf"\b{held}\b", target):
        return f"{guard}{value}; {barrier} {guard}{target} = {held};{last}"
    name = free_name("step", code_text(f"{text} {condition}"))
    if put[1]:
        value = f"{target} {put[1]} {value if _is_plain(value) else f'({value})'}"
    if condition:
        value = f"{condition if _is_plain(condition) else f'({condition})'} ? {value} : 0"
    return f"const auto {name} = {value}; {barrier} {guard}{target} = {name};{last}"


def _held(value: str) -> str | None:
    """The variable that a value is put into on its way."""
    put = _ASSIGNMENT.search(value)
    name = _NAME.fullmatch(value[: put.start()]) if put is not None else None
    return name[1] if name is not None else None


def _is_plain(value: str) -> bool:
    """Whether a value needs no parentheses as an operand."""
    return _OPERATOR.search(outside_brackets(value)) is None
