"""A kernel with one more barrier in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace

from cudalint.concurrency.cfg import Gate
from cudalint.ir import nodes as ir

BarrierCall = Literal["__syncthreads", "__syncwarp"]

_VOID = ir.Scalar("void", 0, "void")


def with_barriers(function: ir.Function, barriers: Mapping[Gate, BarrierCall]) -> ir.Function:
    """The function with barriers inserted at gates."""
    changed = replace(function)
    changed.body = _Insertion({gate: _barrier(gate, call) for gate, call in barriers.items()}).into(function.body)
    return changed


def _barrier(gate: Gate, call: BarrierCall) -> ir.Stmt:
    span = gate.span._replace(end_line=gate.span.line, end_column=gate.span.column)
    return ir.ExprStmt(ir.Call(call, None, None, None, (), _VOID, span), span)


class _Insertion:
    def __init__(self, barriers: Mapping[Gate, ir.Stmt]) -> None:
        self._before = {id(gate.statement): barrier for gate, barrier in barriers.items() if gate.where == "before"}
        self._at_end = {id(gate.statement): barrier for gate, barrier in barriers.items() if gate.where == "end"}

    def into(self, statement: ir.Stmt) -> ir.Stmt:
        changed = self._inside(statement)
        last = self._at_end.get(id(statement))
        if last is not None:
            assert isinstance(changed, (ir.For, ir.While, ir.RangeFor, ir.DoWhile))
            changed = replace(changed, body=ir.Block((changed.body, last), changed.body.span))
        first = self._before.get(id(statement))
        return changed if first is None else ir.Block((first, changed), statement.span)

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
            is_new = id(statement) in self._before
            found += changed.statements if is_new and isinstance(changed, ir.Block) else (changed,)
        return tuple(found)
