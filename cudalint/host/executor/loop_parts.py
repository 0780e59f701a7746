"""Loops in one form, whatever statement they are written as."""

from __future__ import annotations

from msgspec import Struct

from cudalint.host.executor import command_line
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk
from cudalint.ir.builtins import named

_OPTION_READERS = named("next-option")
_TEXT_COMPARISONS = frozenset({"strcmp", "strncmp", "strcasecmp", "strncasecmp", "operator=="})


class LoopParts(Struct, frozen=True, eq=False):
    """A loop in its general form: `while (condition) { body; increment; }`, tested first or last."""

    condition: ir.Expr | None
    body: st.Stmt
    increment: ir.Expr | None
    span: ir.Span
    test_last: bool = False
    own: ir.Symbol | None = None
    """The variable that the loop itself declares."""


def reads_options(parts: LoopParts) -> bool:
    """Whether a loop goes through the command line, or looks for a name among texts, as what keeps the command line's
    words does. What it changes only where an option says so is most likely what it was before."""
    for part in (parts.condition, parts.body):
        for node in walk.walk(part) if part is not None else ():
            if isinstance(node, ir.Name):
                if node.symbol.storage == "parameter" and _is_list_of_texts(node.symbol.type):
                    return True
            elif isinstance(node, ir.Call) and (node.name in _OPTION_READERS or _compares_texts(node)):
                return True
    return False


def _compares_texts(call: ir.Call) -> bool:
    operands = [*call.arguments, *(() if call.receiver is None else (call.receiver,))]
    return call.name in _TEXT_COMPARISONS and any(command_line.is_text(operand.type) for operand in operands)


def _is_list_of_texts(type_: ir.Type) -> bool:
    """`char **` or `char *[]`, such as the `argv` of `main`."""
    text = type_.pointee if isinstance(type_, ir.PointerType) else getattr(type_, "element", None)
    return isinstance(text, ir.PointerType) and command_line.is_text(text)
