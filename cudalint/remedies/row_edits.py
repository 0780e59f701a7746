"""The edits that let a loop along a row of a thread's own load several elements at once.

    for (int j = 0; j < n; j++)            for (int j_first = 0; j_first < n; j_first += 4) {
        sum += a[i * n + j] * v[j];            const float4 a4 = *reinterpret_cast<const float4 *>(&a[i * n + j_first]);
                                               const float a_part[4] = {a4.x, a4.y, a4.z, a4.w};
                                               #pragma unroll
                                               for (int j = j_first; j < j_first + 4; j++)
                                                   sum += a_part[j - j_first] * v[j];
                                           }

All is computed in the order in which it was. Where the loop's bound, or the length of a row, is no number, the loop is
put before the one that was there, behind `if (n % 4 == 0)`. That arrays begin at multiples of the vector's length is
for who calls this to see to; code that looks at where they begin is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Access
from cudalint.remedies.obstacles import Obstacle
from cudalint.remedies.spelling import FOR, NAME, changes, free_name, replaced
from cudalint.remedies.vector_edits import vector_of
from cudalint.source.code import CodeText, code_text

_KIND = r"(?!return\b|else\b|case\b|goto\b)(?:[A-Za-z_][\w:]*\s+)+"
_HEAD = re.compile(
    rf"\(\s*(?P<kind>{_KIND})?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<first>[^;]+?)\s*;\s*(?P=name)\s*<(?P<inclusive>=)?\s*(?P<end>[^;]+?)\s*;"
    r"\s*(?:(?P=name)\s*\+\+|\+\+\s*(?P=name)|(?P=name)\s*\+=\s*1)\s*\)\Z"
)
_ELEMENT = re.compile(r"(?P<array>[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*)*)\s*(?=\[)")
_LEAVES = re.compile(r"\b(?:break|goto|return)\b")
_HANGS = re.compile(r"\b(?:if|else|while|do|switch|case)\b|\?|&&|\|\|")
_IF = re.compile(r"\s*\{?\s*if\s*(?=\()")
_CHOOSES = re.compile(r"\?|&&|\|\|")
_ORDERED = re.compile(r"\b(?:__sync\w*|__thread\w*|atomic\w*|volatile|asm)\b|#")
_CALL = re.compile(r"[A-Za-z_]\w*\s*\(")
_LOOKS_AT_ADDRESSES = re.compile(r"\bu?intptr_t\b|[Aa]lign(?:ed|ment)|\bsize_t\s*[)>]\s*\(?\s*&")
_NUMBER = re.compile(r"\d+")


class _Loop(Struct, frozen=True):
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


class _Element(Struct, frozen=True):
    begin: int
    end: int
    text: str
    array: str
    access: Access

    @property
    def is_stored(self) -> bool:
        return self.access.operation == "store"


def row_edits(
    accesses: Sequence[Access], width: int, uniform: Collection[str], text_of: Callable[[str], str]
) -> tuple[Edit, ...]:
    """The edits for the first of some loads and stores and for those of the others that stand in the same loop. Raises
    an `Obstacle` where the loop or the access is not as plain as that. `uniform` are the names of integers that are the
    same for all threads."""
    access = accesses[0]
    path = access.place.path
    source = code_text(text_of(path))
    loop = _loop_around(source, access)
    number = width // access.bytes
    if not _is_multiple(loop.first, number):
        raise Obstacle(f"the loop at line {source.position(loop.begin)[0]} begins in the middle of a vector")
    elements = [_element(access, loop, source)]
    for other in accesses[1:]:
        if other.place.path == path and other.inlined_from == access.inlined_from and other.bytes == access.bytes:
            try:
                elements.append(_element(other, loop, source))
            except Obstacle:
                continue
    return tuple(_edits(sorted(elements, key=lambda e: e.begin), loop, width, source, path, uniform))


def turns_of(access: Access, text_of: Callable[[str], str]) -> str:
    """How the bound of the loop around an access is spelled. Raises an `Obstacle` as `row_edits` does."""
    return _loop_around(code_text(text_of(access.place.path)), access).bound


def _loop_around(source: CodeText, access: Access) -> _Loop:
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
    function = source.code.rfind("\n}", 0, begin) + 1
    if _LOOKS_AT_ADDRESSES.search(source.code, function, begin):
        raise Obstacle(
            f"what stands before line {line} looks at where arrays begin, which may not be where a vector does"
        )
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
    if head["inclusive"]:
        raise Obstacle(f"the loop around line {line} takes its bound in (`<=`), and has one turn more than that says")
    if re.search(r"\b(?:while|do)\b", source.code[body:begin]):
        raise Obstacle(f"line {line} is in a loop whose turns are not counted")
    kind = head["kind"] or _kind_of(head["name"], source, function, loop.start(), end)
    return _Loop(loop.start(), loop.end(), body, end, kind, head["name"], head["first"], head["end"])


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
    semicolons = source.find(";", body, len(source.code))
    return semicolons[0] + 1 if semicolons else None


def _is_multiple(text: str, number: int) -> bool:
    return _NUMBER.fullmatch(text) is not None and int(text) % number == 0


def _element(access: Access, loop: _Loop, source: CodeText) -> _Element:
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
    elif re.search(rf"(?<![\w.>]){array}\s*\[[^;]*?\]\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)", body):
        raise Obstacle(f"the loop around line {line} stores to `{access.array}` as well")
    return _Element(begin, end, text, named["array"], access)


def _require_stored(source: CodeText, loop: _Loop, begin: int, end: int, array: str) -> None:
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
    terms = _terms(index)
    own = [term for term in terms if re.search(rf"\b{name}\b", term)]
    return own == [name] and not any(re.search(r"[?<>=&|^]", term) for term in terms)


def _terms(index: str) -> list[str]:
    terms, depth, start = [], 0, 0
    for at, letter in enumerate(index):
        depth += (letter in "([") - (letter in ")]")
        if letter == "+" and depth == 0:
            terms.append(index[start:at].strip())
            start = at + 1
    return [*terms, index[start:].strip()]


def _conditions(elements: Sequence[_Element], loop: _Loop, number: int, uniform: Collection[str]) -> list[str]:
    """What of the loop's bound and of the rows' lengths has to be a multiple of the vector's."""
    factors = [loop.bound]
    for element in elements:
        index = element.text[element.text.rindex("[") + 1 : -1]
        for term in _terms(index):
            names = [name for name in re.split(r"[*()\s]+", term) if name]
            if loop.name in names or any(_is_multiple(name, number) for name in names) or loop.bound in names:
                continue
            factors += [name for name in names if name in uniform][-1:]
    wanted = [factor for factor in dict.fromkeys(factors) if not _is_multiple(factor, number)]
    return [f"{each if _SIMPLE.fullmatch(each) else f'({each})'} % {number} == 0" for each in wanted]


