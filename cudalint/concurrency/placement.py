"""A kernel with one more barrier in it."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from cudalint.concurrency.cfg import Gate
from cudalint.ir import nodes as ir

BarrierCall = Literal["__syncthreads", "__syncwarp"]

_VOID = ir.Scalar("void", 0, "void")


def with_barrier(function: ir.Function, gate: Gate, call: BarrierCall) -> ir.Function:
    """The function with a barrier inserted at a gate."""
    span = gate.span._replace(end_line=gate.span.line, end_column=gate.span.column)
    barrier = ir.ExprStmt(ir.Call(call, None, None, None, (), _VOID, span), span)
    changed = replace(function)
    changed.body = _Insertion(gate, barrier).into(function.body)
    return changed


class _Insertion:
    def __init__(self, gate: Gate, barrier: ir.Stmt) -> None:
        self._gate = gate
        self._barrier = barrier

    def into(self, statement: ir.Stmt) -> ir.Stmt:
        changed = self._inside(statement)
        if statement is not self._gate.statement:
            return changed
        if self._gate.where == "before":
            return ir.Block((self._barrier, changed), statement.span)
        assert isinstance(changed, (ir.For, ir.While, ir.RangeFor, ir.DoWhile))
        return replace(changed, body=ir.Block((changed.body, self._barrier), changed.body.span))

    def _inside(self, statement: ir.Stmt) -> ir.Stmt:
        match statement:
            case ir.Block():
                return replace(statement, statements=self._all(statement.statements))
            case ir.If():
                otherwise = self.into(statement.otherwise) if statement.otherwise else None
                return replace(statement, then=self.into(statement.then), otherwise=otherwise)
            case ir.For() | ir.While() | ir.RangeFor() | ir.DoWhile():
                return replace(statement, body=self.into(statement.body))
            case ir.Switch():
                cases = tuple(replace(case, body=self._all(case.body)) for case in statement.cases)
                return replace(statement, cases=cases)
            case ir.UnknownStmt():
                return replace(statement, children=self._all(statement.children))
            case _:
                return statement

    def _all(self, statements: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        """A declaration stays in the block whose names it declares."""
        found: list[ir.Stmt] = []
        for statement in statements:
            changed = self.into(statement)
            is_new = statement is self._gate.statement and self._gate.where == "before"
            found += changed.statements if is_new and isinstance(changed, ir.Block) else (changed,)
        return tuple(found)
