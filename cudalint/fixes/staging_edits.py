"""The edits that stage an access with reversed roles of x and y through a tile in shared memory.

Each thread (a, b) of a square block hands what it loads or stores to thread (b, a), which makes the access with the
index of the other one: then neighbouring threads touch neighbouring elements. That takes a barrier that all threads of
the block come to, so that it is done outside of all branches, and guards are spelled once for each side of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Access, KernelFacts, Place
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import LEAVES, body_of, statements
from cudalint.fixes.spelling import NAME, free_name
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_THREAD = regex(r"\bthreadIdx\s*\.\s*([xy])\b")
_DECLARATION = regex(
    r"((?:const\s+|unsigned\s+|signed\s+|long\s+|short\s+)*(?:int|unsigned|long|short|size_t|u?int\d+_t|uint|auto))\s+(?=\w+\s*=)"
)
_INITIAL = regex(r"\s*([A-Za-z_]\w*)\s*=")
_ELEMENT = regex(r"([A-Za-z_]\w*)\s*(?=\[)")
_IF = regex(r"if\s*(?=\()")
_ASSIGNED = r"(?<![\w.]){0}\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*{0}\b"
_CALL = regex(r"\b(?!if\b|sizeof\b|min\b|max\b|int\b|size_t\b)[A-Za-z_]\w*\s*\(")
_TILE = 32
_MEMORY = regex(r"\[|->|\*\s*\(|(?:^|[=(,;])\s*\*\s*\w")


class _Statement(Struct, frozen=True):
    """A statement at the outermost level of a kernel, and the conditions under which it does its work."""

    begin: int
    end: int
    inner: tuple[int, int]
    """The statement without the branches around it."""
    guards: tuple[str, ...]


def staging_edits(kernel: KernelFacts, access: Access, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    """The edits. Raises an `Obstacle` where the kernel is not as plain as that."""
    side = _side(kernel)
    if access.inlined_from or access.place.path != kernel.place.path:
        raise Obstacle(f"`{access.array}` is indexed in a function that `{kernel.name}` calls")
    source = code_text(text_of(kernel.place.path))
    _, end = source.extent(kernel.place)
    opening = body_of(kernel, source)
    begin, stop = source.extent(access.place)
    statement = _outermost(opening, begin, source)
    if statement is None:
        raise Obstacle(f"line {access.place.line} stands in a loop or a branch, where a barrier may not")
    if LEAVES.search(source.code, opening, statement.begin):
        raise Obstacle(f"threads leave `{kernel.name}` before line {access.place.line}, and would miss the barrier")
    element = _element(access, source, begin, stop)
    variables = _Variables(source, opening, statement.begin, end)
    index = source.text[element[0] : element[1]]
    turned = [variables.turned(text) for text in (index, *statement.guards)]
    if not any(each != text for each, text in zip(turned, (index, *statement.guards), strict=True)):
        raise Obstacle(f"the index of `{access.array}` is not spelled in terms of `threadIdx`")
    kind = access.element_type.replace("const ", "").strip()
    if kernel.instantiation != kernel.name and "<" in kernel.instantiation:
        raise Obstacle("a template's tile has no type that holds for all of its arguments")
    margin = source.margin(statement.begin)
    if margin is None:
        raise Obstacle(f"line {access.place.line} has more than one statement")
    tile = free_name("tile", source)
    # Rows of 33 words, or columns that are exchanged within their row, keep columns of the tile out of one bank.
    columns = f"[{side} + 1]" if side == _TILE else f"[{side}]"
    own = _spelled(tile, "y", "x", side)
    other = _spelled(tile, "x", "y", side)
    lines = [f"__shared__ {kind} {tile}[{side}]{columns};"]
    declared = [*variables.declared]
    guard, turned_guard = _guard(statement.guards), _guard(tuple(turned[1:]))
    if access.operation == "store":
        value = source.text[source.skip(element[1]) + 1 : statement.inner[1] - 1].strip()
        lines += [f"{guard}{own} = {value};", "__syncthreads();", *declared, f"{turned_guard}{turned[0]} = {other};"]
    else:
        whole = source.text[statement.begin : statement.end]
        at, to = element[0] - statement.begin, element[1] - statement.begin
        lines += [*declared, f"{turned_guard}{other} = {turned[0]};", "__syncthreads();", whole[:at] + own + whole[to:]]
    text = f"{source.line_end}{margin}".join(lines)
    place = Place(kernel.place.path, *source.position(statement.begin), *source.position(statement.end))
    return (Edit(place, text),)


def _side(kernel: KernelFacts) -> int:
    blocks = {launch.block for launch in kernel.launches}
    if len(blocks) != 1:
        raise Obstacle(f"`{kernel.name}` is launched with blocks of several shapes")
    [(x, y, z)] = blocks
    if x != y or z != 1 or x & (x - 1):
        raise Obstacle(f"a tile is exchanged by a square block, and this one is {x}x{y}")
    return x


def _spelled(tile: str, row: str, column: str, side: int) -> str:
    place = f"threadIdx.{column}" if side == _TILE else f"threadIdx.{column} ^ threadIdx.{row}"
    return f"{tile}[threadIdx.{row}][{place}]"


def _guard(conditions: Sequence[str]) -> str:
    return "".join(f"if ({condition}) " for condition in conditions)


def _outermost(opening: int, offset: int, source: CodeText) -> _Statement | None:
    """The statement that an offset is in, if nothing but plain branches is around it."""
    for begin, end in statements(source, opening):
        if begin <= offset < end:
            inner, guards = (begin, end), []
            while (branch := _IF.match(source.code, inner[0])) is not None:
                closed = source.close(branch.end())
                if closed is None:
                    return None
                guards.append(source.text[branch.end() + 1 : closed - 1].strip())
                body = source.skip(closed)
                last = inner[1]
                if source.code[body] == "{":
                    only = list(statements(source, body + 1))
                    if len(only) != 1:
                        return None
                    body, last = only[0]
                inner = body, last
            plain = source.code[inner[0] : inner[1]]
            is_plain = "{" not in plain and not re.match(r"(?:for|while|do|switch|else)\b", plain)
            following = source.skip(end)
            if not is_plain or re.match(r"else\b", source.code[following : following + 5]):
                return None
            return _Statement(begin, end, inner, tuple(guards))
    return None


def _element(access: Access, source: CodeText, begin: int, end: int) -> tuple[int, int]:
    """The offsets of `array[index]`, which has to be all that a statement stores to, or a part of what it computes."""
    named = _ELEMENT.match(source.code, begin, end)
    closed = source.close(named.end()) if named is not None else None
    if named is None or closed is None or (access.operation == "load" and closed != end):
        raise Obstacle(f"`{access.array}` is not spelled as a plain element at line {access.place.line}")
    if access.operation == "store" and not re.match(r"\s*=(?!=)", source.code[closed:]):
        raise Obstacle(f"line {access.place.line} does more than store an element")
    if _CALL.search(source.code, named.end(), closed) or "[" in source.code[named.end() + 1 : closed]:
        raise Obstacle(f"the index of `{access.array}` calls or loads something")
    return begin, closed


class _Variables:
    """The kernel's variables that its thread's index goes into, each given a value once."""

    def __init__(self, source: CodeText, opening: int, before: int, end: int) -> None:
        self._source, self._end, self._opening = source, end, opening
        self._initial: dict[str, tuple[str, str]] = {}
        for begin, stop in statements(source, opening):
            if begin >= before:
                break
            self._read(begin, stop)
        self.declared: dict[str, None] = {}
        """The declarations that what was turned needs, in their order."""

    def _read(self, begin: int, end: int) -> None:
        declared = _DECLARATION.match(self._source.code, begin, end)
        if declared is None:
            return
        commas = self._source.find(",", declared.end(), end - 1)
        borders = [declared.end() - 1, *commas, end - 1]
        for a, b in pairwise(borders):
            initial = _INITIAL.match(self._source.code, a + 1, b)
            if initial is not None:
                self._initial[initial[1]] = declared[1], self._source.text[initial.end() : b].strip()

    def turned(self, text: str) -> str:
        """The text as the thread has it that x and y are exchanged for."""
        for name in dict.fromkeys(NAME.findall(text)):
            if not self._depends(name):
                continue
            kind, initial = self._initial[name]
            if len(re.findall(_ASSIGNED.format(name), self._source.code[self._opening : self._end])) != 1:
                raise Obstacle(f"`{name}` gets another value on the way")
            if _MEMORY.search(initial) or _CALL.search(initial):
                raise Obstacle(f"`{name}` is more than an index")
            new = free_name(f"{name}_turned", self._source)
            line = f"{kind} {new} = {self.turned(initial)};"
            self.declared[line] = None
            text = re.sub(rf"(?<![\w.]){name}\b", new, text)
        return _THREAD.sub(lambda match: f"threadIdx.{'y' if match[1] == 'x' else 'x'}", text)

    def _depends(self, name: str) -> bool:
        if name not in self._initial:
            return False
        text = self._initial[name][1]
        return "threadIdx" in text or any(self._depends(other) for other in NAME.findall(text) if other != name)
