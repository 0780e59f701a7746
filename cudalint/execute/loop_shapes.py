"""What the text of a loop says of its turns."""

from __future__ import annotations

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import STEPS, root, walk

_DECIDING = (
    st.If, ir.Conditional, st.Switch, st.While, st.DoWhile, st.Return, st.Break, st.Continue, st.Asm, st.RangeFor,
    st.UnknownStmt, ir.StatementExpr, ir.Lambda,
)  # fmt: skip


def declared(init: st.Stmt | None) -> tuple[ir.Symbol, ...]:
    """The variables that the first statement of a `for` declares."""
    statements = init.statements if isinstance(init, st.Block) else (init,)
    found = [each.symbol for each in statements if isinstance(each, st.Declare)]
    return tuple(symbol for symbol in found if not ir.is_reference(symbol.type))


def is_closed(n: st.Stmt) -> bool:
    """Whether it is always the same turns: nothing decides them but the loop's own variables and plain numbers, nothing
    in the body decides anything but loops like it, and the user's functions are not called."""
    if not isinstance(n, st.For) or n.condition is None or n.increment is None:
        return False
    own = declared(n.init)
    starts = [each.initializer for each in _statements(n.init) if isinstance(each, st.Declare)]
    if not own or len(starts) != len(own) or any(start is None for start in starts):
        return False
    for part in (n.condition, n.increment, *starts):
        if any(not _is_plain(each, own) for each in walk(part)):
            return False
    return all(_goes_along(each, own) for each in walk(n.body))


def _statements(init: st.Stmt | None) -> tuple[st.Stmt, ...]:
    return init.statements if isinstance(init, st.Block) else (init,) if init is not None else ()


def _is_plain(e: object, own: tuple[ir.Symbol, ...]) -> bool:
    if isinstance(e, ir.Name):
        return e.symbol in own
    return isinstance(e, (ir.Constant, ir.Binary, ir.Assign, ir.Cast)) or (
        isinstance(e, ir.Unary) and e.op not in ("*", "&")
    )


def _goes_along(node: object, own: tuple[ir.Symbol, ...]) -> bool:
    if isinstance(node, _DECIDING):
        return False
    if isinstance(node, st.For):
        return is_closed(node)
    if isinstance(node, ir.Call):
        return (node.function is None or not node.function.is_user) and node.callee is None
    if isinstance(node, ir.Construct):
        return node.constructor is None or not node.constructor.is_user
    if isinstance(node, ir.Binary):
        return node.op not in ("&&", "||")
    if isinstance(node, ir.Assign):
        return root(node.target) not in own
    if isinstance(node, ir.Unary) and (node.op in STEPS or node.op == "&"):
        return root(node.operand) not in own
    return True
