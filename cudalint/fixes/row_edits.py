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

from cudalint.diagnostics import Edit
from cudalint.facts import Access
from cudalint.fixes.counted_loops import (
    Element,
    Loop,
    elements_of,
    function_of,
    lines_of,
    loop_around,
    occurrences,
    step_of,
    with_pragmas,
)
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.row_starts import RowStarts, is_multiple
from cudalint.fixes.spelling import free_name, replaced
from cudalint.fixes.vector_edits import vector_of
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_LOOKS_AT_ADDRESSES = regex(r"\bu?intptr_t\b|[Aa]lign(?:ed|ment)|\bsize_t\s*[)>]\s*\(?\s*&")


def row_edits(
    accesses: Sequence[Access], width: int, uniform: Collection[str], text_of: Callable[[str], str]
) -> tuple[Edit, ...]:
    """The edits for the first of some loads and stores and for those of the others that stand in the same loop. Raises
    an `Obstacle` where the loop or the access is not as plain as that. `uniform` are the names of integers that are the
    same for all threads."""
    access = accesses[0]
    path = access.place.path
    source = code_text(text_of(path))
    loop = loop_around(source, access)
    if _LOOKS_AT_ADDRESSES.search(source.code, function_of(source, loop.begin), loop.begin):
        line = access.place.line
        raise Obstacle(
            f"what stands before line {line} looks at where arrays begin, which may not be where a vector does"
        )
    elements = elements_of([one for one in accesses if one.bytes == access.bytes], loop, source)
    return tuple(_edits(elements, loop, width, source, path, uniform))


def turns_of(access: Access, widest: int, text_of: Callable[[str], str]) -> tuple[str, int]:
    """How the bound of the loop around an access is spelled, and the largest power of two up to `widest` of which the
    number at which it begins is a multiple. Raises an `Obstacle` as `row_edits` does, and where no vector could begin
    there."""
    source = code_text(text_of(access.place.path))
    loop = loop_around(source, access)
    while widest > 1 and not is_multiple(loop.first, widest):
        widest //= 2
    if widest == 1:
        raise Obstacle(
            f"the loop at line {source.position(loop.begin)[0]} begins at `{loop.first}`, where no vector need begin"
        )
    return loop.bound, widest


def _conditions(
    elements: Sequence[Element], loop: Loop, number: int, uniform: Collection[str], source: CodeText
) -> list[str]:
    """What of the loop's bound and of the rows' lengths has to be a multiple of the vector's."""
    rows = RowStarts(loop, number, uniform, source)
    factors = dict.fromkeys([loop.bound, *(name for element in elements for name in rows.asked(element))])
    wanted = [factor for factor in factors if not is_multiple(factor, number)]
    if wanted and any(element.access.inlined_from for element in elements):
        line = elements[0].access.place.line
        raise Obstacle(f"where the rows at line {line} begin is up to the callers of the function there")
    return [f"{each if _SIMPLE.fullmatch(each) else f'({each})'} % {number} == 0" for each in wanted]


def _edits(
    elements: Sequence[Element], loop: Loop, width: int, source: CodeText, path: str, uniform: Collection[str]
) -> list[Edit]:
    number = width // elements[0].access.bytes
    conditions = _conditions(elements, loop, number, uniform, source)
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
        for begin in occurrences(text, loop, source)
    ]
    named.sort()
    begin = with_pragmas(source, loop.begin)
    step, line_end = step_of(margin), source.line_end
    more = step if conditions else ""
    lines = [head, *(f"{step}{line}" for line in (*loads, "#pragma unroll", inner))]
    lines = [f"{more}{line}" for line in lines]
    if not conditions:
        closed = source.close(loop.head)
        assert closed is not None
        return [
            replaced(source, path, begin, closed, f"{line_end}{margin}".join(lines)),
            *(replaced(source, path, *each) for each in named),
            *(replaced(source, path, at, at, step) for at in lines_of(source, loop)),
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
    lines += [*(f"{more}{step}{each}" for each in stores), f"{more}}}", "} else {"]
    text = f"{line_end}{margin}".join(lines)
    first = source.position(begin)[0]
    others = [at for at in _lines_between(source, begin, loop.end) if source.position(at)[0] > first]
    return [
        replaced(source, path, begin, begin, f"{text}{line_end}{margin}{step}"),
        *(replaced(source, path, at, at, step) for at in others),
        replaced(source, path, loop.end, loop.end, f"{line_end}{margin}}}"),
    ]


def _lines_between(source: CodeText, begin: int, end: int) -> list[int]:
    """Where lines begin that have something on them, but for directives, which stand where they like."""
    starts = (begin + found.end() for found in re.finditer(r"\n", source.text[begin:end]))
    return [at for at in starts if source.text[at] not in "\r\n"]


_WORDS = {16: "uint4", 8: "uint2", 4: "unsigned int"}
"""What moves so many bytes of types that CUDA has no vector of."""


def _moved(
    element: Element, width: int, at: str, name: str, part: str, source: CodeText
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


_PRAGMA = regex(r"^[ \t]*#[ \t]*pragma[ \t]+unroll[^\n]*\n[ \t]*\Z", re.MULTILINE)
_SIMPLE = regex(r"[\w.]+(?:\([\w, ]*\))?")
_MOST_LINES = 12
