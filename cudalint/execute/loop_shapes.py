"""What the text of a loop says of its turns."""

from __future__ import annotations

from cudalint.ir import nodes as ir
from cudalint.ir.walk import STEPS, root, walk

_DECIDING = (
    ir.If, ir.Conditional, ir.Switch, ir.While, ir.DoWhile, ir.Return, ir.Break, ir.Continue, ir.Asm, ir.RangeFor,
    ir.UnknownStmt, ir.StatementExpr, ir.Lambda,
)  # fmt: skip


def declared(init: ir.Stmt | None) -> tuple[ir.Symbol, ...]:
    """The variables that the first statement of a `for` declares."""
    statements = init.statements if isinstance(init, ir.Block) else (init,)
    found = [each.symbol for each in statements if isinstance(each, ir.Declare)]
    return tuple(symbol for symbol in found if not ir.is_reference(symbol.type))


def is_closed(n: ir.Stmt) -> bool:
    """Whether it is always the same turns: nothing decides them but the loop's own variables and plain numbers, nothing
    in the body decides anything but loops like it, and the user's functions are not called."""
    if not isinstance(n, ir.For) or n.condition is None or n.increment is None:
        return False
    own = declared(n.init)
    starts = [each.initializer for each in _statements(n.init) if isinstance(each, ir.Declare)]
    if not own or len(starts) != len(own) or any(start is None for start in starts):
        return False
    for part in (n.condition, n.increment, *starts):
        if any(not _is_plain(each, own) for each in walk(part)):
            return False
    return all(_goes_along(each, own) for each in walk(n.body))


def _statements(init: ir.Stmt | None) -> tuple[ir.Stmt, ...]:
    return init.statements if isinstance(init, ir.Block) else (init,) if init is not None else ()


def _is_plain(e: object, own: tuple[ir.Symbol, ...]) -> bool:
    if isinstance(e, ir.Name):
        return e.symbol in own
    return isinstance(e, (ir.Constant, ir.Binary, ir.Assign, ir.Cast)) or (
        isinstance(e, ir.Unary) and e.op not in ("*", "&")
    )


def _goes_along(node: object, own: tuple[ir.Symbol, ...]) -> bool:
    if isinstance(node, _DECIDING):
        return False
    if isinstance(node, ir.For):
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
