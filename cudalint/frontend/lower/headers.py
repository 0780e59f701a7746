"""What only the text of a statement tells: which parts of a `for` are there, the template of an `asm`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor

if TYPE_CHECKING:
    from cudalint.frontend.lower.sources import Sources

_MARK: Final = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+'|[()\[\]{};]""", re.DOTALL)
_STRING: Final = re.compile(r"""\s*(?:"((?:\\.|[^"\\])*)"|R"\((.*?)\)"|/\*.*?\*/|//[^\n]*)""", re.DOTALL)
_ASM: Final = re.compile(r"(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|inline|goto)\b\s*)*\(")
_COMPARISONS: Final = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})


@dataclass(slots=True)
class ForParts:
    init: Cursor | None = None
    declaration: Cursor | None = None
    """Of a variable in the condition: `for (; T* p = next();)`."""
    condition: Cursor | None = None
    increment: Cursor | None = None


def for_parts(sources: Sources, loop: Cursor, nodes: list[Cursor]) -> ForParts:
    """Tells the parts of a `for` apart; the tree leaves out those that are absent without a placeholder."""
    parts = ForParts()
    nodes = list(nodes)
    for position, node in enumerate(nodes):
        if node.kind == kinds.VAR_DECL:
            parts.declaration = nodes.pop(position)
            break
    if len(nodes) == 3:
        parts.init, parts.condition, parts.increment = nodes
        return parts
    semicolons = _semicolons(sources, loop)
    for node in nodes:
        role = _role_by_place(sources, node, semicolons) if semicolons else _role_by_look(node)
        if getattr(parts, role) is None:
            setattr(parts, role, node)
    return parts


def _semicolons(sources: Sources, loop: Cursor) -> tuple[str, int, int] | None:
    """Path and offsets of the two semicolons in the head of a loop; None where a macro hides them."""
    start = sources.start(loop)
    text = start.file.text
    if not text.startswith("for", start.offset):
        return None
    found: list[int] = []
    depth = 0
    for match in _MARK.finditer(text, start.offset):
        mark = match.group()
        if mark in ("(", "[", "{"):
            depth += 1
        elif mark in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                break
        elif mark == ";" and depth == 1:
            found.append(match.start())
    return (start.file.path, found[0], found[1]) if len(found) == 2 else None


def _role_by_place(sources: Sources, node: Cursor, semicolons: tuple[str, int, int]) -> str:
    path, first, second = semicolons
    start = sources.begin(node)
    if start.file.path != path:
        return _role_by_look(node)
    if start.offset <= first:
        return "init"
    return "condition" if start.offset <= second else "increment"


def _role_by_look(node: Cursor) -> str:
    """A guess for loops that are written in a macro."""
    if node.kind == kinds.DECL_STMT:
        return "init"
    if node.kind in (kinds.UNARY_OPERATOR, kinds.COMPOUND_ASSIGNMENT_OPERATOR):
        return "increment"
    if node.kind == kinds.BINARY_OPERATOR and cursors.binary_operator(node) not in _COMPARISONS:
        return "init" if cursors.binary_operator(node) == "=" else "increment"
    return "condition"


def asm_template(text: str, offset: int) -> str:
    """The instructions of the `asm` statement at an offset; empty where there is none."""
    match = _ASM.match(text, offset)
    if match is None:
        return ""
    pieces: list[str] = []
    position = match.end()
    while (string := _STRING.match(text, position)) is not None:
        pieces.append(string.group(1) or string.group(2) or "")
        position = string.end()
    return "".join(pieces).replace("\\n", "\n").replace("\\t", "\t")
