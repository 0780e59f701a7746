"""Loops that count upwards by one, and the elements of arrays that go along with them, as the source spells them.

for (int j = 0; j < n; j++)
    sum += a[i * n + j] * v[j];
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from cudalint.facts import Access
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.spelling import FOR, NAME, changes
from cudalint.regexes import regex
from cudalint.source.code import CodeText

_KIND = r"(?!return\b|else\b|case\b|goto\b)(?:[A-Za-z_][\w:]*\s+)+"
_HEAD = regex(
    rf"\(\s*(?P<kind>{_KIND})?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<first>[^;]+?)\s*;\s*(?P=name)\s*<(?P<inclusive>=)?\s*(?P<end>[^;]+?)\s*;"
    r"\s*(?:(?P=name)\s*\+\+|\+\+\s*(?P=name)|(?P=name)\s*\+=\s*1)\s*\)\Z"
)
_ELEMENT = regex(r"(?P<array>[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*)*)\s*(?=\[)")
_LEAVES = regex(r"\b(?:break|goto|return)\b")
_HANGS = regex(r"\b(?:if|else|while|do|switch|case)\b|\?|&&|\|\|")
_IF = regex(r"\s*\{?\s*if\s*(?=\()")
_CHOOSES = regex(r"\?|&&|\|\|")
_ORDERED = regex(r"\b(?:__sync\w*|__thread\w*|volatile|asm)\b|#")
_CALL = regex(r"[A-Za-z_]\w*\s*\(")
_SUM = regex(r"[\w.+*\s]+")
_PRAGMA = regex(r"^[ \t]*#[ \t]*pragma[ \t]+unroll[^\n]*\n[ \t]*\Z", re.MULTILINE)


class Loop(Struct, frozen=True):
    """A loop that counts upwards by one, by offsets in its text."""

    begin: int
    head: int
    """Where the parenthesis of its head opens."""
    body: int
    end: int
    kind: str
    name: str
    first: str
    bound: str


class Element(Struct, frozen=True):
    begin: int
    end: int
    text: str
    array: str
    access: Access

    @property
    def is_stored(self) -> bool:
        return self.access.operation == "store"


def loop_around(source: CodeText, access: Access) -> Loop:
    """The innermost loop around an access whose turns go along with its index."""
    begin, stop = source.extent(access.place)
    around = []
    for each in FOR.finditer(source.code, 0, begin):
        closed = source.close(each.end())
        if closed is None or closed > begin:
            continue
        body = source.skip(closed)
        end = end_of_body(source, body)
        if end is not None and body <= begin < end:
            around.append((each, closed, body, end))
    line = access.place.line
    function = function_of(source, begin)
    if not around:
        raise Obstacle(f"line {line} is in no loop that is spelled as one")
    found = None
    for each, closed, inner, behind in around:
        counted = _HEAD.match(source.code[each.end() : closed])
        if counted is not None and re.search(rf"\b{counted['name']}\b", source.code[begin:stop]):
            found = each, inner, behind, counted
    if found is None:
        raise Obstacle(f"no loop around line {line} counts the elements upwards one by one")
    loop, body, end, head = found
    if re.search(r"\b(?:while|do)\b", source.code[body:begin]):
        raise Obstacle(f"line {line} is in a loop whose turns are not counted")
    kind = head["kind"] or _kind_of(head["name"], source, function, loop.start(), end)
    bound = _behind(head["end"]) if head["inclusive"] else head["end"]
    return Loop(loop.start(), loop.end(), body, end, kind, head["name"], head["first"], bound)


def function_of(source: CodeText, offset: int) -> int:
    """Where the text of the function begins that an offset is in, with all that stands before it."""
    return source.code.rfind("\n}", 0, offset) + 1


def _behind(last: str) -> str:
    """The number behind the last one that a loop takes in."""
    before = re.fullmatch(r"([\w.+*\s]*\w)\s*-\s*1", last)
    return before[1] if before is not None else f"{last} + 1" if _SUM.fullmatch(last) else f"({last}) + 1"


def _kind_of(name: str, source: CodeText, function: int, begin: int, end: int) -> str:
    """The type of a variable that a loop counts in and that is declared before it. What it has come to may be of use
    behind the loop only if something else is put into it first."""
    declared = list(re.compile(rf"({_KIND})(?:[^;(){{}}]*,\s*)?{name}\s*[,;=]").finditer(source.code, function, begin))
    close = source.code.find("\n}", end)
    used = re.compile(rf"\b{name}\b(?P<put>\s*=(?!=))?").search(
        source.code, end, close if close > 0 else len(source.code)
    )
    if not declared or (used is not None and used["put"] is None):
        raise Obstacle(f"`{name}` is of use behind the loop at line {source.position(begin)[0]}")
    return declared[-1][1]


def end_of_body(source: CodeText, body: int) -> int | None:
    """Behind the body of a loop or a branch that begins at an offset; None where that is not plain."""
    if source.code[body : body + 1] == "{":
        return source.close(body)
    nested = re.compile(r"(?:for|while|if)\s*(?=\()").match(source.code, body)
    if nested is not None:
        closed = source.close(nested.end())
        end = end_of_body(source, source.skip(closed)) if closed is not None else None
        if end is None or re.compile(r"\s*else\b").match(source.code, end):
            return None
        return end
    semicolon = source.semicolon(body)
    return semicolon + 1 if semicolon is not None else None


def elements_of(accesses: Sequence[Access], loop: Loop, source: CodeText) -> list[Element]:
    """The element of the first of some accesses, and those of the others that stand in the loop and are as plain, in
    the order of the text. Raises an `Obstacle` where the first is not."""
    first = accesses[0]
    elements = [_element(first, loop, source)]
    for other in accesses[1:]:
        if other.place.path == first.place.path and other.inlined_from == first.inlined_from:
            try:
                elements.append(_element(other, loop, source))
            except Obstacle:
                continue
    return sorted(elements, key=lambda element: element.begin)


def _element(access: Access, loop: Loop, source: CodeText) -> Element:
    """An element of the row that each turn loads, whatever data say."""
    begin, end = source.extent(access.place)
    line = access.place.line
    named = _ELEMENT.match(source.code, begin, end)
    if not loop.body <= begin < loop.end or named is None:
        raise Obstacle(f"`{access.array}` is not spelled as a plain element at line {line}")
    at = named.end()
    while at < end and source.code[at] == "[":
        last = at
        closed = source.close(at)
        if closed is None:
            break
        at = source.skip(closed) if closed < end else closed
    if access.operation == "store":
        end = source.close(last) or end
    elif at != end:
        raise Obstacle(f"`{access.array}` is not spelled as a plain element at line {line}")
    text = source.code[begin:end]
    index, outer = source.code[last + 1 : end - 1], source.code[begin:last]
    if _CALL.search(text) or re.search(rf"\b{loop.name}\b", outer) or not _steps_by_one(index, loop.name):
        raise Obstacle(f"`{' '.join(text.split())[:40]}` does not go along with `{loop.name}`")
    body = source.code[loop.body : loop.end]
    _require_plain(body, line)
    if _hangs(source, loop.body, begin):
        raise Obstacle(f"not every turn of the loop comes to line {line}")
    names = {*NAME.findall(text), *NAME.findall(loop.bound)}
    changed = next((name for name in sorted(names) if changes(name, body)), None)
    if changed is not None:
        raise Obstacle(f"`{changed}` changes in the loop around line {line}")
    array = re.escape(named["array"])
    if access.operation == "store":
        _require_stored(source, loop, begin, end, array)
    elif re.search(
        rf"(?<![\w.>]){array}\s*\[[^;]*?\]\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\batomic\w*\s*\([^;]*\b{array}\b", body
    ):
        raise Obstacle(f"the loop around line {line} stores to `{access.array}` as well")
    return Element(begin, end, text, named["array"], access)


def _require_stored(source: CodeText, loop: Loop, begin: int, end: int, array: str) -> None:
    """Each turn stores the element, and does nothing else with its array."""
    line = source.position(begin)[0]
    alone = begin == loop.body or re.search(r"[;{}]\s*\Z", source.code[loop.body : begin])
    if not alone or not re.match(r"\s*=(?!=)", source.code[end : loop.end]):
        raise Obstacle(f"line {line} does more than store an element in each turn of its loop")
    if len(re.findall(rf"(?<![\w.>]){array}\b", source.code[loop.body : loop.end])) > 1:
        raise Obstacle(f"the loop around line {line} does more to its array than store an element")


def _hangs(source: CodeText, body: int, begin: int) -> bool:
    """Whether an element is only come to by some turns; the condition of a body's first statement is by all."""
    first = _IF.match(source.code, body)
    if first is not None and (source.close(first.end()) or begin) > begin:
        return _CHOOSES.search(source.code, first.end(), begin) is not None
    return _HANGS.search(source.code, body, begin) is not None