def _edits(
    elements: Sequence[_Element], loop: _Loop, width: int, source: CodeText, path: str, uniform: Collection[str]
) -> list[Edit]:
    number = width // elements[0].access.bytes
    conditions = _conditions(elements, loop, number, uniform)
    margin = source.margin(loop.begin)
    if margin is None:
        raise Obstacle(f"the loop at line {source.position(loop.begin)[0]} does not begin its line")
    turn = free_name(f"{loop.name}_first", source)
    kind = loop.kind.removeprefix("const ").strip()
    head = f"for ({kind} {turn} = {loop.first}; {turn} < {loop.bound}; {turn} += {number}) {{"
    loads: list[str] = []
    stores: list[str] = []
    parts: dict[str, str] = {}
    for element in elements:
        if element.text not in parts:
            base = re.sub(r"\W+", "_", element.array)
            name = free_name(f"{base}{number}", source, parts.values())
            part = parts[element.text] = free_name(f"{base}_part", source, parts.values())
            at = re.sub(rf"\b{loop.name}\b", turn, element.text)
            ahead, behind = _moved(element, width, at, name, part, source)
            loads += ahead
            stores += behind
    inner = f"for ({kind} {loop.name} = {turn}; {loop.name} < {turn} + {number}; {loop.name}++)"
    named = [
        (begin, begin + len(text), f"{part}[{loop.name} - {turn}]")
        for text, part in parts.items()
        for begin in _occurrences(text, loop, source)
    ]
    named.sort()
    begin = _with_pragmas(source, loop.begin)
    step, line_end = _step(margin), source.line_end
    more = step if conditions else ""
    lines = [head, *(f"{step}{line}" for line in (*loads, "#pragma unroll", inner))]
    lines = [f"{more}{line}" for line in lines]
    if not conditions:
        closed = source.close(loop.head)
        assert closed is not None
        return [
            replaced(source, path, begin, closed, f"{line_end}{margin}".join(lines)),
            *(replaced(source, path, *each) for each in named),
            *(replaced(source, path, at, at, step) for at in _lines(source, loop)),
            replaced(
                source,
                path,
                loop.end,
                loop.end,
                "".join(f"{line_end}{margin}{line}" for line in (*(f"{step}{each}" for each in stores), "}")),
            ),
        ]
    body = source.text[loop.body : loop.end]
    if body.count("\n") > _MOST_LINES:
        raise Obstacle(f"the loop at line {source.position(loop.begin)[0]} is too long to be there twice")
    for first, last, text in reversed(named):
        body = body[: first - loop.body] + text + body[last - loop.body :]
    body = body.replace("\n", f"\n{step * 2}")
    lines = [f"if ({' && '.join(conditions)}) {{", *lines[:-1], f"{lines[-1]} {body}"]
    lines += [*(f"{more}{step}{each}" for each in stores), f"{more}}}", "} else"]
    text = f"{line_end}{margin}".join(lines)
    return [replaced(source, path, begin, begin, f"{text}{line_end}{margin}")]


