"""`goto` in host code: a jump to the end of a function, to where it frees what it has, is a way out like any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

Exits = Mapping[st.Stmt, tuple[st.Stmt, ...]]
"""By the jump: the statements that are left from its label on."""


def ways_out(function: ir.Function, has_launch: Callable[[st.Stmt], bool]) -> Exits:
    """The jumps of a function to labels of its outermost block behind which nothing is launched and that no jump
    behind them leads back from."""
    jumps = [node for node in walk.nodes_in(function) if isinstance(node, st.UnknownStmt) and node.reason == "goto"]
    if not jumps or not isinstance(function.body, st.Block):
        return {}
    statements = function.body.statements
    labels = {
        node.label: i
        for i, node in enumerate(statements)
        if isinstance(node, st.UnknownStmt) and node.reason == "label"
    }
    found: dict[st.Stmt, tuple[st.Stmt, ...]] = {}
    for jump in jumps:
        rest = statements[labels[jump.label] :] if jump.label in labels else ()
        inside = (node for statement in rest for node in walk.walk(statement))
        if rest and not any(has_launch(statement) for statement in rest) and not any(node in jumps for node in inside):
            found[jump] = rest
    return found
