"""Functions compiled to closures, once for all executions: a closure takes the machine and does what its node says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from cudalint.execute.values import Value
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st

if TYPE_CHECKING:
    from cudalint.execute.machine import Machine
    from cudalint.execute.memory import Allocation

Evaluate = Callable[["Machine"], Value]
Execute = Callable[["Machine"], None]


class Place(NamedTuple):
    """What an lvalue names: an allocation, bytes from its start, and the type of what is there."""

    allocation: Allocation
    offset: Any
    type: ir.Type


Locate = Callable[["Machine"], Place]


class Program:
    """The compiled parts of functions, by their nodes."""

    def __init__(self) -> None:
        from cudalint.execute.calls import Calls
        from cudalint.execute.expressions import Expressions
        from cudalint.execute.places import Places
        from cudalint.execute.statements import Statements

        self._values: dict[ir.Expr, Evaluate] = {}
        self._places: dict[ir.Expr, Locate] = {}
        self._statements: dict[st.Stmt, Execute] = {}
        self.calls = Calls(self)
        self._expressions, self._locations, self._code = Expressions(self), Places(self), Statements(self)

    def value(self, expression: ir.Expr) -> Evaluate:
        """What reads an expression."""
        found = self._values.get(expression)
        if found is None:
            found = self._values[expression] = self._expressions.compiled(expression)
        return found

    def place(self, expression: ir.Expr) -> Locate:
        """What finds out where an lvalue is; what is no lvalue gets a place of its own."""
        found = self._places.get(expression)
        if found is None:
            found = self._places[expression] = self._locations.compiled(expression)
        return found

    def discarded(self, expression: ir.Expr) -> Execute:
        """What evaluates an expression whose value nobody asks for: what a function returns a reference to is not read
        (`operator=` returns `*this`)."""
        if isinstance(expression, ir.Call):
            return self.calls.discarded(expression)
        if isinstance(expression, ir.Cast) and isinstance(expression.type, ir.Scalar):
            return self.discarded(expression.operand) if expression.type.kind == "void" else self.value(expression)
        if isinstance(expression, ir.Binary) and expression.op == ",":
            first, second = self.discarded(expression.left), self.discarded(expression.right)

            def both(m: Machine) -> None:
                first(m)
                second(m)

            return both
        return self.value(expression)

    def statement(self, statement: st.Stmt) -> Execute:
        found = self._statements.get(statement)
        if found is None:
            found = self._statements[statement] = self._code.compiled(statement)
        return found