_WORDS = {16: "uint4", 8: "uint2", 4: "unsigned int"}
"""What moves so many bytes of types that CUDA has no vector of."""


def _moved(
    element: _Element, width: int, at: str, name: str, part: str, source: CodeText
) -> tuple[list[str], list[str]]:
    """What loads a vector before the turns that take its elements, or stores one behind them."""
    number = width // element.access.bytes
    vector, scalar = vector_of(element.access, width, source)
    if vector is None:
        words, whole = _WORDS[width], f"*reinterpret_cast<{_WORDS[width]} *>({part})"
        declared = f"__align__({width}) {scalar} {part}[{number}];"
        if element.is_stored:
            return [declared], [f"*reinterpret_cast<{words} *>(&{at}) = {whole};"]
        return [declared, f"{whole} = *reinterpret_cast<const {words} *>(&{at});"], []
    if element.is_stored:
        components = ", ".join(f"{part}[{n}]" for n in range(number))
        return [f"{scalar} {part}[{number}];"], [f"*reinterpret_cast<{vector} *>(&{at}) = make_{vector}({components});"]
    components = ", ".join(f"{name}.{letter}" for letter in "xyzw"[:number])
    return [
        f"const {vector} {name} = *reinterpret_cast<const {vector} *>(&{at});",
        f"const {scalar} {part}[{number}] = {{{components}}};",
    ], []


_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+unroll[^\n]*\n[ \t]*\Z", re.MULTILINE)
_SIMPLE = re.compile(r"[\w.]+(?:\([\w, ]*\))?")
_MOST_LINES = 12


def _occurrences(text: str, loop: _Loop, source: CodeText) -> list[int]:
    """Where the body spells an element: each stands for what was loaded, whether it was loaded again or not."""
    pattern = re.compile(rf"(?<![\w.>]){re.escape(text)}")
    return [found.start() for found in pattern.finditer(source.code, loop.body, loop.end)]


def _lines(source: CodeText, loop: _Loop) -> list[int]:
    """Where the lines of a body begin that have something on them."""
    begins = [found.end() for found in re.finditer(r"\n", source.text[loop.body : loop.end])]
    return [loop.body + at for at in begins if source.text[loop.body + at] not in "\r\n"]


def _step(margin: str) -> str:
    """An indentation like that which a line has."""
    return "\t" if margin.endswith("\t") else "  " if len(margin) % 4 == 2 else "    "


def _with_pragmas(source: CodeText, begin: int) -> int:
    """Where a loop begins together with the line that says how often it is to be unrolled."""
    pragma = _PRAGMA.search(source.text[:begin])
    return begin if pragma is None else source.skip_blanks(pragma.start())