def _require_plain(body: str, line: int) -> None:
    if _LEAVES.search(body):
        raise Obstacle(f"the loop around line {line} may end before its last turn")
    if _ORDERED.search(body):
        raise Obstacle(f"threads wait for each other in the loop around line {line}")


def _steps_by_one(index: str, name: str) -> bool:
    """Whether an index is a sum of which a variable is one term, and occurs in no other."""
    terms = terms_of(index)
    own = [term for term in terms if re.search(rf"\b{name}\b", term)]
    return own == [name] and not any(re.search(r"[?<>=&|^]", term) for term in terms)


def terms_of(index: str) -> list[str]:
    terms, depth, start = [], 0, 0
    for at, letter in enumerate(index):
        depth += (letter in "([") - (letter in ")]")
        if letter == "+" and depth == 0:
            terms.append(index[start:at].strip())
            start = at + 1
    return [*terms, index[start:].strip()]


def occurrences(text: str, loop: Loop, source: CodeText) -> list[int]:
    """Where the body spells an element: each stands for what was loaded, whether it was loaded again or not."""
    pattern = re.compile(rf"(?<![\w.>]){re.escape(text)}")
    return [found.start() for found in pattern.finditer(source.code, loop.body, loop.end)]


def lines_of(source: CodeText, loop: Loop) -> list[int]:
    """Where the lines of a body begin that have something on them."""
    margin = source.margin(loop.body)
    first = loop.body if margin is None else loop.body - len(margin)
    begins = [first + found.end() for found in re.finditer(r"\n", source.text[first : loop.end])]
    return [*([first] if margin is not None else ()), *(at for at in begins if source.text[at] not in "\r\n")]


def step_of(margin: str) -> str:
    """An indentation like that which a line has."""
    return "\t" if margin.endswith("\t") else "  " if len(margin) % 4 == 2 else "    "


def with_pragmas(source: CodeText, begin: int) -> int:
    """Where a loop begins together with the line that says how often it is to be unrolled."""
    pragma = _PRAGMA.search(source.text[:begin])
    return begin if pragma is None else source.skip_blanks(pragma.start())
