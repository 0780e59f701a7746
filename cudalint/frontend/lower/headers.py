"""What only the text of a statement tells: which parts of a `for` are there, the template of an `asm`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from cudalint.frontend import cursors, kinds
from cudalint.frontend.cursors import Cursor
from cudalint.regexes import regex
from cudalint.source.brackets import closing, outside
from cudalint.source.lexing import blanked

if TYPE_CHECKING:
    from cudalint.frontend.lower.sources import Sources

_LONGEST_HEAD: Final = 4000
"""Of a loop, in letters."""
_STRING: Final = regex(r"""\s*(?:"((?:\\.|[^"\\])*)"|R"\((.*?)\)"|/\*.*?\*/|//[^\n]*)""", re.DOTALL)
_ASM: Final = regex(r"(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|inline|goto)\b\s*)*\(")
_VOLATILE: Final = regex(r"\b(?:volatile|__volatile__)\b")
_NO_OUTPUT: Final = regex(r"\s*(?:\)|:\s*[:)])")
_MEMORY: Final = regex(r"""[^;]*"memory\"""")
_COMPARISONS: Final = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})


Role = Literal["init", "condition", "increment"]


class ForParts(Struct, frozen=True):
    init: Cursor | None
    declaration: Cursor | None
    """Of a variable in the condition: `for (; T* p = next();)`."""
    condition: Cursor | None
    increment: Cursor | None


def for_parts(sources: Sources, loop: Cursor, nodes: list[Cursor]) -> ForParts:
    """The parts of a `for`; the tree has no placeholders for absent ones."""
    declared = [node for node in nodes if node.kind == kinds.VAR_DECL]
    declaration = declared[0] if declared else None
    nodes = [node for node in nodes if node.kind != kinds.VAR_DECL]
    if len(nodes) == 3:
        return ForParts(nodes[0], declaration, nodes[1], nodes[2])
    semicolons = _semicolons(sources, loop)
    roles: dict[Role, Cursor] = {}
    for node in nodes:
        role = _role_by_place(sources, node, semicolons) if semicolons else _role_by_look(node)
        roles.setdefault(role, node)
    return ForParts(roles.get("init"), declaration, roles.get("condition"), roles.get("increment"))


def _semicolons(sources: Sources, loop: Cursor) -> tuple[str, int, int] | None:
    """Path and offsets of the two semicolons in the head of a loop; None where a macro hides them."""
    start = sources.start(loop)
    text = start.file.text
    if not text.startswith("for", start.offset):
        return None
    code = blanked(text[start.offset : start.offset + _LONGEST_HEAD], directives=False)
    opening = code.find("(")
    end = closing(code, opening) if opening >= 0 else None
    found = list(outside(code, ";", opening + 1, end - 1)) if end is not None else []
    return (start.file.path, start.offset + found[0], start.offset + found[1]) if len(found) == 2 else None


def _role_by_place(sources: Sources, node: Cursor, semicolons: tuple[str, int, int]) -> Role:
    path, first, second = semicolons
    start = sources.begin(node)
    if start.file.path != path:
        return _role_by_look(node)
    if start.offset <= first:
        return "init"
    return "condition" if start.offset <= second else "increment"


def _role_by_look(node: Cursor) -> Role:
    """A guess for loops that are written in a macro."""
    if node.kind == kinds.DECL_STMT:
        return "init"
    if node.kind in (kinds.UNARY_OPERATOR, kinds.COMPOUND_ASSIGNMENT_OPERATOR):
        return "increment"
    if node.kind == kinds.BINARY_OPERATOR and cursors.binary_operator(node) not in _COMPARISONS:
        return "init" if cursors.binary_operator(node) == "=" else "increment"
    return "condition"


class Assembly(Struct, frozen=True):
    """What the text of an `asm` statement says."""

    template: str
    is_volatile: bool
    """Whether the compiler has to keep it in its place: it is declared so, writes memory or has no result."""


def assembly(text: str, offset: int) -> Assembly | None:
    """The `asm` statement with instructions at an offset, if there is one."""
    match = _ASM.match(text, offset)
    if match is None:
        return None
    pieces: list[str] = []
    position = match.end()
    while (string := _STRING.match(text, position)) is not None:
        pieces.append(string.group(1) or string.group(2) or "")
        position = string.end()
    template = "".join(pieces).replace("\\n", "\n").replace("\\t", "\t")
    if not template:
        return None
    is_volatile = bool(_VOLATILE.search(match[0]) or _NO_OUTPUT.match(text, position))
    return Assembly(template, is_volatile or _MEMORY.match(text, position) is not None)
