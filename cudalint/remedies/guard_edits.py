"""The edit that keeps accesses inside their array: the statement behind a condition on its index.

    out[i] = 2 * in[i];    becomes    if (i < n) out[i] = 2 * in[i];

A number that is declared as what an array holds becomes `i < n ? in[i] : 0` instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import KernelFacts, OutOfBounds, Place
from cudalint.remedies.obstacles import Obstacle
from cudalint.remedies.spelling import NAME, may_have_effect, parameter_names, replaced
from cudalint.remedies.statements import Statement, statement_at
from cudalint.source.code import CodeText, code_text

_INDEXED = re.compile(r"\w+\[([^\[\]]*)\]")
_ATOMIC = re.compile(r"atomic\w+\s*\(\s*(?:&\s*\w+\[([^\[\]]*)\]|\w+\s*\+([^,()]*))\s*,")
_DECLARATION = re.compile(r"[A-Za-z_][\w:]*(?:<[^;{}]*>)?(?:\s+[\w:]+)*[\s*&]+[A-Za-z_]\w*\s*(?:[=;,\[{]|\()")
_OF_NUMBERS = re.compile(
    r"(?:const\s+)?(?:unsigned\s+|signed\s+)?(?:float|double|int|long|short|char|unsigned|size_t|u?int(?:8|16|32|64)_t)"
    r"\s+[A-Za-z_]\w*\s*="
)
_STAYS = re.compile(r"\b(?:return|break|continue|goto|__sync\w*)\b")
_PLAIN = re.compile(r"[\w.]+|\([^()]*\)")


class _Guarded(Struct):
    """A statement, and the conditions that it gets."""

    path: str
    source: CodeText
    statement: Statement
    conditions: dict[str, None] = {}


def guard_edits(
    kernel: KernelFacts, found: Iterable[OutOfBounds], text_of: Callable[[str], str]
) -> tuple[Edit, ...]:
    """The edits for all of some accesses. Raises an `Obstacle` where the size has no name in the kernel, or an index is
    not spelled as one."""
    statements: dict[tuple[str, int], _Guarded] = {}
    edits: list[Edit] = []
    names = frozenset(parameter_names(kernel, text_of))
    for one in found:
        if one.inlined_from or one.place.path != kernel.place.path or one.offset < 0:
            raise Obstacle(f"`{one.array}` is indexed in a function that others may call")
        source = code_text(text_of(one.place.path))
        begin, end = source.extent(one.place)
        statement = statement_at(source, begin)
        if statement is None:
            raise Obstacle(f"line {one.place.line} is no statement of its own")
        condition = _condition(one, source.text[begin:end], names)
        code = source.code[statement.begin : statement.end]
        if _STAYS.search(code):
            raise Obstacle(f"the statement at line {one.place.line} has to be executed by all")
        if not _DECLARATION.match(code):
            key = one.place.path, statement.begin
            guarded = statements.setdefault(key, _Guarded(one.place.path, source, statement))
            guarded.conditions[condition] = None
        elif one.operation == "load" and _OF_NUMBERS.match(code):
            edits.append(replaced(source, one.place.path, begin, begin, f"({condition} ? "))
            edits.append(replaced(source, one.place.path, end, end, " : 0)"))
        else:
            raise Obstacle(f"what line {one.place.line} declares would be gone behind a guard")
    for each in statements.values():
        begin = each.statement.begin
        edits.append(replaced(each.source, each.path, begin, begin, f"if ({' && '.join(each.conditions)}) "))
    return tuple(sorted(set(edits), key=lambda edit: edit.place))


def index_of(place: Place, text_of: Callable[[str], str]) -> str | None:
    """The one index at a place, as the source has it; None where it is not spelled so."""
    source = code_text(text_of(place.path))
    begin, end = source.extent(place)
    return _index(source.text[begin:end])


def _index(text: str) -> str | None:
    indexed = _INDEXED.fullmatch(text) or _ATOMIC.match(text)
    return None if indexed is None else indexed[indexed.lastindex or 1].strip()


def _condition(found: OutOfBounds, text: str, names: frozenset[str]) -> str:
    """Under which an index stays inside."""
    size = found.elements or ""
    if found.declaration is not None and found.dimensions == 1:
        size = str(found.extent if found.space == "local" else found.extent // found.element_bytes)
    elif size.isdecimal() or not size:
        raise Obstacle(f"the size of `{found.array}` is a number of the host's alone")
    if not set(NAME.findall(size)) <= names:
        raise Obstacle(f"the size of `{found.array}` is not among the kernel's parameters")
    index = _index(text)
    if index is None:
        raise Obstacle(f"`{found.array}` is not indexed by one index")
    if may_have_effect(index):
        raise Obstacle(f"`{index}` can't be asked twice")
    factors = [factor.strip() for factor in size.split("*")]
    row = re.fullmatch(r"(.+?)\s*\*\s*(\w+)\s*\+\s*(\w+)", index)
    if len(factors) == 2 and row is not None and _PLAIN.fullmatch(row[1]) and row[2] in factors:
        [rows] = [factor for factor in factors if factor != row[2]] or [row[2]]
        return f"{row[1]} < {rows} && {row[3]} < {row[2]}"
    if re.search(r"<(?!<)|>|[=&|^?,]", index):
        index = f"({index})"
    return f"{index} < {size}"
