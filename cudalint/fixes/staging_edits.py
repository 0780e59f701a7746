"""The edits that stage an access with reversed roles of x and y through a tile in shared memory.

Each thread (a, b) of a square block hands what it loads or stores to thread (b, a), which makes the access with the
index of the other one: then neighbouring threads touch neighbouring elements. That takes a barrier that all threads of
the block come to, so that it is done outside of all branches, and guards are spelled once for each side of it. A block
with fewer rows than columns does the same with the rows that it takes in a loop (`turned_indices.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Access, KernelFacts
from cudalint.fixes.counted_loops import step_of
from cudalint.fixes.element_types import element_type
from cudalint.fixes.obstacles import Obstacle
from cudalint.fixes.outermost import body_of
from cudalint.fixes.spelling import NAME, free_name, number_of, replaced
from cudalint.fixes.staged_statements import CALL, StagedStatement, statement_around
from cudalint.fixes.turned_indices import TurnedIndices
from cudalint.hardware.banks import BANKS
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_ELEMENT = regex(r"([A-Za-z_]\w*)\s*(?=\[)")
_MOST_SHARED = 48 << 10
"""Bytes of shared memory that a block may declare."""


class _Tile(Struct, frozen=True):
    """A square tile, and how many of its rows the block has at a time."""

    name: str
    side: int
    rows: str
    """What is added to `threadIdx.y` for the row of a turn; nothing where the block has all rows."""

    @property
    def is_padded(self) -> bool:
        """Whether a column moves on by a bank with each row. Rows of less than all banks are two or more in a warp,
        which meet in whatever is padded: there columns are exchanged within their row (docs/guide/banks.md)."""
        return self.side % BANKS == 0

    @property
    def declared(self) -> str:
        return f"{self.name}[{self.side}][{self.side}{' + 1' if self.is_padded else ''}]"

    @property
    def own(self) -> str:
        return self._element(f"threadIdx.y{self.rows}", "threadIdx.x")

    @property
    def other(self) -> str:
        return self._element("threadIdx.x", f"threadIdx.y{self.rows}")

    def _element(self, row: str, column: str) -> str:
        if self.is_padded:
            return f"{self.name}[{row}][{column}]"
        first, second = (f"({each})" if "+" in each else each for each in (column, row))
        return f"{self.name}[{row}][{first} ^ {second}]"


def staging_edits(
    kernel: KernelFacts, access: Access, instances: Sequence[KernelFacts], text_of: Callable[[str], str]
) -> tuple[Edit, ...]:
    """The edits, for a kernel that is one of some instances of a template, or the only one. Raises an `Obstacle` where
    the kernel is not as plain as that."""
    side, height = _shape(kernel, instances)
    if access.inlined_from or access.place.path != kernel.place.path:
        raise Obstacle(f"`{access.array}` is indexed in a function that `{kernel.name}` calls")
    path, line = kernel.place.path, access.place.line
    source = code_text(text_of(path))
    extent = source.extent(kernel.place)
    body = body_of(kernel, source), extent[1]
    begin, stop = source.extent(access.place)
    statement = statement_around(body[0], begin, source)
    if statement is None:
        raise Obstacle(f"line {line} stands in a loop or a branch, where a barrier may not")
    element = _element(access, source, begin, stop, statement)
    turns = statement.turns
    if (turns is None) != (side == height):
        raise Obstacle(f"a tile of {side}x{side} is not what a block of {side}x{height} takes at line {line}")
    if turns is not None:
        _require_all_rows(statement, kernel, source)
    if turns is not None or statement.leaves:
        _require_no_other_use(access.array, statement, source)
    indices = TurnedIndices(source, body, statement.variables, turns.name if turns is not None else None)
    index = source.text[element[0] : element[1]]
    turned = indices.turned(source.text[source.code.index("[", element[0]) + 1 : element[1] - 1])
    turned = f"{source.text[element[0] : source.code.index('[', element[0]) + 1]}{turned}]"
    guards = [indices.turned(guard) for guard in statement.guards]
    if (turned, *guards) == (index, *statement.guards):
        raise Obstacle(f"the index of `{access.array}` is not spelled in terms of `threadIdx`")
    kind = element_type(source.code[element[0] : element[1]].partition("[")[0].strip(), access, source, extent)
    _require_outside(statement, [turned, *guards, *indices.declared], source)
    margin = source.margin(statement.kept[0])
    if margin is None:
        raise Obstacle(f"line {line} has more than one statement")
    tile = _Tile(free_name("tile", source), side, f" + {turns.name}" if turns is not None else "")
    bytes_ = max(other.bytes for each in instances for other in each.accesses if other.place == access.place)
    if side * (side + tile.is_padded) * bytes_ > _MOST_SHARED:
        raise Obstacle(f"a tile of {side}x{side} is more than a block has room for")
    own = _own(statement, element, tile.own, source)
    if left := statement.guards[: len(statement.leaves)]:
        # What threads do that no longer leave before; a directive begins its line.
        is_one = statement.kept == (statement.begin, statement.end) and not own.startswith("#")
        own = f"if ({_joined(left)}) {own if is_one else _in_braces(own, margin, source.line_end)}"
    moved = f"{turned} = {tile.other};" if access.operation == "store" else f"{tile.other} = {turned};"
    other = _other(statement, [*indices.declared], guards, moved, step_of(margin))
    parts = [own, "__syncthreads();", *other] if access.operation == "store" else [*other, "__syncthreads();", own]
    text = f"{source.line_end}{margin}".join((f"__shared__ {kind} {tile.declared};", *parts))
    return (
        *(_left_out(*each, source, path) for each in statement.leaves),
        replaced(source, path, *statement.kept, text),
    )


def _shape(kernel: KernelFacts, instances: Sequence[KernelFacts]) -> tuple[int, int]:
    """The side of the tile that a block takes, and its own height."""
    blocks = {launch.block for each in instances for launch in each.launches}
    if len(blocks) != 1:
        raise Obstacle(f"`{kernel.name}` is launched with blocks of several shapes")
    [(x, y, z)] = blocks
    if y > x or x % y or z != 1 or x & (x - 1):
        raise Obstacle(f"a block of {x}x{y} takes no whole rows of a square tile")
    return x, y


def _require_all_rows(statement: StagedStatement, kernel: KernelFacts, source: CodeText) -> None:
    """A loop takes each row of the tile once, as many at a time as the block has."""
    turns = statement.turns
    assert turns is not None
    x, y, _ = kernel.launches[0].block
    known = {"blockDim.x": x, "blockDim.y": y}
    texts = turns.first, turns.bound, turns.step
    numbers = [known.get(re.sub(r"\s", "", text)) or number_of(text, source) for text in texts]
    if numbers != [0, x, y]:
        line = source.position(statement.begin)[0]
        raise Obstacle(f"the loop at line {line} does not take the {x} rows of a tile, {y} at a time")


def _require_no_other_use(array: str, statement: StagedStatement, source: CodeText) -> None:
    """All turns on one side of the barrier come before all on the other: none may wait for what another one does, nor
    what comes last for what is stored before it."""
    text = source.code[slice(*statement.kept)]
    if len(re.findall(rf"(?<![\w.>]){re.escape(array)}\b", text)) != 1:
        line = source.position(statement.begin)[0]
        raise Obstacle(f"the kernel does more with `{array}` than at line {line}")


def _require_outside(statement: StagedStatement, texts: Sequence[str], source: CodeText) -> None:
    """What the other thread's index is computed of is not declared where threads come that stay."""
    if statement.kept == (statement.begin, statement.end):
        return
    kept = source.code[slice(*statement.kept)]
    declared = {name for name in statement.variables if re.search(rf"\w\s+(?:[^;=]*,\s*)?{name}\s*=(?!=)", kept)}
    for name in sorted(declared & {name for text in texts for name in NAME.findall(text)}):
        raise Obstacle(f"`{name}` is declared for the threads that have not left before")


