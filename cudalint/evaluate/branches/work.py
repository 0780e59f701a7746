"""How much there is to do on one side of a branch, in machine instructions: a rough count over its statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudalint.evaluate.requests.views import LaunchView
from cudalint.interpreter.device.events import Step
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import builtin

_DIVISION = 8.0
"""A division by a value that is not constant: a reciprocal and its corrections."""


class WorkMeter:
    """Weighs the steps of one execution under one launch."""

    def __init__(self, view: LaunchView, steps: Sequence[Step]) -> None:
        self.view = view
        self.steps = steps
        self._own: dict[int, float] = {}

    def fits(self, steps: Iterable[int], most: float) -> bool:
        """Whether these steps compute no more than that in one pass, as the compiler sees them."""
        total = 0.0
        for step in steps:
            total += self._weight(self.steps[step].code)
            if total > most:
                return False
        return True

    def _weight(self, code: ir.Stmt | ir.Expr) -> float:
        found = self._own.get(id(code))
        if found is None:
            found = sum(map(weigh, own_expressions(code)))
            self._own[id(code)] = found
        return found


def own_expressions(code: ir.Stmt | ir.Expr) -> Iterable[ir.Expr]:
    """What a statement computes itself; the statements in it are steps of their own."""
    match code:
        case ir.Declare(initializer=value) if value is not None:
            return (value,)
        case ir.ExprStmt(expr=expr):
            return (expr,)
        case ir.If(condition=condition) | ir.Switch(condition=condition):
            return (condition,)
        case ir.Return(value=value) if value is not None:
            return (value,)
        case ir.Asm(operands=operands):
            return operands
        case _ if isinstance(code, _STATEMENTS):
            return ()
        case _:
            return (code,)


_STATEMENTS = (
    ir.Declare, ir.Block, ir.For, ir.RangeFor, ir.While, ir.DoWhile, ir.Return, ir.Break, ir.Continue, ir.UnknownStmt,
)  # fmt: skip


def weigh(expr: ir.Expr | ir.Stmt) -> float:
    """Machine instructions that an expression takes, or a statement with all that is in it, without the bodies of the
    functions that it calls."""
    return sum(map(_operation, walk.walk(expr)))


def _operation(node: object) -> float:
    match node:
        case ir.Index(base=base):
            # An address and an access; of `a[i][j]` once.
            return 0.0 if isinstance(base, ir.Index) else 2.0
        case ir.Unary(op="*"):
            return 1.0
        case ir.Unary(op=op):
            return 1.0 if op in ("++x", "--x", "x++", "x--", "-", "~") else 0.0
        case ir.Binary(op=op, right=right):
            return _DIVISION if op in ("/", "%") and not isinstance(right, ir.Constant) else 1.0
        case ir.Assign(op=op, target=target):
            return (3.0 if _is_memory(target) else 1.0) if op else 0.0
        case ir.Conditional():
            return 1.0
        case ir.Call(name=name, function=function):
            if function is not None and function.is_user:
                return 0.0
            return builtin(name).weight
        case _:
            return 0.0


def _is_memory(target: ir.Expr) -> bool:
    nodes = walk.walk(target)
    return any(isinstance(node, ir.Index) or (isinstance(node, ir.Unary) and node.op == "*") for node in nodes)