def _in_braces(text: str, margin: str, line_end: str) -> str:
    """Statements as one, each line further in, but for directives."""
    step = step_of(margin)
    lines = [line if line.startswith("#") or not line.strip() else step + line for line in text.split(line_end)]
    return f"{{{line_end}{margin}{line_end.join(lines)}{line_end}{margin}}}"


def _element(
    access: Access, source: CodeText, begin: int, end: int, statement: StagedStatement
) -> tuple[int, int]:
    """The offsets of `array[index]`, which has to be all that a statement stores to, or a part of what it computes."""
    named = _ELEMENT.match(source.code, begin, end)
    closed = source.close(named.end()) if named is not None else None
    if named is None or closed is None or (access.operation == "load" and closed != end):
        raise Obstacle(f"`{access.array}` is not spelled as a plain element at line {access.place.line}")
    is_whole = begin == statement.inner[0] and re.match(r"\s*=(?!=)", source.code[closed:])
    if access.operation == "store" and not is_whole:
        raise Obstacle(f"line {access.place.line} does more than store an element")
    if CALL.search(source.code, named.end(), closed) or "[" in source.code[named.end() + 1 : closed]:
        raise Obstacle(f"the index of `{access.array}` calls or loads something")
    return begin, closed


def _own(statement: StagedStatement, element: tuple[int, int], tile: str, source: CodeText) -> str:
    """What stays, with an element of the tile in place of the array's, without declarations that were for that."""
    start, stop = statement.kept
    text = f"{source.text[start : element[0]]}{tile}{source.text[element[1] : stop]}"
    for begin, end in reversed(statement.inside):
        names = [name for name in statement.variables if re.search(rf"\b{name}\s*=", source.code[begin:end])]
        rest = text[: begin - start] + text[end - start :]
        if not any(re.search(rf"\b{name}\b", rest) for name in names):
            line_end = source.code.find("\n", end)
            is_line = source.margin(begin) is not None and not source.text[end:line_end].strip()
            begin, end = (source.text.rfind("\n", 0, begin), line_end) if is_line else (begin, end)
            text = text[: begin - start] + text[end - start :]
    return text


def _other(
    statement: StagedStatement, declared: Sequence[str], guards: Sequence[str], moved: str, step: str
) -> list[str]:
    """What the thread does that x and y are exchanged for: the lines without their margin."""
    guard = f"if ({_joined(guards)}) " if guards else ""
    if statement.turns is None:
        return [*declared, f"{guard}{moved}"]
    inner = [*declared, f"{guard}{moved}"]
    if len(inner) == 1:
        return [statement.turns.head, f"{step}{inner[0]}"]
    return [f"{statement.turns.head} {{", *(f"{step}{line}" for line in inner), "}"]


def _joined(conditions: Sequence[str]) -> str:
    """All of some conditions."""
    if len(conditions) == 1:
        return conditions[0]
    return " && ".join(f"({each})" if "||" in each or "?" in each else each for each in conditions)


def _left_out(begin: int, end: int, source: CodeText, path: str) -> Edit:
    """A statement taken out, with its line where nothing else is on it."""
    margin, line_end = source.margin(begin), source.text.find("\n", end)
    if margin is not None and line_end >= 0 and not source.text[end:line_end].strip():
        begin, end = begin - len(margin), line_end + 1
    return replaced(source, path, begin, end, "")
